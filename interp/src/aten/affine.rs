//! Grids of affine maps, and pooling over windows whose places are drawn.

use super::Arm::{self, Op};
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::{DType, Scalar};
use crate::tensor::{Tensor, each};
use crate::value::{Args, InterpError, Results, fail, many, one};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (AFFINE_GRID_GENERATOR, Op(grid)),
    (AFFINE_GRID_GENERATOR_BACKWARD, Op(grid_backward)),
    (FRACTIONAL_MAX_POOL2D, Op(|a| fractional(a, 2))),
    (FRACTIONAL_MAX_POOL2D_BACKWARD, Op(|a| fractional_backward(a, 2))),
    (FRACTIONAL_MAX_POOL3D, Op(|a| fractional(a, 3))),
    (FRACTIONAL_MAX_POOL3D_BACKWARD, Op(|a| fractional_backward(a, 3))),
];

/// The homogeneous coordinates of a point, last dimension of space first.
fn point(at: &[usize], space: &[usize], align: bool) -> Vec<f64> {
    let coordinate = |(&k, &n): (&usize, &usize)| match align {
        true if n < 2 => 0.0,
        true => 2.0 * k as f64 / (n - 1) as f64 - 1.0,
        false => (2.0 * k as f64 + 1.0) / n as f64 - 1.0,
    };
    at.iter().zip(space).rev().map(coordinate).chain([1.0]).collect()
}

fn grid(args: &Args) -> Results {
    let (theta, size, align) = (args.tensor("theta")?, args.shape("size")?, args.flag("align_corners")?);
    if size.len() < 3 || theta.shape() != [size[0], size.len() - 2, size.len() - 1] {
        return Err(fail(format!("maps of shape {:?} for a grid of {size:?}", theta.shape())));
    }
    let k = size.len() - 2;
    one(Tensor::build(theta.dtype(), &[&[size[0]], &size[2..], &[k]].concat(), |i| {
        let point = point(&i[1..=k], &size[2..], align);
        Scalar::Float((0..=k).map(|j| theta.f(&[i[0], i[k + 1], j]) * point[j]).sum())
    })?)
}

fn grid_backward(args: &Args) -> Results {
    let (grad, size, align) = (args.tensor("grad")?, args.shape("size")?, args.flag("align_corners")?);
    let k = size.len().saturating_sub(2);
    if grad.rank() != k + 2 {
        return Err(fail("the gradient of a grid of another rank"));
    }
    let mut sums = vec![0.0; size[0] * k * (k + 1)];
    each(grad.shape(), |i| {
        for (j, p) in point(&i[1..=k], &size[2..], align).into_iter().enumerate() {
            sums[(i[0] * k + i[k + 1]) * (k + 1) + j] += grad.f(i) * p;
        }
    });
    one(Tensor::from_floats(grad.dtype(), &[size[0], k, k + 1], &sums)?)
}

/// Where a dimension's windows begin. The steps are of the tensor's precision, which decides how they are cut.
fn begins(sample: f64, size: usize, windows: usize, window: usize, dtype: DType) -> Vec<usize> {
    let round = |x: f64| dtype.cast(Scalar::Float(x)).float();
    let step = round((size - window) as f64 / windows.saturating_sub(1).max(1) as f64);
    let cut = |x: f64| round(x * step).trunc();
    let begin = |k: usize| if k + 1 == windows { size - window } else { (cut(round(k as f64 + sample)) - cut(sample)) as usize };
    (0..windows).map(begin).collect()
}

fn fractional(args: &Args, space: usize) -> Results {
    let (x, samples) = (args.tensor("self")?, args.tensor("random_samples")?);
    let (window, windows) = (args.spread("kernel_size", space)?, args.spread("output_size", space)?);
    let lead = x.rank().checked_sub(space).filter(|lead| (1..=2).contains(lead)).ok_or_else(|| fail("an image of another rank"))?;
    let sizes = &x.shape()[lead..];
    if (0..space).any(|k| sizes[k] < window[k]) {
        return Err(fail("a window larger than the image"));
    }
    let output = [&x.shape()[..lead], &windows].concat();
    let (mut values, mut places) = (Vec::new(), Vec::new());
    each(&output, |o| {
        let image = if lead == 2 { o[0] } else { 0 };
        let from: Vec<usize> = (0..space)
            .map(|k| {
                let sample = samples.f(&[image, o[lead - 1], if space == 2 { 1 - k } else { k }]);
                begins(sample, sizes[k], windows[k], window[k], x.dtype())[o[lead + k]]
            })
            .collect();
        let mut best: Option<(f64, usize)> = None;
        each(&window, |w| {
            let at: Vec<usize> = from.iter().zip(w).map(|(a, b)| a + b).collect();
            let value = x.f(&[&o[..lead], &at].concat());
            if best.is_none_or(|(top, _)| value > top || (value.is_nan() && !top.is_nan())) {
                best = Some((value, at.iter().zip(sizes).fold(0, |place, (i, n)| place * n + i)));
            }
        });
        let (value, place) = best.unwrap_or_default();
        values.push(value);
        places.push(place as i64);
    });
    many([Tensor::from_floats(x.dtype(), &output, &values)?, Tensor::from_ints(&output, &places)?])
}

fn fractional_backward(args: &Args, space: usize) -> Result<Vec<crate::value::Value>, InterpError> {
    let (grad, x, places) = (args.tensor("grad_output")?, args.tensor("self")?, args.tensor("indices")?);
    let lead = x.rank().saturating_sub(space);
    let (plane, windows): (usize, usize) = (x.shape()[lead..].iter().product(), grad.shape()[lead..].iter().product());
    let mut sums = vec![0.0; x.len()];
    for k in 0..grad.len() {
        let place = usize::try_from(places.at(k).int()).ok().filter(|p| *p < plane).ok_or_else(|| fail("an index out of bounds"))?;
        sums[k / windows * plane + place] += grad.at(k).float();
    }
    one(Tensor::from_floats(x.dtype(), x.shape(), &sums)?)
}
