//! Reductions: sums, extrema, logic, moments, softmax. The declared result type tells what to accumulate in.

use strata_dialects::aten::dtype::{DType, Numeric};
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Size, Tensor, product};

use super::args::Args;
use super::compare::truth;
use super::rule::Precision::{Compute, Exact};
use super::rule::{Rule, many, one};

pub(super) const RULES: &[Rule] = &[
    one(_IS_ALL_TRUE, Exact, |a| truth(a.tensor("self")).reduce("and", &a.tensor("self").all_dims(), false)),
    one(_IS_ANY_TRUE, Exact, |a| truth(a.tensor("self")).reduce("or", &a.tensor("self").all_dims(), false)),
    one(_LOG_SOFTMAX, Compute, |a| on_dim(a, log_softmax)),
    one(_LOG_SOFTMAX_BACKWARD_DATA, Compute, log_softmax_backward),
    one(_SAFE_SOFTMAX, Compute, |a| on_dim(a, safe_softmax)),
    one(_SOFTMAX, Compute, |a| on_dim(a, softmax)),
    one(_SOFTMAX_BACKWARD_DATA, Compute, softmax_backward),
    one(ALL, Exact, |a| logical(a, "and")),
    one(ALL_DIM, Exact, |a| logical(a, "and")),
    one(ALL_DIMS, Exact, |a| logical(a, "and")),
    one(AMAX, Exact, |a| extremum(a, "max")),
    one(AMIN, Exact, |a| extremum(a, "min")),
    many(AMINMAX, Exact, aminmax),
    one(ANY, Exact, |a| logical(a, "or")),
    one(ANY_DIM, Exact, |a| logical(a, "or")),
    one(ANY_DIMS, Exact, |a| logical(a, "or")),
    one(ARGMAX, Exact, |a| position(a, "max")),
    one(ARGMIN, Exact, |a| position(a, "min")),
    one(COUNT_NONZERO, Exact, count_nonzero),
    one(COUNT_NONZERO_DIM_INTLIST, Exact, count_nonzero),
    one(LOG_SOFTMAX_INT, Compute, |a| on_dim(a, log_softmax)),
    one(LOGSUMEXP, Compute, |a| logsumexp(a.tensor("self"), &reduced(a), a.bool("keepdim"))),
    one(MAX, Exact, |a| extremum(a, "max")),
    many(MAX_DIM, Exact, |a| with_position(a, "max")),
    one(MEAN, Compute, mean),
    one(MEAN_DIM, Compute, mean),
    one(MIN, Exact, |a| extremum(a, "min")),
    many(MIN_DIM, Exact, |a| with_position(a, "min")),
    one(NANMEAN, Compute, nanmean),
    one(NANSUM, Exact, nansum),
    one(PROD, Exact, |a| accumulate(a, "prod")),
    one(PROD_DIM_INT, Exact, |a| accumulate(a, "prod")),
    one(SOFTMAX_INT, Compute, |a| on_dim(a, softmax)),
    one(SPECIAL_LOG_SOFTMAX, Compute, |a| on_dim(a, log_softmax)),
    one(SPECIAL_LOGSUMEXP, Compute, |a| logsumexp(a.tensor("self"), &reduced(a), a.bool("keepdim"))),
    one(SPECIAL_SOFTMAX, Compute, |a| on_dim(a, softmax)),
    one(STD, Compute, |a| variance(a).0.sqrt()),
    one(STD_CORRECTION, Compute, |a| variance(a).0.sqrt()),
    one(STD_DIM, Compute, |a| variance(a).0.sqrt()),
    many(STD_MEAN, Compute, std_mean),
    many(STD_MEAN_CORRECTION, Compute, std_mean),
    many(STD_MEAN_DIM, Compute, std_mean),
    one(SUM, Exact, |a| accumulate(a, "sum")),
    one(SUM_DIM_INTLIST, Exact, |a| accumulate(a, "sum")),
    one(SUM_TO_SIZE, Exact, |a| sum_to(a.tensor("self").convert(a.result_dtype(0)), &a.sizes("size"))),
    one(VAR, Compute, |a| variance(a).0),
    one(VAR_CORRECTION, Compute, |a| variance(a).0),
    one(VAR_DIM, Compute, |a| variance(a).0),
    many(VAR_MEAN, Compute, var_mean),
    many(VAR_MEAN_CORRECTION, Compute, var_mean),
    many(VAR_MEAN_DIM, Compute, var_mean),
];

/// The dimensions to reduce: those of argument `dim`, one or several, or all.
pub(super) fn reduced(a: &Args<'_>) -> Vec<usize> {
    let rank = a.raw("self").rank();
    if !a.has("dim") {
        return (0..rank).collect();
    }
    match a.is_list("dim") {
        true => a.dims_or_all("dim", rank),
        false => a.opt_int("dim").filter(|_| rank > 0).map_or_else(|| (0..rank).collect(), |d| vec![a.wrap(d, rank)]),
    }
}

fn keepdim(a: &Args<'_>) -> bool {
    a.has("keepdim") && a.bool("keepdim")
}

fn accumulate<'c>(a: &Args<'c>, kind: &str) -> Tensor<'c> {
    let x = a.tensor("self").convert(a.result_dtype(0));
    let kind = match (x.dtype(), kind) {
        (DType::Bool, "sum") => "or",
        (DType::Bool, _) => "and",
        _ => kind,
    };
    x.reduce(kind, &reduced(a), keepdim(a))
}

fn mean<'c>(a: &Args<'c>) -> Tensor<'c> {
    a.tensor("self").convert(a.result_dtype(0).compute()).mean(&reduced(a), keepdim(a))
}

fn nansum<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self").convert(a.result_dtype(0));
    x.fill_where(x.is_nan(), 0).reduce("sum", &reduced(a), keepdim(a))
}

fn nanmean<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self").convert(a.result_dtype(0).compute());
    let (dims, keep) = (reduced(a), keepdim(a));
    let count = (!x.is_nan()).convert(x.dtype()).reduce("sum", &dims, keep);
    x.fill_where(x.is_nan(), 0).reduce("sum", &dims, keep) / count
}

fn count_nonzero<'c>(a: &Args<'c>) -> Tensor<'c> {
    truth(a.tensor("self")).convert(DType::I64).reduce("sum", &reduced(a), false)
}

fn logical<'c>(a: &Args<'c>, kind: &str) -> Tensor<'c> {
    // Unlike elsewhere, an empty list is no dimensions.
    let none = a.has("dim") && a.is_list("dim") && a.given("dim") && a.ints("dim").is_empty();
    let dims = if none { Vec::new() } else { reduced(a) };
    truth(a.tensor("self")).reduce(kind, &dims, keepdim(a)).convert(a.result_dtype(0))
}

/// Largest or smallest elements; on bool these are "or" and "and".
pub(super) fn extreme<'c>(x: Tensor<'c>, kind: &str, dims: &[usize], keep: bool) -> Tensor<'c> {
    match (x.dtype(), kind) {
        (DType::Bool, "max") => x.reduce("or", dims, keep),
        (DType::Bool, _) => x.reduce("and", dims, keep),
        _ => x.reduce(kind, dims, keep),
    }
}

/// The call fails where an extremum of nothing is asked for, as in PyTorch.
fn of_something<'c>(x: Tensor<'c>, dims: &[usize]) {
    let count = product(&dims.iter().map(|dim| x.size(*dim)).collect::<Vec<_>>());
    x.prim().guard_at_most(1.into(), count, "the extremum of no elements: a reduced dimension has size 0", &[]);
}

fn extremum<'c>(a: &Args<'c>, kind: &str) -> Tensor<'c> {
    of_something(a.tensor("self"), &reduced(a));
    extreme(a.tensor("self"), kind, &reduced(a), keepdim(a))
}

fn aminmax<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let (x, dims, keep) = (a.tensor("self"), reduced(a), keepdim(a));
    of_something(x, &dims);
    vec![extreme(x, "min", &dims, keep), extreme(x, "max", &dims, keep)]
}

/// Positions of the first extremum along a dimension (of bool as of numbers).
fn first_extreme<'c>(x: Tensor<'c>, kind: &str, dim: usize, keep: bool) -> Tensor<'c> {
    if x.rank() == 0 {
        return x.prim().constant(DType::I64, Scalar::Int(0));
    }
    of_something(x, &[dim]);
    let x = if x.dtype() == DType::Bool { x.convert(DType::U8) } else { x };
    let at = x.arg_reduce(kind, dim);
    if keep { at.unsqueeze(dim) } else { at }
}

fn position<'c>(a: &Args<'c>, kind: &str) -> Tensor<'c> {
    let x = a.tensor("self");
    match a.opt_int("dim") {
        Some(dim) => first_extreme(x, kind, a.wrap(dim, x.rank()), a.bool("keepdim")),
        None => {
            let at = first_extreme(x.reshape(&[x.numel()]), kind, 0, false);
            if a.bool("keepdim") { at.unsqueeze_to(x.rank()) } else { at }
        }
    }
}

fn with_position<'c>(a: &Args<'c>, kind: &str) -> Vec<Tensor<'c>> {
    let x = a.tensor("self");
    let (dim, keep) = (a.dim("dim", x.rank()), a.bool("keepdim"));
    let dims: &[usize] = if x.rank() == 0 { &[] } else { &[dim] };
    vec![extreme(x, kind, dims, keep), first_extreme(x, kind, dim, keep)]
}

/// Variance and mean over the reduced dimensions.
fn variance<'c>(a: &Args<'c>) -> (Tensor<'c>, Tensor<'c>) {
    let (x, dims, keep) = (a.tensor("self"), reduced(a), keepdim(a));
    let correction = match a.has("correction") {
        true => a.opt_float("correction").unwrap_or(1.0),
        false => f64::from(u8::from(a.bool("unbiased"))),
    };
    let mean = x.mean(&dims, true);
    let spread = (x - mean).abs().square().reduce("sum", &dims, keep);
    let count = product(&dims.iter().map(|d| x.size(*d)).collect::<Vec<_>>());
    let divisor = match count {
        Size::Const(n) => spread.number(Scalar::Float((n as f64 - correction).max(0.0))),
        symbolic => (a.prim.size_tensor(spread.dtype(), symbolic) - correction).maximum(0.0),
    };
    let mean = if keep { mean } else { mean.squeeze(&dims) };
    (spread / divisor, mean)
}

fn var_mean<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let (variance, mean) = variance(a);
    vec![variance, mean]
}

fn std_mean<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let (variance, mean) = variance(a);
    vec![variance.sqrt(), mean]
}

/// Sums so that the result broadcasts back to the tensor's shape.
pub(super) fn sum_to<'c>(x: Tensor<'c>, shape: &[Size<'c>]) -> Tensor<'c> {
    let lead = x.rank().saturating_sub(shape.len());
    let repeated = |d: &usize| *d < lead || (shape[*d - lead].is_one() && !x.size(*d).is_one());
    x.reduce("sum", &(0..x.rank()).filter(repeated).collect::<Vec<_>>(), true).reshape(shape)
}

// Softmax.

/// Applies a function of one dimension to `self`; a 0-d tensor counts as a vector.
fn on_dim<'c>(a: &Args<'c>, f: fn(Tensor<'c>, usize) -> Tensor<'c>) -> Tensor<'c> {
    let x = a.tensor("self").convert(a.result_dtype(0).compute());
    if x.rank() == 0 {
        return f(x.unsqueeze(0), 0).reshape(&[]);
    }
    f(x, a.dim("dim", x.rank()))
}

/// The distance of each element to the largest number of its row. Where one is NaN, every row that the distances are summed to is NaN
/// whatever the others are measured from.
fn below_largest(x: Tensor<'_>, dim: usize) -> Tensor<'_> {
    x - largest(x, dim)
}

fn largest(x: Tensor<'_>, dim: usize) -> Tensor<'_> {
    x.reduce(if x.dtype().is_integral() { "max" } else { "maxnum" }, &[dim], true)
}

pub(super) fn softmax(x: Tensor<'_>, dim: usize) -> Tensor<'_> {
    let exp = below_largest(x, dim).exp();
    let sum = total(exp, dim);
    // PyTorch divides, but multiplies by the reciprocal along the last dimension. In f64 programs of integers show it.
    if x.dtype() == DType::F64 && dim + 1 == x.rank() { exp * sum.reciprocal() } else { exp / sum }
}

/// The logarithm of the sum of exponentials beside a softmax, whose sum it is of; NaN where the largest element is infinite.
pub(super) fn logsumexp_of_softmax(x: Tensor<'_>, dim: usize) -> Tensor<'_> {
    total(below_largest(x, dim).exp(), dim).log() + largest(x, dim)
}

/// Rows that are -inf throughout become 0.
fn safe_softmax(x: Tensor<'_>, dim: usize) -> Tensor<'_> {
    let masked = x.equal(f64::NEG_INFINITY).reduce("and", &[dim], true);
    masked.select(x.number(Scalar::Int(0)), softmax(x, dim))
}

/// The sum along a dimension that is kept. In f64 programs of integers show its last bit: there it is summed as PyTorch does,
/// in eight lanes and these in turn along the last dimension, in turn along another one.
fn total(x: Tensor<'_>, dim: usize) -> Tensor<'_> {
    let lanes = if dim + 1 == x.rank() { 8 } else { 1 };
    match x.size(dim).known() {
        Some(n @ 2..=64) if x.dtype() == DType::F64 && x.prim().is_whole() => {
            let lane = |k: i64| (k..n).step_by(lanes).map(|at| x.slice(dim, at, 1, 1)).reduce(|a, b| a + b);
            (0..lanes.min(n as usize) as i64).filter_map(lane).reduce(|a, b| a + b).unwrap_or(x)
        }
        _ => x.sum_keep(&[dim]),
    }
}

pub(super) fn log_softmax(x: Tensor<'_>, dim: usize) -> Tensor<'_> {
    let shifted = below_largest(x, dim);
    shifted - total(shifted.exp(), dim).log()
}

fn backward_dim<'c>(a: &Args<'c>) -> (Tensor<'c>, Tensor<'c>, Vec<usize>) {
    let (grad, output) = (a.tensor("grad_output"), a.tensor("output"));
    let dim = a.dim("dim", output.rank());
    (grad, output, if output.rank() == 0 { Vec::new() } else { vec![dim] })
}

fn softmax_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (grad, output, dims) = backward_dim(a);
    let weighted = grad * output;
    weighted - output * weighted.sum_keep(&dims)
}

fn log_softmax_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (grad, output, dims) = backward_dim(a);
    grad - output.exp() * grad.sum_keep(&dims)
}

pub(super) fn logsumexp<'c>(x: Tensor<'c>, dims: &[usize], keep: bool) -> Tensor<'c> {
    let largest = x.real().reduce("max", dims, true);
    let largest = largest.fill_where(largest.abs().equal(f64::INFINITY), 0.0).convert(x.dtype());
    let sum = (x - largest).exp().reduce("sum", dims, true).log() + largest;
    if keep { sum } else { sum.squeeze(dims) }
}
