// Two heads of queries share one of keys and values, which have a batch that the queries lack: heads are counted from the end.
// RUN: rs-opt %s --check-semantics=sets=2 --to=host | FileCheck %s
// CHECK: checked [[N:[0-9]+]] of [[N]] passes
func.func @main(%q: tensor<4x3x8xf32> {capture.kind = "input", capture.name = "q"},
                %k: tensor<5x2x6x8xf32> {capture.kind = "input", capture.name = "k"},
                %v: tensor<5x2x6x8xf32> {capture.kind = "input", capture.name = "v"})
    -> (tensor<5x4x3x8xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.scaled_dot_product_attention %q, %k, %v {dropout_p = 0.0 : f64, enable_gqa = true, is_causal = false, segments = array<i64: 1, 1, 1, 0>} : (tensor<4x3x8xf32>, tensor<5x2x6x8xf32>, tensor<5x2x6x8xf32>) -> tensor<5x4x3x8xf32>
  return %0 : tensor<5x4x3x8xf32>
}
