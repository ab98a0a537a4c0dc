// Elements at indices that tensors and values hold: each numbered constraint.
// RUN: rs-opt %s --split-input-file --verify-diagnostics

func.func @gather_c1(%x: tensor<4x5xf32>, %i: tensor<3xi64>) {
  // expected-error @+1 {{C1: 1 index tensors for 2 dimensions}}
  %0 = prim.gather %x, %i {dims = array<i64: 0, 1>} : (tensor<4x5xf32>, tensor<3xi64>) -> tensor<3xf32>
  return
}

// -----

func.func @gather_c1_twice(%x: tensor<4x5xf32>, %i: tensor<3xi64>) {
  // expected-error @+1 {{C1: `dims` names dimension 1 twice}}
  %0 = prim.gather %x, %i, %i {dims = array<i64: 1, 1>} : (tensor<4x5xf32>, tensor<3xi64>, tensor<3xi64>) -> tensor<3xf32>
  return
}

// -----

func.func @gather_c2(%x: tensor<4x5xf32>, %i: tensor<3xi64>, %j: tensor<2xi64>) {
  // expected-error @+1 {{C2: the index tensors differ in shape}}
  %0 = prim.gather %x, %i, %j {dims = array<i64: 0, 1>} : (tensor<4x5xf32>, tensor<3xi64>, tensor<2xi64>) -> tensor<3xf32>
  return
}

// -----

func.func @gather_c3(%x: tensor<4x5xf32>, %i: tensor<3xi64>) {
  // expected-error @+1 {{C3: the result has the shape [5, 3], its operands give [3, 5]}}
  %0 = prim.gather %x, %i {dims = array<i64: 0>} : (tensor<4x5xf32>, tensor<3xi64>) -> tensor<5x3xf32>
  return
}

// -----

func.func @gather_c4(%x: tensor<4x5xf32>, %i: tensor<3xi64>) {
  // expected-error @+1 {{C4: element types f32 and f64 differ}}
  %0 = prim.gather %x, %i {dims = array<i64: 0>} : (tensor<4x5xf32>, tensor<3xi64>) -> tensor<3x5xf64>
  return
}

// -----

func.func @scatter_c1(%x: tensor<4x5xf32>, %u: tensor<3xf32>, %i: tensor<3xi64>) {
  // expected-error @+1 {{C1: 1 index tensors for 2 dimensions}}
  %0 = prim.scatter %x, %u, %i {dims = array<i64: 0, 1>, kind = "set"} : (tensor<4x5xf32>, tensor<3xf32>, tensor<3xi64>) -> tensor<4x5xf32>
  return
}

// -----

func.func @scatter_c2(%x: tensor<4x5xf32>, %u: tensor<3xf32>, %i: tensor<3xi64>, %j: tensor<2xi64>) {
  // expected-error @+1 {{C2: the index tensors differ in shape}}
  %0 = prim.scatter %x, %u, %i, %j {dims = array<i64: 0, 1>, kind = "set"} : (tensor<4x5xf32>, tensor<3xf32>, tensor<3xi64>, tensor<2xi64>) -> tensor<4x5xf32>
  return
}

// -----

func.func @scatter_c3(%x: tensor<4x5xf32>, %u: tensor<5x3xf32>, %i: tensor<3xi64>) {
  // expected-error @+1 {{C3: the updates have the shape [5, 3], not [3, 5]}}
  %0 = prim.scatter %x, %u, %i {dims = array<i64: 0>, kind = "set"} : (tensor<4x5xf32>, tensor<5x3xf32>, tensor<3xi64>) -> tensor<4x5xf32>
  return
}

// -----

func.func @scatter_c4(%x: tensor<4x5xf32>, %u: tensor<3x5xf32>, %i: tensor<3xi64>) {
  // expected-error @+1 {{C4: the kind `sub` is none of set, add, mul, max, min}}
  %0 = prim.scatter %x, %u, %i {dims = array<i64: 0>, kind = "sub"} : (tensor<4x5xf32>, tensor<3x5xf32>, tensor<3xi64>) -> tensor<4x5xf32>
  return
}

// -----

func.func @scatter_c4_float8(%x: tensor<4x5xf8E4M3FN>, %u: tensor<3x5xf8E4M3FN>, %i: tensor<3xi64>) {
  // expected-error @+1 {{C4: the kind `add` is none of set}}
  %0 = prim.scatter %x, %u, %i {dims = array<i64: 0>, kind = "add"} : (tensor<4x5xf8E4M3FN>, tensor<3x5xf8E4M3FN>, tensor<3xi64>) -> tensor<4x5xf8E4M3FN>
  return
}

// -----

func.func @scatter_c5(%x: tensor<4x5xf32>, %u: tensor<3x5xf64>, %i: tensor<3xi64>) {
  // expected-error @+1 {{C5: element types f32 and f64 differ}}
  %0 = prim.scatter %x, %u, %i {dims = array<i64: 0>, kind = "set"} : (tensor<4x5xf32>, tensor<3x5xf64>, tensor<3xi64>) -> tensor<4x5xf32>
  return
}

// -----

func.func @scatter_c6(%x: tensor<4x5xf32>, %u: tensor<3x5xf32>, %i: tensor<3xi64>) {
  // expected-error @+1 {{C6: the result has the shape [5, 4], its operands give [4, 5]}}
  %0 = prim.scatter %x, %u, %i {dims = array<i64: 0>, kind = "set"} : (tensor<4x5xf32>, tensor<3x5xf32>, tensor<3xi64>) -> tensor<5x4xf32>
  return
}

// -----

func.func @dynamic_slice_c1(%x: tensor<4x5xf32>, %o: index) {
  // expected-error @+1 {{C1: 1 offsets for 2 dimensions}}
  %0 = prim.dynamic_slice %x, %o {sizes = array<i64: 2, 2>} : (tensor<4x5xf32>, index) -> tensor<2x2xf32>
  return
}

// -----

func.func @dynamic_slice_c1_sizes(%x: tensor<4x5xf32>, %o: index) {
  // expected-error @+1 {{C1: `sizes` has 1 entries for 2 dimensions}}
  %0 = prim.dynamic_slice %x, %o, %o {sizes = array<i64: 2>} : (tensor<4x5xf32>, index, index) -> tensor<2x2xf32>
  return
}

// -----

func.func @dynamic_slice_c2(%x: tensor<4xf32>, %o: index) {
  // expected-error @+1 {{C2: the result has the shape [3], its operands give [2]}}
  %0 = prim.dynamic_slice %x, %o {sizes = array<i64: 2>} : (tensor<4xf32>, index) -> tensor<3xf32>
  return
}

// -----

func.func @dynamic_slice_c3(%x: tensor<4xf32>, %o: index) {
  // expected-error @+1 {{C3: element types f32 and f64 differ}}
  %0 = prim.dynamic_slice %x, %o {sizes = array<i64: 2>} : (tensor<4xf32>, index) -> tensor<2xf64>
  return
}

// -----

func.func @dynamic_update_c1(%x: tensor<4x5xf32>, %u: tensor<2x2xf32>, %o: index) {
  // expected-error @+1 {{C1: 1 offsets for 2 dimensions}}
  %0 = prim.dynamic_update %x, %u, %o : (tensor<4x5xf32>, tensor<2x2xf32>, index) -> tensor<4x5xf32>
  return
}

// -----

func.func @dynamic_update_c2(%x: tensor<4xf32>, %u: tensor<5xf32>, %o: index) {
  // expected-error @+1 {{C2: tensor<5xf32> does not fit into tensor<4xf32>}}
  %0 = prim.dynamic_update %x, %u, %o : (tensor<4xf32>, tensor<5xf32>, index) -> tensor<4xf32>
  return
}

// -----

func.func @dynamic_update_c3(%x: tensor<4xf32>, %u: tensor<2xf64>, %o: index) {
  // expected-error @+1 {{C3: element types f32 and f64 differ}}
  %0 = prim.dynamic_update %x, %u, %o : (tensor<4xf32>, tensor<2xf64>, index) -> tensor<4xf32>
  return
}

// -----

func.func @dynamic_update_c4(%x: tensor<4xf32>, %u: tensor<2xf32>, %o: index) {
  // expected-error @+1 {{C4: the result has the shape [3], its operands give [4]}}
  %0 = prim.dynamic_update %x, %u, %o : (tensor<4xf32>, tensor<2xf32>, index) -> tensor<3xf32>
  return
}

// -----

func.func @dynamic_update_c4_element(%x: tensor<4xf32>, %u: tensor<2xf32>, %o: index) {
  // expected-error @+1 {{C4: element types f32 and f64 differ}}
  %0 = prim.dynamic_update %x, %u, %o : (tensor<4xf32>, tensor<2xf32>, index) -> tensor<4xf64>
  return
}
