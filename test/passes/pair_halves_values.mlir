// Products of bf16 in pairs: odd sizes, a transposed operand, batches and symbolic sizes give what the plain form gives. (A sum of
// running sums weighs each element by its place. Elements are small integers, whose sums are exact in every order. Sorting has them in
// memory as bf16.)
// RUN: rs-run %s > %t.pairs
// RUN: rs-run %s --skip pair-halves > %t.plain && diff %t.pairs %t.plain
// RUN: rs-run %s --skip pack-operands,schedule-cpu > %t.loops && diff %t.loops %t.plain

func.func @main(%a: tensor<37x141xi8> {capture.kind = "input", capture.name = "a"},
                %b: tensor<141x170xi8> {capture.kind = "input", capture.name = "b"},
                %c: tensor<3x64x40xi8> {capture.kind = "input", capture.name = "c"},
                %d: tensor<3x99x64xi8> {capture.kind = "input", capture.name = "d"},
                %e: tensor<?x141xi8> {capture.kind = "input", capture.name = "e"})
    -> (tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"})
    attributes {capture.entry} {
  %n = capture.dim %e {dim = 0 : i64, symbol = "n", min = 0 : i64, max = 1000000 : i64} : (tensor<?x141xi8>) -> index
  %a0 = prim.convert %a : (tensor<37x141xi8>) -> tensor<37x141xbf16>
  %a1, %ia = aten.sort %a0 {dim = -1 : i64, descending = false} : (tensor<37x141xbf16>) -> (tensor<37x141xbf16>, tensor<37x141xi64>)
  %b0 = prim.convert %b : (tensor<141x170xi8>) -> tensor<141x170xbf16>
  %b1, %ib = aten.sort %b0 {dim = -1 : i64, descending = false} : (tensor<141x170xbf16>) -> (tensor<141x170xbf16>, tensor<141x170xi64>)
  %c0 = prim.convert %c : (tensor<3x64x40xi8>) -> tensor<3x64x40xbf16>
  %c1, %ic = aten.sort %c0 {dim = -1 : i64, descending = false} : (tensor<3x64x40xbf16>) -> (tensor<3x64x40xbf16>, tensor<3x64x40xi64>)
  %d0 = prim.convert %d : (tensor<3x99x64xi8>) -> tensor<3x99x64xbf16>
  %d1, %id = aten.sort %d0 {dim = -1 : i64, descending = false} : (tensor<3x99x64xbf16>) -> (tensor<3x99x64xbf16>, tensor<3x99x64xi64>)
  %e0 = prim.convert %e : (tensor<?x141xi8>) -> tensor<?x141xbf16>
  %e1, %ie = aten.sort %e0 {dim = -1 : i64, descending = false} : (tensor<?x141xbf16>) -> (tensor<?x141xbf16>, tensor<?x141xi64>)
  %0 = prim.dot %a1, %b1 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<37x141xbf16>, tensor<141x170xbf16>) -> tensor<37x170xbf16>
  %1 = prim.dot %c1, %d1 {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 2>} : (tensor<3x64x40xbf16>, tensor<3x99x64xbf16>) -> tensor<3x40x99xbf16>
  %2 = prim.dot %e1, %b1 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<?x141xbf16>, tensor<141x170xbf16>) -> tensor<?x170xbf16>
  %y0, %j0 = aten.sort %0 {dim = -1 : i64, descending = false} : (tensor<37x170xbf16>) -> (tensor<37x170xbf16>, tensor<37x170xi64>)
  %x0 = prim.convert %y0 : (tensor<37x170xbf16>) -> tensor<37x170xi64>
  %s0 = prim.scan %x0 {dim = 1 : i64, kind = "sum"} : tensor<37x170xi64>
  %t0 = prim.scan %s0 {dim = 0 : i64, kind = "sum"} : tensor<37x170xi64>
  %r0 = prim.reduce %t0 {dims = array<i64: 0, 1>, kind = "sum"} : (tensor<37x170xi64>) -> tensor<i64>
  %y1, %j1 = aten.sort %1 {dim = -1 : i64, descending = false} : (tensor<3x40x99xbf16>) -> (tensor<3x40x99xbf16>, tensor<3x40x99xi64>)
  %x1 = prim.convert %y1 : (tensor<3x40x99xbf16>) -> tensor<3x40x99xi64>
  %s1 = prim.scan %x1 {dim = 2 : i64, kind = "sum"} : tensor<3x40x99xi64>
  %t1 = prim.scan %s1 {dim = 1 : i64, kind = "sum"} : tensor<3x40x99xi64>
  %r1 = prim.reduce %t1 {dims = array<i64: 0, 1, 2>, kind = "sum"} : (tensor<3x40x99xi64>) -> tensor<i64>
  %y2, %j2 = aten.sort %2 {dim = -1 : i64, descending = false} : (tensor<?x170xbf16>) -> (tensor<?x170xbf16>, tensor<?x170xi64>)
  %x2 = prim.convert %y2 : (tensor<?x170xbf16>) -> tensor<?x170xi64>
  %s2 = prim.scan %x2 {dim = 1 : i64, kind = "sum"} : tensor<?x170xi64>
  %t2 = prim.scan %s2 {dim = 0 : i64, kind = "sum"} : tensor<?x170xi64>
  %r2 = prim.reduce %t2 {dims = array<i64: 0, 1>, kind = "sum"} : (tensor<?x170xi64>) -> tensor<i64>
  return %r0, %r1, %r2 : tensor<i64>, tensor<i64>, tensor<i64>
}
