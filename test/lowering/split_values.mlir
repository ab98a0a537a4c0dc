// Pieces of odd lengths, with lanes and without, give what the kernels give as they were. (A sum of running sums weighs each element
// by its place.)
// RUN: rs-run %s > %t.split
// RUN: rs-run %s --skip split-reductions,schedule-cpu > %t.whole && diff %t.split %t.whole

func.func @main(%x: tensor<150001xi64> {capture.kind = "input", capture.name = "x"},
                %y: tensor<317x1003xi32> {capture.kind = "input", capture.name = "y"},
                %z: tensor<?xf32> {capture.kind = "input", capture.name = "z"})
    -> (tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"}, tensor<f32> {capture.kind = "output"},
        tensor<i64> {capture.kind = "output"}) attributes {capture.entry} {
  %n = capture.dim %z {dim = 0 : i64, symbol = "n", min = 0 : i64, max = 1000000 : i64} : (tensor<?xf32>) -> index
  %0 = aten.sum %x : (tensor<150001xi64>) -> tensor<i64>
  %columns = aten.sum.dim_IntList %y {dim = array<i64: 0>} : (tensor<317x1003xi32>) -> tensor<1003xi64>
  %running = aten.cumsum %columns {dim = 0 : i64} : (tensor<1003xi64>) -> tensor<1003xi64>
  %1 = aten.sum %running : (tensor<1003xi64>) -> tensor<i64>
  %2 = aten.amin %z : (tensor<?xf32>) -> tensor<f32>
  %padded = aten.constant_pad_nd %x {pad = array<i64: 1, 0>} : (tensor<150001xi64>) -> tensor<150002xi64>
  %rows = aten.view %padded {size = array<i64: 2, 75001>} : (tensor<150002xi64>) -> tensor<2x75001xi64>
  %top = aten.amax %rows {dim = array<i64: 1>, keepdim = true} : (tensor<2x75001xi64>) -> tensor<2x1xi64>
  %below = aten.sub.Tensor %rows, %top : (tensor<2x75001xi64>, tensor<2x1xi64>) -> tensor<2x75001xi64>
  %places = aten.cumsum %below {dim = 1 : i64} : (tensor<2x75001xi64>) -> tensor<2x75001xi64>
  %3 = aten.sum %places : (tensor<2x75001xi64>) -> tensor<i64>
  return %0, %1, %2, %3 : tensor<i64>, tensor<i64>, tensor<f32>, tensor<i64>
}
