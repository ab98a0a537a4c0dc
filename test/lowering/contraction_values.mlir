// Odd sizes, short rows, transposed operands, batches and symbolic sizes give what the kernels give without tiles and panels.
// (A sum of running sums weighs each element by its place.)
// RUN: rs-run %s > %t.tiled
// RUN: rs-run %s --skip pack-operands,schedule-cpu > %t.plain && diff %t.tiled %t.plain

func.func @main(%a: tensor<37x141xi32> {capture.kind = "input", capture.name = "a"},
                %b: tensor<141x70xi32> {capture.kind = "input", capture.name = "b"},
                %c: tensor<3x130x40xi32> {capture.kind = "input", capture.name = "c"},
                %d: tensor<3x99x130xi32> {capture.kind = "input", capture.name = "d"},
                %e: tensor<?x141xi32> {capture.kind = "input", capture.name = "e"},
                %f: tensor<141x?xi32> {capture.kind = "input", capture.name = "f"},
                %w: tensor<141x96xi32> {capture.kind = "input", capture.name = "w"},
                %g: tensor<26x1024xi32> {capture.kind = "input", capture.name = "g"},
                %h: tensor<1024x259xi32> {capture.kind = "input", capture.name = "h"})
    -> (tensor<i32> {capture.kind = "output"}, tensor<i32> {capture.kind = "output"}, tensor<i32> {capture.kind = "output"},
        tensor<i32> {capture.kind = "output"}, tensor<i32> {capture.kind = "output"}) attributes {capture.entry} {
  %n = capture.dim %e {dim = 0 : i64, symbol = "n", min = 0 : i64, max = 1000000 : i64} : (tensor<?x141xi32>) -> index
  %m = capture.dim %f {dim = 1 : i64, symbol = "m", min = 0 : i64, max = 1000000 : i64} : (tensor<141x?xi32>) -> index
  %0 = prim.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<37x141xi32>, tensor<141x70xi32>) -> tensor<37x70xi32>
  %s0 = prim.scan %0 {dim = 1 : i64, kind = "sum"} : tensor<37x70xi32>
  %t0 = prim.scan %s0 {dim = 0 : i64, kind = "sum"} : tensor<37x70xi32>
  %r0 = prim.reduce %t0 {dims = array<i64: 0, 1>, kind = "sum"} : (tensor<37x70xi32>) -> tensor<i32>
  // Both operands are transposed, and a long epilogue follows.
  %1 = prim.dot %c, %d {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 2>} : (tensor<3x130x40xi32>, tensor<3x99x130xi32>) -> tensor<3x40x99xi32>
  %x1 = prim.mul %1, %1 : tensor<3x40x99xi32>
  %y1 = prim.sub %x1, %1 : tensor<3x40x99xi32>
  %z1 = prim.xor %y1, %1 : tensor<3x40x99xi32>
  %v1 = prim.mul %z1, %y1 : tensor<3x40x99xi32>
  %s1 = prim.scan %v1 {dim = 2 : i64, kind = "sum"} : tensor<3x40x99xi32>
  %t1 = prim.scan %s1 {dim = 1 : i64, kind = "sum"} : tensor<3x40x99xi32>
  %r1 = prim.reduce %t1 {dims = array<i64: 0, 1, 2>, kind = "sum"} : (tensor<3x40x99xi32>) -> tensor<i32>
  // Fewer rows, and fewer columns, than a register block has.
  %2 = prim.dot %e, %f {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<?x141xi32>, tensor<141x?xi32>) -> tensor<?x?xi32>
  %s2 = prim.scan %2 {dim = 1 : i64, kind = "sum"} : tensor<?x?xi32>
  %r2 = prim.reduce %s2 {dims = array<i64: 0, 1>, kind = "sum"} : (tensor<?x?xi32>) -> tensor<i32>
  // Panels of three registers.
  %3 = prim.dot %a, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<37x141xi32>, tensor<141x96xi32>) -> tensor<37x96xi32>
  %s3 = prim.scan %3 {dim = 1 : i64, kind = "sum"} : tensor<37x96xi32>
  %r3 = prim.reduce %s3 {dims = array<i64: 0, 1>, kind = "sum"} : (tensor<37x96xi32>) -> tensor<i32>
  // Rows that lie 4096 bytes apart.
  %4 = prim.dot %g, %h {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<26x1024xi32>, tensor<1024x259xi32>) -> tensor<26x259xi32>
  %s4 = prim.scan %4 {dim = 1 : i64, kind = "sum"} : tensor<26x259xi32>
  %t4 = prim.scan %s4 {dim = 0 : i64, kind = "sum"} : tensor<26x259xi32>
  %r4 = prim.reduce %t4 {dims = array<i64: 0, 1>, kind = "sum"} : (tensor<26x259xi32>) -> tensor<i32>
  return %r0, %r1, %r2, %r3, %r4 : tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>
}
