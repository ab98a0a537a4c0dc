// On a device: kernels of its own, one that the host runs (a function that only it has), a sort by the library, and a buffer that each call changes.
func.func @main(%x: tensor<?x33xf32> {capture.kind = "input", capture.name = "x"},
                %i: tensor<4xi64> {capture.kind = "input", capture.name = "i"})
    -> (tensor<?x33xf32> {capture.kind = "output"}, tensor<?x33xf32> {capture.kind = "output"}, tensor<4x33xf32> {capture.kind = "output"})
    attributes {capture.entry} {
  %0 = aten.softmax.int %x {dim = 1 : i64} : tensor<?x33xf32>
  %1 = aten.lgamma %0 : tensor<?x33xf32>
  %values, %positions = aten.sort %1 {dim = 1 : i64} : (tensor<?x33xf32>) -> (tensor<?x33xf32>, tensor<?x33xi64>)
  %2 = aten.index_select %x, %i {dim = 0 : i64} : (tensor<?x33xf32>, tensor<4xi64>) -> tensor<4x33xf32>
  return %0, %values, %2 : tensor<?x33xf32>, tensor<?x33xf32>, tensor<4x33xf32>
}
