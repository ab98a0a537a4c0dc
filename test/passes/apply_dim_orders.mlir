// RUN: rs-opt %s --split-input-file --verify-diagnostics --apply-dim-orders | FileCheck %s
// What was applied stays as it is.
// RUN: rs-opt %s --split-input-file --verify-diagnostics --apply-dim-orders --apply-dim-orders | FileCheck %s

// An image with its channels last, and its transpose as a result that lies as the image: nothing moves. Sizes and guards are asked of
// the argument; a result without an order stays.
// CHECK-LABEL: func.func @image(
// CHECK-SAME: %[[X:.*]]: tensor<?x3x8x8xf32> {capture.dim_order = array<i64: 0, 2, 3, 1>
// CHECK-NEXT: %[[MEMORY:.*]] = capture.permute %[[X]] {perm = array<i64: 0, 2, 3, 1>} : (tensor<?x3x8x8xf32>) -> tensor<?x8x8x3xf32>
// CHECK-NEXT: %[[IMAGE:.*]] = prim.transpose %[[MEMORY]] {perm = array<i64: 0, 3, 1, 2>}
// CHECK-NEXT: capture.dim %[[X]]
// CHECK-NEXT: prim.dim %[[X]]
// CHECK-NEXT: %[[LAST:.*]] = prim.transpose %[[IMAGE]] {perm = array<i64: 0, 2, 3, 1>}
// CHECK-NEXT: %[[BACK:.*]] = prim.transpose %[[IMAGE]] {perm = array<i64: 0, 2, 3, 1>}
// CHECK-NEXT: %[[OUT:.*]] = capture.permute %[[BACK]] {perm = array<i64: 0, 3, 1, 2>} : (tensor<?x8x8x3xf32>) -> tensor<?x3x8x8xf32>
// CHECK-NEXT: return %[[OUT]], %[[LAST]], %{{.*}}
func.func @image(%x: tensor<?x3x8x8xf32> {capture.kind = "input", capture.name = "x", capture.dim_order = array<i64: 0, 2, 3, 1>})
    -> (tensor<?x3x8x8xf32> {capture.kind = "output", capture.dim_order = array<i64: 0, 2, 3, 1>},
        tensor<?x8x8x3xf32> {capture.kind = "output"}, index {capture.kind = "output"}) attributes {capture.entry} {
  %n = capture.dim %x {dim = 0 : i64, symbol = "n", min = 0 : i64, max = 64 : i64} : (tensor<?x3x8x8xf32>) -> index
  %m = prim.dim %x {dim = 0 : i64} : (tensor<?x3x8x8xf32>) -> index
  %0 = prim.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<?x3x8x8xf32>) -> tensor<?x8x8x3xf32>
  return %x, %0, %m : tensor<?x3x8x8xf32>, tensor<?x8x8x3xf32>, index
}

// -----

// The order of dims themselves asks for nothing, nor does an argument that only its sizes are read of.
// CHECK-LABEL: func.func @row_major(
// CHECK-NOT: permute
// CHECK: prim.neg %arg0
// CHECK-NOT: permute
// CHECK: return
func.func @row_major(%x: tensor<4x8xf32> {capture.dim_order = array<i64: 0, 1>}, %y: tensor<?x8xf32> {capture.dim_order = array<i64: 1, 0>})
    -> (tensor<4x8xf32> {capture.dim_order = array<i64: 0, 1>}, index) {
  %n = prim.dim %y {dim = 0 : i64} : (tensor<?x8xf32>) -> index
  %0 = prim.neg %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0, %n : tensor<4x8xf32>, index
}

// -----

// Elements that are read inside of control flow, too.
// CHECK-LABEL: func.func @branches(
// CHECK: %[[MEMORY:.*]] = capture.permute %arg0
// CHECK: %[[X:.*]] = prim.transpose %[[MEMORY]]
// CHECK: scf.if
// CHECK: prim.neg %[[X]]
// CHECK: scf.yield %[[X]]
func.func @branches(%x: tensor<4x8xf32> {capture.dim_order = array<i64: 1, 0>}, %c: i1) -> tensor<4x8xf32> {
  %0 = scf.if %c -> (tensor<4x8xf32>) {
    %1 = prim.neg %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
    scf.yield %1 : tensor<4x8xf32>
  } else {
    scf.yield %x : tensor<4x8xf32>
  }
  return %0 : tensor<4x8xf32>
}

// -----

// expected-error @+1 {{an order names each dim of a tensor once}}
func.func @twice(%x: tensor<4x8xf32> {capture.dim_order = array<i64: 1, 1>}) {
  return
}

// -----

// expected-error @+1 {{an order names each dim of a tensor once}}
func.func @rank(%x: tensor<4x8xf32>) -> (tensor<4x8xf32> {capture.dim_order = array<i64: 0, 2, 1>}) {
  return %x : tensor<4x8xf32>
}

// -----

// expected-error @+1 {{weights are row-major}}
func.func @weight(%w: tensor<4x8xf32> {capture.kind = "parameter", capture.name = "w", capture.dim_order = array<i64: 1, 0>}) {
  return
}
