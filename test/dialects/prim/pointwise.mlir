// Pointwise ops: each numbered constraint.
// RUN: rs-opt %s --split-input-file --verify-diagnostics

func.func @abs_c1(%x: tensor<4xcomplex<f32>>) {
  // expected-error @+1 {{C1: the element type is not that of the complex number's parts}}
  %0 = prim.abs %x : (tensor<4xcomplex<f32>>) -> tensor<4xf64>
  return
}

// -----

func.func @bitcast_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{C1: tensor<4xf32> and tensor<4xi64> differ in width}}
  %0 = prim.bitcast %x : (tensor<4xf32>) -> tensor<4xi64>
  return
}

// -----

func.func @complex_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{C1: the element type is not that of the complex number's parts}}
  %0 = prim.complex %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f64>>
  return
}

// -----

func.func @imag_c1(%x: tensor<4xcomplex<f32>>) {
  // expected-error @+1 {{C1: the element type is not that of the complex number's parts}}
  %0 = prim.imag %x : (tensor<4xcomplex<f32>>) -> tensor<4xf64>
  return
}

// -----

func.func @real_c1(%x: tensor<4xcomplex<f32>>) {
  // expected-error @+1 {{C1: the element type is not that of the complex number's parts}}
  %0 = prim.real %x : (tensor<4xcomplex<f32>>) -> tensor<4xf64>
  return
}

// -----

func.func @select_c1(%c: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @+1 {{C1: element types f64 and f32 differ}}
  %0 = prim.select %c, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}
