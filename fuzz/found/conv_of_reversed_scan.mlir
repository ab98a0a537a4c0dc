// A convolution that reads a reversed scan, and slices of one value three times in a row.
func.func @main(%x: tensor<7x3x3xi32> {capture.kind = "input", capture.name = "x"}, %w: tensor<2x3x1xi32> {capture.kind = "input", capture.name = "w"})
    -> (tensor<7x3x3xi32> {capture.kind = "output"}, tensor<7x2x5xi32> {capture.kind = "output"}, tensor<9x1x3xi32> {capture.kind = "output"}) attributes {capture.entry} {
  %scan = prim.scan %x {dim = 2 : i64, kind = "and"} : (tensor<7x3x3xi32>) -> tensor<7x3x3xi32>
  %back = prim.reverse %scan {dims = array<i64: 0>} : (tensor<7x3x3xi32>) -> tensor<7x3x3xi32>
  %difference = prim.sub %scan, %back : (tensor<7x3x3xi32>, tensor<7x3x3xi32>) -> tensor<7x3x3xi32>
  %conv = prim.conv %back, %w {strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 2>, lhs_dilation = array<i64: 1>, rhs_dilation = array<i64: 1>, groups = 1 : i64} : (tensor<7x3x3xi32>, tensor<2x3x1xi32>) -> tensor<7x2x5xi32>
  %part = prim.slice %x {offsets = array<i64: 0, 1, 0>, sizes = array<i64: 3, 1, 3>, strides = array<i64: 2, 2, 1>} : (tensor<7x3x3xi32>) -> tensor<3x1x3xi32>
  %parts = prim.concat %part, %part, %part {dim = 0 : i64} : (tensor<3x1x3xi32>, tensor<3x1x3xi32>, tensor<3x1x3xi32>) -> tensor<9x1x3xi32>
  return %difference, %conv, %parts : tensor<7x3x3xi32>, tensor<7x2x5xi32>, tensor<9x1x3xi32>
}
