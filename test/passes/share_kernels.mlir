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
// CHECK: affine_map<(d0, d1)[s0] -> (d0 + s0, d1)>
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
