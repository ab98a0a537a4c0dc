// RUN: rs-opt %s --simplify-sums | FileCheck %s
// RUN: rs-opt %s --simplify-sums="numerics=strict" | FileCheck %s --check-prefix=STRICT
// RUN: rs-opt %s --simplify-sums="numerics=fast" | FileCheck %s --check-prefix=FAST

// CHECK-LABEL: func.func @outer_product(
// CHECK-NEXT: %[[X:.*]] = prim.reduce %arg0 {dims = array<i64: 1>, kind = "sum"} : (tensor<5x4xf32>) -> tensor<5xf32>
// CHECK-NEXT: %[[Y:.*]] = prim.reduce %arg1 {dims = array<i64: 1>, kind = "sum"} : (tensor<5x8xf32>) -> tensor<5xf32>
// CHECK-NEXT: %[[P:.*]] = prim.mul %[[X]], %[[Y]] : tensor<5xf32>
// CHECK-NEXT: return %[[P]]
// STRICT-LABEL: func.func @outer_product(
// STRICT: prim.reduce {{.*}} : (tensor<5x4x8xf32>) -> tensor<5xf32>
func.func @outer_product(%x: tensor<5x4xf32>, %y: tensor<5x8xf32>) -> tensor<5xf32> {
  %0 = prim.broadcast %x {dims = array<i64: 0, 1>} : (tensor<5x4xf32>) -> tensor<5x4x8xf32>
  %1 = prim.broadcast %y {dims = array<i64: 0, 2>} : (tensor<5x8xf32>) -> tensor<5x4x8xf32>
  %2 = prim.mul %0, %1 : (tensor<5x4x8xf32>, tensor<5x4x8xf32>) -> tensor<5x4x8xf32>
  %3 = prim.reduce %2 {dims = array<i64: 1, 2>, kind = "sum"} : (tensor<5x4x8xf32>) -> tensor<5xf32>
  return %3 : tensor<5xf32>
}

// Integers wrap, so their sums may be factored in every mode.
// STRICT-LABEL: func.func @outer_product_of_integers(
// STRICT-NEXT: prim.reduce
// STRICT-NEXT: prim.reduce
// STRICT-NEXT: prim.mul {{.*}} : tensor<i64>
func.func @outer_product_of_integers(%x: tensor<4xi64>, %y: tensor<8xi64>) -> tensor<i64> {
  %0 = prim.broadcast %x {dims = array<i64: 0>} : (tensor<4xi64>) -> tensor<4x8xi64>
  %1 = prim.broadcast %y {dims = array<i64: 1>} : (tensor<8xi64>) -> tensor<4x8xi64>
  %2 = prim.mul %0, %1 : (tensor<4x8xi64>, tensor<4x8xi64>) -> tensor<4x8xi64>
  %3 = prim.reduce %2 {dims = array<i64: 0, 1>, kind = "sum"} : (tensor<4x8xi64>) -> tensor<i64>
  return %3 : tensor<i64>
}

// Halves are summed in f32 and rounded once.
// CHECK-LABEL: func.func @outer_product_of_halves(
// CHECK: prim.reduce {{.*}} : (tensor<4x8xf16>) -> tensor<f16>
func.func @outer_product_of_halves(%x: tensor<4xf16>, %y: tensor<8xf16>) -> tensor<f16> {
  %0 = prim.broadcast %x {dims = array<i64: 0>} : (tensor<4xf16>) -> tensor<4x8xf16>
  %1 = prim.broadcast %y {dims = array<i64: 1>} : (tensor<8xf16>) -> tensor<4x8xf16>
  %2 = prim.mul %0, %1 : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  %3 = prim.reduce %2 {dims = array<i64: 0, 1>, kind = "sum"} : (tensor<4x8xf16>) -> tensor<f16>
  return %3 : tensor<f16>
}

// CHECK-LABEL: func.func @invariant_factor(
// CHECK-NEXT: %[[S:.*]] = prim.reduce %arg0 {dims = array<i64: 1>, kind = "sum"} : (tensor<?x8xf32>) -> tensor<?xf32>
// CHECK-NEXT: prim.mul %[[S]], %arg1 : tensor<?xf32>
func.func @invariant_factor(%x: tensor<?x8xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %n = prim.dim %x {dim = 0 : i64} : (tensor<?x8xf32>) -> index
  %m = prim.dim %y {dim = 0 : i64} : (tensor<?xf32>) -> index
  %0 = prim.broadcast %y, %m {dims = array<i64: 0>} : (tensor<?xf32>, index) -> tensor<?x8xf32>
  %1 = prim.mul %x, %0 : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %2 = prim.reduce %1 {dims = array<i64: 1>, kind = "sum"} : (tensor<?x8xf32>) -> tensor<?xf32>
  return %2 : tensor<?xf32>
}

// The norm of a row that was scaled so that its squares stay in range: without the scale they may not.
// CHECK-LABEL: func.func @scaled_squares(
// CHECK: %[[Y:.*]] = prim.mul
// CHECK: %[[Q:.*]] = prim.mul %[[Y]], %[[Y]]
// CHECK: prim.reduce %[[Q]]
// FAST-LABEL: func.func @scaled_squares(
// FAST: %[[Q:.*]] = prim.mul %arg0, %arg0
// FAST: prim.reduce %[[Q]]
func.func @scaled_squares(%x: tensor<4x8xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %0 = prim.broadcast %s {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>
  %1 = prim.mul %x, %0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = prim.mul %1, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = prim.reduce %2 {dims = array<i64: 1>, kind = "sum"} : (tensor<4x8xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// CHECK-LABEL: func.func @repeated(
// CHECK-NEXT: %[[C:.*]] = prim.constant {value = dense<8.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[B:.*]] = prim.broadcast %[[C]]
// CHECK-NEXT: prim.mul %arg0, %[[B]] : tensor<4xf32>
func.func @repeated(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = prim.broadcast %x {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>
  %1 = prim.reduce %0 {dims = array<i64: 1>, kind = "sum"} : (tensor<4x8xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @largest_of_repeated(
// CHECK-NEXT: prim.reduce %arg0 {dims = array<i64: 0>, kind = "max"} : (tensor<4xf32>) -> tensor<f32>
func.func @largest_of_repeated(%x: tensor<4xf32>) -> tensor<f32> {
  %0 = prim.broadcast %x {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>
  %1 = prim.reduce %0 {dims = array<i64: 0, 1>, kind = "max"} : (tensor<4x8xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// Terms may cancel, and then no bound holds.
// CHECK-LABEL: func.func @terms(
// CHECK: prim.add {{.*}} : tensor<4x8xf32>
// FAST-LABEL: func.func @terms(
// FAST-NOT: tensor<4x8xf32>
// FAST: return
func.func @terms(%x: tensor<4xf32>, %y: tensor<8xf32>) -> tensor<f32> {
  %0 = prim.broadcast %x {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>
  %1 = prim.broadcast %y {dims = array<i64: 1>} : (tensor<8xf32>) -> tensor<4x8xf32>
  %2 = prim.add %0, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = prim.reduce %2 {dims = array<i64: 0, 1>, kind = "sum"} : (tensor<4x8xf32>) -> tensor<f32>
  return %3 : tensor<f32>
}

// CHECK-LABEL: func.func @product_of_matrices(
// CHECK-NEXT: %[[D:.*]] = prim.dot %arg0, %arg1 {lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>}
// CHECK-NEXT: return %[[D]]
func.func @product_of_matrices(%x: tensor<4x32xf32>, %y: tensor<32x8xf32>) -> tensor<4x8xf32> {
  %0 = prim.broadcast %x {dims = array<i64: 0, 1>} : (tensor<4x32xf32>) -> tensor<4x32x8xf32>
  %1 = prim.broadcast %y {dims = array<i64: 1, 2>} : (tensor<32x8xf32>) -> tensor<4x32x8xf32>
  %2 = prim.mul %0, %1 : (tensor<4x32x8xf32>, tensor<4x32x8xf32>) -> tensor<4x32x8xf32>
  %3 = prim.reduce %2 {dims = array<i64: 1>, kind = "sum"} : (tensor<4x32x8xf32>) -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @sum_of_product_of_matrices(
// CHECK-NEXT: %[[Y:.*]] = prim.reduce %arg1 {dims = array<i64: 1>, kind = "sum"} : (tensor<32x8xf32>) -> tensor<32xf32>
// CHECK-NEXT: prim.dot %arg0, %[[Y]] {{.*}} -> tensor<4xf32>
func.func @sum_of_product_of_matrices(%x: tensor<4x32xf32>, %y: tensor<32x8xf32>) -> tensor<4xf32> {
  %0 = prim.dot %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x32xf32>, tensor<32x8xf32>) -> tensor<4x8xf32>
  %1 = prim.reduce %0 {dims = array<i64: 1>, kind = "sum"} : (tensor<4x8xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Small dots that are summed are one, over all that they contract; what else is summed comes after. Strict numerics keep the order.
// CHECK-LABEL: func.func @dots(
// CHECK: %[[L:.*]] = prim.concat %arg0, %arg0, %arg0, %arg0 {dim = 0 : i64} : {{.*}} -> tensor<8x8xf32>
// CHECK: %[[R:.*]] = prim.concat %arg1, %arg1, %arg1, %arg1 {dim = 0 : i64} : {{.*}} -> tensor<8x8xf32>
// CHECK: %[[D:.*]] = prim.dot %[[L]], %[[R]] {{.*}} : tensor<8x8xf32>
// CHECK-NEXT: %[[S:.*]] = prim.add %[[D]], %arg2
// CHECK-NEXT: return %[[S]]
// STRICT-LABEL: func.func @dots(
// STRICT-COUNT-4: prim.dot
func.func @dots(%x: tensor<2x8xf32>, %y: tensor<2x8xf32>, %z: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = prim.dot %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<8x8xf32>
  %1 = prim.dot %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<8x8xf32>
  %2 = prim.add %0, %1 : tensor<8x8xf32>
  %3 = prim.dot %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<8x8xf32>
  %4 = prim.add %z, %3 : tensor<8x8xf32>
  %5 = prim.dot %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<8x8xf32>
  %6 = prim.add %4, %5 : tensor<8x8xf32>
  %7 = prim.add %2, %6 : tensor<8x8xf32>
  return %7 : tensor<8x8xf32>
}

// Dots with larger operands than results stand as they are.
// CHECK-LABEL: func.func @large_dots(
// CHECK-COUNT-4: prim.dot
func.func @large_dots(%x: tensor<8x4xf32>, %y: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %0 = prim.dot %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %1 = prim.dot %y, %x {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %2 = prim.dot %x, %x {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %3 = prim.dot %y, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %4 = prim.add %0, %1 : tensor<4x4xf32>
  %5 = prim.add %2, %3 : tensor<4x4xf32>
  %6 = prim.add %4, %5 : tensor<4x4xf32>
  return %6 : tensor<4x4xf32>
}

// A dot that adds nothing up is a product; the batch comes first, and halves that are added wide stay.
// CHECK-LABEL: func.func @outer(
// CHECK-SAME: %[[X:.*]]: tensor<5x3x1xf32>, %[[Y:.*]]: tensor<3x1x7xf32>
// CHECK: %[[A:.*]] = prim.reshape %[[X]] : (tensor<5x3x1xf32>) -> tensor<5x3xf32>
// CHECK: %[[T:.*]] = prim.transpose %[[A]] {perm = array<i64: 1, 0>}
// CHECK: %[[L:.*]] = prim.broadcast %[[T]] {dims = array<i64: 0, 1>}
// CHECK: %[[B:.*]] = prim.reshape %[[Y]] : (tensor<3x1x7xf32>) -> tensor<3x7xf32>
// CHECK: %[[R:.*]] = prim.broadcast %[[B]] {dims = array<i64: 0, 2>}
// CHECK: prim.mul %[[L]], %[[R]] : tensor<3x5x7xf32>
func.func @outer(%x: tensor<5x3x1xf32>, %y: tensor<3x1x7xf32>) -> tensor<3x5x7xf32> {
  %0 = prim.dot %x, %y {lhs_batch = array<i64: 1>, lhs_contract = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contract = array<i64: 1>} : (tensor<5x3x1xf32>, tensor<3x1x7xf32>) -> tensor<3x5x7xf32>
  return %0 : tensor<3x5x7xf32>
}

// CHECK-LABEL: func.func @wide(
// CHECK: prim.dot
func.func @wide(%x: tensor<5x1xbf16>, %y: tensor<1x7xbf16>) -> tensor<5x7xf32> {
  %0 = prim.dot %x, %y {lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>} : (tensor<5x1xbf16>, tensor<1x7xbf16>) -> tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}
