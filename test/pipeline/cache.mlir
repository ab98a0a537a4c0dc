// The second start of a program takes it from the cache; another option is another program, and says so.
// RUN: rm -rf %t.cache
// RUN: env STRATA_CACHE_SIZE=1G STRATA_CACHE_DIR=%t.cache rs-run %s --explain-cache 2>&1 | FileCheck %s --check-prefix=FIRST
// RUN: env STRATA_CACHE_SIZE=1G STRATA_CACHE_DIR=%t.cache rs-run %s --explain-cache 2>&1 | FileCheck %s --check-prefix=SECOND
// RUN: env LD_DEBUG=files STRATA_CACHE_SIZE=1G STRATA_CACHE_DIR=%t.cache rs-run %s 2>&1 | FileCheck %s --check-prefix=FILES
// RUN: env STRATA_CACHE_SIZE=1G STRATA_CACHE_DIR=%t.cache rs-cache why %s --numerics strict | FileCheck %s --check-prefix=OTHER
// RUN: env STRATA_CACHE_SIZE=1G STRATA_CACHE_DIR=%t.cache rs-cache why %s --numerics ulp --dynamic auto --mode default | FileCheck %s --check-prefix=SAME
// RUN: env STRATA_CACHE_SIZE=1G STRATA_CACHE_DIR=%t.cache rs-compile %s --explain-cache -o %t.strata 2>&1 | FileCheck %s --check-prefix=SAME
// RUN: env STRATA_CACHE_SIZE=1G STRATA_CACHE_DIR=%t.cache rs-cache stat | FileCheck %s --check-prefix=STAT
// RUN: env STRATA_CACHE_SIZE=1G STRATA_CACHE_DIR=%t.cache rs-cache verify | FileCheck %s --check-prefix=WHOLE

// FIRST: not in the cache: nothing was compiled yet
// FIRST: output
// SECOND: in the cache
// SECOND: output
// Neither the compiler nor MLIR nor LLVM is opened for it.
// FILES: file=libc.so
// FILES-NOT: file={{.*(MLIR|LLVM|strata_compiler)}}
// FILES: output
// OTHER: not in the cache; what differs:
// OTHER-NEXT: options: here {"numerics":"strict"}, in the nearest entry {}
// SAME: cache.mlir: in the cache
// STAT: artefact 1 entries
// STAT: object 2 entries
// WHOLE: 4 entries are whole, 4 of them authentic; 0 were removed

func.func @main(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x"})
    -> (tensor<4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.relu %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
