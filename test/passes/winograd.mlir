// RUN: rs-opt %s --split-input-file --winograd | FileCheck %s
// RUN: rs-opt %s --split-input-file --winograd=numerics=strict | FileCheck %s --check-prefix=STRICT
// RUN: rs-opt %s --winograd=remarks --split-input-file -o /dev/null 2>&1 | rs-filecheck %s --check-prefix=WHY
// WHY: remark: transformed tiles would cost more than the direct products [winograd]
// STRICT-NOT: prim.linear_transform

// Tiles that reach beyond the end: the padding grows; what follows runs on tiles, its other operand is taken apart; a slice ends it.
// CHECK-LABEL: func.func @residual(
// CHECK: %[[P:.*]] = prim.pad %{{.*}} {high = array<i64: 0, 3, 3, 0>, interior = array<i64: 0, 0, 0, 0>, low = array<i64: 0, 1, 1, 0>} {{.*}} -> tensor<4x18x18x64xf32>
// CHECK: %[[V:.*]] = prim.sliding_window %[[P]] {dilations = array<i64: 1, 1>, dims = array<i64: 1, 2>, sizes = array<i64: 6, 6>, strides = array<i64: 4, 4>} {{.*}} -> tensor<4x4x4x64x6x6xf32>
// CHECK: %[[T:.*]] = prim.transpose %[[V]]
// CHECK: %[[X:.*]] = prim.linear_transform %[[T]] {dims = array<i64: 3, 4>, {{.*}}tensor<4x4x4x6x6x64xf32>
// CHECK: %[[WT:.*]] = prim.linear_transform %{{.*}} {dims = array<i64: 1, 2>, {{.*}} -> tensor<2x6x6x64x32xf32>
// CHECK: %[[W:.*]] = prim.reshape %[[WT]] {{.*}} -> tensor<2x36x64x32xf32>
// CHECK: %[[D:.*]] = prim.dot %{{.*}}, %[[W]] {lhs_batch = array<i64: 1>, lhs_contract = array<i64: 2>, rhs_batch = array<i64: 1>, rhs_contract = array<i64: 2>} {{.*}} -> tensor<36x64x2x32xf32>
// CHECK: %[[Y:.*]] = prim.linear_transform %{{.*}} {dims = array<i64: 2, 4>, {{.*}} -> tensor<4x4x4x4x4x64xf32>
// CHECK: %[[B:.*]] = prim.broadcast %{{.*}} {dims = array<i64: 5>} : (tensor<64xf32>) -> tensor<4x4x4x4x4x64xf32>
// CHECK: %[[S:.*]] = prim.add %[[Y]], %[[B]]
// CHECK: %[[RP:.*]] = prim.pad %{{.*}} {high = array<i64: 0, 2, 2, 0>, {{.*}} -> tensor<4x16x16x64xf32>
// CHECK: %[[R:.*]] = prim.reshape %[[RP]] {{.*}} -> tensor<4x4x4x4x4x64xf32>
// CHECK: %[[Q:.*]] = prim.add %[[S]], %[[R]]
// CHECK: %[[ALL:.*]] = prim.reshape %[[Q]] {{.*}} -> tensor<4x16x16x64xf32>
// CHECK: %[[O:.*]] = prim.slice %[[ALL]] {{.*}} -> tensor<4x14x14x64xf32>
// CHECK: return %[[O]]
func.func @residual(%x: tensor<4x14x14x64xf32> {capture.kind = "input", capture.name = "x"},
                    %w: tensor<2x3x3x64x32xf32> {capture.kind = "parameter", capture.name = "w"},
                    %b: tensor<64xf32> {capture.kind = "parameter", capture.name = "b"}) -> (tensor<4x14x14x64xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %z = prim.constant {value = dense<0.0> : tensor<f32>} : tensor<f32>
  %p = prim.pad %x, %z {low = array<i64: 0, 1, 1, 0>, high = array<i64: 0, 1, 1, 0>, interior = array<i64: 0, 0, 0, 0>} : (tensor<4x14x14x64xf32>, tensor<f32>) -> tensor<4x16x16x64xf32>
  %0 = prim.conv %p, %w {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64, layout = "n01c,O01co->n01o"} : (tensor<4x16x16x64xf32>, tensor<2x3x3x64x32xf32>) -> tensor<4x14x14x64xf32>
  %1 = prim.broadcast %b {dims = array<i64: 3>} : (tensor<64xf32>) -> tensor<4x14x14x64xf32>
  %2 = prim.add %0, %1 : tensor<4x14x14x64xf32>
  %3 = prim.add %2, %x : tensor<4x14x14x64xf32>
  return %3 : tensor<4x14x14x64xf32>
}

// -----

// Steps of two, few channels, weights of a call whose transform does not pay: directly.
// CHECK-LABEL: func.func @direct(
// CHECK: prim.conv
// CHECK: prim.conv
// CHECK: prim.conv
// CHECK-NOT: prim.linear_transform
func.func @direct(%x: tensor<4x30x30x64xf32> {capture.kind = "input", capture.name = "x"},
                  %y: tensor<4x30x30x8xf32> {capture.kind = "input", capture.name = "y"},
                  %s: tensor<1x9x9x64xf32> {capture.kind = "input", capture.name = "s"},
                  %v: tensor<3x3x64x16xf32> {capture.kind = "input", capture.name = "v"},
                  %w: tensor<3x3x64x16xf32> {capture.kind = "parameter", capture.name = "w"},
                  %u: tensor<3x3x8x16xf32> {capture.kind = "parameter", capture.name = "u"})
    -> (tensor<4x14x14x16xf32> {capture.kind = "output"}, tensor<4x28x28x16xf32> {capture.kind = "output"}, tensor<1x7x7x16xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.conv %x, %w {strides = array<i64: 2, 2>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64, layout = "n01c,01co->n01o"} : (tensor<4x30x30x64xf32>, tensor<3x3x64x16xf32>) -> tensor<4x14x14x16xf32>
  %1 = prim.conv %y, %u {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64, layout = "n01c,01co->n01o"} : (tensor<4x30x30x8xf32>, tensor<3x3x8x16xf32>) -> tensor<4x28x28x16xf32>
  %2 = prim.conv %s, %v {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64, layout = "n01c,01co->n01o"} : (tensor<1x9x9x64xf32>, tensor<3x3x64x16xf32>) -> tensor<1x7x7x16xf32>
  return %0, %1, %2 : tensor<4x14x14x16xf32>, tensor<4x28x28x16xf32>, tensor<1x7x7x16xf32>
}

// -----

// Weights of the call are transformed in it, where there is enough to multiply them with.
// CHECK-LABEL: func.func @weights_of_the_call(
// CHECK: prim.linear_transform %{{.*}} -> tensor<6x6x64x64xf32>
// CHECK: prim.dot {{.*}} -> tensor<36x784x64xf32>
// CHECK-NOT: prim.conv
// CHECK: return
func.func @weights_of_the_call(%x: tensor<4x58x58x64xf32> {capture.kind = "input", capture.name = "x"},
                               %w: tensor<3x3x64x64xf32> {capture.kind = "input", capture.name = "w"}) -> (tensor<4x56x56x64xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64, layout = "n01c,01co->n01o"} : (tensor<4x58x58x64xf32>, tensor<3x3x64x64xf32>) -> tensor<4x56x56x64xf32>
  return %0 : tensor<4x56x56x64xf32>
}

// -----

// The gradient of weights: tiles of 4 by 4 of what comes from the results, whose images end within a tile.
// CHECK-LABEL: func.func @weight_gradient(
// CHECK: %[[P:.*]] = prim.pad %{{.*}} {high = array<i64: 0, 0, 3, 3>, interior = array<i64: 0, 0, 0, 0>, low = array<i64: 0, 0, 1, 1>} {{.*}} -> tensor<64x4x18x18xf32>
// CHECK: %[[V:.*]] = prim.sliding_window %{{.*}} {dilations = array<i64: 1, 1>, dims = array<i64: 1, 2>, sizes = array<i64: 6, 6>, strides = array<i64: 4, 4>} {{.*}} -> tensor<4x4x4x64x6x6xf32>
// CHECK: %[[X:.*]] = prim.linear_transform %{{.*}} {dims = array<i64: 3, 4>, {{.*}}tensor<4x4x4x6x6x64xf32>
// CHECK: %[[G:.*]] = prim.pad %{{.*}} {high = array<i64: 0, 0, 2, 2>, {{.*}} -> tensor<128x4x16x16xf32>
// CHECK: %[[T:.*]] = prim.reshape %{{.*}} : (tensor<4x16x16x128xf32>) -> tensor<4x4x4x4x4x128xf32>
// CHECK: %[[Y:.*]] = prim.linear_transform %{{.*}} {dims = array<i64: 3, 4>, {{.*}}(tensor<4x4x4x4x4x128xf32>) -> tensor<4x4x4x6x6x128xf32>
// CHECK: %[[D:.*]] = prim.dot %{{.*}}, %{{.*}} {lhs_batch = array<i64: 1>, lhs_contract = array<i64: 0>, rhs_batch = array<i64: 1>, rhs_contract = array<i64: 0>} {{.*}} -> tensor<36x64x128xf32>
// CHECK: %[[R:.*]] = prim.linear_transform %{{.*}} {dims = array<i64: 0, 1>, {{.*}} -> tensor<3x3x64x128xf32>
// CHECK: %[[O:.*]] = prim.transpose %[[R]] {perm = array<i64: 2, 3, 0, 1>}
// CHECK: return %[[O]]
func.func @weight_gradient(%x: tensor<64x4x14x14xf32> {capture.kind = "input", capture.name = "x"},
                           %dy: tensor<128x4x14x14xf32> {capture.kind = "input", capture.name = "dy"}) -> (tensor<64x128x3x3xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %z = prim.constant {value = dense<0.0> : tensor<f32>} : tensor<f32>
  %p = prim.pad %x, %z {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>, interior = array<i64: 0, 0, 0, 0>} : (tensor<64x4x14x14xf32>, tensor<f32>) -> tensor<64x4x16x16xf32>
  %0 = prim.conv %p, %dy {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<64x4x16x16xf32>, tensor<128x4x14x14xf32>) -> tensor<64x128x3x3xf32>
  return %0 : tensor<64x128x3x3xf32>
}

// -----

// Not of 5 by 5 weights, of strides (whose window is dilated), in half precision, or with few channels.
// WHY: remark: it is not channels-last, and has not 3 by 3 results [winograd]
// WHY: remark: its window moves by more than one, is dilated or padded, or it has groups [winograd]
// WHY: remark: its elements are neither f32 nor f64 [winograd]
// WHY: remark: transformed tiles would cost more than the direct products [winograd]
// CHECK-LABEL: func.func @other_gradients(
// CHECK-COUNT-4: prim.conv
// CHECK-NOT: prim.linear_transform
func.func @other_gradients(%x: tensor<64x4x18x18xf32> {capture.kind = "input", capture.name = "x"},
                           %h: tensor<64x4x16x16xbf16> {capture.kind = "input", capture.name = "h"},
                           %f: tensor<3x4x16x16xf32> {capture.kind = "input", capture.name = "f"},
                           %dy: tensor<64x4x14x14xf32> {capture.kind = "input", capture.name = "dy"},
                           %ds: tensor<64x4x8x8xf32> {capture.kind = "input", capture.name = "ds"},
                           %dh: tensor<64x4x14x14xbf16> {capture.kind = "input", capture.name = "dh"})
    -> (tensor<64x64x5x5xf32> {capture.kind = "output"}, tensor<64x64x3x3xf32> {capture.kind = "output"}, tensor<64x64x3x3xbf16> {capture.kind = "output"}, tensor<3x64x3x3xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.conv %x, %dy {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<64x4x18x18xf32>, tensor<64x4x14x14xf32>) -> tensor<64x64x5x5xf32>
  %1 = prim.conv %x, %ds {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: -1, -1>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 2, 2>, groups = 1 : i64} : (tensor<64x4x18x18xf32>, tensor<64x4x8x8xf32>) -> tensor<64x64x3x3xf32>
  %2 = prim.conv %h, %dh {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<64x4x16x16xbf16>, tensor<64x4x14x14xbf16>) -> tensor<64x64x3x3xbf16>
  %3 = prim.conv %f, %dy {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<3x4x16x16xf32>, tensor<64x4x14x14xf32>) -> tensor<3x64x3x3xf32>
  return %0, %1, %2, %3 : tensor<64x64x5x5xf32>, tensor<64x64x3x3xf32>, tensor<64x64x3x3xbf16>, tensor<3x64x3x3xf32>
}

// -----

// Matrix units multiply halves faster than tiles are transformed.
// WHY: remark: matrix units multiply its halves as they are [winograd]
module attributes {target.cpu = {features = "+amx-bf16", vector_bits = 512 : i64}} {
  func.func @units(%x: tensor<16x58x58x64xbf16> {capture.kind = "input", capture.name = "x"}, %w: tensor<3x3x64x64xbf16> {capture.kind = "parameter", capture.name = "w"})
      -> (tensor<16x56x56x64xf32> {capture.kind = "output"}) attributes {capture.entry} {
    %0 = prim.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64, layout = "n01c,01co->n01o"} : (tensor<16x58x58x64xbf16>, tensor<3x3x64x64xbf16>) -> tensor<16x56x56x64xf32>
    return %0 : tensor<16x56x56x64xf32>
  }
}
