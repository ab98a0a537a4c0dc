//! Affine quantisation: whole numbers for floats by a scale and a zero point, of a tensor, a channel, a token, a group or a block.

use strata_dialects::aten::dtype::{DType, Numeric, Weight, result_type};
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Size, Tensor, product};

use super::args::Args;
use super::index::flat;
use super::rule::Precision::Exact;
use super::rule::{Rule, many, one};

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    one(_FAKE_QUANTIZE_LEARNABLE_PER_CHANNEL_AFFINE, Exact, |a| fake_learnable(a, Some(a.int("axis")))),
    one(_FAKE_QUANTIZE_LEARNABLE_PER_TENSOR_AFFINE, Exact, |a| fake_learnable(a, None)),
    many(_FAKE_QUANTIZE_PER_TENSOR_AFFINE_CACHEMASK_TENSOR_QPARAMS, Exact, fake_where_enabled),
    one(FAKE_QUANTIZE_PER_CHANNEL_AFFINE, Exact, |a| fake_per_channel(a)[0]),
    many(FAKE_QUANTIZE_PER_CHANNEL_AFFINE_CACHEMASK, Exact, fake_per_channel),
    one(FAKE_QUANTIZE_PER_CHANNEL_AFFINE_CACHEMASK_BACKWARD, Exact, fake_backward),
    one(FAKE_QUANTIZE_PER_TENSOR_AFFINE, Exact, |a| fake_per_tensor(a)[0]),
    one(FAKE_QUANTIZE_PER_TENSOR_AFFINE_TENSOR_QPARAMS, Exact, |a| fake_per_tensor(a)[0]),
    many(FAKE_QUANTIZE_PER_TENSOR_AFFINE_CACHEMASK, Exact, fake_per_tensor),
    one(FAKE_QUANTIZE_PER_TENSOR_AFFINE_CACHEMASK_BACKWARD, Exact, fake_backward),
    many(quantized_decomposed::_CHOOSE_QPARAMS_PER_TOKEN_ASYMMETRIC_IMPL, Exact, choose_per_token_asymmetric),
    many(quantized_decomposed::CHOOSE_QPARAMS_TENSOR, Exact, choose),
    many(quantized_decomposed::CHOOSE_QPARAMS_PER_TOKEN, Exact, choose_per_token),
    many(quantized_decomposed::CHOOSE_QPARAMS_PER_TOKEN_ASYMMETRIC, Exact, choose_per_token_asymmetric),
    many(quantized_decomposed::CHOOSE_QPARAMS_SYMMETRIC_TENSOR, Exact, choose_symmetric),
    one(quantized_decomposed::CONVERT_ELEMENT_TYPE_NO_FUSE, Exact, |a| a.raw("input").convert(a.result_dtype(0))),
    one(quantized_decomposed::DEQUANTIZE_PER_CHANNEL, Exact, dequantize_per_channel),
    one(quantized_decomposed::DEQUANTIZE_PER_CHANNEL_GROUP, Exact, dequantize_per_group),
    one(quantized_decomposed::DEQUANTIZE_PER_TENSOR, Exact, dequantize_per_tensor),
    one(quantized_decomposed::DEQUANTIZE_PER_TENSOR_TENSOR, Exact, dequantize_per_tensor),
    one(quantized_decomposed::DEQUANTIZE_PER_TENSOR_TENSOR2, Exact, dequantize_per_tensor),
    one(quantized_decomposed::DEQUANTIZE_PER_TOKEN, Exact, dequantize_per_token),
    one(quantized_decomposed::FAKE_QUANT_PER_CHANNEL, Exact, |a| fake_per_channel(a)[0]),
    one(quantized_decomposed::QUANTIZE_PER_CHANNEL, Exact, quantize_per_channel),
    one(quantized_decomposed::QUANTIZE_PER_CHANNEL_GROUP, Exact, quantize_per_group),
    one(quantized_decomposed::QUANTIZE_PER_TENSOR, Exact, quantize_per_tensor),
    one(quantized_decomposed::QUANTIZE_PER_TENSOR_TENSOR, Exact, quantize_per_tensor),
    one(quantized_decomposed::QUANTIZE_PER_TENSOR_TENSOR2, Exact, quantize_per_tensor),
    one(quantized_decomposed::QUANTIZE_PER_TOKEN, Exact, quantize_per_token),
    many(torchao::CHOOSE_QPARAMS_AFFINE, Exact, choose_affine),
    one(torchao::DEQUANTIZE_AFFINE, Exact, dequantize_affine),
    one(torchao::QUANTIZE_AFFINE, Exact, quantize_affine),
];

/// A step of a computation that PyTorch makes in this type: halves are computed with in `f32`, and each step rounds.
fn step<'c>(dtype: DType, t: Tensor<'c>) -> Tensor<'c> {
    t.convert(dtype).convert(dtype.compute())
}

/// The numbers that the range keeps; the bounds are numbers or tensors of rank 0.
fn in_range<'c>(a: &Args<'c>, x: Tensor<'c>) -> Tensor<'c> {
    let bound = |name| {
        let bound = a.as_type(name, x.dtype());
        if bound.rank() == 0 { bound } else { bound.reshape(&[]) }
    };
    x.maximum(bound("quant_min")).minimum(bound("quant_max"))
}

/// One number per index of a dimension, for use beside a tensor of this rank.
fn on_axis<'c>(t: Tensor<'c>, axis: usize, rank: usize) -> Tensor<'c> {
    (axis + 1..rank).fold(flat(t), |t, _| t.unsqueeze(t.rank()))
}

// One scale of a whole tensor.

/// Python divides in double precision.
fn inverse_scale<'c>(a: &Args<'c>) -> Tensor<'c> {
    a.as_type("scale", DType::F64).reshape(&[]).reciprocal().convert(DType::F32)
}

fn quantize_per_tensor<'c>(a: &Args<'c>) -> Tensor<'c> {
    let zero = a.as_type("zero_point", DType::F32).reshape(&[]);
    let x = (a.raw("input").convert(DType::F32) * inverse_scale(a)).round() + zero;
    in_range(a, x).convert(a.result_dtype(0))
}

fn dequantize_per_tensor<'c>(a: &Args<'c>) -> Tensor<'c> {
    let dtype = a.result_dtype(0);
    let [scale, zero] = ["scale", "zero_point"].map(|name| a.as_type(name, dtype.compute()).reshape(&[]));
    let x = step(dtype, step(dtype, a.raw("input")) - zero);
    (x * scale).convert(dtype)
}

// A scale for each index of a dimension, for each row, for each group of a row.

fn quantize_per_channel<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.raw("input").convert(DType::F32);
    let (axis, rank) = (a.dim("axis", x.rank()), x.rank());
    let scale = on_axis(a.raw("scales"), axis, rank).reciprocal();
    let scaled = (x.convert(scale.dtype()) * scale).round();
    in_range(a, scaled + on_axis(a.raw("zero_points"), axis, rank).convert(scaled.dtype())).convert(a.result_dtype(0))
}

fn dequantize_per_channel<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, dtype) = (a.raw("input"), a.result_dtype(0));
    let (axis, rank) = (a.dim("axis", x.rank()), x.rank());
    let scale = on_axis(a.raw("scales"), axis, rank);
    let moved = moved(x, a.opt_tensor("zero_points").map(|zero| on_axis(zero, axis, rank)), scale.dtype().compute());
    (moved * scale.convert(scale.dtype().compute())).convert(dtype)
}

/// The difference to the zero point, of whole numbers without loss.
fn moved<'c>(x: Tensor<'c>, zero: Option<Tensor<'c>>, dtype: DType) -> Tensor<'c> {
    let x = x.convert(dtype);
    zero.map_or(x, |zero| x - zero.convert(dtype))
}

fn quantize_rows<'c>(a: &Args<'c>, x: Tensor<'c>, scale: Tensor<'c>, zero: Tensor<'c>) -> Tensor<'c> {
    let scale = scale.reciprocal();
    let dtype = result_type(&[(x.dtype(), Weight::Dimensioned), (scale.dtype(), Weight::Dimensioned)]);
    let scaled = step(dtype, x.convert(dtype.compute()) * scale.convert(dtype.compute()));
    in_range(a, step(dtype, scaled + zero.convert(scaled.dtype())).round())
}

fn quantize_per_token<'c>(a: &Args<'c>) -> Tensor<'c> {
    quantize_rows(a, a.raw("input"), a.raw("scales"), a.raw("zero_points")).convert(a.result_dtype(0))
}

fn dequantize_per_token<'c>(a: &Args<'c>) -> Tensor<'c> {
    let scale = a.raw("scales");
    let dtype = scale.dtype().compute();
    (moved(a.raw("input"), a.opt_tensor("zero_points"), dtype) * scale.convert(dtype)).convert(a.result_dtype(0))
}

/// A matrix with a group in each row.
fn groups<'c>(a: &Args<'c>, x: Tensor<'c>) -> Tensor<'c> {
    let shape = x.shape();
    let last = shape.last().copied().unwrap_or(Size::Const(1));
    let asked = Size::Const(a.int("group_size").max(1));
    // A group larger than a row is the row.
    let size = if last.known().is_some_and(|last| last < a.int("group_size")) { last } else { asked };
    x.reshape(&[product(&shape) / size, size])
}

fn quantize_per_group<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.raw("input");
    let [scale, zero] = ["scales", "zero_points"].map(|name| flat(a.raw(name)).unsqueeze(1));
    quantize_rows(a, groups(a, x), scale, zero).reshape(&x.shape()).convert(a.result_dtype(0))
}

fn dequantize_per_group<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, scale) = (a.raw("input"), flat(a.raw("scales")).unsqueeze(1));
    let dtype = scale.dtype().compute();
    let zero = a.opt_tensor("zero_points").map(|zero| flat(zero).unsqueeze(1));
    (moved(groups(a, x), zero, dtype) * scale.convert(dtype)).reshape(&x.shape()).convert(a.result_dtype(0))
}

// A scale for each block of a tensor.

/// The tensor with each blocked dimension in two, and the shape of one number for each block beside it.
pub(super) fn blocks<'c>(a: &Args<'c>, x: Tensor<'c>) -> (Tensor<'c>, Vec<Size<'c>>, Vec<usize>) {
    let (mut split, mut one, mut inside) = (Vec::new(), Vec::new(), Vec::new());
    for (size, block) in x.shape().iter().zip(a.sizes("block_size")) {
        match block.known() {
            Some(1) => {
                split.push(*size);
                one.push(*size);
            }
            _ if block.same(*size) => {
                inside.push(split.len());
                split.push(*size);
                one.push(Size::Const(1));
            }
            _ => {
                split.extend([*size / block, block]);
                inside.push(split.len() - 1);
                one.extend([*size / block, Size::Const(1)]);
            }
        }
    }
    (x.reshape(&split), one, inside)
}

/// The range of a type, where the call does not say one.
fn affine_range<'c>(a: &Args<'c>, dtype: DType) -> (f64, f64) {
    let bits = dtype.bits();
    let (low, high) = if dtype.is_float8() {
        (-super::float8::largest(dtype), super::float8::largest(dtype))
    } else if dtype.is_unsigned() {
        (0.0, 2f64.powi(bits as i32) - 1.0)
    } else {
        (-(2f64.powi(bits as i32 - 1)), 2f64.powi(bits as i32 - 1) - 1.0)
    };
    (a.opt_constant("quant_min").unwrap_or(low), a.opt_constant("quant_max").unwrap_or(high))
}

fn quantize_affine<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.raw("input");
    let (parts, one, _) = blocks(a, x);
    let (scale, (low, high)) = (a.raw("scale").reshape(&one), affine_range(a, a.result_dtype(0)));
    let inverse = step(scale.dtype(), scale.convert(scale.dtype().compute()).reciprocal());
    let dtype = a.promoted_dtype(&["input", "scale"]);
    let scaled = step(dtype, parts.convert(dtype.compute()) * inverse.convert(dtype.compute())).round();
    let zero = a.opt_tensor("zero_point").filter(|zero| zero.numel().known() != Some(0));
    let moved = zero.map_or(scaled, |zero| step(dtype, scaled + zero.reshape(&one).convert(scaled.dtype())));
    moved.clamp(low, high).reshape(&x.shape()).convert(a.result_dtype(0))
}

fn dequantize_affine<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, dtype) = (a.raw("input"), a.result_dtype(0));
    let (parts, one, _) = blocks(a, x);
    let zero = a.opt_tensor("zero_point").filter(|zero| zero.numel().known() != Some(0)).map(|zero| step(dtype, zero.reshape(&one)));
    let moved = zero.map_or(step(dtype, parts), |zero| step(dtype, step(dtype, parts) - zero));
    let scale = a.raw("scale").reshape(&one);
    let working = if scale.dtype() == DType::F64 { DType::F64 } else { dtype.compute() };
    (moved.convert(working) * scale.convert(working)).reshape(&x.shape()).convert(dtype)
}

fn choose_affine<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let x = a.raw("input");
    let dtype = x.dtype();
    let (parts, _, inside) = blocks(a, x);
    let (low, high) = affine_range(a, a.dtype("target_dtype").unwrap_or(DType::I8));
    let keep = a.bool("keepdim");
    let (least, most) = extremes(parts.convert(dtype.compute()), &inside, keep);
    let eps = a.opt_float("eps").unwrap_or(smallest_normal(dtype));
    let rounded = |t: Tensor<'c>| step(dtype, t);
    let (scale, zero) = match a.str("mapping_type").as_str() {
        "ASYMMETRIC" => {
            let scale = rounded(rounded(most - least) / (high - low)).maximum(eps);
            (scale, rounded(-rounded(least / scale).round() + low).clamp(low, high))
        }
        mapping => {
            let scale = match mapping {
                "SYMMETRIC" => rounded((-least).maximum(most) / ((high - low) / 2.0)),
                _ => rounded(least / low).maximum(rounded(most / high)),
            };
            let scale = scale.maximum(eps);
            (scale, scale.filled(Scalar::Float(((high + low + 1.0) / 2.0).trunc())))
        }
    };
    let shape: Vec<_> = x.shape().iter().zip(a.sizes("block_size")).map(|(size, block)| *size / block).collect();
    let shaped = |t: Tensor<'c>| if keep { t.reshape(&shape) } else { t };
    vec![shaped(scale).convert(a.result_dtype(0)), shaped(zero).convert(a.result_dtype(1))]
}

/// The smallest normal number of a type.
fn smallest_normal(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 2f64.powi(-14),
        DType::F64 => f64::MIN_POSITIVE,
        _ => f64::from(f32::MIN_POSITIVE),
    }
}

// Choosing scales.

/// The least and the largest element of some dimensions, and 0.
fn extremes<'c>(x: Tensor<'c>, dims: &[usize], keep: bool) -> (Tensor<'c>, Tensor<'c>) {
    (x.reduce("min", dims, keep).minimum(0.0), x.reduce("max", dims, keep).maximum(0.0))
}

fn choose<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let x = a.raw("input").convert(DType::F32);
    let (least, most) = extremes(x, &x.all_dims(), false);
    let (low, high) = (a.int("quant_min") as f64, a.int("quant_max") as f64);
    let scale = ((most - least) / (high - low)).maximum(a.float("eps"));
    let zero = (-(least / scale).round() + low).clamp(low, high);
    vec![fitted(a, 0, scale), fitted(a, 1, zero)]
}

fn choose_symmetric<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let x = a.raw("input").convert(DType::F32);
    let (least, most) = extremes(x, &x.all_dims(), false);
    let half = (a.int("quant_max") - a.int("quant_min")) as f64 / 2.0;
    let scale = ((-least).maximum(most) / half).maximum(a.float("eps"));
    let middle = if a.dtype("dtype") == Some(DType::U8) { 128 } else { 0 };
    vec![fitted(a, 0, scale), fitted(a, 1, scale.filled(Scalar::Int(middle)))]
}

/// One number in the shape and type that is declared.
fn fitted<'c>(a: &Args<'c>, index: usize, t: Tensor<'c>) -> Tensor<'c> {
    t.reshape(&vec![Size::Const(1); a.result_sizes(index).len()]).convert(a.result_dtype(index))
}

/// Rows are scaled so that their largest element is 127.
fn choose_per_token<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let x = a.raw("input");
    let last = x.rank().saturating_sub(1);
    let largest = x.convert(x.dtype().compute()).abs().reduce("max", &[last], true);
    let scale = largest.maximum(1e-5) / 127.0;
    vec![scale.convert(a.result_dtype(0)), scale.filled(Scalar::Int(0)).convert(a.result_dtype(1))]
}

/// The zero point lies where the smaller error of both ends is.
fn choose_per_token_asymmetric<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let x = a.raw("input");
    let (dtype, last) = (x.dtype(), x.rank().saturating_sub(1));
    let (low, high) = (-128.0, 127.0);
    let rounded = |t: Tensor<'c>| step(dtype, t);
    let (least, most) = extremes(x.convert(dtype.compute()), &[last], true);
    let scale = rounded(rounded(rounded(most - least) / (high - low)).maximum(f64::from(f32::EPSILON)));
    let (least, most) = (rounded(least / scale), rounded(most / scale));
    let nearer_least = rounded(rounded(least + low) + rounded(most + high)).greater(0.0);
    let zero = nearer_least.select(rounded(-least + low), rounded(-most + high)).clamp(low, high).round();
    vec![scale.convert(a.result_dtype(0)), zero.convert(a.result_dtype(1))]
}

// Quantising and back, for training.

/// The value that comes back, and whether the number was in the range.
fn fake<'c>(a: &Args<'c>, number: Tensor<'c>, scale: Tensor<'c>, zero: Tensor<'c>) -> Vec<Tensor<'c>> {
    let (low, high) = (a.int("quant_min") as f64, a.int("quant_max") as f64);
    let back = (number.clamp(low, high) - zero) * scale;
    vec![back.convert(a.result_dtype(0)), number.greater_equal(low).and(number.less_equal(high))]
}

fn fake_per_tensor<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let x = a.raw("self");
    let x = x.convert(x.dtype().compute());
    let [scale, zero] = ["scale", "zero_point"].map(|name| a.as_type(name, DType::F32).reshape(&[]));
    let inverse = scale.reciprocal().convert(x.dtype());
    let zero = zero.convert(x.dtype());
    fake(a, (x * inverse).round() + zero, scale.convert(x.dtype()), zero)
}

fn fake_where_enabled<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let enabled = a.raw("fake_quant_enabled").reshape(&[]).not_equal(0);
    let results = fake_per_tensor(a);
    vec![enabled.select(results[0], a.raw("self")), results[1].or(!enabled)]
}

/// The zero point takes part in the rounding.
fn fake_per_channel<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let x = a.raw(if a.has("self") { "self" } else { "input" });
    let (axis, rank) = (a.dim("axis", x.rank()), x.rank());
    let x = x.convert(x.dtype().compute());
    let scale = on_axis(a.raw(if a.has("scale") { "scale" } else { "scales" }), axis, rank).convert(x.dtype());
    let zero = on_axis(a.raw(if a.has("zero_point") { "zero_point" } else { "zero_points" }), axis, rank).convert(x.dtype());
    fake(a, (x * scale.reciprocal() + zero).round(), scale, zero)
}

/// The zero point is rounded to a number of the range first.
fn fake_learnable<'c>(a: &Args<'c>, axis: Option<i64>) -> Tensor<'c> {
    let x = a.raw("self");
    let rank = x.rank();
    let x = x.convert(x.dtype().compute());
    let number = |name| {
        let t = a.raw(name).convert(x.dtype());
        axis.map_or(t.reshape(&[]), |axis| on_axis(t, a.wrap(axis, rank), rank))
    };
    let scale = number("scale");
    let zero = (number("zero_point") + 0.5).clamp(a.int("quant_min") as f64, a.int("quant_max") as f64).floor();
    fake(a, (x * scale.reciprocal()).round() + zero, scale, zero)[0]
}

fn fake_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let grad = a.raw("grad");
    grad * a.raw("mask").convert(grad.dtype())
}
