//! Antialiased resampling: each output element is a weighted mean over a window that grows with the reduction. Short windows are read tap by
//! tap. The weights of long ones, and of gradients, are a small matrix (output elements by input elements), and resampling is a product.

use std::f64::consts::PI;

use strata_dialects::aten::dtype::DType;
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Size, Tensor};

use super::args::Args;
use super::resize::{Taps, fixed, image, named_scales, ratio, targets, weighted};
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

/// Taps of a window that are read one by one at most, and the least elements of the dimension for each.
const MOST_TAPS: i64 = 8;
const ELEMENTS_PER_TAP: i64 = 4;

/// The windows of the output elements along a dimension: where they begin and end, their middles, and how far they are stretched.
struct Windows<'c> {
    low: Tensor<'c>,
    high: Tensor<'c>,
    center: Tensor<'c>,
    stretch: Tensor<'c>,
    filter: Filter,
}

impl<'c> Windows<'c> {
    fn new(a: &Args<'c>, dtype: DType, n: Size<'c>, size: Size<'c>, factor: Option<f64>, filter: Filter) -> Self {
        let scale = match (a.bool("align_corners"), size.known()) {
            (false, _) => ratio(a, dtype, n, size, factor),
            (true, Some(0 | 1)) => a.prim.constant(dtype, Scalar::Int(0)),
            (true, _) => a.prim.size_tensor(dtype, n - 1) / a.prim.size_tensor(dtype, size - 1),
        };
        let stretch = scale.maximum(1.0);
        let reach = stretch * filter.reach;
        let center = (a.prim.range(dtype, size) + 0.5) * scale;
        let (low, high) = ((center - reach + 0.5).trunc(), (center + reach + 0.5).trunc());
        Self { low, high, center, stretch, filter }
    }

    /// The filter's value for the input element at a place, if it is in the window.
    fn value(&self, place: Tensor<'c>, [low, high, center]: [Tensor<'c>; 3]) -> Tensor<'c> {
        let inside = place.greater_equal(low).and(place.less(high));
        let distance = ((place + 0.5 - center) / self.stretch).abs();
        inside.select((self.filter.value)(distance), 0.0)
    }

    /// The weights of input elements (columns) in output elements (rows); each row sums to 1.
    fn matrix(&self, n: Size<'c>) -> Tensor<'c> {
        let place = self.low.prim().range(self.low.dtype(), n);
        let value = self.value(place, [self.low, self.high, self.center].map(|window| window.unsqueeze(1)));
        let total = value.sum_keep(&[1]);
        value / total.fill_where(total.equal(0.0), 1.0)
    }

    /// The first so many elements of each window, with their weights.
    fn taps(&self, n: Size<'c>, count: i64) -> Taps<'c> {
        let first = self.low.maximum(0.0);
        let end = self.high.minimum(self.low.prim().size_tensor(first.dtype(), n));
        let places: Vec<_> = (0..count).map(|tap| first + tap as f64).collect();
        let values: Vec<_> = places.iter().map(|place| self.value(*place, [self.low, end, self.center])).collect();
        let total = values.iter().copied().reduce(|a, b| a + b).unwrap_or(first);
        let total = total.fill_where(total.equal(0.0), 1.0);
        places.into_iter().zip(values).map(|(place, value)| (place.convert(DType::I64).maximum(0).minimum(n - 1), value / total)).collect()
    }
}

/// The elements of a window at most, where the sizes are known.
fn longest(a: &Args<'_>, n: Size<'_>, size: Size<'_>, factor: Option<f64>, filter: Filter) -> Option<i64> {
    let (n, size) = (n.known()? as f64, size.known()? as f64);
    let scale = match (a.bool("align_corners"), factor) {
        (true, _) => (n - 1.0) / (size - 1.0).max(1.0),
        (false, Some(factor)) if factor > 0.0 => 1.0 / factor,
        _ => n / size,
    };
    Some((2.0 * scale.max(1.0) * filter.reach).ceil() as i64 + 1)
}

/// Replaces dimension `dim` by the products with the rows of a matrix.
fn apply<'c>(x: Tensor<'c>, dim: usize, matrix: Tensor<'c>) -> Tensor<'c> {
    let product = x.dot(matrix, (&[], &[]), (&[dim], &[1]));
    product.move_dim(product.rank() - 1, dim)
}

/// One dimension in another size. In its own each element is the filter's middle. Bytes are bytes again, halves rounded up.
fn along<'c>(a: &Args<'c>, x: Tensor<'c>, dim: usize, (size, factor): (Size<'c>, Option<f64>), filter: Filter) -> Tensor<'c> {
    let (n, bytes) = (x.size(dim), a.result_dtype(0) == DType::U8);
    if n.same(size) && factor.is_none_or(|factor| factor == 1.0 || a.bool("align_corners")) {
        return x;
    }
    let windows = Windows::new(a, x.dtype(), n, size, factor, filter);
    let few = |count: &i64| *count <= MOST_TAPS && n.known().is_some_and(|n| n >= ELEMENTS_PER_TAP * count);
    let one = x.number(Scalar::Int(1));
    let (sum, unit) = match longest(a, n, size, factor, filter).filter(few) {
        Some(count) => {
            let taps = windows.taps(n, count);
            let (taps, unit) = if bytes { fixed(a, taps) } else { (taps, one) };
            (weighted(x, dim, taps), unit)
        }
        None => (apply(x, dim, windows.matrix(n)), one),
    };
    if bytes { (sum / unit + 0.5).floor().clamp(0.0, 255.0) } else { sum }
}

fn resample<'c>(a: &Args<'c>, filter: Filter) -> Tensor<'c> {
    let x = image(a);
    let x = if a.result_dtype(0) == DType::U8 { x.convert(DType::F64) } else { x };
    let lead = x.rank().saturating_sub(2);
    targets(a, x, 2).into_iter().enumerate().rev().fold(x, |x, (k, target)| along(a, x, lead + k, target, filter))
}

fn backward<'c>(a: &Args<'c>, filter: Filter) -> Tensor<'c> {
    let (grad, input, factors) = (a.tensor("grad_output"), a.sizes("input_size"), named_scales(a, 2));
    let lead = grad.rank().saturating_sub(2);
    (0..2).fold(grad, |grad, k| {
        let n = input.get(lead + k).copied().unwrap_or(Size::Const(1));
        let factor = factors.as_ref().and_then(|f| f.get(k).copied());
        apply(grad, lead + k, Windows::new(a, grad.dtype(), n, grad.size(lead + k), factor, filter).matrix(n).swap(0, 1))
    })
}
