// RUN: rs-opt %s --rematerialise | rs-filecheck %s
// RUN: rs-opt %s --rematerialise=budget=0.5 | rs-filecheck %s --check-prefix=HALF
// RUN: rs-opt %s --rematerialise=bytes=100000 | rs-filecheck %s
// RUN: not rs-opt %s --rematerialise=budget=2 2>&1 | rs-filecheck %s --check-prefix=BUDGET
// RUN: not rs-opt %s --rematerialise="budget=0.5 bytes=3" 2>&1 | rs-filecheck %s --check-prefix=BOTH
// RUN: rs-opt %s --rematerialise=bytes=1 --remarks 2>&1 | rs-filecheck %s --check-prefix=MISSED

// BUDGET: budget is a number from 0 to 1, and bytes are not negative
// BOTH: budget and bytes say the same in two ways; give one of them
// MISSED: 256 bytes are saved where 1 are asked for: what is left is never repeated

// The chain is computed again from the argument, in front of its reader, and nothing is saved.

// CHECK-LABEL: func.func @chain(
// CHECK-SAME: capture.saved = array<i64: 64, 0>
// CHECK: %[[E:.*]] = prim.exp %arg0
// CHECK: %[[S:.*]] = prim.sin %[[E]]
// CHECK: %[[A:.*]] = prim.exp %arg0
// CHECK: %[[C:.*]] = prim.cos %[[A]]
// CHECK: prim.mul %arg1, %[[C]]
func.func @chain(%x: tensor<8xf32>, %g: tensor<8xf32>) -> (tensor<8xf32> {capture.kind = "output"}, tensor<8xf32> {capture.gradient = "x", capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.exp %x : tensor<8xf32>
  %1 = prim.sin %0 : tensor<8xf32>
  %2 = prim.cos %0 : tensor<8xf32>
  %3 = prim.mul %g, %2 : tensor<8xf32>
  %4 = prim.mul %3, %1 : tensor<8xf32>
  return %1, %4 : tensor<8xf32>, tensor<8xf32>
}

// What a product is made to is saved and what follows it is not; with a budget the product is repeated too.

// CHECK-LABEL: func.func @product(
// CHECK-SAME: capture.saved = array<i64: 512, 256>
// CHECK: %[[P:.*]] = prim.dot
// CHECK-NOT: prim.dot
// CHECK: prim.exp %[[P]]
// CHECK: prim.exp %[[P]]
// HALF-LABEL: func.func @product(
// HALF-SAME: capture.saved = array<i64: 512, 0>
// HALF: prim.dot
// HALF: prim.dot
func.func @product(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %g: tensor<8x8xf32>)
    -> (tensor<8x8xf32> {capture.kind = "output"}, tensor<8x8xf32> {capture.gradient = "x", capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = prim.exp %0 : tensor<8x8xf32>
  %2 = prim.sin %1 : tensor<8x8xf32>
  %3 = prim.mul %g, %0 : tensor<8x8xf32>
  %4 = prim.mul %3, %1 : tensor<8x8xf32>
  return %2, %4 : tensor<8x8xf32>, tensor<8x8xf32>
}

// What is saved although it may be repeated, since it is made of something larger: that is allowed next.

// HALF-LABEL: func.func @smaller_than_what_it_is_made_of(
// HALF-SAME: capture.saved = array<i64: 32, 0>
// HALF: prim.dot
// HALF: prim.dot
func.func @smaller_than_what_it_is_made_of(%x: tensor<64x8xf32>, %w: tensor<8x8xf32>, %g: tensor<8xf32>)
    -> (tensor<8xf32> {capture.kind = "output"}, tensor<8xf32> {capture.gradient = "x", capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x8xf32>, tensor<8x8xf32>) -> tensor<64x8xf32>
  %1 = prim.reduce %0 {dims = array<i64: 0>, kind = "sum"} : (tensor<64x8xf32>) -> tensor<8xf32>
  %2 = prim.exp %1 : tensor<8xf32>
  %3 = prim.mul %g, %1 : tensor<8xf32>
  return %2, %3 : tensor<8xf32>, tensor<8xf32>
}

// A sort is never repeated, and numbers are always at hand. A program without a backward stays as it is.

// CHECK-LABEL: func.func @sorted(
// CHECK-SAME: capture.saved = array<i64: 256, 256>
// CHECK: prim.sort
// CHECK-NOT: prim.sort
// HALF-LABEL: func.func @sorted(
// HALF: prim.sort
// HALF-NOT: prim.sort
func.func @sorted(%x: tensor<64xf32>, %g: tensor<64xf32>)
    -> (tensor<64xf32> {capture.kind = "output"}, tensor<64xf32> {capture.gradient = "x", capture.kind = "output"}) attributes {capture.entry} {
  %0, %1 = prim.sort %x {dim = 0 : i64, descending = false} : (tensor<64xf32>) -> (tensor<64xf32>, tensor<64xi64>)
  %2 = prim.mul %g, %0 : tensor<64xf32>
  return %0, %2 : tensor<64xf32>, tensor<64xf32>
}

// CHECK-LABEL: func.func @forward(
// CHECK-NOT: capture.saved
// CHECK: return
func.func @forward(%x: tensor<8xf32>) -> (tensor<8xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.exp %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
