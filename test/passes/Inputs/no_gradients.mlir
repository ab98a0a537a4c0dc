func.func @main(%x: tensor<3xf32> {capture.kind = "input", capture.name = "x"}) -> (tensor<3xf32> {capture.kind = "output"}) attributes {capture.entry} {
  return %x : tensor<3xf32>
}
