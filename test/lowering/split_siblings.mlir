// Reductions of one tensor read each piece of it one after the other, in one kernel.
// RUN: rs-opt %s --prim-to-loop --split-reductions | rs-filecheck %s
// RUN: rs-run %s > %t.split
// RUN: rs-run %s --skip split-reductions,schedule-cpu > %t.whole && diff %t.split %t.whole

// CHECK: loop.kernel @k0_0
// CHECK: chunk = {{.*}}reducer = "max"
// CHECK: chunk = {{.*}}reducer = "min"
// CHECK: loop.kernel @k0_1
// CHECK-NOT: chunk
func.func @main(%x: tensor<1500001xf32> {capture.kind = "input", capture.name = "x"}) -> (tensor<f32> {capture.kind = "output"}) attributes {capture.entry} {
  %r = prim.fusion %x : (tensor<1500001xf32>) -> tensor<f32> {
  ^bb0(%a: tensor<1500001xf32>):
    %0 = prim.reduce %a {dims = array<i64: 0>, kind = "min"} : (tensor<1500001xf32>) -> tensor<f32>
    %1 = prim.reduce %a {dims = array<i64: 0>, kind = "max"} : (tensor<1500001xf32>) -> tensor<f32>
    %2 = prim.sub %1, %0 : tensor<f32>
    prim.yield %2 : tensor<f32>
  }
  return %r : tensor<f32>
}
