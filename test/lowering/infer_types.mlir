// RUN: rs-opt %s --infer-types | rs-filecheck %s
// RUN: not rs-opt %S/Inputs/infer_types_refused.mlir --infer-types 2>&1 | rs-filecheck %s --check-prefix=REFUSED

// Types of results follow from those of arguments: promotion, sizes, lists, numbers.
// CHECK-LABEL: func.func @promoted
// CHECK-SAME: -> tensor<4x?xf32>
// CHECK: aten.add.Tensor {{.*}} -> tensor<4x?xf16>
// CHECK: aten.mul.Tensor {{.*}} -> tensor<4x?xf32>
func.func @promoted(%x: tensor<4x?xf16>, %y: tensor<?xi64>, %z: tensor<1x1xf32>) -> none {
  %0 = aten.add.Tensor %x, %y : (tensor<4x?xf16>, tensor<?xi64>) -> none
  %1 = aten.mul.Tensor %0, %z : (none, tensor<1x1xf32>) -> none
  return %1 : none
}

// CHECK-LABEL: func.func @lists
// CHECK-SAME: -> tensor<4x3xi64>
// CHECK: aten.split.Tensor {{.*}} -> (tensor<4x3xi1>, tensor<4x2xi1>)
// CHECK: aten.cumsum {{.*}} -> tensor<4x3xi64>
func.func @lists(%x: tensor<4x5xi1>) -> none {
  %0:2 = aten.split.Tensor %x {dim = 1 : i64, split_size = 3 : i64} : (tensor<4x5xi1>) -> (none, tensor<4x2xi1>)
  %1 = aten.cumsum %0#0 {dim = 0 : i64} : (none) -> none
  return %1 : none
}

// CHECK-LABEL: func.func @numbers
// CHECK-SAME: -> (index, tensor<3xf64>)
func.func @numbers(%x: tensor<i32>, %y: tensor<3xf64>) -> (none, none) {
  %0 = aten.item %x : (tensor<i32>) -> none
  %1 = aten.relu_ %y : (tensor<3xf64>) -> none
  return %0, %1 : none, none
}

// REFUSED: error: {{.*}}dimension 2 of a tensor of rank 2
