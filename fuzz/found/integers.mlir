// Shifts by any distance; powers with exponents past 64 and unsigned ones past 128; the sign of NaN.
func.func @main(%x: tensor<4xi64> {capture.kind = "input", capture.name = "x"}, %u: tensor<4xui8> {capture.kind = "input", capture.name = "u"})
    -> (tensor<4xi64> {capture.kind = "output"}, tensor<4xi64> {capture.kind = "output"}, tensor<4xi64> {capture.kind = "output"},
        tensor<4xui8> {capture.kind = "output"}, tensor<4xui8> {capture.kind = "output"}, tensor<4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %far = prim.constant {value = dense<[-1, 64, 63, 3]> : tensor<4xi64>} : () -> tensor<4xi64>
  %left = prim.shl %x, %far : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  %right = prim.shr %x, %far : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  %exponent = prim.constant {value = dense<[65, -3, 127, 5000000001]> : tensor<4xi64>} : () -> tensor<4xi64>
  %power = prim.pow %x, %exponent : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  %large = prim.constant {value = dense<[200, 255, 128, 3]> : tensor<4xui8>} : () -> tensor<4xui8>
  %small = prim.pow %u, %large : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %none = prim.shr %u, %large : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %f = prim.constant {value = dense<[0x7FC00000, -2.0, 0.0, 3.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %sign = prim.sign %f : (tensor<4xf32>) -> tensor<4xf32>
  return %left, %right, %power, %small, %none, %sign : tensor<4xi64>, tensor<4xi64>, tensor<4xi64>, tensor<4xui8>, tensor<4xui8>, tensor<4xf32>
}
