// RUN: rs-compile %s --cpu=x86-64-v3 --emit=mlir --to=loop-scheduled | rs-filecheck %s

// Two products read one weight in one order, and do different things with their results: the weight is packed once.
// CHECK: func.func @main
// CHECK-SAME: %[[PACKED:[a-z0-9]+]]: tensor<8x128x16xf32> {capture.kind = "prepared"
// CHECK: loop.call %{{.*}}, %[[PACKED]]
// CHECK: loop.call %{{.*}}, %[[PACKED]]
// CHECK: func.func @prepare
// CHECK: loop.call %{{.*}} {callee = @{{.*}}.pack1}
// CHECK-NOT: loop.call
func.func @main(%x: tensor<64x128xf32> {capture.kind = "input", capture.name = "x"},
                %w: tensor<128x128xf32> {capture.kind = "parameter", capture.name = "w"}) -> tensor<64x128xf32> attributes {capture.entry} {
  %0 = prim.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x128xf32>, tensor<128x128xf32>) -> tensor<64x128xf32>
  %1 = prim.add %0, %x : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  %2 = prim.dot %1, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x128xf32>, tensor<128x128xf32>) -> tensor<64x128xf32>
  %3 = prim.mul %2, %x : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  return %3 : tensor<64x128xf32>
}
