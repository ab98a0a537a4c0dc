// Text of a level is compiled from there on, as long as it says what a call brings. The level host says it no more.
// RUN: rs-opt %s --to=loop-scheduled -o %t.loop.mlir && rs-run --no-cache %t.loop.mlir | FileCheck %s --check-prefix=RUNS
// RUN: rs-opt %s --to=host -o %t.host.mlir && not rs-run --no-cache %t.host.mlir 2>&1 | FileCheck %s
// RUN: not rs-compile %t.host.mlir --emit=asm 2>&1 | FileCheck %s
// RUN: rs-opt %t.host.mlir --from=host --to=cpu -o %t.cpu.mlir && not rs-run --no-cache %t.cpu.mlir 2>&1 | FileCheck %s

// RUNS: output out0: f32[4] = [0e0, 0e0, 0e0, 0e0]
// CHECK: the program is at the level `host` or below it
// CHECK-SAME: text of the levels capture, aten, prim, prim-fused, loop, loop-scheduled, so begin again at one of these

func.func @main() -> (tensor<4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.zeros {size = array<i64: 4>} : () -> tensor<4xf32>
  %1 = aten.sin %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
