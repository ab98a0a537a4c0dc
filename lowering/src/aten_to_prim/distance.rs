//! Distances of rows in a p-norm, and their gradients.

use strata_dialects::aten::dtype::{DType, Numeric};
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Tensor};

use super::args::Args;
use super::norm::vector_norm;
use super::rule::Precision::Compute;
use super::rule::{Rule, one};

pub(super) const RULES: &[Rule] = &[
    one(_CDIST_BACKWARD, Compute, cdist_backward),
    one(_CDIST_FORWARD, Compute, cdist),
    one(_EUCLIDEAN_DIST, Compute, |a| {
        let difference = differences(a);
        vector_norm(difference, 2.0, Some(&[difference.rank() - 1]), false)
    }),
    one(_PDIST_BACKWARD, Compute, pdist_backward),
    one(_PDIST_FORWARD, Compute, pdist),
    one(CDIST, Compute, cdist),
    one(DIST, Compute, |a| vector_norm(a.tensor("self") - a.tensor("other"), a.float("p"), None, false)),
    one(PAIRWISE_DISTANCE, Compute, pairwise),
    one(PDIST, Compute, pdist),
];

/// What two tensors differ by: of integers in their own type, where it wraps around, of floats in the type to compute in.
pub(super) fn exact_difference<'c>(a: &Args<'c>, x: &str, y: &str) -> Tensor<'c> {
    let dtype = a.promoted_dtype(&[x, y]);
    let dtype = if dtype.is_integral() { dtype } else { dtype.compute() };
    a.as_type(x, dtype) - a.as_type(y, dtype)
}

fn pairwise<'c>(a: &Args<'c>) -> Tensor<'c> {
    let difference = exact_difference(a, "x1", "x2").float() + a.float("eps");
    let last = difference.rank().saturating_sub(1);
    vector_norm(difference, a.float("p"), Some(&[last]), a.bool("keepdim"))
}

/// The differences of all rows of one matrix and all rows of another.
fn differences<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, y) = (a.tensor("x1"), a.tensor("x2"));
    if x.rank() < 2 || y.rank() < 2 {
        a.fail("distances are of the rows of matrices");
        return x.unsqueeze(0);
    }
    x.unsqueeze(x.rank() - 1) - y.unsqueeze(y.rank() - 2)
}

fn cdist<'c>(a: &Args<'c>) -> Tensor<'c> {
    let difference = differences(a);
    vector_norm(difference, a.float("p"), Some(&[difference.rank() - 1]), false)
}

/// The derivative of a p-norm by the components of the difference; 0 where it has none.
fn slope<'c>(difference: Tensor<'c>, norm: Tensor<'c>, p: f64) -> Tensor<'c> {
    let norm = norm.unsqueeze(norm.rank());
    let sign = difference.sign();
    let slope = match p {
        0.0 => return difference.filled(Scalar::Int(0)),
        1.0 => return sign,
        2.0 => difference / norm,
        f64::INFINITY => return sign * difference.abs().equal(norm).convert(sign.dtype()),
        _ => sign * (difference.abs() / norm).pow(p - 1.0),
    };
    slope.fill_where(norm.equal(0.0).or(difference.equal(0.0)), 0.0)
}

fn cdist_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let difference = differences(a);
    let (grad, rank) = (a.tensor("grad_output"), difference.rank());
    let parts = slope(difference, a.tensor("cdist"), a.float("p")) * grad.unsqueeze(grad.rank());
    parts.reduce("sum", &[rank - 2], false)
}

/// The numbers of rows of all pairs, in order.
fn pairs(n: i64) -> Vec<(i64, i64)> {
    (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).collect()
}

fn known_rows<'c>(a: &Args<'c>, x: Tensor<'c>) -> Option<i64> {
    let known = x.size(0).known();
    if known.is_none() {
        a.fail("pairs of an unknown number of rows");
    }
    known.filter(|n| a.may_write("all pairs of rows", *n, *n))
}

/// Distances of all pairs of rows.
fn pdist<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let Some(n) = known_rows(a, x) else { return x };
    let pairs = pairs(n);
    let rows = |f: fn(&(i64, i64)) -> i64| x.gather(&[a.prim.int_vector(&pairs.iter().map(f).collect::<Vec<_>>())], &[0]);
    let p = if a.has("p") { a.float("p") } else { 2.0 };
    vector_norm(rows(|p| p.0) - rows(|p| p.1), p, Some(&[1]), false)
}

/// Each row's gradient is a sum over all others: the pair's distance is looked up for both orders of its rows.
fn pdist_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, grad, norm) = (a.tensor("self"), a.tensor("grad_output"), a.tensor("pdist"));
    let Some(n) = known_rows(a, x) else { return x };
    if n < 2 {
        return x.filled(Scalar::Int(0));
    }
    let mut number = vec![0; (n * n) as usize];
    for (k, (i, j)) in pairs(n).into_iter().enumerate() {
        number[(i * n + j) as usize] = k as i64;
        number[(j * n + i) as usize] = k as i64;
    }
    let number = a.prim.int_vector(&number).reshape(&[n.into(), n.into()]);
    let square = |t: Tensor<'c>| t.gather(&[number], &[0]);
    // On the diagonal the difference is 0, and so is the slope.
    let parts = slope(x.unsqueeze(1) - x.unsqueeze(0), square(norm), a.float("p")) * square(grad).unsqueeze(2);
    let place = |dim| a.prim.iota(DType::I64, &parts.shape(), dim);
    parts.fill_where(place(0).equal(place(1)), 0.0).reduce("sum", &[1], false)
}
