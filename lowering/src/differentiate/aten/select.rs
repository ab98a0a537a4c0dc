//! Operators that choose elements: the gradient goes to the ones that were chosen, by their positions.

use strata_dialects::aten::Input;
use strata_dialects::aten::dtype::DType;
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Tensor, coordinates, product};

use super::super::index::Write;
use super::super::rule::Rule::{self, Arguments, Custom};
use super::super::rule::{At, Cotangents, Row, size, value, wide};
use super::{rows, zero};
use crate::aten_to_prim::Args;

rows! {
    /// To the places of the maxima.
    ADAPTIVE_MAX_POOL1D => Custom(|at| by_places(at, at.y(1), 1));
    /// To the places of the maxima.
    ADAPTIVE_MAX_POOL2D => Custom(|at| by_places(at, at.y(1), 2));
    /// To the places of the maxima.
    ADAPTIVE_MAX_POOL3D => Custom(|at| by_places(at, at.y(1), 3));
    /// `cummaxmin_backward`.
    CUMMAX => Arguments(chosen);
    /// `cummaxmin_backward`.
    CUMMIN => Arguments(chosen);
    /// `embedding_dense_backward`: nothing at `padding_idx`.
    EMBEDDING => Custom(embedding);
    /// `g` for the larger one, half of it at ties, all of it where the other is NaN.
    FMAX => Arguments(|at, a| number_first(at, a, |x, y| x.greater(y)));
    /// As `fmax`.
    FMIN => Arguments(|at, a| number_first(at, a, |x, y| x.less(y)));
    /// To the places of the maxima.
    FRACTIONAL_MAX_POOL2D => Custom(|at| by_places(at, at.y(1), 2));
    /// To the places of the maxima.
    FRACTIONAL_MAX_POOL3D => Custom(|at| by_places(at, at.y(1), 3));
    /// `grid_sampler_2d_backward` or `grid_sampler_3d_backward`.
    GRID_SAMPLER => Custom(grid_sampler);
    /// `grid_sampler_2d_backward`.
    GRID_SAMPLER_2D => Custom(grid_sampler);
    /// `grid_sampler_3d_backward`.
    GRID_SAMPLER_3D => Custom(grid_sampler);
    /// `g` elsewhere, and the sum of `g` over what is filled, once.
    INDEX_FILL_INT_TENSOR => Arguments(index_fill);
    /// `index_reduce_backward`.
    INDEX_REDUCE => Arguments(index_reduce);
    /// `value_selecting_reduction_backward`.
    KTHVALUE => Arguments(chosen);
    /// `value_selecting_reduction_backward`: the first of equal ones.
    MAX_DIM => Arguments(chosen);
    /// To the places of the first maxima.
    MAX_POOL1D => Custom(|at| pool(at, MAX_POOL1D_WITH_INDICES, 1));
    /// To the places of the first maxima.
    MAX_POOL1D_WITH_INDICES => Custom(|at| by_places(at, at.y(1), 1));
    /// `max_pool2d_with_indices_backward`: to the places of the first maxima.
    MAX_POOL2D => Custom(|at| pool(at, MAX_POOL2D_WITH_INDICES, 2));
    /// As `max_pool2d`.
    MAX_POOL2D_WITH_INDICES => Custom(|at| by_places(at, at.y(1), 2));
    /// As `max_pool2d`.
    MAX_POOL3D => Custom(|at| pool(at, MAX_POOL3D_WITH_INDICES, 3));
    /// As `max_pool2d`.
    MAX_POOL3D_WITH_INDICES => Custom(|at| by_places(at, at.y(1), 3));
    /// `evenly_distribute_backward`: shared by those that are equal to the median.
    MEDIAN => Custom(evenly);
    /// `value_selecting_reduction_backward`.
    MEDIAN_DIM => Arguments(chosen);
    /// As `max.dim`.
    MIN_DIM => Arguments(chosen);
    /// `value_selecting_reduction_backward`.
    MODE => Arguments(chosen);
    /// As `median`.
    NANMEDIAN => Custom(evenly);
    /// `value_selecting_reduction_backward`.
    NANMEDIAN_DIM => Arguments(chosen);
    /// `scatter_reduce_backward`.
    SCATTER_REDUCE_TWO => Arguments(scatter_reduce);
    /// `_segment_reduce_backward`: all of `g` for each extremum.
    SEGMENT_REDUCE => Rule::Operator(_SEGMENT_REDUCE_BACKWARD);
    /// `value_selecting_reduction_backward`.
    SORT => Arguments(chosen);
    /// `value_selecting_reduction_backward`.
    SORT_STABLE => Arguments(chosen);
    /// `value_selecting_reduction_backward`.
    TOPK => Arguments(chosen);
}

/// `g` among zeros at the positions along `dim` that are the second result.
fn chosen<'c>(at: &At<'c>, a: &Args<'c>) -> Cotangents<'c> {
    let (x, mut g, mut positions) = (at.x(0), at.g(), at.y(1));
    if x.rank() == 0 {
        return vec![Some(g.reshape(&[]))];
    }
    let dim = a.wrap(a.opt_int("dim").unwrap_or(-1), x.rank());
    if g.rank() < x.rank() {
        (g, positions) = (g.unsqueeze(dim), positions.unsqueeze(dim));
    }
    vec![Some(x.filled(Scalar::Int(0)).scatter(g, &coordinates(positions, dim), &x.all_dims(), "add"))]
}

/// `g` among zeros at places counted through the last `space` dims.
fn by_places<'c>(at: &At<'c>, places: Tensor<'c>, space: usize) -> Cotangents<'c> {
    let (x, g) = (at.x(0), at.g());
    let lead = x.rank() - space;
    let flat = |tensor: Tensor<'c>| tensor.reshape(&[&tensor.shape()[..lead], &[product(&tensor.shape()[lead..])]].concat());
    let zeros = flat(x.filled(Scalar::Int(0)));
    let added = zeros.scatter(flat(g), &coordinates(flat(places.convert(DType::I64)), lead), &zeros.all_dims(), "add");
    vec![Some(added.reshape(&x.shape()))]
}

/// A pooling that does not tell the places of its maxima.
fn pool<'c>(at: &At<'c>, with_indices: strata_dialects::aten::Operator, space: usize) -> Cotangents<'c> {
    let y = at.op.result(0).ty();
    let places = y.with_element(at.prim.cx().element(DType::I64));
    match at.call(with_indices, &[], &[y, places]).get(1) {
        Some(places) => by_places(at, *places, space),
        None => Vec::new(),
    }
}

fn evenly<'c>(at: &At<'c>) -> Cotangents<'c> {
    let (x, g, y) = (at.x(0), at.wide_g(), at.y(0));
    let mask = x.equal(y).or(x.is_nan().and(y.is_nan()));
    let count = mask.convert(g.dtype()).reduce("sum", &x.all_dims(), false);
    vec![Some(mask.select(g / count, zero(g)))]
}

fn number_first<'c>(at: &At<'c>, a: &Args<'c>, further: fn(Tensor<'c>, Tensor<'c>) -> Tensor<'c>) -> Cotangents<'c> {
    let g = at.wide_g();
    let (x, y) = (a.as_type("self", g.dtype()), a.as_type("other", g.dtype()));
    let half = x.equal(y).select(g * 0.5, zero(g));
    let first = further(x, y).or(y.is_nan());
    let second = further(y, x).or(x.is_nan().and(!y.is_nan()));
    at.named(&[("self", Some(first.select(g, half))), ("other", Some(second.select(g, half)))])
}

fn embedding<'c>(at: &At<'c>) -> Cotangents<'c> {
    let given = [("grad_output", value(at.g())), ("num_weights", size(at.x(0).size(0), at.prim))];
    at.call(EMBEDDING_DENSE_BACKWARD, &given, &[at.x(0).ty()]).into_iter().map(Some).collect()
}

fn grid_sampler<'c>(at: &At<'c>) -> Cotangents<'c> {
    let operator = if at.x(0).rank() == 4 { GRID_SAMPLER_2D_BACKWARD } else { GRID_SAMPLER_3D_BACKWARD };
    let given = [("grad_output", value(at.g())), ("output_mask", Input::Bools(vec![true, true]))];
    at.call(operator, &given, &[at.x(0).ty(), at.x(1).ty()]).into_iter().map(Some).collect()
}

fn index_fill<'c>(at: &At<'c>, a: &Args<'c>) -> Cotangents<'c> {
    let (g, rank) = (at.g(), at.x(0).rank());
    let index = a.raw("index");
    let (line, dim) = if rank == 0 { (g.reshape(&[1.into()]), 0) } else { (g, a.dim("dim", rank)) };
    let places = if index.rank() == 0 { index.reshape(&[1.into()]) } else { index };
    let places = places.less(0).select(places + line.size(dim), places);
    let mut shape = line.shape().to_vec();
    shape.remove(dim);
    shape.insert(0, places.size(0));
    let zeros = at.prim.full(g.dtype(), Scalar::Int(0), &shape);
    let rest = line.scatter(zeros, &[places], &[dim], "set");
    let filled = (line - rest).reduce("sum", &line.all_dims(), false);
    at.named(&[("self", Some(rest.reshape(&g.shape()))), ("value", Some(filled))])
}

/// A tensor without dimensions as one of one element.
fn line(x: Tensor<'_>) -> Tensor<'_> {
    if x.rank() == 0 { x.reshape(&[1.into()]) } else { x }
}

fn index_reduce<'c>(at: &At<'c>, a: &Args<'c>) -> Cotangents<'c> {
    let (x, source, index) = (line(a.tensor("self")), line(a.tensor("source")), line(a.raw("index")));
    let dim = a.dim("dim", x.rank());
    let index = index.less(0).select(index + x.size(dim), index);
    let write = Write { x, updates: source.move_dim(dim, 0), y: line(wide(at.y(0))), indices: &[index], dims: &[dim] };
    let (by_x, by_source) = write.gradient(line(at.wide_g()), kind(a), a.bool("include_self"));
    let like = |by: Tensor<'c>, name: &str| by.reshape(&a.raw(name).shape());
    let by_source = by_source.map(|by| like(by.move_dim(0, dim), "source"));
    at.named(&[("self", by_x.map(|by| like(by, "self"))), ("source", by_source)])
}

/// The reductions under the names that `scatter_reduce` has for them.
fn kind(a: &Args<'_>) -> &'static str {
    match a.str("reduce").as_str() {
        "sum" => "sum",
        "prod" => "prod",
        "mean" => "mean",
        "amin" => "amin",
        _ => "amax",
    }
}

fn scatter_reduce<'c>(at: &At<'c>, a: &Args<'c>) -> Cotangents<'c> {
    let (x, index, source) = (line(a.tensor("self")), line(a.raw("index")), line(a.tensor("src")));
    let dim = a.dim("dim", x.rank());
    let none = vec![0.into(); source.rank()];
    let updates = source.slice_all(&none, &index.shape(), &vec![1; source.rank()]);
    let indices = coordinates(index, dim);
    let write = Write { x, updates, y: line(wide(at.y(0))), indices: &indices, dims: &x.all_dims() };
    let (by_x, by_updates) = write.gradient(line(at.wide_g()), kind(a), a.bool("include_self"));
    let beyond = |by: Tensor<'c>| {
        let high: Vec<_> = (0..source.rank()).map(|dim| source.size(dim) - by.size(dim)).collect();
        by.pad(zero(by), &none, &high, &vec![0; source.rank()]).reshape(&a.raw("src").shape())
    };
    at.named(&[("self", by_x.map(|by| by.reshape(&a.raw("self").shape()))), ("src", by_updates.map(beyond))])
}
