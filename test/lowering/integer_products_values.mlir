// Products of quantised numbers give what the products of their values give, to the bit: all scales are powers of two, and no sum needs more
// than the 24 bits of an f32. A convolution whose padding is a zero point, one with signed elements and strides, one of three channels, and a
// product with a zero point for each row, of unknown many.
// RUN: rs-run %s > %t.integers
// RUN: rs-run %s --skip integer-products > %t.floats && diff %t.integers %t.floats
// RUN: rs-run %s --skip quad-bytes > %t.bytes && diff %t.integers %t.bytes
// RUN: rs-run %s --skip schedule-cpu,pack-operands > %t.loops && diff %t.integers %t.loops

func.func @main(%x: tensor<2x16x9x9xf32> {capture.kind = "input", capture.name = "x"}, %w: tensor<24x16x3x3xi8> {capture.kind = "input", capture.name = "w"},
                %i: tensor<2x3x9x9xui8> {capture.kind = "input", capture.name = "i"}, %v: tensor<40x3x3x3xi8> {capture.kind = "input", capture.name = "v"},
                %e: tensor<?x100xi8> {capture.kind = "input", capture.name = "e"}, %z: tensor<?xi8> {capture.kind = "input", capture.name = "z"},
                %m: tensor<70x100xi8> {capture.kind = "input", capture.name = "m"})
    -> (tensor<2x24x9x9xf32> {capture.kind = "output"}, tensor<2x24x5x5xf32> {capture.kind = "output"}, tensor<2x40x9x9xf32> {capture.kind = "output"},
        tensor<?x70xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %n = capture.dim %e {dim = 0 : i64, symbol = "n", min = 0 : i64, max = 1000000 : i64} : (tensor<?x100xi8>) -> index
  capture.bind_dims %z, %n {shape = affine_map<()[s0] -> (s0)>} : (tensor<?xi8>, index) -> ()
  %c = prim.constant {value = dense<9.0> : tensor<f32>} : tensor<f32>
  %s = prim.constant {value = dense<0.0625> : tensor<f32>} : tensor<f32>
  %l = prim.constant {value = dense<0.0> : tensor<f32>} : tensor<f32>
  %h = prim.constant {value = dense<255.0> : tensor<f32>} : tensor<f32>
  %sw = prim.broadcast %s {dims = array<i64>} : (tensor<f32>) -> tensor<24x16x3x3xf32>
  %sv = prim.broadcast %s {dims = array<i64>} : (tensor<f32>) -> tensor<40x3x3x3xf32>
  %w0 = prim.convert %w : (tensor<24x16x3x3xi8>) -> tensor<24x16x3x3xf32>
  %w1 = prim.mul %w0, %sw : tensor<24x16x3x3xf32>
  %v0 = prim.convert %v : (tensor<40x3x3x3xi8>) -> tensor<40x3x3x3xf32>
  %v1 = prim.mul %v0, %sv : tensor<40x3x3x3xf32>

  %k = prim.constant {value = dense<32.0> : tensor<f32>} : tensor<f32>
  %xk = prim.broadcast %k {dims = array<i64>} : (tensor<f32>) -> tensor<2x16x9x9xf32>
  %xc = prim.broadcast %c {dims = array<i64>} : (tensor<f32>) -> tensor<2x16x9x9xf32>
  %xl = prim.broadcast %l {dims = array<i64>} : (tensor<f32>) -> tensor<2x16x9x9xf32>
  %xh = prim.broadcast %h {dims = array<i64>} : (tensor<f32>) -> tensor<2x16x9x9xf32>
  %xs = prim.broadcast %s {dims = array<i64>} : (tensor<f32>) -> tensor<2x16x9x9xf32>
  %x0 = prim.mul %x, %xk : tensor<2x16x9x9xf32>
  %x1 = prim.round %x0 : tensor<2x16x9x9xf32>
  %x2 = prim.add %x1, %xc : tensor<2x16x9x9xf32>
  %x3 = prim.maximum %x2, %xl : tensor<2x16x9x9xf32>
  %x4 = prim.minimum %x3, %xh : tensor<2x16x9x9xf32>
  %q = prim.convert %x4 : (tensor<2x16x9x9xf32>) -> tensor<2x16x9x9xui8>
  %q0 = prim.convert %q : (tensor<2x16x9x9xui8>) -> tensor<2x16x9x9xf32>
  %q1 = prim.sub %q0, %xc : tensor<2x16x9x9xf32>
  %q2 = prim.mul %q1, %xs : tensor<2x16x9x9xf32>
  %0 = prim.conv %q2, %w1 {strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x16x9x9xf32>, tensor<24x16x3x3xf32>) -> tensor<2x24x9x9xf32>

  %y0 = prim.sub %x1, %xl : tensor<2x16x9x9xf32>
  %g = prim.convert %y0 : (tensor<2x16x9x9xf32>) -> tensor<2x16x9x9xi8>
  %g0 = prim.convert %g : (tensor<2x16x9x9xi8>) -> tensor<2x16x9x9xf32>
  %1 = prim.conv %g0, %w1 {strides = array<i64: 2, 2>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x16x9x9xf32>, tensor<24x16x3x3xf32>) -> tensor<2x24x5x5xf32>

  %i0 = prim.convert %i : (tensor<2x3x9x9xui8>) -> tensor<2x3x9x9xf32>
  %2 = prim.conv %i0, %v1 {strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x3x9x9xf32>, tensor<40x3x3x3xf32>) -> tensor<2x40x9x9xf32>

  %e0 = prim.convert %e : (tensor<?x100xi8>) -> tensor<?x100xf32>
  %z0 = prim.convert %z : (tensor<?xi8>) -> tensor<?xf32>
  %z1 = prim.broadcast %z0, %n {dims = array<i64: 0>} : (tensor<?xf32>, index) -> tensor<?x100xf32>
  %e1 = prim.sub %e0, %z1 : tensor<?x100xf32>
  %m0 = prim.convert %m : (tensor<70x100xi8>) -> tensor<70x100xf32>
  %3 = prim.dot %e1, %m0 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<?x100xf32>, tensor<70x100xf32>) -> tensor<?x70xf32>
  return %0, %1, %2, %3 : tensor<2x24x9x9xf32>, tensor<2x24x5x5xf32>, tensor<2x40x9x9xf32>, tensor<?x70xf32>
}
