func.func @main(%x: tensor<70x50xf32> {capture.kind = "input", capture.name = "x"},
                %y: tensor<50x90xf32> {capture.kind = "input", capture.name = "y"})
    -> (tensor<70x90xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.mm %x, %y : (tensor<70x50xf32>, tensor<50x90xf32>) -> tensor<70x90xf32>
  %1 = aten.relu %0 : tensor<70x90xf32>
  return %1 : tensor<70x90xf32>
}
