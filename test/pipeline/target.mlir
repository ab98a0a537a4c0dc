// The machine that a program is compiled for: described once, printed, changed by a file, and written at the program.
//
// RUN: rs-compile --print-target --cpu=x86-64-v3 | rs-filecheck %s --check-prefix=V3
// V3: {cpu = "x86-64-v3", cycles = {across = {{.*}}l1 = {bytes = 32768 : i64
// V3-SAME: vector_bits = 256 : i64, vector_registers = 16 : i64}
//
// RUN: rs-compile %s --cpu=x86-64-v3 --emit=mlir --to=loop-scheduled | rs-filecheck %s
// CHECK: module attributes {target.cpu = {cpu = "x86-64-v3"
// CHECK: width = 8 : i64
//
// What is printed is read again, and a part of it is enough.
// RUN: rs-compile --print-target --cpu=x86-64-v3 > %t.target && rs-compile %s --target-file=%t.target --emit=mlir --to=loop-scheduled | rs-filecheck %s
// RUN: echo '{vector_bits = 128}' > %t.part && rs-compile %s --cpu=x86-64-v3 --target-file=%t.part --emit=mlir --to=loop-scheduled | rs-filecheck %s --check-prefix=PART
// PART: width = 4 : i64
//
// A text says for itself what it is compiled for.
// RUN: rs-compile %s --cpu=x86-64-v3 --emit=mlir --to=prim > %t.prim.mlir && rs-compile %t.prim.mlir --emit=mlir --to=loop-scheduled | rs-filecheck %s
// RUN: not rs-compile %t.prim.mlir --cpu=x86-64-v2 --emit=mlir --to=loop-scheduled 2>&1 | rs-filecheck %s --check-prefix=TWO
// TWO: the program says for which machine it is compiled, in its attribute `target.cpu`, and so do the options; drop one of them
//
// RUN: echo '{vector_bit = 128}' > %t.wrong && not rs-compile %s --target-file=%t.wrong --emit=mlir 2>&1 | rs-filecheck %s --check-prefix=ENTRY
// ENTRY: the target has no entry 'vector_bit'; docs/src/reference/target.md lists the entries
// RUN: echo 'vector' > %t.text && not rs-compile %s --target-file=%t.text --emit=mlir 2>&1 | rs-filecheck %s --check-prefix=TEXT
// TEXT: is no dictionary of MLIR
// RUN: not rs-compile --print-target --measure-target --cpu=x86-64-v3 2>&1 | rs-filecheck %s --check-prefix=MEASURE
// MEASURE: cannot be used with
// RUN: not rs-compile %s --measure-target 2>&1 | rs-filecheck %s --check-prefix=ALONE
// ALONE: --measure-target measures this machine for --print-target, and does nothing without it
// RUN: not rs-compile --print-target --to=prim 2>&1 | rs-filecheck %s --check-prefix=NOTHING
// NOTHING: --to and --emit do nothing beside it
// RUN: not rs-compile --print-target --target=cuda --cpu=znver3 2>&1 | rs-filecheck %s --check-prefix=CPU
// CPU: --cpu and --measure-target are about CPUs
//
// The GPU of the kernels is described in the same way; of several architectures it is the oldest.
// RUN: rs-compile --print-target --target=cuda:sm_89,sm_90 | rs-filecheck %s --check-prefix=GPU
// GPU: {architecture = "sm_89", blocks = 24 : i64, device = "NVIDIA L40S"
// RUN: rs-compile --print-target --target=cuda:sm_90 > %t.gpu && rs-compile %s --target=cuda --target-file=%t.gpu --emit=mlir --to=loop-scheduled > %t.gpu.mlir
// RUN: rs-filecheck %s --check-prefix=WRITTEN < %t.gpu.mlir
// WRITTEN: target.gpu = {architecture = "sm_90"
// RUN: not rs-compile %t.gpu.mlir --target=cuda --target-file=%t.gpu --emit=mlir --to=gpu 2>&1 | rs-filecheck %s --check-prefix=TWOGPU
// TWOGPU: in its attribute `target.gpu`, and so do the options
func.func @main(%x: tensor<64x64xf32> {capture.kind = "input", capture.name = "x"}) -> (tensor<64x64xf32> {capture.kind = "output", capture.name = "y"}) attributes {capture.entry} {
  %0 = aten.relu %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
