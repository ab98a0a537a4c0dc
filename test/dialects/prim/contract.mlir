// Products: each numbered constraint.
// RUN: rs-opt %s --split-input-file --verify-diagnostics

func.func @dot_c1(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{C1: the lists of lhs and rhs differ in length}}
  %0 = prim.dot %a, %b {lhs_batch = array<i64: 0>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @dot_c1_twice(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{C1: `lhs_batch and lhs_contract` names dimension 1 twice}}
  %0 = prim.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1, 1>, rhs_contract = array<i64: 0, 1>} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @dot_c2(%a: tensor<2x3xf32>, %b: tensor<5x4xf32>) {
  // expected-error @+1 {{C2: dimension 1 of lhs has size 3, dimension 0 of rhs 5}}
  %0 = prim.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x3xf32>, tensor<5x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @dot_c3(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{C3: the result has the shape [4, 2], its operands give [2, 4]}}
  %0 = prim.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @dot_c4(%a: tensor<2x3xf32>, %b: tensor<3x4xf64>) {
  // expected-error @+1 {{C4: element types f32 and f64 differ}}
  %0 = prim.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x3xf32>, tensor<3x4xf64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @dot_c4_result(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{C4: element types f32 and f64 differ}}
  %0 = prim.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf64>
  return
}

// -----

// Bytes, of which one may have a sign and the other none, have sums in i32 and no other type.
func.func @dot_bytes(%a: tensor<2x3xui8>, %b: tensor<3x4xi8>) -> (tensor<2x4xi32>, tensor<2x4xi64>) {
  %0 = prim.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x3xui8>, tensor<3x4xi8>) -> tensor<2x4xi32>
  // expected-error @+1 {{C4: element types ui8 and i8 differ}}
  %1 = prim.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x3xui8>, tensor<3x4xi8>) -> tensor<2x4xi64>
  return %0, %1 : tensor<2x4xi32>, tensor<2x4xi64>
}

// -----

func.func @conv_c1(%x: tensor<4x8xf32>, %w: tensor<6x4xf32>) {
  // expected-error @+1 {{C1: a convolution of ranks 2 and 2}}
  %0 = prim.conv %x, %w {strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, lhs_dilation = array<i64: 1>, rhs_dilation = array<i64: 1>, groups = 1 : i64} : (tensor<4x8xf32>, tensor<6x4xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @conv_c1_layout(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+1 {{C1: the layout `nc0,ocx->no0` does not say where `0` stands in `ocx`; it is spelled like `n01c,01co->n01o`}}
  %0 = prim.conv %x, %w {strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, lhs_dilation = array<i64: 1>, rhs_dilation = array<i64: 1>, groups = 1 : i64, layout = "nc0,ocx->no0"} : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

func.func @conv_c2(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+1 {{C2: `strides` has 2 entries for 1 dimensions}}
  %0 = prim.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0>, high = array<i64: 0>, lhs_dilation = array<i64: 1>, rhs_dilation = array<i64: 1>, groups = 1 : i64} : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

func.func @conv_c2_zero(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+1 {{C2: strides, dilations and groups are positive}}
  %0 = prim.conv %x, %w {strides = array<i64: 0>, low = array<i64: 0>, high = array<i64: 0>, lhs_dilation = array<i64: 1>, rhs_dilation = array<i64: 1>, groups = 1 : i64} : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

func.func @conv_c3(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+1 {{C3: 4 channels for 2 groups of 4}}
  %0 = prim.conv %x, %w {strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, lhs_dilation = array<i64: 1>, rhs_dilation = array<i64: 1>, groups = 2 : i64} : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

func.func @conv_c3_features(%x: tensor<1x4x8xf32>, %w: tensor<5x2x3xf32>) {
  // expected-error @+1 {{C3: 2 groups do not divide 5 features}}
  %0 = prim.conv %x, %w {strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, lhs_dilation = array<i64: 1>, rhs_dilation = array<i64: 1>, groups = 2 : i64} : (tensor<1x4x8xf32>, tensor<5x2x3xf32>) -> tensor<1x5x6xf32>
  return
}

// -----

func.func @conv_c4(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+1 {{C4: the result has the shape [1, 6, 8], its operands give [1, 6, 6]}}
  %0 = prim.conv %x, %w {strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, lhs_dilation = array<i64: 1>, rhs_dilation = array<i64: 1>, groups = 1 : i64} : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x8xf32>
  return
}

// -----

func.func @conv_c5(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf64>) {
  // expected-error @+1 {{C5: element types f32 and f64 differ}}
  %0 = prim.conv %x, %w {strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, lhs_dilation = array<i64: 1>, rhs_dilation = array<i64: 1>, groups = 1 : i64} : (tensor<1x4x8xf32>, tensor<6x4x3xf64>) -> tensor<1x6x6xf32>
  return
}

// -----

func.func @conv_bytes(%x: tensor<1x4x8xui8>, %w: tensor<6x4x3xi8>) -> (tensor<1x6x6xi32>, tensor<1x6x6xi16>) {
  %0 = prim.conv %x, %w {strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, lhs_dilation = array<i64: 1>, rhs_dilation = array<i64: 1>, groups = 1 : i64} : (tensor<1x4x8xui8>, tensor<6x4x3xi8>) -> tensor<1x6x6xi32>
  // expected-error @+1 {{C5: element types ui8 and i8 differ}}
  %1 = prim.conv %x, %w {strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, lhs_dilation = array<i64: 1>, rhs_dilation = array<i64: 1>, groups = 1 : i64} : (tensor<1x4x8xui8>, tensor<6x4x3xi8>) -> tensor<1x6x6xi16>
  return %0, %1 : tensor<1x6x6xi32>, tensor<1x6x6xi16>
}
