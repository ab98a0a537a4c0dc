func.func @beyond(%x: tensor<4x5xf32>) -> none {
  %0 = aten.cumsum %x {dim = 2 : i64} : (tensor<4x5xf32>) -> none
  return %0 : none
}
