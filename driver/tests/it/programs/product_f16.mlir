// Sizes that no tile fills, and what follows the product.
func.func @main(%x: tensor<70x100xf16> {capture.kind = "input", capture.name = "x"},
                %y: tensor<100x90xf16> {capture.kind = "input", capture.name = "y"},
                %z: tensor<90xf16> {capture.kind = "input", capture.name = "z"})
    -> (tensor<70x90xf16> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.mm %x, %y : (tensor<70x100xf16>, tensor<100x90xf16>) -> tensor<70x90xf16>
  %1 = aten.add.Tensor %0, %z : (tensor<70x90xf16>, tensor<90xf16>) -> tensor<70x90xf16>
  %2 = aten.relu %1 : tensor<70x90xf16>
  return %2 : tensor<70x90xf16>
}
