// Padding is elements from inside beside the tensor, and a write to a slice of what the program made a concatenation: nothing is gathered
// or scattered. A program's input is written to where it is.
// RUN: rs-opt %s --decompose-aten | rs-filecheck %s

// CHECK-LABEL: func.func @reflected(
// CHECK: %[[L:.*]] = prim.reverse %{{.*}} {dims = array<i64: 1>} : tensor<3x2xf32>
// CHECK: %[[H:.*]] = prim.reverse %{{.*}} {dims = array<i64: 1>} : tensor<3x1xf32>
// CHECK: prim.concat %[[L]], %{{.*}}, %[[H]] {dim = 1 : i64}
// CHECK-NOT: prim.gather
func.func @reflected(%x: tensor<3x5xf32>) -> tensor<3x8xf32> {
  %0 = aten.pad %x {pad = array<i64: 2, 1>, mode = "reflect"} : (tensor<3x5xf32>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}

// CHECK-LABEL: func.func @written_to_fresh(
// CHECK: prim.concat
// CHECK-NOT: prim.scatter
func.func @written_to_fresh(%x: tensor<3x5xf32>, %part: tensor<3x2xf32>) -> tensor<3x5xf32> {
  %0 = aten.neg %x : tensor<3x5xf32>
  %1 = aten.slice_scatter %0, %part {dim = 1 : i64, start = 1 : i64, end = 3 : i64} : (tensor<3x5xf32>, tensor<3x2xf32>) -> tensor<3x5xf32>
  return %1 : tensor<3x5xf32>
}

// CHECK-LABEL: func.func @written_to_an_input(
// CHECK: prim.scatter
// CHECK-NOT: prim.concat
func.func @written_to_an_input(%x: tensor<3x5xf32>, %part: tensor<3x2xf32>) -> tensor<3x5xf32> {
  %0 = aten.slice_scatter %x, %part {dim = 1 : i64, start = 1 : i64, end = 3 : i64} : (tensor<3x5xf32>, tensor<3x2xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// CHECK-LABEL: func.func @hash(
// CHECK: prim.reduce %{{.*}} {dims = array<i64: 0, 1>, kind = "xor"}
func.func @hash(%x: tensor<3x5xi64>) -> tensor<ui64> {
  %0 = aten.hash_tensor %x : (tensor<3x5xi64>) -> tensor<ui64>
  return %0 : tensor<ui64>
}
