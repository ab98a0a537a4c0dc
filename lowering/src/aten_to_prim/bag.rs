//! Embedding bags: sums (mode 0), means (1) or maxima (2) of the rows that each bag names.

use strata_core::ir::Value;
use strata_dialects::aten::dtype::DType;
use strata_dialects::aten::op::*;
use strata_dialects::prim;
use strata_dialects::prim_builder::{Scalar, Segments, Size, Tensor};

use super::args::Args;
use super::index::{flat, positions};
use super::norm::vector_norm;
use super::rule::Precision::Compute;
use super::rule::{Rule, many, one};

pub(super) const RULES: &[Rule] = &[
    many(_EMBEDDING_BAG, Compute, |a| forward(a, named_padding(a))),
    one(_EMBEDDING_BAG_BACKWARD, Compute, backward),
    one(_EMBEDDING_BAG_DENSE_BACKWARD, Compute, backward),
    many(_EMBEDDING_BAG_FORWARD_ONLY, Compute, |a| forward(a, named_padding(a))),
    one(_EMBEDDING_BAG_PER_SAMPLE_WEIGHTS_BACKWARD, Compute, weights_backward),
    many(EMBEDDING_BAG, Compute, |a| forward(a, None)),
    many(EMBEDDING_BAG_PADDING_IDX, Compute, |a| forward(a, wrapped_padding(a))),
    one(EMBEDDING_RENORM, Compute, renorm),
];

const MEAN: i64 = 1;
const MAX: i64 = 2;

/// The padding row of operators that know -1 as none.
fn named_padding<'c>(a: &Args<'c>) -> Option<Size<'c>> {
    Some(a.int("padding_idx")).filter(|row| *row >= 0).map(Size::Const)
}

/// The padding row of the operator that counts it from the end when negative.
fn wrapped_padding<'c>(a: &Args<'c>) -> Option<Size<'c>> {
    let row = a.opt_int("padding_idx")?;
    Some(if row < 0 { a.raw("weight").size(0) + row } else { Size::Const(row) })
}

/// Whether the last offset is where the last bag ends, and begins none.
fn ends_last_bag(a: &Args<'_>) -> bool {
    a.has("include_last_offset") && a.bool("include_last_offset")
}

/// The number of bags, and the bag of each index: the last one that begins at it or before.
fn bags<'c>(a: &Args<'c>, indices: Tensor<'c>) -> (Size<'c>, Tensor<'c>) {
    if let Some((count, length)) = length_of_bags(a, indices) {
        let owner = a.prim.iota(DType::I64, &[count.into(), length.into()], 0);
        return (count.into(), flat(owner));
    }
    let offsets = positions(a.raw("offsets"));
    let last = ends_last_bag(a);
    let count = if last { offsets.size(0) - 1 } else { offsets.size(0) };
    let n = indices.size(0);
    let first = a.prim.range(DType::I64, offsets.size(0)).not_equal(0).or(offsets.equal(0));
    let ordered = offsets.scan("max", 0).equal(offsets);
    let ends = offsets.less_equal(a.prim.size_tensor(DType::I64, n));
    let sound = first.and(ordered).and(ends).reduce("and", &[0], false);
    a.prim.guard(sound, "embedding_bag: offsets begin at 0, never go back, and are at most the number of indices, {0}", &[n]);
    // (A bag that is empty and last begins behind the last index.)
    let begin =
        zeros(offsets, &[n + 1]).scatter(a.prim.full(DType::I64, Scalar::Int(1), &[count]), &[offsets.slice(0, 0, count, 1)], &[0], "add");
    (count, begin.slice(0, 0, n, 1).scan("sum", 0) - 1)
}

/// How many indices each bag has, where the offsets count by one number: PyTorch's indices of two dimensions.
fn length_of_bags(a: &Args<'_>, indices: Tensor<'_>) -> Option<(i64, i64)> {
    let offsets = a.raw("offsets");
    let step = match offsets.value().defining_op()? {
        op if op.isa::<prim::Iota>() => 1,
        op if op.isa::<prim::Mul>() && op.operand(0).defining_op()?.isa::<prim::Iota>() => splat_number(op.operand(1))?,
        _ => return None,
    };
    let (count, n) = (offsets.size(0).known()?, indices.size(0).known()?);
    let last = ends_last_bag(a);
    (!last && step > 0 && count.checked_mul(step)? == n).then_some((count, step))
}

/// The integer that every element of a tensor is, where a constant says so.
fn splat_number(value: Value<'_>) -> Option<i64> {
    let op = value.defining_op()?;
    if op.isa::<prim::Broadcast>() {
        return splat_number(op.operand(0));
    }
    let (bytes, splat) = op.attr("value").filter(|_| op.isa::<prim::Constant>())?.as_dense()?;
    let single = splat || value.ty().num_elements() == Some(1);
    let bytes = bytes.first_chunk::<8>().filter(|_| single && value.ty().element_type() == Some(DType::I64))?;
    Some(i64::from_le_bytes(*bytes))
}

/// Whether PyTorch sums bags in blocks where no row is padding, and not row by row.
fn sums_in_blocks(mode: i64, rows: Tensor<'_>) -> bool {
    mode != MAX && rows.dtype() != DType::F64
}

/// The bags as segments of the indices. What lies behind an offset that ends the last bag is in none where PyTorch sums in blocks, and in the last
/// bag where it takes row by row.
fn segments<'c>(a: &Args<'c>, indices: Tensor<'c>, count: Size<'c>, padded: bool) -> Segments<'c> {
    let offsets = positions(a.raw("offsets"));
    let ended = ends_last_bag(a) && !padded && sums_in_blocks(a.int("mode"), a.raw("weight"));
    let ends = match ended {
        true => offsets.slice(0, 1, count, 1),
        false => a.prim.concat(&[offsets.slice(0, 1, count - 1, 1), a.prim.size_tensor(offsets.dtype(), indices.size(0)).unsqueeze(0)], 0),
    };
    Segments { begins: offsets.slice(0, 0, count, 1), ends }
}

fn zeros<'c>(like: Tensor<'c>, shape: &[Size<'c>]) -> Tensor<'c> {
    like.prim().full(like.dtype(), Scalar::Int(0), shape)
}

fn forward<'c>(a: &Args<'c>, padding: Option<Size<'c>>) -> Vec<Tensor<'c>> {
    let (table, indices, mode) = (a.tensor("weight"), flat(positions(a.raw("indices"))), a.int("mode"));
    let (count, owner) = bags(a, indices);
    let used = padding.map(|row| indices.not_equal(row));
    let segments = |padded: bool| segments(a, indices, count, padded);
    let in_bags = |x: Tensor<'c>, length: i64| x.reshape(&[count, length.into()]);
    // Bags of one length are reductions, which need no bounds.
    let regular = length_of_bags(a, indices).map(|(_, length)| length);
    let combined = |kind: &str, other: f64| {
        let rows = |of: &dyn Fn(Tensor<'c>) -> Tensor<'c>| {
            let rows = table.gather(&[of(indices)], &[0]);
            let last = rows.rank() - 1;
            let rows = a.opt_tensor("per_sample_weights").map_or(rows, |w| rows * of(flat(w)).unsqueeze(last));
            used.map_or(rows, |used| of(used).unsqueeze(last).select(rows, other))
        };
        match regular {
            Some(length) => rows(&|x| in_bags(x, length)).reduce(kind, &[1], false),
            None => segments(padding.is_some()).reduce(rows(&|x| x), kind),
        }
    };
    let sizes = match (used, regular) {
        (Some(used), Some(length)) => in_bags(used.convert(DType::I64), length).reduce("sum", &[1], false),
        (Some(used), None) => segments(true).reduce(used.convert(DType::I64), "sum"),
        (None, Some(length)) => a.prim.full(DType::I64, Scalar::Int(length), &[count]),
        // (PyTorch counts what lies behind the last bag as a part of it, even where it does not add it up.)
        (None, None) => segments(true).lengths(),
    };
    let (value, best) = if mode == MAX {
        let top = combined("max", f64::NEG_INFINITY);
        let rows = table.gather(&[indices], &[0]);
        let hit = rows.equal(top.gather(&[owner], &[0]));
        let hit = used.map_or(hit, |used| hit.and(used.unsqueeze(1)));
        (top.fill_where(sizes.equal(0).unsqueeze(1), 0.0), first_of(a, hit, indices, owner, count))
    } else {
        let sum = combined("sum", 0.0);
        let mean = sum / sizes.maximum(1).convert(sum.dtype()).unsqueeze(1);
        (if mode == MEAN { mean } else { sum }, sizes)
    };
    // PyTorch counts what is in a bag where the gradient asks for it, and gives that again for the maxima that there are none of.
    let (sizes, best) = match mode {
        MEAN => (sizes, sizes),
        MAX => (sizes, best),
        _ => (zeros(sizes, &[count]), zeros(sizes, &[count])),
    };
    let declared = |index: usize, t: Tensor<'c>| fitted(a, index, t);
    vec![value, declared(1, owner), declared(2, sizes), declared(3, best)]
}

/// In each bag and column the row of the table that is read first where `hit` holds; 0 if none is.
fn first_of<'c>(a: &Args<'c>, hit: Tensor<'c>, indices: Tensor<'c>, owner: Tensor<'c>, count: Size<'c>) -> Tensor<'c> {
    let n = indices.size(0);
    let place = hit.select(a.prim.iota(DType::I64, &hit.shape(), 0), n);
    let none = a.prim.size_tensor(DType::I64, n).broadcast_to(&[count, hit.size(1)]);
    let first = none.scatter(place, &[owner], &[0], "min");
    let padded = indices.pad_dim(0, Scalar::Int(0), 0, 1);
    padded.gather(&[first], &[0])
}

/// What only the gradient reads has the declared length, whether or not its end means something.
fn fitted<'c>(a: &Args<'c>, index: usize, t: Tensor<'c>) -> Tensor<'c> {
    let declared = a.result_sizes(index);
    let [Some(want)] = declared[..] else { return t };
    let t = if t.rank() == 1 { t } else { flat(t) };
    match t.size(0) {
        Size::Const(have) if have < want => t.pad_dim(0, Scalar::Int(0), 0, want - have),
        Size::Const(have) if have > want => t.slice(0, 0, want, 1),
        _ => t,
    }
}

/// Adds the gradients of bags to the rows that they were made of.
fn backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (grad, indices, mode) = (a.tensor("grad"), flat(positions(a.raw("indices"))), a.int("mode"));
    let rows = a.size("num_weights");
    let table = zeros(grad, &[rows, grad.size(1)]);
    if mode == MAX {
        let best = positions(a.raw("maximum_indices"));
        let none = positions(a.raw("bag_size")).slice(0, 0, grad.size(0), 1).equal(0).unsqueeze(1);
        let column = a.prim.iota(DType::I64, &best.shape(), 1);
        return table.scatter(none.select(grad.number(Scalar::Int(0)), grad), &[best.maximum(0), column], &[0, 1], "add");
    }
    let owner = if a.has("offsets") { bags(a, indices).1 } else { positions(a.raw("offset2bag")) };
    // With an offset more than there are bags, what lies behind the last one is in the last bag, or in none, as in `segments`.
    let ends = a.has("offsets") && !a.raw("offsets").size(0).same(grad.size(0));
    let count = |less: i64| a.prim.size_tensor(DType::I64, grad.size(0) - less);
    let behind = (ends && sums_in_blocks(mode, grad) && named_padding(a).is_none()).then(|| owner.greater_equal(count(0)));
    let owner = if ends { owner.minimum(count(1)) } else { owner };
    let share = if mode == MEAN {
        let sizes = positions(a.raw("bag_size")).slice(0, 0, grad.size(0), 1);
        grad / sizes.maximum(1).convert(grad.dtype()).unsqueeze(1)
    } else {
        grad
    };
    let mut parts = share.gather(&[owner], &[0]);
    if let Some(weights) = a.opt_tensor("per_sample_weights") {
        parts = parts * weights.unsqueeze(1);
    }
    if let Some(row) = named_padding(a) {
        parts = parts.fill_where(indices.equal(row).unsqueeze(1), 0.0);
    }
    if let Some(behind) = behind {
        parts = parts.fill_where(behind.unsqueeze(1), 0.0);
    }
    if a.bool("scale_grad_by_freq") {
        let ones = a.prim.full(grad.dtype(), Scalar::Int(1), &indices.shape());
        let uses = zeros(grad, &[rows]).scatter(ones, &[indices], &[0], "add");
        parts = parts / uses.gather(&[indices], &[0]).unsqueeze(1);
    }
    table.scatter(parts, &[indices], &[0], "add")
}

fn weights_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (grad, table, indices) = (a.tensor("grad"), a.tensor("weight"), flat(positions(a.raw("indices"))));
    let owner = bags(a, indices).1;
    let value = (grad.gather(&[owner], &[0]) * table.gather(&[indices], &[0])).reduce("sum", &[1], false);
    named_padding(a).map_or(value, |row| value.fill_where(indices.equal(row), 0.0))
}

/// Scales down the rows that are read and whose norm is above `max_norm`.
fn renorm<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (table, indices, limit) = (a.tensor("self"), flat(positions(a.raw("indices"))), a.float("max_norm"));
    let [none, all] =
        [(false, [table.size(0)]), (true, [indices.size(0)])].map(|(read, rows)| a.prim.full(DType::Bool, Scalar::Bool(read), &rows));
    let read = none.scatter(all, &[indices], &[0], "set").unsqueeze(1);
    let norm = vector_norm(table, a.float("norm_type"), Some(&[1]), true);
    let long = read.and(norm.greater(limit));
    table * long.select((norm + 1e-7).reciprocal() * limit, 1.0)
}
