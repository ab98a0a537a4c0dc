// Reductions that read nothing but a constant, and the padding of a constant.
func.func @main(%w: tensor<2x1x3xf32> {capture.kind = "input", capture.name = "w"})
    -> (tensor<i64> {capture.kind = "output"}, tensor<1x2x2xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %one = prim.constant {value = dense<1.0> : tensor<1xf64>} : () -> tensor<1xf64>
  %first = prim.arg_reduce %one {dim = 0 : i64, kind = "max"} : (tensor<1xf64>) -> tensor<i64>
  %x = prim.constant {value = dense<3.5> : tensor<1x1x5xf32>} : () -> tensor<1x1x5xf32>
  %conv = prim.conv %x, %w {strides = array<i64: 2>, low = array<i64: 2>, high = array<i64: 0>, lhs_dilation = array<i64: 1>, rhs_dilation = array<i64: 2>, groups = 1 : i64} : (tensor<1x1x5xf32>, tensor<2x1x3xf32>) -> tensor<1x2x2xf32>
  return %first, %conv : tensor<i64>, tensor<1x2x2xf32>
}
