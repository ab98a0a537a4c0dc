//! Running reductions, differences and integrals along a dimension.

use strata_dialects::aten::dtype::{DType, Numeric, promote};
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Tensor};

use super::args::Args;
use super::reduce::logsumexp;
use super::rule::Precision::{Compute, Exact};
use super::rule::{Rule, many, one};

pub(super) const RULES: &[Rule] = &[
    many(CUMMAX, Exact, |a| running_extremum(a, "max", Tensor::equal)),
    many(CUMMIN, Exact, |a| running_extremum(a, "min", Tensor::equal)),
    one(CUMPROD, Exact, |a| running(a, "prod")),
    one(CUMSUM, Exact, |a| running(a, "sum")),
    one(CUMULATIVE_TRAPEZOID_DX, Exact, |a| integral(a, true)),
    one(CUMULATIVE_TRAPEZOID_X, Exact, |a| integral(a, true)),
    one(DIFF, Exact, diff),
    one(LOGCUMSUMEXP, Compute, logcumsumexp),
    one(TRAPEZOID_DX, Exact, |a| integral(a, false)),
    one(TRAPEZOID_X, Exact, |a| integral(a, false)),
    one(TRAPZ_DX, Exact, |a| integral(a, false)),
    one(TRAPZ_X, Exact, |a| integral(a, false)),
];

fn running<'c>(a: &Args<'c>, kind: &str) -> Tensor<'c> {
    let dtype = a.result_dtype(0);
    let x = a.tensor("self").convert(dtype).convert(dtype.compute());
    if x.rank() == 0 {
        return x.convert(dtype);
    }
    x.scan(kind, a.dim("dim", x.rank())).convert(dtype)
}

/// Running extremum and where it was last reached.
fn running_extremum<'c>(a: &Args<'c>, kind: &str, reached: fn(Tensor<'c>, Tensor<'c>) -> Tensor<'c>) -> Vec<Tensor<'c>> {
    let x = a.tensor("self");
    if x.rank() == 0 {
        return vec![x, a.prim.constant(DType::I64, Scalar::Int(0))];
    }
    let dim = a.dim("dim", x.rank());
    let numbers = if x.dtype() == DType::Bool { x.convert(DType::U8) } else { x };
    let extremum = numbers.scan(kind, dim);
    let positions = a.prim.iota(DType::I64, &x.shape(), dim);
    let at = reached(numbers, extremum).or(x.is_nan()).select(positions, 0);
    vec![extremum.convert(x.dtype()), at.scan("max", dim)]
}

/// A running logarithm of sums; of complex numbers every prefix by itself.
fn logcumsumexp<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    if x.rank() == 0 {
        return x;
    }
    let dim = a.dim("dim", x.rank());
    if !x.dtype().is_complex() {
        return x.scan("logaddexp", dim);
    }
    let x = x.move_dim(dim, x.rank() - 1);
    let last = x.rank() - 1;
    let square = [x.size(last), x.size(last)];
    let inside = a.prim.iota(DType::I64, &square, 1).less_equal(a.prim.iota(DType::I64, &square, 0));
    let prefixes = inside.select(x.unsqueeze(last), f64::NEG_INFINITY);
    logsumexp(prefixes, &[last + 1], false).move_dim(last, dim)
}

/// Differences of neighbours, `n` times.
fn diff<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let dim = a.dim("dim", x.rank());
    if a.int("n") == 0 {
        return x;
    }
    let ends = [a.opt_tensor("prepend"), Some(x), a.opt_tensor("append")];
    let mut x = a.prim.concat(&ends.into_iter().flatten().collect::<Vec<_>>(), dim);
    // Each step leaves one element less, and from none on nothing changes.
    let count = x.size(dim).known().map_or(a.int("n"), |length| length.min(a.int("n")));
    for _ in a.steps("argument `n`", count) {
        let length = x.size(dim) - 1;
        let length = if length.known().is_some_and(|n| n < 0) { 0.into() } else { length };
        let (low, high) = (x.slice(dim, 0, length, 1), x.slice(dim, 1, length, 1));
        x = if x.dtype() == DType::Bool { high.xor(low) } else { high - low };
    }
    x
}

/// An integral with equal steps: the sum of all ordinates less half of the outer ones, times a step.
fn even_steps<'c>(y: Tensor<'c>, (dim, size): (usize, i64), dtype: DType, step: Scalar<'c>) -> Tensor<'c> {
    let y = if y.dtype().is_integral() { y } else { y.convert(dtype) };
    let outer = y.at(dim, 0) + y.at(dim, size - 1);
    let all = y.convert(if y.dtype().is_integral() { DType::I64 } else { dtype }).reduce("sum", &[dim], false);
    (all.convert(dtype) - outer.convert(dtype) * 0.5) * step
}

/// The areas between neighbours added up. Whole numbers stay whole up to the halving, so that narrow ones wrap as PyTorch's do.
fn integral<'c>(a: &Args<'c>, running: bool) -> Tensor<'c> {
    let (y, result) = (a.tensor("y"), a.result_dtype(0));
    let dim = a.dim("dim", y.rank());
    match y.size(dim).known() {
        // Of no ordinates the integral is zero, and there are no areas.
        Some(0) if running => return y.convert(result),
        Some(0) => return y.convert(result).reduce("sum", &[dim], false),
        Some(size) if a.has("dx") && !running => return even_steps(y, (dim, size), result.compute(), a.scalar("dx")).convert(result),
        _ => {}
    }
    // Of sizes that are not known there may be none, whose ends nobody can read: the same sum by neighbours.
    let y = if a.has("dx") && !running { y.convert(result) } else { y };
    let neighbours = |x: Tensor<'c>, dim| (x.slice(dim, 0, x.size(dim) - 1, 1), x.slice(dim, 1, x.size(dim) - 1, 1));
    let (left, right) = neighbours(y, dim);
    let sums = if y.dtype() == DType::Bool { left.or(right) } else { left + right };
    let areas = if a.has("dx") {
        sums.convert(result.compute()) * a.scalar("dx")
    } else {
        let x = a.tensor("x");
        let same = x.rank() == y.rank();
        let (from, to) = neighbours(x, if same { dim } else { 0 });
        let (steps, dtype) = (to - from, promote(x.dtype(), y.dtype()));
        let steps = if same { steps } else { steps.unsqueeze_to(y.rank() - dim) };
        sums.convert(dtype) * steps.convert(dtype)
    };
    let areas = areas.convert(if areas.dtype().is_integral() { DType::I64 } else { areas.dtype().compute() });
    let total = if running { areas.scan("sum", dim) } else { areas.reduce("sum", &[dim], false) };
    (total.convert(result.compute()) * 0.5).convert(result)
}
