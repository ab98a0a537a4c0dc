// RUN: rs-opt %s --attach-target=cpu=x86-64-v4 --lower-to-llvm | rs-filecheck %s --check-prefixes=CHECK,WIDE
// RUN: rs-opt %s --attach-target=cpu=x86-64-v3 --lower-to-llvm | rs-filecheck %s --check-prefixes=CHECK,NARROW
// RUN: rs-opt %s --attach-target=cpu=neoverse-n1 --lower-to-llvm | rs-filecheck %s --check-prefix=ARM

// An instruction of x86 makes the least integer of all that i32 does not hold, which other targets are told to.
// CHECK-LABEL: llvm.func @convert(
// CHECK: llvm.call_intrinsic "llvm.x86.avx.cvtt.ps2dq.256"(%{{.*}}) : (vector<8xf32>) -> vector<8xi32>
// WIDE: llvm.call_intrinsic "llvm.x86.avx512.mask.cvttps2dq.512"(%{{.*}}) : (vector<16xf32>, vector<16xi32>, i16, i32) -> vector<16xi32>
// NARROW: llvm.fptosi %{{.*}} : vector<16xf32> to vector<16xi32>
// ARM-COUNT-2: llvm.fptosi
func.func @convert(%x: vector<8xf32>, %y: vector<16xf32>) -> (vector<8xi32>, vector<16xi32>) {
  %limit = arith.constant dense<2147483648.0> : vector<8xf32>
  %least = arith.constant dense<-2147483648.0> : vector<8xf32>
  %size = math.absf %x : vector<8xf32>
  %fits = arith.cmpf olt, %size, %limit : vector<8xf32>
  %near = arith.select %fits, %x, %least : vector<8xi1>, vector<8xf32>
  %0 = arith.fptosi %near : vector<8xf32> to vector<8xi32>
  %limits = arith.constant dense<2147483648.0> : vector<16xf32>
  %leasts = arith.constant dense<-2147483648.0> : vector<16xf32>
  %sizes = math.absf %y : vector<16xf32>
  %fit = arith.cmpf olt, %sizes, %limits : vector<16xf32>
  %nears = arith.select %fit, %y, %leasts : vector<16xi1>, vector<16xf32>
  %1 = arith.fptosi %nears : vector<16xf32> to vector<16xi32>
  return %0, %1 : vector<8xi32>, vector<16xi32>
}

// Another number in the place of what does not fit is not what the instruction makes.
// CHECK-LABEL: llvm.func @other(
// CHECK-NOT: call_intrinsic
// CHECK: llvm.fptosi
func.func @other(%x: vector<8xf32>) -> vector<8xi32> {
  %limit = arith.constant dense<2147483648.0> : vector<8xf32>
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %size = math.absf %x : vector<8xf32>
  %fits = arith.cmpf olt, %size, %limit : vector<8xf32>
  %near = arith.select %fits, %x, %zero : vector<8xi1>, vector<8xf32>
  %0 = arith.fptosi %near : vector<8xf32> to vector<8xi32>
  return %0 : vector<8xi32>
}
