// RUN: rs-opt %s --fuse-attention --cse | FileCheck %s
// RUN: rs-opt %s --fuse-attention="numerics=strict" | FileCheck %s --check-prefix=STRICT
// RUN: rs-opt %s --fuse-attention=remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY

// The constant factor of the queries is one of the scores after it.
// CHECK-LABEL: func.func @attention(
// CHECK: %[[T:.*]] = prim.transpose %arg1
// CHECK: %[[D:.*]] = prim.dot %arg0, %[[T]]
// CHECK: %[[S:.*]] = prim.mul %[[D]]
// CHECK-NEXT: %[[Y:.*]] = prim.softmax_dot %[[S]], %arg2 {empty = "nan", lhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contract = array<i64: 1>}
// CHECK-NEXT: return %[[Y]]
// STRICT-LABEL: func.func @attention(
// STRICT-NOT: softmax_dot
func.func @attention(%q: tensor<2x32x8xf32>, %k: tensor<2x?x8xf32>, %v: tensor<2x?x8xf32>) -> tensor<2x32x8xf32> {
  %n = prim.dim %k {dim = 1 : i64} : (tensor<2x?x8xf32>) -> index
  %c = prim.constant {value = dense<0.35> : tensor<f32>} : () -> tensor<f32>
  %b = prim.broadcast %c {dims = array<i64>} : (tensor<f32>) -> tensor<2x32x8xf32>
  %qs = prim.mul %q, %b : (tensor<2x32x8xf32>, tensor<2x32x8xf32>) -> tensor<2x32x8xf32>
  %t = prim.transpose %k {perm = array<i64: 0, 2, 1>} : (tensor<2x?x8xf32>) -> tensor<2x8x?xf32>
  %s = prim.dot %qs, %t {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 1>} : (tensor<2x32x8xf32>, tensor<2x8x?xf32>) -> tensor<2x32x?xf32>
  %max = prim.reduce %s {dims = array<i64: 2>, kind = "max"} : (tensor<2x32x?xf32>) -> tensor<2x32xf32>
  %mb = prim.broadcast %max, %n {dims = array<i64: 0, 1>} : (tensor<2x32xf32>, index) -> tensor<2x32x?xf32>
  %d = prim.sub %s, %mb : (tensor<2x32x?xf32>, tensor<2x32x?xf32>) -> tensor<2x32x?xf32>
  %e = prim.exp %d : (tensor<2x32x?xf32>) -> tensor<2x32x?xf32>
  %sum = prim.reduce %e {dims = array<i64: 2>, kind = "sum"} : (tensor<2x32x?xf32>) -> tensor<2x32xf32>
  %sb = prim.broadcast %sum, %n {dims = array<i64: 0, 1>} : (tensor<2x32xf32>, index) -> tensor<2x32x?xf32>
  %w = prim.div %e, %sb : (tensor<2x32x?xf32>, tensor<2x32x?xf32>) -> tensor<2x32x?xf32>
  %y = prim.dot %w, %v {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 1>} : (tensor<2x32x?xf32>, tensor<2x?x8xf32>) -> tensor<2x32x8xf32>
  return %y : tensor<2x32x8xf32>
}

// Rows of -inf that are given the weight 0.
// CHECK-LABEL: func.func @masked(
// CHECK: prim.softmax_dot %{{.*}}, %arg2 {empty = "zero"
func.func @masked(%s0: tensor<32x8xf32>, %k: tensor<8x16xf32>, %v: tensor<16x4xf32>, %m: tensor<32x16xi1>) -> tensor<32x4xf32> {
  %inf = prim.constant {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
  %zero = prim.constant {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %infs = prim.broadcast %inf {dims = array<i64>} : (tensor<f32>) -> tensor<32x16xf32>
  %zeros = prim.broadcast %zero {dims = array<i64>} : (tensor<f32>) -> tensor<32x16xf32>
  %s1 = prim.dot %s0, %k {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<32x8xf32>, tensor<8x16xf32>) -> tensor<32x16xf32>
  %s = prim.select %m, %s1, %infs : (tensor<32x16xi1>, tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  %max = prim.reduce %s {dims = array<i64: 1>, kind = "max"} : (tensor<32x16xf32>) -> tensor<32xf32>
  %mb = prim.broadcast %max {dims = array<i64: 0>} : (tensor<32xf32>) -> tensor<32x16xf32>
  %d = prim.sub %s, %mb : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  %e = prim.exp %d : (tensor<32x16xf32>) -> tensor<32x16xf32>
  %sum = prim.reduce %e {dims = array<i64: 1>, kind = "sum"} : (tensor<32x16xf32>) -> tensor<32xf32>
  %sb = prim.broadcast %sum {dims = array<i64: 0>} : (tensor<32xf32>) -> tensor<32x16xf32>
  %w = prim.div %e, %sb : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  %eq = prim.eq %s, %infs : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xi1>
  %all = prim.reduce %eq {dims = array<i64: 1>, kind = "and"} : (tensor<32x16xi1>) -> tensor<32xi1>
  %ab = prim.broadcast %all {dims = array<i64: 0>} : (tensor<32xi1>) -> tensor<32x16xi1>
  %wm = prim.select %ab, %zeros, %w : (tensor<32x16xi1>, tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  %y = prim.dot %wm, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<32x16xf32>, tensor<16x4xf32>) -> tensor<32x4xf32>
  return %y : tensor<32x4xf32>
}

// The weights are a result: they are stored anyway.
// CHECK-LABEL: func.func @weights_are_used(
// CHECK-NOT: softmax_dot
// CHECK: return
func.func @weights_are_used(%s0: tensor<32x8xf32>, %k: tensor<8x16xf32>, %v: tensor<16x4xf32>) -> (tensor<32x4xf32>, tensor<32x16xf32>) {
  %s = prim.dot %s0, %k {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<32x8xf32>, tensor<8x16xf32>) -> tensor<32x16xf32>
  %max = prim.reduce %s {dims = array<i64: 1>, kind = "max"} : (tensor<32x16xf32>) -> tensor<32xf32>
  %mb = prim.broadcast %max {dims = array<i64: 0>} : (tensor<32xf32>) -> tensor<32x16xf32>
  %d = prim.sub %s, %mb : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  %e = prim.exp %d : (tensor<32x16xf32>) -> tensor<32x16xf32>
  %sum = prim.reduce %e {dims = array<i64: 1>, kind = "sum"} : (tensor<32x16xf32>) -> tensor<32xf32>
  %sb = prim.broadcast %sum {dims = array<i64: 0>} : (tensor<32xf32>) -> tensor<32x16xf32>
  %w = prim.div %e, %sb : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  %y = prim.dot %w, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<32x16xf32>, tensor<16x4xf32>) -> tensor<32x4xf32>
  return %y, %w : tensor<32x4xf32>, tensor<32x16xf32>
}

// Few queries: each contraction is better off with lanes of its own.
// CHECK-LABEL: func.func @one_query(
// CHECK-NOT: softmax_dot
// CHECK: return
func.func @one_query(%s0: tensor<1x8xf32>, %k: tensor<8x16xf32>, %v: tensor<16x4xf32>) -> tensor<1x4xf32> {
  %s = prim.dot %s0, %k {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<1x8xf32>, tensor<8x16xf32>) -> tensor<1x16xf32>
  %max = prim.reduce %s {dims = array<i64: 1>, kind = "max"} : (tensor<1x16xf32>) -> tensor<1xf32>
  %mb = prim.broadcast %max {dims = array<i64: 0>} : (tensor<1xf32>) -> tensor<1x16xf32>
  %d = prim.sub %s, %mb : (tensor<1x16xf32>, tensor<1x16xf32>) -> tensor<1x16xf32>
  %e = prim.exp %d : (tensor<1x16xf32>) -> tensor<1x16xf32>
  %sum = prim.reduce %e {dims = array<i64: 1>, kind = "sum"} : (tensor<1x16xf32>) -> tensor<1xf32>
  %sb = prim.broadcast %sum {dims = array<i64: 0>} : (tensor<1xf32>) -> tensor<1x16xf32>
  %w = prim.div %e, %sb : (tensor<1x16xf32>, tensor<1x16xf32>) -> tensor<1x16xf32>
  %y = prim.dot %w, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<1x16xf32>, tensor<16x4xf32>) -> tensor<1x4xf32>
  return %y : tensor<1x4xf32>
}

// The logarithm of the sum is a result as well, for the backward pass: its scores are stored anyway.
// CHECK-LABEL: func.func @with_logarithm(
// CHECK-NOT: softmax_dot
// CHECK: return
// WHY: 'attention' does not match: the sum of the softmax is used elsewhere, so that the scores are stored for it [fuse-attention]
func.func @with_logarithm(%q: tensor<32x8xf32>, %k: tensor<8x40xf32>, %v: tensor<40x8xf32>) -> (tensor<32x8xf32>, tensor<32xf32>) {
  %s = prim.dot %q, %k {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<32x8xf32>, tensor<8x40xf32>) -> tensor<32x40xf32>
  %max = prim.reduce %s {dims = array<i64: 1>, kind = "max"} : (tensor<32x40xf32>) -> tensor<32xf32>
  %mb = prim.broadcast %max {dims = array<i64: 0>} : (tensor<32xf32>) -> tensor<32x40xf32>
  %d = prim.sub %s, %mb : tensor<32x40xf32>
  %e = prim.exp %d : tensor<32x40xf32>
  %sum = prim.reduce %e {dims = array<i64: 1>, kind = "sum"} : (tensor<32x40xf32>) -> tensor<32xf32>
  %sb = prim.broadcast %sum {dims = array<i64: 0>} : (tensor<32xf32>) -> tensor<32x40xf32>
  %w = prim.div %e, %sb : tensor<32x40xf32>
  %y = prim.dot %w, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<32x40xf32>, tensor<40x8xf32>) -> tensor<32x8xf32>
  %l = prim.log %sum : tensor<32xf32>
  return %y, %l : tensor<32x8xf32>, tensor<32xf32>
}
