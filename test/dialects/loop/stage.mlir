// The ops of a kernel: each numbered constraint.
// RUN: rs-opt %s --split-input-file --verify-diagnostics

loop.kernel @stage_c1 {shapes = [affine_map<() -> (24)>, affine_map<() -> (24)>], sizes = affine_map<() -> (24)>, symbols = array<i64>} : () -> () {
^bb0(%x: tensor<24xf32>):
  // expected-error @+1 {{C1: 1 operands have 0 maps and 1 block arguments}}
  %0 = loop.stage %x {domain = array<i64: 0>, maps = [], space = "buffer"} : (tensor<24xf32>) -> tensor<24xf32> {
  ^bb0(%a: f32):
    loop.yield %a : f32
  }
  loop.return %0 : tensor<24xf32>
}

// -----

loop.kernel @stage_c1_argument {shapes = [affine_map<() -> (24)>, affine_map<() -> (24)>], sizes = affine_map<() -> (24)>, symbols = array<i64>} : () -> () {
^bb0(%x: tensor<24xf32>):
  // expected-error @+1 {{C1: 1 operands have 1 maps and 2 block arguments}}
  %0 = loop.stage %x {domain = array<i64: 0>, maps = [affine_map<(d0) -> (d0)>], space = "buffer"} : (tensor<24xf32>) -> tensor<24xf32> {
  ^bb0(%a: f32, %b: f32):
    loop.yield %a : f32
  }
  loop.return %0 : tensor<24xf32>
}

// -----

loop.kernel @stage_c2 {shapes = [affine_map<() -> (24)>, affine_map<() -> ()>], sizes = affine_map<() -> (24)>, symbols = array<i64>} : () -> () {
^bb0(%x: tensor<24xf32>):
  // expected-error @+1 {{C2: dim 1 is combined but not in the domain}}
  %0 = loop.stage %x {domain = array<i64: 0>, maps = [affine_map<(d0) -> (d0)>], space = "register", reduce = array<i64: 1>, reducer = "sum"} : (tensor<24xf32>) -> tensor<f32> {
  ^bb0(%a: f32):
    loop.yield %a : f32
  }
  loop.return %0 : tensor<f32>
}

// -----

loop.kernel @stage_c2_scan {shapes = [affine_map<() -> (24)>, affine_map<() -> (24)>], sizes = affine_map<() -> (24)>, symbols = array<i64>} : () -> () {
^bb0(%x: tensor<24xf32>):
  // expected-error @+1 {{C2: dim 1 is combined but not in the domain}}
  %0 = loop.stage %x {domain = array<i64: 0>, maps = [affine_map<(d0) -> (d0)>], space = "buffer", scan = 1 : i64, reducer = "sum"} : (tensor<24xf32>) -> tensor<24xf32> {
  ^bb0(%a: f32):
    loop.yield %a : f32
  }
  loop.return %0 : tensor<24xf32>
}

// -----

loop.kernel @stage_c3 {shapes = [affine_map<() -> (24)>, affine_map<() -> ()>], sizes = affine_map<() -> (24)>, symbols = array<i64>} : () -> () {
^bb0(%x: tensor<24xf32>):
  // expected-error @+1 {{C3: the reducer None does not fit what the stage combines}}
  %0 = loop.stage %x {domain = array<i64: 0>, maps = [affine_map<(d0) -> (d0)>], space = "register", reduce = array<i64: 0>} : (tensor<24xf32>) -> tensor<f32> {
  ^bb0(%a: f32):
    loop.yield %a : f32
  }
  loop.return %0 : tensor<f32>
}

// -----

loop.kernel @stage_c3_unknown {shapes = [affine_map<() -> (24)>, affine_map<() -> ()>], sizes = affine_map<() -> (24)>, symbols = array<i64>} : () -> () {
^bb0(%x: tensor<24xf32>):
  // expected-error @+1 {{C3: the reducer Some("mean") does not fit what the stage combines}}
  %0 = loop.stage %x {domain = array<i64: 0>, maps = [affine_map<(d0) -> (d0)>], space = "register", reduce = array<i64: 0>, reducer = "mean"} : (tensor<24xf32>) -> tensor<f32> {
  ^bb0(%a: f32):
    loop.yield %a : f32
  }
  loop.return %0 : tensor<f32>
}

// -----

loop.kernel @stage_c4 {shapes = [affine_map<() -> (24)>, affine_map<() -> (24)>], sizes = affine_map<() -> (24)>, symbols = array<i64>} : () -> () {
^bb0(%x: tensor<24xf32>):
  // expected-error @+1 {{C4: there is no space 'shared'}}
  %0 = loop.stage %x {domain = array<i64: 0>, maps = [affine_map<(d0) -> (d0)>], space = "shared"} : (tensor<24xf32>) -> tensor<24xf32> {
  ^bb0(%a: f32):
    loop.yield %a : f32
  }
  loop.return %0 : tensor<24xf32>
}

// -----

loop.kernel @stage_c5 {shapes = [affine_map<() -> (24)>, affine_map<() -> ()>], sizes = affine_map<() -> (24)>, symbols = array<i64>} : () -> () {
^bb0(%x: tensor<24xf32>):
  // expected-error @+1 {{C5: the chunk [0, 0, 4] does not name a dim of the domain, a reduced dim and a size}}
  %0 = loop.stage %x {domain = array<i64: 0>, maps = [affine_map<(d0) -> (d0)>], space = "register", reduce = array<i64: 0>, reducer = "sum", chunk = array<i64: 0, 0, 4>} : (tensor<24xf32>) -> tensor<f32> {
  ^bb0(%a: f32):
    loop.yield %a : f32
  }
  loop.return %0 : tensor<f32>
}

// -----

loop.kernel @stage_c6 {shapes = [affine_map<() -> (24)>, affine_map<() -> (24)>], sizes = affine_map<() -> (24)>, symbols = array<i64>} : () -> () {
^bb0(%x: tensor<24xf32>):
  // expected-error @+1 {{C6: the dims [1] cannot be those of what the body yields}}
  %0 = loop.stage %x {domain = array<i64: 0>, maps = [affine_map<(d0) -> (d0)>], space = "buffer", spread = array<i64: 1>} : (tensor<24xf32>) -> tensor<24xf32> {
  ^bb0(%a: f32):
    loop.yield %a : f32
  }
  loop.return %0 : tensor<24xf32>
}

// -----

loop.kernel @stage_c6_sum {shapes = [affine_map<() -> (24)>, affine_map<() -> ()>], sizes = affine_map<() -> (24)>, symbols = array<i64>} : () -> () {
^bb0(%x: tensor<24xf32>):
  // expected-error @+1 {{C6: the dims [0] cannot be those of what the body yields}}
  %0 = loop.stage %x {domain = array<i64: 0>, maps = [affine_map<(d0) -> (d0)>], space = "register", reduce = array<i64: 0>, reducer = "sum", spread = array<i64: 0>} : (tensor<24xf32>) -> tensor<f32> {
  ^bb0(%a: f32):
    loop.yield %a : f32
  }
  loop.return %0 : tensor<f32>
}

// -----

loop.kernel @stage_c7 {shapes = [affine_map<() -> (5)>, affine_map<() -> (5)>, affine_map<() -> (24)>, affine_map<() -> (5, 24)>], sizes = affine_map<() -> (5, 24)>, symbols = array<i64>} : () -> () {
^bb0(%begins: tensor<5xi64>, %ends: tensor<5xi64>, %x: tensor<24xf32>):
  // expected-error @+1 {{C7: segments of the dims []}}
  %0 = loop.stage %begins, %ends, %x {domain = array<i64: 0, 1>, maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>], space = "register", scan = 1 : i64, reducer = "sum", segments} : (tensor<5xi64>, tensor<5xi64>, tensor<24xf32>) -> tensor<5x24xf32> {
  ^bb0(%a: i64, %b: i64, %c: f32):
    loop.yield %c : f32
  }
  loop.return %0 : tensor<5x24xf32>
}

// -----

loop.kernel @stage_c7_pieces {shapes = [affine_map<() -> (5)>, affine_map<() -> (5)>, affine_map<() -> (24)>, affine_map<() -> (5)>], sizes = affine_map<() -> (5, 24)>, symbols = array<i64>} : () -> () {
^bb0(%begins: tensor<5xi64>, %ends: tensor<5xi64>, %x: tensor<24xf32>):
  // expected-error @+1 {{C7: a dim is reduced in segments and in pieces}}
  %0 = loop.stage %begins, %ends, %x {domain = array<i64: 0, 1>, maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>], space = "register", reduce = array<i64: 1>, reducer = "sum", chunk = array<i64: 0, 1, 4>, segments} : (tensor<5xi64>, tensor<5xi64>, tensor<24xf32>) -> tensor<5xf32> {
  ^bb0(%a: i64, %b: i64, %c: f32):
    loop.yield %c : f32
  }
  loop.return %0 : tensor<5xf32>
}

// -----

loop.kernel @stage_c7_moving {shapes = [affine_map<() -> (24)>, affine_map<() -> (5)>, affine_map<() -> (24)>, affine_map<() -> (5)>], sizes = affine_map<() -> (5, 24)>, symbols = array<i64>} : () -> () {
^bb0(%begins: tensor<24xi64>, %ends: tensor<5xi64>, %x: tensor<24xf32>):
  // expected-error @+1 {{C7: the first two operands cannot say where segments begin and end}}
  %0 = loop.stage %begins, %ends, %x {domain = array<i64: 0, 1>, maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>], space = "register", reduce = array<i64: 1>, reducer = "sum", segments} : (tensor<24xi64>, tensor<5xi64>, tensor<24xf32>) -> tensor<5xf32> {
  ^bb0(%a: i64, %b: i64, %c: f32):
    loop.yield %c : f32
  }
  loop.return %0 : tensor<5xf32>
}

// -----

loop.kernel @stage_c7_floats {shapes = [affine_map<() -> (5)>, affine_map<() -> (5)>, affine_map<() -> (24)>, affine_map<() -> (5)>], sizes = affine_map<() -> (5, 24)>, symbols = array<i64>} : () -> () {
^bb0(%begins: tensor<5xi64>, %ends: tensor<5xf32>, %x: tensor<24xf32>):
  // expected-error @+1 {{C7: the first two operands cannot say where segments begin and end}}
  %0 = loop.stage %begins, %ends, %x {domain = array<i64: 0, 1>, maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>], space = "register", reduce = array<i64: 1>, reducer = "sum", segments} : (tensor<5xi64>, tensor<5xf32>, tensor<24xf32>) -> tensor<5xf32> {
  ^bb0(%a: i64, %b: f32, %c: f32):
    loop.yield %c : f32
  }
  loop.return %0 : tensor<5xf32>
}

// -----

loop.kernel @stage_c7_one {shapes = [affine_map<() -> (5)>, affine_map<() -> (5)>], sizes = affine_map<() -> (5, 24)>, symbols = array<i64>} : () -> () {
^bb0(%begins: tensor<5xi64>):
  // expected-error @+1 {{C7: the first two operands cannot say where segments begin and end}}
  %0 = loop.stage %begins {domain = array<i64: 0, 1>, maps = [affine_map<(d0, d1) -> (d0)>], space = "register", reduce = array<i64: 1>, reducer = "sum", segments} : (tensor<5xi64>) -> tensor<5xf32> {
  ^bb0(%a: i64):
    %c = arith.sitofp %a : i64 to f32
    loop.yield %c : f32
  }
  loop.return %0 : tensor<5xf32>
}
