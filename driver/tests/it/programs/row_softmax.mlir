func.func @main(%x: tensor<?x?xf32> {capture.kind = "input", capture.name = "x"}) -> (tensor<?x?xf32> {capture.kind = "output"})
    attributes {capture.entry} {
  %0 = aten.softmax.int %x {dim = 1 : i64} : tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
