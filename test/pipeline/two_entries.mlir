// One function is called. Which of two it is nobody guesses.
// RUN: not rs-run --no-cache %s 2>&1 | FileCheck %s
// RUN: not rs-run --backend=interp %s 2>&1 | FileCheck %s
// RUN: not rs-compile --no-cache %s -o %t.strata 2>&1 | FileCheck %s
// RUN: not rs-opt %s --to=host 2>&1 | FileCheck %s
// CHECK: two_entries.mlir":[[#@LINE+8]]:1
// CHECK-SAME: the program has two entries, @first and @second; keep the mark on the one that is called

func.func @first(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x"})
    -> (tensor<4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.relu %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @second(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x"})
    -> (tensor<4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.neg %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
