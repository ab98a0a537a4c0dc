// RUN: rs-opt %s "--pass-pipeline=builtin.module(func.func(narrow-dots))" | rs-filecheck %s
// RUN: rs-opt %s "--pass-pipeline=builtin.module(func.func(narrow-dots{remarks}))" -o /dev/null 2>&1 | rs-filecheck %s --check-prefix=WHY
// WHY: remark: 'dot-of-halves' does not match: one operand is bf16, the other f16 [narrow-dots]

// The weight's conversion stays for its other use.
// CHECK-LABEL: func.func @halves
// CHECK: %[[W:.*]] = prim.convert %arg1
// CHECK: prim.dot %arg0, %arg1 {{.*}} (tensor<4x8xbf16>, tensor<16x8xbf16>) -> tensor<4x16xf32>
// CHECK: return %{{.*}}, %[[W]]
func.func @halves(%x: tensor<4x8xbf16>, %w: tensor<16x8xbf16>) -> (tensor<4x16xf32>, tensor<16x8xf32>) {
  %0 = prim.convert %x : (tensor<4x8xbf16>) -> tensor<4x8xf32>
  %1 = prim.convert %w : (tensor<16x8xbf16>) -> tensor<16x8xf32>
  %2 = prim.dot %0, %1 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  return %2, %1 : tensor<4x16xf32>, tensor<16x8xf32>
}

// One conversion is both operands.
// CHECK-LABEL: func.func @square
// CHECK-NEXT: prim.dot %arg0, %arg0
func.func @square(%x: tensor<4x8xf16>) -> tensor<4x4xf32> {
  %0 = prim.convert %x : (tensor<4x8xf16>) -> tensor<4x8xf32>
  %1 = prim.dot %0, %0 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// Halves of two kinds, an operand that was f32 before, and a product in f64 stay.
// CHECK-LABEL: func.func @others
// CHECK: prim.dot {{.*}} (tensor<4x8xf32>, tensor<16x8xf32>)
// CHECK: prim.dot {{.*}} (tensor<4x8xf32>, tensor<16x8xf32>)
// CHECK: prim.dot {{.*}} (tensor<4x8xf64>, tensor<16x8xf64>)
func.func @others(%x: tensor<4x8xbf16>, %w: tensor<16x8xf16>, %y: tensor<4x8xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf64>) {
  %0 = prim.convert %x : (tensor<4x8xbf16>) -> tensor<4x8xf32>
  %1 = prim.convert %w : (tensor<16x8xf16>) -> tensor<16x8xf32>
  %2 = prim.dot %0, %1 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  %3 = prim.dot %y, %1 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  %4 = prim.convert %x : (tensor<4x8xbf16>) -> tensor<4x8xf64>
  %5 = prim.convert %w : (tensor<16x8xf16>) -> tensor<16x8xf64>
  %6 = prim.dot %4, %5 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<4x8xf64>, tensor<16x8xf64>) -> tensor<4x16xf64>
  return %2, %3, %6 : tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf64>
}

// Heads that are brought together after attention stand between the conversion and the product.
// CHECK-LABEL: func.func @viewed(
// CHECK: %[[T:.*]] = prim.transpose %arg0 {perm = array<i64: 1, 0, 2>} : (tensor<2x4x8xbf16>) -> tensor<4x2x8xbf16>
// CHECK-NEXT: %[[X:.*]] = prim.reshape %[[T]] : (tensor<4x2x8xbf16>) -> tensor<4x16xbf16>
// CHECK-NEXT: prim.dot %[[X]], %arg1 {{.*}} : (tensor<4x16xbf16>, tensor<16x16xbf16>) -> tensor<4x16xf32>
func.func @viewed(%x: tensor<2x4x8xbf16>, %w: tensor<16x16xbf16>) -> tensor<4x16xf32> {
  %0 = prim.convert %x : (tensor<2x4x8xbf16>) -> tensor<2x4x8xf32>
  %1 = prim.transpose %0 {perm = array<i64: 1, 0, 2>} : (tensor<2x4x8xf32>) -> tensor<4x2x8xf32>
  %2 = prim.reshape %1 : (tensor<4x2x8xf32>) -> tensor<4x16xf32>
  %3 = prim.convert %w : (tensor<16x16xbf16>) -> tensor<16x16xf32>
  %4 = prim.dot %2, %3 {lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 1>} : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  return %4 : tensor<4x16xf32>
}
