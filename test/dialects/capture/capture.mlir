// RUN: rs-opt %s --split-input-file --verify-diagnostics | FileCheck %s
// A guard on the call is not dead, whatever reads it.
// RUN: rs-opt %s --split-input-file --verify-diagnostics --canonicalize --cse | FileCheck %s

// CHECK-LABEL: func.func @entry(
// CHECK-SAME: capture.kind = "input"
// CHECK-SAME: attributes {capture.entry}
func.func @entry(%x: tensor<?x16xf32> {capture.kind = "input", capture.name = "x"}, %y: tensor<?x16xf32> {capture.kind = "input", capture.name = "y"})
    -> (tensor<?x16xf32> {capture.kind = "output"}) attributes {capture.entry} {
  // CHECK: %[[N:.*]] = capture.dim %{{.*}} {dim = 0 : i64, max = 64 : i64, min = 2 : i64, symbol = "s77"} : (tensor<?x16xf32>) -> index
  %n = capture.dim %x {dim = 0 : i64, symbol = "s77", min = 2 : i64, max = 64 : i64} : (tensor<?x16xf32>) -> index
  // CHECK: capture.bind_dims %{{.*}}, %[[N]] {shape = #{{.*}}} : (tensor<?x16xf32>, index) -> ()
  capture.bind_dims %y, %n {shape = affine_map<()[s0] -> (s0 * 2, 16)>} : (tensor<?x16xf32>, index) -> ()
  %c3 = arith.constant 3 : index
  %even = arith.cmpi ne, %n, %c3 : index
  // CHECK: capture.guard %{{.*}} {text = "n != 3"} : i1
  capture.guard %even {text = "n != 3"} : i1
  return %x : tensor<?x16xf32>
}

// -----

func.func @dim_c1(%x: tensor<?xf32>) {
  // expected-error @+1 {{C1: dim 1 is not one of the tensor's 1 dimensions}}
  %n = capture.dim %x {dim = 1 : i64, symbol = "n", min = 0 : i64, max = 1 : i64} : (tensor<?xf32>) -> index
  return
}

// -----

func.func @dim_c2(%x: tensor<?xf32>) {
  // expected-error @+1 {{C2: the range 4..=3 holds no size}}
  %n = capture.dim %x {dim = 0 : i64, symbol = "n", min = 4 : i64, max = 3 : i64} : (tensor<?xf32>) -> index
  return
}

// -----

func.func @bind_dims_c1(%x: tensor<?xf32>, %n: index) {
  // expected-error @+1 {{C1: the map takes 0 dims and 2 symbols, and 1 symbols are given}}
  capture.bind_dims %x, %n {shape = affine_map<()[s0, s1] -> (s0 + s1)>} : (tensor<?xf32>, index) -> ()
  return
}

// -----

func.func @bind_dims_c2(%x: tensor<?xf32>, %n: index) {
  // expected-error @+1 {{C2: the map gives 2 sizes of a tensor of rank 1}}
  capture.bind_dims %x, %n {shape = affine_map<()[s0] -> (s0, 4)>} : (tensor<?xf32>, index) -> ()
  return
}

// -----

func.func @bind_dims_c3(%x: tensor<4xf32>) {
  // expected-error @+1 {{C3: the map gives 5 for dimension 0, and the type says 4}}
  capture.bind_dims %x {shape = affine_map<() -> (5)>} : (tensor<4xf32>) -> ()
  return
}
