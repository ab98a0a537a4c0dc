// Blocks of keys that a mask hides from all rows of a tile are passed over: a causal one, and one for all rows. (Scores of
// the one between are computed with that mask, an output, and apart from their mean.)
// 301 keys are two blocks of 128 and a part of one, which is looked at with keys before it.
// RUN: rs-opt %s --to=cpu | FileCheck %s
// RUN: rs-run %s > %t.fused
// RUN: rs-run %s --skip schedule-cpu > %t.single && diff %t.fused %t.single
// RUN: rs-run %s --skip fuse-attention > %t.apart && diff %t.fused %t.apart

// CHECK: llvm.load {{.*}} !llvm.ptr -> vector<32xi8>
// CHECK: %[[SEEN:.*]] = vector.reduction <or>, {{.*}} : vector<32xi1> into i1
// CHECK: scf.if %[[SEEN]]

// Rounding the results hides the different order of additions.
func.func @main(%q: tensor<3x77x9xf32> {capture.kind = "input", capture.name = "q"},
                %r: tensor<3x77x9xf32> {capture.kind = "input", capture.name = "r"},
                %s: tensor<3x77x9xf32> {capture.kind = "input", capture.name = "s"},
                %k: tensor<3x301x9xf32> {capture.kind = "input", capture.name = "k"},
                %v: tensor<3x301x11xf32> {capture.kind = "input", capture.name = "v"})
    -> (tensor<3x77x11xf32> {capture.kind = "output"}, tensor<3x77x11xf32> {capture.kind = "output"},
        tensor<3x77x11xf32> {capture.kind = "output"}, tensor<3x77x301xi1> {capture.kind = "output"},
        tensor<3x1x301xi1> {capture.kind = "output"}, tensor<77x301xi1> {capture.kind = "output"}) attributes {capture.entry} {
  %row = prim.iota {dim = 0 : i64} : () -> tensor<77x301xi64>
  %key = prim.iota {dim = 1 : i64} : () -> tensor<77x301xi64>
  %causal = prim.le %key, %row : (tensor<77x301xi64>, tensor<77x301xi64>) -> tensor<77x301xi1>
  // Batch 0 sees nothing, batch 1 one key a row from row 70 on, batch 2 one key a row from row 35 on.
  %batch = prim.iota {dim = 0 : i64} : () -> tensor<3x77x301xi64>
  %line = prim.iota {dim = 1 : i64} : () -> tensor<3x77x301xi64>
  %last = prim.iota {dim = 2 : i64} : () -> tensor<3x77x301xi64>
  %lines = prim.mul %line, %batch : (tensor<3x77x301xi64>, tensor<3x77x301xi64>) -> tensor<3x77x301xi64>
  %sum = prim.add %lines, %last : (tensor<3x77x301xi64>, tensor<3x77x301xi64>) -> tensor<3x77x301xi64>
  %wanted = prim.constant {value = dense<370> : tensor<i64>} : () -> tensor<i64>
  %wanted_all = prim.broadcast %wanted {dims = array<i64>} : (tensor<i64>) -> tensor<3x77x301xi64>
  %few = prim.eq %sum, %wanted_all : (tensor<3x77x301xi64>, tensor<3x77x301xi64>) -> tensor<3x77x301xi1>
  %b1 = prim.iota {dim = 0 : i64} : () -> tensor<3x1x301xi64>
  %k1 = prim.iota {dim = 2 : i64} : () -> tensor<3x1x301xi64>
  %h = prim.constant {value = dense<130> : tensor<i64>} : () -> tensor<i64>
  %h1 = prim.broadcast %h {dims = array<i64>} : (tensor<i64>) -> tensor<3x1x301xi64>
  %most = prim.mul %b1, %h1 : (tensor<3x1x301xi64>, tensor<3x1x301xi64>) -> tensor<3x1x301xi64>
  %padding = prim.lt %k1, %most : (tensor<3x1x301xi64>, tensor<3x1x301xi64>) -> tensor<3x1x301xi1>
  %0 = aten.scaled_dot_product_attention %q, %k, %v, %causal {segments = array<i64: 1, 1, 1, 1>} : (tensor<3x77x9xf32>, tensor<3x301x9xf32>, tensor<3x301x11xf32>, tensor<77x301xi1>) -> tensor<3x77x11xf32>
  %1 = aten.scaled_dot_product_attention %r, %k, %v, %few {segments = array<i64: 1, 1, 1, 1>} : (tensor<3x77x9xf32>, tensor<3x301x9xf32>, tensor<3x301x11xf32>, tensor<3x77x301xi1>) -> tensor<3x77x11xf32>
  %2 = aten.scaled_dot_product_attention %s, %k, %v, %padding {segments = array<i64: 1, 1, 1, 1>} : (tensor<3x77x9xf32>, tensor<3x301x9xf32>, tensor<3x301x11xf32>, tensor<3x1x301xi1>) -> tensor<3x77x11xf32>
  %3 = aten.mul.Scalar %0 {other = 100.0 : f64} : (tensor<3x77x11xf32>) -> tensor<3x77x11xf32>
  %4 = aten.mul.Scalar %1 {other = 100.0 : f64} : (tensor<3x77x11xf32>) -> tensor<3x77x11xf32>
  %5 = aten.mul.Scalar %2 {other = 100.0 : f64} : (tensor<3x77x11xf32>) -> tensor<3x77x11xf32>
  %6 = aten.round %3 : (tensor<3x77x11xf32>) -> tensor<3x77x11xf32>
  %7 = aten.round %4 : (tensor<3x77x11xf32>) -> tensor<3x77x11xf32>
  %8 = aten.round %5 : (tensor<3x77x11xf32>) -> tensor<3x77x11xf32>
  return %6, %7, %8, %few, %padding, %causal : tensor<3x77x11xf32>, tensor<3x77x11xf32>, tensor<3x77x11xf32>, tensor<3x77x301xi1>, tensor<3x1x301xi1>, tensor<77x301xi1>
}
