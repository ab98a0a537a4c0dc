// A round trip, then each numbered constraint.
// RUN: rs-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @tiles(
func.func @tiles(%x: tensor<?x2x4x2xf32>) -> tensor<?x3x4x3xf32> {
  // CHECK: prim.linear_transform %{{.*}} {dims = array<i64: 1, 3>, matrix = array<f64: 1.000000e+00, 0.000000e+00, 5.000000e-01, -1.000000e+00, 0.000000e+00, 2.000000e+00>} : (tensor<?x2x4x2xf32>) -> tensor<?x3x4x3xf32>
  %0 = prim.linear_transform %x {dims = array<i64: 1, 3>, matrix = array<f64: 1.0, 0.0, 0.5, -1.0, 0.0, 2.0>} : (tensor<?x2x4x2xf32>) -> tensor<?x3x4x3xf32>
  return %0 : tensor<?x3x4x3xf32>
}

// -----

func.func @linear_transform_c1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{C1}}
  %0 = prim.linear_transform %x {dims = array<i64: 0, 1>, matrix = array<f64: 1.0, 0.0>} : (tensor<2x3xf32>) -> tensor<1x1xf32>
  return
}

// -----

func.func @linear_transform_c1_unknown(%x: tensor<?xf32>) {
  // expected-error @+1 {{C1}}
  %0 = prim.linear_transform %x {dims = array<i64: 0>, matrix = array<f64: 1.0, 0.0>} : (tensor<?xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @linear_transform_c2(%x: tensor<2xf32>) {
  // expected-error @+1 {{C2}}
  %0 = prim.linear_transform %x {dims = array<i64: 0>, matrix = array<f64: 1.0, 0.0, 1.0>} : (tensor<2xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @linear_transform_c3(%x: tensor<2xf32>) {
  // expected-error @+1 {{C3}}
  %0 = prim.linear_transform %x {dims = array<i64: 0>, matrix = array<f64: 1.0, 0.0>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @linear_transform_c4(%x: tensor<2xf32>) {
  // expected-error @+1 {{C4}}
  %0 = prim.linear_transform %x {dims = array<i64: 0>, matrix = array<f64: 1.0, 0.0>} : (tensor<2xf32>) -> tensor<1xf64>
  return
}
