// The attention of a layer in halves: its operands stay halves, and all products are on matrix units.
func.func @main(%x: tensor<2x40x64xf16> {capture.kind = "input", capture.name = "x"},
                %wq: tensor<64x64xf16> {capture.kind = "input", capture.name = "wq"},
                %wk: tensor<64x64xf16> {capture.kind = "input", capture.name = "wk"},
                %wv: tensor<64x64xf16> {capture.kind = "input", capture.name = "wv"},
                %bq: tensor<64xf16> {capture.kind = "input", capture.name = "bq"})
    -> (tensor<2x2x40x32xf16> {capture.kind = "output"}) attributes {capture.entry} {
  %q = aten.linear %x, %wq, %bq {segments = array<i64: 1, 1, 1>} : (tensor<2x40x64xf16>, tensor<64x64xf16>, tensor<64xf16>) -> tensor<2x40x64xf16>
  %k = aten.linear %x, %wk, %bq {segments = array<i64: 1, 1, 1>} : (tensor<2x40x64xf16>, tensor<64x64xf16>, tensor<64xf16>) -> tensor<2x40x64xf16>
  %v = aten.linear %x, %wv, %bq {segments = array<i64: 1, 1, 1>} : (tensor<2x40x64xf16>, tensor<64x64xf16>, tensor<64xf16>) -> tensor<2x40x64xf16>
  %q1 = aten.view %q {size = array<i64: 2, 40, 2, 32>} : (tensor<2x40x64xf16>) -> tensor<2x40x2x32xf16>
  %k1 = aten.view %k {size = array<i64: 2, 40, 2, 32>} : (tensor<2x40x64xf16>) -> tensor<2x40x2x32xf16>
  %v1 = aten.view %v {size = array<i64: 2, 40, 2, 32>} : (tensor<2x40x64xf16>) -> tensor<2x40x2x32xf16>
  %q2 = aten.transpose.int %q1 {dim0 = 1 : i64, dim1 = 2 : i64} : (tensor<2x40x2x32xf16>) -> tensor<2x2x40x32xf16>
  %k2 = aten.transpose.int %k1 {dim0 = 1 : i64, dim1 = 2 : i64} : (tensor<2x40x2x32xf16>) -> tensor<2x2x40x32xf16>
  %v2 = aten.transpose.int %v1 {dim0 = 1 : i64, dim1 = 2 : i64} : (tensor<2x40x2x32xf16>) -> tensor<2x2x40x32xf16>
  %0 = aten.scaled_dot_product_attention %q2, %k2, %v2 {segments = array<i64: 1, 1, 1, 0>}
      : (tensor<2x2x40x32xf16>, tensor<2x2x40x32xf16>, tensor<2x2x40x32xf16>) -> tensor<2x2x40x32xf16>
  return %0 : tensor<2x2x40x32xf16>
}
