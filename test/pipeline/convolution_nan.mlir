// The zeros of the padding are elements: a weight that is NaN makes them NaN, in the interpreter and in compiled code, whatever the
// order of the dims.
// RUN: rs-opt %s --check-semantics=sets=1 --to=host | FileCheck %s --check-prefix=SAME
// SAME: checked [[N:[0-9]+]] of [[N]] passes
// RUN: rs-run %s | FileCheck %s
// CHECK: output few: f32[1, 1, 3] = [NaN, NaN, NaN]
// (Of an image whose fourth column is NaN a window that moves by two meets it once.)
// CHECK: output many: f32[1, 8, 1] = [NaN, NaN, NaN, NaN, NaN, NaN, NaN, NaN]
// CHECK: output by_two: f32[1, 2, 8] = [6e0, NaN, 1.5e1, 2.1e1, 2.7e1, 3.3e1, 3.9e1, 4.5e1, ...]

func.func @main(%x: tensor<1x1x3xf32> {capture.kind = "input", capture.name = "x"}, %y: tensor<1x1x1xf32> {capture.kind = "input", capture.name = "y"})
    -> (tensor<1x1x3xf32> {capture.kind = "output", capture.name = "few"}, tensor<1x8x1xf32> {capture.kind = "output", capture.name = "many"},
        tensor<1x2x8xf32> {capture.kind = "output", capture.name = "by_two"}) attributes {capture.entry} {
  %w = prim.constant {value = dense<[[[0x7FC00000, 1.0, 1.0]]]> : tensor<1x1x3xf32>} : tensor<1x1x3xf32>
  %0 = aten.conv1d %x, %w {segments = array<i64: 1, 1, 0>, padding = array<i64: 1>} : (tensor<1x1x3xf32>, tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
  %v = prim.broadcast %w {dims = array<i64: 0, 1, 2>} : (tensor<1x1x3xf32>) -> tensor<8x1x3xf32>
  %1 = aten.conv1d %y, %v {segments = array<i64: 1, 1, 0>, padding = array<i64: 1>} : (tensor<1x1x1xf32>, tensor<8x1x3xf32>) -> tensor<1x8x1xf32>
  %row = prim.constant {value = dense<[1.0, 2.0, 3.0, 0x7FC00000, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0]> : tensor<17xf32>} : tensor<17xf32>
  %image = prim.broadcast %row {dims = array<i64: 2>} : (tensor<17xf32>) -> tensor<1x2x17xf32>
  %one = prim.constant {value = dense<1.0> : tensor<f32>} : tensor<f32>
  %ones = prim.broadcast %one {dims = array<i64>} : (tensor<f32>) -> tensor<2x1x3xf32>
  %2 = aten.conv1d %image, %ones {segments = array<i64: 1, 1, 0>, stride = array<i64: 2>, groups = 2 : i64} : (tensor<1x2x17xf32>, tensor<2x1x3xf32>) -> tensor<1x2x8xf32>
  return %0, %1, %2 : tensor<1x1x3xf32>, tensor<1x8x1xf32>, tensor<1x2x8xf32>
}
