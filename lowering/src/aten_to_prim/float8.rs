//! Floats of 8 bits beside scales: products of matrices, and torchao's quantisation.

use strata_dialects::aten::dtype::{DType, Numeric};
use strata_dialects::aten::op::*;
use strata_dialects::float8;
use strata_dialects::prim_builder::{Size, Tensor};

use super::args::Args;
use super::matmul::mm;
use super::quantise::blocks;
use super::rule::Precision::Exact;
use super::rule::{Rule, one};

pub(super) const RULES: &[Rule] = &[
    one(_SCALED_MM, Exact, |a| scaled_mm(a, a.raw("scale_a"), a.raw("scale_b"))),
    one(_SCALED_MM_V2, Exact, scaled_mm_v2),
    one(torchao::CHOOSE_SCALE_FLOAT8, Exact, choose_scale),
    one(torchao::DEQUANTIZE_AFFINE_FLOAT8_NON_DECOMPOSED, Exact, dequantize),
    one(torchao::QUANTIZE_AFFINE_FLOAT8_NON_DECOMPOSED, Exact, quantize),
];

/// The product in `f32`, times the scales: one of each matrix, or one of each row of the first and each column of the second.
fn scaled_mm<'c>(a: &Args<'c>, rows: Tensor<'c>, columns: Tensor<'c>) -> Tensor<'c> {
    let [x, y] = ["self", "mat2"].map(|name| a.raw(name).convert(DType::F32));
    let scale = |t: Tensor<'c>| if t.numel().known() == Some(1) { t.reshape(&[]) } else { t };
    let mut product = mm(x, y) * scale(rows) * scale(columns);
    if let Some(bias) = a.opt_tensor("bias") {
        product = product + bias.convert(DType::F32);
    }
    // PyTorch reads the scale of the result only where a type of 8 bits is asked for.
    if a.has("scale_result") && a.dtype("out_dtype").is_some_and(DType::is_float8) {
        product = a.opt_tensor("scale_result").map_or(product, |scale| product / scale.reshape(&[]));
    }
    product.convert(a.result_dtype(0))
}

fn scaled_mm_v2<'c>(a: &Args<'c>) -> Tensor<'c> {
    let one = |recipe: &str, scale: &str| {
        let (recipe, scales) = (a.ints(recipe), a.tensors(scale));
        // PyTorch's `ScalingType`: 0 is one scale of all, 1 one of each row.
        scales.first().copied().filter(|_| scales.len() == 1 && matches!(recipe[..], [0 | 1]))
    };
    let swizzled = ["swizzle_a", "swizzle_b"].iter().any(|name| a.ints(name).iter().any(|kind| *kind != 0));
    match (one("recipe_a", "scale_a"), one("recipe_b", "scale_b")) {
        (Some(rows), Some(columns)) if !swizzled => scaled_mm(a, rows, columns),
        _ => {
            a.fail("scales of blocks are not supported: use one of the tensor or one of each row");
            a.raw("self")
        }
    }
}

/// The largest finite number of a type.
pub(super) fn largest(dtype: DType) -> f64 {
    float8::decode(dtype, if dtype == DType::F8E4M3FN { 0x7e } else { 0x7b })
}

/// A number for each element, where there is one for each block.
fn spread<'c>(scale: Tensor<'c>, shape: &[Size<'c>]) -> Tensor<'c> {
    let scale = scale.convert(DType::F32);
    if scale.rank() != shape.len() || scale.numel().known() == Some(1) {
        return scale;
    }
    let whole = |(have, want): (&Size<'c>, &Size<'c>)| have.known() == Some(1) || have.same(*want);
    if scale.shape().iter().zip(shape).all(whole) {
        return scale;
    }
    let (mut split, mut wide) = (Vec::new(), Vec::new());
    for (have, want) in scale.shape().iter().zip(shape) {
        split.extend([*have, Size::Const(1)]);
        wide.extend([*have, *want / *have]);
    }
    scale.reshape(&split).broadcast_to(&wide).reshape(shape)
}

fn quantize<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, to) = (a.raw("tensor").convert(DType::F32), a.result_dtype(0));
    let most = largest(to);
    (x / spread(a.raw("scale"), &x.shape())).clamp(-most, most).convert(to)
}

fn dequantize<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.raw("tensor").convert(DType::F32);
    (x * spread(a.raw("scale"), &x.shape())).convert(a.result_dtype(0))
}

/// What makes the largest element of each block the largest number.
fn choose_scale<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.raw("tensor");
    let dtype = x.dtype();
    let (parts, _, inside) = blocks(a, x.convert(dtype.compute()));
    let mut most = parts.abs().reduce("max", &inside, true);
    if let Some(low) = a.opt_float("hp_value_lb") {
        most = most.maximum(low);
    }
    if let Some(high) = a.opt_float("hp_value_ub") {
        most = most.minimum(high);
    }
    let scale = most / largest(a.dtype("float8_dtype").unwrap_or(DType::F8E4M3FN));
    let shape: Vec<_> = x.shape().iter().zip(a.sizes("block_size")).map(|(size, block)| *size / block).collect();
    scale.reshape(&shape).convert(dtype).convert(DType::F32)
}
