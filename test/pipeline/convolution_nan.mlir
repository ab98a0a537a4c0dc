// The zeros of the padding are elements: a weight that is NaN makes them NaN, in the interpreter and in compiled code, whatever the
// order of the dims.
// RUN: rs-opt %s --check-semantics=sets=1 --to=host | FileCheck %s --check-prefix=SAME
// SAME: checked [[N:[0-9]+]] of [[N]] passes
// RUN: rs-run %s | FileCheck %s
// CHECK: output few: f32[1, 1, 3] = [NaN, NaN, NaN]
// CHECK: output many: f32[1, 8, 1] = [NaN, NaN, NaN, NaN, NaN, NaN, NaN, NaN]

func.func @main(%x: tensor<1x1x3xf32> {capture.kind = "input", capture.name = "x"}, %y: tensor<1x1x1xf32> {capture.kind = "input", capture.name = "y"})
    -> (tensor<1x1x3xf32> {capture.kind = "output", capture.name = "few"}, tensor<1x8x1xf32> {capture.kind = "output", capture.name = "many"}) attributes {capture.entry} {
  %w = prim.constant {value = dense<[[[0x7FC00000, 1.0, 1.0]]]> : tensor<1x1x3xf32>} : tensor<1x1x3xf32>
  %0 = aten.conv1d %x, %w {segments = array<i64: 1, 1, 0>, padding = array<i64: 1>} : (tensor<1x1x3xf32>, tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
  %v = prim.broadcast %w {dims = array<i64: 0, 1, 2>} : (tensor<1x1x3xf32>) -> tensor<8x1x3xf32>
  %1 = aten.conv1d %y, %v {segments = array<i64: 1, 1, 0>, padding = array<i64: 1>} : (tensor<1x1x1xf32>, tensor<8x1x3xf32>) -> tensor<1x8x1xf32>
  return %0, %1 : tensor<1x1x3xf32>, tensor<1x8x1xf32>
}
