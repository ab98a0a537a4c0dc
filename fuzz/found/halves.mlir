// The next number of a half is one step of a half, not of the f32 that it was widened to; from zero, at zero, past the largest.
func.func @main(%x: tensor<6xf16> {capture.kind = "input", capture.name = "x"}, %y: tensor<6xf32> {capture.kind = "input", capture.name = "y"})
    -> (tensor<6xf32> {capture.kind = "output"}, tensor<6xf32> {capture.kind = "output"}, tensor<6xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %from = prim.constant {value = dense<[-3.0, 0.0, -0.0, 65504.0, 1.0, 0.0]> : tensor<6xf16>} : () -> tensor<6xf16>
  %to = prim.constant {value = dense<[2.3125, -1.0, 1.0, 0x7C00, 1.0, 0.0]> : tensor<6xf16>} : () -> tensor<6xf16>
  %0 = prim.nextafter %from, %to : (tensor<6xf16>, tensor<6xf16>) -> tensor<6xf16>
  %1 = prim.convert %0 : (tensor<6xf16>) -> tensor<6xf32>
  %2 = prim.nextafter %x, %from : (tensor<6xf16>, tensor<6xf16>) -> tensor<6xf16>
  %3 = prim.convert %2 : (tensor<6xf16>) -> tensor<6xf32>
  %4 = prim.nextafter %y, %1 : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  return %1, %3, %4 : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
}
