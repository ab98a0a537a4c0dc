// A mix is a stage that reads its tile, views and all, and yields every result of it.
// RUN: rs-opt %s --prim-to-loop | FileCheck %s
// RUN: rs-opt %s --prim-to-loop --schedule-cpu | FileCheck %s --check-prefix=SCHEDULE

// The rows are sum and difference of the same two products; the zero is left out.
// CHECK: loop.stage %{{.*}}, %{{.*}}, %{{.*}} {domain = array<i64: 0, 1, 2>, guarded = array<i1: true, true, true>, maps = {{.*}}, space = "register", spread = array<i64: 1>} : (tensor<40x32xf32>, tensor<40x32xf32>, tensor<40x32xf32>) -> tensor<20x2x32xf32>
// CHECK: %[[A:.*]] = arith.select
// CHECK: arith.select
// CHECK: %[[B:.*]] = arith.select
// CHECK: %[[P:.*]] = arith.mulf %[[A]]
// CHECK: %[[Q:.*]] = arith.mulf %[[B]]
// CHECK: %[[S:.*]] = arith.addf %[[P]], %[[Q]]
// CHECK: %[[D:.*]] = arith.subf %[[P]], %[[Q]]
// CHECK: loop.yield %[[S]], %[[D]]
// CHECK: loop.stage {{.*}}space = "buffer"}
// SCHEDULE: schedule = {order = array<i64: 0, 2, 1>, tile = array<i64: {{.*}}, 2>, unroll = array<i64: 1, 1, 2>, vector = 2 : i64, width = 16 : i64}
func.func @main(%x: tensor<40x32xf32>) -> tensor<20x2x32xf32> {
  %0 = prim.fusion %x : (tensor<40x32xf32>) -> tensor<20x2x32xf32> {
  ^bb0(%a: tensor<40x32xf32>):
    %z = prim.constant {value = dense<0.0> : tensor<f32>} : tensor<f32>
    %p = prim.pad %a, %z {low = array<i64: 1, 0>, high = array<i64: 1, 0>, interior = array<i64: 0, 0>} : (tensor<40x32xf32>, tensor<f32>) -> tensor<42x32xf32>
    %w = prim.sliding_window %p {sizes = array<i64: 3>, strides = array<i64: 2>, dilations = array<i64: 1>, dims = array<i64: 0>} : (tensor<42x32xf32>) -> tensor<20x32x3xf32>
    %t = prim.transpose %w {perm = array<i64: 0, 2, 1>} : (tensor<20x32x3xf32>) -> tensor<20x3x32xf32>
    %m = prim.linear_transform %t {dims = array<i64: 1>, matrix = array<f64: 2.0, 0.0, 3.0, 2.0, 0.0, -3.0>} : (tensor<20x3x32xf32>) -> tensor<20x2x32xf32>
    prim.yield %m : (tensor<20x2x32xf32>) -> ()
  }
  return %0 : tensor<20x2x32xf32>
}
