// Windows that are added back to an image: neighbours are shifted and added, one dimension after the other. Where more than 16 reach one
// element, they are rows of a sum.
// RUN: rs-opt %s --decompose-aten | rs-filecheck %s

// One block: the windows lie beside each other.
// CHECK-LABEL: func.func @beside(
// CHECK-NOT: prim.scatter
// CHECK-NOT: prim.add
func.func @beside(%x: tensor<1x8x6xf32>) -> tensor<1x2x4x6xf32> {
  %0 = aten.col2im %x {output_size = array<i64: 4, 6>, kernel_size = array<i64: 2, 2>, dilation = array<i64: 1, 1>, padding = array<i64: 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x8x6xf32>) -> tensor<1x2x4x6xf32>
  return %0 : tensor<1x2x4x6xf32>
}

// Three shifts along each dimension.
// CHECK-LABEL: func.func @overlapping(
// CHECK-NOT: prim.scatter
// CHECK-COUNT-4: prim.add
// CHECK-NOT: prim.add
func.func @overlapping(%x: tensor<1x18x24xf32>) -> tensor<1x2x4x6xf32> {
  %0 = aten.col2im %x {output_size = array<i64: 4, 6>, kernel_size = array<i64: 3, 3>, dilation = array<i64: 1, 1>, padding = array<i64: 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x18x24xf32>) -> tensor<1x2x4x6xf32>
  return %0 : tensor<1x2x4x6xf32>
}

// CHECK-LABEL: func.func @many(
// CHECK-NOT: prim.add
// CHECK: prim.reduce {{.*}}kind = "sum"
// CHECK-NOT: prim.add
func.func @many(%x: tensor<1x34x24xf32>) -> tensor<1x2x4x22xf32> {
  %0 = aten.col2im %x {output_size = array<i64: 4, 22>, kernel_size = array<i64: 1, 17>, dilation = array<i64: 1, 1>, padding = array<i64: 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x34x24xf32>) -> tensor<1x2x4x22xf32>
  return %0 : tensor<1x2x4x22xf32>
}
