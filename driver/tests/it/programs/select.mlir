func.func @main(%table: tensor<10x4xf32> {capture.kind = "parameter", capture.name = "table"},
                %ids: tensor<?xi64> {capture.kind = "input", capture.name = "ids"},
                %y: tensor<?x4xf32> {capture.kind = "input", capture.name = "y"})
    -> (tensor<?x4xf32> {capture.kind = "output"}, tensor<4x?xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %n = capture.dim %ids {dim = 0 : i64, symbol = "n", min = 2 : i64, max = 64 : i64} : (tensor<?xi64>) -> index
  capture.bind_dims %y, %n {shape = affine_map<()[s0] -> (s0, 4)>} : (tensor<?x4xf32>, index) -> ()
  %e = aten.embedding %table, %ids : (tensor<10x4xf32>, tensor<?xi64>) -> tensor<?x4xf32>
  %c = aten.cat %e, %y {dim = 0 : i64, segments = array<i64: 2>} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %s = aten.slice.Tensor %c {dim = 0 : i64, start = 1 : i64, end = 9223372036854775807 : i64, step = 1 : i64} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %t = aten.permute %y {dims = array<i64: 1, 0>} : (tensor<?x4xf32>) -> tensor<4x?xf32>
  %m = aten.gt.Scalar %t {other = 0.5 : f64} : (tensor<4x?xf32>) -> tensor<4x?xi1>
  %k = aten.mul.Scalar %t {other = 3.0 : f64} : tensor<4x?xf32>
  %w = aten.where.self %m, %k, %t : (tensor<4x?xi1>, tensor<4x?xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  return %s, %w : tensor<?x4xf32>, tensor<4x?xf32>
}
