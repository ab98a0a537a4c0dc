// RUN: rs-opt %s --hoist-weights --split-input-file | FileCheck %s
// RUN: rs-opt %s --check-semantics --hoist-weights --split-input-file | FileCheck %s --check-prefix=SAME

// Arithmetic on weights alone is prepared; what reads the call's input stays. The size of a batch plays no part.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %arg3: tensor<4xf32> {capture.kind = "prepared", capture.name = "prepared.0"}
// CHECK-NEXT: %[[DIM:.*]] = prim.dim %arg0
// CHECK-NEXT: %[[SCALE:.*]] = prim.broadcast %arg3, %[[DIM]]
// CHECK-NEXT: prim.mul %arg0, %[[SCALE]]
// CHECK-NEXT: return
// CHECK: func.func @prepare(%arg0: tensor<4xf32> {capture.kind = "parameter", capture.name = "gamma"}, %arg1: tensor<4xf32> {capture.kind = "buffer", capture.name = "var"})
// CHECK-SAME: -> (tensor<4xf32> {capture.kind = "prepared", capture.name = "prepared.0"}) attributes {capture.prepare}
// CHECK: %[[R:.*]] = prim.rsqrt
// CHECK-NEXT: %[[P:.*]] = prim.mul %arg0, %[[R]]
// CHECK-NEXT: return %[[P]]
// SAME: checked 1 of 1 passes
func.func @main(%x: tensor<?x4xf32> {capture.kind = "input", capture.name = "x"},
                %gamma: tensor<4xf32> {capture.kind = "parameter", capture.name = "gamma"},
                %var: tensor<4xf32> {capture.kind = "buffer", capture.name = "var"})
    -> (tensor<?x4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %eps = prim.constant {value = dense<1.0e-5> : tensor<4xf32>} : () -> tensor<4xf32>
  %0 = prim.add %var, %eps : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = prim.rsqrt %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = prim.mul %gamma, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %n = prim.dim %x {dim = 0 : i64} : (tensor<?x4xf32>) -> index
  %3 = prim.broadcast %2, %n {dims = array<i64: 1>} : (tensor<4xf32>, index) -> tensor<?x4xf32>
  %4 = prim.mul %x, %3 : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %4 : tensor<?x4xf32>
}

// -----

// A buffer that the call changes is no weight, also where it is only read.
// CHECK-LABEL: func.func @main(
// CHECK-NOT: prepared
// SAME: checked 1 of 1 passes
func.func @main(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x"},
                %mean: tensor<4xf32> {capture.kind = "buffer", capture.name = "mean"})
    -> (tensor<4xf32> {capture.kind = "output"}, tensor<4xf32> {capture.kind = "mutation", capture.name = "mean"})
    attributes {capture.entry} {
  %0 = prim.neg %mean : (tensor<4xf32>) -> tensor<4xf32>
  %1 = prim.add %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Nothing is prepared that only needs more memory: views, constants, arithmetic on a weight that was repeated. Its operand is.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: tensor<8xf32> {capture.kind = "prepared", capture.name = "prepared.0"})
// CHECK-NEXT: prim.broadcast %arg2
// CHECK-NEXT: prim.slice %arg1
// CHECK-NEXT: prim.broadcast
// CHECK-NEXT: prim.iota
// CHECK-NEXT: prim.add
// CHECK: func.func @prepare(
// CHECK-NEXT: prim.exp %arg0
// CHECK-NEXT: return
// SAME: checked 1 of 1 passes
func.func @main(%x: tensor<512x8xf32> {capture.kind = "input", capture.name = "x"},
                %w: tensor<8xf32> {capture.kind = "parameter", capture.name = "w"})
    -> (tensor<512x8xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.exp %w : (tensor<8xf32>) -> tensor<8xf32>
  %1 = prim.broadcast %0 {dims = array<i64: 1>} : (tensor<8xf32>) -> tensor<512x8xf32>
  %2 = prim.slice %w {offsets = array<i64: 0>, sizes = array<i64: 1>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<1xf32>
  %3 = prim.broadcast %2 {dims = array<i64: 0>} : (tensor<1xf32>) -> tensor<512x8xf32>
  %4 = prim.iota {dim = 0 : i64} : () -> tensor<512x8xf32>
  %5 = prim.add %1, %3 : (tensor<512x8xf32>, tensor<512x8xf32>) -> tensor<512x8xf32>
  %6 = prim.mul %5, %4 : (tensor<512x8xf32>, tensor<512x8xf32>) -> tensor<512x8xf32>
  %7 = prim.mul %6, %x : (tensor<512x8xf32>, tensor<512x8xf32>) -> tensor<512x8xf32>
  return %7 : tensor<512x8xf32>
}

// -----

// What stands under a condition is not computed without it; a value that it reads is.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: tensor<2x3xf32> {capture.kind = "prepared", capture.name = "prepared.0"})
// CHECK: scf.if
// CHECK-NEXT: prim.neg %arg3
// CHECK: func.func @prepare(
// CHECK-NEXT: prim.transpose %arg0
// SAME: checked 1 of 1 passes
func.func @main(%x: tensor<2x3xf32> {capture.kind = "input", capture.name = "x"},
                %c: tensor<i1> {capture.kind = "input", capture.name = "c"},
                %w: tensor<3x2xf32> {capture.kind = "parameter", capture.name = "w"})
    -> (tensor<2x3xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.transpose %w {perm = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %b = prim.item %c : (tensor<i1>) -> i1
  %1 = scf.if %b -> (tensor<2x3xf32>) {
    %2 = prim.neg %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    scf.yield %2 : tensor<2x3xf32>
  } else {
    scf.yield %x : tensor<2x3xf32>
  }
  return %1 : tensor<2x3xf32>
}

// -----

// A second run extends @prepare; what only the new part reads is no longer handed over.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %arg2: tensor<2xf32> {capture.kind = "prepared", capture.name = "prepared.1"})
// CHECK-NEXT: prim.add %arg0, %arg2
// CHECK: func.func @prepare(
// CHECK-SAME: -> (tensor<2xf32> {capture.kind = "prepared", capture.name = "prepared.1"})
// CHECK-NEXT: prim.neg
// CHECK-NEXT: prim.sqrt
// CHECK-NEXT: return
// SAME: checked 1 of 1 passes
func.func @main(%x: tensor<2xf32> {capture.kind = "input", capture.name = "x"},
                %w: tensor<2xf32> {capture.kind = "parameter", capture.name = "w"},
                %p: tensor<2xf32> {capture.kind = "prepared", capture.name = "prepared.0"})
    -> (tensor<2xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.sqrt %p : (tensor<2xf32>) -> tensor<2xf32>
  %1 = prim.add %x, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
func.func @prepare(%w: tensor<2xf32> {capture.kind = "parameter", capture.name = "w"})
    -> (tensor<2xf32> {capture.kind = "prepared", capture.name = "prepared.0"}) attributes {capture.prepare} {
  %0 = prim.neg %w : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// What a layer computes from its weights alone is prepared for each of its calls.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %arg3: tensor<4xf32> {capture.kind = "prepared", capture.name = "prepared.0"}, %arg4: tensor<4xf32> {capture.kind = "prepared", capture.name = "prepared.1"})
// CHECK-NEXT: %[[A:.*]] = call @layers.0(%arg0, %arg1, %arg3)
// CHECK-NEXT: call @layers.0(%[[A]], %arg2, %arg4)
// CHECK-NEXT: return
// CHECK: func.func @prepare(
// CHECK-NEXT: %[[P:.*]] = prim.sqrt %arg0
// CHECK-NEXT: %[[Q:.*]] = prim.sqrt %arg1
// CHECK-NEXT: return %[[P]], %[[Q]]
// CHECK: func.func private @layers.0(
// CHECK-SAME: %arg2: tensor<4xf32> {capture.kind = "prepared", capture.name = "prepared.0"})
// CHECK-NEXT: prim.mul %arg0, %arg2
// SAME: checked 1 of 1 passes
func.func @main(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x"},
                %v: tensor<4xf32> {capture.kind = "parameter", capture.name = "v"},
                %w: tensor<4xf32> {capture.kind = "parameter", capture.name = "w"})
    -> (tensor<4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = call @layers.0(%x, %v) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = call @layers.0(%0, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @layers.0(%x: tensor<4xf32>, %w: tensor<4xf32> {capture.kind = "parameter", capture.name = "weight.1"}) -> tensor<4xf32> {
  %0 = prim.sqrt %w : (tensor<4xf32>) -> tensor<4xf32>
  %1 = prim.mul %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// What lies in another order of dims does so at the edge of the entry only: it is prepared as it lies.
// CHECK-LABEL: func.func @order(
// CHECK: %[[OUT:.*]] = capture.permute %arg1 {perm = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<4x3xf32>
// CHECK-NEXT: return %[[OUT]]
// SAME: checked 1 of 1 passes
func.func @order(%w: tensor<3x4xf32> {capture.kind = "parameter", capture.name = "w"})
    -> (tensor<4x3xf32> {capture.kind = "output", capture.dim_order = array<i64: 1, 0>}) attributes {capture.entry} {
  %0 = prim.sqrt %w : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %1 = capture.permute %0 {perm = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// -----

// Integers that are only made wider stay narrow: the kernel that reads them does so as it loads them. What becomes a float does not.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: tensor<4xf32> {capture.kind = "prepared"
// CHECK: prim.convert %arg1 : (tensor<4xi8>) -> tensor<4xi32>
// CHECK: func.func @prepare(
// CHECK-NEXT: prim.convert %arg0 : (tensor<4xi8>) -> tensor<4xf32>
// SAME: checked 1 of 1 passes
func.func @main(%x: tensor<4xi32> {capture.kind = "input", capture.name = "x"},
                %w: tensor<4xi8> {capture.kind = "parameter", capture.name = "w"},
                %y: tensor<4xf32> {capture.kind = "input", capture.name = "y"})
    -> (tensor<4xi32> {capture.kind = "output"}, tensor<4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.convert %w : (tensor<4xi8>) -> tensor<4xi32>
  %1 = prim.mul %x, %0 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %2 = prim.convert %w : (tensor<4xi8>) -> tensor<4xf32>
  %3 = prim.mul %y, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1, %3 : tensor<4xi32>, tensor<4xf32>
}
