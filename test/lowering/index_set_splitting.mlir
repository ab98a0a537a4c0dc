// A roll along the last dim: the loop is cut where one operand ends and the other begins. The pieces read one operand, by whole vectors
// that test nothing; what is left over at their ends is masked.
// RUN: rs-compile %s --cpu=x86-64-v3 --emit=mlir --to=cpu -o - | FileCheck %s
// CHECK-LABEL: func.func private @k0(
// CHECK: scf.for %[[ROW:.*]] =
// CHECK-NOT: scf.for
// CHECK: llvm.intr.masked.load
// CHECK: llvm.intr.masked.store
// CHECK: %[[END:.*]] = arith.constant 995 : index
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[END]] step %{{.*}} {
// CHECK-NOT: arith.cmpi
// CHECK-NOT: masked
// CHECK: llvm.load %{{.*}} -> vector<8xf32>
// CHECK-NOT: llvm.load
// CHECK: llvm.store %{{.*}} : vector<8xf32>
// CHECK: }
// CHECK: llvm.intr.masked.load
// CHECK: llvm.intr.masked.store
func.func @main(%x: tensor<400x1000xf32> {capture.kind = "input", capture.name = "x"}) -> (tensor<400x1000xf32> {capture.kind = "output"})
    attributes {capture.entry} {
  %0 = prim.slice %x {offsets = array<i64: 0, 997>, sizes = array<i64: 400, 3>, strides = array<i64: 1, 1>} : (tensor<400x1000xf32>) -> tensor<400x3xf32>
  %1 = prim.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 400, 997>, strides = array<i64: 1, 1>} : (tensor<400x1000xf32>) -> tensor<400x997xf32>
  %2 = prim.concat %0, %1 {dim = 1 : i64} : (tensor<400x3xf32>, tensor<400x997xf32>) -> tensor<400x1000xf32>
  return %2 : tensor<400x1000xf32>
}
