// RUN: own-opt %s | FileCheck %s
// Both forms of text and bytecode say the same, and upstream's passes know types and attributes.
// RUN: own-opt %s --mlir-print-op-generic | own-opt | FileCheck %s
// RUN: own-opt %s --emit-bytecode | own-opt | FileCheck %s
// RUN: own-opt %s --cse | FileCheck %s --check-prefix=CLEAN

// CHECK-LABEL: func.func @round_trip(
// CHECK-SAME: -> (!sat.fixed<bits = 16, fraction = 8>, !sat.fixed<bits = 16, fraction = 8>)
// CLEAN-LABEL: func.func @round_trip(
// CLEAN-COUNT-1: sat.quantize
// CLEAN-NOT: sat.quantize
func.func @round_trip(%x: f32) -> (!sat.fixed<bits = 16, fraction = 8>, !sat.fixed<bits = 16, fraction = 8>) {
  // CHECK: sat.quantize %{{.*}} {rounding = #sat.rounding<mode = "nearest">} : (f32) -> !sat.fixed<bits = 16, fraction = 8>
  %0 = sat.quantize %x {rounding = #sat.rounding<mode = "nearest">} : (f32) -> !sat.fixed<bits = 16, fraction = 8>
  %1 = sat.quantize %x {rounding = #sat.rounding<mode = "nearest">} : (f32) -> !sat.fixed<bits = 16, fraction = 8>
  return %0, %1 : !sat.fixed<bits = 16, fraction = 8>, !sat.fixed<bits = 16, fraction = 8>
}
