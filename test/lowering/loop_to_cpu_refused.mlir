// RUN: not rs-opt %s --loop-to-host --loop-to-cpu --split-input-file 2>&1 | rs-filecheck %s

// A register holds one element for each point of the outer loops: not a row of them.
// CHECK: kernel 'row' cannot be emitted for the CPU: a result in registers is not one value of the loops around all stages
loop.kernel @row {schedule = {order = array<i64: 0>}, shapes = [affine_map<() -> (4, 8)>, affine_map<() -> (4, 8)>], sizes = affine_map<() -> (4, 8)>, symbols = array<i64>} : () -> () {
^bb0(%x: tensor<4x8xf32>):
  %0 = loop.stage %x {domain = array<i64: 0, 1>, maps = [affine_map<(d0, d1) -> (d0, d1)>], space = "register"} : (tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%a: f32):
    %2 = arith.negf %a : f32
    loop.yield %2 : f32
  }
  %1 = loop.stage %0 {domain = array<i64: 0, 1>, maps = [affine_map<(d0, d1) -> (d0, d1)>], space = "buffer"} : tensor<4x8xf32> {
  ^bb0(%a: f32):
    loop.yield %a : f32
  }
  loop.return %1 : tensor<4x8xf32>
}
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = loop.call %x {callee = @row} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// The pieces of a sum are numbered by a loop around them.
// CHECK: kernel 'pieces' cannot be emitted for the CPU: the pieces of a reduction are not numbered by a loop around all stages
loop.kernel @pieces {schedule = {order = array<i64>}, shapes = [affine_map<() -> (8)>, affine_map<() -> (2)>], sizes = affine_map<() -> (2, 8)>, symbols = array<i64>} : () -> () {
^bb0(%x: tensor<8xf32>):
  %0 = loop.stage %x {chunk = array<i64: 0, 1, 4>, domain = array<i64: 0, 1>, maps = [affine_map<(d0, d1) -> (d1)>], reduce = array<i64: 1>, reducer = "sum", space = "buffer"} : (tensor<8xf32>) -> tensor<2xf32> {
  ^bb0(%a: f32):
    loop.yield %a : f32
  }
  loop.return %0 : tensor<2xf32>
}
func.func @main(%x: tensor<8xf32>) -> tensor<2xf32> {
  %0 = loop.call %x {callee = @pieces} : (tensor<8xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
