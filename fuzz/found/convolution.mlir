// Zeros between the elements of a convolution of integers.
func.func @main(%x: tensor<1x9x3xi32> {capture.kind = "input", capture.name = "x"}, %w: tensor<1x9x1xi32> {capture.kind = "input", capture.name = "w"})
    -> (tensor<1x1x4xi32> {capture.kind = "output"}) attributes {capture.entry} {
  %y = prim.conv %x, %w {strides = array<i64: 2>, low = array<i64: 1>, high = array<i64: 2>, lhs_dilation = array<i64: 2>, rhs_dilation = array<i64: 1>, groups = 1 : i64} : (tensor<1x9x3xi32>, tensor<1x9x1xi32>) -> tensor<1x1x4xi32>
  return %y : tensor<1x1x4xi32>
}
