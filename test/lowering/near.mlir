// Lanes that read near each other are loads of one register or two and a permutation of their lanes, if they are: each vector finds out.
// RUN: rs-compile %s --cpu=x86-64-v4 --emit=mlir --to=cpu -o - | FileCheck %s
// RUN: rs-compile %s --cpu=x86-64-v3 --emit=mlir --to=cpu -o - | rs-filecheck %s --check-prefix=AVX2
// RUN: rs-compile %s --cpu=neoverse-v1 --emit=mlir --to=cpu -o - | rs-filecheck %s --check-prefix=ARM
// RUN: rs-compile %s --cpu=x86-64-v2 -o %t.strata
// RUN: rs-run %s > %t.vectors && rs-run %s --skip schedule-cpu > %t.plain && diff %t.vectors %t.plain

// Indices of single elements are taken to be in no order.
// CHECK-LABEL: func.func private @k3(
// CHECK-NOT: call_intrinsic
// CHECK: llvm.intr.masked.gather
// CHECK-NOT: call_intrinsic

// Indices that rows share may be near each other.
// CHECK-LABEL: func.func private @k2(
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.hi.512"

// Nearest neighbours: indices that the body computes, and are known to be inside.
// CHECK-LABEL: func.func private @k0(
// CHECK: %[[OFFSETS:.*]] = arith.subi %{{.*}}, %{{.*}} : vector<16xindex>
// CHECK: arith.cmpi ult, %[[OFFSETS]], %{{.*}} : vector<16xindex>
// CHECK: %[[NEAR:.*]] = vector.reduction <and>
// CHECK: %[[FITS:.*]] = arith.cmpi ult, %{{.*}} : index
// CHECK: %[[BOTH:.*]] = arith.andi %[[NEAR]], %[[FITS]]
// CHECK: scf.if %[[BOTH]]
// CHECK: llvm.load %{{.*}} -> vector<16xi32>
// CHECK: llvm.load %{{.*}} -> vector<16xi32>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.d.512"
// CHECK: } else {
// CHECK: llvm.intr.masked.gather
// AVX2: llvm.call_intrinsic "llvm.x86.avx2.permd"
// ARM-NOT: call_intrinsic
func.func @main(%x: tensor<3x5x21xf32> {capture.kind = "input", capture.name = "x"},
                %h: tensor<6x49xi16> {capture.kind = "input", capture.name = "h"},
                %k: tensor<70xi64> {capture.kind = "input", capture.name = "k"},
                %l: tensor<9x70xi64> {capture.kind = "input", capture.name = "l"})
    -> (tensor<3x5x83xf32> {capture.kind = "output"}, tensor<6x70xi16> {capture.kind = "output"}, tensor<9x70xi16> {capture.kind = "output"})
    attributes {capture.entry} {
  %0 = aten.upsample_nearest1d %x {output_size = array<i64: 83>} : (tensor<3x5x21xf32>) -> tensor<3x5x83xf32>
  %i = aten.remainder.Scalar %k {other = 49 : i64} : tensor<70xi64>
  %j = aten.remainder.Scalar %l {other = 294 : i64} : tensor<9x70xi64>
  %1 = aten.index_select %h, %i {dim = 1 : i64} : (tensor<6x49xi16>, tensor<70xi64>) -> tensor<6x70xi16>
  %2 = aten.take %h, %j : (tensor<6x49xi16>, tensor<9x70xi64>) -> tensor<9x70xi16>
  return %0, %1, %2 : tensor<3x5x83xf32>, tensor<6x70xi16>, tensor<9x70xi16>
}
