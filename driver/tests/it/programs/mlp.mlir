func.func @main(%x: tensor<6x6xf32> {capture.kind = "input", capture.name = "x"},
                %w1: tensor<6x6xf32> {capture.kind = "parameter", capture.name = "w1"},
                %w2: tensor<6x6xf32> {capture.kind = "parameter", capture.name = "w2"})
    -> (tensor<6x6xf32> {capture.kind = "output"}, tensor<6xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.mm %x, %w1 : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
  %1 = aten.tanh %0 : tensor<6x6xf32>
  %2 = aten.mm %1, %w2 : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
  %3 = aten.mm %2, %x : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
  %4 = aten.cumsum %3 {dim = 1 : i64} : tensor<6x6xf32>
  %5 = aten.amax %3 {dim = array<i64: 1>} : (tensor<6x6xf32>) -> tensor<6xf32>
  return %4, %5 : tensor<6x6xf32>, tensor<6xf32>
}
