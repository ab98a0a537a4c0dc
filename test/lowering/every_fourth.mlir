// Every fourth element is read by two vectors and a shuffle; the second vector ends with the last element that is wanted.
// RUN: rs-compile %s --cpu=x86-64-v3 --emit=mlir --to=cpu -o - | FileCheck %s
// RUN: rs-run %s > %t.vectors && rs-run %s --skip schedule-cpu > %t.plain && diff %t.vectors %t.plain
// CHECK-LABEL: func.func private @k0(
// CHECK: scf.for
// CHECK-COUNT-2: llvm.load %{{.*}} -> vector<16xf32>
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 4, 8, 12, 19, 23, 27, 31]
// CHECK: llvm.store %{{.*}} : vector<8xf32>
func.func @main(%x: tensor<4009xf32> {capture.kind = "input", capture.name = "x"}) -> (tensor<1003xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.slice %x {offsets = array<i64: 0>, sizes = array<i64: 1003>, strides = array<i64: 4>} : (tensor<4009xf32>) -> tensor<1003xf32>
  %1 = prim.neg %0 : tensor<1003xf32>
  return %1 : tensor<1003xf32>
}
