// RUN: own-opt %s --split-input-file --verify-diagnostics | FileCheck %s
// Upstream's passes know the op: equal sums are one, an unused one goes, the constant moves to the right.
// RUN: own-opt %s --split-input-file --verify-diagnostics --canonicalize --cse | FileCheck %s --check-prefix=CLEAN

// CHECK-LABEL: func.func @round_trip(
// CLEAN-LABEL: func.func @round_trip(
func.func @round_trip(%x: i32) -> (i32, i32) {
  // CHECK-COUNT-3: sat.add %{{.*}}, %{{.*}} : i32
  // CLEAN: [[SUM:%.*]] = sat.add %{{.*}}, %c1{{.*}} : i32
  // CLEAN-NEXT: return [[SUM]], [[SUM]]
  %c1 = arith.constant 1 : i32
  %0 = sat.add %c1, %x : i32
  %1 = sat.add %x, %c1 : i32
  %2 = sat.add %x, %x : i32
  return %0, %1 : i32, i32
}

// -----

func.func @c1(%x: i64) -> i64 {
  // expected-error @+1 {{C1: numbers of 64 bits are too wide}}
  %0 = sat.add %x, %x : i64
  return %0 : i64
}
