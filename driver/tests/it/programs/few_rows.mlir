// Reductions with few rows: a softmax of one long row, sums of columns, a sum of everything.
func.func @main(%x: tensor<1x70000xf32> {capture.kind = "input", capture.name = "x"},
                %y: tensor<6000x50xf32> {capture.kind = "input", capture.name = "y"},
                %z: tensor<?xf32> {capture.kind = "input", capture.name = "z"})
    -> (tensor<1x70000xf32> {capture.kind = "output"}, tensor<50xf32> {capture.kind = "output"}, tensor<f32> {capture.kind = "output"})
    attributes {capture.entry} {
  %n = capture.dim %z {dim = 0 : i64, symbol = "n", min = 0 : i64, max = 10000000 : i64} : (tensor<?xf32>) -> index
  %0 = aten._softmax %x {dim = -1 : i64, half_to_float = false} : tensor<1x70000xf32>
  %1 = aten.sum.dim_IntList %y {dim = array<i64: 0>} : (tensor<6000x50xf32>) -> tensor<50xf32>
  %2 = aten.sum %z : (tensor<?xf32>) -> tensor<f32>
  return %0, %1, %2 : tensor<1x70000xf32>, tensor<50xf32>, tensor<f32>
}
