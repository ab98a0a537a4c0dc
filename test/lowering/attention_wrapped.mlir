// Positions that wrap around say nothing of how far a row looks: numbers of 8 bits, and sums with the largest number of 64.
// RUN: rs-opt %s --to=loop-scheduled | FileCheck %s
// RUN: rs-run %s > %t.fused
// RUN: rs-run %s --skip fuse-attention > %t.apart && diff %t.fused %t.apart

// CHECK-NOT: reach
// CHECK: online = {
// CHECK-NOT: reach
// CHECK: online = {
// CHECK-NOT: reach

// Rounding the results hides the different order of additions.
func.func @main(%q: tensor<3x300x8xf32> {capture.kind = "input", capture.name = "q"},
                %k: tensor<3x300x8xf32> {capture.kind = "input", capture.name = "k"},
                %v: tensor<3x300x8xf32> {capture.kind = "input", capture.name = "v"})
    -> (tensor<3x300x8xf32> {capture.kind = "output"}, tensor<3x300x8xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %row8 = prim.iota {dim = 0 : i64} : () -> tensor<300x300xi8>
  %key8 = prim.iota {dim = 1 : i64} : () -> tensor<300x300xi8>
  %short = prim.le %key8, %row8 : (tensor<300x300xi8>, tensor<300x300xi8>) -> tensor<300x300xi1>
  %0 = aten.scaled_dot_product_attention %q, %k, %v, %short {segments = array<i64: 1, 1, 1, 1>} : (tensor<3x300x8xf32>, tensor<3x300x8xf32>, tensor<3x300x8xf32>, tensor<300x300xi1>) -> tensor<3x300x8xf32>
  %row = prim.iota {dim = 0 : i64} : () -> tensor<300x300xi64>
  %key = prim.iota {dim = 1 : i64} : () -> tensor<300x300xi64>
  %most = prim.constant {value = dense<9223372036854775807> : tensor<i64>} : () -> tensor<i64>
  %mosts = prim.broadcast %most {dims = array<i64>} : (tensor<i64>) -> tensor<300x300xi64>
  %far = prim.add %row, %mosts : (tensor<300x300xi64>, tensor<300x300xi64>) -> tensor<300x300xi64>
  %long = prim.le %key, %far : (tensor<300x300xi64>, tensor<300x300xi64>) -> tensor<300x300xi1>
  %1 = aten.scaled_dot_product_attention %k, %q, %v, %long {segments = array<i64: 1, 1, 1, 1>} : (tensor<3x300x8xf32>, tensor<3x300x8xf32>, tensor<3x300x8xf32>, tensor<300x300xi1>) -> tensor<3x300x8xf32>
  %2 = aten.mul.Scalar %0 {other = 100.0 : f64} : (tensor<3x300x8xf32>) -> tensor<3x300x8xf32>
  %3 = aten.mul.Scalar %1 {other = 100.0 : f64} : (tensor<3x300x8xf32>) -> tensor<3x300x8xf32>
  %4 = aten.round %2 : (tensor<3x300x8xf32>) -> tensor<3x300x8xf32>
  %5 = aten.round %3 : (tensor<3x300x8xf32>) -> tensor<3x300x8xf32>
  return %4, %5 : tensor<3x300x8xf32>, tensor<3x300x8xf32>
}
