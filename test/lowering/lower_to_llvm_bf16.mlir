// A CPU with an instruction for it rounds to bf16 by that, others by arithmetic on the bits.
// RUN: rs-opt %s --attach-target=cpu=znver4 --lower-to-llvm | FileCheck %s --check-prefix=INSTRUCTION
// RUN: rs-opt %s --attach-target=cpu=x86-64-v3 --lower-to-llvm | FileCheck %s --check-prefix=BITS

// INSTRUCTION: llvm.fptrunc %{{.+}} : vector<16xf32> to vector<16xbf16>
// BITS-NOT: bf16
// BITS: llvm.lshr
// BITS-NOT: bf16
func.func @store(%x: vector<16xf32>, %y: !llvm.ptr) {
  %half = arith.truncf %x : vector<16xf32> to vector<16xbf16>
  llvm.store %half, %y {alignment = 2 : i64} : vector<16xbf16>, !llvm.ptr
  return
}

// What no operation can bring out of bf16 is cut off: no carry, no test for NaN.
// BITS-LABEL: llvm.func @exact
// BITS: llvm.intr.floor
// BITS-NOT: llvm.add
// BITS-NOT: llvm.fcmp "uno"
// BITS: llvm.trunc
// BITS-LABEL: llvm.func @rounded
// BITS: llvm.add
// BITS: llvm.fcmp "uno"
func.func @exact(%x: vector<8xbf16>, %y: !llvm.ptr) {
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %wide = arith.extf %x : vector<8xbf16> to vector<8xf32>
  %whole = math.floor %wide : vector<8xf32>
  %positive = arith.cmpf ogt, %whole, %zero : vector<8xf32>
  %chosen = arith.select %positive, %whole, %zero : vector<8xi1>, vector<8xf32>
  %half = arith.truncf %chosen : vector<8xf32> to vector<8xbf16>
  llvm.store %half, %y {alignment = 2 : i64} : vector<8xbf16>, !llvm.ptr
  return
}

// A constant that is no bf16 has to be rounded.
func.func @rounded(%x: vector<8xbf16>, %y: !llvm.ptr) {
  %third = arith.constant dense<0.333333343> : vector<8xf32>
  %wide = arith.extf %x : vector<8xbf16> to vector<8xf32>
  %positive = arith.cmpf ogt, %wide, %third : vector<8xf32>
  %chosen = arith.select %positive, %wide, %third : vector<8xi1>, vector<8xf32>
  %half = arith.truncf %chosen : vector<8xf32> to vector<8xbf16>
  llvm.store %half, %y {alignment = 2 : i64} : vector<8xbf16>, !llvm.ptr
  return
}
