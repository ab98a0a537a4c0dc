// Tiles in registers, with odd edges and lanes that are off, give what the same kernels give one element at a time, and the
// interpreter gives what they give at each level. (Factors are small powers of two and inputs small integers: every step is exact.)
// RUN: rs-run %s > %t.fast
// RUN: rs-run %s --skip schedule-cpu > %t.plain && diff %t.fast %t.plain
// RUN: rs-opt %s --check-semantics=sets=1 --fuse-elementwise --fuse-reductions --prim-to-loop --schedule-cpu | FileCheck %s
// CHECK: checked 4 of 4 passes

func.func @main(%x: tensor<3x22x18x19xi32> {capture.kind = "input", capture.name = "x"},
                %y: tensor<?x4x5xi32> {capture.kind = "input", capture.name = "y"})
    -> (tensor<i64> {capture.kind = "output"}, tensor<?x4x3xf16> {capture.kind = "output"}) attributes {capture.entry} {
  %n = capture.dim %y {dim = 0 : i64, symbol = "n", min = 0 : i64, max = 1000000 : i64} : (tensor<?x4x5xi32>) -> index
  %seven = prim.constant {value = dense<7> : tensor<i32>} : tensor<i32>
  %sevens = prim.broadcast %seven {dims = array<i64>} : (tensor<i32>) -> tensor<3x22x18x19xi32>
  %0 = prim.rem %x, %sevens : tensor<3x22x18x19xi32>
  %1 = prim.convert %0 : (tensor<3x22x18x19xi32>) -> tensor<3x22x18x19xf32>
  %2 = prim.sliding_window %1 {sizes = array<i64: 4, 4>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, dims = array<i64: 1, 2>} : (tensor<3x22x18x19xf32>) -> tensor<3x10x8x19x4x4xf32>
  %3 = prim.transpose %2 {perm = array<i64: 4, 5, 0, 1, 2, 3>} : (tensor<3x10x8x19x4x4xf32>) -> tensor<4x4x3x10x8x19xf32>
  %4 = prim.linear_transform %3 {dims = array<i64: 0, 1>, matrix = array<f64: 1.0, 0.0, -1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, -1.0, 1.0, 0.0, 0.0, -1.0, 0.0, 1.0>} : (tensor<4x4x3x10x8x19xf32>) -> tensor<4x4x3x10x8x19xf32>
  %5 = prim.transpose %4 {perm = array<i64: 2, 3, 0, 4, 1, 5>} : (tensor<4x4x3x10x8x19xf32>) -> tensor<3x10x4x8x4x19xf32>
  %6 = prim.linear_transform %5 {dims = array<i64: 2, 4>, matrix = array<f64: 1.0, 1.0, 1.0, 0.0, 0.0, 0.5, -0.5, 0.0, 0.0, 0.25, 0.25, 1.0>} : (tensor<3x10x4x8x4x19xf32>) -> tensor<3x10x3x8x3x19xf32>
  %7 = prim.mul %6, %6 : tensor<3x10x3x8x3x19xf32>
  %sixteen = prim.constant {value = dense<256.0> : tensor<f32>} : tensor<f32>
  %sixteens = prim.broadcast %sixteen {dims = array<i64>} : (tensor<f32>) -> tensor<3x10x3x8x3x19xf32>
  %8 = prim.mul %7, %sixteens : tensor<3x10x3x8x3x19xf32>
  %9 = prim.convert %8 : (tensor<3x10x3x8x3x19xf32>) -> tensor<3x10x3x8x3x19xi64>
  %10 = prim.reshape %9 : (tensor<3x10x3x8x3x19xi64>) -> tensor<41040xi64>
  %11 = prim.scan %10 {dim = 0 : i64, kind = "sum"} : tensor<41040xi64>
  %12 = prim.reduce %11 {dims = array<i64: 0>, kind = "sum"} : (tensor<41040xi64>) -> tensor<i64>
  // Unknown sizes, halves, and lanes that would run along the mixed dim.
  %four = prim.constant {value = dense<4> : tensor<i32>} : tensor<i32>
  %fours = prim.broadcast %four, %n {dims = array<i64>} : (tensor<i32>, index) -> tensor<?x4x5xi32>
  %20 = prim.rem %y, %fours : tensor<?x4x5xi32>
  %21 = prim.convert %20 : (tensor<?x4x5xi32>) -> tensor<?x4x5xf16>
  %22 = prim.linear_transform %21 {dims = array<i64: 2>, matrix = array<f64: 1.0, 2.0, 0.5, -2.0, 1.0, 1.0, 2.0, 0.5, 2.0, -1.0, 0.0, 0.0, 4.0, 0.0, 1.0>} : (tensor<?x4x5xf16>) -> tensor<?x4x3xf16>
  return %12, %22 : tensor<i64>, tensor<?x4x3xf16>
}
