// RUN: rs-opt %s --decompose-aten --split-input-file --verify-diagnostics

func.func @no_row(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @+1 {{has no decomposition to prim; write the model with other operators, add a row to lowering/aten_to_prim, or keep the op with keep=aten.int_repr}}
  %0 = aten.int_repr %x : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @wrong_type(%x: tensor<4xi64>) -> tensor<4xi64> {
  // expected-error @+1 {{is not decomposed: the result is computed as tensor<4xi1> and declared as tensor<4xi64>}}
  %0 = aten.eq.Scalar %x {other = 1 : i64} : tensor<4xi64>
  return %0 : tensor<4xi64>
}

// -----

func.func @sizes_do_not_broadcast(%x: tensor<4xf32>, %y: tensor<3xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{is not decomposed: sizes 4 and 3 do not broadcast}}
  %0 = aten.mul.Tensor %x, %y : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
