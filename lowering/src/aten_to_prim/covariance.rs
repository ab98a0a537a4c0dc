//! Covariances and correlations of the rows of a matrix, whose columns are observations.

use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Tensor};

use super::args::Args;
use super::library::diagonal;
use super::matmul::mm;
use super::rule::Precision::Compute;
use super::rule::{Rule, one};

pub(super) const RULES: &[Rule] = &[one(CORRCOEF, Compute, corrcoef), one(COV, Compute, cov)];

/// The rows of a tensor: a vector is one, a number too.
fn rows<'c>(a: &Args<'c>) -> Option<Tensor<'c>> {
    let x = a.tensor("self");
    if x.rank() > 2 || x.dtype().is_complex() {
        a.fail("it is taken of a matrix, a vector or a number that are not complex");
        return None;
    }
    Some((x.rank()..2).fold(x, |x, _| x.unsqueeze(0)))
}

/// The covariances of rows, each observation with a weight, over a divisor.
fn covariances<'c>(x: Tensor<'c>, weights: Option<Tensor<'c>>, sum: Tensor<'c>, divisor: Tensor<'c>) -> Tensor<'c> {
    let weighed = |x: Tensor<'c>| weights.map_or(x, |weights| x * weights);
    let centred = x - (weighed(x).reduce("sum", &[1], false) / sum).unsqueeze(1);
    mm(centred, weighed(centred).swap(0, 1)) / divisor.maximum(0.0)
}

fn cov<'c>(a: &Args<'c>) -> Tensor<'c> {
    let Some(x) = rows(a) else { return a.tensor("self") };
    let correction = a.int("correction") as f64;
    let counts = a.opt_tensor("fweights").map(|weights| weights.convert(x.dtype()));
    let relative = a.opt_tensor("aweights").map(|weights| weights.convert(x.dtype()));
    let weights = match (counts, relative) {
        (Some(counts), Some(relative)) => Some(counts * relative),
        (counts, relative) => counts.or(relative),
    };
    let sum = match weights {
        Some(weights) => weights.reduce("sum", &[0], false),
        None => a.prim.size_tensor(x.dtype(), x.size(1)),
    };
    let divisor = match (weights, relative) {
        (Some(weights), Some(relative)) if correction != 0.0 => sum - (weights * relative).reduce("sum", &[0], false) * correction / sum,
        _ => sum - correction,
    };
    squeezed(covariances(x, weights, sum, divisor))
}

fn corrcoef<'c>(a: &Args<'c>) -> Tensor<'c> {
    let Some(x) = rows(a) else { return a.tensor("self") };
    let sum = a.prim.size_tensor(x.dtype(), x.size(1));
    let c = covariances(x, None, sum, sum - 1.0);
    if x.size(0).is_one() {
        // Of one row it is 1, but for a row without a variance.
        let (some, same) = (squeezed(c), squeezed(c));
        return some / same;
    }
    let deviation = diagonal(c).sqrt();
    let c = c / deviation.unsqueeze(1) / deviation.unsqueeze(0);
    // Neither bound takes the place of what is not a number.
    let (high, low) = (c.greater(1.0), c.less(-1.0));
    c.fill_where(high, Scalar::Float(1.0)).fill_where(low, Scalar::Float(-1.0))
}

/// The covariance of one row is a number.
fn squeezed(c: Tensor<'_>) -> Tensor<'_> {
    if c.size(0).is_one() { c.squeeze(&[0, 1]) } else { c }
}
