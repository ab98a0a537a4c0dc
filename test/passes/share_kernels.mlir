// RUN: rs-opt %s --prim-to-loop --share-kernels --split-input-file | rs-filecheck %s
// RUN: rs-opt %s --prim-to-loop --share-kernels=remarks --split-input-file -o /dev/null 2>&1 | rs-filecheck %s --check-prefix=WHY
// WHY: remark: an equal kernel is called with weights as other operands [share-kernels]

// Equal kernels become one; one that differs stays.
// CHECK: loop.kernel @k2
// CHECK: loop.kernel @k0
// CHECK-NOT: loop.kernel
// CHECK: func.func @layers
// CHECK: loop.call %{{.*}} {callee = @k0}
// CHECK: loop.call %{{.*}} {callee = @k0}
// CHECK: loop.call %{{.*}} {callee = @k2}
func.func @layers(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = prim.exp %x : tensor<8xf32>
  %1 = prim.exp %0 : tensor<8xf32>
  %2 = prim.sin %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// Reductions of other dims are other kernels.
// CHECK: loop.kernel @k1
// CHECK: loop.kernel @k0
// CHECK: func.func @dims
func.func @dims(%x: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = prim.reduce %x {dims = array<i64: 0>, kind = "sum"} : (tensor<8x8xf32>) -> tensor<8xf32>
  %1 = prim.reduce %x {dims = array<i64: 1>, kind = "sum"} : (tensor<8x8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// A kernel that reads a weight may be packed before the program runs: it stays apart from one that reads a value.
// CHECK: loop.kernel @k1
// CHECK: loop.kernel @k0
// CHECK: func.func @weights
// CHECK: loop.call %{{.*}} {callee = @k0}
// CHECK: loop.call %{{.*}} {callee = @k1}
// CHECK: loop.call %{{.*}} {callee = @k0}
func.func @weights(%x: tensor<4x4xf32> {capture.kind = "input", capture.name = "x"},
                   %w: tensor<4x4xf32> {capture.kind = "parameter", capture.name = "w"},
                   %v: tensor<4x4xf32> {capture.kind = "parameter", capture.name = "v"}) -> tensor<4x4xf32> attributes {capture.entry} {
  %0 = prim.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = prim.dot %0, %x {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = prim.dot %1, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// Steps of a sequence are one kernel, which is told the step.
// CHECK: affine_map<(d0)[s0] -> (s0, d0)>
// CHECK: loop.kernel @k0 {{.*}}symbols = array<i64: 1>}
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<8x4xf32>, %{{.*}}: index):
// CHECK-NOT: loop.kernel
// CHECK: func.func @steps
// CHECK: %[[SECOND:.*]] = arith.constant 1 : index
// CHECK: loop.call %{{.*}}, %[[SECOND]] {callee = @k0}
// CHECK: %[[LAST:.*]] = arith.constant 7 : index
// CHECK: loop.call %{{.*}}, %[[LAST]] {callee = @k0}
func.func @steps(%x: tensor<8x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) {
  %0 = prim.slice %x {offsets = array<i64: 1, 0>, sizes = array<i64: 1, 4>, strides = array<i64: 1, 1>} : (tensor<8x4xf32>) -> tensor<1x4xf32>
  %1 = prim.slice %x {offsets = array<i64: 3, 0>, sizes = array<i64: 1, 4>, strides = array<i64: 1, 1>} : (tensor<8x4xf32>) -> tensor<1x4xf32>
  %2 = prim.slice %x {offsets = array<i64: 4, 0>, sizes = array<i64: 1, 4>, strides = array<i64: 1, 1>} : (tensor<8x4xf32>) -> tensor<1x4xf32>
  %3 = prim.slice %x {offsets = array<i64: 7, 0>, sizes = array<i64: 1, 4>, strides = array<i64: 1, 1>} : (tensor<8x4xf32>) -> tensor<1x4xf32>
  return %0, %1, %2, %3 : tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>
}

// -----

// Three of them stay as they are: what is written for few of them knows the index.
// CHECK: loop.kernel @k2
// CHECK: loop.kernel @k1
// CHECK: loop.kernel @k0
// CHECK: func.func @few
func.func @few(%x: tensor<8x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) {
  %0 = prim.slice %x {offsets = array<i64: 1, 0>, sizes = array<i64: 1, 4>, strides = array<i64: 1, 1>} : (tensor<8x4xf32>) -> tensor<1x4xf32>
  %1 = prim.slice %x {offsets = array<i64: 3, 0>, sizes = array<i64: 1, 4>, strides = array<i64: 1, 1>} : (tensor<8x4xf32>) -> tensor<1x4xf32>
  %2 = prim.slice %x {offsets = array<i64: 4, 0>, sizes = array<i64: 1, 4>, strides = array<i64: 1, 1>} : (tensor<8x4xf32>) -> tensor<1x4xf32>
  return %0, %1, %2 : tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>
}

// -----

// Layers that differ in the numbers that elements are multiplied by or added to are one kernel, which reads them. Numbers that are the same in all
// of them stay, and so does one of which elements are a power.
// CHECK-DAG: #[[FIRST:.*]] = affine_map<(d0) -> (0)>
// CHECK-DAG: #[[SECOND:.*]] = affine_map<(d0) -> (1)>
// CHECK: loop.kernel @k0 {{.*}}
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<8xf32>, %[[N:.*]]: tensor<2xf32>):
// CHECK-NEXT: loop.stage %{{.*}}, %[[N]], %[[N]] {{.*}}maps = [#{{.*}}, #[[FIRST]], #[[SECOND]]]
// CHECK-NEXT: ^bb0(%{{.*}}: f32, %[[A:.*]]: f32, %[[B:.*]]: f32):
// CHECK: arith.mulf %{{.*}}, %[[A]]
// CHECK: arith.constant 7.000000e+00
// CHECK: arith.addf %{{.*}}, %[[B]]
// CHECK-NOT: loop.kernel
// CHECK: func.func @numbers
// CHECK: %[[C:.*]] = prim.constant {value = dense<[2.000000e-01, 1.000000e+00]> : tensor<2xf32>}
// CHECK: loop.call %{{.*}}, %[[C]] {callee = @k0} : (tensor<8xf32>, tensor<2xf32>) -> tensor<8xf32>
// CHECK: prim.constant {value = dense<[3.000000e-01, 2.000000e+00]> : tensor<2xf32>}
// CHECK: prim.constant {value = dense<[4.000000e-01, 3.000000e+00]> : tensor<2xf32>}
// CHECK: prim.constant {value = dense<[5.000000e-01, 4.000000e+00]> : tensor<2xf32>}
func.func @numbers(%x: tensor<8xf32>) -> tensor<8xf32> {
  %f0 = prim.fusion %x : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %p = prim.constant {value = dense<0.2> : tensor<8xf32>} : tensor<8xf32>
    %q = prim.constant {value = dense<1.0> : tensor<8xf32>} : tensor<8xf32>
    %r = prim.constant {value = dense<7.0> : tensor<8xf32>} : tensor<8xf32>
    %1 = prim.mul %a, %p : tensor<8xf32>
    %2 = prim.maximum %1, %r : tensor<8xf32>
    %3 = prim.add %2, %q : tensor<8xf32>
    prim.yield %3 : tensor<8xf32>
  }
  %f1 = prim.fusion %f0 : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %p = prim.constant {value = dense<0.3> : tensor<8xf32>} : tensor<8xf32>
    %q = prim.constant {value = dense<2.0> : tensor<8xf32>} : tensor<8xf32>
    %r = prim.constant {value = dense<7.0> : tensor<8xf32>} : tensor<8xf32>
    %1 = prim.mul %a, %p : tensor<8xf32>
    %2 = prim.maximum %1, %r : tensor<8xf32>
    %3 = prim.add %2, %q : tensor<8xf32>
    prim.yield %3 : tensor<8xf32>
  }
  %f2 = prim.fusion %f1 : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %p = prim.constant {value = dense<0.4> : tensor<8xf32>} : tensor<8xf32>
    %q = prim.constant {value = dense<3.0> : tensor<8xf32>} : tensor<8xf32>
    %r = prim.constant {value = dense<7.0> : tensor<8xf32>} : tensor<8xf32>
    %1 = prim.mul %a, %p : tensor<8xf32>
    %2 = prim.maximum %1, %r : tensor<8xf32>
    %3 = prim.add %2, %q : tensor<8xf32>
    prim.yield %3 : tensor<8xf32>
  }
  %f3 = prim.fusion %f2 : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %p = prim.constant {value = dense<0.5> : tensor<8xf32>} : tensor<8xf32>
    %q = prim.constant {value = dense<4.0> : tensor<8xf32>} : tensor<8xf32>
    %r = prim.constant {value = dense<7.0> : tensor<8xf32>} : tensor<8xf32>
    %1 = prim.mul %a, %p : tensor<8xf32>
    %2 = prim.maximum %1, %r : tensor<8xf32>
    %3 = prim.add %2, %q : tensor<8xf32>
    prim.yield %3 : tensor<8xf32>
  }
  return %f3 : tensor<8xf32>
}

// -----

// CHECK: loop.kernel @k3
// CHECK: loop.kernel @k2
// CHECK: loop.kernel @k1
// CHECK: loop.kernel @k0
// CHECK: func.func @limits
func.func @limits(%x: tensor<8xf32>) -> tensor<8xf32> {
  %f0 = prim.fusion %x : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %p = prim.constant {value = dense<0.2> : tensor<8xf32>} : tensor<8xf32>
    %1 = prim.pow %a, %p : tensor<8xf32>
    prim.yield %1 : tensor<8xf32>
  }
  %f1 = prim.fusion %f0 : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %p = prim.constant {value = dense<0.3> : tensor<8xf32>} : tensor<8xf32>
    %1 = prim.pow %a, %p : tensor<8xf32>
    prim.yield %1 : tensor<8xf32>
  }
  %f2 = prim.fusion %f1 : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %p = prim.constant {value = dense<0.4> : tensor<8xf32>} : tensor<8xf32>
    %1 = prim.pow %a, %p : tensor<8xf32>
    prim.yield %1 : tensor<8xf32>
  }
  %f3 = prim.fusion %f2 : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %p = prim.constant {value = dense<0.5> : tensor<8xf32>} : tensor<8xf32>
    %1 = prim.pow %a, %p : tensor<8xf32>
    prim.yield %1 : tensor<8xf32>
  }
  return %f3 : tensor<8xf32>
}
