// A small convolutional network for images of 28 by 28 and ten classes: the mean cross entropy of a batch of 64, then the scores.
// PyTorch's operators, as `rs-compile net.pt2 --emit=mlir --to=capture` prints an export.
func.func @main(
    %w1: tensor<8x1x3x3xf32> {capture.kind = "parameter", capture.name = "conv1.weight", capture.requires_grad},
    %b1: tensor<8xf32> {capture.kind = "parameter", capture.name = "conv1.bias", capture.requires_grad},
    %w2: tensor<16x8x3x3xf32> {capture.kind = "parameter", capture.name = "conv2.weight", capture.requires_grad},
    %b2: tensor<16xf32> {capture.kind = "parameter", capture.name = "conv2.bias", capture.requires_grad},
    %w3: tensor<10x784xf32> {capture.kind = "parameter", capture.name = "head.weight", capture.requires_grad},
    %b3: tensor<10xf32> {capture.kind = "parameter", capture.name = "head.bias", capture.requires_grad},
    %x: tensor<64x1x28x28xf32> {capture.kind = "input", capture.name = "x"},
    %target: tensor<64xi64> {capture.kind = "input", capture.name = "target"})
    -> (tensor<f32> {capture.kind = "output", capture.name = "loss"}, tensor<64x10xf32> {capture.kind = "output", capture.name = "scores"})
    attributes {capture.entry} {
  %0 = aten.conv2d %x, %w1, %b1 {padding = array<i64: 1, 1>, segments = array<i64: 1, 1, 1>} : (tensor<64x1x28x28xf32>, tensor<8x1x3x3xf32>, tensor<8xf32>) -> tensor<64x8x28x28xf32>
  %1 = aten.relu %0 : tensor<64x8x28x28xf32>
  %2 = aten.max_pool2d %1 {kernel_size = array<i64: 2, 2>} : (tensor<64x8x28x28xf32>) -> tensor<64x8x14x14xf32>
  %3 = aten.conv2d %2, %w2, %b2 {padding = array<i64: 1, 1>, segments = array<i64: 1, 1, 1>} : (tensor<64x8x14x14xf32>, tensor<16x8x3x3xf32>, tensor<16xf32>) -> tensor<64x16x14x14xf32>
  %4 = aten.relu %3 : tensor<64x16x14x14xf32>
  %5 = aten.max_pool2d %4 {kernel_size = array<i64: 2, 2>} : (tensor<64x16x14x14xf32>) -> tensor<64x16x7x7xf32>
  %6 = aten.flatten.using_ints %5 {start_dim = 1 : i64} : (tensor<64x16x7x7xf32>) -> tensor<64x784xf32>
  %7 = aten.linear %6, %w3, %b3 {segments = array<i64: 1, 1, 1>} : (tensor<64x784xf32>, tensor<10x784xf32>, tensor<10xf32>) -> tensor<64x10xf32>
  %8 = aten.cross_entropy_loss %7, %target {segments = array<i64: 1, 1, 0>} : (tensor<64x10xf32>, tensor<64xi64>) -> tensor<f32>
  return %8, %7 : tensor<f32>, tensor<64x10xf32>
}
