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

// -----

// A count that stands in the program bounds no loop of the compiler.
func.func @of_too_many_steps(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{is not decomposed: argument `p` asks for 4611686018427387904 steps, and at most 4096 are written out as ops}}
  %0 = aten.mvlgamma %x {p = 4611686018427387904 : i64} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @of_too_many_rows(%x: tensor<1000000xf32>) -> tensor<?x2xf32> {
  // expected-error @+1 {{is not decomposed: argument `r` asks for a constant of 1000000000000 times 2 elements, and at most 16777216 are written out}}
  %0 = aten.combinations %x {r = 2 : i64} : (tensor<1000000xf32>) -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}

// -----

func.func @of_too_large_a_triangle() -> tensor<2x?xi64> {
  // expected-error @+1 {{is not decomposed: a triangle asks for a constant of 4611686018427387904 times 4611686018427387904 elements}}
  %0 = aten.tril_indices {row = 4611686018427387904 : i64, col = 4611686018427387904 : i64} : () -> tensor<2x?xi64>
  return %0 : tensor<2x?xi64>
}

// -----

func.func @of_too_many_pairs(%x: tensor<100000x2xf32>) -> tensor<4999950000xf32> {
  // expected-error @+1 {{is not decomposed: all pairs of rows asks for a constant of 100000 times 100000 elements}}
  %0 = aten.pdist %x : (tensor<100000x2xf32>) -> tensor<4999950000xf32>
  return %0 : tensor<4999950000xf32>
}

// -----

func.func @negative_order(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{is not decomposed: a derivative of negative order}}
  %0 = aten.polygamma %x {n = -1 : i64} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @of_a_type_that_only_stores(%x: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  // expected-error @+1 {{PyTorch does not compute this on floats of 8 bits; convert them to another type first}}
  %0 = aten.add.Tensor %x, %x : (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}

// -----

func.func @in_place_too(%x: tensor<4xf8E5M2>) -> tensor<4xf8E5M2> {
  // expected-error @+1 {{PyTorch does not compute this on floats of 8 bits; convert them to another type first}}
  %0 = aten.relu_ %x : tensor<4xf8E5M2>
  return %0 : tensor<4xf8E5M2>
}

// -----

func.func @mixed(%x: tensor<4xf8E4M3FN>, %y: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{PyTorch does not compute this on floats of 8 bits; convert them to another type first}}
  %0 = aten.cat %x, %y {segments = array<i64: 2>} : (tensor<4xf8E4M3FN>, tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @sum_that_is_stored(%x: tensor<4xf8E4M3FN>) -> tensor<f8E4M3FN> {
  // expected-error @+1 {{PyTorch does not compute this on floats of 8 bits; convert them to another type first}}
  %0 = aten.sum %x : (tensor<4xf8E4M3FN>) -> tensor<f8E4M3FN>
  return %0 : tensor<f8E4M3FN>
}

// -----

func.func @added_in_place(%x: tensor<4xf8E4M3FN>, %i: tensor<2xi64>, %y: tensor<2xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  // expected-error @+1 {{is not decomposed: floats of 8 bits are put in place, not added up; convert them to another type first}}
  %0 = aten.index_put %x, %i, %y {accumulate = true, segments = array<i64: 1, 1, 1>} : (tensor<4xf8E4M3FN>, tensor<2xi64>, tensor<2xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}

// -----

func.func @scaled_in_blocks(%x: tensor<16x32xf8E4M3FN>, %y: tensor<32x16xf8E4M3FN>, %s: tensor<16x1xf32>, %t: tensor<1x16xf32>) -> tensor<16x16xf32> {
  // expected-error @+1 {{is not decomposed: scales of blocks are not supported: use one of the tensor or one of each row}}
  %0 = aten._scaled_mm_v2 %x, %y, %s, %t {recipe_a = array<i64: 3>, recipe_b = array<i64: 3>, swizzle_a = array<i64>, swizzle_b = array<i64>, out_dtype = f32, segments = array<i64: 1, 1, 1, 1, 0>} : (tensor<16x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>, tensor<16x1xf32>, tensor<1x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// -----

func.func @mirror_at_the_size(%x: tensor<3x4xf32>) -> tensor<3x8xf32> {
  // expected-error @+1 {{is not decomposed: reflection padding of 4 is not less than the dimension's size 4}}
  %0 = aten.reflection_pad1d %x {padding = array<i64: 4, 0>} : (tensor<3x4xf32>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}

// -----

func.func @around_twice(%x: tensor<1x3x4xf32>) -> tensor<1x3x9xf32> {
  // expected-error @+1 {{is not decomposed: circular padding of 5 goes around a dimension of size 4 more than once}}
  %0 = aten.pad %x {pad = array<i64: 5, 0>, mode = "circular"} : (tensor<1x3x4xf32>) -> tensor<1x3x9xf32>
  return %0 : tensor<1x3x9xf32>
}

// -----

func.func @nothing_to_repeat(%x: tensor<3x0xf32>) -> tensor<3x2xf32> {
  // expected-error @+1 {{is not decomposed: replication padding to a size of 2 repeats elements, and there are 0}}
  %0 = aten.replication_pad1d %x {padding = array<i64: 1, 1>} : (tensor<3x0xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// -----

func.func @product(%x: tensor<2x4xf32>, %y: tensor<3x5xf32>) -> tensor<2x5xf32> {
  // expected-error@+1 {{is not decomposed: a product of tensor<2x4xf32> and tensor<3x5xf32>, whose sizes 4 and 3 do not agree}}
  %0 = aten.mm %x, %y : (tensor<2x4xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// -----

func.func @more_than_there_are(%x: tensor<4xf32>) -> (tensor<5xf32>, tensor<5xi64>) {
  // expected-error @+1 {{is not decomposed: the first 5 of 4 elements}}
  %0, %1 = aten.topk %x {k = 5 : i64} : (tensor<4xf32>) -> (tensor<5xf32>, tensor<5xi64>)
  return %0, %1 : tensor<5xf32>, tensor<5xi64>
}

// -----

func.func @before_the_first(%x: tensor<4xf32>) -> (tensor<f32>, tensor<i64>) {
  // expected-error @+1 {{is not decomposed: element 0, where the first is element 1}}
  %0, %1 = aten.kthvalue %x {k = 0 : i64} : (tensor<4xf32>) -> (tensor<f32>, tensor<i64>)
  return %0, %1 : tensor<f32>, tensor<i64>
}

// -----

func.func @columns_of_another_window(%x: tensor<1x18x24xf32>) -> tensor<1x2x4x6xf32> {
  // expected-error @+1 {{is not decomposed: 432 elements cannot be viewed as 0}}
  %0 = aten.col2im %x {output_size = array<i64: 4, 6>, kernel_size = array<i64: 255, 3>, dilation = array<i64: 1, 1>, padding = array<i64: 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x18x24xf32>) -> tensor<1x2x4x6xf32>
  return %0 : tensor<1x2x4x6xf32>
}

// -----

func.func @no_probability(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{is not decomposed: argument `p` is 1.5, and a probability is from 0 to 1}}
  %0 = aten.dropout %x {p = 1.5 : f64, train = true} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @no_probability_of_weights(%x: tensor<1x3x8xf32>) -> tensor<1x3x8xf32> {
  // expected-error @+1 {{is not decomposed: argument `dropout_p` is -1, and a probability is from 0 to 1}}
  %0 = aten.scaled_dot_product_attention %x, %x, %x {dropout_p = -1.0 : f64, is_causal = false, segments = array<i64: 1, 1, 1, 0>} : (tensor<1x3x8xf32>, tensor<1x3x8xf32>, tensor<1x3x8xf32>) -> tensor<1x3x8xf32>
  return %0 : tensor<1x3x8xf32>
}

// -----

func.func @no_rate(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{is not decomposed: argument `lambd` is 0, and it must be positive}}
  %0 = aten.exponential %x {lambd = 0.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
