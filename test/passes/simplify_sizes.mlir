// RUN: rs-opt %s --simplify-sizes --cse | FileCheck %s

// CHECK-LABEL: func.func @of_results(
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>
// CHECK-DAG: %[[N:.*]] = prim.dim %[[X]] {dim = 0 : i64}
// CHECK-DAG: %[[FOUR:.*]] = arith.constant 4 : index
// CHECK-NOT: prim.dim
// CHECK: %[[TWICE:.*]] = arith.muli
// CHECK: return %[[N]], %[[FOUR]], %[[TWICE]]
func.func @of_results(%x: tensor<?x4xf32>) -> (index, index, index) {
  %0 = prim.sin %x : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %a = prim.dim %0 {dim = 0 : i64} : (tensor<?x4xf32>) -> index
  %b = prim.dim %0 {dim = 1 : i64} : (tensor<?x4xf32>) -> index
  %1 = prim.concat %0, %0 {dim = 0 : i64} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %c = prim.dim %1 {dim = 0 : i64} : (tensor<?x4xf32>) -> index
  return %a, %b, %c : index, index, index
}

// The entry's symbols say it, where they are declared before.
// CHECK-LABEL: func.func @declared(
// CHECK: %[[S:.*]] = capture.dim
// CHECK-NOT: prim.dim
// CHECK: return %[[S]]
func.func @declared(%x: tensor<?xf32> {capture.kind = "input", capture.name = "x"}) -> (index {capture.kind = "output"}) attributes {capture.entry} {
  %s = capture.dim %x {dim = 0 : i64, symbol = "s0", min = 2 : i64, max = 100 : i64} : (tensor<?xf32>) -> index
  %0 = prim.sin %x : (tensor<?xf32>) -> tensor<?xf32>
  %1 = prim.dim %0 {dim = 0 : i64} : (tensor<?xf32>) -> index
  return %1 : index
}

// Only the tensor itself knows.
// CHECK-LABEL: func.func @unknown(
// CHECK: prim.dim
func.func @unknown(%x: tensor<?xf32>) -> index {
  %0 = prim.dim %x {dim = 0 : i64} : (tensor<?xf32>) -> index
  return %0 : index
}
