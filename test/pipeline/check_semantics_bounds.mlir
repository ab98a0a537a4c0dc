// A check is bounded in size and time: what would pass a bound is said to be not checked.
// RUN: rs-opt %s --split-input-file --check-semantics=seconds=1 --cse | FileCheck %s
// RUN: rs-opt %s --split-input-file --bisect=seconds=1 --cse | FileCheck %s --check-prefix=BISECT
// RUN: not rs-opt %s --check-semantics=seconds=never --cse 2>&1 | FileCheck %s --check-prefix=VALUE
// VALUE: 'seconds=never' is no value of --check-semantics; write sets=N (1 to 1000), seed=N, elements=N

// CHECK: checked 0 of 1 passes, 1 not checked ({{.*}}a tensor of shape [4194304] has more than 1048576 elements, the bound of this run)
// BISECT: no pass is guilty (1 runs, 1 passes not checked)
func.func @large(%x: tensor<4194304xf32>) -> tensor<4194304xf32> {
  %0 = prim.neg %x : (tensor<4194304xf32>) -> tensor<4194304xf32>
  return %0 : tensor<4194304xf32>
}

// -----

// CHECK: checked 0 of 1 passes, 1 not checked ({{.*}}a run takes more than 1 s, the bound of this run)
func.func @long(%x: tensor<2xf32>) -> tensor<2xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %many = arith.constant 4611686018427387904 : index
  %0 = scf.for %i = %zero to %many step %one iter_args(%y = %x) -> (tensor<2xf32>) {
    scf.yield %y : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}

// -----

// CHECK: checked 0 of 1 passes, 1 not checked (the program fails on all generated inputs: {{.*}}more than 64 calls in each other: `@itself` calls itself)
func.func @itself(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = call @itself(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
