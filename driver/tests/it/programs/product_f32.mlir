// Products of f32, contiguous along either dim of an operand.
func.func @main(%x: tensor<72x104xf32> {capture.kind = "input", capture.name = "x"},
                %y: tensor<104x88xf32> {capture.kind = "input", capture.name = "y"},
                %w: tensor<136x88xf32> {capture.kind = "input", capture.name = "w"})
    -> (tensor<72x88xf32> {capture.kind = "output"}, tensor<72x136xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.mm %x, %y : (tensor<72x104xf32>, tensor<104x88xf32>) -> tensor<72x88xf32>
  %1 = aten.linear %0, %w {segments = array<i64: 1, 1, 0>} : (tensor<72x88xf32>, tensor<136x88xf32>) -> tensor<72x136xf32>
  return %0, %1 : tensor<72x88xf32>, tensor<72x136xf32>
}
