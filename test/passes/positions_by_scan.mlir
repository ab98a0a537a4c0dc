// The running sum of a mask places its positions: as many as are asked for, then -1. A batch stays with the library.
// RUN: rs-opt %s "--pass-pipeline=builtin.module(func.func(positions-by-scan))" | rs-filecheck %s
// RUN: rs-run %s > %t.library
// RUN: rs-opt %s "--pass-pipeline=builtin.module(func.func(positions-by-scan))" > %t.mlir
// RUN: rs-run %t.mlir > %t.scan && diff %t.library %t.scan

// CHECK-LABEL: func.func @main
// CHECK: %[[PLACES:.*]] = prim.scan {{.*}}kind = "sum"{{.*}} : tensor<900xi64>
// CHECK: prim.scatter {{.*}}kind = "set"
// CHECK: prim.slice {{.*}} -> tensor<5xi64>
// CHECK: prim.scan
// CHECK: prim.scatter
// CHECK: prim.slice {{.*}} -> tensor<?xi64>
// CHECK: prim.library {{.*}}"true_positions"{{.*}} : (tensor<2x30xi1>) -> tensor<2x4xi64>
func.func @main(%x: tensor<900xf32> {capture.kind = "input", capture.name = "x"}, %y: tensor<2x30xf32> {capture.kind = "input", capture.name = "y"})
    -> (tensor<5xi64> {capture.kind = "output"}, tensor<?xi64> {capture.kind = "output"}, tensor<1200xi64> {capture.kind = "output"},
        tensor<2x4xi64> {capture.kind = "output"}) attributes {capture.entry} {
  %zero = prim.constant {value = dense<0.0> : tensor<f32>} : tensor<f32>
  %0 = prim.broadcast %zero {dims = array<i64>} : (tensor<f32>) -> tensor<900xf32>
  %1 = prim.lt %0, %x : (tensor<900xf32>, tensor<900xf32>) -> tensor<900xi1>
  %few = prim.library %1 {function = "true_positions", options = []} : (tensor<900xi1>) -> tensor<5xi64>
  %bits = prim.convert %1 : (tensor<900xi1>) -> tensor<900xi64>
  %sum = prim.reduce %bits {dims = array<i64: 0>, kind = "sum"} : (tensor<900xi64>) -> tensor<i64>
  %item = prim.item %sum : (tensor<i64>) -> i64
  %count = arith.index_cast %item : i64 to index
  %all = prim.library %1, %count {function = "true_positions", options = []} : (tensor<900xi1>, index) -> tensor<?xi64>
  %more = prim.library %1 {function = "true_positions", options = []} : (tensor<900xi1>) -> tensor<1200xi64>
  %2 = prim.broadcast %zero {dims = array<i64>} : (tensor<f32>) -> tensor<2x30xf32>
  %3 = prim.lt %2, %y : (tensor<2x30xf32>, tensor<2x30xf32>) -> tensor<2x30xi1>
  %lines = prim.library %3 {function = "true_positions", options = []} : (tensor<2x30xi1>) -> tensor<2x4xi64>
  return %few, %all, %more, %lines : tensor<5xi64>, tensor<?xi64>, tensor<1200xi64>, tensor<2x4xi64>
}
