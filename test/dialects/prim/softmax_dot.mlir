// A round trip, then each numbered constraint that dot does not have.
// RUN: rs-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @mean(
func.func @mean(%s: tensor<2x5x7xf32>, %v: tensor<2x7x4xf32>) -> tensor<2x5x4xf32> {
  // CHECK: prim.softmax_dot %{{.*}}, %{{.*}} {empty = "zero", lhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contract = array<i64: 1>} : (tensor<2x5x7xf32>, tensor<2x7x4xf32>) -> tensor<2x5x4xf32>
  %0 = prim.softmax_dot %s, %v {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 1>, empty = "zero"} : (tensor<2x5x7xf32>, tensor<2x7x4xf32>) -> tensor<2x5x4xf32>
  return %0 : tensor<2x5x4xf32>
}

// -----

func.func @softmax_dot_c3(%s: tensor<5x7xf32>, %v: tensor<7x4xf32>) {
  // expected-error @+1 {{C3}}
  %0 = prim.softmax_dot %s, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>, empty = "nan"} : (tensor<5x7xf32>, tensor<7x4xf32>) -> tensor<5x5xf32>
  return
}

// -----

func.func @softmax_dot_c5(%s: tensor<5x7xi32>, %v: tensor<7x4xi32>) {
  // expected-error @+1 {{C5}}
  %0 = prim.softmax_dot %s, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>, empty = "nan"} : (tensor<5x7xi32>, tensor<7x4xi32>) -> tensor<5x4xi32>
  return
}

// -----

func.func @softmax_dot_c6(%s: tensor<5x7xf32>, %v: tensor<7x5xf32>) {
  // expected-error @+1 {{C6}}
  %0 = prim.softmax_dot %s, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1, 0>, rhs_contract = array<i64: 0, 1>, empty = "nan"} : (tensor<5x7xf32>, tensor<7x5xf32>) -> tensor<f32>
  return
}

// -----

func.func @softmax_dot_c7(%s: tensor<5x7xf32>, %v: tensor<7x4xf32>) {
  // expected-error @+1 {{C7}}
  %0 = prim.softmax_dot %s, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>, empty = "one"} : (tensor<5x7xf32>, tensor<7x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @softmax_dot_c1(%s: tensor<5x7xf32>, %v: tensor<7x4xf32>) {
  // expected-error @+1 {{C1: the lists of lhs and rhs differ in length}}
  %0 = prim.softmax_dot %s, %v {lhs_batch = array<i64: 0>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>, empty = "nan"} : (tensor<5x7xf32>, tensor<7x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @softmax_dot_c2(%s: tensor<5x7xf32>, %v: tensor<6x4xf32>) {
  // expected-error @+1 {{C2: dimension 1 of lhs has size 7, dimension 0 of rhs 6}}
  %0 = prim.softmax_dot %s, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>, empty = "nan"} : (tensor<5x7xf32>, tensor<6x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @softmax_dot_c4(%s: tensor<5x7xf32>, %v: tensor<7x4xf64>) {
  // expected-error @+1 {{C4: element types f32 and f64 differ}}
  %0 = prim.softmax_dot %s, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>, empty = "nan"} : (tensor<5x7xf32>, tensor<7x4xf64>) -> tensor<5x4xf32>
  return
}
