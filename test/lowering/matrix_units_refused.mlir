// RUN: not rs-opt %s --attach-target=cpu=sapphirerapids --loop-to-host --loop-to-cpu --split-input-file 2>&1 | rs-filecheck %s

// Sums in tiles are read row by row.
// CHECK: kernel 'rolled' cannot be emitted for the CPU: the schedule has 'matrix_units', and not both a 'tile' and a 'roll', the dim of its rows
loop.kernel @rolled {schedule = {matrix_units = true, order = array<i64: 0, 1>, tile = array<i64: 32, 32>, unroll = array<i64: 32, 2>, vector = 1 : i64, width = 16 : i64}, shapes = [affine_map<() -> (32, 16)>, affine_map<() -> (16, 32)>, affine_map<() -> (32, 32)>], sizes = affine_map<() -> (32, 32, 16)>, symbols = array<i64>} : () -> () {
^bb0(%a: tensor<32x16xi32>, %b: tensor<16x32xi32>):
  %0 = loop.stage %a, %b {domain = array<i64: 0, 1, 2>, instruction = "avx512bf16", maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>], reduce = array<i64: 2>, reducer = "sum", space = "register"} : (tensor<32x16xi32>, tensor<16x32xi32>) -> tensor<32x32xf32> {
  ^bb0(%x: i32, %y: i32):
    %2 = arith.muli %x, %y : i32
    %3 = arith.bitcast %2 : i32 to f32
    loop.yield %3 : f32
  }
  %1 = loop.stage %0 {domain = array<i64: 0, 1>, maps = [affine_map<(d0, d1, d2) -> (d0, d1)>], space = "buffer"} : tensor<32x32xf32> {
  ^bb0(%x: f32):
    loop.yield %x : f32
  }
  loop.return %1 : tensor<32x32xf32>
}
func.func @main(%a: tensor<32x16xi32>, %b: tensor<16x32xi32>) -> tensor<32x32xf32> {
  %0 = loop.call %a, %b {callee = @rolled} : (tensor<32x16xi32>, tensor<16x32xi32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}

// -----

// Units multiply words.
// CHECK: kernel 'named' cannot be emitted for the CPU: the schedule has 'matrix_units', and the stage names no instruction that they have
loop.kernel @named {schedule = {matrix_units = true, order = array<i64: 0, 1>, roll = 0 : i64, tile = array<i64: 32, 32>, unroll = array<i64: 32, 2>, vector = 1 : i64, width = 16 : i64}, shapes = [affine_map<() -> (32, 16)>, affine_map<() -> (16, 32)>, affine_map<() -> (32, 32)>], sizes = affine_map<() -> (32, 32, 16)>, symbols = array<i64>} : () -> () {
^bb0(%a: tensor<32x16xi32>, %b: tensor<16x32xi32>):
  %0 = loop.stage %a, %b {domain = array<i64: 0, 1, 2>, maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>], reduce = array<i64: 2>, reducer = "sum", space = "register"} : (tensor<32x16xi32>, tensor<16x32xi32>) -> tensor<32x32xf32> {
  ^bb0(%x: i32, %y: i32):
    %2 = arith.muli %x, %y : i32
    %3 = arith.bitcast %2 : i32 to f32
    loop.yield %3 : f32
  }
  %1 = loop.stage %0 {domain = array<i64: 0, 1>, maps = [affine_map<(d0, d1, d2) -> (d0, d1)>], space = "buffer"} : tensor<32x32xf32> {
  ^bb0(%x: f32):
    loop.yield %x : f32
  }
  loop.return %1 : tensor<32x32xf32>
}
func.func @main(%a: tensor<32x16xi32>, %b: tensor<16x32xi32>) -> tensor<32x32xf32> {
  %0 = loop.call %a, %b {callee = @named} : (tensor<32x16xi32>, tensor<16x32xi32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}

// -----

// What units add up does not go to memory by itself.
// CHECK: kernel 'stored' cannot be emitted for the CPU: the schedule has 'matrix_units', and no stage follows that stores its sums
loop.kernel @stored {schedule = {matrix_units = true, order = array<i64: 0, 1>, roll = 0 : i64, tile = array<i64: 32, 32>, unroll = array<i64: 32, 2>, vector = 1 : i64, width = 16 : i64}, shapes = [affine_map<() -> (32, 16)>, affine_map<() -> (16, 32)>, affine_map<() -> (32, 32)>], sizes = affine_map<() -> (32, 32, 16)>, symbols = array<i64>} : () -> () {
^bb0(%a: tensor<32x16xi32>, %b: tensor<16x32xi32>):
  %0 = loop.stage %a, %b {domain = array<i64: 0, 1, 2>, instruction = "avx512bf16", maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>], reduce = array<i64: 2>, reducer = "sum", space = "buffer"} : (tensor<32x16xi32>, tensor<16x32xi32>) -> tensor<32x32xf32> {
  ^bb0(%x: i32, %y: i32):
    %2 = arith.muli %x, %y : i32
    %3 = arith.bitcast %2 : i32 to f32
    loop.yield %3 : f32
  }
  loop.return %0 : tensor<32x32xf32>
}
func.func @main(%a: tensor<32x16xi32>, %b: tensor<16x32xi32>) -> tensor<32x32xf32> {
  %0 = loop.call %a, %b {callee = @stored} : (tensor<32x16xi32>, tensor<16x32xi32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}

// -----

// A unit has eight tiles.
// CHECK: kernel 'large' cannot be emitted for the CPU: the schedule has 'matrix_units', and the register block is not one of up to six tiles of 16 by 16 sums
loop.kernel @large {schedule = {matrix_units = true, order = array<i64: 0, 1>, roll = 0 : i64, tile = array<i64: 64, 32>, unroll = array<i64: 64, 2>, vector = 1 : i64, width = 16 : i64}, shapes = [affine_map<() -> (64, 16)>, affine_map<() -> (16, 32)>, affine_map<() -> (64, 32)>], sizes = affine_map<() -> (64, 32, 16)>, symbols = array<i64>} : () -> () {
^bb0(%a: tensor<64x16xi32>, %b: tensor<16x32xi32>):
  %0 = loop.stage %a, %b {domain = array<i64: 0, 1, 2>, instruction = "avx512bf16", maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>], reduce = array<i64: 2>, reducer = "sum", space = "register"} : (tensor<64x16xi32>, tensor<16x32xi32>) -> tensor<64x32xf32> {
  ^bb0(%x: i32, %y: i32):
    %2 = arith.muli %x, %y : i32
    %3 = arith.bitcast %2 : i32 to f32
    loop.yield %3 : f32
  }
  %1 = loop.stage %0 {domain = array<i64: 0, 1>, maps = [affine_map<(d0, d1, d2) -> (d0, d1)>], space = "buffer"} : tensor<64x32xf32> {
  ^bb0(%x: f32):
    loop.yield %x : f32
  }
  loop.return %1 : tensor<64x32xf32>
}
func.func @main(%a: tensor<64x16xi32>, %b: tensor<16x32xi32>) -> tensor<64x32xf32> {
  %0 = loop.call %a, %b {callee = @large} : (tensor<64x16xi32>, tensor<16x32xi32>) -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}

// -----

// A row of a tile is one piece of memory.
// CHECK: kernel 'apart' cannot be emitted for the CPU: the schedule has 'matrix_units', and the words of a row do not lie beside each other
loop.kernel @apart {schedule = {matrix_units = true, order = array<i64: 0, 1>, roll = 0 : i64, tile = array<i64: 32, 32>, unroll = array<i64: 32, 2>, vector = 1 : i64, width = 16 : i64}, shapes = [affine_map<() -> (16, 32)>, affine_map<() -> (16, 32)>, affine_map<() -> (32, 32)>], sizes = affine_map<() -> (32, 32, 16)>, symbols = array<i64>} : () -> () {
^bb0(%a: tensor<16x32xi32>, %b: tensor<16x32xi32>):
  %0 = loop.stage %a, %b {domain = array<i64: 0, 1, 2>, instruction = "avx512bf16", maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>], reduce = array<i64: 2>, reducer = "sum", space = "register"} : (tensor<16x32xi32>, tensor<16x32xi32>) -> tensor<32x32xf32> {
  ^bb0(%x: i32, %y: i32):
    %2 = arith.muli %x, %y : i32
    %3 = arith.bitcast %2 : i32 to f32
    loop.yield %3 : f32
  }
  %1 = loop.stage %0 {domain = array<i64: 0, 1>, maps = [affine_map<(d0, d1, d2) -> (d0, d1)>], space = "buffer"} : tensor<32x32xf32> {
  ^bb0(%x: f32):
    loop.yield %x : f32
  }
  loop.return %1 : tensor<32x32xf32>
}
func.func @main(%a: tensor<16x32xi32>, %b: tensor<16x32xi32>) -> tensor<32x32xf32> {
  %0 = loop.call %a, %b {callee = @apart} : (tensor<16x32xi32>, tensor<16x32xi32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}

// -----

// A product has one dim of rows.
// CHECK: kernel 'twice' cannot be emitted for the CPU: the schedule has 'matrix_units', and the stage is no product
loop.kernel @twice {schedule = {matrix_units = true, order = array<i64: 0, 1>, roll = 1 : i64, tile = array<i64: 32, 32>, unroll = array<i64: 2, 32>, vector = 0 : i64, width = 16 : i64}, shapes = [affine_map<() -> (32, 16)>, affine_map<() -> (16, 32)>, affine_map<() -> (32, 32)>], sizes = affine_map<() -> (32, 32, 16)>, symbols = array<i64>} : () -> () {
^bb0(%a: tensor<32x16xi32>, %b: tensor<16x32xi32>):
  %0 = loop.stage %a, %b {domain = array<i64: 0, 1, 2>, instruction = "avx512bf16", maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>], reduce = array<i64: 2>, reducer = "sum", space = "register"} : (tensor<32x16xi32>, tensor<16x32xi32>) -> tensor<32x32xf32> {
  ^bb0(%x: i32, %y: i32):
    %2 = arith.muli %x, %y : i32
    %3 = arith.bitcast %2 : i32 to f32
    loop.yield %3 : f32
  }
  %1 = loop.stage %0 {domain = array<i64: 0, 1>, maps = [affine_map<(d0, d1, d2) -> (d0, d1)>], space = "buffer"} : tensor<32x32xf32> {
  ^bb0(%x: f32):
    loop.yield %x : f32
  }
  loop.return %1 : tensor<32x32xf32>
}
func.func @main(%a: tensor<32x16xi32>, %b: tensor<16x32xi32>) -> tensor<32x32xf32> {
  %0 = loop.call %a, %b {callee = @twice} : (tensor<32x16xi32>, tensor<16x32xi32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}
