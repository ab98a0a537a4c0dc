func.func @f(%x: tensor<8xf32> {capture.kind = "input", capture.name = "x"}, %g: tensor<8xf32> {capture.cotangent = 0 : i64, capture.kind = "input", capture.name = "cot_0"})
    -> (tensor<8xf32> {capture.kind = "output"}, tensor<8xf32> {capture.gradient = "x", capture.no_gradient, capture.kind = "output", capture.name = "grad_x"}) attributes {capture.entry} {
  %0 = prim.constant {value = dense<0.0> : tensor<8xf32>} : tensor<8xf32>
  return %0, %0 : tensor<8xf32>, tensor<8xf32>
}
