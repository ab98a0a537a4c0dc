// RUN: rs-opt %s --split-phases --split-input-file | rs-filecheck %s
// RUN: rs-opt %s --check-semantics --split-phases --split-input-file | rs-filecheck %s --check-prefix=SAME
// RUN: rs-opt %s --split-phases=remarks --split-input-file -o /dev/null 2>&1 | rs-filecheck %s --check-prefix=WHY
// WHY: remark: its products with zeros are not worth the launches [split-phases]

// Stride 2 and 4 taps: two phases of two taps, which are interleaved.
// CHECK-LABEL: @even
// CHECK: %[[W0:.*]] = prim.slice %arg1 {offsets = array<i64: 0, 0, 0>, sizes = array<i64: 64, 64, 2>, strides = array<i64: 1, 1, 2>}
// CHECK: %[[Y0:.*]] = prim.conv %arg0, %[[W0]] {groups = 1 : i64, high = array<i64: 0>, lhs_dilation = array<i64: 1>, low = array<i64: 1>
// CHECK: %[[W1:.*]] = prim.slice %arg1 {offsets = array<i64: 0, 0, 1>
// CHECK: %[[Y1:.*]] = prim.conv %arg0, %[[W1]] {groups = 1 : i64, high = array<i64: 1>, lhs_dilation = array<i64: 1>, low = array<i64: 0>
// CHECK: prim.concat {{.*}} {dim = 3 : i64} : (tensor<1x64x64x1xf32>, tensor<1x64x64x1xf32>) -> tensor<1x64x64x2xf32>
// CHECK: prim.reshape {{.*}} -> tensor<1x64x128xf32>
// SAME: checked 1 of 1 passes
func.func @even(%x: tensor<1x64x64xf32>, %w: tensor<64x64x4xf32>) -> tensor<1x64x128xf32> {
  %0 = prim.conv %x, %w {groups = 1 : i64, high = array<i64: 2>, lhs_dilation = array<i64: 2>, low = array<i64: 2>, rhs_dilation = array<i64: 1>, strides = array<i64: 1>} : (tensor<1x64x64xf32>, tensor<64x64x4xf32>) -> tensor<1x64x128xf32>
  return %0 : tensor<1x64x128xf32>
}

// -----

// Phases of different numbers of taps, a size that the stride does not divide, a crop in front, groups, and a dimension of its own stride.
// CHECK-LABEL: @odd
// CHECK-COUNT-6: prim.conv
// CHECK-NOT: prim.conv
// CHECK: prim.slice {{.*}} -> tensor<2x32x21x18xf32>
func.func @odd(%x: tensor<2x16x12x8xf32>, %w: tensor<32x8x5x3xf32>) -> tensor<2x32x21x18xf32> {
  %0 = prim.conv %x, %w {groups = 2 : i64, high = array<i64: 3, -1>, lhs_dilation = array<i64: 2, 3>, low = array<i64: -1, -1>, rhs_dilation = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<2x16x12x8xf32>, tensor<32x8x5x3xf32>) -> tensor<2x32x21x18xf32>
  return %0 : tensor<2x32x21x18xf32>
}

// -----

// What has too few products with zeros stays.
// CHECK-LABEL: @small
// CHECK: lhs_dilation = array<i64: 2>
func.func @small(%x: tensor<1x2x4xf32>, %w: tensor<2x2x4xf32>) -> tensor<1x2x8xf32> {
  %0 = prim.conv %x, %w {groups = 1 : i64, high = array<i64: 2>, lhs_dilation = array<i64: 2>, low = array<i64: 2>, rhs_dilation = array<i64: 1>, strides = array<i64: 1>} : (tensor<1x2x4xf32>, tensor<2x2x4xf32>) -> tensor<1x2x8xf32>
  return %0 : tensor<1x2x8xf32>
}

// -----

// A window that is shorter than the stride: one of three phases meets no tap.
// CHECK-LABEL: @short
// CHECK-COUNT-2: prim.conv
// CHECK: prim.broadcast {{.*}} -> tensor<1x128x64xf32>
// CHECK-NOT: prim.conv
// SAME: checked 1 of 1 passes
func.func @short(%x: tensor<1x128x64xf32>, %w: tensor<128x128x2xf32>) -> tensor<1x128x191xf32> {
  %0 = prim.conv %x, %w {groups = 1 : i64, high = array<i64: 1>, lhs_dilation = array<i64: 3>, low = array<i64: 1>, rhs_dilation = array<i64: 1>, strides = array<i64: 1>} : (tensor<1x128x64xf32>, tensor<128x128x2xf32>) -> tensor<1x128x191xf32>
  return %0 : tensor<1x128x191xf32>
}

// -----

// A dilated window. Along the first dimension stride and dilation have a common divisor: its odd results meet no tap, the even ones all three.
// Along the second each phase meets every third tap, the elements under them two apart.
// CHECK-LABEL: @dilated
// CHECK: prim.conv {{.*}} rhs_dilation = array<i64: 2, 2>
// CHECK-COUNT-2: prim.conv
// CHECK-NOT: prim.conv
// CHECK: prim.broadcast
// SAME: checked 1 of 1 passes
func.func @dilated(%x: tensor<1x16x12x9xf32>, %w: tensor<16x16x3x5xf32>) -> tensor<1x16x31x33xf32> {
  %0 = prim.conv %x, %w {groups = 1 : i64, high = array<i64: 8, 8>, lhs_dilation = array<i64: 2, 3>, low = array<i64: 8, 8>, rhs_dilation = array<i64: 4, 2>, strides = array<i64: 1, 1>} : (tensor<1x16x12x9xf32>, tensor<16x16x3x5xf32>) -> tensor<1x16x31x33xf32>
  return %0 : tensor<1x16x31x33xf32>
}

// -----

// A window as wide as the stride: phases are the features of one convolution, and go where they belong.
// CHECK-LABEL: @single_taps
// CHECK: %[[W:.*]] = prim.concat {{.*}} {dim = 0 : i64} : (tensor<8x16x1x1xf32>, tensor<8x16x1x1xf32>, tensor<8x16x1x1xf32>, tensor<8x16x1x1xf32>) -> tensor<32x16x1x1xf32>
// CHECK: %[[Y:.*]] = prim.conv %arg0, %[[W]] {{.*}} -> tensor<1x32x32x32xf32>
// CHECK-NOT: prim.conv
// CHECK: prim.reshape %[[Y]] {{.*}} -> tensor<1x2x2x8x32x32xf32>
// CHECK: prim.transpose {{.*}} {perm = array<i64: 0, 3, 4, 1, 5, 2>} {{.*}} -> tensor<1x8x32x2x32x2xf32>
// CHECK: prim.reshape {{.*}} -> tensor<1x8x64x64xf32>
// SAME: checked 1 of 1 passes
func.func @single_taps(%x: tensor<1x16x32x32xf32>, %w: tensor<8x16x2x2xf32>) -> tensor<1x8x64x64xf32> {
  %0 = prim.conv %x, %w {groups = 1 : i64, high = array<i64: 1, 1>, lhs_dilation = array<i64: 2, 2>, low = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x16x32x32xf32>, tensor<8x16x2x2xf32>) -> tensor<1x8x64x64xf32>
  return %0 : tensor<1x8x64x64xf32>
}

// -----

// A bias and a conversion work on each phase, before these are interleaved; what is not the same everywhere does not.
// CHECK-LABEL: @followed
// CHECK: %[[Y0:.*]] = prim.conv %arg0
// CHECK: %[[B0:.*]] = prim.broadcast %arg2 {dims = array<i64: 1>} : (tensor<64xf32>) -> tensor<1x64x64xf32>
// CHECK: %[[S0:.*]] = prim.add %[[Y0]], %[[B0]]
// CHECK: prim.convert %[[S0]] : (tensor<1x64x64xf32>) -> tensor<1x64x64xbf16>
// CHECK: prim.conv %arg0
// CHECK: prim.convert {{.*}} -> tensor<1x64x64xbf16>
// CHECK: %[[ALL:.*]] = prim.reshape {{.*}} -> tensor<1x64x128xbf16>
// CHECK: prim.add %[[ALL]], %arg3
// SAME: checked 1 of 1 passes
func.func @followed(%x: tensor<1x64x64xf32>, %w: tensor<64x64x4xf32>, %b: tensor<64xf32>, %r: tensor<1x64x128xbf16>) -> tensor<1x64x128xbf16> {
  %0 = prim.conv %x, %w {groups = 1 : i64, high = array<i64: 2>, lhs_dilation = array<i64: 2>, low = array<i64: 2>, rhs_dilation = array<i64: 1>, strides = array<i64: 1>} : (tensor<1x64x64xf32>, tensor<64x64x4xf32>) -> tensor<1x64x128xf32>
  %1 = prim.broadcast %b {dims = array<i64: 1>} : (tensor<64xf32>) -> tensor<1x64x128xf32>
  %2 = prim.add %0, %1 : tensor<1x64x128xf32>
  %3 = prim.convert %2 : (tensor<1x64x128xf32>) -> tensor<1x64x128xbf16>
  %4 = prim.add %3, %r : tensor<1x64x128xbf16>
  return %4 : tensor<1x64x128xbf16>
}

// -----

// Where phases are the features of one convolution, these have the bias as often.
// CHECK-LABEL: @followed_together
// CHECK: prim.conv {{.*}} -> tensor<1x256x64xf32>
// CHECK: prim.broadcast %arg2 {dims = array<i64: 1>} : (tensor<128xf32>) -> tensor<2x128xf32>
// CHECK: prim.reshape {{.*}} -> tensor<256xf32>
// CHECK: prim.add {{.*}} : tensor<1x256x64xf32>
// CHECK: prim.reshape {{.*}} -> tensor<1x128x128xf32>
// SAME: checked 1 of 1 passes
func.func @followed_together(%x: tensor<1x64x64xf32>, %w: tensor<128x64x2xf32>, %b: tensor<128xf32>) -> tensor<1x128x128xf32> {
  %0 = prim.conv %x, %w {groups = 1 : i64, high = array<i64: 1>, lhs_dilation = array<i64: 2>, low = array<i64: 1>, rhs_dilation = array<i64: 1>, strides = array<i64: 1>} : (tensor<1x64x64xf32>, tensor<128x64x2xf32>) -> tensor<1x128x128xf32>
  %1 = prim.broadcast %b {dims = array<i64: 1>} : (tensor<128xf32>) -> tensor<1x128x128xf32>
  %2 = prim.add %0, %1 : tensor<1x128x128xf32>
  return %2 : tensor<1x128x128xf32>
}
