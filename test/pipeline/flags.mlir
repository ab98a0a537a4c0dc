// A flag that says nothing, or something that there is not, is an error with the way out.
// RUN: not rs-opt %s --from=aten 2>&1 | FileCheck %s --check-prefix=FROM
// RUN: not rs-opt %s --check-semantics 2>&1 | FileCheck %s --check-prefix=CHECK-NOTHING
// RUN: not rs-opt %s --bisect 2>&1 | FileCheck %s --check-prefix=BISECT-NOTHING
// RUN: not rs-opt %s --pass-pipeline='builtin.module(schedule-cpu{nonsense=3})' 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not rs-opt %s --hoist-weights=remarks=abc 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not rs-compile %s --no-cache --skip=cse,nonsense -o %t.strata 2>&1 | FileCheck %s --check-prefix=SKIP
// RUN: not rs-compile %s --emit=mlir --to=gpu 2>&1 | FileCheck %s --check-prefix=GPU
// RUN: not rs-compile %s --emit=mlir --to=cpu --target=cuda:sm_90 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: rs-compile %s --no-cache -o %t.strata
// RUN: not rs-run %t.strata --numerics=fast 2>&1 | FileCheck %s --check-prefix=COMPILED
// RUN: rs-opt %s --decompose-aten --cse --mlir-print-ir-after-change 2>&1 | FileCheck %s --check-prefix=CHANGED
// RUN: rs-opt %s --incremental --decompose-aten --canonicalize | FileCheck %s --check-prefix=FUNCTIONS
// RUN: rs-lit --help | FileCheck %s --check-prefix=LIT
// RUN: rs-lsp --help | FileCheck %s --check-prefix=LSP

// FROM: rs-opt: --from=LEVEL says nothing without --to=LEVEL; add the level to go down to
// CHECK-NOTHING: rs-opt: --check-semantics looks at what passes do, and there are none; give them as flags
// BISECT-NOTHING: rs-opt: --bisect looks at what passes do, and there are none; give them as flags
// OPTION-NOT: unknown>:
// OPTION: rs-opt: {{.*}}nonsense
// VALUE-NOT: unknown>:
// VALUE: 'abc' is invalid value for boolean argument
// SKIP: there is no optimisation 'nonsense' to skip on the way to cpu; those that may be left out are canonicalize, channels-last, copy-ahead, cse
// GPU: level 'gpu' is one of the pipeline to a CUDA device; name one with --target=cuda:sm_90
// CPU: level 'cpu' is one of the pipeline to the CPU, not to a CUDA device; leave --target out
// COMPILED: a .strata file is compiled; options of the compilation and of its cache do nothing
// CHANGED: IR Dump After DecomposeAten
// CHANGED: prim.maximum
// CHANGED-NOT: IR Dump After CSE
// FUNCTIONS: prim.maximum
// LIT: usage: rs-lit
// LIT: --filter TEXT
// LSP: usage: rs-lsp
// LSP: --load-dialect-plugin=LIB
func.func @main(%x: tensor<2x4xf32> {capture.kind = "input", capture.name = "x"}) -> (tensor<2x4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.relu %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
