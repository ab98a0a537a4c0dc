// A product one of whose operands is scaled by rows: the scales are read where they are, by tiles that go beyond the last row.
func.func @main(%x: tensor<70x50xf32> {capture.kind = "input", capture.name = "x"},
                %s: tensor<70xf32> {capture.kind = "input", capture.name = "s"},
                %y: tensor<50x33xf32> {capture.kind = "input", capture.name = "y"})
    -> (tensor<70x33xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %a = prim.broadcast %x {dims = array<i64: 0, 1>} : (tensor<70x50xf32>) -> tensor<70x50x33xf32>
  %b = prim.broadcast %y {dims = array<i64: 1, 2>} : (tensor<50x33xf32>) -> tensor<70x50x33xf32>
  %c = prim.broadcast %s {dims = array<i64: 0>} : (tensor<70xf32>) -> tensor<70x50x33xf32>
  %0 = prim.mul %a, %b : tensor<70x50x33xf32>
  %1 = prim.mul %0, %c : tensor<70x50x33xf32>
  %2 = prim.reduce %1 {dims = array<i64: 1>, kind = "sum"} : (tensor<70x50x33xf32>) -> tensor<70x33xf32>
  return %2 : tensor<70x33xf32>
}
