//! Antialiased resampling: each output element is a weighted mean over a window that grows with the reduction. The weights
//! of a dimension are a small matrix (output elements by input elements), so that resampling and its gradient are products.

use std::f64::consts::PI;

use strata_dialects::aten::dtype::{DType, Numeric};
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Size, Tensor};

use super::args::Args;
use super::resize::{image, named_scales, ratio, targets};
use super::rule::Precision::Compute;
use super::rule::{Rule, one};

pub(super) const RULES: &[Rule] = &[
    one(_UPSAMPLE_BICUBIC2D_AA, Compute, |a| resample(a, CUBIC)),
    one(_UPSAMPLE_BICUBIC2D_AA_VEC, Compute, |a| resample(a, CUBIC)),
    one(_UPSAMPLE_BICUBIC2D_AA_BACKWARD, Compute, |a| backward(a, CUBIC)),
    one(_UPSAMPLE_BILINEAR2D_AA, Compute, |a| resample(a, LINEAR)),
    one(_UPSAMPLE_BILINEAR2D_AA_VEC, Compute, |a| resample(a, LINEAR)),
    one(_UPSAMPLE_BILINEAR2D_AA_BACKWARD, Compute, |a| backward(a, LINEAR)),
    one(_UPSAMPLE_LANCZOS2D_AA, Compute, |a| resample(a, LANCZOS)),
    one(_UPSAMPLE_LANCZOS2D_AA_VEC, Compute, |a| resample(a, LANCZOS)),
    one(_UPSAMPLE_LANCZOS2D_AA_BACKWARD, Compute, |a| backward(a, LANCZOS)),
];

/// A filter: how far it reaches at scale 1, and its value at a distance that is not negative.
#[derive(Clone, Copy)]
struct Filter {
    reach: f64,
    value: for<'c> fn(Tensor<'c>) -> Tensor<'c>,
}

const LINEAR: Filter = Filter { reach: 1.0, value: |d| (-d + 1.0).maximum(0.0) };
const CUBIC: Filter = Filter { reach: 2.0, value: cubic };
const LANCZOS: Filter = Filter { reach: 3.0, value: |d| (sinc(d) * sinc(d / 3.0)).fill_where(d.greater_equal(3.0), 0.0) };

/// Keys' convolution kernel with parameter -1/2.
fn cubic(d: Tensor<'_>) -> Tensor<'_> {
    let near = (d * 1.5 - 2.5) * d * d + 1.0;
    let far = ((d * -0.5 + 2.5) * d - 4.0) * d + 2.0;
    d.less(1.0).select(near, d.less(2.0).select(far, 0.0))
}

fn sinc(x: Tensor<'_>) -> Tensor<'_> {
    let angle = x * PI;
    (angle.sin() / angle).fill_where(x.equal(0.0), 1.0)
}

/// The weights of input elements (columns) in output elements (rows); each row sums to 1.
fn weights<'c>(a: &Args<'c>, dtype: DType, n: Size<'c>, size: Size<'c>, factor: Option<f64>, filter: Filter) -> Tensor<'c> {
    let scale = match (a.bool("align_corners"), size.known()) {
        (false, _) => ratio(a, dtype, n, size, factor),
        (true, Some(0 | 1)) => a.prim.constant(dtype, Scalar::Int(0)),
        (true, _) => a.prim.size_tensor(dtype, n - 1) / a.prim.size_tensor(dtype, size - 1),
    };
    let stretch = scale.maximum(1.0);
    let reach = stretch * filter.reach;
    let center = ((a.prim.range(dtype, size) + 0.5) * scale).unsqueeze(1);
    let place = a.prim.range(dtype, n);
    let low = (center - reach + 0.5).trunc();
    let high = (center + reach + 0.5).trunc();
    let inside = place.greater_equal(low).and(place.less(high));
    let distance = ((place + 0.5 - center) / stretch).abs();
    let value = inside.select((filter.value)(distance), 0.0);
    let total = value.sum_keep(&[1]);
    value / total.fill_where(total.equal(0.0), 1.0)
}

/// Replaces dimension `dim` by the products with the rows of a matrix.
fn apply<'c>(x: Tensor<'c>, dim: usize, matrix: Tensor<'c>) -> Tensor<'c> {
    let product = x.dot(matrix, (&[], &[]), (&[dim], &[1]));
    product.move_dim(product.rank() - 1, dim)
}

fn resample<'c>(a: &Args<'c>, filter: Filter) -> Tensor<'c> {
    let x = image(a);
    let whole = x.dtype().is_integral();
    let x = if whole { x.convert(DType::F32) } else { x };
    let lead = x.rank().saturating_sub(2);
    let result = targets(a, x, 2)
        .into_iter()
        .enumerate()
        .rev()
        .fold(x, |x, (k, (size, factor))| apply(x, lead + k, weights(a, x.dtype(), x.size(lead + k), size, factor, filter)));
    if whole { result.round().clamp(0.0, 255.0) } else { result }
}

fn backward<'c>(a: &Args<'c>, filter: Filter) -> Tensor<'c> {
    let (grad, input, factors) = (a.tensor("grad_output"), a.sizes("input_size"), named_scales(a, 2));
    let lead = grad.rank().saturating_sub(2);
    (0..2).fold(grad, |grad, k| {
        let n = input.get(lead + k).copied().unwrap_or(Size::Const(1));
        let factor = factors.as_ref().and_then(|f| f.get(k).copied());
        apply(grad, lead + k, weights(a, grad.dtype(), n, grad.size(lead + k), factor, filter).swap(0, 1))
    })
}
