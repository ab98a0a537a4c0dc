// Complex random numbers: the variance of normal ones is shared by both parts, around a mean; parts of uniform ones lie between 0 and 1.
// RUN: rs-run %s | rs-filecheck %s
// RUN: rs-opt %s --check-semantics --to=prim | rs-filecheck %s --check-prefix=LEVELS

// The numbers are the same at every level.
// LEVELS: checked [[N:[0-9]+]] of [[N]] passes

// CHECK-COUNT-3: bool[] = [1]

func.func @main(%x: tensor<4000xcomplex<f32>> {capture.kind = "input", capture.name = "x"})
    -> (tensor<i1> {capture.kind = "output"}, tensor<i1> {capture.kind = "output"}, tensor<i1> {capture.kind = "output"}) attributes {capture.entry} {
  // The squares of normal numbers have the mean 1, half of it from each part.
  %0 = aten.randn_like %x : (tensor<4000xcomplex<f32>>) -> tensor<4000xcomplex<f32>>
  %1 = aten.view_as_real %0 : (tensor<4000xcomplex<f32>>) -> tensor<4000x2xf32>
  %2 = aten.mul.Tensor %1, %1 : (tensor<4000x2xf32>, tensor<4000x2xf32>) -> tensor<4000x2xf32>
  %3 = aten.mean.dim %2 {dim = array<i64: 0>} : (tensor<4000x2xf32>) -> tensor<2xf32>
  %4 = aten.sub.Scalar %3 {other = 0.5 : f64} : (tensor<2xf32>) -> tensor<2xf32>
  %5 = aten.abs %4 : (tensor<2xf32>) -> tensor<2xf32>
  %6 = aten.lt.Scalar %5 {other = 0.04 : f64} : (tensor<2xf32>) -> tensor<2xi1>
  %7 = aten.all %6 : (tensor<2xi1>) -> tensor<i1>
  // With a deviation of 2 around 3, which is real.
  %8 = aten.normal_functional %x {mean = 3.0 : f64, std = 2.0 : f64} : (tensor<4000xcomplex<f32>>) -> tensor<4000xcomplex<f32>>
  %9 = aten.mean %8 : (tensor<4000xcomplex<f32>>) -> tensor<complex<f32>>
  %10 = aten.sub.Scalar %9 {other = 3.0 : f64} : (tensor<complex<f32>>) -> tensor<complex<f32>>
  %11 = aten.abs %10 : (tensor<complex<f32>>) -> tensor<f32>
  %12 = aten.lt.Scalar %11 {other = 0.1 : f64} : (tensor<f32>) -> tensor<i1>
  // Uniform parts have the mean one half each.
  %13 = aten.rand_like %x : (tensor<4000xcomplex<f32>>) -> tensor<4000xcomplex<f32>>
  %14 = aten.view_as_real %13 : (tensor<4000xcomplex<f32>>) -> tensor<4000x2xf32>
  %15 = aten.mean.dim %14 {dim = array<i64: 0>} : (tensor<4000x2xf32>) -> tensor<2xf32>
  %16 = aten.sub.Scalar %15 {other = 0.5 : f64} : (tensor<2xf32>) -> tensor<2xf32>
  %17 = aten.abs %16 : (tensor<2xf32>) -> tensor<2xf32>
  %18 = aten.lt.Scalar %17 {other = 0.03 : f64} : (tensor<2xf32>) -> tensor<2xi1>
  %19 = aten.all %18 : (tensor<2xi1>) -> tensor<i1>
  return %7, %12, %19 : tensor<i1>, tensor<i1>, tensor<i1>
}
