//! Sorting, order statistics and searches in sorted sequences.

use strata_dialects::aten::dtype::{DType, Numeric};
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Size, Tensor, gather_along};

use super::args::Args;
use super::index::flat;
use super::rule::Precision::{Compute, Exact};
use super::rule::{Rule, many, one};

pub(super) const RULES: &[Rule] = &[
    one(ARGSORT, Exact, |a| sorted(a, a.bool("descending")).1),
    one(ARGSORT_STABLE, Exact, |a| sorted(a, a.bool("descending")).1),
    one(BUCKETIZE_SCALAR, Exact, bucketize),
    one(BUCKETIZE_TENSOR, Exact, bucketize),
    one(ISIN_SCALAR_TENSOR, Exact, isin),
    one(ISIN_TENSOR_SCALAR, Exact, isin),
    one(ISIN_TENSOR_TENSOR, Exact, isin),
    many(KTHVALUE, Exact, kthvalue),
    one(MEDIAN, Exact, |a| median(flat(a.tensor("self")), 0, false).0),
    many(MEDIAN_DIM, Exact, |a| on_dim(a, |x, dim| median(x, dim, false))),
    many(MODE, Exact, |a| on_dim(a, mode)),
    one(MSORT, Exact, |a| if a.tensor("self").rank() == 0 { a.tensor("self") } else { a.tensor("self").sort(0, false).0 }),
    one(NANMEDIAN, Exact, |a| median(flat(a.tensor("self")), 0, true).0),
    many(NANMEDIAN_DIM, Exact, |a| on_dim(a, |x, dim| median(x, dim, true))),
    one(NANQUANTILE, Compute, |a| quantile(a, true)),
    one(NANQUANTILE_SCALAR, Compute, |a| quantile(a, true)),
    one(QUANTILE, Compute, |a| quantile(a, false)),
    one(QUANTILE_SCALAR, Compute, |a| quantile(a, false)),
    one(SEARCHSORTED_SCALAR, Exact, searchsorted),
    one(SEARCHSORTED_TENSOR, Exact, searchsorted),
    many(SORT, Exact, |a| both(sorted(a, a.bool("descending")))),
    many(SORT_STABLE, Exact, |a| both(sorted(a, a.bool("descending")))),
    many(TOPK, Exact, topk),
];

fn both<'c>((values, positions): (Tensor<'c>, Tensor<'c>)) -> Vec<Tensor<'c>> {
    vec![values, positions]
}

fn zero_position<'c>(x: Tensor<'c>) -> Tensor<'c> {
    x.prim().full(DType::I64, Scalar::Int(0), &x.shape())
}

fn sorted<'c>(a: &Args<'c>, descending: bool) -> (Tensor<'c>, Tensor<'c>) {
    let x = a.tensor("self");
    if x.rank() == 0 {
        return (x, zero_position(x));
    }
    x.sort(a.dim("dim", x.rank()), descending)
}

fn topk<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let x = a.tensor("self");
    if x.rank() == 0 {
        return vec![x, zero_position(x)];
    }
    let (dim, k) = (a.dim("dim", x.rank()), a.size("k"));
    a.prim.require_at_most(k, x.size(dim), "the first {0} of {1} elements", &[k, x.size(dim)]);
    both(order_statistics(x, dim, a.prim.range(DType::I64, k), a.bool("largest")))
}

/// The elements that a sort along `dim` puts at places, which the last dimension of `places` counts, and where they are.
fn order_statistics<'c>(x: Tensor<'c>, dim: usize, places: Tensor<'c>, descending: bool) -> (Tensor<'c>, Tensor<'c>) {
    let last = x.rank() - 1;
    let lines = x.move_dim(dim, last);
    let places = places.broadcast_to(&[&lines.shape()[..last], &[places.size(places.rank() - 1)]].concat());
    let options: &[&str] = if descending { &["descending"] } else { &[] };
    let results = x.prim().library("order_statistics", options, &[lines, places], &[]);
    (results[0].move_dim(last, dim), results[1].move_dim(last, dim))
}

/// Runs a search along `dim` that drops the dimension, or keeps it with size 1.
fn on_dim<'c>(a: &Args<'c>, f: impl Fn(Tensor<'c>, usize) -> (Tensor<'c>, Tensor<'c>)) -> Vec<Tensor<'c>> {
    let x = a.tensor("self");
    if x.rank() == 0 {
        return vec![x, zero_position(x)];
    }
    let dim = a.dim("dim", x.rank());
    let (value, position) = f(x, dim);
    if a.bool("keepdim") { vec![value.unsqueeze(dim), position.unsqueeze(dim)] } else { vec![value, position] }
}

fn kthvalue<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let k = a.size("k");
    on_dim(a, |x, dim| {
        a.prim.require_at_most(k, x.size(dim), "element {0} of {1}", &[k, x.size(dim)]);
        a.prim.require_at_most(Size::Const(1), k, "element {0}, where the first is element 1", &[k]);
        let place = x.prim().size_tensor(DType::I64, k - 1).unsqueeze(0);
        let (value, position) = order_statistics(x, dim, place, false);
        (value.squeeze(&[dim]), position.squeeze(&[dim]))
    })
}

/// The lower median and where it is; with NaN among the elements it is NaN, unless those are ignored.
fn median<'c>(x: Tensor<'c>, dim: usize, ignore_nan: bool) -> (Tensor<'c>, Tensor<'c>) {
    if x.size(dim).known() == Some(0) {
        let empty = x.number(Scalar::Float(f64::NAN));
        return (empty, zero_position(empty));
    }
    x.prim().require_at_most(Size::Const(1), x.size(dim), "the median of {0} elements", &[x.size(dim)]);
    let numbers = (!x.is_nan()).convert(DType::I64).reduce("sum", &[dim], true);
    let size = x.prim().size_tensor(DType::I64, x.size(dim));
    let middle = if ignore_nan { ((numbers - 1).maximum(0)) / 2 } else { numbers.equal(size).select((numbers - 1) / 2, numbers) };
    let (value, position) = order_statistics(x, dim, middle.maximum(0).move_dim(dim, x.rank() - 1), false);
    (value.squeeze(&[dim]), position.squeeze(&[dim]))
}

/// The most frequent element, the smallest of several, and the last place where it is.
fn mode<'c>(x: Tensor<'c>, dim: usize) -> (Tensor<'c>, Tensor<'c>) {
    let (values, positions) = x.sort(dim, false);
    let last = values.rank();
    // How many equal ones stand before each element, itself included: the first that has most is the smallest of the most frequent.
    let line = values.move_dim(dim, last - 1);
    let place = line.prim().iota(DType::I64, &line.shape(), last - 1);
    let before = line.pad_dim(last - 1, Scalar::Int(0), 1, -1);
    let same = line.equal(before).and(place.greater(0));
    let begin = (!same).select(place, 0).scan("max", last - 1);
    let best = (place - begin).arg_reduce("max", last - 1).unsqueeze(last - 1);
    let value = gather_along(line, last - 1, best);
    let places = positions.move_dim(dim, last - 1);
    let at = line.equal(value).select(places, -1).reduce("max", &[last - 1], false);
    (value.squeeze(&[last - 1]), at)
}

/// Interpolated order statistics; one result per entry of q, in front.
fn quantile<'c>(a: &Args<'c>, ignore_nan: bool) -> Tensor<'c> {
    let (x, dtype) = (a.tensor("self"), a.tensor("self").dtype());
    let rank = x.rank();
    let (x, dim) = match a.opt_int("dim") {
        Some(dim) if rank > 0 => (x, a.wrap(dim, rank)),
        _ => (flat(x), 0),
    };
    let single = !a.is_tensor("q") || a.raw("q").rank() == 0;
    let q = a.as_type("q", dtype).reshape(&[if single { Size::Const(1) } else { a.raw("q").size(0) }]);
    a.prim.guard(q.greater_equal(0.0).and(q.less_equal(1.0)).reduce("and", &[0], false), "quantiles are from 0 to 1", &[]);
    a.prim.require_at_most(Size::Const(1), x.size(dim), "quantiles of {0} elements", &[x.size(dim)]);
    let last = x.rank() - 1;
    let line = x.move_dim(dim, last);
    let numbers = (!line.is_nan()).convert(dtype).reduce("sum", &[last], true);
    let count = a.prim.size_tensor(dtype, line.size(last));
    let span = if ignore_nan { (numbers - 1.0).maximum(0.0) } else { (count - 1.0).broadcast_to(&numbers.shape()) };
    let rank_at = q * span;
    let rank_at = if ignore_nan { rank_at } else { numbers.less(count).select(count - 1.0, rank_at) };
    let low = rank_at.floor();
    let rounded = match a.str("interpolation").as_str() {
        "lower" => low,
        "higher" => rank_at.ceil(),
        "nearest" => rank_at.round(),
        _ => rank_at,
    };
    let weight = match a.str("interpolation").as_str() {
        "midpoint" => (rank_at - low).greater(0.0).select(low.filled(Scalar::Float(0.5)), 0.0),
        _ => rounded - rounded.floor(),
    };
    let count = q.size(0);
    let places = a.prim.concat(&[rounded.floor(), rounded.ceil()], last).convert(DType::I64);
    let both = order_statistics(line, last, places, false).0;
    let (below, above) = (both.slice(last, 0, count, 1), both.slice(last, count, count, 1));
    let blended = weight.less(0.5).select(below + weight * (above - below), above - (above - below) * (-weight + 1.0));
    let result = below.equal(above).select(below, blended).move_dim(last, 0);
    let keep = a.bool("keepdim");
    let shape: Vec<_> = match (a.opt_int("dim"), keep) {
        (Some(_), true) if rank > 0 => {
            let mut shape = x.shape().to_vec();
            shape[dim] = Size::Const(1);
            shape
        }
        (None, true) => vec![Size::Const(1); rank],
        _ => result.shape()[1..].to_vec(),
    };
    if single { result.reshape(&shape) } else { result.reshape(&[&[result.size(0)], shape.as_slice()].concat()) }
}

/// Lines of so many elements are compared with each value whole, in vectors; longer ones are searched.
const COMPARED: i64 = 64;

/// How many elements of each sorted line come before a value: all smaller ones, or all not larger ones.
pub(super) fn places_in<'c>(sorted: Tensor<'c>, values: Tensor<'c>, right: bool) -> Tensor<'c> {
    match sorted.size(sorted.rank() - 1).known().filter(|&length| length > COMPARED) {
        Some(length) => search(sorted, values, right, length),
        None => {
            let last = values.rank();
            let line = if sorted.rank() == 1 { sorted } else { sorted.unsqueeze(sorted.rank() - 1) };
            comes_before(line, values.unsqueeze(last), right).convert(DType::I64).reduce("sum", &[last], false)
        }
    }
}

/// Whether an element comes before a value; NaN is larger than every number.
fn comes_before<'c>(element: Tensor<'c>, value: Tensor<'c>, right: bool) -> Tensor<'c> {
    if right {
        !value.less(element).or(element.is_nan().and(!value.is_nan()))
    } else {
        element.less(value).or(value.is_nan().and(!element.is_nan()))
    }
}

/// Binary search without branches: from half the line on, each step is half as long, and taken if the element that it ends at comes before.
fn search<'c>(sorted: Tensor<'c>, values: Tensor<'c>, right: bool, length: i64) -> Tensor<'c> {
    let element = |place: Tensor<'c>| match sorted.rank() {
        1 => sorted.gather(&[place], &[0]),
        rank => gather_along(sorted, rank - 1, place),
    };
    let mut place = values.prim().full(DType::I64, Scalar::Int(0), &values.shape());
    let mut step = 1i64 << length.ilog2();
    while step > 0 {
        let end = place + step;
        let before = comes_before(element((end - 1).minimum(length - 1)), values, right);
        place = before.and(end.less_equal(length)).select(end, place);
        step /= 2;
    }
    place
}

fn searchsorted<'c>(a: &Args<'c>) -> Tensor<'c> {
    let sequence = a.tensor("sorted_sequence");
    let sequence = match a.opt_tensor("sorter") {
        Some(sorter) => gather_along(sequence, sequence.rank() - 1, sorter),
        None => sequence,
    };
    let right = a.bool("right") || (a.has("side") && a.str("side") == "right");
    let dtype = a.promoted_dtype(&["sorted_sequence", "self"]);
    places_in(sequence.convert(dtype), a.as_type("self", dtype), right).convert(a.result_dtype(0))
}

fn bucketize<'c>(a: &Args<'c>) -> Tensor<'c> {
    let dtype = a.promoted_dtype(&["self", "boundaries"]);
    places_in(a.as_type("boundaries", dtype), a.as_type("self", dtype), a.bool("right")).convert(a.result_dtype(0))
}

/// Which integers of 8 bits are among others, by a table of all that there are.
fn in_table<'c>(x: Tensor<'c>, tests: Tensor<'c>) -> Tensor<'c> {
    const ALL: i64 = 1 << 8;
    let prim = x.prim();
    let place = |of: Tensor<'c>| of.convert(DType::I64) + if of.dtype() == DType::I8 { ALL / 2 } else { 0 };
    let table = prim.full(DType::Bool, Scalar::Bool(false), &[ALL.into()]);
    let there = prim.full(DType::Bool, Scalar::Bool(true), &tests.shape());
    table.scatter(there, &[place(tests)], &[0], "set").gather(&[place(x)], &[0])
}

fn isin<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (elements, tests) = if a.has("element") {
        ("element", "test_elements")
    } else {
        ("elements", if a.has("test_element") { "test_element" } else { "test_elements" })
    };
    let [x, tests] = a.promoted([elements, tests]);
    let (rank, tests) = (x.rank(), flat(tests));
    let length = tests.size(0).known();
    let is_long = length.is_none_or(|length| length > COMPARED);
    let long = length.filter(|_| is_long && !x.dtype().is_complex());
    let found = match long {
        _ if is_long && x.dtype().is_integral() && x.dtype().bits() <= 8 => in_table(x, tests),
        Some(length) => {
            let (tests, _) = tests.sort(0, false);
            tests.gather(&[places_in(tests, x, false).minimum(length - 1)], &[0]).equal(x)
        }
        None => x.unsqueeze(rank).equal(tests).reduce("or", &[rank], false),
    };
    if a.bool("invert") { !found } else { found }
}
