// A kernel's writes at computed places: each numbered constraint.
// RUN: rs-opt %s --split-input-file --verify-diagnostics

loop.kernel @scatter_c1 {shapes = [affine_map<() -> (24)>, affine_map<() -> (24)>], sizes = affine_map<() -> (24)>, symbols = array<i64>} : () -> () {
^bb0(%x: tensor<24xf32>):
  // expected-error @+1 {{C1: 1 operands have 0 maps and 0 block arguments}}
  %0 = loop.scatter %x {domain = array<i64: 0>, maps = [], space = "buffer", kind = "set", conflict = "none"} : (tensor<24xf32>) -> tensor<24xf32> {
    %i = loop.index {dim = 0 : i64} : index
    %v = arith.constant 0.0 : f32
    loop.yield %i, %v : (index, f32) -> ()
  }
  loop.return %0 : tensor<24xf32>
}
