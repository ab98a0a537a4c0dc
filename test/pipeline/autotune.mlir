// A search for a schedule leaves its choice in the store; the next compilation finds it there and searches nothing. Results are the
// same ones. However small the budget, one other schedule is tried.
// RUN: rm -rf %t.cache && rs-run %s | FileCheck %s --check-prefix=PLAIN
// RUN: env STRATA_CACHE_SIZE=1G STRATA_CACHE_DIR=%t.cache rs-run %s --mode=max-autotune --autotune-budget=0.001 --explain-autotune 2>&1 | FileCheck %s --check-prefixes=SEARCHED,PLAIN
// RUN: env STRATA_CACHE_SIZE=1G STRATA_CACHE_DIR=%t.cache rs-cache stat | FileCheck %s --check-prefix=STAT
// RUN: env STRATA_CACHE_SIZE=1G STRATA_CACHE_DIR=%t.cache rs-run %s --mode=max-autotune --autotune-budget=0.002 --explain-autotune 2>&1 | FileCheck %s --check-prefixes=STORED,PLAIN

// Time for a search that is not asked for is an error.
// RUN: not rs-run %s --no-cache --autotune-budget=1 2>&1 | FileCheck %s --check-prefix=UNUSED
// UNUSED: --autotune-budget is the time of --mode=max-autotune

// A compiled program depends on the stored schedules: without them it is no longer the one that was asked for.
// RUN: rm -r %t.cache/v2/schedule
// RUN: env STRATA_CACHE_SIZE=1G STRATA_CACHE_DIR=%t.cache rs-run %s --mode=max-autotune --autotune-budget=0.001 --explain-autotune 2>&1 | FileCheck %s --check-prefixes=SEARCHED,PLAIN

// A damaged entry is told, and is a miss.
// RUN: sh -c 'for file in $0/v2/schedule/*/*; do echo damage >> $file; done' %t.cache
// RUN: env STRATA_CACHE_SIZE=1G STRATA_CACHE_DIR=%t.cache rs-run %s --mode=max-autotune --autotune-budget=0.003 --explain-autotune 2>&1 | FileCheck %s --check-prefixes=DAMAGED,SEARCHED,PLAIN

// Other modes measure nothing.
// RUN: rs-run %s --explain-autotune 2>&1 | FileCheck %s --check-prefix=NONE

// DAMAGED: warning: cache entry schedule/{{.*}} is not used
// SEARCHED: 1 kernels: 1 searched with {{[0-9]+}} schedules tried, 0 stored
// SEARCHED-NEXT: k0 searched, {{[0-9]+}} tried: {{.*}} us ({{.*}}x)
// STORED: 1 kernels: 0 searched with 0 schedules tried, 1 stored
// STORED-NEXT: k0 stored, {{[0-9]+}} tried
// STAT: schedule 1 entries
// NONE: no schedule was measured
// PLAIN: output out0: f32[16] = [3.2e1, 3.2e1,

func.func @main(%x: tensor<16xf32> {capture.kind = "input", capture.name = "x"})
    -> (tensor<16xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.constant {value = dense<1.0> : tensor<16x32xf32>} : tensor<16x32xf32>
  %1 = prim.reduce %0 {dims = array<i64: 1>, kind = "sum"} : (tensor<16x32xf32>) -> tensor<16xf32>
  return %1 : tensor<16xf32>
}
