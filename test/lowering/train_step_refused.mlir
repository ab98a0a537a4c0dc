// RUN: rs-opt %s --split-input-file --verify-diagnostics --train-step="optimizer=sgd lr=1"
// RUN: not rs-opt %s --split-input-file --train-step="optimizer=lion lr=1" 2>&1 | rs-filecheck %s --check-prefix=UNKNOWN
// RUN: not rs-opt %s --split-input-file --train-step="optimizer=adam" 2>&1 | rs-filecheck %s --check-prefix=RATE
// RUN: not rs-opt %s --split-input-file --train-step="optimizer=adam lr=1 momentum=0.9" 2>&1 | rs-filecheck %s --check-prefix=OTHER
// RUN: not rs-opt %s --split-input-file --train-step="optimizer=adam lr=1 growth-interval=4" 2>&1 | rs-filecheck %s --check-prefix=SCALE
// RUN: not rs-opt %s --split-input-file --train-step="optimizer=adam,lr=1;params=v,lr=2" 2>&1 | rs-filecheck %s --check-prefix=GROUP

// SCALE: `growth_interval` says nothing without loss_scale=dynamic
// GROUP: there is no parameter `v` to train for a group; there are w
// UNKNOWN: there is no optimizer `lion`; there are adam, adamw, sgd
// RATE: `lr` is missing, the learning rate: write lr=0.1, or lr=input for one that each call brings
// OTHER: `momentum` says nothing to adam, which takes lr, weight_decay, maximize, clip_norm, accumulate, loss_scale, init_scale, growth_factor, backoff_factor, growth_interval, beta1, beta2, eps, amsgrad

// expected-error @+1 {{computes no gradients of a loss; run --differentiate=cotangents=0 first, where output 0 is the loss}}
func.func @forward(%w: tensor<f32> {capture.kind = "parameter", capture.name = "w"}) -> (tensor<f32> {capture.kind = "output"}) attributes {capture.entry} {
  return %w : tensor<f32>
}

// -----

// expected-error @+1 {{the loss, output 0, is tensor<4xf32>, and a loss is one real number; reduce it with mean() or sum()}}
func.func @vector(%w: tensor<4xf32> {capture.kind = "parameter", capture.name = "w"}, %g: tensor<4xf32> {capture.cotangent = 0 : i64, capture.kind = "input", capture.name = "cot_0"})
    -> (tensor<4xf32> {capture.kind = "output"}, tensor<4xf32> {capture.gradient = "w", capture.kind = "output"}) attributes {capture.entry} {
  return %w, %g : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @+1 {{has 2 outputs with a cotangent, and the loss is one; name it, as in --differentiate=cotangents=0}}
func.func @two(%w: tensor<f32> {capture.kind = "parameter", capture.name = "w"}, %g: tensor<f32> {capture.cotangent = 0 : i64, capture.kind = "input", capture.name = "cot_0"},
               %h: tensor<f32> {capture.cotangent = 1 : i64, capture.kind = "input", capture.name = "cot_1"})
    -> (tensor<f32> {capture.kind = "output"}, tensor<f32> {capture.kind = "output"}, tensor<f32> {capture.gradient = "w", capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.add %g, %h : tensor<f32>
  return %w, %w, %0 : tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// expected-error @+1 {{the parameter `w` is changed by the program itself; leave it out of what is differentiated by}}
func.func @changed(%w: tensor<f32> {capture.kind = "parameter", capture.name = "w"}, %g: tensor<f32> {capture.cotangent = 0 : i64, capture.kind = "input", capture.name = "cot_0"})
    -> (tensor<f32> {capture.kind = "output"}, tensor<f32> {capture.gradient = "w", capture.kind = "output"}, tensor<f32> {capture.kind = "mutation", capture.name = "w"}) attributes {capture.entry} {
  return %w, %g, %g : tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// expected-error @+1 {{no parameter is to be trained: the loss depends on none}}
func.func @nothing(%w: tensor<f32> {capture.kind = "parameter", capture.name = "w"}, %g: tensor<f32> {capture.cotangent = 0 : i64, capture.kind = "input", capture.name = "cot_0"})
    -> (tensor<f32> {capture.kind = "output"}, tensor<f32> {capture.gradient = "w", capture.kind = "output", capture.no_gradient}) attributes {capture.entry} {
  return %g, %g : tensor<f32>, tensor<f32>
}
