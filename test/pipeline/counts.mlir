// Numbers of a program that count what the compiler does: as many steps as matter are made, whatever the number.
// RUN: rs-opt %s --to=prim | FileCheck %s
// RUN: rs-run %s --no-cache | FileCheck %s --check-prefix=VALUE

// The factorial of more than 170 is infinite, and so is the derivative. Fewer elements than differences leave none; windows of
// adaptive pooling are counted by a rule.
// CHECK-COUNT-1: prim.special
// CHECK-NOT: prim.special
// VALUE: f64[2] = [-inf, -inf]
// VALUE: f32[0] = []
// VALUE: f32[1, 9] = [1e0, 1e0
func.func @main() -> (tensor<2xf64> {capture.kind = "output"}, tensor<0xf32> {capture.kind = "output"}, tensor<1x9xf32> {capture.kind = "output"})
    attributes {capture.entry} {
  %x = aten.full {size = array<i64: 2>, fill_value = 5.000000e-01 : f64, dtype = f64} : () -> tensor<2xf64>
  %0 = aten.polygamma %x {n = 4611686018427387904 : i64} : tensor<2xf64>
  %y = aten.ones {size = array<i64: 3>} : () -> tensor<3xf32>
  %1 = aten.diff %y {n = 4611686018427387904 : i64, segments = array<i64: 1, 0, 0>} : (tensor<3xf32>) -> tensor<0xf32>
  %z = aten.ones {size = array<i64: 1, 1, 4>} : () -> tensor<1x1x4xf32>
  %p = aten.adaptive_avg_pool1d %z {output_size = array<i64: 9>} : (tensor<1x1x4xf32>) -> tensor<1x1x9xf32>
  %2 = aten.view %p {size = array<i64: 1, 9>} : (tensor<1x1x9xf32>) -> tensor<1x9xf32>
  return %0, %1, %2 : tensor<2xf64>, tensor<0xf32>, tensor<1x9xf32>
}
