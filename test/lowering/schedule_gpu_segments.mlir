// RUN: rs-opt %s --prim-to-loop --schedule-gpu | rs-filecheck %s

// However many segments there are, no thread takes several: each begins and ends where memory says.
// CHECK-LABEL: loop.kernel @k0
// CHECK-NOT: vector
// CHECK: segments
// CHECK-LABEL: func.func @segments
func.func @segments(%x: tensor<4000000xf32>, %begins: tensor<2000000xi64>, %ends: tensor<2000000xi64>) -> tensor<2000000xf32> {
  %0 = prim.segment_reduce %x, %begins, %ends {kind = "sum"} : (tensor<4000000xf32>, tensor<2000000xi64>, tensor<2000000xi64>) -> tensor<2000000xf32>
  return %0 : tensor<2000000xf32>
}
