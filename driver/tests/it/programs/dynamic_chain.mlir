// The chain of 30 statements with its sum, of any number of rows.
func.func @main(%arg0: tensor<?x33xf32> {capture.kind = "input", capture.name = "x"}) -> (tensor<f32> {capture.kind = "output"}) attributes {capture.entry} {
  %n = capture.dim %arg0 {dim = 0 : i64, symbol = "rows", min = 0 : i64, max = 9223372036854775807 : i64} : (tensor<?x33xf32>) -> index
  %0 = aten.add.Scalar %arg0 {other = 1.000000e-01 : f64} : tensor<?x33xf32>
  %1 = aten.sin %0 : tensor<?x33xf32>
  %2 = aten.mul.Scalar %1 {other = 1.100000e+00 : f64} : tensor<?x33xf32>
  %3 = aten.cos %2 : tensor<?x33xf32>
  %4 = aten.add.Scalar %3 {other = 2.000000e-01 : f64} : tensor<?x33xf32>
  %5 = aten.relu %4 : tensor<?x33xf32>
  %6 = aten.sub.Scalar %5 {other = 1.000000e-01 : f64} : tensor<?x33xf32>
  %7 = aten.mul.Scalar %6 {other = 5.000000e-01 : f64} : tensor<?x33xf32>
  %8 = aten.exp %7 : tensor<?x33xf32>
  %9 = aten.add.Scalar %8 {other = 3.000000e-01 : f64} : tensor<?x33xf32>
  %10 = aten.sigmoid %9 : tensor<?x33xf32>
  %11 = aten.mul.Scalar %10 {other = 1.200000e+00 : f64} : tensor<?x33xf32>
  %12 = aten.sin %11 : tensor<?x33xf32>
  %13 = aten.add.Scalar %12 {other = 4.000000e-01 : f64} : tensor<?x33xf32>
  %14 = aten.cos %13 : tensor<?x33xf32>
  %15 = aten.sub.Scalar %14 {other = 2.000000e-01 : f64} : tensor<?x33xf32>
  %16 = aten.relu %15 : tensor<?x33xf32>
  %17 = aten.add.Scalar %16 {other = 5.000000e-01 : f64} : tensor<?x33xf32>
  %18 = aten.mul.Scalar %17 {other = 4.000000e-01 : f64} : tensor<?x33xf32>
  %19 = aten.exp %18 : tensor<?x33xf32>
  %20 = aten.mul.Scalar %19 {other = 1.300000e+00 : f64} : tensor<?x33xf32>
  %21 = aten.sigmoid %20 : tensor<?x33xf32>
  %22 = aten.add.Scalar %21 {other = 1.000000e-01 : f64} : tensor<?x33xf32>
  %23 = aten.sin %22 : tensor<?x33xf32>
  %24 = aten.mul.Scalar %23 {other = 1.100000e+00 : f64} : tensor<?x33xf32>
  %25 = aten.cos %24 : tensor<?x33xf32>
  %26 = aten.add.Scalar %25 {other = 2.000000e-01 : f64} : tensor<?x33xf32>
  %27 = aten.relu %26 : tensor<?x33xf32>
  %28 = aten.sub.Scalar %27 {other = 1.000000e-01 : f64} : tensor<?x33xf32>
  %29 = aten.mul.Scalar %28 {other = 5.000000e-01 : f64} : tensor<?x33xf32>
  %30 = aten.exp %29 : tensor<?x33xf32>
  %31 = aten.add.Scalar %30 {other = 3.000000e-01 : f64} : tensor<?x33xf32>
  %32 = aten.sigmoid %31 : tensor<?x33xf32>
  %33 = aten.sum %32 : (tensor<?x33xf32>) -> tensor<f32>
  return %33 : tensor<f32>
}
