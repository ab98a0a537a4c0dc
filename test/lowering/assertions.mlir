// What a program asserts is a condition of the call.

// RUN: rs-opt %s --decompose-aten | rs-filecheck %s
// RUN: rs-opt %s --decompose-aten --check-semantics | rs-filecheck %s --check-prefix=SAME

// SAME: checked 1 of 1 passes

// CHECK-LABEL: func.func @asserts(
// CHECK: %[[A:.*]] = prim.item %arg0 : (tensor<i1>) -> i1
// CHECK: capture.guard %[[A]] {text = "a tensor that the program asserts is zero"}
// CHECK: %[[COUNT:.*]] = prim.convert %arg1 : (tensor<i64>) -> tensor<i1>
// CHECK: %[[B:.*]] = prim.item %[[COUNT]]
// CHECK: capture.guard %[[B]] {text = "no number left"}
// CHECK: capture.guard %{{.*}} {text = "in order"}
// CHECK: return %arg2
func.func @asserts(%holds: tensor<i1> {capture.kind = "input", capture.name = "holds"}, %count: tensor<i64> {capture.kind = "input", capture.name = "count"},
                   %token: tensor<f32> {capture.kind = "input", capture.name = "token"}) -> (tensor<f32> {capture.kind = "output"}) attributes {capture.entry} {
  aten._assert_async %holds : (tensor<i1>) -> ()
  aten._assert_async.msg %count {assert_msg = "no number left"} : (tensor<i64>) -> ()
  %0 = aten._functional_assert_async.msg %holds, %token {assert_msg = "in order"} : (tensor<i1>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
