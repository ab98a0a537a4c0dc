func.func @main(%x: tensor<?x3x?x2xf32> {capture.kind = "input", capture.name = "x", capture.dim_order = array<i64: 0, 2, 3, 1>},
                %y: tensor<?x3x?x2xf32> {capture.kind = "input", capture.name = "y"})
    -> (tensor<?x3x?x2xf32> {capture.kind = "output", capture.dim_order = array<i64: 2, 0, 3, 1>},
        tensor<3x?xf32> {capture.kind = "output"},
        tensor<?x3x?x2xf32> {capture.kind = "mutation", capture.name = "x", capture.dim_order = array<i64: 0, 2, 3, 1>}) attributes {capture.entry} {
  %n = capture.dim %x {dim = 0 : i64, symbol = "n", min = 0 : i64, max = 64 : i64} : (tensor<?x3x?x2xf32>) -> index
  %h = capture.dim %x {dim = 2 : i64, symbol = "h", min = 0 : i64, max = 64 : i64} : (tensor<?x3x?x2xf32>) -> index
  capture.bind_dims %y, %n, %h {shape = affine_map<()[s0, s1] -> (s0, 3, s1, 2)>} : (tensor<?x3x?x2xf32>, index, index) -> ()
  %0 = aten.sub.Tensor %x, %y : (tensor<?x3x?x2xf32>, tensor<?x3x?x2xf32>) -> tensor<?x3x?x2xf32>
  %1 = aten.sum.dim_IntList %x {dim = array<i64: 0, 3>} : (tensor<?x3x?x2xf32>) -> tensor<3x?xf32>
  %2 = aten.mul.Scalar %x {other = 2.0 : f64} : tensor<?x3x?x2xf32>
  return %0, %1, %2 : tensor<?x3x?x2xf32>, tensor<3x?xf32>, tensor<?x3x?x2xf32>
}
