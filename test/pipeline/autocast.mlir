// A program computes as under torch.autocast, by itself and as a step of training.

// RUN: rs-run %s --autocast --inputs %S/Inputs/train.safetensors --weights %S/Inputs/train_weights.safetensors | rs-filecheck %s --check-prefix=FORWARD
// RUN: rs-run %s --autocast=f16 --inputs %S/Inputs/train.safetensors --weights %S/Inputs/train_weights.safetensors | rs-filecheck %s --check-prefix=HALF
// RUN: rs-run %s --autocast=bf16 --train=sgd,lr=0.5,loss_scale=1024 --inputs %S/Inputs/train.safetensors --weights %S/Inputs/train_weights.safetensors | rs-filecheck %s --check-prefix=STEP
// RUN: rs-run %s --train=sgd,lr=0.5,loss_scale=dynamic,growth_interval=1 --inputs %S/Inputs/train.safetensors --weights %S/Inputs/train_weights.safetensors | rs-filecheck %s --check-prefix=GROWN
// RUN: rs-run %s --train=sgd,lr=0.5,loss_scale=dynamic,init_scale=1.7014118346046923e38 --inputs %S/Inputs/train.safetensors --weights %S/Inputs/train_weights.safetensors | rs-filecheck %s --check-prefix=SKIPPED
// RUN: not rs-run %S/train.mlir --autocast --inputs %S/Inputs/train.safetensors 2>&1 | rs-filecheck %s --check-prefix=NOTHING
// RUN: not rs-run %s --autocast=f64 --inputs %S/Inputs/train.safetensors 2>&1 | rs-filecheck %s --check-prefix=TYPE

// The loss is (w x)^2 with w = 1 and x = 2: 4, of slope 8. w stays of f32.
// FORWARD: output out0: bf16[] = [4e0]
// HALF: output out0: f16[] = [4e0]
// STEP: output out0: bf16[] = [4e0]
// STEP: mutation w: f32[] = [-3e0]
// GROWN-DAG: mutation grad_scaler.scale: f32[] = [1.31072e5]
// GROWN-DAG: mutation grad_scaler.growth_tracker: i32[] = [0]
// GROWN-DAG: mutation w: f32[] = [-3e0]
// A gradient that is not finite makes no step: w stays.
// SKIPPED-DAG: mutation grad_scaler.scale: f32[] = [8.507059173023462e37]
// SKIPPED-DAG: mutation w: f32[] = [1e0]
// NOTHING: has no operator that autocast casts for
// TYPE: [possible values: bf16, f16]

func.func @main(%w: tensor<f32> {capture.kind = "parameter", capture.name = "w", capture.requires_grad},
                %x: tensor<f32> {capture.kind = "input", capture.name = "x"}) -> (tensor<f32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.reshape %w {shape = array<i64: 1, 1>} : (tensor<f32>) -> tensor<1x1xf32>
  %1 = aten.reshape %x {shape = array<i64: 1, 1>} : (tensor<f32>) -> tensor<1x1xf32>
  %2 = aten.mm %0, %1 : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  %3 = aten.reshape %2 {shape = array<i64>} : (tensor<1x1xf32>) -> tensor<f32>
  %4 = aten.mul.Tensor %3, %3 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %4 : tensor<f32>
}
