//! Gradients of reductions and running reductions.

use strata_dialects::aten::dtype::{DType, Numeric};
use strata_dialects::prim;
use strata_dialects::prim_builder::{Scalar, Segments, Tensor, coordinates, product};

use super::rule::Rule::{Custom, Zero};
use super::rule::{At, Cotangents, Row, prim_rows, wide};

prim_rows! {
    /// None: positions. PyTorch: `argmax`.
    ArgReduce => Zero;
    /// `sum`: `g` for each element. `max`, `min`: `g` shared by the elements that are the extremum. `prod`: `g` times the product of the
    /// others, which is the quotient where no element is 0. PyTorch: `sum`, `scale_grad_by_count`, `prod_backward`.
    Reduce => Custom(reduce);
    /// `sum`: the running sum of `g` from the end. `max`, `min`: `g` to the last element that was the extremum. `prod`: the running sum of
    /// `g * y` from the end over `x`; at the first 0 the same without it, and 0 after it. PyTorch: `cumsum_backward`,
    /// `cummaxmin_backward`, `cumprod_backward`.
    Scan => Custom(scan);
    /// `sum`: `g` of its segment for each element, 0 outside of all. `max`, `min`: `g` shared by the elements of the segment that are its extremum.
    /// PyTorch: `_segment_reduce_backward`.
    SegmentReduce => Custom(segment_reduce);
}

/// A reduced tensor with the dims that it lost, for use beside what was reduced.
fn restored<'c>(reduced: Tensor<'c>, like: Tensor<'c>, dims: &[usize]) -> Tensor<'c> {
    let kept: Vec<_> = (0..like.rank()).filter(|dim| !dims.contains(dim)).collect();
    reduced.broadcast_dims(&like.shape(), &kept)
}

fn reduce<'c>(at: &At<'c>) -> Cotangents<'c> {
    let (x, dims) = (at.x(0), at.dims("dims"));
    let spread = |tensor: Tensor<'c>| restored(tensor, x, &dims);
    let g = at.g();
    vec![Some(match at.word("kind").as_str() {
        "sum" => spread(g),
        "prod" => {
            // PyTorch divides where there is no 0 at all, so that an infinite element has NaN.
            let (x, y) = (wide(x), spread(wide(at.y(0))));
            let zero = x.equal(0).reduce("or", &x.all_dims(), false);
            let partial = zero.select(others(x, &dims), y / zero.select(x.number(Scalar::Int(1)), x));
            spread(g) * partial.convert(g.dtype()).conj()
        }
        "max" | "min" | "maxnum" => {
            let mask = x.equal(spread(at.y(0)));
            let count = mask.convert(g.dtype().compute()).reduce("sum", &dims, false);
            // Of NaN none is the extremum: 0 / 0.
            mask.select(spread(wide(g)), Scalar::Int(0)) / spread(count)
        }
        kind => return at.refuse(format!("a reduction of kind `{kind}`")),
    })]
}

fn segment_reduce<'c>(at: &At<'c>) -> Cotangents<'c> {
    let (g, x) = (at.g(), at.x(0));
    let segments = Segments { begins: at.x(1), ends: at.x(2) };
    let owners = segments.owners(x.size(segments.axis()));
    vec![Some(match at.word("kind").as_str() {
        "sum" => owners.spread(g),
        "max" | "min" => {
            let hit = x.equal(owners.spread(at.y(0))).or(x.is_nan());
            let hits = segments.reduce(hit.convert(g.dtype().compute()), "sum");
            hit.select(owners.spread(wide(g) / hits), Scalar::Int(0))
        }
        kind => return at.refuse(format!("a reduction of segments of kind `{kind}`")),
    })]
}

/// The product over `dims` of all elements but each one: those before it times those after it.
fn others<'c>(x: Tensor<'c>, dims: &[usize]) -> Tensor<'c> {
    let kept: Vec<_> = (0..x.rank()).filter(|dim| !dims.contains(dim)).collect();
    let order = [kept.as_slice(), dims].concat();
    let turned = x.transpose(&order);
    let last = kept.len();
    let line = product(&turned.shape()[last..]);
    let flat = turned.reshape(&[&turned.shape()[..last], &[line]].concat());
    if line.known() == Some(0) {
        return x;
    }
    let before = |x: Tensor<'c>| x.pad_dim(last, Scalar::Int(1), 1, -1).scan("prod", last);
    let both = before(flat) * before(flat.reverse(&[last])).reverse(&[last]);
    both.reshape(&turned.shape()).transpose(&strata_dialects::capture::inverse(&order))
}

fn scan<'c>(at: &At<'c>) -> Cotangents<'c> {
    let (g, x, y, dim) = (at.g(), at.x(0), at.y(0), at.dim());
    vec![Some(match at.word("kind").as_str() {
        "sum" => from_end(g, dim),
        "prod" => running_product(wide(g), wide(x), wide(y), dim).convert(x.dtype()),
        "max" | "min" => {
            let place = x.prim().iota(DType::I64, &x.shape(), dim);
            let found = x.equal(y).or(x.is_nan()).select(place, 0).scan("max", dim);
            x.filled(Scalar::Int(0)).scatter(g, &coordinates(found, dim), &x.all_dims(), "add")
        }
        "logaddexp" => running_log(wide(g), wide(x), wide(y), dim).convert(x.dtype()),
        kind => return at.refuse(format!("a running reduction of kind `{kind}`")),
    })]
}

/// `exp(x_j) * sum of g_i exp(-y_i) over i >= j`, by logarithms: those of positive and of negative cotangents apart.
fn running_log<'c>(g: Tensor<'c>, x: Tensor<'c>, y: Tensor<'c>, dim: usize) -> Tensor<'c> {
    let part = |g: Tensor<'c>| {
        // What is not counted is a plain number for the logarithm, so that its own gradient is 0.
        let counted = g.greater(0).and(y.greater(f64::NEG_INFINITY));
        let (g, y) = (counted.select(g, 1), counted.select(y, 0));
        let shares = counted.select(g.log() - y, f64::NEG_INFINITY);
        (shares.reverse(&[dim]).scan("logaddexp", dim).reverse(&[dim]) + x).exp()
    };
    part(g) - part(-g)
}

/// Sums of all that follows along `dim`, itself included.
fn from_end<'c>(x: Tensor<'c>, dim: usize) -> Tensor<'c> {
    x.reverse(&[dim]).scan("sum", dim).reverse(&[dim])
}

fn running_product<'c>(g: Tensor<'c>, x: Tensor<'c>, y: Tensor<'c>, dim: usize) -> Tensor<'c> {
    let is_zero = x.equal(0);
    let zeros = is_zero.convert(DType::I64).scan("sum", dim);
    let first = is_zero.and(zeros.equal(1));
    let without_first = first.select(x.number(Scalar::Int(1)), x).scan("prod", dim);
    let at_first = from_end(g * without_first.conj(), dim);
    let before = from_end(g * y.conj(), dim) / x.conj();
    zeros.equal(0).select(before, first.select(at_first, Scalar::Int(0)))
}
