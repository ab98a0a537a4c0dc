// A stack along a short last dim: lanes run along the dim before it, and a row's elements are interleaved in registers. No element is
// stored alone but those behind the last whole vector.
// RUN: rs-compile %s --cpu=x86-64-v3 --emit=mlir --to=cpu -o - | FileCheck %s
// CHECK-LABEL: func.func private @k0(
// CHECK: scf.for
// CHECK: %[[A:.*]] = llvm.load %{{.*}} -> vector<8xf32>
// CHECK: %[[B:.*]] = llvm.load %{{.*}} -> vector<8xf32>
// CHECK-NOT: scatter
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 8, 1, 9, 2, 10, 3, 11]
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [4, 12, 5, 13, 6, 14, 7, 15]
// CHECK: llvm.store %{{.*}} : vector<8xf32>
// CHECK: llvm.store %{{.*}} : vector<8xf32>
// CHECK: }
func.func @main(%x: tensor<1003xf32> {capture.kind = "input", capture.name = "x"}, %y: tensor<1003xf32> {capture.kind = "input", capture.name = "y"})
    -> (tensor<1003x2xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.stack %x, %y {dim = -1 : i64, segments = array<i64: 2>} : (tensor<1003xf32>, tensor<1003xf32>) -> tensor<1003x2xf32>
  return %0 : tensor<1003x2xf32>
}
