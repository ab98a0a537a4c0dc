// RUN: rs-opt %s --differentiate --split-input-file | rs-filecheck %s

// The cotangent comes after all inputs, the gradient after all outputs and before what the program changes.

// CHECK-LABEL: func.func @signature(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32> {capture.kind = "input", capture.name = "x", capture.requires_grad}
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<4xf32> {capture.kind = "buffer", capture.name = "b"}
// CHECK-SAME: %[[G:[a-z0-9]+]]: tensor<4xf32> {capture.cotangent = 0 : i64, capture.kind = "input", capture.name = "cot_0"}
// CHECK-SAME: -> (tensor<4xf32> {capture.kind = "output"}, tensor<4xf32> {capture.gradient = "x", capture.kind = "output", capture.name = "grad_x"}, tensor<4xf32> {capture.kind = "mutation", capture.name = "b"})
// CHECK: %[[Y:.*]] = prim.mul %[[X]], %[[B]]
// CHECK: %[[D:.*]] = prim.mul %[[G]], %[[B]]
// CHECK: return %[[Y]], %[[D]], %[[X]]
func.func @signature(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x", capture.requires_grad},
                     %b: tensor<4xf32> {capture.kind = "buffer", capture.name = "b"})
    -> (tensor<4xf32> {capture.kind = "output"}, tensor<4xf32> {capture.kind = "mutation", capture.name = "b"}) attributes {capture.entry} {
  %0 = prim.mul %x, %b : tensor<4xf32>
  return %0, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

// Cotangents of a value are summed up, those of halves in f32.

// CHECK-LABEL: func.func @halves(
// CHECK: %[[A:.*]] = prim.convert %{{.*}} : (tensor<4xf16>) -> tensor<4xf32>
// CHECK: %[[SUM:.*]] = prim.add %{{.*}}, %{{.*}} : tensor<4xf32>
// CHECK: %[[OUT:.*]] = prim.convert %[[SUM]] : (tensor<4xf32>) -> tensor<4xf16>
// CHECK: return %{{.*}}, %[[OUT]]
func.func @halves(%x: tensor<4xf16> {capture.kind = "input", capture.name = "x", capture.requires_grad})
    -> (tensor<4xf16> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.add %x, %x : tensor<4xf16>
  return %0 : tensor<4xf16>
}

// -----

// Where nothing depends on an argument its gradient is zero. Integers and conditions stop gradients.

// CHECK-LABEL: func.func @stopped(
// CHECK: %[[ZERO:.*]] = prim.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK: %[[ZEROS:.*]] = prim.broadcast %[[ZERO]]
// CHECK: return %{{.*}}, %[[ZEROS]]
func.func @stopped(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x", capture.requires_grad})
    -> (tensor<4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.detach %x : tensor<4xf32>
  %1 = prim.floor %x : tensor<4xf32>
  %2 = prim.mul %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// The gradient of a broadcast is a sum, and that of a sum a broadcast.

// CHECK-LABEL: func.func @views(
// CHECK: %[[S:.*]] = prim.reduce %arg1 {dims = array<i64: 0>, kind = "sum"} : (tensor<2x3xf32>) -> tensor<3xf32>
func.func @views(%x: tensor<3xf32> {capture.kind = "input", capture.name = "x", capture.requires_grad})
    -> (tensor<2x3xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.broadcast %x {dims = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// The branch that was taken is computed again, and gives its gradient.

// CHECK-LABEL: func.func @branch(
// CHECK: scf.if %[[C:.*]] -> (tensor<4xf32>) {
// CHECK: %[[D:.*]] = scf.if %[[C]] -> (tensor<4xf32>) {
// CHECK: %[[E:.*]] = prim.exp %arg0
// CHECK: %[[M:.*]] = prim.mul %arg2, %[[E]]
// CHECK: scf.yield %[[M]]
// CHECK: } else {
// CHECK: scf.yield %arg2
// CHECK: return %{{.*}}, %[[D]]
func.func @branch(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x", capture.requires_grad}, %p: tensor<i1> {capture.kind = "input", capture.name = "p"})
    -> (tensor<4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %c = prim.item %p : (tensor<i1>) -> i1
  %0 = scf.if %c -> (tensor<4xf32>) {
    %1 = prim.exp %x : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// A function that is no entry stays as it is.

// CHECK-LABEL: func.func private @part(%arg0: tensor<4xf32>) -> tensor<4xf32>
func.func private @part(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = prim.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The weights of a transposed convolution: `g` is the image, and what was spread the window, whose zeros are not multiplied.

// CHECK-LABEL: func.func @spread(
// CHECK: prim.conv %{{.*}} {groups = 1 : i64, high = array<i64: 0>, lhs_dilation = array<i64: 1>, low = array<i64: 0>, rhs_dilation = array<i64: 2>, strides = array<i64: 1>} : (tensor<4x2x13xf32>, tensor<3x2x6xf32>) -> tensor<4x3x3xf32>
// CHECK: prim.reverse {{.*}}{dims = array<i64: 2>}
func.func @spread(%x: tensor<2x3x6xf32> {capture.kind = "input", capture.name = "x"}, %w: tensor<4x3x3xf32> {capture.kind = "input", capture.name = "w", capture.requires_grad})
    -> (tensor<2x4x13xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.conv %x, %w {strides = array<i64: 1>, low = array<i64: 2>, high = array<i64: 2>, lhs_dilation = array<i64: 2>, rhs_dilation = array<i64: 1>, groups = 1 : i64} : (tensor<2x3x6xf32>, tensor<4x3x3xf32>) -> tensor<2x4x13xf32>
  return %0 : tensor<2x4x13xf32>
}

// -----

// Windows that overlap are added up by phases: elements of two windows, shifted and added.

// CHECK-LABEL: func.func @overlapping(
// CHECK: prim.pad %{{.*}} {high = array<i64: 0, 1>, interior = array<i64: 0, 0>, low = array<i64: 0, 0>}
// CHECK: %[[A:.*]] = prim.pad %{{.*}} {high = array<i64: 1, 0>, interior = array<i64: 0, 0>, low = array<i64: 0, 0>} : (tensor<3x2xf32>, tensor<f32>) -> tensor<4x2xf32>
// CHECK: %[[B:.*]] = prim.pad %{{.*}} {high = array<i64: 0, 0>, interior = array<i64: 0, 0>, low = array<i64: 1, 0>} : (tensor<3x2xf32>, tensor<f32>) -> tensor<4x2xf32>
// CHECK: prim.add %[[A]], %[[B]] : tensor<4x2xf32>
func.func @overlapping(%x: tensor<7xf32> {capture.kind = "input", capture.name = "x", capture.requires_grad})
    -> (tensor<3x3xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.sliding_window %x {sizes = array<i64: 3>, strides = array<i64: 2>, dilations = array<i64: 1>} : (tensor<7xf32>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}

// -----

// Beside a constant the result says which one was larger: the operand is not kept for it.

// CHECK-LABEL: func.func @positive(
// CHECK-SAME: %[[G:[a-z0-9]+]]: tensor<4xf32> {capture.cotangent
// CHECK: %[[ZEROS:.*]] = prim.broadcast
// CHECK: %[[Y:.*]] = prim.maximum
// CHECK: %[[PASSED:.*]] = prim.eq %[[Y]], %[[ZEROS]]
// CHECK-NOT: prim.lt
// CHECK: prim.select %[[PASSED]], %{{.*}}, %[[G]]
func.func @positive(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x", capture.requires_grad})
    -> (tensor<4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.constant {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %1 = prim.broadcast %0 {dims = array<i64>} : (tensor<f32>) -> tensor<4xf32>
  %2 = prim.maximum %x, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
