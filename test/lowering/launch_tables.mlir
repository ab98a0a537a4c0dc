// RUN: rs-opt %s --prim-to-loop --schedule-cpu --loop-to-host --plan-memory --loop-to-cpu=long=4 --split-input-file | rs-filecheck %s
// RUN: rs-opt %s --prim-to-loop --schedule-cpu --loop-to-host --plan-memory --loop-to-cpu --split-input-file | rs-filecheck %s --check-prefix=CODE

// Launches of known sizes are rows of a table: one call for all, whatever stands between them but says where memory is.
// CHECK-LABEL: func.func @strata_entry(
// CHECK: call @strata_output
// CHECK: call @strata_launches
// CHECK-NOT: call @k
// CHECK: return
// CODE-LABEL: func.func @strata_entry(
// CODE-COUNT-5: call @{{k|strata_parallel}}
// CODE-NOT: strata_launches
func.func @main(%x: tensor<8xf32> {capture.kind = "input", capture.name = "x"}, %w: tensor<8xf32> {capture.kind = "parameter", capture.name = "w"})
    -> (tensor<8xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.exp %x : tensor<8xf32>
  %1 = prim.add %0, %w : tensor<8xf32>
  %2 = prim.sin %1 : tensor<8xf32>
  %3 = prim.add %2, %w : tensor<8xf32>
  %4 = prim.add %3, %0 : tensor<8xf32>
  return %4 : tensor<8xf32>
}

// -----

// A kernel without loops has no function for threads: its launch stays code.
// CHECK-LABEL: func.func @strata_entry(
// CHECK-NOT: @k5.task
// CHECK: call @strata_launches
// CHECK: call @k5(
// CHECK: return
func.func @main(%x: tensor<8xf32> {capture.kind = "input", capture.name = "x"}, %s: tensor<f32> {capture.kind = "input", capture.name = "s"})
    -> (tensor<8xf32> {capture.kind = "output"}, tensor<f32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.exp %x : tensor<8xf32>
  %1 = prim.sin %0 : tensor<8xf32>
  %2 = prim.exp %1 : tensor<8xf32>
  %3 = prim.sin %2 : tensor<8xf32>
  %4 = prim.exp %3 : tensor<8xf32>
  %t = prim.sin %s : tensor<f32>
  return %4, %t : tensor<8xf32>, tensor<f32>
}
