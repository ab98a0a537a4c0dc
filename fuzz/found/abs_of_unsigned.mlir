// A sign was taken from under `abs`, which does nothing to unsigned integers.
func.func @main(%x: tensor<6x7xui8> {capture.kind = "input", capture.name = "x"})
    -> (tensor<6x7xui8> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.neg %x : (tensor<6x7xui8>) -> tensor<6x7xui8>
  %1 = prim.abs %0 : (tensor<6x7xui8>) -> tensor<6x7xui8>
  return %1 : tensor<6x7xui8>
}
