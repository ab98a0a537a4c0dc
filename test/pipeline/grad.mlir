// Gradients are computed with the outputs: by the arguments that are named, or by those that require one.

// RUN: rs-run %s --grad | rs-filecheck %s --check-prefix=ALL
// RUN: rs-run %s --grad=y | rs-filecheck %s --check-prefix=NAMED
// RUN: rs-run %s --grad=in_1 --backend=interp --inputs %S/Inputs/grad.safetensors | rs-filecheck %s --check-prefix=GIVEN
// RUN: rs-run %s --grad=y --inputs %S/Inputs/grad.safetensors | rs-filecheck %s --check-prefix=GIVEN
// RUN: not rs-run %s --grad=z 2>&1 | rs-filecheck %s --check-prefix=NONE
// RUN: rs-run %S/../conformance/own/gradients/net.pt2 --grad --expect %S/../conformance/own/gradients/net.safetensors | rs-filecheck %s --check-prefix=CASE

// ALL: output out0: f32[2]
// ALL: output grad_x: f32[2]
// ALL-NOT: grad_y
// NAMED: output grad_y: f32[2]
// NAMED-NOT: grad_x
// GIVEN: output out0: f32[2] = [8e0, 1.5e1]
// GIVEN: output grad_y: f32[2] = [2e1, 6e1]
// NONE: there is no argument `z` to differentiate by; there are x, y
// CASE: as expected

func.func @main(%x: tensor<2xf32> {capture.kind = "input", capture.name = "x", capture.requires_grad},
                %y: tensor<2xf32> {capture.kind = "input", capture.name = "y"}) -> (tensor<2xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.mul.Tensor %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
