// Products of bytes in fours: signed and unsigned operands on both sides, odd sizes, a transposed operand, batches and symbolic sizes give what
// the plain form gives, to the bit. (A sum of running sums weighs each element by its place.)
// RUN: rs-run %s > %t.quads
// RUN: rs-run %s --skip quad-bytes > %t.plain && diff %t.quads %t.plain
// RUN: rs-run %s --skip pack-operands,schedule-cpu > %t.loops && diff %t.loops %t.plain

func.func @main(%a: tensor<37x141xi8> {capture.kind = "input", capture.name = "a"},
                %b: tensor<141x170xi8> {capture.kind = "input", capture.name = "b"},
                %u: tensor<37x141xui8> {capture.kind = "input", capture.name = "u"},
                %v: tensor<141x170xui8> {capture.kind = "input", capture.name = "v"},
                %c: tensor<3x64x40xi8> {capture.kind = "input", capture.name = "c"},
                %d: tensor<3x99x64xi8> {capture.kind = "input", capture.name = "d"},
                %e: tensor<?x141xi8> {capture.kind = "input", capture.name = "e"})
    -> (tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"},
        tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"})
    attributes {capture.entry} {
  %n = capture.dim %e {dim = 0 : i64, symbol = "n", min = 0 : i64, max = 1000000 : i64} : (tensor<?x141xi8>) -> index
  %a1 = prim.convert %a : (tensor<37x141xi8>) -> tensor<37x141xi32>
  %b1 = prim.convert %b : (tensor<141x170xi8>) -> tensor<141x170xi32>
  %u1 = prim.convert %u : (tensor<37x141xui8>) -> tensor<37x141xi32>
  %v1 = prim.convert %v : (tensor<141x170xui8>) -> tensor<141x170xi32>
  %c1 = prim.convert %c : (tensor<3x64x40xi8>) -> tensor<3x64x40xi32>
  %d1 = prim.convert %d : (tensor<3x99x64xi8>) -> tensor<3x99x64xi32>
  %e1 = prim.convert %e : (tensor<?x141xi8>) -> tensor<?x141xi32>
  %0 = prim.dot %a1, %b1 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<37x141xi32>, tensor<141x170xi32>) -> tensor<37x170xi32>
  %1 = prim.dot %u1, %b1 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<37x141xi32>, tensor<141x170xi32>) -> tensor<37x170xi32>
  %2 = prim.dot %a1, %v1 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<37x141xi32>, tensor<141x170xi32>) -> tensor<37x170xi32>
  %3 = prim.dot %u1, %v1 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<37x141xi32>, tensor<141x170xi32>) -> tensor<37x170xi32>
  %4 = prim.dot %c1, %d1 {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 2>} : (tensor<3x64x40xi32>, tensor<3x99x64xi32>) -> tensor<3x40x99xi32>
  %5 = prim.dot %e1, %b1 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<?x141xi32>, tensor<141x170xi32>) -> tensor<?x170xi32>
  %x0 = prim.convert %0 : (tensor<37x170xi32>) -> tensor<37x170xi64>
  %s0 = prim.scan %x0 {dim = 1 : i64, kind = "sum"} : tensor<37x170xi64>
  %t0 = prim.scan %s0 {dim = 0 : i64, kind = "sum"} : tensor<37x170xi64>
  %r0 = prim.reduce %t0 {dims = array<i64: 0, 1>, kind = "sum"} : (tensor<37x170xi64>) -> tensor<i64>
  %x1 = prim.convert %1 : (tensor<37x170xi32>) -> tensor<37x170xi64>
  %s1 = prim.scan %x1 {dim = 1 : i64, kind = "sum"} : tensor<37x170xi64>
  %t1 = prim.scan %s1 {dim = 0 : i64, kind = "sum"} : tensor<37x170xi64>
  %r1 = prim.reduce %t1 {dims = array<i64: 0, 1>, kind = "sum"} : (tensor<37x170xi64>) -> tensor<i64>
  %x2 = prim.convert %2 : (tensor<37x170xi32>) -> tensor<37x170xi64>
  %s2 = prim.scan %x2 {dim = 1 : i64, kind = "sum"} : tensor<37x170xi64>
  %t2 = prim.scan %s2 {dim = 0 : i64, kind = "sum"} : tensor<37x170xi64>
  %r2 = prim.reduce %t2 {dims = array<i64: 0, 1>, kind = "sum"} : (tensor<37x170xi64>) -> tensor<i64>
  %x3 = prim.convert %3 : (tensor<37x170xi32>) -> tensor<37x170xi64>
  %s3 = prim.scan %x3 {dim = 1 : i64, kind = "sum"} : tensor<37x170xi64>
  %t3 = prim.scan %s3 {dim = 0 : i64, kind = "sum"} : tensor<37x170xi64>
  %r3 = prim.reduce %t3 {dims = array<i64: 0, 1>, kind = "sum"} : (tensor<37x170xi64>) -> tensor<i64>
  %x4 = prim.convert %4 : (tensor<3x40x99xi32>) -> tensor<3x40x99xi64>
  %s4 = prim.scan %x4 {dim = 2 : i64, kind = "sum"} : tensor<3x40x99xi64>
  %t4 = prim.scan %s4 {dim = 1 : i64, kind = "sum"} : tensor<3x40x99xi64>
  %r4 = prim.reduce %t4 {dims = array<i64: 0, 1, 2>, kind = "sum"} : (tensor<3x40x99xi64>) -> tensor<i64>
  %x5 = prim.convert %5 : (tensor<?x170xi32>) -> tensor<?x170xi64>
  %s5 = prim.scan %x5 {dim = 1 : i64, kind = "sum"} : tensor<?x170xi64>
  %t5 = prim.scan %s5 {dim = 0 : i64, kind = "sum"} : tensor<?x170xi64>
  %r5 = prim.reduce %t5 {dims = array<i64: 0, 1>, kind = "sum"} : (tensor<?x170xi64>) -> tensor<i64>
  return %r0, %r1, %r2, %r3, %r4, %r5 : tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>
}
