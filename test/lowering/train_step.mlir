// RUN: rs-opt %s --split-input-file --differentiate=cotangents=0 --train-step="optimizer=sgd lr=0.5" | rs-filecheck %s --check-prefix=SGD
// RUN: rs-opt %s --split-input-file --differentiate=cotangents=0 --train-step="optimizer=sgd lr=0.5 momentum=0.9 weight-decay=0.25 nesterov" | rs-filecheck %s --check-prefix=MOMENTUM
// RUN: rs-opt %s --split-input-file --differentiate=cotangents=0 --train-step=optimizer=adamw,lr=input,amsgrad | rs-filecheck %s --check-prefix=ADAMW
// RUN: rs-opt %s --split-input-file --differentiate=cotangents=0 --train-step="optimizer=adamw lr=input amsgrad" | rs-filecheck %s --check-prefix=ADAMW
// RUN: rs-opt %s --split-input-file --differentiate=cotangents=0 --train-step="optimizer=sgd lr=1 clip-norm=2 accumulate=4" | rs-filecheck %s --check-prefix=SUM

// RUN: rs-opt %s --split-input-file --differentiate=cotangents=0 --train-step="optimizer=sgd lr=1 loss-scale=8" | rs-filecheck %s --check-prefix=SCALED
// RUN: rs-opt %s --split-input-file --differentiate=cotangents=0 --train-step="optimizer=sgd lr=1 loss-scale=dynamic accumulate=2" | rs-filecheck %s --check-prefix=DYNAMIC

// The cotangent of the loss is 1, and takes the place of the argument. The gradient is no output any more: the parameter is written. What has
// no gradient stays as it is.

// SGD-LABEL: func.func @step(
// SGD-SAME: %[[W:[a-z0-9]+]]: tensor<f32> {capture.kind = "parameter", capture.name = "w", capture.requires_grad}
// SGD-SAME: %[[U:[a-z0-9]+]]: tensor<f32> {capture.kind = "parameter", capture.name = "unused", capture.requires_grad}
// SGD-SAME: %[[X:[a-z0-9]+]]: tensor<f32> {capture.kind = "input", capture.name = "x"})
// SGD-SAME: -> (tensor<f32> {capture.kind = "output"}, tensor<f32> {capture.kind = "mutation", capture.name = "w"})
// SGD-DAG: %[[ONE:.*]] = prim.constant {value = dense<1.000000e+00> : tensor<f32>}
// SGD-DAG: %[[GRAD:.*]] = prim.mul %[[ONE]], %[[X]]
// SGD: %[[MINUS:.*]] = prim.neg
// SGD: %[[RATE:.*]] = prim.convert %[[MINUS]] : (tensor<f64>) -> tensor<f32>
// SGD: %[[STEP:.*]] = prim.mul %[[GRAD]], %[[RATE]]
// SGD: %[[NEW:.*]] = prim.add %[[W]], %[[STEP]]
// SGD: return %{{.*}}, %[[NEW]]

// The state stands behind all other arguments.

// MOMENTUM-LABEL: func.func @step(
// MOMENTUM-SAME: %[[BUF:[a-z0-9]+]]: tensor<f32> {capture.kind = "state", capture.name = "w.momentum_buffer"})
// MOMENTUM-SAME: tensor<f32> {capture.kind = "mutation", capture.name = "w.momentum_buffer"}, tensor<f32> {capture.kind = "mutation", capture.name = "w"})
// MOMENTUM: %[[KEPT:.*]] = prim.mul %[[BUF]],
// MOMENTUM: %[[DIR:.*]] = prim.add %[[KEPT]], %[[G:.*]] : tensor<f32>
// MOMENTUM: %[[AHEAD:.*]] = prim.mul %[[DIR]],
// MOMENTUM: prim.add %[[G]], %[[AHEAD]]
// MOMENTUM: return %{{.*}}, %[[DIR]], %{{.*}}

// ADAMW-LABEL: func.func @step(
// ADAMW-SAME: %[[LR:[a-z0-9]+]]: f64 {capture.kind = "input", capture.name = "lr"}
// ADAMW-SAME: %[[T:[a-z0-9]+]]: tensor<f32> {capture.kind = "state", capture.name = "step"}
// ADAMW-SAME: "w.exp_avg"{{.*}}"w.exp_avg_sq"{{.*}}"w.max_exp_avg_sq"
// ADAMW: prim.splat %[[LR]]
// ADAMW: prim.add %[[T]],
// ADAMW: prim.pow
// ADAMW: prim.maximum
// ADAMW: prim.sqrt

// The mean of four calls: their cotangent is a quarter, and what is written is the old value until the fourth.

// SUM-LABEL: func.func @step(
// SUM-SAME: "accumulated_calls"{{.*}}"w.accumulated_grad"
// SUM-DAG: prim.constant {value = dense<2.500000e-01> : tensor<f32>}
// SUM: %[[DONE:.*]] = prim.eq
// SUM: prim.minimum
// SUM: %[[NEW:.*]] = prim.select %[[DONE]],
// SUM: return %{{.*}}, %{{.*}}, %{{.*}}, %[[NEW]]

// A scaled loss: gradients are scaled down again, and where one is not finite the parameter stays.

// SCALED-LABEL: func.func @step(
// SCALED-DAG: %[[EIGHT:.*]] = prim.constant {value = dense<8.000000e+00> : tensor<f32>}
// SCALED: %[[GRAD:.*]] = prim.mul %[[EIGHT]], %
// SCALED: prim.abs %[[GRAD]]
// SCALED: %[[FINITE:.*]] = prim.lt
// SCALED: %[[NEW:.*]] = prim.select %[[FINITE]],
// SCALED: return %{{.*}}, %[[NEW]]

// A dynamic scale is state, and 0 stands for the first one.

// DYNAMIC-LABEL: func.func @step(
// DYNAMIC-SAME: %[[SCALE:[a-z0-9]+]]: tensor<f32> {capture.kind = "state", capture.name = "grad_scaler.scale"}
// DYNAMIC-SAME: tensor<i32> {capture.kind = "state", capture.name = "grad_scaler.growth_tracker"}
// DYNAMIC-SAME: "accumulated_calls"
// DYNAMIC: prim.eq %[[SCALE]],
func.func @step(%w: tensor<f32> {capture.kind = "parameter", capture.name = "w", capture.requires_grad},
                %u: tensor<f32> {capture.kind = "parameter", capture.name = "unused", capture.requires_grad},
                %x: tensor<f32> {capture.kind = "input", capture.name = "x"})
    -> (tensor<f32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.mul %w, %x : tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Where the call gives the parameters it gives the state too. A function that is no program is left alone.

// MOMENTUM-LABEL: func.func @given(
// MOMENTUM-SAME: {capture.kind = "input", capture.name = "w.momentum_buffer"})
func.func @given(%w: tensor<f32> {capture.kind = "input", capture.name = "w", capture.requires_grad})
    -> (tensor<f32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.exp %w : tensor<f32>
  return %0 : tensor<f32>
}

// SGD-LABEL: func.func @helper(
// SGD-NEXT: return
func.func @helper(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
