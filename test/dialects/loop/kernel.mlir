// RUN: rs-opt %s --split-input-file --verify-diagnostics

// What a schedule has written out is code: its count does not come from a file unchecked.
loop.kernel @unrolled {shapes = [affine_map<() -> (24)>, affine_map<() -> ()>], sizes = affine_map<() -> (24)>, symbols = array<i64>} : () -> () {
^bb0(%x: tensor<24xf32>):
  // expected-error @+1 {{C7: the schedule asks for 34359738368 copies of the body, and at most 4096 are written out}}
  %0 = loop.stage %x {domain = array<i64: 0>, maps = [affine_map<(d0) -> (d0)>], reduce = array<i64: 0>, reducer = "sum", schedule = {unroll = 2147483648 : i64, vector = 0 : i64, width = 16 : i64}, space = "register"} : (tensor<24xf32>) -> tensor<f32> {
  ^bb0(%a: f32):
    loop.yield %a : f32
  }
  loop.return %0 : tensor<f32>
}

// -----

// expected-error @+1 {{C3: the schedule asks for 9223372036854775807 copies of the body}}
loop.kernel @kernel {schedule = {unroll = array<i64: 4611686018427387904, 4>}, shapes = [affine_map<() -> (24)>, affine_map<() -> (24)>], sizes = affine_map<() -> (24)>, symbols = array<i64>} : () -> () {
^bb0(%x: tensor<24xf32>):
  %0 = loop.stage %x {domain = array<i64: 0>, maps = [affine_map<(d0) -> (d0)>], space = "buffer"} : (tensor<24xf32>) -> tensor<24xf32> {
  ^bb0(%a: f32):
    loop.yield %a : f32
  }
  loop.return %0 : tensor<24xf32>
}

// -----

// expected-error @+1 {{C4: the domain [-2] is not of the 1 dims of the kernel}}
loop.kernel @domain {shapes = [affine_map<() -> (24)>, affine_map<() -> (24)>], sizes = affine_map<() -> (24)>, symbols = array<i64>} : () -> () {
^bb0(%x: tensor<24xf32>):
  %0 = loop.stage %x {domain = array<i64: -2>, maps = [affine_map<(d0) -> (d0)>], space = "buffer"} : (tensor<24xf32>) -> tensor<24xf32> {
  ^bb0(%a: f32):
    loop.yield %a : f32
  }
  loop.return %0 : tensor<24xf32>
}

// -----

// expected-error @+1 {{C4: the index of dim 255 is not of the 1 dims of the kernel}}
loop.kernel @index {shapes = [affine_map<() -> (24)>], sizes = affine_map<() -> (24)>, symbols = array<i64>} : () -> () {
  %0 = loop.stage {domain = array<i64: 0>, maps = [], space = "buffer"} : tensor<24xi64> {
    %i = loop.index {dim = 255 : i64} : index
    %n = arith.index_cast %i : index to i64
    loop.yield %n : i64
  }
  loop.return %0 : tensor<24xi64>
}
