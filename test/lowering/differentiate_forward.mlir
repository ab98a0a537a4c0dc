// RUN: rs-opt %s --differentiate=mode=jvp --canonicalize | rs-filecheck %s
// RUN: rs-opt %s --differentiate --differentiate=mode=jvp --canonicalize | rs-filecheck %s
// RUN: not rs-opt %s --differentiate=mode=hvp 2>&1 | rs-filecheck %s --check-prefix=MODE

// MODE: mode=hvp: there are vjp, gradients, and jvp, tangents

// Tangents of the arguments become tangents of the outputs; what only made gradients is gone, the cotangents too.

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?xf32> {capture.kind = "input", capture.name = "x", capture.requires_grad}
// CHECK-SAME: %[[Y:[a-z0-9]+]]: tensor<?xf32> {capture.kind = "input", capture.name = "y"}
// CHECK-SAME: %[[T:[a-z0-9]+]]: tensor<?xf32> {capture.kind = "input", capture.name = "tan_x"})
// CHECK-SAME: -> (tensor<f32> {capture.kind = "output"}, tensor<f32> {capture.kind = "output", capture.name = "tan_0"})
// CHECK-DAG: %[[E:.*]] = prim.exp %[[X]]
// CHECK-DAG: %[[P:.*]] = prim.mul %[[E]], %[[Y]]
// CHECK-DAG: %[[S:.*]] = prim.reduce %[[P]]
// CHECK-DAG: prim.mul %{{.*}}, %[[E]]
// CHECK-DAG: %[[D:.*]] = prim.reduce
// CHECK: return %[[S]], %{{.*}} : tensor<f32>, tensor<f32>
func.func @main(%x: tensor<?xf32> {capture.kind = "input", capture.name = "x", capture.requires_grad}, %y: tensor<?xf32> {capture.kind = "input", capture.name = "y"})
    -> (tensor<f32> {capture.kind = "output"}) attributes {capture.entry} {
  %s = capture.dim %x {dim = 0 : i64, symbol = "s", min = 0 : i64, max = 100 : i64} : (tensor<?xf32>) -> index
  capture.bind_dims %y, %s {shape = affine_map<()[s0] -> (s0)>} : (tensor<?xf32>, index) -> ()
  %0 = prim.exp %x : tensor<?xf32>
  %1 = prim.mul %0, %y : tensor<?xf32>
  %2 = prim.reduce %1 {dims = array<i64: 0>, kind = "sum"} : (tensor<?xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}
