func.func @views(%x: tensor<4x?xf32>, %n: index, %s: tensor<f32>) {
  %0 = prim.broadcast %x, %n {dims = array<i64: 1, 2>} : (tensor<4x?xf32>, index) -> tensor<2x4x?xf32>
  %1 = prim.reshape %x, %n : (tensor<4x?xf32>, index) -> tensor<?x4xf32>
  %2 = prim.transpose %x {perm = array<i64: 1, 0>} : (tensor<4x?xf32>) -> tensor<?x4xf32>
  %3 = prim.reverse %x {dims = array<i64: 0>} : tensor<4x?xf32>
  %4 = prim.concat %x, %x {dim = 0 : i64} : (tensor<4x?xf32>, tensor<4x?xf32>) -> tensor<8x?xf32>
  %5 = prim.dim %x {dim = 1 : i64} : (tensor<4x?xf32>) -> index
  return
}
