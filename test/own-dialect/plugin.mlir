// Tools that were built before know a dialect and a pass by their plug-in, with all that they do.
// RUN: ln -s $(dirname $(command -v rs-opt))/libown_dialect.so %t.so
// RUN: rs-opt %s --load-dialect-plugin=%t.so --load-pass-plugin=%t.so --drop-zero | FileCheck %s
// RUN: rs-opt %s --load-dialect-plugin %t.so --load-pass-plugin %t.so --drop-zero --check-semantics | FileCheck %s --check-prefix=CHECKED
// RUN: rs-opt %s --load-dialect-plugin=%t.so --load-pass-plugin=%t.so --bisect --drop-zero --cse | FileCheck %s --check-prefix=BISECTED
// RUN: env STRATA_CACHE_SIZE=1G STRATA_CACHE_DIR=%t.cache rs-opt %s --load-dialect-plugin=%t.so --load-pass-plugin=%t.so --drop-zero --incremental | FileCheck %s
// RUN: rs-opt %s --load-dialect-plugin=%t.so --graph=dot | FileCheck %s --check-prefix=GRAPH
// RUN: rs-opt --help --load-pass-plugin=%t.so | FileCheck %s --check-prefix=HELP
// RUN: rs-reduce %s --load-dialect-plugin=%t.so --test=sh --test-arg=-c --test-arg='! grep -q sat.add "$0"' | FileCheck %s --check-prefix=REDUCED
// MLIR's own tool takes it, too.
// RUN: mlir-opt-22 %s --load-dialect-plugin=%t.so --load-pass-plugin=%t.so --pass-pipeline='builtin.module(func.func(drop-zero))' | FileCheck %s
// RUN: not rs-opt %s --load-dialect-plugin=%t.gone 2>&1 | FileCheck %s --check-prefix=GONE
// RUN: not rs-opt %s --load-dialect-plugin 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not rs-opt %s --load-pass-plugin=%t.so --load-pass-plugin=%t.so 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: cc -shared -o %t.empty.so -x c /dev/null
// RUN: not rs-opt %s --load-pass-plugin=%t.empty.so 2>&1 | FileCheck %s --check-prefix=EMPTY

// CHECK-LABEL: func.func @main(
// CHECK-NEXT: %[[SUM:.*]] = sat.add
// CHECK-NEXT: return %[[SUM]]
// CHECKED: checked 1 of 1 passes
// BISECTED: no pass is guilty
// GRAPH: sat.add
// HELP: --drop-zero
// REDUCED: sat.add
// GONE: rs-opt: the plug-in {{.*}} cannot be opened
// NONE: rs-opt: --load-dialect-plugin needs a library; write --load-dialect-plugin=LIB
// TWICE: brings 'drop-zero', which is there already
// EMPTY: has no symbol of a plug-in for --load-pass-plugin; write one with strata_core::pass_plugin!
func.func @main(%x: i32, %y: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %0 = sat.add %x, %zero : i32
  %1 = sat.add %0, %y : i32
  return %1 : i32
}
