// Sorts of short lines, of long ones across rows, and of lines of any length.
func.func @main(%x: tensor<20x100xf32> {capture.kind = "input", capture.name = "x"},
                %y: tensor<600x3xf16> {capture.kind = "input", capture.name = "y"},
                %z: tensor<?xi64> {capture.kind = "input", capture.name = "z"})
    -> (tensor<20x100xf32> {capture.kind = "output"}, tensor<20x100xi64> {capture.kind = "output"}, tensor<5x3xf16> {capture.kind = "output"},
        tensor<5x3xi64> {capture.kind = "output"}, tensor<?xi64> {capture.kind = "output"}, tensor<?xi64> {capture.kind = "output"})
    attributes {capture.entry} {
  %n = capture.dim %z {dim = 0 : i64, symbol = "n", min = 0 : i64, max = 100000 : i64} : (tensor<?xi64>) -> index
  %0:2 = aten.sort %x {dim = -1 : i64, descending = false} : (tensor<20x100xf32>) -> (tensor<20x100xf32>, tensor<20x100xi64>)
  %1:2 = aten.topk %y {k = 5 : i64, dim = 0 : i64, largest = true, sorted = true} : (tensor<600x3xf16>) -> (tensor<5x3xf16>, tensor<5x3xi64>)
  %2:2 = aten.sort %z {dim = 0 : i64, descending = true} : (tensor<?xi64>) -> (tensor<?xi64>, tensor<?xi64>)
  return %0#0, %0#1, %1#0, %1#1, %2#0, %2#1
      : tensor<20x100xf32>, tensor<20x100xi64>, tensor<5x3xf16>, tensor<5x3xi64>, tensor<?xi64>, tensor<?xi64>
}
