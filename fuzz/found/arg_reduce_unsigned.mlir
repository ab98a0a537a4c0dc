// The largest of unsigned numbers, where some are so large that they would be negative as signed ones.
func.func @main(%x: tensor<4x9xi64> {capture.kind = "input", capture.name = "x"})
    -> (tensor<9xi64> {capture.kind = "output"}, tensor<4xi64> {capture.kind = "output"}, tensor<9xui8> {capture.kind = "output"}) attributes {capture.entry} {
  %u = prim.convert %x : (tensor<4x9xi64>) -> tensor<4x9xui8>
  %largest = prim.arg_reduce %u {dim = 0 : i64, kind = "max"} : (tensor<4x9xui8>) -> tensor<9xi64>
  %smallest = prim.arg_reduce %u {dim = 1 : i64, kind = "min"} : (tensor<4x9xui8>) -> tensor<4xi64>
  %sum = prim.reduce %u {dims = array<i64: 0>, kind = "max"} : (tensor<4x9xui8>) -> tensor<9xui8>
  return %largest, %smallest, %sum : tensor<9xi64>, tensor<4xi64>, tensor<9xui8>
}
