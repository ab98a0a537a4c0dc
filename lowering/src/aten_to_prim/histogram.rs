//! Histograms between edges, of points in one dimension or several.

use strata_dialects::aten::dtype::DType;
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Prim, Scalar, Size, Tensor, product};

use super::args::Args;
use super::index::flat;
use super::rule::Precision::Exact;
use super::rule::{Rule, many, one};
use super::sort::places_in;

pub(super) const RULES: &[Rule] = &[
    many(_HISTOGRAMDD_BIN_EDGES, Exact, |a| {
        let (x, bins) = (points(a), a.ints("bins"));
        let edges = |(dim, bins): (usize, &i64)| spaced_edges(a, x.at(1, dim as i64), dim, *bins);
        bins.iter().enumerate().map(edges).collect()
    }),
    one(_HISTOGRAMDD_FROM_BIN_CTS, Exact, |a| {
        let bins = a.ints("bins");
        counted(a, points(a), |x, dim| spaced_edges(a, x, dim, bins.get(dim).copied().unwrap_or(1)))[0]
    }),
    one(_HISTOGRAMDD_FROM_BIN_TENSORS, Exact, |a| {
        let edges = a.tensors("bins");
        counted(a, points(a), |x, dim| edges.get(dim).copied().unwrap_or(x))[0]
    }),
    many(HISTOGRAM_BIN_CT, Exact, |a| one_dim(a, None)),
    many(HISTOGRAM_BINS_TENSOR, Exact, |a| one_dim(a, Some(a.tensor("bins")))),
    many(HISTOGRAMDD, Exact, |a| {
        let bins = a.ints("bins");
        counted(a, points(a), |x, dim| spaced_edges(a, x, dim, bins.get(dim).copied().unwrap_or(1)))
    }),
    many(HISTOGRAMDD_TENSORLIST_BINS, Exact, |a| {
        let edges = a.tensors("bins");
        counted(a, points(a), |x, dim| edges.get(dim).copied().unwrap_or(x))
    }),
    many(HISTOGRAMDD_INT_BINS, Exact, |a| {
        let bins = a.int("bins");
        counted(a, points(a), |x, dim| spaced_edges(a, x, dim, bins))
    }),
];

fn one_dim<'c>(a: &Args<'c>, edges: Option<Tensor<'c>>) -> Vec<Tensor<'c>> {
    let x = flat(a.tensor("self")).unsqueeze(1);
    counted(a, x, |x, dim| edges.unwrap_or_else(|| spaced_edges(a, x, dim, a.int("bins"))))
}

/// Points as rows.
fn points<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let last = x.rank().wrapping_sub(1);
    x.reshape(&[product(&x.shape()[..x.rank().saturating_sub(1)]), x.size(last)])
}

/// Edges at equal distances over the given range, or that of the coordinate.
fn spaced_edges<'c>(a: &Args<'c>, x: Tensor<'c>, dim: usize, bins: i64) -> Tensor<'c> {
    let number = |value: f64| x.number(Scalar::Float(value));
    let (low, high) = match a.opt_floats("range") {
        Some(range) if range.len() > 2 * dim + 1 => (number(range[2 * dim]), number(range[2 * dim + 1])),
        _ if x.size(0).known() == Some(0) => (number(0.0), number(1.0)),
        _ => (x.reduce("min", &[0], false), x.reduce("max", &[0], false)),
    };
    let point = low.equal(high);
    let (low, high) = (point.select(low - 0.5, low), point.select(high + 0.5, high));
    spaced(a.prim, low, high, bins + 1)
}

/// PyTorch's linspace: the first half counts from the low end, the second from the high one.
fn spaced<'c>(prim: &'c Prim<'c>, low: Tensor<'c>, high: Tensor<'c>, count: i64) -> Tensor<'c> {
    let place = prim.range(DType::I64, count);
    let step = (high - low) / (count - 1).max(1);
    let from_low = low + place.convert(low.dtype()) * step;
    let from_high = high - ((place * -1) + (count - 1)).convert(low.dtype()) * step;
    place.less(count / 2).select(from_low, from_high)
}

/// The weights of the points in each box, and the edges of each dimension. The last box holds its upper edge.
fn counted<'c>(a: &Args<'c>, x: Tensor<'c>, edges: impl Fn(Tensor<'c>, usize) -> Tensor<'c>) -> Vec<Tensor<'c>> {
    let dims = x.size(1).known().unwrap_or(1);
    let columns: Vec<_> = a.steps("the number of columns", dims).map(|dim| x.at(1, dim)).collect();
    let edges: Vec<_> = columns.iter().enumerate().map(|(dim, column)| edges(*column, dim)).collect();
    let bins: Vec<Size<'c>> = edges.iter().map(|e| e.size(0) - 1).collect();

    let mut inside = a.prim.full(DType::Bool, Scalar::Bool(true), &[x.size(0)]);
    let mut place = a.prim.full(DType::I64, Scalar::Int(0), &[x.size(0)]);
    for ((column, edges), bins) in columns.iter().zip(&edges).zip(&bins) {
        let (first, last) = (edges.at(0, 0), edges.at(0, *bins));
        inside = inside.and(column.greater_equal(first)).and(column.less_equal(last));
        let own = (places_in(*edges, *column, true) - 1).maximum(0).minimum(*bins - 1);
        place = place * *bins + own;
    }
    let weights =
        a.opt_tensor("weight").map_or_else(|| a.prim.full(x.dtype(), Scalar::Int(1), &[x.size(0)]), |w| flat(w).convert(x.dtype()));
    let weights = inside.select(weights, 0);
    let counts = a.prim.full(x.dtype(), Scalar::Int(0), &[product(&bins)]);
    let mut counts = counts.scatter(weights, &[inside.select(place, 0)], &[0], "add").reshape(&bins);
    if a.bool("density") {
        counts = counts / counts.reduce("sum", &counts.all_dims(), false);
        for (dim, edges) in edges.iter().enumerate() {
            let widths = edges.slice(0, 1, bins[dim], 1) - edges.slice(0, 0, bins[dim], 1);
            counts = counts / widths.unsqueeze_to(columns.len() - dim);
        }
    }
    [vec![counts], edges].concat()
}
