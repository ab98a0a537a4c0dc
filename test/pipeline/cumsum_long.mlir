// A running sum of a million elements is as exact as PyTorch's, which adds up f32 in f64: one by one in f32 the last is 100958.
// RUN: rs-run %s | rs-filecheck %s
// RUN: rs-run %s --skip schedule-cpu | rs-filecheck %s

// CHECK-COUNT-2: bool[] = [1]

func.func @main(%x: tensor<f32> {capture.kind = "input", capture.name = "x"})
    -> (tensor<i1> {capture.kind = "output"}, tensor<i1> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.full {size = array<i64: 1000000>, fill_value = 0.1 : f64} : () -> tensor<1000000xf32>
  %1 = aten.cumsum %0 {dim = 0 : i64} : (tensor<1000000xf32>) -> tensor<1000000xf32>
  %2 = aten.max %1 : (tensor<1000000xf32>) -> tensor<f32>
  %3 = aten.sub.Scalar %2 {other = 100000 : i64} : (tensor<f32>) -> tensor<f32>
  %4 = aten.abs %3 : (tensor<f32>) -> tensor<f32>
  %5 = aten.lt.Scalar %4 {other = 0.01 : f64} : (tensor<f32>) -> tensor<i1>
  // In lanes: columns.
  %6 = aten.full {size = array<i64: 100000, 20>, fill_value = 0.1 : f64} : () -> tensor<100000x20xf32>
  %7 = aten.cumsum %6 {dim = 0 : i64} : (tensor<100000x20xf32>) -> tensor<100000x20xf32>
  %8 = aten.max %7 : (tensor<100000x20xf32>) -> tensor<f32>
  %9 = aten.sub.Scalar %8 {other = 10000 : i64} : (tensor<f32>) -> tensor<f32>
  %10 = aten.abs %9 : (tensor<f32>) -> tensor<f32>
  %11 = aten.lt.Scalar %10 {other = 0.01 : f64} : (tensor<f32>) -> tensor<i1>
  return %5, %11 : tensor<i1>, tensor<i1>
}
