// Floats of 8 bits are converted and moved, and no other op takes them.
// RUN: rs-opt %s --split-input-file --verify-diagnostics

func.func @moved(%x: tensor<4xf8E4M3FN>, %i: tensor<2xi64>, %y: tensor<2xf8E4M3FN>) -> tensor<4xf32> {
  %0 = prim.scatter %x, %y, %i {dims = array<i64: 0>, kind = "set"} : (tensor<4xf8E4M3FN>, tensor<2xf8E4M3FN>, tensor<2xi64>) -> tensor<4xf8E4M3FN>
  %1 = prim.bitcast %0 : (tensor<4xf8E4M3FN>) -> tensor<4xui8>
  %2 = prim.bitcast %1 : (tensor<4xui8>) -> tensor<4xf8E5M2>
  %3 = prim.convert %2 : (tensor<4xf8E5M2>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

func.func @added(%x: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  // expected-error @+1 {{a tensor of numbers (not bool, not f8)}}
  %0 = prim.add %x, %x : tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}

// -----

func.func @compared(%x: tensor<4xf8E5M2>) -> tensor<4xi1> {
  // expected-error @+1 {{a tensor (not of f8)}}
  %0 = prim.eq %x, %x : (tensor<4xf8E5M2>, tensor<4xf8E5M2>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

func.func @multiplied(%x: tensor<4x4xf8E5M2>) -> tensor<4x4xf8E5M2> {
  // expected-error @+1 {{a tensor (not of f8)}}
  %0 = prim.dot %x, %x {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x4xf8E5M2>, tensor<4x4xf8E5M2>) -> tensor<4x4xf8E5M2>
  return %0 : tensor<4x4xf8E5M2>
}

// -----

func.func @reduced(%x: tensor<4xf8E4M3FN>) -> tensor<f8E4M3FN> {
  // expected-error @+1 {{a reduction of kind `max` of elements of type f8E4M3FN}}
  %0 = prim.reduce %x {dims = array<i64: 0>, kind = "max"} : (tensor<4xf8E4M3FN>) -> tensor<f8E4M3FN>
  return %0 : tensor<f8E4M3FN>
}

// -----

func.func @scattered(%x: tensor<4xf8E4M3FN>, %i: tensor<2xi64>, %y: tensor<2xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  // expected-error @+1 {{the kind `add` is none of set}}
  %0 = prim.scatter %x, %y, %i {dims = array<i64: 0>, kind = "add"} : (tensor<4xf8E4M3FN>, tensor<2xf8E4M3FN>, tensor<2xi64>) -> tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}

// -----

func.func @as_a_number(%x: tensor<f8E4M3FN>) -> f8E4M3FN {
  // expected-error @+1 {{a tensor (not of f8)}}
  %0 = prim.item %x : (tensor<f8E4M3FN>) -> f8E4M3FN
  return %0 : f8E4M3FN
}
