// RUN: rs-opt %s --inline-layers --split-input-file | FileCheck %s
// RUN: rs-opt %s --inline-layers=remarks --split-input-file 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: rs-opt %s --inline-layers=all --split-input-file | FileCheck %s --check-prefix=ALL
// RUN: rs-opt %s --check-semantics --inline-layers --inline-layers=all --split-input-file | FileCheck %s --check-prefix=SAME

// What crosses the border is read by a product, and by a sum behind that: it is in memory whatever is fused.
// CHECK-LABEL: func.func @stays(
// CHECK-COUNT-2: call @block.0
// CHECK: func.func private @block.0(
// ALL-LABEL: func.func @stays(
// ALL-COUNT-2: prim.dot
// ALL-NOT: call
// ALL: return
// SAME: checked 2 of 2 passes
func.func @stays(%x: tensor<4x4xf32> {capture.kind = "input", capture.name = "x"}, %w: tensor<4x4xf32> {capture.kind = "parameter", capture.name = "w"})
    -> (tensor<4x4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = call @block.0(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = call @block.0(%0, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
func.func private @block.0(%x: tensor<4x4xf32>, %w: tensor<4x4xf32> {capture.kind = "parameter", capture.name = "weight.1"}) -> tensor<4x4xf32> {
  %0 = prim.dot %x, %w {lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = prim.add %0, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// The sum that ends a layer is a step of the product's kernel, and no reduction joins that: normalising first costs no border.
// CHECK-LABEL: func.func @before(
// CHECK-COUNT-2: call @block.0
func.func @before(%x: tensor<4x4xf32> {capture.kind = "input", capture.name = "x"}, %w: tensor<4x4xf32> {capture.kind = "parameter", capture.name = "w"})
    -> (tensor<4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = call @block.0(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = call @block.0(%0, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = prim.reduce %1 {dims = array<i64: 1>, kind = "max"} : (tensor<4x4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func private @block.0(%x: tensor<4x4xf32>, %w: tensor<4x4xf32> {capture.kind = "parameter", capture.name = "weight.1"}) -> tensor<4x4xf32> {
  %m = prim.reduce %x {dims = array<i64: 1>, kind = "max"} : (tensor<4x4xf32>) -> tensor<4xf32>
  %b = prim.broadcast %m {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x4xf32>
  %n = prim.sub %x, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = prim.dot %n, %w {lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = prim.add %0, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// Pointwise to the last: one kernel could compute both layers.
// CHECK-LABEL: func.func @opens(
// CHECK-COUNT-2: prim.sin
// CHECK-NOT: func.func
// WHY: 'block.0' goes back to where it is called: a value that crosses its border need not be in memory
func.func @opens(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x"}) -> (tensor<4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = call @block.0(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @block.0(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @block.0(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = prim.sin %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A layout is chosen in the program, and what calls others is no layer.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: call
// CHECK-NOT: func.func
// WHY-DAG: 'layout' goes back to where it is called: its convolutions choose the layout of what is around it
// WHY-DAG: 'outer' goes back to where it is called: only a call in the program itself, of what calls nothing, can stay
// WHY-DAG: 'inner' goes back to where it is called: only a call in the program itself, of what calls nothing, can stay
func.func @others(%x: tensor<1x8x4x4xf32> {capture.kind = "input", capture.name = "x"}, %w: tensor<8x8x1x1xf32> {capture.kind = "parameter", capture.name = "w"})
    -> (tensor<1x8x4x4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = call @layout(%x, %w) : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  %1 = call @outer(%0) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return %1 : tensor<1x8x4x4xf32>
}
func.func private @layout(%x: tensor<1x8x4x4xf32>, %w: tensor<8x8x1x1xf32> {capture.kind = "parameter", capture.name = "weight.1"}) -> tensor<1x8x4x4xf32> {
  %0 = prim.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  return %0 : tensor<1x8x4x4xf32>
}
func.func private @outer(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
  %0 = call @inner(%x) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return %0 : tensor<1x8x4x4xf32>
}
func.func private @inner(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
  %0 = prim.exp %x : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return %0 : tensor<1x8x4x4xf32>
}

// -----

// What is called with weights alone is prepared, or read as it is.
// CHECK-LABEL: func.func @weights(
// CHECK-COUNT-2: prim.convert
// CHECK-NOT: func.func
// WHY-DAG: 'dequantised' goes back to where it is called: it is called with weights alone, of which each reader may take what it wants
func.func @weights(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x"}, %w: tensor<4xi8> {capture.kind = "parameter", capture.name = "w"},
                   %v: tensor<4xi8> {capture.kind = "parameter", capture.name = "v"}) -> (tensor<4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = call @dequantised(%w) : (tensor<4xi8>) -> tensor<4xf32>
  %1 = call @dequantised(%v) : (tensor<4xi8>) -> tensor<4xf32>
  %2 = prim.add %0, %1 : tensor<4xf32>
  %3:2 = prim.sort %x {dim = 0 : i64, descending = false} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi64>)
  %4 = prim.add %2, %3#0 : tensor<4xf32>
  return %4 : tensor<4xf32>
}
func.func private @dequantised(%q: tensor<4xi8> {capture.kind = "parameter", capture.name = "q"}) -> tensor<4xf32> {
  %0 = prim.convert %q : (tensor<4xi8>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
