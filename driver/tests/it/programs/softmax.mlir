func.func @main(%x: tensor<?x6xf32> {capture.kind = "input", capture.name = "x"}) -> (tensor<?x6xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %n = capture.dim %x {dim = 0 : i64, symbol = "n", min = 2 : i64, max = 64 : i64} : (tensor<?x6xf32>) -> index
  %0 = aten._softmax %x {dim = -1 : i64, half_to_float = false} : tensor<?x6xf32>
  return %0 : tensor<?x6xf32>
}
