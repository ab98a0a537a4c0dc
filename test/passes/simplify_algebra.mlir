// RUN: rs-opt %s --simplify-algebra | FileCheck %s
// RUN: rs-opt %s --simplify-algebra="numerics=fast" | FileCheck %s --check-prefix=FAST

// CHECK-LABEL: func.func @times_one(
// CHECK-NEXT: return %{{.*}}
func.func @times_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = prim.constant {value = dense<1.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %0 = prim.mul %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -0.0 + 0.0 is 0.0, so this is no identity unless the sign of a zero does not matter.
// CHECK-LABEL: func.func @plus_zero(
// CHECK: prim.add
// FAST-LABEL: func.func @plus_zero(
// FAST-NEXT: return
func.func @plus_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = prim.constant {value = dense<0.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %0 = prim.add %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @plus_zero_integer(
// CHECK-NEXT: return
func.func @plus_zero_integer(%x: tensor<4xi32>) -> tensor<4xi32> {
  %c = prim.constant {value = dense<0> : tensor<4xi32>} : () -> tensor<4xi32>
  %0 = prim.add %c, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// CHECK-LABEL: func.func @times_zero(
// CHECK: prim.mul
func.func @times_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = prim.constant {value = dense<0.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %0 = prim.mul %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @over_a_power_of_two(
// CHECK: prim.constant {value = dense<1.250000e-01> : tensor<f32>}
// CHECK: prim.mul
func.func @over_a_power_of_two(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = prim.constant {value = dense<8.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %0 = prim.div %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @over_three(
// CHECK: prim.div
func.func @over_three(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = prim.constant {value = dense<3.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %0 = prim.div %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @chosen(
// CHECK-SAME: %[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>
// CHECK-NEXT: return %[[B]], %[[A]]
func.func @chosen(%a: tensor<4xf32>, %b: tensor<4xf32>, %p: tensor<4xi1>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c = prim.constant {value = dense<false> : tensor<4xi1>} : () -> tensor<4xi1>
  %0 = prim.select %c, %a, %b : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = prim.select %p, %a, %a : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// A sum of no products is zero.
// CHECK-LABEL: func.func @dot_of_nothing(
// CHECK-NEXT: %[[ZERO:.*]] = prim.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[ALL:.*]] = prim.broadcast %[[ZERO]] {dims = array<i64>} : (tensor<f32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[ALL]]
func.func @dot_of_nothing(%x: tensor<3x0xf32>, %y: tensor<0x4xf32>) -> tensor<3x4xf32> {
  %0 = prim.dot %x, %y {lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>} : (tensor<3x0xf32>, tensor<0x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}
