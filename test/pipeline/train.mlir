// A program as a step of training: what it changes is written back, the state begins as zeros, and a file of weights goes on from there.

// RUN: rs-run %s --train=sgd,lr=0.5,momentum=0.5 --inputs %S/Inputs/train.safetensors --weights %S/Inputs/train_weights.safetensors --save-weights %t.first.safetensors | rs-filecheck %s --check-prefix=FIRST
// RUN: rs-run %s --train=sgd,lr=0.5,momentum=0.5 --inputs %S/Inputs/train.safetensors --weights %t.first.safetensors | rs-filecheck %s --check-prefix=SECOND
// RUN: rs-compile %s --train=sgd,lr=0.5,momentum=0.5 -o %t.strata
// RUN: rs-run %t.strata --inputs %S/Inputs/train.safetensors --weights %t.first.safetensors | rs-filecheck %s --check-prefix=SECOND
// RUN: not rs-run %s --train=sgd --inputs %S/Inputs/train.safetensors 2>&1 | rs-filecheck %s --check-prefix=RATE
// RUN: not rs-compile %s --train=lion,lr=1 -o %t.strata 2>&1 | rs-filecheck %s --check-prefix=UNKNOWN
// RUN: not rs-run %t.strata --train=sgd,lr=1 --inputs %S/Inputs/train.safetensors 2>&1 | rs-filecheck %s --check-prefix=COMPILED
// RUN: not rs-run %S/../models/chain30.pt2 --rematerialise 2>&1 | rs-filecheck %s --check-prefix=FORWARD
// RUN: not rs-run %s --grad=nothing 2>&1 | rs-filecheck %s --check-prefix=NOTHING

// The loss is (w x)^2 with w = 1 and x = 2: 4, of slope 8, so that w becomes 1 - 4 = -3.
// FIRST: output out0: f32[] = [4e0]
// FIRST-DAG: mutation w: f32[] = [-3e0]
// FIRST-DAG: mutation w.momentum_buffer: f32[] = [8e0]
// Then it is 36, of slope -24; the direction is 4 - 24 = -20, and w becomes -3 + 10 = 7.
// SECOND: output out0: f32[] = [3.6e1]
// SECOND-DAG: mutation w: f32[] = [7e0]
// SECOND-DAG: mutation w.momentum_buffer: f32[] = [-2e1]
// RATE: the step of training: `lr` is missing, the learning rate
// UNKNOWN: the step of training: there is no optimizer `lion`; there are adam, adamw, sgd
// COMPILED: a .strata file is compiled; options of the compilation and of its cache do nothing
// FORWARD: chain30.pt2: it is computed forwards alone, and --rematerialise is about what a backward reads; give --train or --grad too
// NOTHING: there is no argument `nothing` to differentiate by; there are w, x
// NOTHING-NOT: func.func

func.func @main(%w: tensor<f32> {capture.kind = "parameter", capture.name = "w", capture.requires_grad},
                %x: tensor<f32> {capture.kind = "input", capture.name = "x"}) -> (tensor<f32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.mul.Tensor %w, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = aten.mul.Tensor %0, %0 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
