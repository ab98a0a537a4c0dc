// RUN: rs-opt %s --split-joint | rs-filecheck %s
// RUN: rs-opt %s --split-joint --split-breaks=only=f_backward | rs-filecheck %s --check-prefix=ONLY
// RUN: rs-opt %s --split-joint=only=forward | rs-filecheck %s --check-prefix=FORWARD
// RUN: rs-opt %s --split-joint=only=backward | rs-filecheck %s --check-prefix=BACKWARD
// RUN: not rs-opt %s --split-joint=only=both 2>&1 | rs-filecheck %s --check-prefix=WRONG
// RUN: not rs-opt %S/Inputs/no_gradients.mlir --split-joint 2>&1 | rs-filecheck %s --check-prefix=NONE
// RUN: not rs-opt %S/Inputs/no_backward.mlir --split-joint 2>&1 | rs-filecheck %s --check-prefix=CONSTANT

// ONLY-NOT: func.func @f(
// ONLY: func.func @f_backward({{.*}} attributes {capture.entry}
// FORWARD: func.func @f({{.*}}"saved_0"{{.*}} attributes {capture.entry}
// FORWARD: func.func @written({{.*}}"saved_0"{{.*}} attributes {capture.entry}
// FORWARD: func.func @same({{.*}} attributes {capture.entry}
// FORWARD-NOT: func.func
// BACKWARD-NOT: func.func @f(
// BACKWARD: func.func @f_backward({{.*}}"saved_0"{{.*}} attributes {capture.entry}
// BACKWARD-NOT: func.func @written(
// BACKWARD: func.func @written_backward({{.*}}"saved_0"{{.*}} attributes {capture.entry}
// BACKWARD-NOT: func.func @same(
// BACKWARD: func.func @same_backward({{.*}} attributes {capture.entry}
// BACKWARD-NOT: func.func
// WRONG: only=both: the programs of a pair are forward and backward
// CONSTANT: has no output that depends on what it is differentiated by, and so no backward
// NONE: computes no gradients; run --differentiate first

// The forward hands what the backward reads behind its outputs, before what it changes; the backward takes the arguments that it reads, that, and
// the cotangents. Sizes and conditions on cotangents are the backward's own.

// CHECK-LABEL: func.func @f(
// CHECK-SAME: "x"}, %[[W:[a-z0-9]+]]: tensor<?xf32> {capture.kind = "parameter", capture.name = "w"}, %[[B:[a-z0-9]+]]: tensor<?xf32> {capture.kind = "buffer", capture.name = "b"})
// CHECK-SAME: -> (tensor<?xf32> {capture.kind = "output"}, tensor<?xf32> {capture.kind = "output", capture.name = "saved_0"}, tensor<?xf32> {capture.kind = "mutation", capture.name = "b"})
// CHECK: %[[E:.*]] = prim.exp
// CHECK: %[[Y:.*]] = prim.mul %[[E]], %[[W]]
// CHECK-NOT: capture.guard
// CHECK: return %[[Y]], %[[E]], %[[B]]
// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME: "x"}, %[[W:[a-z0-9]+]]: tensor<?xf32> {capture.kind = "parameter", capture.name = "w"}, %[[S:[a-z0-9]+]]: tensor<?xf32> {capture.kind = "input", capture.name = "saved_0"}, %[[G:[a-z0-9]+]]: tensor<?xf32> {capture.cotangent = 0 : i64, capture.kind = "input", capture.name = "cot_0"})
// CHECK-SAME: -> (tensor<?xf32> {capture.gradient = "x", capture.kind = "output", capture.name = "grad_x"}) attributes {capture.resume}
// CHECK: capture.dim
// CHECK: capture.guard
// CHECK: %[[D:.*]] = prim.mul %[[G]], %[[W]]
// CHECK: %[[DX:.*]] = prim.mul %[[D]], %[[S]]
// CHECK: return %[[DX]]
func.func @f(%x: tensor<?xf32> {capture.kind = "input", capture.name = "x"}, %w: tensor<?xf32> {capture.kind = "parameter", capture.name = "w"},
             %b: tensor<?xf32> {capture.kind = "buffer", capture.name = "b"}, %g: tensor<?xf32> {capture.cotangent = 0 : i64, capture.kind = "input", capture.name = "cot_0"})
    -> (tensor<?xf32> {capture.kind = "output"}, tensor<?xf32> {capture.gradient = "x", capture.kind = "output", capture.name = "grad_x"}, tensor<?xf32> {capture.kind = "mutation", capture.name = "b"})
    attributes {capture.entry} {
  %n = capture.dim %x {dim = 0 : i64, symbol = "n", min = 0 : i64, max = 100 : i64} : (tensor<?xf32>) -> index
  capture.bind_dims %w, %n {shape = affine_map<()[s0] -> (s0)>} : (tensor<?xf32>, index) -> ()
  %0 = prim.exp %x : tensor<?xf32>
  %1 = prim.mul %0, %w : tensor<?xf32>
  %m = prim.dim %g {dim = 0 : i64} : (tensor<?xf32>) -> index
  %same = arith.cmpi eq, %m, %n : index
  capture.guard %same, %m {text = "the cotangent has {0} elements"} : (i1, index) -> ()
  %2 = prim.mul %g, %w : tensor<?xf32>
  %3 = prim.mul %2, %0 : tensor<?xf32>
  return %1, %3, %b : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// The backward reads what an argument was before the forward wrote to it. There is no gradient by what no output depends on.

// CHECK-LABEL: func.func @written(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8xf32>
// CHECK-SAME: %[[C:[a-z0-9]+]]: tensor<8xf32> {capture.kind = "input", capture.name = "c"}
// CHECK-SAME: tensor<8xf32> {capture.kind = "output", capture.name = "saved_0"}, tensor<8xf32> {capture.kind = "mutation", capture.name = "c"})
// CHECK: return %{{.*}}, %[[C]], %{{.*}} :
// CHECK-LABEL: func.func @written_backward(
// CHECK-SAME: %[[S:[a-z0-9]+]]: tensor<8xf32> {capture.kind = "input", capture.name = "saved_0"}, %[[G:[a-z0-9]+]]: tensor<8xf32>
// CHECK-SAME: -> (tensor<8xf32> {capture.gradient = "x", capture.kind = "output", capture.name = "grad_x"}) attributes
// CHECK: prim.mul %[[G]], %[[S]]
func.func @written(%x: tensor<8xf32> {capture.kind = "input", capture.name = "x"}, %c: tensor<8xf32> {capture.kind = "input", capture.name = "c"},
                   %g: tensor<8xf32> {capture.cotangent = 0 : i64, capture.kind = "input", capture.name = "cot_0"})
    -> (tensor<8xf32> {capture.kind = "output"}, tensor<8xf32> {capture.gradient = "x", capture.kind = "output", capture.name = "grad_x"}, tensor<8xf32> {capture.gradient = "c", capture.no_gradient, capture.kind = "output", capture.name = "grad_c"}, tensor<8xf32> {capture.kind = "mutation", capture.name = "c"})
    attributes {capture.entry} {
  %0 = prim.mul %x, %c : tensor<8xf32>
  %1 = prim.exp %c : tensor<8xf32>
  %2 = prim.mul %g, %c : tensor<8xf32>
  return %0, %2, %2, %1 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// The forward may have no ops: it gives its argument.

// CHECK-LABEL: func.func @same(
// CHECK-NEXT: return %{{[a-z0-9]+}} : tensor<8xf32>
// CHECK-LABEL: func.func @same_backward(
// CHECK-SAME: "cot_0"}) -> (tensor<8xf32> {capture.gradient = "x"
func.func @same(%x: tensor<8xf32> {capture.kind = "input", capture.name = "x"}, %g: tensor<8xf32> {capture.cotangent = 0 : i64, capture.kind = "input", capture.name = "cot_0"})
    -> (tensor<8xf32> {capture.kind = "output"}, tensor<8xf32> {capture.gradient = "x", capture.kind = "output", capture.name = "grad_x"}) attributes {capture.entry} {
  return %x, %g : tensor<8xf32>, tensor<8xf32>
}
