// A row of lanes that are all off is read at the beginning of its tensor: an address that nothing is mapped at takes long, although nothing is read.
// RUN: rs-compile %s --cpu=x86-64-v4 --emit=mlir --to=cpu -o - | FileCheck %s
// CHECK: %[[ANY:.*]] = vector.reduction <or>
// CHECK: %[[AT:.*]] = arith.select %[[ANY]], %{{.*}}, %{{.*}} : index
// CHECK: llvm.intr.masked.load
func.func @main(%x: tensor<1000xf32> {capture.kind = "input", capture.name = "x"}) -> (tensor<3x700xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %zero = prim.constant {value = dense<0.0> : tensor<f32>} : tensor<f32>
  %0 = prim.pad %x, %zero {high = array<i64: 1100>, interior = array<i64: 0>, low = array<i64: 0>} : (tensor<1000xf32>, tensor<f32>) -> tensor<2100xf32>
  %1 = prim.reshape %0 : (tensor<2100xf32>) -> tensor<3x700xf32>
  %2 = prim.neg %1 : tensor<3x700xf32>
  return %2 : tensor<3x700xf32>
}
