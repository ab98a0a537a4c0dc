// RUN: own-opt %s --drop-zero | FileCheck %s
// RUN: own-opt --help | FileCheck %s --check-prefix=HELP
// RUN: own-opt --show-dialects | FileCheck %s --check-prefix=DIALECTS
// HELP: --drop-zero
// DIALECTS: sat

// CHECK-LABEL: func.func @zero(
// CHECK-SAME: [[X:%[a-z0-9]+]]: i32
func.func @zero(%x: i32) -> i32 {
  // CHECK-NEXT: return [[X]] : i32
  %c0 = arith.constant 0 : i32
  %0 = sat.add %x, %c0 : i32
  return %0 : i32
}

// Another constant stays.
// CHECK-LABEL: func.func @one(
func.func @one(%x: i32) -> i32 {
  // CHECK: sat.add
  %c1 = arith.constant 1 : i32
  %0 = sat.add %x, %c1 : i32
  return %0 : i32
}
