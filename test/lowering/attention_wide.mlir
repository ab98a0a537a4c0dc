// Means of a wide head have no room on a stack: the product with the values stays by itself.
// RUN: rs-opt %s --to=prim-fused | FileCheck %s
// RUN: rs-run %s 2>/dev/null | FileCheck %s --check-prefix=VALUES

// CHECK-NOT: prim.softmax_dot
// VALUES: output out0: f32[16] = [

func.func @main(%q: tensor<16x4xf32> {capture.kind = "input", capture.name = "q"},
                %k: tensor<16x4xf32> {capture.kind = "input", capture.name = "k"},
                %v: tensor<16x300000xf32> {capture.kind = "input", capture.name = "v"})
    -> (tensor<16xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %t = aten.t %k : (tensor<16x4xf32>) -> tensor<4x16xf32>
  %s = aten.mm %q, %t : (tensor<16x4xf32>, tensor<4x16xf32>) -> tensor<16x16xf32>
  %w = aten.softmax.int %s {dim = 1 : i64} : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %y = aten.mm %w, %v : (tensor<16x16xf32>, tensor<16x300000xf32>) -> tensor<16x300000xf32>
  %a = aten.select.int %y {dim = 1 : i64, index = 299999 : i64} : (tensor<16x300000xf32>) -> tensor<16xf32>
  %b = aten.mul.Scalar %a {other = 100.0 : f64} : (tensor<16xf32>) -> tensor<16xf32>
  %0 = aten.round %b : (tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
