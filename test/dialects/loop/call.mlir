// RUN: rs-opt %s --verify-diagnostics --split-input-file

loop.kernel @two {shapes = [affine_map<() -> (8)>, affine_map<() -> (8)>, affine_map<() -> (8)>, affine_map<() -> (8)>], sizes = affine_map<() -> (8)>, symbols = array<i64>} : () -> () {
^bb0(%p: tensor<8xf32>, %q: tensor<8xf32>):
  %0:2 = loop.stage %p, %q {domain = array<i64: 0>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], space = "buffer"} : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    loop.yield %b, %a : f32
  }
  loop.return %0#0, %0#1 : tensor<8xf32>
}

func.func @call(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0:2 = loop.call %x, %y {callee = @two, in_place = array<i64: -1, 1>} : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}

// -----

func.func @call_c1(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{C1: 'in_place' has 2 numbers for 1 results}}
  %0 = loop.call %x {callee = @one, in_place = array<i64: 0, -1>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @call_c1_type(%x: tensor<8xf64>) -> tensor<8xf32> {
  // expected-error @+1 {{C1: argument 0 has not the type of result 0}}
  %0 = loop.call %x {callee = @one, in_place = array<i64: 0>} : (tensor<8xf64>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @call_c1_twice(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // expected-error @+1 {{C1: two results lie in argument 0}}
  %0:2 = loop.call %x {callee = @one, in_place = array<i64: 0, 0>} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}

// -----

func.func @call_c2_type(%x: tensor<8xf64>) -> tensor<8xf32> {
  // expected-error @+1 {{C2: argument 0 has not the type of result 0}}
  %0 = loop.call %x {callee = @one, copied = array<i64: 0>} : (tensor<8xf64>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @call_c2_count(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{C2: 'copied' has 2 numbers for 1 results}}
  %0 = loop.call %x {callee = @one, copied = array<i64: 0, -1>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
