// RUN: rs-opt %s --decompose-aten=keep=aten.linear | rs-filecheck %s

// An operator that is to be kept stays beside the others' decompositions.

// CHECK-LABEL: func.func @linear(
// CHECK: %[[Y:.*]] = aten.linear %arg0, %arg1
// CHECK: prim.maximum %[[Y]]
func.func @linear(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>) -> tensor<2x4xf32> {
  %0 = aten.linear %x, %w {segments = array<i64: 1, 1, 0>} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  %1 = aten.relu %0 : tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
