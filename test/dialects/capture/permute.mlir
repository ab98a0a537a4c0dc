// RUN: rs-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @edges(
// CHECK: capture.permute %arg0 {perm = array<i64: 1, 2, 0>} : (tensor<?x3x4xf32>) -> tensor<3x4x?xf32>
// CHECK: capture.permute %{{.*}} {perm = array<i64: 1, 2, 0>} : (tensor<3x4x?xf32>) -> tensor<4x?x3xf32>
func.func @edges(%x: tensor<?x3x4xf32> {capture.dim_order = array<i64: 1, 2, 0>})
    -> (tensor<4x?x3xf32> {capture.dim_order = array<i64: 2, 0, 1>}) attributes {capture.entry} {
  %0 = capture.permute %x {perm = array<i64: 1, 2, 0>} : (tensor<?x3x4xf32>) -> tensor<3x4x?xf32>
  %1 = prim.neg %0 : (tensor<3x4x?xf32>) -> tensor<3x4x?xf32>
  %2 = capture.permute %1 {perm = array<i64: 1, 2, 0>} : (tensor<3x4x?xf32>) -> tensor<4x?x3xf32>
  return %2 : tensor<4x?x3xf32>
}

// -----

func.func @permute_c1(%x: tensor<2x3xf32> {capture.dim_order = array<i64: 1, 0>}) {
  // expected-error @+1 {{C1: `perm` names dimension 1 twice}}
  %0 = capture.permute %x {perm = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @permute_c2(%x: tensor<2x3xf32> {capture.dim_order = array<i64: 1, 0>}) {
  // expected-error @+1 {{C2: the result has the shape [2, 3], its operands give [3, 2]}}
  %0 = capture.permute %x {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @permute_c3(%x: tensor<2x3xf32> {capture.dim_order = array<i64: 1, 0>}) {
  // expected-error @+1 {{C3: element types f32 and f64 differ}}
  %0 = capture.permute %x {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf64>
  return
}

// -----

func.func @permute_c4_argument(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  // expected-error @+1 {{C4: neither the argument nor the results have this order in memory (`capture.dim_order`)}}
  %0 = capture.permute %x {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// -----

// Inside of the program memory lies row-major.
func.func @permute_c4_inside(%x: tensor<2x3xf32>) -> (tensor<3x2xf32> {capture.dim_order = array<i64: 1, 0>}) {
  %0 = prim.neg %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // expected-error @+1 {{C4: neither the argument nor the results}}
  %1 = capture.permute %0 {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = prim.neg %1 : (tensor<3x2xf32>) -> tensor<3x2xf32>
  return %2 : tensor<3x2xf32>
}
