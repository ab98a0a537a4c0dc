// RUN: rs-opt %s --attach-target='entries={features = "+avx512bf16"}' --channels-last --canonicalize | rs-filecheck %s
// RUN: rs-opt %s --attach-target=cpu=x86-64-v3 --channels-last --canonicalize | rs-filecheck %s --check-prefix=SINGLE

// Where the CPU multiplies halves in pairs, a convolution takes them as they are, also behind views.
// CHECK-LABEL: func.func @pairs(
// CHECK-SAME: %[[X:.*]]: tensor<2x16x6x6xbf16>, %[[W:.*]]: tensor<16x24x3x3xbf16>
// CHECK-NOT: prim.convert
// CHECK: prim.conv {{.*}}: (tensor<2x6x6x16xbf16>, tensor<{{.*}}xbf16>) -> tensor<2x4x4x24xf32>
// SINGLE-LABEL: func.func @pairs(
// SINGLE: prim.conv {{.*}}: (tensor<2x6x6x16xf32>, tensor<{{.*}}xf32>) -> tensor<2x4x4x24xf32>
func.func @pairs(%x: tensor<2x16x6x6xbf16>, %w: tensor<16x24x3x3xbf16>) -> tensor<2x24x4x4xf32> {
  %0 = prim.convert %x : (tensor<2x16x6x6xbf16>) -> tensor<2x16x6x6xf32>
  %1 = prim.convert %w : (tensor<16x24x3x3xbf16>) -> tensor<16x24x3x3xf32>
  %2 = prim.transpose %1 {perm = array<i64: 1, 0, 2, 3>} : (tensor<16x24x3x3xf32>) -> tensor<24x16x3x3xf32>
  %3 = prim.reverse %2 {dims = array<i64: 2, 3>} : tensor<24x16x3x3xf32>
  %4 = prim.conv %0, %3 {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x16x6x6xf32>, tensor<24x16x3x3xf32>) -> tensor<2x24x4x4xf32>
  return %4 : tensor<2x24x4x4xf32>
}

// Three channels are a pair and a half of one, which a large window is worth, and a small one is not. One channel is none, and three of a
// group begin in the middle of a pair.
// CHECK-LABEL: func.func @three(
// CHECK: prim.conv {{.*}}layout = "n01c,{{.*}}xbf16>, tensor<{{.*}}xbf16>) -> tensor<2x2x2x64xf32>
// CHECK-LABEL: func.func @three_in_a_small_window(
// CHECK: prim.conv {{.*}}xf32>, tensor<{{.*}}xf32>) -> tensor<2x4x4x24xf32>
// CHECK-LABEL: func.func @one(
// CHECK: prim.conv {{.*}}xf32>, tensor<{{.*}}xf32>) -> tensor<2x{{.*}}xf32>
// CHECK-LABEL: func.func @groups_of_three(
// CHECK: prim.conv {{.*}}xf32>, tensor<{{.*}}xf32>) -> tensor<2x4x4x24xf32>
func.func @three(%x: tensor<2x3x6x6xbf16>, %w: tensor<64x3x5x5xbf16>) -> tensor<2x64x2x2xf32> {
  %0 = prim.convert %x : (tensor<2x3x6x6xbf16>) -> tensor<2x3x6x6xf32>
  %1 = prim.convert %w : (tensor<64x3x5x5xbf16>) -> tensor<64x3x5x5xf32>
  %2 = prim.conv %0, %1 {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x3x6x6xf32>, tensor<64x3x5x5xf32>) -> tensor<2x64x2x2xf32>
  return %2 : tensor<2x64x2x2xf32>
}

func.func @three_in_a_small_window(%x: tensor<2x3x6x6xbf16>, %w: tensor<24x3x3x3xbf16>) -> tensor<2x24x4x4xf32> {
  %0 = prim.convert %x : (tensor<2x3x6x6xbf16>) -> tensor<2x3x6x6xf32>
  %1 = prim.convert %w : (tensor<24x3x3x3xbf16>) -> tensor<24x3x3x3xf32>
  %2 = prim.conv %0, %1 {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x3x6x6xf32>, tensor<24x3x3x3xf32>) -> tensor<2x24x4x4xf32>
  return %2 : tensor<2x24x4x4xf32>
}

func.func @one(%x: tensor<2x1x6x6xbf16>, %w: tensor<24x1x3x3xbf16>) -> tensor<2x24x4x4xf32> {
  %0 = prim.convert %x : (tensor<2x1x6x6xbf16>) -> tensor<2x1x6x6xf32>
  %1 = prim.convert %w : (tensor<24x1x3x3xbf16>) -> tensor<24x1x3x3xf32>
  %2 = prim.conv %0, %1 {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x1x6x6xf32>, tensor<24x1x3x3xf32>) -> tensor<2x24x4x4xf32>
  return %2 : tensor<2x24x4x4xf32>
}

func.func @groups_of_three(%x: tensor<2x6x6x6xbf16>, %w: tensor<24x3x3x3xbf16>) -> tensor<2x24x4x4xf32> {
  %0 = prim.convert %x : (tensor<2x6x6x6xbf16>) -> tensor<2x6x6x6xf32>
  %1 = prim.convert %w : (tensor<24x3x3x3xbf16>) -> tensor<24x3x3x3xf32>
  %2 = prim.conv %0, %1 {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 2 : i64} : (tensor<2x6x6x6xf32>, tensor<24x3x3x3xf32>) -> tensor<2x24x4x4xf32>
  return %2 : tensor<2x24x4x4xf32>
}

// A depthwise one reads beyond the ends of its input. Halves that a window meets often are converted in a copy with zeros around.
// CHECK-LABEL: func.func @beside(
// CHECK-NOT: prim.pad
// CHECK: prim.conv {{.*}}high = array<i64: 1, 1>, layout = "n01c,01co->n01o", {{.*}}low = array<i64: 1, 1>
// CHECK: prim.pad
// CHECK: prim.conv {{.*}}high = array<i64: 0, 0>
func.func @beside(%x: tensor<2x24x6x6xf32> {capture.dim_order = array<i64: 0, 2, 3, 1>}, %h: tensor<2x24x6x6xbf16> {capture.dim_order = array<i64: 0, 2, 3, 1>}, %w: tensor<24x1x3x3xf32>, %v: tensor<24x1x5x5xf32>) -> (tensor<2x24xf32>, tensor<2x24xf32>) {
  %0 = capture.permute %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x24x6x6xf32>) -> tensor<2x6x6x24xf32>
  %1 = prim.transpose %0 {perm = array<i64: 0, 3, 1, 2>} : (tensor<2x6x6x24xf32>) -> tensor<2x24x6x6xf32>
  %2 = prim.conv %1, %w {strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 24 : i64} : (tensor<2x24x6x6xf32>, tensor<24x1x3x3xf32>) -> tensor<2x24x6x6xf32>
  %3 = prim.reduce %2 {dims = array<i64: 2, 3>, kind = "max"} : (tensor<2x24x6x6xf32>) -> tensor<2x24xf32>
  %4 = capture.permute %h {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x24x6x6xbf16>) -> tensor<2x6x6x24xbf16>
  %5 = prim.transpose %4 {perm = array<i64: 0, 3, 1, 2>} : (tensor<2x6x6x24xbf16>) -> tensor<2x24x6x6xbf16>
  %6 = prim.convert %5 : (tensor<2x24x6x6xbf16>) -> tensor<2x24x6x6xf32>
  %7 = prim.conv %6, %v {strides = array<i64: 1, 1>, low = array<i64: 2, 2>, high = array<i64: 2, 2>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 24 : i64} : (tensor<2x24x6x6xf32>, tensor<24x1x5x5xf32>) -> tensor<2x24x6x6xf32>
  %8 = prim.reduce %7 {dims = array<i64: 2, 3>, kind = "max"} : (tensor<2x24x6x6xf32>) -> tensor<2x24xf32>
  return %3, %8 : tensor<2x24xf32>, tensor<2x24xf32>
}

// Of three by three each is met nine times at most.
// CHECK-LABEL: func.func @few_reads(
// CHECK-NOT: prim.pad
// CHECK: prim.conv {{.*}}high = array<i64: 1, 1>, layout
func.func @few_reads(%x: tensor<2x24x6x6xbf16>, %w: tensor<24x1x3x3xf32>) -> tensor<2x24xf32> {
  %0 = prim.convert %x : (tensor<2x24x6x6xbf16>) -> tensor<2x24x6x6xf32>
  %1 = prim.conv %0, %w {strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 24 : i64} : (tensor<2x24x6x6xf32>, tensor<24x1x3x3xf32>) -> tensor<2x24x6x6xf32>
  %2 = prim.reduce %1 {dims = array<i64: 2, 3>, kind = "max"} : (tensor<2x24x6x6xf32>) -> tensor<2x24xf32>
  return %2 : tensor<2x24xf32>
}
