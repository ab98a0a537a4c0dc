// One flag asks all passes and patterns why they refuse something.
// RUN: rs-opt %s --simplify-algebra --fuse-elementwise --remarks 2>&1 | FileCheck %s

// CHECK-DAG: remark: {{.*}} does not match:
// CHECK-DAG: remark: 'prim.exp' is not fused into 'prim.broadcast':
func.func @main(%x: tensor<8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = prim.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = prim.broadcast %0 {dims = array<i64: 1>} : (tensor<8xf32>) -> tensor<4x8xf32>
  %2 = prim.add %1, %y : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}
