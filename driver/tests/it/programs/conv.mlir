func.func @main(%x: tensor<1x2x5x5xf32> {capture.kind = "input", capture.name = "x"},
                %w: tensor<3x2x3x3xf32> {capture.kind = "parameter", capture.name = "conv.weight"},
                %b: tensor<3xf32> {capture.kind = "parameter", capture.name = "conv.bias"})
    -> (tensor<1x3x5x5xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.convolution %x, %w, %b {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, dilation = array<i64: 1, 1>, transposed = false, output_padding = array<i64: 0, 0>, groups = 1 : i64, segments = array<i64: 1, 1, 1>} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>, tensor<3xf32>) -> tensor<1x3x5x5xf32>
  %1 = aten.relu %0 : tensor<1x3x5x5xf32>
  return %1 : tensor<1x3x5x5xf32>
}
