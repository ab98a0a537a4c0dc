// Special functions: each numbered constraint.
// RUN: rs-opt %s --split-input-file --verify-diagnostics

func.func @special_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{C1: there is no special function `no_function`}}
  %0 = prim.special %x {function = "no_function"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @special_c2(%x: tensor<4xf32>) {
  // expected-error @+1 {{C2: `bessel_j0` has 1 arguments}}
  %0 = prim.special %x, %x {function = "bessel_j0"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @special_c3(%x: tensor<4xi64>) {
  // expected-error @+1 {{C3: `bessel_j0` is no function of tensor<4xi64>}}
  %0 = prim.special %x {function = "bessel_j0"} : (tensor<4xi64>) -> tensor<4xi64>
  return
}

// -----

func.func @special_c3_gcd(%x: tensor<4xf32>) {
  // expected-error @+1 {{C3: `gcd` is no function of tensor<4xf32>}}
  %0 = prim.special %x, %x {function = "gcd"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
