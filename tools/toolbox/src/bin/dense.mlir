func.func @main(%x: tensor<512x256xf32> {capture.kind = "input", capture.name = "x"}, %w: tensor<256x512xf32> {capture.kind = "parameter", capture.name = "w"}, %b: tensor<512xf32> {capture.kind = "parameter", capture.name = "b"}) -> (tensor<512x512xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.addmm %b, %x, %w : (tensor<512xf32>, tensor<512x256xf32>, tensor<256x512xf32>) -> tensor<512x512xf32>
  %1 = aten.relu %0 : (tensor<512x512xf32>) -> tensor<512x512xf32>
  return %1 : tensor<512x512xf32>
}
