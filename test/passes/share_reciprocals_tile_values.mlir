// A sum of quotients along a dim that is not the last of both factors: its results and the reciprocals are tiles of one outer row.
// Divisors are powers of two, so that quotients and products by reciprocals are the same.
// RUN: rs-run %s > %t.shared
// RUN: rs-run %s --skip share-reciprocals > %t.divided && diff %t.shared %t.divided
// RUN: rs-opt %s --from=prim --to=loop-scheduled --attach-target=cpu=x86-64-v3 | rs-filecheck %s

// CHECK: loop.kernel {{.*}}order = array<i64: 0>
// CHECK: loop.stage {{.*}}domain = array<i64: 0, 1>, {{.*}}space = "tile"
// CHECK: loop.stage {{.*}}domain = array<i64: 0, 1>, {{.*}}space = "tile"
// CHECK: loop.stage {{.*}}reducer = "sum", schedule = {rows = {{.*}}space = "tile"
// CHECK: loop.stage {{.*}}space = "buffer"
func.func @main(%x: tensor<16x8x1201xf32> {capture.kind = "input", capture.name = "x"},
                %y: tensor<16x1201x8xf32> {capture.kind = "input", capture.name = "y"})
    -> (tensor<16x8xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %d = prim.constant {value = dense<[0.25, -2.0, 8.0, 1.0, 0.5, 1024.0, -0.125, 4.0]> : tensor<8xf32>} : () -> tensor<8xf32>
  %0 = prim.broadcast %d {dims = array<i64: 1>} : (tensor<8xf32>) -> tensor<16x8xf32>
  %1 = prim.broadcast %0 {dims = array<i64: 0, 2>} : (tensor<16x8xf32>) -> tensor<16x1201x8xf32>
  %2 = prim.div %y, %1 : (tensor<16x1201x8xf32>, tensor<16x1201x8xf32>) -> tensor<16x1201x8xf32>
  %3 = prim.transpose %2 {perm = array<i64: 0, 2, 1>} : (tensor<16x1201x8xf32>) -> tensor<16x8x1201xf32>
  %4 = prim.mul %x, %3 : (tensor<16x8x1201xf32>, tensor<16x8x1201xf32>) -> tensor<16x8x1201xf32>
  %5 = prim.reduce %4 {dims = array<i64: 2>, kind = "sum"} : (tensor<16x8x1201xf32>) -> tensor<16x8xf32>
  return %5 : tensor<16x8xf32>
}
