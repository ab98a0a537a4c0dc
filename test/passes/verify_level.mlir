// RUN: rs-opt %s --verify-level=level=prim
// RUN: rs-opt %s --from=prim --to=cpu --verify-levels
// RUN: not rs-opt %s --verify-level=level=loop 2>&1 | rs-filecheck %s --check-prefix=EARLY
// RUN: not rs-opt %s --verify-level=level=tile 2>&1 | rs-filecheck %s --check-prefix=UNKNOWN
// RUN: not rs-opt %s --to=tile 2>&1 | rs-filecheck %s --check-prefix=ARGUMENT

// EARLY: error: 'prim.exp' op breaks the contract of level 'loop': there are no ops of 'prim' at level 'loop'; 'prim-to-loop' should have removed it
// UNKNOWN: there is no level 'tile'; the levels are capture, aten, prim
// ARGUMENT: rs-opt: there is no level 'tile'; the levels are capture, aten, prim
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {capture.entry} {
  %0 = prim.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
