// Divisors whose reciprocals overflow or lose bits: zeros, infinities, NaN, subnormal and huge powers of two. Quotients of powers of
// two are rounded once either way, so they are the same.
// RUN: rs-run %s > %t.shared
// RUN: rs-run %s --skip share-reciprocals > %t.divided && diff %t.shared %t.divided

func.func @main(%x: tensor<12x160xf32> {capture.kind = "input", capture.name = "x"},
                %z: tensor<3x160xf64> {capture.kind = "input", capture.name = "z"})
    -> (tensor<12x160xf32> {capture.kind = "output"}, tensor<12x160xf32> {capture.kind = "output"}, tensor<3x160xf64> {capture.kind = "output"})
    attributes {capture.entry} {
  // 0, -0, inf, -inf, NaN, 2^-149, 2^-127, 2^-126, 2^126, 2^127, -4, 1
  %d = prim.constant {value = dense<[0.0, -0.0, 0x7F800000, 0xFF800000, 0x7FC00000, 0x00000001, 0x00400000, 0x00800000, 0x7E800000, 0x7F000000, -4.0, 1.0]> : tensor<12xf32>} : () -> tensor<12xf32>
  %0 = prim.broadcast %d {dims = array<i64: 0>} : (tensor<12xf32>) -> tensor<12x160xf32>
  %1 = prim.sub %x, %x : (tensor<12x160xf32>, tensor<12x160xf32>) -> tensor<12x160xf32>
  %2 = prim.add %1, %0 : (tensor<12x160xf32>, tensor<12x160xf32>) -> tensor<12x160xf32>
  %3 = prim.reduce %2 {dims = array<i64: 1>, kind = "max"} : (tensor<12x160xf32>) -> tensor<12xf32>
  %4 = prim.broadcast %3 {dims = array<i64: 0>} : (tensor<12xf32>) -> tensor<12x160xf32>
  %5 = prim.div %x, %4 : (tensor<12x160xf32>, tensor<12x160xf32>) -> tensor<12x160xf32>
  // Large and small numerators.
  %6 = prim.mul %0, %x : (tensor<12x160xf32>, tensor<12x160xf32>) -> tensor<12x160xf32>
  %7 = prim.div %6, %4 : (tensor<12x160xf32>, tensor<12x160xf32>) -> tensor<12x160xf32>
  %e = prim.constant {value = dense<[0x0000000000000001, 0x7FE0000000000000, 0x0008000000000000]> : tensor<3xf64>} : () -> tensor<3xf64>
  %8 = prim.broadcast %e {dims = array<i64: 0>} : (tensor<3xf64>) -> tensor<3x160xf64>
  %9 = prim.sub %z, %z : (tensor<3x160xf64>, tensor<3x160xf64>) -> tensor<3x160xf64>
  %10 = prim.add %9, %8 : (tensor<3x160xf64>, tensor<3x160xf64>) -> tensor<3x160xf64>
  %11 = prim.reduce %10 {dims = array<i64: 1>, kind = "max"} : (tensor<3x160xf64>) -> tensor<3xf64>
  %12 = prim.broadcast %11 {dims = array<i64: 0>} : (tensor<3xf64>) -> tensor<3x160xf64>
  %13 = prim.div %z, %12 : (tensor<3x160xf64>, tensor<3x160xf64>) -> tensor<3x160xf64>
  return %5, %7, %13 : tensor<12x160xf32>, tensor<12x160xf32>, tensor<3x160xf64>
}
