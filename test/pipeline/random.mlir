// PyTorch's random operators: shares, ranges and moments are right, and no two draws of a call are the same.
// RUN: rs-run %s | rs-filecheck %s
// RUN: rs-opt %s --check-semantics --to=host | rs-filecheck %s --check-prefix=LEVELS

// The numbers are the same at every level.
// LEVELS: checked [[N:[0-9]+]] of [[N]] passes

// CHECK-COUNT-7: bool[] = [1]

func.func @main(%x: tensor<100x100xf32> {capture.kind = "input", capture.name = "x"})
    -> (tensor<i1> {capture.kind = "output"}, tensor<i1> {capture.kind = "output"}, tensor<i1> {capture.kind = "output"}, tensor<i1> {capture.kind = "output"},
        tensor<i1> {capture.kind = "output"}, tensor<i1> {capture.kind = "output"}, tensor<i1> {capture.kind = "output"}) attributes {capture.entry} {
  // What dropout keeps has the mean of the whole.
  %ones = aten.ones_like %x : (tensor<100x100xf32>) -> tensor<100x100xf32>
  %0 = aten.dropout %ones {p = 0.3 : f64, train = true} : (tensor<100x100xf32>) -> tensor<100x100xf32>
  %1 = aten.mean %0 : (tensor<100x100xf32>) -> tensor<f32>
  %2 = aten.sub.Scalar %1 {other = 1 : i64} : (tensor<f32>) -> tensor<f32>
  %3 = aten.abs %2 : (tensor<f32>) -> tensor<f32>
  %4 = aten.lt.Scalar %3 {other = 0.04 : f64} : (tensor<f32>) -> tensor<i1>
  // Every kept element is the same number.
  %5 = aten.max %0 : (tensor<100x100xf32>) -> tensor<f32>
  %6 = aten.lt.Scalar %5 {other = 1.43 : f64} : (tensor<f32>) -> tensor<i1>
  // Two draws differ.
  %7 = aten.rand_like %x : (tensor<100x100xf32>) -> tensor<100x100xf32>
  %8 = aten.rand_like %x : (tensor<100x100xf32>) -> tensor<100x100xf32>
  %9 = aten.eq.Tensor %7, %8 : (tensor<100x100xf32>, tensor<100x100xf32>) -> tensor<100x100xi1>
  %10 = aten.any %9 : (tensor<100x100xi1>) -> tensor<i1>
  %11 = aten.logical_not %10 : (tensor<i1>) -> tensor<i1>
  // Integers from 3 to 8.
  %12 = aten.randint.low {low = 3 : i64, high = 9 : i64, size = array<i64: 1000>} : () -> tensor<1000xi64>
  %13 = aten.min %12 : (tensor<1000xi64>) -> tensor<i64>
  %14 = aten.eq.Scalar %13 {other = 3 : i64} : (tensor<i64>) -> tensor<i1>
  %15 = aten.max %12 : (tensor<1000xi64>) -> tensor<i64>
  %16 = aten.eq.Scalar %15 {other = 8 : i64} : (tensor<i64>) -> tensor<i1>
  // A permutation has every number.
  %17 = aten.randperm {n = 50 : i64} : () -> tensor<50xi64>
  %18:2 = aten.sort %17 : (tensor<50xi64>) -> (tensor<50xi64>, tensor<50xi64>)
  %19 = aten.arange {end = 50 : i64} : () -> tensor<50xi64>
  %20 = aten.eq.Tensor %18#0, %19 : (tensor<50xi64>, tensor<50xi64>) -> tensor<50xi1>
  %21 = aten.all %20 : (tensor<50xi1>) -> tensor<i1>
  // Exponential numbers of rate 2 have the mean one half.
  %22 = aten.exponential %x {lambd = 2.0 : f64} : (tensor<100x100xf32>) -> tensor<100x100xf32>
  %23 = aten.mean %22 : (tensor<100x100xf32>) -> tensor<f32>
  %24 = aten.sub.Scalar %23 {other = 0.5 : f64} : (tensor<f32>) -> tensor<f32>
  %25 = aten.abs %24 : (tensor<f32>) -> tensor<f32>
  %26 = aten.lt.Scalar %25 {other = 0.04 : f64} : (tensor<f32>) -> tensor<i1>
  return %4, %6, %11, %14, %16, %21, %26 : tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>
}
