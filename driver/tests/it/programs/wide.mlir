// Rows of any length with a bias, a transpose, sums of rows and of columns.
func.func @main(%x: tensor<?x?xf32> {capture.kind = "input", capture.name = "x"},
                %y: tensor<?xf32> {capture.kind = "input", capture.name = "y"})
    -> (tensor<?x?xf32> {capture.kind = "output"}, tensor<?x?xf32> {capture.kind = "output"}, tensor<?x?xi1> {capture.kind = "output"},
        tensor<?xf32> {capture.kind = "output"}, tensor<?xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %m = capture.dim %x {dim = 0 : i64, symbol = "m", min = 1 : i64, max = 100000 : i64} : (tensor<?x?xf32>) -> index
  %n = capture.dim %x {dim = 1 : i64, symbol = "n", min = 1 : i64, max = 100000 : i64} : (tensor<?x?xf32>) -> index
  capture.bind_dims %y, %n {shape = affine_map<()[s0] -> (s0)>} : (tensor<?xf32>, index) -> ()
  %0 = aten.add.Tensor %x, %y : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  %1 = aten.permute %x {dims = array<i64: 1, 0>} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %2 = aten.neg %1 : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %3 = aten.gt.Tensor %x, %y : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xi1>
  %4 = aten.sum.dim_IntList %x {dim = array<i64: 1>} : (tensor<?x?xf32>) -> tensor<?xf32>
  %5 = aten.sum.dim_IntList %x {dim = array<i64: 0>} : (tensor<?x?xf32>) -> tensor<?xf32>
  return %0, %2, %3, %4, %5 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xi1>, tensor<?xf32>, tensor<?xf32>
}
