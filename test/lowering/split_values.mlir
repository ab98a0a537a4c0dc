// Pieces of odd lengths, with lanes and without, give what the kernels give as they were.
// RUN: rs-run %s --dump %t.split
// RUN: rs-run %s --skip split-reductions,schedule-cpu --dump %t.whole && diff -r %t.split %t.whole

func.func @main(%x: tensor<150001xi64> {capture.kind = "input", capture.name = "x"},
                %y: tensor<317x1003xi32> {capture.kind = "input", capture.name = "y"},
                %z: tensor<?xf32> {capture.kind = "input", capture.name = "z"})
    -> (tensor<i64> {capture.kind = "output"}, tensor<1003xi32> {capture.kind = "output"}, tensor<f32> {capture.kind = "output"},
        tensor<2x75001xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %n = capture.dim %z {dim = 0 : i64, symbol = "n", min = 0 : i64, max = 1000000 : i64} : (tensor<?xf32>) -> index
  %0 = aten.sum %x : (tensor<150001xi64>) -> tensor<i64>
  %1 = aten.amax %y {dim = array<i64: 0>} : (tensor<317x1003xi32>) -> tensor<1003xi32>
  %2 = aten.amin %z : (tensor<?xf32>) -> tensor<f32>
  %c = aten.constant_pad_nd %x {pad = array<i64: 1, 0>} : (tensor<150001xi64>) -> tensor<150002xi64>
  %r = aten.view %c {size = array<i64: 2, 75001>} : (tensor<150002xi64>) -> tensor<2x75001xi64>
  %f = aten._to_copy %r {dtype = f32} : (tensor<2x75001xi64>) -> tensor<2x75001xf32>
  %m = aten.amax %f {dim = array<i64: 1>, keepdim = true} : (tensor<2x75001xf32>) -> tensor<2x1xf32>
  %3 = aten.sub.Tensor %f, %m : (tensor<2x75001xf32>, tensor<2x1xf32>) -> tensor<2x75001xf32>
  return %0, %1, %2, %3 : tensor<i64>, tensor<1003xi32>, tensor<f32>, tensor<2x75001xf32>
}
