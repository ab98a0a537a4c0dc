// Attention with a mask that leaves a row without keys, of any number of queries and keys.
func.func @main(%q: tensor<2x?x24xf32> {capture.kind = "input", capture.name = "q"},
                %k: tensor<2x?x24xf32> {capture.kind = "input", capture.name = "k"},
                %v: tensor<2x?x40xf32> {capture.kind = "input", capture.name = "v"},
                %b: tensor<?x?xf32> {capture.kind = "input", capture.name = "b"})
    -> (tensor<2x?x40xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %m = capture.dim %q {dim = 1 : i64, symbol = "m", min = 32 : i64, max = 4096 : i64} : (tensor<2x?x24xf32>) -> index
  %n = capture.dim %k {dim = 1 : i64, symbol = "n", min = 1 : i64, max = 4096 : i64} : (tensor<2x?x24xf32>) -> index
  capture.bind_dims %v, %n {shape = affine_map<()[s0] -> (2, s0, 40)>} : (tensor<2x?x40xf32>, index) -> ()
  capture.bind_dims %b, %m, %n {shape = affine_map<()[s0, s1] -> (s0, s1)>} : (tensor<?x?xf32>, index, index) -> ()
  %0 = aten.scaled_dot_product_attention %q, %k, %v, %b {segments = array<i64: 1, 1, 1, 1>}
      : (tensor<2x?x24xf32>, tensor<2x?x24xf32>, tensor<2x?x40xf32>, tensor<?x?xf32>) -> tensor<2x?x40xf32>
  return %0 : tensor<2x?x40xf32>
}
