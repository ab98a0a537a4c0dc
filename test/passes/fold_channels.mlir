// RUN: rs-opt %s --fold-channels --split-input-file | FileCheck %s
// RUN: rs-opt %s --check-semantics --fold-channels --split-input-file | FileCheck %s --check-prefix=SAME
// RUN: rs-opt %s --fold-channels=remarks --split-input-file -o /dev/null 2>&1 | rs-filecheck %s --check-prefix=WHY

// SAME: checked 1 of 1 passes

// The padding is of whole runs of channels, and so are the steps of the window.
// CHECK-LABEL: func.func @main(
// CHECK: %[[X:.*]] = prim.reshape %arg0 : (tensor<2x8x7x3xf32>) -> tensor<2x8x21x1xf32>
// CHECK: %[[PADDED:.*]] = prim.pad %[[X]], %{{.*}} {high = array<i64: 0, 1, 6, 0>, interior = array<i64: 0, 0, 0, 0>, low = array<i64: 0, 1, 3, 0>} {{.*}} -> tensor<2x10x30x1xf32>
// CHECK: %[[W:.*]] = prim.reshape %arg1 : (tensor<3x3x3x5xf32>) -> tensor<3x9x1x5xf32>
// CHECK: prim.conv %[[PADDED]], %[[W]] {{.*}}high = array<i64: 0, 0>{{.*}}low = array<i64: 0, 0>{{.*}}strides = array<i64: 1, 6>} : (tensor<2x10x30x1xf32>, tensor<3x9x1x5xf32>) -> tensor<2x8x4x5xf32>
func.func @main(%x: tensor<2x8x7x3xf32> {capture.kind = "input", capture.name = "x"}, %w: tensor<3x3x3x5xf32> {capture.kind = "input", capture.name = "w"})
    -> (tensor<2x8x4x5xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %z = prim.constant {value = dense<0.0> : tensor<f32>} : tensor<f32>
  %0 = prim.pad %x, %z {high = array<i64: 0, 1, 2, 0>, interior = array<i64: 0, 0, 0, 0>, low = array<i64: 0, 1, 1, 0>} : (tensor<2x8x7x3xf32>, tensor<f32>) -> tensor<2x10x10x3xf32>
  %1 = prim.conv %0, %w {groups = 1 : i64, high = array<i64: 0, 0>, layout = "n01c,01co->n01o", lhs_dilation = array<i64: 1, 1>, low = array<i64: 0, 0>, rhs_dilation = array<i64: 1, 1>, strides = array<i64: 1, 2>} : (tensor<2x10x10x3xf32>, tensor<3x3x3x5xf32>) -> tensor<2x8x4x5xf32>
  return %1 : tensor<2x8x4x5xf32>
}

// -----

// Its own padding, a dilation along the other dim, and panels of features.
// SAME: checked 1 of 1 passes
// CHECK-LABEL: func.func @main(
// CHECK: prim.conv %{{.*}}, %{{.*}} {{.*}}high = array<i64: 1, 4>{{.*}}layout = "n01c,O01co->n01o"{{.*}}low = array<i64: 0, 2>{{.*}}rhs_dilation = array<i64: 2, 1>{{.*}}strides = array<i64: 2, 2>} : (tensor<1x9x12x1xf64>, tensor<2x2x6x1x4xf64>) -> tensor<1x4x7x8xf64>
func.func @main(%x: tensor<1x9x6x2xf64> {capture.kind = "input", capture.name = "x"}, %w: tensor<2x2x3x2x4xf64> {capture.kind = "input", capture.name = "w"})
    -> (tensor<1x4x7x8xf64> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.conv %x, %w {groups = 1 : i64, high = array<i64: 1, 2>, layout = "n01c,O01co->n01o", lhs_dilation = array<i64: 1, 1>, low = array<i64: 0, 1>, rhs_dilation = array<i64: 2, 1>, strides = array<i64: 2, 1>} : (tensor<1x9x6x2xf64>, tensor<2x2x3x2x4xf64>) -> tensor<1x4x7x8xf64>
  return %0 : tensor<1x4x7x8xf64>
}

// -----

// A padding of channels goes first.
// SAME: checked 1 of 1 passes
// CHECK-LABEL: func.func @main(
// CHECK: %[[PADDED:.*]] = prim.pad %arg0
// CHECK: prim.reshape %[[PADDED]] : (tensor<1x4x4x3xf32>) -> tensor<1x4x12x1xf32>
func.func @main(%x: tensor<1x4x4x2xf32> {capture.kind = "input", capture.name = "x"}, %w: tensor<3x3x3x5xf32> {capture.kind = "input", capture.name = "w"})
    -> (tensor<1x2x2x5xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %z = prim.constant {value = dense<0.0> : tensor<f32>} : tensor<f32>
  %0 = prim.pad %x, %z {high = array<i64: 0, 0, 0, 1>, interior = array<i64: 0, 0, 0, 0>, low = array<i64: 0, 0, 0, 0>} : (tensor<1x4x4x2xf32>, tensor<f32>) -> tensor<1x4x4x3xf32>
  %1 = prim.conv %0, %w {groups = 1 : i64, high = array<i64: 0, 0>, layout = "n01c,01co->n01o", lhs_dilation = array<i64: 1, 1>, low = array<i64: 0, 0>, rhs_dilation = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x4x4x3xf32>, tensor<3x3x3x5xf32>) -> tensor<1x2x2x5xf32>
  return %1 : tensor<1x2x2x5xf32>
}

// -----

// CHECK-LABEL: func.func @refused(
// CHECK-NOT: prim.reshape
// WHY: remark: 'channels' does not match: it has groups, or its rows are dilated [fold-channels]
// WHY: remark: 'channels' does not match: its channels are not behind the last dim of space [fold-channels]
// WHY: remark: 'channels' does not match: it has other than 2 to 8 channels, or its elements go in pairs [fold-channels]
// WHY: remark: 'channels' does not match: its sizes are not known [fold-channels]
func.func @refused(%x: tensor<1x8x8x3xf32>, %w: tensor<3x3x3x5xf32>, %first: tensor<1x3x8x8xf32>, %of_first: tensor<5x3x3x3xf32>, %half: tensor<1x8x8x4xbf16>,
                   %of_half: tensor<3x3x4x5xbf16>, %some: tensor<?x8x8x3xf32>)
    -> (tensor<1x6x4x5xf32>, tensor<1x5x6x6xf32>, tensor<1x6x6x5xbf16>, tensor<?x6x6x5xf32>) {
  %0 = prim.conv %x, %w {groups = 1 : i64, high = array<i64: 0, 0>, layout = "n01c,01co->n01o", lhs_dilation = array<i64: 1, 1>, low = array<i64: 0, 0>, rhs_dilation = array<i64: 1, 2>, strides = array<i64: 1, 1>} : (tensor<1x8x8x3xf32>, tensor<3x3x3x5xf32>) -> tensor<1x6x4x5xf32>
  %1 = prim.conv %first, %of_first {groups = 1 : i64, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, low = array<i64: 0, 0>, rhs_dilation = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x3x8x8xf32>, tensor<5x3x3x3xf32>) -> tensor<1x5x6x6xf32>
  %2 = prim.conv %half, %of_half {groups = 1 : i64, high = array<i64: 0, 0>, layout = "n01c,01co->n01o", lhs_dilation = array<i64: 1, 1>, low = array<i64: 0, 0>, rhs_dilation = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x8x8x4xbf16>, tensor<3x3x4x5xbf16>) -> tensor<1x6x6x5xbf16>
  %3 = prim.conv %some, %w {groups = 1 : i64, high = array<i64: 0, 0>, layout = "n01c,01co->n01o", lhs_dilation = array<i64: 1, 1>, low = array<i64: 0, 0>, rhs_dilation = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<?x8x8x3xf32>, tensor<3x3x3x5xf32>) -> tensor<?x6x6x5xf32>
  return %0, %1, %2, %3 : tensor<1x6x4x5xf32>, tensor<1x5x6x6xf32>, tensor<1x6x6x5xbf16>, tensor<?x6x6x5xf32>
}
