// An option that would do nothing is an error that says so.
// RUN: not rs-opt %s --signature='f32[4]' 2>&1 | FileCheck %s --check-prefix=SIGNATURE
// RUN: not rs-opt %S/../models/chain30.pt2 --signature='f32[4]' 2>&1 | FileCheck %s --check-prefix=SIGNATURE
// RUN: not rs-compile %s --signature='f32[4]' -o %t.strata 2>&1 | FileCheck %s --check-prefix=SIGNATURE
// RUN: not rs-opt %s --op-coverage --canonicalize 2>&1 | FileCheck %s --check-prefix=COVERAGE
// RUN: not rs-compile %s --emit=mlir --explain-cache 2>&1 | FileCheck %s --check-prefix=CACHE
// RUN: not rs-compile %s --emit=obj --no-cache -o %t.o 2>&1 | FileCheck %s --check-prefix=CACHE
// RUN: not rs-compile %s --target=cuda:sm_90 --emit=ptx --cpu=znver3 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: not rs-compile %s -o - 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: not rs-run %s --backend=interp --explain-cache 2>&1 | FileCheck %s --check-prefix=INTERP
// RUN: not rs-run %s --backend=interp --mode=max-autotune 2>&1 | FileCheck %s --check-prefix=INTERP
// RUN: rs-compile %s -o %t.strata
// RUN: not rs-run %s --save-weights %t.safetensors 2>&1 | FileCheck %s --check-prefix=WEIGHTS
// RUN: not rs-run %t.strata --grad 2>&1 | FileCheck %s --check-prefix=GRAD

// SIGNATURE: --signature: {{.*}}: only .pt archives of TorchScript, .onnx models and .stablehlo.mlir are imported for a call; leave the option out
// COVERAGE: --op-coverage looks at a program as it is, and `--canonicalize` does nothing beside it; leave it out
// CACHE: --no-cache, --explain-cache and --explain-autotune are about programs (--emit=strata, so), and do nothing here
// CPU: --cpu is about code of the CPU, which --emit=ptx and cubin have none of; leave it out
// OUTPUT: -o - is standard output, for texts (--emit=mlir, llvm, asm, ptx); the other forms need a file
// INTERP: the interpreter compiles nothing: --mode, {{.*}} do nothing with --backend=interp
// WEIGHTS: the program has no weights, so --save-weights does nothing; leave it out
// GRAD: .strata: a .strata file computes what it was compiled for; --grad and --jvp are for models

func.func @main(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x"}) -> (tensor<4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.sin %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
