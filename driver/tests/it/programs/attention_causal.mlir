// Rows that see keys up to their own number, and up to three before it.
func.func @main(%q: tensor<2x150x24xf32> {capture.kind = "input", capture.name = "q"},
                %k: tensor<2x150x24xf32> {capture.kind = "input", capture.name = "k"},
                %v: tensor<2x150x40xf32> {capture.kind = "input", capture.name = "v"})
    -> (tensor<2x150x40xf32> {capture.kind = "output"}, tensor<2x150x40xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.scaled_dot_product_attention %q, %k, %v {segments = array<i64: 1, 1, 1, 0>, is_causal = true} : (tensor<2x150x24xf32>, tensor<2x150x24xf32>, tensor<2x150x40xf32>) -> tensor<2x150x40xf32>
  %row = prim.iota {dim = 0 : i64} : () -> tensor<150x150xi64>
  %key = prim.iota {dim = 1 : i64} : () -> tensor<150x150xi64>
  %three = prim.constant {value = dense<3> : tensor<i64>} : () -> tensor<i64>
  %threes = prim.broadcast %three {dims = array<i64>} : (tensor<i64>) -> tensor<150x150xi64>
  %last = prim.add %key, %threes : (tensor<150x150xi64>, tensor<150x150xi64>) -> tensor<150x150xi64>
  %m = prim.le %last, %row : (tensor<150x150xi64>, tensor<150x150xi64>) -> tensor<150x150xi1>
  %1 = aten.scaled_dot_product_attention %k, %q, %v, %m {segments = array<i64: 1, 1, 1, 1>} : (tensor<2x150x24xf32>, tensor<2x150x24xf32>, tensor<2x150x40xf32>, tensor<150x150xi1>) -> tensor<2x150x40xf32>
  return %0, %1 : tensor<2x150x40xf32>, tensor<2x150x40xf32>
}
