// Running sums of rows of any length, of halves, of integers, and across rows.
func.func @main(%x: tensor<3x?xf32> {capture.kind = "input", capture.name = "x"},
                %y: tensor<2x1100xf16> {capture.kind = "input", capture.name = "y"},
                %z: tensor<?xi64> {capture.kind = "input", capture.name = "z"})
    -> (tensor<3x?xf32> {capture.kind = "output"}, tensor<2x1100xf16> {capture.kind = "output"}, tensor<?xi64> {capture.kind = "output"},
        tensor<3x?xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %n = capture.dim %x {dim = 1 : i64, symbol = "n", min = 1 : i64, max = 100000 : i64} : (tensor<3x?xf32>) -> index
  capture.bind_dims %z, %n {shape = affine_map<()[s0] -> (s0)>} : (tensor<?xi64>, index) -> ()
  %0 = aten.cumsum %x {dim = 1 : i64} : (tensor<3x?xf32>) -> tensor<3x?xf32>
  %1 = aten.cumsum %y {dim = 1 : i64} : (tensor<2x1100xf16>) -> tensor<2x1100xf16>
  %2 = aten.cumsum %z {dim = 0 : i64} : (tensor<?xi64>) -> tensor<?xi64>
  %3 = aten.cumsum %x {dim = 0 : i64} : (tensor<3x?xf32>) -> tensor<3x?xf32>
  return %0, %1, %2, %3 : tensor<3x?xf32>, tensor<2x1100xf16>, tensor<?xi64>, tensor<3x?xf32>
}
