// The levels stand among the passes where --to does, and a pass on functions runs on them with every task.
// RUN: rs-opt %s --to=prim --fuse-elementwise | FileCheck %s
// RUN: rs-opt %s --fuse-elementwise --to=prim | FileCheck %s --check-prefix=BEFORE
// RUN: rs-opt %s --incremental --to=prim --fuse-elementwise --canonicalize | FileCheck %s
// RUN: rs-opt %s --check-semantics --to=prim --fuse-elementwise | FileCheck %s --check-prefix=CHECKED

// CHECK: func.func @main(
// CHECK-NEXT: prim.fusion
// BEFORE: func.func @main(
// BEFORE-NOT: prim.fusion
// CHECKED: checked [[N:[0-9]+]] of [[N]] passes

func.func @main(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x"})
    -> (tensor<4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.sin %x : tensor<4xf32>
  %1 = aten.cos %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
