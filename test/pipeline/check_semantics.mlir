// The interpreter runs the program before the first pass and after each one.
// RUN: rs-opt %s --check-semantics --to=host | FileCheck %s
// RUN: rs-opt %s --check-semantics=sets=2,seed=7 --pass-pipeline='builtin.module(func.func(decompose-aten,simplify-views),cse)' | FileCheck %s --check-prefix=LIST
// RUN: rs-opt %s --check-semantics --decompose-aten --fuse-elementwise | FileCheck %s --check-prefix=FLAGS
// RUN: rs-opt %s --check-semantics --to=cpu | FileCheck %s --check-prefix=BELOW
// RUN: rs-opt %s --bisect --to=host | FileCheck %s --check-prefix=BISECT
// RUN: rs-opt %s --graph=dot --to=prim | FileCheck %s --check-prefix=DOT

// CHECK: checked [[N:[0-9]+]] of [[N]] passes
// LIST: checked 3 of 3 passes
// FLAGS: checked 2 of 2 passes

// Below host there is nothing to interpret: this is counted, and is no success.
// BELOW: checked {{[0-9]+}} of {{[0-9]+}} passes, 2 not checked (@main is below the level host)

// BISECT: no pass is guilty (2 runs, 0 passes not checked)

// DOT: digraph {
// DOT: label="func.func @main"
// DOT: prim.reduce sum\ntensor<?xf32>

// RUN: not rs-opt %s --check-semantics --bisect 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: rs-opt: --check-semantics, --check-gradients, --bisect, --graph and --incremental exclude each other; give one of them
// RUN: not rs-opt %s --check-semantics --no-such-pass 2>&1 | FileCheck %s --check-prefix=FLAG
// FLAG: rs-opt: '--no-such-pass' is no option of --check-semantics; passes are given as flags
// RUN: not rs-opt %s --check-semantics=sets=0 2>&1 | FileCheck %s --check-prefix=VALUE
// VALUE: rs-opt: 'sets=0' is no value of --check-semantics; write sets=N
// RUN: not rs-opt %s --graph=png 2>&1 | FileCheck %s --check-prefix=PNG
// PNG: rs-opt: 'png' is no value of --graph; write dot or svg

func.func @main(%x: tensor<?x16xf32> {capture.kind = "input", capture.name = "x"})
    -> (tensor<?xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %n = capture.dim %x {dim = 0 : i64, symbol = "n", min = 3 : i64, max = 5 : i64} : (tensor<?x16xf32>) -> index
  %0 = aten.mul.Scalar %x {other = 0.5 : f64} : tensor<?x16xf32>
  %1 = aten.relu %0 : tensor<?x16xf32>
  %2 = aten.sum.dim_IntList %1 {dim = array<i64: 1>} : (tensor<?x16xf32>) -> tensor<?xf32>
  return %2 : tensor<?xf32>
}
