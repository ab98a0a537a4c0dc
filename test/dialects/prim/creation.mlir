// What makes tensors: each numbered constraint.
// RUN: rs-opt %s --split-input-file --verify-diagnostics

func.func @constant_c1() {
  // expected-error @+1 {{C1: `value` has the type tensor<4xf32>, the result tensor<2xf32>}}
  %0 = prim.constant {value = dense<1.0> : tensor<4xf32>} : tensor<2xf32>
  return
}

// -----

func.func @iota_c1() {
  // expected-error @+1 {{C1: `dim` is 1, and the tensor has rank 1}}
  %0 = prim.iota {dim = 1 : i64} : tensor<4xi64>
  return
}

// -----

func.func @iota_c2() {
  // expected-error @+1 {{C2: 0 index operands for 1 unknown sizes}}
  %0 = prim.iota {dim = 0 : i64} : tensor<?xi64>
  return
}

// -----

func.func @item_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{C1: tensor<4xf32> does not hold one f32}}
  %0 = prim.item %x : (tensor<4xf32>) -> f32
  return
}

// -----

func.func @item_c1_type(%x: tensor<f32>) {
  // expected-error @+1 {{C1: tensor<f32> does not hold one f64}}
  %0 = prim.item %x : (tensor<f32>) -> f64
  return
}

// -----

func.func @rng_c1(%s: tensor<i64>) {
  // expected-error @+1 {{C1: the kind `poisson` is none of bits, uniform, normal}}
  %0 = prim.rng %s, %s {kind = "poisson"} : (tensor<i64>, tensor<i64>) -> tensor<4xf32>
  return
}

// -----

func.func @rng_c2(%s: tensor<1xi64>) {
  // expected-error @+1 {{C2: tensor<1xi64> is not tensor<i64>}}
  %0 = prim.rng %s, %s {kind = "uniform"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @rng_c3(%s: tensor<i64>) {
  // expected-error @+1 {{C3: 0 index operands for 1 unknown sizes}}
  %0 = prim.rng %s, %s {kind = "uniform"} : (tensor<i64>, tensor<i64>) -> tensor<?xf32>
  return
}

// -----

func.func @splat_c1(%n: index) {
  // expected-error @+1 {{C1: tensor<i32> is not the 0-d tensor of a index}}
  %0 = prim.splat %n : (index) -> tensor<i32>
  return
}

// -----

func.func @splat_c1_rank(%x: f32) {
  // expected-error @+1 {{C1: tensor<1xf32> is not the 0-d tensor of a f32}}
  %0 = prim.splat %x : (f32) -> tensor<1xf32>
  return
}
