// Random numbers of distributions that have no formula: their means and variances.
// RUN: rs-run %s | rs-filecheck %s
// RUN: rs-opt %s --check-semantics=sets=1 --decompose-aten | rs-filecheck %s --check-prefix=LEVELS

// CHECK-COUNT-11: bool[] = [1]
// LEVELS: checked 1 of 1 passes

func.func @main() -> (tensor<i1> {capture.kind = "output"}, tensor<i1> {capture.kind = "output"}, tensor<i1> {capture.kind = "output"}, tensor<i1> {capture.kind = "output"}, tensor<i1> {capture.kind = "output"}, tensor<i1> {capture.kind = "output"}, tensor<i1> {capture.kind = "output"}, tensor<i1> {capture.kind = "output"}, tensor<i1> {capture.kind = "output"}, tensor<i1> {capture.kind = "output"}, tensor<i1> {capture.kind = "output"}) attributes {capture.entry} {
  // Few and many events.
  %0 = aten.full {size = array<i64: 40, 40>, fill_value = 3.0 : f64} : () -> tensor<40x40xf32>
  %1 = aten.poisson %0 : (tensor<40x40xf32>) -> tensor<40x40xf32>
  %2 = aten.mean %1 : (tensor<40x40xf32>) -> tensor<f32>
  %3 = aten.sub.Scalar %2 {other = 3.0 : f64} : (tensor<f32>) -> tensor<f32>
  %4 = aten.abs %3 : (tensor<f32>) -> tensor<f32>
  %5 = aten.lt.Scalar %4 {other = 0.25 : f64} : (tensor<f32>) -> tensor<i1>
  %6 = aten.sub.Scalar %1 {other = 3.0 : f64} : (tensor<40x40xf32>) -> tensor<40x40xf32>
  %7 = aten.mul.Tensor %6, %6 : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %8 = aten.mean %7 : (tensor<40x40xf32>) -> tensor<f32>
  %9 = aten.sub.Scalar %8 {other = 3.0 : f64} : (tensor<f32>) -> tensor<f32>
  %10 = aten.abs %9 : (tensor<f32>) -> tensor<f32>
  %11 = aten.lt.Scalar %10 {other = 0.7 : f64} : (tensor<f32>) -> tensor<i1>
  %12 = aten.full {size = array<i64: 40, 40>, fill_value = 400.0 : f64} : () -> tensor<40x40xf32>
  %13 = aten.poisson %12 : (tensor<40x40xf32>) -> tensor<40x40xf32>
  %14 = aten.mean %13 : (tensor<40x40xf32>) -> tensor<f32>
  %15 = aten.sub.Scalar %14 {other = 400.0 : f64} : (tensor<f32>) -> tensor<f32>
  %16 = aten.abs %15 : (tensor<f32>) -> tensor<f32>
  %17 = aten.lt.Scalar %16 {other = 3.0 : f64} : (tensor<f32>) -> tensor<i1>
  %18 = aten.sub.Scalar %13 {other = 400.0 : f64} : (tensor<40x40xf32>) -> tensor<40x40xf32>
  %19 = aten.mul.Tensor %18, %18 : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %20 = aten.mean %19 : (tensor<40x40xf32>) -> tensor<f32>
  %21 = aten.sub.Scalar %20 {other = 400.0 : f64} : (tensor<f32>) -> tensor<f32>
  %22 = aten.abs %21 : (tensor<f32>) -> tensor<f32>
  %23 = aten.lt.Scalar %22 {other = 80.0 : f64} : (tensor<f32>) -> tensor<i1>
  // Successes of ten trials.
  %24 = aten.full {size = array<i64: 40, 40>, fill_value = 10.0 : f64} : () -> tensor<40x40xf32>
  %25 = aten.full {size = array<i64: 40, 40>, fill_value = 0.3 : f64} : () -> tensor<40x40xf32>
  %26 = aten.binomial %24, %25 : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %27 = aten.mean %26 : (tensor<40x40xf32>) -> tensor<f32>
  %28 = aten.sub.Scalar %27 {other = 3.0 : f64} : (tensor<f32>) -> tensor<f32>
  %29 = aten.abs %28 : (tensor<f32>) -> tensor<f32>
  %30 = aten.lt.Scalar %29 {other = 0.2 : f64} : (tensor<f32>) -> tensor<i1>
  %31 = aten.sub.Scalar %26 {other = 3.0 : f64} : (tensor<40x40xf32>) -> tensor<40x40xf32>
  %32 = aten.mul.Tensor %31, %31 : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %33 = aten.mean %32 : (tensor<40x40xf32>) -> tensor<f32>
  %34 = aten.sub.Scalar %33 {other = 2.1 : f64} : (tensor<f32>) -> tensor<f32>
  %35 = aten.abs %34 : (tensor<f32>) -> tensor<f32>
  %36 = aten.lt.Scalar %35 {other = 0.5 : f64} : (tensor<f32>) -> tensor<i1>
  // Waiting for two and a half events; and for a small part of one.
  %37 = aten.full {size = array<i64: 40, 40>, fill_value = 2.5 : f64} : () -> tensor<40x40xf32>
  %38 = aten._standard_gamma %37 : (tensor<40x40xf32>) -> tensor<40x40xf32>
  %39 = aten.mean %38 : (tensor<40x40xf32>) -> tensor<f32>
  %40 = aten.sub.Scalar %39 {other = 2.5 : f64} : (tensor<f32>) -> tensor<f32>
  %41 = aten.abs %40 : (tensor<f32>) -> tensor<f32>
  %42 = aten.lt.Scalar %41 {other = 0.2 : f64} : (tensor<f32>) -> tensor<i1>
  %43 = aten.sub.Scalar %38 {other = 2.5 : f64} : (tensor<40x40xf32>) -> tensor<40x40xf32>
  %44 = aten.mul.Tensor %43, %43 : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %45 = aten.mean %44 : (tensor<40x40xf32>) -> tensor<f32>
  %46 = aten.sub.Scalar %45 {other = 2.5 : f64} : (tensor<f32>) -> tensor<f32>
  %47 = aten.abs %46 : (tensor<f32>) -> tensor<f32>
  %48 = aten.lt.Scalar %47 {other = 0.8 : f64} : (tensor<f32>) -> tensor<i1>
  %49 = aten.full {size = array<i64: 40, 40>, fill_value = 0.1 : f64} : () -> tensor<40x40xf32>
  %50 = aten._standard_gamma %49 : (tensor<40x40xf32>) -> tensor<40x40xf32>
  %51 = aten.mean %50 : (tensor<40x40xf32>) -> tensor<f32>
  %52 = aten.sub.Scalar %51 {other = 0.1 : f64} : (tensor<f32>) -> tensor<f32>
  %53 = aten.abs %52 : (tensor<f32>) -> tensor<f32>
  %54 = aten.lt.Scalar %53 {other = 0.05 : f64} : (tensor<f32>) -> tensor<i1>
  %55 = aten.sub.Scalar %50 {other = 0.1 : f64} : (tensor<40x40xf32>) -> tensor<40x40xf32>
  %56 = aten.mul.Tensor %55, %55 : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %57 = aten.mean %56 : (tensor<40x40xf32>) -> tensor<f32>
  %58 = aten.sub.Scalar %57 {other = 0.1 : f64} : (tensor<f32>) -> tensor<f32>
  %59 = aten.abs %58 : (tensor<f32>) -> tensor<f32>
  %60 = aten.lt.Scalar %59 {other = 0.1 : f64} : (tensor<f32>) -> tensor<i1>
  // Forty shares of one.
  %61 = aten.full {size = array<i64: 40, 40>, fill_value = 0.7 : f64} : () -> tensor<40x40xf32>
  %62 = aten._sample_dirichlet %61 : (tensor<40x40xf32>) -> tensor<40x40xf32>
  %63 = aten.mean %62 : (tensor<40x40xf32>) -> tensor<f32>
  %64 = aten.sub.Scalar %63 {other = 0.025 : f64} : (tensor<f32>) -> tensor<f32>
  %65 = aten.abs %64 : (tensor<f32>) -> tensor<f32>
  %66 = aten.lt.Scalar %65 {other = 1.0e-05 : f64} : (tensor<f32>) -> tensor<i1>
  return %5, %11, %17, %23, %30, %36, %42, %48, %54, %60, %66 : tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>
}
