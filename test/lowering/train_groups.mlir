// RUN: rs-opt %s --differentiate=cotangents=0 --train-step="optimizer=sgd,lr=0.5;params=*.bias,lr=0.25;params=c,lr=input,momentum=0.5" | rs-filecheck %s

// Each group has its rule: %b a smaller step, %c a learning rate that the call gives and a buffer. A rule's pattern stands for any text.

// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<f32> {{[^,]*}}, capture.name = "a"
// CHECK-SAME: f64 {capture.kind = "input", capture.name = "lr_2"}
// CHECK-SAME: {capture.kind = "state", capture.name = "c.momentum_buffer"})
// CHECK-DAG: prim.constant {value = dense<5.000000e-01> : tensor<f64>}
// CHECK-DAG: prim.constant {value = dense<2.500000e-01> : tensor<f64>}
func.func @step(%a: tensor<f32> {capture.kind = "parameter", capture.name = "a", capture.requires_grad},
                %b: tensor<f32> {capture.kind = "parameter", capture.name = "b.bias", capture.requires_grad},
                %c: tensor<f32> {capture.kind = "parameter", capture.name = "c", capture.requires_grad})
    -> (tensor<f32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.mul %a, %b : tensor<f32>
  %1 = prim.mul %0, %c : tensor<f32>
  return %1 : tensor<f32>
}
