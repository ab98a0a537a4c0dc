// A pipeline through the database gives what the plain one gives, and tells what it did: here everything, then nothing.
// RUN: rm -rf %t.cache
// RUN: rs-opt %s --pass-pipeline='builtin.module(func.func(simplify-algebra,fuse-elementwise),canonicalize)' > %t.plain
// RUN: env STRATA_CACHE_SIZE=1G STRATA_CACHE_DIR=%t.cache rs-opt %s --incremental --explain-cache --pass-pipeline='builtin.module(func.func(simplify-algebra,fuse-elementwise),canonicalize)' -o %t.first 2>&1 | FileCheck %s --check-prefix=FIRST
// RUN: diff %t.plain %t.first
// RUN: env STRATA_CACHE_SIZE=1G STRATA_CACHE_DIR=%t.cache rs-opt %s --explain-cache=json --pass-pipeline='builtin.module(func.func(simplify-algebra,fuse-elementwise),canonicalize)' -o %t.second 2>&1 | FileCheck %s --check-prefix=SECOND
// RUN: diff %t.plain %t.second

// FIRST: computed @first func.func(simplify-algebra),func.func(fuse-elementwise) (new)
// FIRST: computed @second func.func(simplify-algebra),func.func(fuse-elementwise) (new)
// FIRST: computed module canonicalize (new)
// FIRST: 3 computed, 0 from disk, 0 from memory
// SECOND-COUNT-3: "how": "disk"
// SECOND-NOT: "how": "computed"

func.func @first(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = prim.neg %x : tensor<4xf32>
  %1 = prim.neg %0 : tensor<4xf32>
  %2 = prim.exp %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

func.func @second(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @first(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = prim.exp %0 : tensor<4xf32>
  %2 = prim.sin %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
