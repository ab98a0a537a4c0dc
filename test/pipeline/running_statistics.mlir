// `native_batch_norm` in training changes its running statistics, which its schema does not say: native code does, as the interpreter does.
// Of 1 and 3 the mean is 2 and the variance 2: 0.9 * 0 + 0.1 * 2, and 0.9 * 1 + 0.1 * 2.

// RUN: rs-run %s --weights %S/Inputs/running_statistics.safetensors | rs-filecheck %s
// RUN: rs-run %s --train=sgd,lr=1 --weights %S/Inputs/running_statistics.safetensors --save-weights %t.safetensors | rs-filecheck %s
// RUN: rs-run %s --weights %t.safetensors | rs-filecheck %s --check-prefix=AGAIN

// CHECK-DAG: mutation m: f32[1] = [2{{.*}}e-1]
// CHECK-DAG: mutation v: f32[1] = [1.1{{.*}}e0]
// AGAIN-DAG: mutation m: f32[1] = [3.{{79|8}}{{.*}}e-1]
// AGAIN-DAG: mutation v: f32[1] = [1.1{{89|9}}{{.*}}e0]

func.func @main(%m: tensor<1xf32> {capture.kind = "buffer", capture.name = "m"}, %v: tensor<1xf32> {capture.kind = "buffer", capture.name = "v"},
                %s: tensor<1xf32> {capture.kind = "input", capture.name = "s", capture.requires_grad})
    -> (tensor<f32> {capture.kind = "output"}) attributes {capture.entry} {
  %x = prim.constant {value = dense<[[1.0], [3.0]]> : tensor<2x1xf32>} : tensor<2x1xf32>
  %y, %mean, %rstd = aten.native_batch_norm %x, %s, %m, %v {eps = 1.000000e-05 : f64, momentum = 1.000000e-01 : f64, segments = array<i64: 1, 1, 0, 1, 1>, training = true} : (tensor<2x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<2x1xf32>, tensor<1xf32>, tensor<1xf32>)
  %0 = aten.sum %y : (tensor<2x1xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
