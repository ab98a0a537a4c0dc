// RUN: rs-compile --cpu=neoverse-n1 --emit=asm %s -o %t.s
// RUN: FileCheck %s --input-file=%t.s --implicit-check-not=_ZGV
// RUN: rs-compile --cpu=neoverse-v1 %s -o %t.strata
// RUN: rs-compile --cpu=neoverse-n1 --emit=so %s -o %t.so
// RUN: llvm-readelf -h -l -r %t.so | FileCheck %s --check-prefix=SO
// RUN: rs-compile --cpu=neoverse-n1 %s -o %t.strata
// REQUIRES: x86_64
// RUN: not rs-run %t.strata 2>&1 | FileCheck %s --check-prefix=OTHER

// Code for Arm: 32 registers of four floats, products with one lane of a register, the larger number in one instruction. A CPU with
// vectors of any length (SVE) takes the same kernels. Nothing calls the vector library of x86-64.

// A row of the product's block: each vector of the second operand is used for twelve rows, and what is written is asked for on the way.
// CHECK: fmax v{{[0-9]+}}.4s
// CHECK: prfm pstl1keep
// CHECK-COUNT-24: fmla v{{[0-9]+}}.4s, v{{[0-9]+}}.4s, v{{[0-9]+}}.s[0]
func.func @main(%a: tensor<480x64xf32>, %b: tensor<64x480xf32>) -> (tensor<480x480xf32>, tensor<480x64xf32>) {
  %product = aten.mm %a, %b : (tensor<480x64xf32>, tensor<64x480xf32>) -> tensor<480x480xf32>
  %positive = aten.relu %product : (tensor<480x480xf32>) -> tensor<480x480xf32>
  %area = aten.acosh %a : (tensor<480x64xf32>) -> tensor<480x64xf32>
  return %positive, %area : tensor<480x480xf32>, tensor<480x64xf32>
}

// Systems of this architecture may have pages of 64 KB.
// SO: Machine: AArch64
// SO: LOAD {{.*}} 0x10000
// SO: R_AARCH64_RELATIVE
// SO: R_AARCH64_GLOB_DAT

// OTHER: the program was compiled for aarch64, this machine is x86_64; compile it here
