// Reductions: each numbered constraint.
// RUN: rs-opt %s --split-input-file --verify-diagnostics

func.func @reduce_c1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{C1: `dims` are not in ascending order}}
  %0 = prim.reduce %x {dims = array<i64: 1, 0>, kind = "sum"} : (tensor<2x3xf32>) -> tensor<f32>
  return
}

// -----

func.func @reduce_c1_rank(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{C1: `dims` names dimension 2 of a tensor of rank 2}}
  %0 = prim.reduce %x {dims = array<i64: 2>, kind = "sum"} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_c2(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{C2: the kind `mean` is none of sum, prod, max, min, maxnum, and, or}}
  %0 = prim.reduce %x {dims = array<i64: 1>, kind = "mean"} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_c2_element(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{C2: a reduction of kind `and` of elements of type f32}}
  %0 = prim.reduce %x {dims = array<i64: 1>, kind = "and"} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_c3(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{C3: the result has the shape [3], its operands give [2]}}
  %0 = prim.reduce %x {dims = array<i64: 1>, kind = "sum"} : (tensor<2x3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @reduce_c4(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{C4: element types f32 and f64 differ}}
  %0 = prim.reduce %x {dims = array<i64: 1>, kind = "sum"} : (tensor<2x3xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @arg_reduce_c1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{C1: `dim` is 2, and the tensor has rank 2}}
  %0 = prim.arg_reduce %x {dim = 2 : i64, kind = "max"} : (tensor<2x3xf32>) -> tensor<2xi64>
  return
}

// -----

func.func @arg_reduce_c2(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{C2: the kind `sum` is none of max, min}}
  %0 = prim.arg_reduce %x {dim = 1 : i64, kind = "sum"} : (tensor<2x3xf32>) -> tensor<2xi64>
  return
}

// -----

func.func @arg_reduce_c3(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{C3: the result has the shape [3], its operands give [2]}}
  %0 = prim.arg_reduce %x {dim = 1 : i64, kind = "max"} : (tensor<2x3xf32>) -> tensor<3xi64>
  return
}

// -----

func.func @arg_reduce_c4(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{C4: positions are i64}}
  %0 = prim.arg_reduce %x {dim = 1 : i64, kind = "max"} : (tensor<2x3xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @segment_reduce_c1(%x: tensor<2x3xf32>, %at: tensor<4x5xi64>) {
  // expected-error @+1 {{C1: x is [2, 3], and its segments are [4, 5]}}
  %0 = prim.segment_reduce %x, %at, %at {kind = "sum"} : (tensor<2x3xf32>, tensor<4x5xi64>, tensor<4x5xi64>) -> tensor<4x5xf32>
  return
}

// -----

func.func @segment_reduce_c1_rank(%x: tensor<2xf32>, %at: tensor<2x5xi64>) {
  // expected-error @+1 {{C1: x is [2], and its segments are [2, 5]}}
  %0 = prim.segment_reduce %x, %at, %at {kind = "sum"} : (tensor<2xf32>, tensor<2x5xi64>, tensor<2x5xi64>) -> tensor<2x5xf32>
  return
}

// -----

func.func @segment_reduce_c2(%x: tensor<2x3xf32>, %begins: tensor<5xi64>, %ends: tensor<4xi64>) {
  // expected-error @+1 {{C2: segments begin at [5] and end at [4]}}
  %0 = prim.segment_reduce %x, %begins, %ends {kind = "sum"} : (tensor<2x3xf32>, tensor<5xi64>, tensor<4xi64>) -> tensor<5x3xf32>
  return
}

// -----

func.func @segment_reduce_c2_rank(%x: tensor<2x3xf32>, %at: tensor<i64>) {
  // expected-error @+1 {{C2: segments begin at [] and end at []}}
  %0 = prim.segment_reduce %x, %at, %at {kind = "sum"} : (tensor<2x3xf32>, tensor<i64>, tensor<i64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @segment_reduce_c2_unsigned(%x: tensor<2x3xf32>, %at: tensor<5xui8>) {
  // expected-error @+1 {{C2: the positions of segments are signed, not ui8}}
  %0 = prim.segment_reduce %x, %at, %at {kind = "sum"} : (tensor<2x3xf32>, tensor<5xui8>, tensor<5xui8>) -> tensor<5x3xf32>
  return
}

// -----

func.func @segment_reduce_c3(%x: tensor<2x3xf32>, %at: tensor<5xi64>) {
  // expected-error @+1 {{C3: a reduction of kind `xor` of elements of type f32}}
  %0 = prim.segment_reduce %x, %at, %at {kind = "xor"} : (tensor<2x3xf32>, tensor<5xi64>, tensor<5xi64>) -> tensor<5x3xf32>
  return
}

// -----

func.func @segment_reduce_c4(%x: tensor<2x3xf32>, %at: tensor<5xi64>) {
  // expected-error @+1 {{C4: the result has the shape [5], its operands give [5, 3]}}
  %0 = prim.segment_reduce %x, %at, %at {kind = "sum"} : (tensor<2x3xf32>, tensor<5xi64>, tensor<5xi64>) -> tensor<5xf32>
  return
}

// -----

func.func @segment_reduce_c5(%x: tensor<2x3xf32>, %at: tensor<5xi64>) {
  // expected-error @+1 {{C5: }}
  %0 = prim.segment_reduce %x, %at, %at {kind = "sum"} : (tensor<2x3xf32>, tensor<5xi64>, tensor<5xi64>) -> tensor<5x3xf64>
  return
}

// -----

func.func @scan_c1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{C1: `dim` is 2, and the tensor has rank 2}}
  %0 = prim.scan %x {dim = 2 : i64, kind = "sum"} : tensor<2x3xf32>
  return
}

// -----

func.func @scan_c2(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{C2: the kind `mean` is none of sum, prod, max, min, maxnum, and, or}}
  %0 = prim.scan %x {dim = 1 : i64, kind = "mean"} : tensor<2x3xf32>
  return
}
