// The gradient of the fused root mean square norm, as PyTorch computes it.
// RUN: rs-run %s | rs-filecheck %s
// RUN: rs-run --backend=interp %s | rs-filecheck %s

// CHECK: f32[2x3] = [0.917{{[0-9]*}}, 0.053{{[0-9]*}}, -1.619{{[0-9]*}}, 1.614{{[0-9]*}}, -0.0118{{[0-9]*}}, 0.3679{{[0-9]*}}]
// CHECK: f32[3] = [1.0289{{[0-9]*}}, -1.5749{{[0-9]*}}, -0.5144{{[0-9]*}}]

func.func @main() -> (tensor<2x3xf32> {capture.kind = "output"}, tensor<3xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %x = prim.constant {value = dense<[[1.0, -2.0, 0.5], [0.25, 3.0, -1.0]]> : tensor<2x3xf32>} : () -> tensor<2x3xf32>
  %w = prim.constant {value = dense<[1.5, -1.0, 2.0]> : tensor<3xf32>} : () -> tensor<3xf32>
  %g = prim.constant {value = dense<[[1.0, 0.5, -1.0], [2.0, -0.5, 0.25]]> : tensor<2x3xf32>} : () -> tensor<2x3xf32>
  %0:2 = aten._fused_rms_norm %x, %w {normalized_shape = array<i64: 3>, eps = 0.00001 : f64} : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x1xf32>)
  %1:2 = aten._fused_rms_norm_backward %g, %x, %0#1, %w {normalized_shape = array<i64: 3>, output_mask = array<i1: true, true>} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x1xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)
  return %1#0, %1#1 : tensor<2x3xf32>, tensor<3xf32>
}
