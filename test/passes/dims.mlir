// RUN: rs-opt %s --simplify-sizes --canonicalize | FileCheck %s

// One case per kind of size rule of the analysis `Dims`: each size is said by the entry's symbols alone.

// CHECK-LABEL: func.func @convolution(
// CHECK: %[[S:.*]] = capture.dim
// CHECK-NOT: prim.dim
// CHECK: arith.floordivsi
// CHECK: return
func.func @convolution(%x: tensor<1x3x?x8xf32> {capture.kind = "input", capture.name = "x"}, %k: tensor<4x3x3x3xf32> {capture.kind = "parameter", capture.name = "k"}) -> (index {capture.kind = "output"}) attributes {capture.entry} {
  %s = capture.dim %x {dim = 2 : i64, symbol = "s0", min = 2 : i64, max = 100 : i64} : (tensor<1x3x?x8xf32>) -> index
  %0 = prim.conv %x, %k {strides = array<i64: 2, 2>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x?x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x?x4xf32>
  %1 = prim.dim %0 {dim = 2 : i64} : (tensor<1x4x?x4xf32>) -> index
  return %1 : index
}

// CHECK-LABEL: func.func @dot_and_gather(
// CHECK-SAME: %[[A:.*]]: tensor<?x4xf32>, %[[I:.*]]: tensor<?xi64>
// CHECK-DAG: %[[N:.*]] = prim.dim %[[A]] {dim = 0 : i64}
// CHECK-DAG: %[[M:.*]] = prim.dim %[[I]] {dim = 0 : i64}
// CHECK: return %[[N]], %[[M]]
func.func @dot_and_gather(%a: tensor<?x4xf32>, %i: tensor<?xi64>) -> (index, index) {
  %0 = prim.dot %a, %a {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x?xf32>
  %n = prim.dim %0 {dim = 1 : i64} : (tensor<?x?xf32>) -> index
  %1 = prim.gather %a, %i {dims = array<i64: 0>} : (tensor<?x4xf32>, tensor<?xi64>) -> tensor<?x4xf32>
  %m = prim.dim %1 {dim = 0 : i64} : (tensor<?x4xf32>) -> index
  return %n, %m : index, index
}
