// A convolution with a border, as a contraction by tiles.
func.func @main(%x: tensor<2x20x18x18xbf16> {capture.kind = "input", capture.name = "x"},
                %w: tensor<33x20x3x3xbf16> {capture.kind = "input", capture.name = "w"})
    -> (tensor<2x33x18x18xbf16> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.convolution %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, dilation = array<i64: 1, 1>, transposed = false,
                                output_padding = array<i64: 0, 0>, groups = 1 : i64, segments = array<i64: 1, 1, 0>}
      : (tensor<2x20x18x18xbf16>, tensor<33x20x3x3xbf16>) -> tensor<2x33x18x18xbf16>
  return %0 : tensor<2x33x18x18xbf16>
}
