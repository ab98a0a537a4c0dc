// The inverse of the normal distribution keeps its digits where 2 x - 1 has none left.
// RUN: rs-run %s --no-cache | FileCheck %s
// RUN: rs-run %s --no-cache --backend=interp | FileCheck %s
// CHECK: output out0: f64[] = [-1.14640246884436{{[0-9]*}}e1]
// CHECK: output out1: f32[] = [-6.36134{{[0-9]*}}e0]
// CHECK: output out2: f64[] = [-inf]
// CHECK: output out3: f64[] = [NaN]

func.func @main() -> (tensor<f64> {capture.kind = "output"}, tensor<f32> {capture.kind = "output"}, tensor<f64> {capture.kind = "output"},
    tensor<f64> {capture.kind = "output"}) attributes {capture.entry} {
  %far = aten.full {size = array<i64>, fill_value = 1.0e-30 : f64, dtype = f64} : tensor<f64>
  %near = aten.full {size = array<i64>, fill_value = 1.0e-10 : f64, dtype = f32} : tensor<f32>
  %none = aten.full {size = array<i64>, fill_value = 0.0 : f64, dtype = f64} : tensor<f64>
  %less = aten.full {size = array<i64>, fill_value = -1.0 : f64, dtype = f64} : tensor<f64>
  %0 = aten.special_ndtri %far : (tensor<f64>) -> tensor<f64>
  %1 = aten.special_ndtri %near : (tensor<f32>) -> tensor<f32>
  %2 = aten.special_ndtri %none : (tensor<f64>) -> tensor<f64>
  %3 = aten.special_ndtri %less : (tensor<f64>) -> tensor<f64>
  return %0, %1, %2, %3 : tensor<f64>, tensor<f32>, tensor<f64>, tensor<f64>
}
