//! Writing at positions that tensors hold.

use strata_dialects::aten::dtype::{DType, Numeric};
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Size, Tensor, coordinates, product};

use super::args::Args;
use super::compare::truth;
use super::index::{flat, inside, positions, selection, unravelled, wrapped};
use super::pointwise::floor_div;
use super::rule::Precision::{Compute, Exact};
use super::rule::{Rule, one};

pub(super) const RULES: &[Rule] = &[
    one(_INDEX_PUT_IMPL, Exact, index_put),
    one(_UNSAFE_INDEX_PUT, Exact, index_put),
    one(_UNSAFE_MASKED_INDEX_PUT_ACCUMULATE, Exact, masked_index_put),
    one(AS_STRIDED_SCATTER, Exact, as_strided_scatter),
    one(EMBEDDING_BACKWARD, Compute, embedding_backward),
    one(EMBEDDING_DENSE_BACKWARD, Compute, embedding_backward),
    one(INDEX_ADD, Exact, index_add),
    one(INDEX_COPY, Exact, |a| along(a, a.tensor("source"), "set")),
    one(INDEX_FILL_INT_SCALAR, Exact, index_fill),
    one(INDEX_FILL_INT_TENSOR, Exact, index_fill),
    one(INDEX_PUT, Exact, index_put),
    one(INDEX_REDUCE, Exact, index_reduce),
    one(MASKED_SCATTER, Exact, masked_scatter),
    one(MASKED_SCATTER_BACKWARD, Exact, masked_scatter_backward),
    one(PUT, Exact, put),
    one(SCATTER_REDUCE, Exact, scatter),
    one(SCATTER_SRC, Exact, scatter),
    one(SCATTER_VALUE, Exact, scatter),
    one(SCATTER_VALUE_REDUCE, Exact, scatter),
    one(SCATTER_ADD, Exact, |a| elementwise(a, "add")),
    one(SCATTER_REDUCE_TWO, Exact, scatter_reduce),
];

/// x, positions and updates with at least one dimension.
fn raised<'c>(tensors: [Tensor<'c>; 3]) -> [Tensor<'c>; 3] {
    tensors.map(|t| if t.rank() == 0 { t.unsqueeze(0) } else { t })
}

/// The updates of a scatter: the part of `src` that `index` covers, or a number.
fn updates<'c>(a: &Args<'c>, x: Tensor<'c>, index: Tensor<'c>) -> Tensor<'c> {
    if a.has("value") {
        return a.prim.full(x.dtype(), a.scalar("value"), &index.shape());
    }
    let src = a.tensor("src");
    if src.rank() != index.rank() {
        // A tensor of rank 0 counts as one of rank 1.
        return flat(src).slice(0, 0, index.numel(), 1).reshape(&index.shape());
    }
    if index.numel().known() == Some(0) {
        return a.prim.full(src.dtype(), Scalar::Int(0), &index.shape());
    }
    src.slice_all(&vec![Size::Const(0); src.rank()], &index.shape(), &vec![1; src.rank()])
}

/// Each element of the updates goes to the position of its own that `index` says for dimension `dim`.
fn elementwise<'c>(a: &Args<'c>, kind: &str) -> Tensor<'c> {
    let (x, index) = (a.tensor("self"), positions(a.raw("index")));
    let dim = a.dim("dim", x.rank());
    let updates = updates(a, x, index);
    in_wide(x, updates, |x, updates| put_elements(x, dim, index, updates, kind))
}

/// What meets in halves is combined in f32 and rounded once.
fn in_wide<'c>(x: Tensor<'c>, updates: Tensor<'c>, put: impl FnOnce(Tensor<'c>, Tensor<'c>) -> Tensor<'c>) -> Tensor<'c> {
    let wide = x.dtype().compute();
    put(x.convert(wide), updates.convert(wide)).convert(x.dtype())
}

fn put_elements<'c>(x: Tensor<'c>, dim: usize, index: Tensor<'c>, updates: Tensor<'c>, kind: &str) -> Tensor<'c> {
    if index.numel().known() == Some(0) {
        return x;
    }
    let [wide, index, updates] = raised([x, index, updates]);
    wide.scatter(updates, &coordinates(index, dim), &wide.all_dims(), kind).reshape(&x.shape())
}

fn scatter<'c>(a: &Args<'c>) -> Tensor<'c> {
    let reduce = if a.has("reduce") { a.str("reduce") } else { String::new() };
    match reduce.as_str() {
        "add" => elementwise(a, "add"),
        "multiply" => elementwise(a, "mul"),
        _ => elementwise(a, "set"),
    }
}

/// Combines what is at a position with all updates of that position.
fn combine<'c>(a: &Args<'c>, x: Tensor<'c>, updates: Tensor<'c>, put: impl Fn(Tensor<'c>, Tensor<'c>, &str) -> Tensor<'c>) -> Tensor<'c> {
    let reduce = a.str("reduce");
    let dtype = x.dtype();
    let (kind, start) = match reduce.as_str() {
        "sum" | "mean" => ("add", Scalar::Int(0)),
        "prod" => ("mul", Scalar::Int(1)),
        "amax" => ("max", least(dtype)),
        "amin" => ("min", greatest(dtype)),
        other => {
            a.fail(format!("unknown reduction `{other}`"));
            ("add", Scalar::Int(0))
        }
    };
    let include = a.bool("include_self");
    let base = if include { x } else { put(x, updates.filled(start), "set") };
    let combined = put(base, updates, kind);
    if reduce != "mean" {
        return combined;
    }
    let ones = |t: Tensor<'c>, n: i64| t.filled(Scalar::Int(n));
    let counts = put(ones(x, i64::from(include)), ones(updates, 1), "add");
    let counts = counts.fill_where(counts.equal(0), 1);
    if dtype.is_integral() { floor_div(combined, counts) } else { combined / counts }
}

/// The number below all others of a type.
pub(super) fn least<'c>(dtype: DType) -> Scalar<'c> {
    match dtype {
        DType::Bool => Scalar::Bool(false),
        dtype if dtype.is_unsigned() => Scalar::Int(0),
        dtype if dtype.is_signed() => Scalar::Int(-1i64 << (dtype.bits() - 1)),
        _ => Scalar::Float(f64::NEG_INFINITY),
    }
}

/// The number above all others of a type.
pub(super) fn greatest<'c>(dtype: DType) -> Scalar<'c> {
    match dtype {
        DType::Bool => Scalar::Bool(true),
        DType::U64 => Scalar::Int(-1),
        dtype if dtype.is_unsigned() => Scalar::Int((1i64 << dtype.bits()) - 1),
        dtype if dtype.is_signed() => Scalar::Int(!(-1i64 << (dtype.bits() - 1))),
        _ => Scalar::Float(f64::INFINITY),
    }
}

fn scatter_reduce<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, index) = (a.tensor("self"), positions(a.raw("index")));
    let dim = a.dim("dim", x.rank());
    in_wide(x, updates(a, x, index), |x, updates| combine(a, x, updates, |x, updates, kind| put_elements(x, dim, index, updates, kind)))
}

// Whole slices: the index is a vector over dimension `dim`.

fn put_slices<'c>(x: Tensor<'c>, dim: usize, index: Tensor<'c>, updates: Tensor<'c>, kind: &str) -> Tensor<'c> {
    let [wide, index, updates] = raised([x, index, updates]);
    wide.scatter(updates.move_dim(dim, 0), &[index], &[dim], kind).reshape(&x.shape())
}

fn along<'c>(a: &Args<'c>, source: Tensor<'c>, kind: &str) -> Tensor<'c> {
    let (x, index) = (a.tensor("self"), positions(a.raw("index")));
    let dim = a.dim("dim", x.rank());
    let source = source.convert(x.dtype());
    // PyTorch rounds each sum of a vector.
    match kind {
        "add" if x.rank() > 1 => in_wide(x, source, |x, source| put_slices(x, dim, index, source, kind)),
        _ => put_slices(x, dim, index, source, kind),
    }
}

fn index_add<'c>(a: &Args<'c>) -> Tensor<'c> {
    let source = a.tensor("source");
    let alpha = a.scalar("alpha");
    if source.dtype() == DType::Bool {
        return along(a, source.and(source.number(alpha)), "max");
    }
    let scaled = if alpha == Scalar::Int(1) { source } else { source * alpha };
    along(a, scaled, "add")
}

fn index_fill<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, index) = (a.tensor("self"), positions(a.raw("index")));
    let dim = a.dim("dim", x.rank());
    let [wide, index, _] = raised([x, index, x]);
    let index = wrapped(index, wide.size(dim));
    let mut shape = wide.shape().to_vec();
    shape[dim] = index.size(0);
    put_slices(x, dim, index, a.as_type("value", x.dtype()).broadcast_to(&shape), "set")
}

fn index_reduce<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, index) = (a.tensor("self"), positions(a.raw("index")));
    let dim = a.dim("dim", x.rank());
    combine(a, x, a.tensor("source"), |x, updates, kind| put_slices(x, dim, index, updates, kind))
}

// Indexing as Python writes it.

fn index_put<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let kind = if a.bool("accumulate") { "add" } else { "set" };
    put_at(a, x, &a.opt_tensors("indices"), a.tensor("values").convert(x.dtype()), kind)
}

fn put_at<'c>(a: &Args<'c>, x: Tensor<'c>, indices: &[Option<Tensor<'c>>], values: Tensor<'c>, kind: &str) -> Tensor<'c> {
    if indices.iter().all(Option::is_none) {
        let values = values.broadcast_to(&x.shape());
        return if kind == "add" { x + values } else { values };
    }
    let selection = selection(a, x, indices);
    let values = without_lead(values, selection.shape(x).len()).broadcast_to(&selection.shape(x));
    x.scatter(selection.leading(values), &selection.indices, &selection.dims, kind)
}

/// Drops leading dimensions of size 1 beyond `rank`.
fn without_lead(x: Tensor<'_>, rank: usize) -> Tensor<'_> {
    x.squeeze(&(0..x.rank().saturating_sub(rank)).collect::<Vec<_>>())
}

fn masked_index_put<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, mask) = (a.tensor("self"), truth(a.raw("mask")));
    if x.numel().known() == Some(0) {
        return x;
    }
    let indices = a.opt_tensors("indices");
    let safe: Vec<_> = indices.iter().enumerate().map(|(d, i)| i.map(|i| inside(i, x.size(d)))).collect();
    let values = a.tensor("values").fill_where(!mask, 0);
    put_at(a, x, &safe, values, "add")
}

fn put<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let kind = if a.bool("accumulate") { "add" } else { "set" };
    let index = flat(wrapped(a.raw("index"), x.numel()));
    if x.rank() == 0 {
        return flat(x).scatter(flat(a.tensor("source")), &[index], &[0], kind).reshape(&[]);
    }
    // The place in each dimension, so that these may lie in any order.
    x.scatter(flat(a.tensor("source")), &unravelled(index, &x.shape()), &x.all_dims(), kind)
}

pub(super) fn as_strided_scatter<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let at = super::index::strided_positions(a);
    let source = a.as_type("src", x.dtype()).broadcast_to(&at.shape());
    flat(x).scatter(source, &[at], &[0], "set").reshape(&x.shape())
}

/// The true elements of the mask take the elements of the source in order.
fn masked_scatter<'c>(a: &Args<'c>) -> Tensor<'c> {
    let [x, mask] = a.prim.broadcast([a.tensor("self"), truth(a.tensor("mask"))]);
    let source = flat(a.tensor("source"));
    let rank = (flat(mask).convert(DType::I64).scan("sum", 0) - 1).maximum(0).minimum(source.size(0) - 1);
    mask.select(source.gather(&[rank], &[0]).reshape(&x.shape()), x)
}

fn masked_scatter_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let [grad, mask] = a.prim.broadcast([a.tensor("grad_output"), truth(a.raw("mask"))]);
    let (grad, mask, shape) = (flat(grad), flat(mask), a.sizes("sizes"));
    let count = product(&shape);
    let rank = mask.convert(DType::I64).scan("sum", 0) - 1;
    let target = mask.select(rank, count).minimum(count);
    let zeros = a.prim.full(grad.dtype(), Scalar::Int(0), &[count + 1]);
    zeros.scatter(grad, &[target], &[0], "set").slice(0, 0, count, 1).reshape(&shape)
}

/// Adds the gradients of all uses of a row; the padding row gets none.
fn embedding_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (grad, index, rows) =
        (a.tensor(if a.has("grad") { "grad" } else { "grad_output" }), positions(a.raw("indices")), a.size("num_weights"));
    let (index, width) = (flat(index), grad.shape().last().copied().unwrap_or(Size::Const(1)));
    let grad = grad.reshape(&[index.size(0), width]);
    let grad = grad.fill_where(index.equal(a.int("padding_idx")).unsqueeze(1), 0);
    let grad = if a.bool("scale_grad_by_freq") {
        let ones = a.prim.full(grad.dtype(), Scalar::Int(1), &index.shape());
        let uses = a.prim.full(grad.dtype(), Scalar::Int(0), &[rows]).scatter(ones, &[index], &[0], "add");
        grad / uses.gather(&[index], &[0]).unsqueeze(1)
    } else {
        grad
    };
    a.prim.full(grad.dtype(), Scalar::Int(0), &[rows, width]).scatter(grad, &[index], &[0], "add")
}
