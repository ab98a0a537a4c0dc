// The gradient of a triangle that is given as its transpose is the transpose of its gradient: `--simplify-views` takes both turns away first.
// RUN: rs-opt %s --differentiate -o %t.turned.mlir && rs-run %t.turned.mlir > %t.by_turns
// RUN: rs-opt %s --simplify-views --differentiate -o %t.plain.mlir && FileCheck %s < %t.plain.mlir && rs-run %t.plain.mlir > %t.as_it_lies
// RUN: diff %t.by_turns %t.as_it_lies && FileCheck %s --check-prefix=GRADIENT < %t.by_turns
// CHECK-NOT: "turned"
// CHECK: triangular_solve
// GRADIENT: output grad_a: f64[3, 3]
// GRADIENT-NOT: NaN
func.func @main(%a: tensor<3x3xf64> {capture.kind = "input", capture.name = "a", capture.requires_grad}, %b: tensor<3x2xf64> {capture.kind = "input", capture.name = "b", capture.requires_grad})
    -> (tensor<3x2xf64> {capture.kind = "output"}, tensor<3x2xf64> {capture.kind = "output"}) attributes {capture.entry} {
  %t = prim.transpose %a {perm = array<i64: 1, 0>} : tensor<3x3xf64>
  %0 = prim.library %t, %b {function = "triangular_solve", options = ["upper", "turned"]} : (tensor<3x3xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
  %1 = prim.library %t, %b {function = "triangular_solve", options = ["unit", "turned"]} : (tensor<3x3xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
  return %0, %1 : tensor<3x2xf64>, tensor<3x2xf64>
}
