func.func @main(%x: tensor<?x16xf32> {capture.kind = "input", capture.name = "x"}, %y: tensor<16xf32> {capture.kind = "input", capture.name = "y"})
    -> (tensor<?xf32> {capture.kind = "output"}, tensor<?x16xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %n = capture.dim %x {dim = 0 : i64, symbol = "n", min = 1 : i64, max = 4096 : i64} : (tensor<?x16xf32>) -> index
  %0 = aten.mul.Scalar %x {other = 0.5 : f64} : tensor<?x16xf32>
  %1 = aten.sigmoid %0 : tensor<?x16xf32>
  %2 = aten.sub.Tensor %1, %y : (tensor<?x16xf32>, tensor<16xf32>) -> tensor<?x16xf32>
  %3 = aten.sum.dim_IntList %2 {dim = array<i64: 1>} : (tensor<?x16xf32>) -> tensor<?xf32>
  %4 = aten.exp %3 : tensor<?xf32>
  return %4, %2 : tensor<?xf32>, tensor<?x16xf32>
}
