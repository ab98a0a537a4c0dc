// Sorting: each numbered constraint.
// RUN: rs-opt %s --split-input-file --verify-diagnostics

func.func @sort_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{C1: `dim` is 1, and the tensor has rank 1}}
  %v, %i = prim.sort %x {dim = 1 : i64, descending = false} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi64>)
  return
}

// -----

func.func @sort_c2(%x: tensor<4xf32>) {
  // expected-error @+1 {{C2: element types f32 and f64 differ}}
  %v, %i = prim.sort %x {dim = 0 : i64, descending = false} : (tensor<4xf32>) -> (tensor<4xf64>, tensor<4xi64>)
  return
}

// -----

func.func @sort_c3(%x: tensor<4xf32>) {
  // expected-error @+1 {{C3: positions are i64}}
  %v, %i = prim.sort %x {dim = 0 : i64, descending = false} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi32>)
  return
}

// -----

func.func @sort_c3_shape(%x: tensor<4xf32>) {
  // expected-error @+1 {{C3: the result has the shape [5], its operands give [4]}}
  %v, %i = prim.sort %x {dim = 0 : i64, descending = false} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<5xi64>)
  return
}
