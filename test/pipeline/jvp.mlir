// Tangents of the outputs are computed from those of the arguments that have one in the file, or of those that are named.

// RUN: rs-run %s --jvp --inputs %S/Inputs/jvp.safetensors | rs-filecheck %s --check-prefix=ALL
// RUN: rs-run %s --jvp=y --inputs %S/Inputs/jvp.safetensors | rs-filecheck %s --check-prefix=NAMED
// RUN: rs-run %s --jvp=y --backend=interp --inputs %S/Inputs/jvp.safetensors | rs-filecheck %s --check-prefix=NAMED
// RUN: not rs-run %s --jvp --inputs %S/Inputs/grad.safetensors 2>&1 | rs-filecheck %s --check-prefix=NONE
// RUN: not rs-run %s --jvp=x --inputs %S/Inputs/jvp.safetensors 2>&1 | rs-filecheck %s --check-prefix=MISSING

// Of the product (2, 3) * (4, 5): the tangent (1, 10) of x gives (4, 50), (1, 0) of y gives (2, 0).
// ALL: output out0: f32[2] = [8e0, 1.5e1]
// ALL: output tan_0: f32[2] = [6e0, 5e1]
// NAMED: output tan_0: f32[2] = [2e0, 0e0]
// NONE: --jvp: the inputs' file has no tangent; give one as tan_NAME for each input or weight to differentiate by
// MISSING: there is no `tan_x`, which gradients are computed from

func.func @main(%x: tensor<2xf32> {capture.kind = "input", capture.name = "x"},
                %y: tensor<2xf32> {capture.kind = "input", capture.name = "y"}) -> (tensor<2xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.mul.Tensor %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
