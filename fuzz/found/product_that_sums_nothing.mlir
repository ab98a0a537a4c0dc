// The interpreter added the one product to a zero, which takes the sign of -0.
func.func @main(%x: tensor<4x4xf32> {capture.kind = "input", capture.name = "x"}, %y: tensor<3xf32> {capture.kind = "input", capture.name = "y"})
    -> (tensor<4x4x3xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.dot %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64>, rhs_contract = array<i64>} : (tensor<4x4xf32>, tensor<3xf32>) -> tensor<4x4x3xf32>
  %1 = prim.reverse %0 {dims = array<i64: 0>} : (tensor<4x4x3xf32>) -> tensor<4x4x3xf32>
  %2 = prim.div %1, %0 : (tensor<4x4x3xf32>, tensor<4x4x3xf32>) -> tensor<4x4x3xf32>
  return %2 : tensor<4x4x3xf32>
}
