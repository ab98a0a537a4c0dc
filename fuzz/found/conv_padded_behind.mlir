// Padding behind the last column only: the column's index is the result's, and leaves the operand all the same.
func.func @main(%v6: tensor<1x3x3x6xui8> {capture.kind = "input", capture.name = "v6"},
    %v9: tensor<6x1x1x1xui8> {capture.kind = "input", capture.name = "v9"})
    -> (tensor<1x6x3x8xui8> {capture.kind = "output"}) attributes {capture.entry} {
  %v10 = prim.conv %v6, %v9 {strides = array<i64: 2, 1>, low = array<i64: 2, 0>, high = array<i64: 1, 2>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 2, 2>, groups = 3 : i64} : (tensor<1x3x3x6xui8>, tensor<6x1x1x1xui8>) -> tensor<1x6x3x8xui8>
  return %v10 : tensor<1x6x3x8xui8>
}
