// Convolutions of all kinds mean the same at every level: strides, padding, dilation, groups, depthwise, transposed, odd features.
// RUN: rs-opt %s --check-semantics=sets=1 --to=host | FileCheck %s
// CHECK: checked [[N:[0-9]+]] of [[N]] passes

func.func @main(%x: tensor<1x16x6x5xf32> {capture.kind = "input", capture.name = "x"},
                %w0: tensor<32x16x3x3xf32> {capture.kind = "parameter", capture.name = "w0"},
                %w1: tensor<64x8x3x3xf32> {capture.kind = "parameter", capture.name = "w1"},
                %w2: tensor<64x1x3x3xf32> {capture.kind = "parameter", capture.name = "w2"},
                %w3: tensor<19x64x1x1xf32> {capture.kind = "parameter", capture.name = "w3"},
                %w4: tensor<19x24x2x2xf32> {capture.kind = "parameter", capture.name = "w4"},
                %b: tensor<32xf32> {capture.kind = "parameter", capture.name = "b"})
    -> (tensor<1x24x6x6xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.conv2d %x, %w0, %b {segments = array<i64: 1, 1, 1>, padding = array<i64: 1, 1>} : (tensor<1x16x6x5xf32>, tensor<32x16x3x3xf32>, tensor<32xf32>) -> tensor<1x32x6x5xf32>
  %1 = aten.relu %0 : tensor<1x32x6x5xf32>
  %2 = aten.conv2d %1, %w1 {segments = array<i64: 1, 1, 0>, padding = array<i64: 2, 2>, dilation = array<i64: 2, 2>, groups = 4 : i64} : (tensor<1x32x6x5xf32>, tensor<64x8x3x3xf32>) -> tensor<1x64x6x5xf32>
  %3 = aten.conv2d %2, %w2 {segments = array<i64: 1, 1, 0>, stride = array<i64: 2, 2>, padding = array<i64: 1, 1>, groups = 64 : i64} : (tensor<1x64x6x5xf32>, tensor<64x1x3x3xf32>) -> tensor<1x64x3x3xf32>
  %4 = aten.conv2d %3, %w3 {segments = array<i64: 1, 1, 0>} : (tensor<1x64x3x3xf32>, tensor<19x64x1x1xf32>) -> tensor<1x19x3x3xf32>
  %5 = aten.conv_transpose2d.input %4, %w4 {segments = array<i64: 1, 1, 0>, stride = array<i64: 2, 2>} : (tensor<1x19x3x3xf32>, tensor<19x24x2x2xf32>) -> tensor<1x24x6x6xf32>
  return %5 : tensor<1x24x6x6xf32>
}
