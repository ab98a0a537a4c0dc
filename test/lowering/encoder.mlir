// A layer of an encoder, whose mask has a row for each sequence; attention whose heads of keys are shared, without an argument that says so;
// windows of one batch that stand for those of two. The interpreter has each from its definition.
// RUN: rs-opt %s --check-semantics=sets=2 --to=host | FileCheck %s
// CHECK: checked [[N:[0-9]+]] of [[N]] passes
func.func @main(%x: tensor<2x5x8xf32> {capture.kind = "input", capture.name = "x"},
                %in: tensor<24x8xf32> {capture.kind = "input", capture.name = "in"},
                %row: tensor<24xf32> {capture.kind = "input", capture.name = "row"},
                %out: tensor<8x8xf32> {capture.kind = "input", capture.name = "out"},
                %bias: tensor<8xf32> {capture.kind = "input", capture.name = "bias"},
                %up: tensor<12x8xf32> {capture.kind = "input", capture.name = "up"},
                %wide: tensor<12xf32> {capture.kind = "input", capture.name = "wide"},
                %down: tensor<8x12xf32> {capture.kind = "input", capture.name = "down"},
                %q: tensor<2x4x3x8xf32> {capture.kind = "input", capture.name = "q"},
                %k: tensor<2x2x6x8xf32> {capture.kind = "input", capture.name = "k"},
                %w: tensor<1x3x4xf32> {capture.kind = "input", capture.name = "w"})
    -> (tensor<2x5x8xf32> {capture.kind = "output"}, tensor<2x4x3x8xf32> {capture.kind = "output"}, tensor<2x8xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %two = aten.full {size = array<i64: 2, 5>, fill_value = 0 : i64, dtype = i1} : () -> tensor<2x5xi1>
  %0 = aten._transformer_encoder_layer_fwd %x, %in, %row, %out, %bias, %bias, %bias, %bias, %bias, %up, %wide, %down, %bias, %two {embed_dim = 8 : i64, num_heads = 2 : i64, use_gelu = true, norm_first = true, eps = 1.0e-5 : f64, mask_type = 1 : i64, segments = array<i64: 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1>} : (tensor<2x5x8xf32>, tensor<24x8xf32>, tensor<24xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<12x8xf32>, tensor<12xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<2x5xi1>) -> tensor<2x5x8xf32>
  %1:2 = aten._scaled_dot_product_flash_attention_for_cpu %q, %k, %k {segments = array<i64: 1, 1, 1, 0>} : (tensor<2x4x3x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>) -> (tensor<2x4x3x8xf32>, tensor<2x4x3xf32>)
  %2 = aten.unfold_backward %w {input_sizes = array<i64: 2, 8>, dim = 1 : i64, size = 4 : i64, step = 2 : i64} : (tensor<1x3x4xf32>) -> tensor<2x8xf32>
  %3 = prims.fma %2, %2, %2 : (tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %0, %1#0, %3 : tensor<2x5x8xf32>, tensor<2x4x3x8xf32>, tensor<2x8xf32>
}
