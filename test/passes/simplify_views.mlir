// RUN: rs-opt %s --simplify-views | FileCheck %s

// CHECK-LABEL: func.func @transposed_twice(
// CHECK-NEXT: return
func.func @transposed_twice(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = prim.transpose %x {perm = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %1 = prim.transpose %0 {perm = array<i64: 2, 0, 1>} : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  return %1 : tensor<2x3x4xf32>
}

// Nothing moves: a reshape, which is free.
// CHECK-LABEL: func.func @nothing_moves(
// CHECK-NEXT: prim.reshape
// CHECK-NEXT: return
func.func @nothing_moves(%x: tensor<1x3x4xf32>) -> tensor<3x1x4xf32> {
  %0 = prim.transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<1x3x4xf32>) -> tensor<3x1x4xf32>
  return %0 : tensor<3x1x4xf32>
}

// CHECK-LABEL: func.func @kept_dims(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>
// CHECK: %[[N:.*]] = prim.neg %[[X]]
// CHECK: prim.broadcast %[[N]], %{{.*}} {dims = array<i64: 0>}
func.func @kept_dims(%x: tensor<?xf32>) -> tensor<?x8xf32> {
  %n = prim.dim %x {dim = 0 : i64} : (tensor<?xf32>) -> index
  %0 = prim.reshape %x, %n : (tensor<?xf32>, index) -> tensor<?x1xf32>
  %1 = prim.neg %0 : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %2 = prim.broadcast %1, %n {dims = array<i64: 0, 1>} : (tensor<?x1xf32>, index) -> tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

// CHECK-LABEL: func.func @sliced_twice(
// CHECK-NEXT: prim.slice %{{.*}} {offsets = array<i64: 3>, sizes = array<i64: 2>, strides = array<i64: 4>}
// CHECK-NEXT: return
func.func @sliced_twice(%x: tensor<10xf32>) -> tensor<2xf32> {
  %0 = prim.slice %x {offsets = array<i64: 1>, sizes = array<i64: 4>, strides = array<i64: 2>} : (tensor<10xf32>) -> tensor<4xf32>
  %1 = prim.slice %0 {offsets = array<i64: 1>, sizes = array<i64: 2>, strides = array<i64: 2>} : (tensor<4xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: func.func @of_everything(
// CHECK-NEXT: return
func.func @of_everything(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = prim.constant {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0 = prim.slice %x {offsets = array<i64: 0>, sizes = array<i64: 4>, strides = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = prim.pad %0, %c {low = array<i64: 0>, high = array<i64: 0>, interior = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = prim.concat %1 {dim = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = prim.reshape %2 : (tensor<4xf32>) -> tensor<2x2xf32>
  %4 = prim.reshape %3 : (tensor<2x2xf32>) -> tensor<4xf32>
  %5 = prim.broadcast %4 {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return %5 : tensor<4xf32>
}

// Two sizes that may be exchanged: not the same shape.
// CHECK-LABEL: func.func @exchanged(
// CHECK: prim.reshape
func.func @exchanged(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %n = prim.dim %x {dim = 1 : i64} : (tensor<?x?xf32>) -> index
  %m = prim.dim %x {dim = 0 : i64} : (tensor<?x?xf32>) -> index
  %0 = prim.reshape %x, %n, %m : (tensor<?x?xf32>, index, index) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// A sum starts at 0 and gives 0 for -0.
// CHECK-LABEL: func.func @of_one_element(
// CHECK: prim.reduce {{.*}}"sum"
// CHECK-NOT: prim.reduce
// CHECK: return
func.func @of_one_element(%x: tensor<4x1xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = prim.reduce %x {dims = array<i64: 1>, kind = "sum"} : (tensor<4x1xf32>) -> tensor<4xf32>
  %1 = prim.reduce %x {dims = array<i64: 1>, kind = "max"} : (tensor<4x1xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
