// Upstream's own tool is on the PATH as an independent reader of what we print.
// RUN: mlir-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @twice(
func.func @twice(%x: i32) -> i32 {
  %zero = arith.constant 0 : i32
  // CHECK-NOT: arith.addi
  %sum = arith.addi %x, %zero : i32
  return %sum : i32
}
