// Running sums, products and extrema of few long rows.
func.func @main(%x: tensor<2x66000xf32> {capture.kind = "input", capture.name = "x"},
                %y: tensor<65536xi64> {capture.kind = "input", capture.name = "y"})
    -> (tensor<2x66000xf32> {capture.kind = "output"}, tensor<65536xi64> {capture.kind = "output"}, tensor<65536xi64> {capture.kind = "output"},
        tensor<65536xi64> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.cumsum %x {dim = 1 : i64} : (tensor<2x66000xf32>) -> tensor<2x66000xf32>
  %1 = aten.cumprod %y {dim = 0 : i64} : (tensor<65536xi64>) -> tensor<65536xi64>
  %2:2 = aten.cummin %y {dim = 0 : i64} : (tensor<65536xi64>) -> (tensor<65536xi64>, tensor<65536xi64>)
  return %0, %1, %2#0, %2#1 : tensor<2x66000xf32>, tensor<65536xi64>, tensor<65536xi64>, tensor<65536xi64>
}
