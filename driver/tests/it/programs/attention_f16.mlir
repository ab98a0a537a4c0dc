// Attention of halves: with a mask and odd sizes, and with columns that are enough for half a block of keys only.
func.func @main(%q: tensor<2x?x24xf16> {capture.kind = "input", capture.name = "q"},
                %k: tensor<2x?x24xf16> {capture.kind = "input", capture.name = "k"},
                %v: tensor<2x?x40xf16> {capture.kind = "input", capture.name = "v"},
                %b: tensor<?x?xf16> {capture.kind = "input", capture.name = "b"},
                %w: tensor<3x70x128xbf16> {capture.kind = "input", capture.name = "w"},
                %u: tensor<3x70x128xbf16> {capture.kind = "input", capture.name = "u"})
    -> (tensor<2x?x40xf16> {capture.kind = "output"}, tensor<3x70x128xbf16> {capture.kind = "output"}) attributes {capture.entry} {
  %m = capture.dim %q {dim = 1 : i64, symbol = "m", min = 1 : i64, max = 4096 : i64} : (tensor<2x?x24xf16>) -> index
  %n = capture.dim %k {dim = 1 : i64, symbol = "n", min = 1 : i64, max = 4096 : i64} : (tensor<2x?x24xf16>) -> index
  capture.bind_dims %v, %n {shape = affine_map<()[s0] -> (2, s0, 40)>} : (tensor<2x?x40xf16>, index) -> ()
  capture.bind_dims %b, %m, %n {shape = affine_map<()[s0, s1] -> (s0, s1)>} : (tensor<?x?xf16>, index, index) -> ()
  %0 = aten.scaled_dot_product_attention %q, %k, %v, %b {segments = array<i64: 1, 1, 1, 1>}
      : (tensor<2x?x24xf16>, tensor<2x?x24xf16>, tensor<2x?x40xf16>, tensor<?x?xf16>) -> tensor<2x?x40xf16>
  %1 = aten.scaled_dot_product_attention %w, %u, %u {segments = array<i64: 1, 1, 1, 0>, is_causal = true}
      : (tensor<3x70x128xbf16>, tensor<3x70x128xbf16>, tensor<3x70x128xbf16>) -> tensor<3x70x128xbf16>
  return %0, %1 : tensor<2x?x40xf16>, tensor<3x70x128xbf16>
}
