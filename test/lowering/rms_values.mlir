// The gradient of the fused root mean square norm, as PyTorch computes it.
// RUN: rs-run %s | rs-filecheck %s
// RUN: rs-opt %s --check-semantics --to=host | rs-filecheck %s --check-prefix=LEVELS
// CHECK: f32[2, 3] = [9.17912{{[0-9]*}}e-1, 5.399{{[0-9]*}}e-2, -1.619842{{[0-9]*}}e0, 1.614314{{[0-9]*}}e0, -1.18690{{[0-9]*}}e-2, 3.67968{{[0-9]*}}e-1]
// CHECK: f32[3] = [1.028935{{[0-9]*}}e0, -1.574953{{[0-9]*}}e0, -5.144678{{[0-9]*}}e-1]
// LEVELS: checked [[N:[0-9]+]] of [[N]] passes


func.func @main() -> (tensor<2x3xf32> {capture.kind = "output"}, tensor<3xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %x = prim.constant {value = dense<[[1.0, -2.0, 0.5], [0.25, 3.0, -1.0]]> : tensor<2x3xf32>} : () -> tensor<2x3xf32>
  %w = prim.constant {value = dense<[1.5, -1.0, 2.0]> : tensor<3xf32>} : () -> tensor<3xf32>
  %g = prim.constant {value = dense<[[1.0, 0.5, -1.0], [2.0, -0.5, 0.25]]> : tensor<2x3xf32>} : () -> tensor<2x3xf32>
  %0:2 = aten._fused_rms_norm %x, %w {segments = array<i64: 1, 1>, normalized_shape = array<i64: 3>, eps = 0.00001 : f64} : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x1xf32>)
  %1:2 = aten._fused_rms_norm_backward %g, %x, %0#1, %w {segments = array<i64: 1, 1, 1, 1>, normalized_shape = array<i64: 3>, output_mask = array<i1: true, true>} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x1xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)
  return %1#0, %1#1 : tensor<2x3xf32>, tensor<3xf32>
}
