//! Counting and telling apart: unique elements, histograms, repetitions and combinations.

use strata_dialects::aten::dtype::DType;
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Size, Tensor, product};

use super::args::Args;
use super::index::{flat, positions, true_positions};
use super::rule::Precision::Exact;
use super::rule::{Rule, many, one};

pub(super) const RULES: &[Rule] = &[
    many(_UNIQUE, Exact, |a| unique(a)[..2].to_vec()),
    many(_UNIQUE2, Exact, unique),
    one(BINCOUNT, Exact, bincount),
    one(COMBINATIONS, Exact, combinations),
    one(HISTC, Exact, histc),
    one(REPEAT_INTERLEAVE_TENSOR, Exact, |a| sources(a, flat(positions(a.raw("repeats")))).convert(a.result_dtype(0))),
    one(REPEAT_INTERLEAVE_SELF_TENSOR, Exact, repeat_interleave),
    many(UNIQUE_CONSECUTIVE, Exact, unique_consecutive),
    many(UNIQUE_DIM, Exact, unique_dim),
];

/// Runs of equal parts along dimension 0.
struct Runs<'c> {
    /// Where each begins.
    begin: Tensor<'c>,
    /// For each part the number of its run.
    number: Tensor<'c>,
    /// How long each is.
    length: Tensor<'c>,
}

fn runs(x: Tensor<'_>) -> Runs<'_> {
    let (prim, n) = (x.prim(), x.size(0));
    let differs = x.slice(0, 1, n - 1, 1).not_equal(x.slice(0, 0, n - 1, 1));
    let differs = differs.reduce("or", &(1..x.rank()).collect::<Vec<_>>(), false);
    let first = prim.full(DType::Bool, Scalar::Bool(true), &[Size::Const(1)]);
    let begins = prim.concat(&[first, differs], 0);
    let begin = true_positions(begins)[0];
    let count = begin.size(0);
    let end = prim.concat(&[begin.slice(0, 1, count - 1, 1), prim.size_tensor(DType::I64, n).reshape(&[Size::Const(1)])], 0);
    Runs { begin, number: begins.convert(DType::I64).scan("sum", 0) - 1, length: end - begin }
}

/// A result that was not asked for.
fn asked<'c>(a: &Args<'c>, flag: &str, result: Tensor<'c>) -> Tensor<'c> {
    if a.has(flag) && a.bool(flag) { result } else { a.prim.full(DType::I64, Scalar::Int(0), &[Size::Const(0)]) }
}

fn nothing<'c>(a: &Args<'c>, x: Tensor<'c>) -> Option<[Tensor<'c>; 3]> {
    let empty = || a.prim.full(DType::I64, Scalar::Int(0), &[Size::Const(0)]);
    (x.size(0).known() == Some(0)).then(|| [x, empty(), empty()])
}

fn unique_consecutive<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let x = a.tensor("self");
    let dim = a.opt_int("dim").filter(|_| x.rank() > 0).map(|d| a.wrap(d, x.rank()));
    let parts = dim.map_or_else(|| flat(x), |d| x.move_dim(d, 0));
    if let Some(empty) = nothing(a, parts) {
        return empty.to_vec();
    }
    let runs = runs(parts);
    let values = parts.gather(&[runs.begin], &[0]);
    // As in `unique_dim`, a dimension gives all three.
    match dim {
        Some(dim) => vec![values.move_dim(0, dim), runs.number, runs.length],
        None => vec![values, asked(a, "return_inverse", runs.number.reshape(&x.shape())), asked(a, "return_counts", runs.length)],
    }
}

/// Sorted unique elements.
fn unique<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let x = a.tensor("self");
    if let Some(empty) = nothing(a, flat(x)) {
        let [values, inverse, counts] = empty;
        return vec![values, if a.bool("return_inverse") { inverse.reshape(&x.shape()) } else { inverse }, counts];
    }
    let (sorted, from) = flat(x).sort(0, false);
    let [values, inverse, counts] = distinct(a, sorted, from);
    vec![values, if inverse.numel().known() == Some(0) { inverse } else { inverse.reshape(&x.shape()) }, counts]
}

/// Unique parts along a dimension, in the order of their elements.
fn unique_dim<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let x = a.tensor("self");
    let dim = a.dim("dim", x.rank());
    let parts = if x.rank() == 0 { x.unsqueeze(0) } else { x.move_dim(dim, 0) };
    if let Some(empty) = nothing(a, parts) {
        return empty.to_vec();
    }
    let rows = parts.reshape(&[parts.size(0), product(&parts.shape()[1..])]);
    let order = a.prim.library("lexsort", &[], &[rows], &[])[0];
    let [values, inverse, counts] = distinct(a, parts.gather(&[order], &[0]), order);
    vec![if x.rank() == 0 { values } else { values.move_dim(0, dim) }, inverse, counts]
}

/// The first of each run of equal sorted parts; the inverse goes back through the sorting.
fn distinct<'c>(a: &Args<'c>, sorted: Tensor<'c>, from: Tensor<'c>) -> [Tensor<'c>; 3] {
    let runs = runs(sorted);
    let inverse = runs.number.filled(Scalar::Int(0)).scatter(runs.number, &[from], &[0], "set");
    let values = sorted.gather(&[runs.begin], &[0]);
    // Along a dimension PyTorch gives all three, asked or not.
    match a.has("dim") {
        true => [values, inverse, runs.length],
        false => [values, asked(a, "return_inverse", inverse), asked(a, "return_counts", runs.length)],
    }
}

fn bincount<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = positions(a.tensor("self"));
    let largest = (x.reduce("max", &[0], false) + 1).item_size();
    let bins = largest.max(a.size("minlength"));
    let weights = a.opt_tensor("weights").unwrap_or_else(|| a.prim.full(DType::I64, Scalar::Int(1), &x.shape()));
    let weights = weights.convert(a.result_dtype(0));
    a.prim.full(weights.dtype(), Scalar::Int(0), &[bins]).scatter(weights, &[x], &[0], "add")
}

/// Elements per bin between two bounds; those outside, and NaN, count nowhere.
fn histc<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, bins) = (flat(a.tensor("self").float()), a.int("bins"));
    let bound = |name| x.number(a.scalar(name));
    let (mut low, mut high) = (bound("min"), bound("max"));
    if a.opt_constant("min") == a.opt_constant("max") && x.size(0).known() != Some(0) {
        (low, high) = (x.reduce("min", &[0], false), x.reduce("max", &[0], false));
        let flat_range = low.equal(high);
        (low, high) = (flat_range.select(low - 1.0, low), flat_range.select(high + 1.0, high));
    }
    let inside = x.greater_equal(low).and(x.less_equal(high));
    let bin = ((x - low) / (high - low) * bins as f64).floor();
    let bin = inside.select(bin, 0.0).convert(DType::I64).minimum(bins - 1);
    let zeros = a.prim.full(x.dtype(), Scalar::Int(0), &[Size::Const(bins)]);
    zeros.scatter(inside.convert(x.dtype()), &[bin], &[0], "add").convert(a.result_dtype(0))
}

/// Part i occurs `repeats[i]` times.
fn repeat_interleave<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let (x, dim) = match a.opt_int("dim") {
        Some(dim) if x.rank() > 0 => (x, a.wrap(dim, x.rank())),
        _ => (flat(x), 0),
    };
    let repeats = flat(positions(a.raw("repeats"))).broadcast_to(&[x.size(dim)]);
    x.gather(&[sources(a, repeats)], &[dim]).move_dim(0, dim)
}

/// The number i, `repeats[i]` times.
fn sources<'c>(a: &Args<'c>, repeats: Tensor<'c>) -> Tensor<'c> {
    let fewest = repeats.reduce("min", &[0], false);
    a.prim.guard(fewest.greater_equal(0), "repeats cannot be negative, one is {0}", &[fewest.item_size()]);
    let ends = repeats.scan("sum", 0);
    // A sum of numbers that are not negative is negative where it first wraps.
    let exact = ends.reduce("min", &[0], false).greater_equal(0);
    a.prim.guard(exact, "repeats are more than can be counted together", &[]);
    let sum = repeats.reduce("sum", &[0], false);
    let total = a.opt_size("output_size").unwrap_or_else(|| sum.item_size());
    if a.opt_size("output_size").is_some() {
        a.prim.guard(sum.equal(total), "the repeats add up to {0}, and the output size is {1}", &[sum.item_size(), total]);
    }
    // The number of ends up to a place; ends behind the last place count nowhere.
    let (inside, place) = (ends.less(total).convert(DType::I64), ends.minimum(total - 1).maximum(0));
    let ends_at = a.prim.full(DType::I64, Scalar::Int(0), &[total.max(1)]).scatter(inside, &[place], &[0], "add");
    ends_at.scan("sum", 0).slice(0, 0, total, 1)
}

/// All ways to take r elements in order, as rows.
fn combinations<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, r, again) = (a.tensor("self"), a.int("r").max(0) as usize, a.bool("with_replacement"));
    let Some(n) = x.size(0).known() else {
        a.fail("combinations of an unknown number of elements");
        return x;
    };
    let mut rows: Vec<Vec<i64>> = vec![Vec::new()];
    for _ in 0..r {
        if rows.is_empty() || !a.may_write("argument `r`", (rows.len() as i64).saturating_mul(n), r as i64) {
            break;
        }
        let next = |row: Vec<i64>| {
            let from = row.last().map_or(0, |last| if again { *last } else { last + 1 });
            (from..n).map(move |i| [row.as_slice(), &[i]].concat()).collect::<Vec<_>>()
        };
        rows = rows.into_iter().flat_map(next).collect();
    }
    let shape = [Size::Const(rows.len() as i64), Size::Const(r as i64)];
    if r == 0 {
        return a.prim.full(x.dtype(), Scalar::Int(0), &[Size::Const(0)]);
    }
    x.gather(&[a.prim.int_vector(&rows.concat()).reshape(&shape)], &[0])
}
