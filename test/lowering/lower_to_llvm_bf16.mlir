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
