// Locations and remarks are those of the plain run, also when nothing runs: the second time all comes from the store.
// RUN: rm -rf %t.cache
// RUN: rs-opt %s --mlir-print-debuginfo --pass-pipeline='builtin.module(func.func(simplify-algebra,cse),inline,func.func(fuse-elementwise{remarks=true}))' > %t.plain 2> %t.plain.said
// RUN: env STRATA_CACHE_SIZE=1G STRATA_CACHE_DIR=%t.cache rs-opt %s --incremental --mlir-print-debuginfo --pass-pipeline='builtin.module(func.func(simplify-algebra,cse),inline,func.func(fuse-elementwise{remarks=true}))' > %t.first 2> %t.first.said
// RUN: env STRATA_CACHE_SIZE=1G STRATA_CACHE_DIR=%t.cache rs-opt %s --incremental --explain-cache --mlir-print-debuginfo --pass-pipeline='builtin.module(func.func(simplify-algebra,cse),inline,func.func(fuse-elementwise{remarks=true}))' > %t.second 2> %t.second.said
// RUN: diff %t.plain %t.first
// RUN: diff %t.plain %t.second
// RUN: FileCheck %s --check-prefix=SAID --input-file=%t.plain.said
// RUN: FileCheck %s --check-prefix=SAID --input-file=%t.first.said
// RUN: FileCheck %s --check-prefix=SAID --input-file=%t.second.said
// RUN: FileCheck %s --check-prefix=HITS --input-file=%t.second.said
// RUN: FileCheck %s --input-file=%t.second

// SAID: layers.py:7:3: remark: 'prim.exp' is not fused into 'prim.broadcast'
// HITS: 0 computed, 4 from disk
// CHECK: "caller.py":2:1
// CHECK: callsite(
func.func @main(%x: tensor<8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = call @layer(%x) : (tensor<8xf32>) -> tensor<8xf32> loc("caller.py":2:1)
  %1 = prim.exp %0 : (tensor<8xf32>) -> tensor<8xf32> loc(fused["caller.py":3:1, "caller.py":4:1])
  %2 = prim.broadcast %1 {dims = array<i64: 1>} : (tensor<8xf32>) -> tensor<4x8xf32> loc("layers.py":7:3)
  %3 = prim.mul %2, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
} loc("caller.py":1:1)

func.func private @layer(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = prim.neg %x : tensor<8xf32> loc("layer.py":3:1)
  %1 = prim.neg %0 : tensor<8xf32> loc("layer.py":4:1)
  %2 = prim.exp %1 : tensor<8xf32> loc("exp"("layer.py":5:1))
  %3 = prim.sin %2 : tensor<8xf32> loc("layer.py":6:1)
  return %3 : tensor<8xf32> loc(unknown)
} loc("layer.py":1:1)
