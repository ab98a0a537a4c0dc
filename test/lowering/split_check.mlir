// What the interpreter makes of a program does not change.
// RUN: rs-opt %s --check-semantics=sets=1 --prim-to-loop --split-reductions --schedule-cpu | rs-filecheck %s
// CHECK: checked 3 of 3 passes

func.func @main(%x: tensor<150001xf32> {capture.kind = "input", capture.name = "x"}) -> (tensor<f32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.reduce %x {dims = array<i64: 0>, kind = "sum"} : (tensor<150001xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
