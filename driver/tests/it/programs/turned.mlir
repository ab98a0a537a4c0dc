// Transposes of any size, and one of four dims with what stands in the other order added.
func.func @main(%x: tensor<?x?xf32> {capture.kind = "input", capture.name = "x"},
                %y: tensor<2x20x5x40xf16> {capture.kind = "input", capture.name = "y"},
                %z: tensor<2x5x40x20xf16> {capture.kind = "input", capture.name = "z"})
    -> (tensor<?x?xf32> {capture.kind = "output"}, tensor<2x5x40x20xf16> {capture.kind = "output"}) attributes {capture.entry} {
  %m = capture.dim %x {dim = 0 : i64, symbol = "m", min = 1 : i64, max = 100000 : i64} : (tensor<?x?xf32>) -> index
  %n = capture.dim %x {dim = 1 : i64, symbol = "n", min = 1 : i64, max = 100000 : i64} : (tensor<?x?xf32>) -> index
  %0 = aten.permute %x {dims = array<i64: 1, 0>} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = aten.neg %0 : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %2 = aten.permute %y {dims = array<i64: 0, 2, 3, 1>} : (tensor<2x20x5x40xf16>) -> tensor<2x5x40x20xf16>
  %3 = aten.add.Tensor %2, %z : (tensor<2x5x40x20xf16>, tensor<2x5x40x20xf16>) -> tensor<2x5x40x20xf16>
  return %1, %3 : tensor<?x?xf32>, tensor<2x5x40x20xf16>
}
