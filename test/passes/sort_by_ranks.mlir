// Sorting by counting and by merging gives what the library gives: equal elements in their order, NaN last or first, both zeros equal.
// RUN: rs-opt %s "--pass-pipeline=builtin.module(func.func(sort-by-ranks))" | rs-filecheck %s
// RUN: rs-run %s > %t.library
// RUN: rs-opt %s "--pass-pipeline=builtin.module(func.func(sort-by-ranks))" > %t.mlir
// RUN: rs-run %t.mlir > %t.ranks && diff %t.library %t.ranks

// Short lines: two sums over a square.
// CHECK-LABEL: func.func @main
// CHECK: prim.reduce {{.*}} : (tensor<3x5x7x7xi64>) -> tensor<3x5x7xi64>
// CHECK: prim.reduce {{.*}} : (tensor<3x5x7x7xi64>) -> tensor<3x5x7xi64>
// Long ones: a loop that doubles the length of runs.
// CHECK: scf.while
// CHECK: arith.cmpi slt, %{{.*}}, %c700
// CHECK: scf.condition
// CHECK: prim.select
// CHECK: scf.yield
// CHECK: scf.while
// CHECK-NOT: prim.sort
// CHECK-NOT: prim.library
func.func @main(%x: tensor<3x7x5xf32> {capture.kind = "input", capture.name = "x"},
                %y: tensor<2x700xi32> {capture.kind = "input", capture.name = "y"},
                %z: tensor<?x3xf32> {capture.kind = "input", capture.name = "z"})
    -> (tensor<3x7x5xf32> {capture.kind = "output"}, tensor<3x7x5xi64> {capture.kind = "output"},
        tensor<2x700xi32> {capture.kind = "output"}, tensor<2x700xi64> {capture.kind = "output"},
        tensor<?x3xf32> {capture.kind = "output"}, tensor<?x3xi64> {capture.kind = "output"},
        tensor<2x4xi32> {capture.kind = "output"}, tensor<2x4xi64> {capture.kind = "output"}) attributes {capture.entry} {
  %n = capture.dim %z {dim = 0 : i64, symbol = "n", min = 0 : i64, max = 1000000 : i64} : (tensor<?x3xf32>) -> index
  // Some quotients are NaN, and many are zeros of both signs.
  %zero = prim.constant {value = dense<0.0> : tensor<f32>} : tensor<f32>
  %0 = prim.broadcast %zero {dims = array<i64>} : (tensor<f32>) -> tensor<3x7x5xf32>
  %1 = prim.div %0, %x : tensor<3x7x5xf32>
  %2 = prim.sqrt %x : tensor<3x7x5xf32>
  %3 = prim.mul %1, %2 : tensor<3x7x5xf32>
  %4:2 = prim.sort %3 {dim = 1 : i64, descending = true} : (tensor<3x7x5xf32>) -> (tensor<3x7x5xf32>, tensor<3x7x5xi64>)
  %5:2 = prim.sort %y {dim = 1 : i64, descending = false} : (tensor<2x700xi32>) -> (tensor<2x700xi32>, tensor<2x700xi64>)
  %6:2 = prim.sort %z {dim = 0 : i64, descending = true} : (tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xi64>)
  // Some places of sorted lines.
  %places = prim.constant {value = dense<[[0, 699, 3, 3], [350, 1, 0, 2]]> : tensor<2x4xi64>} : tensor<2x4xi64>
  %7:2 = prim.library %y, %places {function = "order_statistics", options = ["descending"]} : (tensor<2x700xi32>, tensor<2x4xi64>) -> (tensor<2x4xi32>, tensor<2x4xi64>)
  return %4#0, %4#1, %5#0, %5#1, %6#0, %6#1, %7#0, %7#1
      : tensor<3x7x5xf32>, tensor<3x7x5xi64>, tensor<2x700xi32>, tensor<2x700xi64>, tensor<?x3xf32>, tensor<?x3xi64>, tensor<2x4xi32>, tensor<2x4xi64>
}
