//! Resampling of images: nearest, linear, cubic.

use strata_dialects::aten::dtype::DType;
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Size, Tensor};

use super::args::Args;
use super::rule::Precision::{Compute, Exact};
use super::rule::{Rule, one};

pub(super) const RULES: &[Rule] = &[
    one(_UPSAMPLE_NEAREST_EXACT1D, Exact, |a| nearest(a, 1, true)),
    one(_UPSAMPLE_NEAREST_EXACT1D_VEC, Exact, |a| nearest(a, 1, true)),
    one(_UPSAMPLE_NEAREST_EXACT1D_BACKWARD, Exact, |a| nearest_backward(a, 1, true)),
    one(_UPSAMPLE_NEAREST_EXACT2D, Exact, |a| nearest(a, 2, true)),
    one(_UPSAMPLE_NEAREST_EXACT2D_VEC, Exact, |a| nearest(a, 2, true)),
    one(_UPSAMPLE_NEAREST_EXACT2D_BACKWARD, Exact, |a| nearest_backward(a, 2, true)),
    one(_UPSAMPLE_NEAREST_EXACT3D, Exact, |a| nearest(a, 3, true)),
    one(_UPSAMPLE_NEAREST_EXACT3D_VEC, Exact, |a| nearest(a, 3, true)),
    one(_UPSAMPLE_NEAREST_EXACT3D_BACKWARD, Exact, |a| nearest_backward(a, 3, true)),
    one(UPSAMPLE_BICUBIC2D, Compute, |a| interpolate(a, 2, cubic_taps)),
    one(UPSAMPLE_BICUBIC2D_VEC, Compute, |a| interpolate(a, 2, cubic_taps)),
    one(UPSAMPLE_BICUBIC2D_BACKWARD, Compute, |a| interpolate_backward(a, 2, cubic_taps)),
    one(UPSAMPLE_BILINEAR2D, Compute, |a| interpolate(a, 2, linear_taps)),
    one(UPSAMPLE_BILINEAR2D_VEC, Compute, |a| interpolate(a, 2, linear_taps)),
    one(UPSAMPLE_BILINEAR2D_BACKWARD, Compute, |a| interpolate_backward(a, 2, linear_taps)),
    one(UPSAMPLE_LINEAR1D, Compute, |a| interpolate(a, 1, linear_taps)),
    one(UPSAMPLE_LINEAR1D_VEC, Compute, |a| interpolate(a, 1, linear_taps)),
    one(UPSAMPLE_LINEAR1D_BACKWARD, Compute, |a| interpolate_backward(a, 1, linear_taps)),
    one(UPSAMPLE_NEAREST1D, Exact, |a| nearest(a, 1, false)),
    one(UPSAMPLE_NEAREST1D_VEC, Exact, |a| nearest(a, 1, false)),
    one(UPSAMPLE_NEAREST1D_BACKWARD, Exact, |a| nearest_backward(a, 1, false)),
    one(UPSAMPLE_NEAREST2D, Exact, |a| nearest(a, 2, false)),
    one(UPSAMPLE_NEAREST2D_VEC, Exact, |a| nearest(a, 2, false)),
    one(UPSAMPLE_NEAREST2D_BACKWARD, Exact, |a| nearest_backward(a, 2, false)),
    one(UPSAMPLE_NEAREST3D, Exact, |a| nearest(a, 3, false)),
    one(UPSAMPLE_NEAREST3D_VEC, Exact, |a| nearest(a, 3, false)),
    one(UPSAMPLE_NEAREST3D_BACKWARD, Exact, |a| nearest_backward(a, 3, false)),
    one(UPSAMPLE_TRILINEAR3D, Compute, |a| interpolate(a, 3, linear_taps)),
    one(UPSAMPLE_TRILINEAR3D_VEC, Compute, |a| interpolate(a, 3, linear_taps)),
    one(UPSAMPLE_TRILINEAR3D_BACKWARD, Compute, |a| interpolate_backward(a, 3, linear_taps)),
];

pub(super) fn image<'c>(a: &Args<'c>) -> Tensor<'c> {
    a.tensor(if a.has("input") { "input" } else { "self" })
}

/// For each spatial dimension the output size and, where given, the scale factor.
pub(super) fn targets<'c>(a: &Args<'c>, x: Tensor<'c>, space: usize) -> Vec<(Size<'c>, Option<f64>)> {
    let sizes = a.sizes("output_size");
    let factors = if a.has("scale_factors") { a.opt_floats("scale_factors") } else { named_scales(a, space) };
    let lead = x.rank().saturating_sub(space);
    let target = |k: usize| {
        let factor = factors.as_ref().and_then(|f| f.get(k).copied());
        let size = match (sizes.get(k), factor, x.size(lead + k)) {
            (Some(size), _, _) => *size,
            (None, Some(factor), Size::Const(n)) => Size::Const((n as f64 * factor).floor() as i64),
            (None, Some(factor), n) if factor.fract() == 0.0 => n * factor as i64,
            (None, Some(factor), n) => (a.prim.size_tensor(DType::F64, n) * factor).floor().convert(DType::I64).item_size(),
            _ => {
                a.fail("the output size of a resampling is not known");
                Size::Const(1)
            }
        };
        (size, factor)
    };
    (0..space).map(target).collect()
}

/// Scales given one by one; they count only if all are there.
pub(super) fn named_scales(a: &Args<'_>, space: usize) -> Option<Vec<f64>> {
    let names: &[&str] = match space {
        1 => &["scales"],
        2 => &["scales_h", "scales_w"],
        _ => &["scales_d", "scales_h", "scales_w"],
    };
    names.iter().map(|name| if a.has(name) { a.opt_float(name) } else { None }).collect()
}

/// Input elements per output element, as a 0-d tensor.
pub(super) fn ratio<'c>(a: &Args<'c>, dtype: DType, from: Size<'c>, to: Size<'c>, factor: Option<f64>) -> Tensor<'c> {
    match (factor, from, to) {
        (Some(factor), _, _) if factor > 0.0 => a.prim.constant(dtype, Scalar::Float(1.0 / factor)),
        (_, Size::Const(n), Size::Const(m)) => a.prim.constant(dtype, Scalar::Float(n as f64 / m as f64)),
        _ => a.prim.size_tensor(dtype, from) / a.prim.size_tensor(dtype, to),
    }
}

/// The position that each output element reads.
fn nearest_positions<'c>(a: &Args<'c>, n: Size<'c>, size: Size<'c>, factor: Option<f64>, exact: bool) -> Tensor<'c> {
    let index = a.prim.range(DType::F32, size);
    let index = if exact { index + 0.5 } else { index };
    let scaled = (index * ratio(a, DType::F32, n, size, factor)).floor().convert(DType::I64);
    scaled.minimum(n - 1)
}

fn nearest<'c>(a: &Args<'c>, space: usize, exact: bool) -> Tensor<'c> {
    let x = image(a);
    let lead = x.rank().saturating_sub(space);
    let targets = targets(a, x, space);
    let sizes: Vec<_> = targets.iter().map(|(size, _)| *size).collect();
    let position = |(k, (size, factor)): (usize, (Size<'c>, Option<f64>))| {
        nearest_positions(a, x.size(lead + k), size, factor, exact).unsqueeze_to(space - k).broadcast_to(&sizes)
    };
    let positions: Vec<_> = targets.into_iter().enumerate().map(position).collect();
    let dims: Vec<_> = (lead..x.rank()).collect();
    let images = x.gather(&positions, &dims);
    let last = (0..lead).map(|dim| space + dim).chain(0..space);
    images.transpose(&last.collect::<Vec<_>>())
}

/// Adds parts of a gradient along `dim` at the positions that they were read from.
pub(super) fn put_back<'c>(grad: Tensor<'c>, dim: usize, n: Size<'c>, index: Tensor<'c>) -> Tensor<'c> {
    let mut shape = grad.shape().to_vec();
    shape[dim] = n;
    let zeros = grad.prim().full(grad.dtype(), Scalar::Int(0), &shape);
    zeros.scatter(grad.move_dim(dim, 0), &[index], &[dim], "add")
}

/// Undoes a resampling of the last dimensions, one after the other; `f` gets the gradient, the dimension, the size before.
fn backward<'c>(a: &Args<'c>, space: usize, f: impl Fn(Tensor<'c>, usize, Size<'c>, Option<f64>) -> Tensor<'c>) -> Tensor<'c> {
    let (grad, input, factors) = (a.tensor("grad_output"), a.sizes("input_size"), named_scales(a, space));
    let lead = grad.rank().saturating_sub(space);
    (0..space).fold(grad, |grad, k| {
        let n = input.get(lead + k).copied().unwrap_or(Size::Const(1));
        f(grad, lead + k, n, factors.as_ref().and_then(|f| f.get(k).copied()))
    })
}

fn nearest_backward<'c>(a: &Args<'c>, space: usize, exact: bool) -> Tensor<'c> {
    backward(a, space, |grad, dim, n, factor| put_back(grad, dim, n, nearest_positions(a, n, grad.size(dim), factor, exact)))
}

fn interpolate_backward<'c>(a: &Args<'c>, space: usize, taps: TapsOf) -> Tensor<'c> {
    backward(a, space, |grad, dim, n, factor| {
        let put = |(index, weight): (Tensor<'c>, Tensor<'c>)| put_back(grad * weight.unsqueeze_to(grad.rank() - dim), dim, n, index);
        let parts = taps(a, grad.dtype(), n, grad.size(dim), factor).into_iter().map(put);
        parts.reduce(|a, b| a + b).unwrap_or(grad)
    })
}

/// The source coordinate of each output element.
fn source<'c>(a: &Args<'c>, dtype: DType, n: Size<'c>, size: Size<'c>, factor: Option<f64>, clamp: bool) -> Tensor<'c> {
    let index = a.prim.range(dtype, size);
    if a.bool("align_corners") {
        return match (n, size) {
            (Size::Const(n), Size::Const(m)) if m > 1 => index * ((n - 1) as f64 / (m - 1) as f64),
            (_, Size::Const(_)) => index * 0.0,
            _ => index * (a.prim.size_tensor(dtype, n - 1) / a.prim.size_tensor(dtype, (size - 1).max(1))),
        };
    }
    let place = (index + 0.5) * ratio(a, dtype, n, size, factor) - 0.5;
    if clamp { place.maximum(0.0) } else { place }
}

/// A read of an interpolation: an element's position along the dimension, and its weight.
pub(super) type Taps<'c> = Vec<(Tensor<'c>, Tensor<'c>)>;

/// Makes the reads along a dimension of one size for another, with a scale factor if given.
type TapsOf = for<'c> fn(&Args<'c>, DType, Size<'c>, Size<'c>, Option<f64>) -> Taps<'c>;

fn linear_taps<'c>(a: &Args<'c>, dtype: DType, n: Size<'c>, size: Size<'c>, factor: Option<f64>) -> Taps<'c> {
    let place = source(a, dtype, n, size, factor, true);
    // (A scale may be so small that no place is a number.)
    let low = place.floor().convert(DType::I64).maximum(0).minimum(n - 1);
    let high = (low + 1).minimum(n - 1);
    let weight = (place - low.convert(dtype)).clamp(0.0, 1.0);
    vec![(low, -weight + 1.0), (high, weight)]
}

/// The sum of what taps read along `dim`, which are inside, with their weights.
pub(super) fn weighted<'c>(x: Tensor<'c>, dim: usize, taps: Taps<'c>) -> Tensor<'c> {
    let tap = |(index, weight): (Tensor<'c>, Tensor<'c>)| {
        x.gather_clamped(&[index], &[dim]).move_dim(0, dim) * weight.unsqueeze_to(x.rank() - dim)
    };
    taps.into_iter().map(tap).reduce(|a, b| a + b).unwrap_or(x)
}

const CUBIC: f64 = -0.75;

/// The cubic convolution kernel at distances up to 1, and between 1 and 2.
fn cubic_near(x: Tensor<'_>) -> Tensor<'_> {
    (x * (CUBIC + 2.0) - (CUBIC + 3.0)) * x * x + 1.0
}

fn cubic_far(x: Tensor<'_>) -> Tensor<'_> {
    ((x * CUBIC - 5.0 * CUBIC) * x + 8.0 * CUBIC) * x - 4.0 * CUBIC
}

/// The four weights around a place that is `t` behind an element.
pub(super) fn cubic_weights(t: Tensor<'_>) -> [Tensor<'_>; 4] {
    [cubic_far(t + 1.0), cubic_near(t), cubic_near(-t + 1.0), cubic_far(-t + 2.0)]
}

fn slope_near(x: Tensor<'_>) -> Tensor<'_> {
    (x * (3.0 * (CUBIC + 2.0)) - 2.0 * (CUBIC + 3.0)) * x
}

fn slope_far(x: Tensor<'_>) -> Tensor<'_> {
    (x * (3.0 * CUBIC) - 10.0 * CUBIC) * x + 8.0 * CUBIC
}

/// Their derivatives by `t`.
pub(super) fn cubic_slopes(t: Tensor<'_>) -> [Tensor<'_>; 4] {
    [slope_far(t + 1.0), slope_near(t), -slope_near(-t + 1.0), -slope_far(-t + 2.0)]
}

fn cubic_taps<'c>(a: &Args<'c>, dtype: DType, n: Size<'c>, size: Size<'c>, factor: Option<f64>) -> Taps<'c> {
    let place = source(a, dtype, n, size, factor, false);
    let floor = place.floor();
    let first = floor.convert(DType::I64);
    let taps = cubic_weights(place - floor).into_iter().zip(-1i64..);
    taps.map(|(weight, offset)| ((first + offset).maximum(0).minimum(n - 1), weight)).collect()
}

/// Weights as whole numbers of 16 bits, and how many of them are one: as many as the largest weight leaves room for.
pub(super) fn fixed<'c>(a: &Args<'c>, taps: Taps<'c>) -> (Taps<'c>, Tensor<'c>) {
    let most = taps.iter().map(|(_, weight)| weight.reduce("max", &[0], false)).reduce(|a, b| a.maximum(b));
    let Some(most) = most else { return (taps, a.prim.constant(DType::F64, Scalar::Int(1))) };
    let room = f64::from(1 << 15);
    let unit = (most * room + 0.5).floor().greater_equal(room).select(most.number(Scalar::Float(room / 2.0)), room);
    let whole = |weight: Tensor<'c>| weight.less(0.0).select((weight * unit - 0.5).trunc(), (weight * unit + 0.5).trunc());
    (taps.into_iter().map(|(index, weight)| (index, whole(weight))).collect(), unit)
}

/// Interpolates one dimension after the other, the last first, but before all those that lose more than half of their elements: what these
/// leave out is not read. Images of bytes are bytes again after each, halves rounded up.
fn interpolate<'c>(a: &Args<'c>, space: usize, taps: fn(&Args<'c>, DType, Size<'c>, Size<'c>, Option<f64>) -> Taps<'c>) -> Tensor<'c> {
    let x = image(a);
    let bytes = space == 2 && a.result_dtype(0) == DType::U8;
    let x = if bytes { x.convert(DType::F64) } else { x };
    let lead = x.rank().saturating_sub(space);
    let targets = targets(a, x, space);
    let shrinks = |k: &usize| {
        let sizes = x.size(lead + k).known().zip(targets[*k].0.known());
        !bytes && sizes.is_some_and(|(before, after)| 2 * after < before)
    };
    let order = (0..space).filter(shrinks).chain((0..space).rev().filter(|k| !shrinks(k)));
    order.fold(x, |x, k| {
        let (dim, (size, factor)) = (lead + k, targets[k]);
        let taps = taps(a, x.dtype(), x.size(dim), size, factor);
        let (taps, unit) = if bytes { fixed(a, taps) } else { (taps, x.number(Scalar::Int(1))) };
        let sum = weighted(x, dim, taps);
        if bytes { (sum / unit + 0.5).floor().clamp(0.0, 255.0) } else { sum }
    })
}
