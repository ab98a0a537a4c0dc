func.func @"my.scaled_silu"(%x: tensor<?x?xf32> {capture.name = "x"}, %alpha: f64 {capture.name = "alpha"},
                            %power: index {capture.name = "power"}) -> tensor<?x?xf32> {
  %0 = aten.mul.Scalar %x, %alpha {other = -9223372036854775808 : i64} : (tensor<?x?xf32>, f64) -> tensor<?x?xf32>
  %1 = aten.sigmoid %0 : tensor<?x?xf32>
  %2 = aten.mul.Tensor %x, %1 : tensor<?x?xf32>
  %3 = aten.pow.Tensor_Scalar %2, %power {exponent = -9223372036854775808 : i64} : (tensor<?x?xf32>, index) -> tensor<?x?xf32>
  return %3 : tensor<?x?xf32>
}

func.func @"my.add_into_"(%x: tensor<?x?xf32> {capture.name = "x"}, %y: tensor<?x?xf32> {capture.name = "y"}) {
  %0 = aten.add_.Tensor %x, %y : tensor<?x?xf32>
  return
}
