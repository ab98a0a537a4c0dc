// RUN: rs-opt %s --expand-math | FileCheck %s
// RUN: rs-opt %s --attach-target=cpu=x86-64-v3 --expand-math | FileCheck %s --check-prefix=POWER
// RUN: rs-opt %s --attach-target=cpu=x86-64-v2 --expand-math | FileCheck %s --check-prefix=OLD

// A body is made once per type; the instruction stays.
// CHECK-LABEL: func.func @twice(
// CHECK: %[[ONE:.+]] = call @strata_math.exp.16xf32(
// CHECK: %[[ROOT:.+]] = math.sqrt %[[ONE]]
// CHECK: call @strata_math.exp.16xf32(%[[ROOT]])
// OLD-LABEL: func.func @twice(
// OLD: call @strata_math.exp.16xf32(
func.func @twice(%x: vector<16xf32>) -> vector<16xf32> {
  %one = math.exp %x : vector<16xf32>
  %root = math.sqrt %one : vector<16xf32>
  %two = math.exp %root : vector<16xf32>
  return %two : vector<16xf32>
}

// Half floats are computed in f32, and rounded once.
// CHECK-LABEL: func.func @half(
// CHECK: %[[WIDE:.+]] = arith.extf %{{.+}} : bf16 to f32
// CHECK: %[[LOG:.+]] = call @strata_math.log.f32(%[[WIDE]])
// CHECK: arith.truncf %[[LOG]] : f32 to bf16
func.func @half(%x: bf16) -> bf16 {
  %log = math.log %x : bf16
  return %log : bf16
}

// A function of the runtime that has a vector form: our code where products and sums are fused, else a call for each lane.
// CHECK-LABEL: func.func @of_runtime(
// CHECK: call @strata_math.lgamma.8xf32(
// OLD-LABEL: func.func @of_runtime(
// OLD: call @strata_math.lgamma.8xf32(
func.func @of_runtime(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = "loop.libm"(%x) {name = "lgamma"} : (vector<8xf32>) -> vector<8xf32>
  return %0 : vector<8xf32>
}

// A half is rounded to an integer in f32: LLVM would narrow the instruction to halves, lane by lane. Other numbers have the instruction.
// CHECK-LABEL: func.func @integers(
// CHECK: %[[FLOOR:.+]] = call @strata_math.floor.16xf32(
// CHECK: arith.truncf %[[FLOOR]]
// CHECK: math.floor %{{.+}} : vector<16xf32>
// OLD-LABEL: func.func @integers(
// OLD: math.floor
// OLD: math.floor
func.func @integers(%x: vector<16xf16>, %y: vector<16xf32>) -> (vector<16xf16>, vector<16xf32>) {
  %wide = arith.extf %x : vector<16xf16> to vector<16xf32>
  %floor = math.floor %wide : vector<16xf32>
  %half = arith.truncf %floor : vector<16xf32> to vector<16xf16>
  %other = math.floor %y : vector<16xf32>
  return %half, %other : vector<16xf16>, vector<16xf32>
}

// Integers are divided as floats that hold them: f32 for 16 bits, f64 for 32 and, if all lanes are small enough, for 64. What is divided by a
// constant stays: LLVM multiplies for it.
// CHECK-LABEL: func.func @quotients(
// CHECK: %[[QUOTIENT:.+]] = arith.divf %{{.+}} : vector<16xf32>
// CHECK: %[[SHORT:.+]] = arith.fptosi %[[QUOTIENT]] : vector<16xf32> to vector<16xi16>
// CHECK: %[[UNSIGNED:.+]] = arith.divf %{{.+}} : vector<8xf64>
// CHECK: %[[WHOLE:.+]] = arith.fptoui %[[UNSIGNED]] : vector<8xf64> to vector<8xi32>
// CHECK: %[[PRODUCT:.+]] = arith.muli %[[WHOLE]], %{{.+}} : vector<8xi32>
// CHECK: %[[REST:.+]] = arith.subi %{{.+}}, %[[PRODUCT]] : vector<8xi32>
// CHECK: %[[EXACT:.+]] = vector.reduction <and>
// CHECK: %[[LONG:.+]] = scf.if %[[EXACT]]
// CHECK: arith.divf %{{.+}} : vector<8xf64>
// CHECK: } else {
// CHECK-COUNT-8: arith.divsi %{{.+}} : i64
// CHECK: arith.divsi %{{.+}} : vector<16xi16>
// CHECK: return %[[SHORT]], %[[REST]], %[[LONG]]
func.func @quotients(%a: vector<16xi16>, %b: vector<16xi16>, %c: vector<8xi32>, %d: vector<8xi32>, %e: vector<8xi64>, %f: vector<8xi64>)
    -> (vector<16xi16>, vector<8xi32>, vector<8xi64>, vector<16xi16>) {
  %short = arith.divsi %a, %b : vector<16xi16>
  %rest = arith.remui %c, %d : vector<8xi32>
  %long = arith.divsi %e, %f : vector<8xi64>
  %seven = arith.constant dense<7> : vector<16xi16>
  %constant = arith.divsi %a, %seven : vector<16xi16>
  return %short, %rest, %long, %constant : vector<16xi16>, vector<8xi32>, vector<8xi64>, vector<16xi16>
}

// A function of integers that f64 computes where it holds all lanes; a scalar is the runtime's.
// CHECK-LABEL: func.func @divisors(
// CHECK: call @strata_math.gcd.8xi64(
// CHECK: call @strata_math.gcd.i64(
func.func @divisors(%a: vector<8xi64>, %b: vector<8xi64>, %c: i64, %d: i64) -> (vector<8xi64>, i64) {
  %0 = "loop.libm"(%a, %b) {name = "gcd"} : (vector<8xi64>, vector<8xi64>) -> vector<8xi64>
  %1 = "loop.libm"(%c, %d) {name = "gcd"} : (i64, i64) -> i64
  return %0, %1 : vector<8xi64>, i64
}

// Remainders are exact vector code.
// CHECK-LABEL: func.func @remainder_of_division(
// CHECK: call @strata_math.remf.16xf32(
// OLD-LABEL: func.func @remainder_of_division(
// OLD: arith.remf
func.func @remainder_of_division(%x: vector<16xf32>, %y: vector<16xf32>) -> vector<16xf32> {
  %rest = arith.remf %x, %y : vector<16xf32>
  return %rest : vector<16xf32>
}

// In the remainder of a loop a call is enough.
// CHECK-LABEL: func.func @remainder(
// CHECK: call @strata_math.shared.tanh.16xf32(
func.func @remainder(%x: vector<16xf32>) -> vector<16xf32> {
  %tanh = math.tanh %x {strata.rare} : vector<16xf32>
  return %tanh : vector<16xf32>
}

// What has an expansion in f64 only is computed there, and rounded once. Without it it is the C library's, register by register.
// CHECK-LABEL: func.func @double(
// CHECK: call @strata_math.cbrt.20xf32(
func.func @double(%x: vector<20xf32>) -> vector<20xf32> {
  %root = math.cbrt %x : vector<20xf32>
  return %root : vector<20xf32>
}

// CHECK-LABEL: func.func private @strata_math.exp.16xf32(
// CHECK-SAME: passthrough = ["alwaysinline"]
// CHECK-NOT: math.exp
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
// CHECK-NOT: @strata_math.exp.16xf32
// CHECK-LABEL: func.func private @strata_math.shared.tanh.16xf32(
// CHECK-SAME: passthrough = ["noinline"]
// CHECK-LABEL: func.func private @strata_math.cbrt.20xf32(
// CHECK: call @strata_math.cbrt.16xf32(
// CHECK-LABEL: func.func private @strata_math.cbrt.16xf32(
// CHECK: arith.extf %{{.+}} : vector<16xf32> to vector<16xf64>
// CHECK-NOT: _ZGV
// CHECK: arith.truncf %{{.+}} : vector<16xf64> to vector<16xf32>

// Without that instruction 2^n goes into the exponent's bits, which is right for normal numbers. Where a lane's result is none, a call
// makes zeros of the very small ones; what is left then is done by another call, which scales in two steps.
// POWER-LABEL: func.func private @strata_math.exp.8xf32(
// POWER: %[[NEAR:.+]] = arith.bitcast %{{.+}} : vector<8xi32> to vector<8xf32>
// POWER: scf.if
// POWER: %[[FAR:.+]] = {{.*}}call @strata_math.far.exp.8xf32(%{{.+}}, %[[NEAR]])
// POWER: scf.yield %[[FAR]]
// POWER: } else {
// POWER: scf.yield %[[NEAR]]
// POWER-LABEL: func.func private @strata_math.far.exp.8xf32(
// POWER-SAME: passthrough = ["noinline", "cold"]
// POWER: %[[ZEROED:.+]] = arith.select
// POWER: scf.if
// POWER: call @strata_math.far.all.exp.8xf32(
// POWER: } else {
// POWER: scf.yield %[[ZEROED]]
// POWER-LABEL: func.func private @strata_math.far.all.exp.8xf32(
// POWER-SAME: passthrough = ["noinline", "cold"]
// POWER-COUNT-2: arith.mulf

// Without fused multiply-add and 512 bits it is the library's, four lanes at a time.
// OLD-LABEL: func.func private @strata_math.exp.16xf32(
// OLD-COUNT-4: call @_ZGVbN4v_expf(
// OLD-LABEL: func.func private @strata_math.lgamma.8xf32(
// OLD-COUNT-8: call @strata_math_lgamma_f32(
// OLD-LABEL: func.func private @strata_math.cbrt.20xf32(
// OLD-COUNT-5: call @_ZGVbN4v_cbrtf(
