// Fewer causal queries than keys: the keys and values that no query attends to are not read.
// RUN: rs-opt %s --to=prim | FileCheck %s
// CHECK-DAG: prim.slice %{{.*}} sizes = array<i64: 2, 3, 8>
// CHECK-NOT: 3x100
func.func @main(%q: tensor<2x3x8xf32> {capture.kind = "input", capture.name = "q"},
                %k: tensor<2x100x8xf32> {capture.kind = "input", capture.name = "k"},
                %v: tensor<2x100x8xf32> {capture.kind = "input", capture.name = "v"})
    -> (tensor<2x3x8xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.scaled_dot_product_attention %q, %k, %v {dropout_p = 0.0 : f64, is_causal = true, segments = array<i64: 1, 1, 1, 0>} : (tensor<2x3x8xf32>, tensor<2x100x8xf32>, tensor<2x100x8xf32>) -> tensor<2x3x8xf32>
  return %0 : tensor<2x3x8xf32>
}
