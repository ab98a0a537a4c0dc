//! Adaptive pooling: window i covers floor(i n / m) .. ceil((i + 1) n / m) of a dimension of n elements that becomes one of m.

use num_integer::gcd;
use strata_dialects::aten::dtype::DType;
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Size, Tensor, gather_along};

use super::args::Args;
use super::pool::spatial;
use super::rule::Precision::{Compute, Exact};
use super::rule::{Rule, many, one};
use super::scatter::least;

pub(super) const RULES: &[Rule] = &[
    one(_ADAPTIVE_AVG_POOL2D, Compute, |a| adaptive_average(a, 2)),
    one(_ADAPTIVE_AVG_POOL2D_BACKWARD, Compute, |a| adaptive_average_backward(a, 2)),
    one(_ADAPTIVE_AVG_POOL3D, Compute, |a| adaptive_average(a, 3)),
    one(_ADAPTIVE_AVG_POOL3D_BACKWARD, Compute, |a| adaptive_average_backward(a, 3)),
    one(ADAPTIVE_AVG_POOL1D, Compute, |a| adaptive_average(a, 1)),
    one(ADAPTIVE_AVG_POOL2D, Compute, |a| adaptive_average(a, 2)),
    one(ADAPTIVE_AVG_POOL3D, Compute, |a| adaptive_average(a, 3)),
    many(ADAPTIVE_MAX_POOL1D, Exact, |a| adaptive_max(a, 1)),
    many(ADAPTIVE_MAX_POOL2D, Exact, |a| adaptive_max(a, 2)),
    many(ADAPTIVE_MAX_POOL3D, Exact, |a| adaptive_max(a, 3)),
];

/// The length of the longest window: `n / m`, and what it covers in part on one side or, where `n mod m` does not divide `m`, on both.
fn longest_window(n: i64, m: i64) -> i64 {
    match n % m {
        0 => n / m,
        rest if m % rest == 0 => n / m + 1,
        _ => n / m + 2,
    }
}

/// Replaces dimension `dim` by its windows: positions there, elements of a window in a new last dimension, those outside
/// of the window filled. Also gives the windows' lengths.
fn adaptive_windows<'c>(x: Tensor<'c>, dim: usize, count: Size<'c>, fill: Scalar<'c>) -> (Tensor<'c>, Tensor<'c>) {
    let (prim, n) = (x.prim(), x.size(dim));
    let (begin, end) = adaptive_bounds(x, n, count);
    let longest = match (n, count) {
        (Size::Const(n), Size::Const(m)) if m > 0 => Size::Const(longest_window(n, m)),
        _ => (n + (count - 1)) / count + 1,
    };
    let grid = [count, longest];
    let places = begin.unsqueeze(1).broadcast_to(&grid) + prim.iota(DType::I64, &grid, 1);
    let outside = places.greater_equal(end.unsqueeze(1));
    let read = x.gather_clamped(&[places.minimum(n - 1)], &[dim]);
    // (positions, inside, others..) to (.. positions .., inside)
    let last = read.rank() - 1;
    let outside = outside.unsqueeze_to(read.rank());
    let windows = read.fill_where(outside, fill).move_dim(1, last).move_dim(0, dim);
    (windows, end - begin)
}

/// Windows that are reduced one by one at most.
const FEW_WINDOWS: i64 = 8;

/// The windows of an adaptive pooling along `dim`, each reduced as a slice: `reduce` is told the dimension, and keeps it. Windows come
/// again with the greatest common divisor of both sizes, and slices are of all that are alike. Nothing where more than a few differ.
fn few_windows<'c>(x: Tensor<'c>, dim: usize, count: Size<'c>, reduce: impl Fn(Tensor<'c>, usize) -> Tensor<'c>) -> Option<Tensor<'c>> {
    let (n, m) = (x.size(dim).known()?, count.known()?);
    if n == m {
        return Some(x);
    }
    let times = gcd(n, m);
    if n < 1 || m < 1 || m / times > FEW_WINDOWS {
        return None;
    }
    let (period, windows, shape) = (n / times, m / times, x.shape());
    let around = |middle: &[Size<'c>]| [&shape[..dim], middle, &shape[dim + 1..]].concat();
    let split = x.reshape(&around(&[times.into(), period.into()]));
    let one = |at: i64| {
        let (begin, end) = (at * period / windows, ((at + 1) * period + windows - 1) / windows);
        reduce(split.slice(dim + 1, begin, end - begin, 1), dim + 1)
    };
    let reduced: Vec<_> = (0..windows).map(one).collect();
    Some(x.prim().concat(&reduced, dim + 1).reshape(&around(&[m.into()])))
}

/// First element of each window and the one behind its last.
fn adaptive_bounds<'c>(x: Tensor<'c>, n: Size<'c>, count: Size<'c>) -> (Tensor<'c>, Tensor<'c>) {
    let index = x.prim().range(DType::I64, count);
    let begin = index * n / count;
    let end = ((index + 1) * n + (count - 1)) / count;
    (begin, end)
}

/// The output size; None keeps the input's.
fn output_size<'c>(a: &Args<'c>, x: Tensor<'c>, space: usize) -> Vec<Size<'c>> {
    let sizes = a.sizes("output_size");
    (0..space).map(|k| sizes.get(k).or(sizes.first()).copied().unwrap_or(x.size(x.rank() - space + k))).collect()
}

fn adaptive_average<'c>(a: &Args<'c>, space: usize) -> Tensor<'c> {
    let x = a.tensor("self");
    if !spatial(x, space) {
        return x;
    }
    let lead = x.rank() - space;
    let pooled = output_size(a, x, space).into_iter().enumerate().map(|(k, count)| (lead + k, count));
    // Dims of which one element is left have one mean, as in PyTorch.
    let (whole, others): (Vec<_>, Vec<_>) = pooled.filter(|(dim, count)| !count.same(x.size(*dim))).partition(|(_, count)| count.is_one());
    let whole: Vec<usize> = whole.into_iter().map(|(dim, _)| dim).collect();
    let x = if whole.is_empty() { x } else { x.mean(&whole, true) };
    others.into_iter().fold(x, |x, (dim, count)| {
        if let Some(means) = few_windows(x, dim, count, |window, dim| window.mean(&[dim], true)) {
            return means;
        }
        let (windows, lengths) = adaptive_windows(x, dim, count, Scalar::Int(0));
        let last = windows.rank() - 1;
        windows.reduce("sum", &[last], false) / lengths.convert(x.dtype()).unsqueeze_to(x.rank() - dim)
    })
}

fn adaptive_average_backward<'c>(a: &Args<'c>, space: usize) -> Tensor<'c> {
    let (grad, x) = (a.tensor("grad_output"), a.tensor("self"));
    if !spatial(x, space) {
        return x;
    }
    let lead = x.rank() - space;
    // Element j gets a share of every window that covers it.
    (0..space).fold(grad, |grad, k| {
        let (dim, n) = (lead + k, x.size(lead + k));
        let (begin, end) = adaptive_bounds(x, n, grad.size(dim));
        let share = grad / (end - begin).convert(grad.dtype()).unsqueeze_to(grad.rank() - dim);
        let element = a.prim.range(DType::I64, n).unsqueeze(1);
        let covers = element.greater_equal(begin).and(element.less(end)).convert(grad.dtype());
        share.dot(covers, (&[], &[]), (&[dim], &[1])).move_dim(grad.rank() - 1, dim)
    })
}

fn adaptive_max<'c>(a: &Args<'c>, space: usize) -> Vec<Tensor<'c>> {
    let x = a.tensor("self");
    if !spatial(x, space) {
        return vec![x, x];
    }
    let lead = x.rank() - space;
    let counts = output_size(a, x, space);
    // Dimension by dimension from the last on, whose first largest element is the one of the rows before too.
    let (mut values, mut places) = (x, vec![None; space]);
    for k in (0..space).rev().filter(|k| !counts[*k].same(x.size(lead + k))) {
        let (dim, count) = (lead + k, counts[k]);
        let windows = || adaptive_windows(values, dim, count, least(x.dtype())).0;
        let best = few_windows(values, dim, count, |window, dim| window.arg_reduce("max", dim).unsqueeze(dim))
            .unwrap_or_else(|| windows().arg_reduce("max", values.rank()));
        let largest = few_windows(values, dim, count, |window, dim| window.reduce("max", &[dim], true))
            .unwrap_or_else(|| windows().reduce("max", &[values.rank()], false));
        let place = best + adaptive_bounds(x, x.size(dim), count).0.unsqueeze_to(space - k);
        places[k + 1..].iter_mut().flatten().for_each(|later| *later = gather_along(*later, dim, place));
        (values, places[k]) = (largest, Some(place));
    }
    let shape = values.shape();
    let mut stride = Size::Const(1);
    let mut at = a.prim.full(DType::I64, Scalar::Int(0), &shape);
    for k in (0..space).rev() {
        at = at + places[k].unwrap_or_else(|| a.prim.iota(DType::I64, &shape, lead + k)) * stride;
        stride = stride * x.size(lead + k);
    }
    vec![values, at]
}
