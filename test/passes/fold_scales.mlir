// RUN: rs-opt %s --fold-scales --cse --split-input-file | FileCheck %s
// RUN: rs-opt %s --fold-scales=numerics=strict --split-input-file | FileCheck %s --check-prefix=STRICT
// RUN: rs-opt %s --check-semantics --fold-scales --split-input-file | FileCheck %s --check-prefix=SAME
// RUN: rs-opt %s --fold-scales=remarks --split-input-file -o /dev/null 2>&1 | rs-filecheck %s --check-prefix=WHY
// WHY: remark: what reads it scales no feature by a weight [fold-scales]

// A batch normalisation becomes one addition, also when the size of the batch is not known.
// CHECK-LABEL: func.func @main(
// CHECK-DAG: %[[NEG:.*]] = prim.neg %arg2
// CHECK-DAG: %[[SHIFTED:.*]] = prim.mul %[[NEG]], %arg3
// CHECK-DAG: %[[SHIFT:.*]] = prim.add %[[SHIFTED]], %arg4
// CHECK-DAG: %[[SCALE:.*]] = prim.broadcast %arg3 {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x3x1x1xf32>
// CHECK-DAG: %[[W:.*]] = prim.mul %arg1, %[[SCALE]]
// CHECK: %[[CONV:.*]] = prim.conv %arg0, %[[W]]
// CHECK-NEXT: %[[T:.*]] = prim.broadcast %[[SHIFT]], %{{.*}} {dims = array<i64: 1>}
// CHECK-NEXT: %[[Y:.*]] = prim.add %[[CONV]], %[[T]]
// CHECK-NEXT: return %[[Y]]
// STRICT-LABEL: func.func @main(
// STRICT: prim.conv
// STRICT-NEXT: prim.dim
// STRICT-NEXT: prim.broadcast
// STRICT-NEXT: prim.sub
// SAME: checked 1 of 1 passes
func.func @main(%x: tensor<?x3x5x5xf32> {capture.kind = "input", capture.name = "x"},
                %w: tensor<4x3x1x1xf32> {capture.kind = "parameter", capture.name = "w"},
                %mean: tensor<4xf32> {capture.kind = "buffer", capture.name = "mean"},
                %scale: tensor<4xf32> {capture.kind = "parameter", capture.name = "scale"},
                %bias: tensor<4xf32> {capture.kind = "parameter", capture.name = "bias"})
    -> (tensor<?x4x5x5xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x3x5x5xf32>, tensor<4x3x1x1xf32>) -> tensor<?x4x5x5xf32>
  %n = prim.dim %x {dim = 0 : i64} : (tensor<?x3x5x5xf32>) -> index
  %1 = prim.broadcast %mean, %n {dims = array<i64: 1>} : (tensor<4xf32>, index) -> tensor<?x4x5x5xf32>
  %2 = prim.sub %0, %1 : (tensor<?x4x5x5xf32>, tensor<?x4x5x5xf32>) -> tensor<?x4x5x5xf32>
  %3 = prim.broadcast %scale, %n {dims = array<i64: 1>} : (tensor<4xf32>, index) -> tensor<?x4x5x5xf32>
  %4 = prim.mul %2, %3 : (tensor<?x4x5x5xf32>, tensor<?x4x5x5xf32>) -> tensor<?x4x5x5xf32>
  %5 = prim.broadcast %bias, %n {dims = array<i64: 1>} : (tensor<4xf32>, index) -> tensor<?x4x5x5xf32>
  %6 = prim.add %4, %5 : (tensor<?x4x5x5xf32>, tensor<?x4x5x5xf32>) -> tensor<?x4x5x5xf32>
  return %6 : tensor<?x4x5x5xf32>
}

// -----

// The weight of a dot may stand on either side; a factor of another shape is repeated to one number per feature.
// CHECK-LABEL: func.func @main(
// CHECK-DAG: %[[R:.*]] = prim.reshape %arg2 : (tensor<6x1xf32>) -> tensor<6xf32>
// CHECK-DAG: %[[B:.*]] = prim.broadcast %[[R]] {dims = array<i64: 0>} : (tensor<6xf32>) -> tensor<6x3xf32>
// CHECK-DAG: %[[W:.*]] = prim.mul %arg1, %[[B]]
// CHECK: %[[Y:.*]] = prim.dot %[[W]], %arg0
// CHECK-NEXT: return %[[Y]]
// SAME: checked 1 of 1 passes
func.func @main(%x: tensor<2x3xf32> {capture.kind = "input", capture.name = "x"},
                %w: tensor<6x3xf32> {capture.kind = "parameter", capture.name = "w"},
                %s: tensor<6x1xf32> {capture.kind = "parameter", capture.name = "s"})
    -> (tensor<6x2xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.dot %w, %x {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<6x3xf32>, tensor<2x3xf32>) -> tensor<6x2xf32>
  %1 = prim.broadcast %s {dims = array<i64: 0, 1>} : (tensor<6x1xf32>) -> tensor<6x2xf32>
  %2 = prim.mul %1, %0 : (tensor<6x2xf32>, tensor<6x2xf32>) -> tensor<6x2xf32>
  return %2 : tensor<6x2xf32>
}

// -----

// Left alone: a factor along another dimension, a result with two readers, one number for all features, a half, an input as factor.
// CHECK-LABEL: func.func @main(
// CHECK-NOT: prim.mul %arg2
// CHECK-NOT: prim.mul %arg3
// CHECK: return
// SAME: checked 1 of 1 passes
func.func @main(%x: tensor<4x3xf32> {capture.kind = "input", capture.name = "x"},
                %h: tensor<4x3xf16> {capture.kind = "input", capture.name = "h"},
                %w: tensor<3x4xf32> {capture.kind = "parameter", capture.name = "w"},
                %wh: tensor<3x4xf16> {capture.kind = "parameter", capture.name = "wh"},
                %s: tensor<4xf32> {capture.kind = "parameter", capture.name = "s"},
                %sh: tensor<4xf16> {capture.kind = "parameter", capture.name = "sh"},
                %y: tensor<4xf32> {capture.kind = "input", capture.name = "y"})
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf16>, tensor<4x4xf32>) attributes {capture.entry} {
  %rows = prim.broadcast %s {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x4xf32>
  %columns = prim.broadcast %s {dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<4x4xf32>
  %halves = prim.broadcast %sh {dims = array<i64: 1>} : (tensor<4xf16>) -> tensor<4x4xf16>
  %two = prim.constant {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %twos = prim.broadcast %two {dims = array<i64>} : (tensor<f32>) -> tensor<4x4xf32>
  %inputs = prim.broadcast %y {dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<4x4xf32>
  %0 = prim.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x3xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>
  %a = prim.mul %0, %rows : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = prim.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x3xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>
  %b = prim.mul %1, %columns : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = prim.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x3xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>
  %c = prim.mul %2, %twos : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = prim.dot %h, %wh {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x3xf16>, tensor<3x4xf16>) -> tensor<4x4xf16>
  %d = prim.mul %3, %halves : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  %4 = prim.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x3xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>
  %e = prim.mul %4, %inputs : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %a, %1, %b, %c, %d, %e : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf16>, tensor<4x4xf32>
}
