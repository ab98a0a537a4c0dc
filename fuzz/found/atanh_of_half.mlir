// The sign of an f64 was rounded to f16 by a function that no process had, from within an inlined body.
func.func @main(%x: tensor<6xf16> {capture.kind = "input", capture.name = "x"})
    -> (tensor<f16> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.reduce %x {dims = array<i64: 0>, kind = "max"} : (tensor<6xf16>) -> tensor<f16>
  %1 = prim.constant {value = dense<0.0625> : tensor<f16>} : () -> tensor<f16>
  %2 = prim.mul %0, %1 : (tensor<f16>, tensor<f16>) -> tensor<f16>
  %3 = prim.atanh %2 : (tensor<f16>) -> tensor<f16>
  return %3 : tensor<f16>
}
