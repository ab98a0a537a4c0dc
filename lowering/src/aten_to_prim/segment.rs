//! Reductions of the segments of a dimension, whose bounds tensors hold.

use strata_dialects::aten::dtype::DType;
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Segments, Tensor};

use super::args::Args;
use super::index::positions;
use super::rule::Precision::Compute;
use super::rule::{Rule, one};

pub(super) const RULES: &[Rule] = &[one(_SEGMENT_REDUCE_BACKWARD, Compute, backward), one(SEGMENT_REDUCE, Compute, forward)];

/// The segments of a dimension, as the arguments tell them.
fn segments<'c>(a: &Args<'c>, axis: usize) -> Segments<'c> {
    if a.opt_tensor("lengths").is_some() {
        let lengths = positions(a.raw("lengths"));
        let ends = lengths.scan("sum", axis);
        return Segments { begins: ends - lengths, ends };
    }
    let offsets = positions(a.raw("offsets"));
    let count = offsets.size(axis) - 1;
    Segments { begins: offsets.slice(axis, 0, count, 1), ends: offsets.slice(axis, 1, count, 1) }
}

/// Which segment has which element: dimensions up to the axis, segments, elements.
fn member<'c>(segments: &Segments<'c>, data: Tensor<'c>) -> Tensor<'c> {
    let axis = segments.axis();
    let place = data.prim().range(DType::I64, data.size(axis));
    let (begins, ends) = (segments.begins.unsqueeze(axis + 1), segments.ends.unsqueeze(axis + 1));
    begins.less_equal(place).and(ends.greater(place))
}

/// Elements of each segment, beside its values.
fn count<'c>(segments: &Segments<'c>, like: Tensor<'c>) -> Tensor<'c> {
    segments.lengths().convert(like.dtype()).unsqueeze_to(like.rank())
}

fn forward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let data = a.tensor("data");
    let segments = segments(a, a.dim("axis", data.rank()));
    let initial = a.opt_scalar("initial").map(|v| data.number(v));
    let start = |default: f64| data.number(Scalar::Float(default));
    match a.str("reduce").as_str() {
        "prod" => segments.reduce(data, "prod") * initial.unwrap_or(start(1.0)),
        "max" => segments.reduce(data, "max").maximum(initial.unwrap_or(start(f64::NEG_INFINITY))),
        "min" => segments.reduce(data, "min").minimum(initial.unwrap_or(start(f64::INFINITY))),
        "mean" => {
            let (sum, count) = (segments.reduce(data, "sum"), count(&segments, data));
            let empty = initial.unwrap_or(start(f64::NAN));
            count.equal(0.0).select(empty, (sum + initial.unwrap_or(start(0.0))) / count)
        }
        _ => segments.reduce(data, "sum") + initial.unwrap_or(start(0.0)),
    }
}

fn backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (grad, output, data) = (a.tensor("grad"), a.tensor("output"), a.tensor("data"));
    let axis = a.dim("axis", data.rank());
    let segments = segments(a, axis);
    let owners = segments.owners(data.size(axis));
    match a.str("reduce").as_str() {
        "sum" => owners.spread(grad),
        "mean" => owners.spread(grad / count(&segments, data).maximum(1.0)),
        "prod" => {
            // The product of the others of the segment, which is not `output / data` where data is 0.
            let member = member(&segments, data);
            let together = member.unsqueeze(axis + 2).and(member.unsqueeze(axis + 1)).reduce("or", &[axis], false);
            let place = |dim| a.prim.iota(DType::I64, &together.shape(), dim);
            let others = together.and(place(axis).not_equal(place(axis + 1))).unsqueeze_to(data.rank() + 1);
            let product = others.select(data.unsqueeze(axis), 1.0).reduce("prod", &[axis + 1], false);
            let scaled = a.opt_scalar("initial").map_or(grad, |v| grad * v);
            owners.spread(scaled) * product
        }
        // The extremum's gradient is shared by all elements that are it.
        _ => {
            let hit = data.equal(owners.spread(output)).or(owners.spread(output.is_nan().convert(data.dtype())).greater(0.0));
            let hits = segments.reduce(hit.convert(data.dtype()), "sum");
            hit.select(owners.spread(grad / hits.maximum(1.0)), 0.0)
        }
    }
}
