//! Reductions of the segments of a dimension, whose bounds tensors hold.

use strata_dialects::aten::dtype::DType;
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Tensor};

use super::args::Args;
use super::index::positions;
use super::rule::Precision::Compute;
use super::rule::{Rule, one};
use super::scatter::{greatest, least};

pub(super) const RULES: &[Rule] = &[one(_SEGMENT_REDUCE_BACKWARD, Compute, backward), one(SEGMENT_REDUCE, Compute, forward)];

/// The segments of `data`'s dimension `axis`.
struct Segments<'c> {
    axis: usize,
    /// Which segment has which element: dimensions up to the axis, segments, elements.
    member: Tensor<'c>,
}

impl<'c> Segments<'c> {
    fn new(a: &Args<'c>, data: Tensor<'c>) -> Segments<'c> {
        let axis = a.dim("axis", data.rank());
        let (starts, ends) = match a.opt_tensor("lengths") {
            Some(_) => {
                let lengths = positions(a.raw("lengths"));
                let ends = lengths.scan("sum", axis);
                (ends - lengths, ends)
            }
            None => {
                let offsets = positions(a.raw("offsets"));
                let count = offsets.size(axis) - 1;
                (offsets.slice(axis, 0, count, 1), offsets.slice(axis, 1, count, 1))
            }
        };
        let place = a.prim.range(DType::I64, data.size(axis));
        let (starts, ends) = (starts.unsqueeze(axis + 1), ends.unsqueeze(axis + 1));
        Segments { axis, member: starts.less_equal(place).and(ends.greater(place)) }
    }

    /// The membership beside tensors with segments and elements where `data` has its axis.
    fn member(&self, rank: usize) -> Tensor<'c> {
        self.member.unsqueeze_to(rank + 1)
    }

    /// Combines the elements of each segment.
    fn reduce(&self, data: Tensor<'c>, kind: &str, start: Tensor<'c>) -> Tensor<'c> {
        self.member(data.rank()).select(data.unsqueeze(self.axis), start).reduce(kind, &[self.axis + 1], false)
    }

    /// The value of each element's segment; 0 outside of all.
    fn spread(&self, values: Tensor<'c>) -> Tensor<'c> {
        self.member(values.rank()).select(values.unsqueeze(self.axis + 1), 0.0).reduce("sum", &[self.axis], false)
    }

    fn count(&self, like: Tensor<'c>) -> Tensor<'c> {
        let count = self.member.convert(like.dtype()).reduce("sum", &[self.axis + 1], false);
        count.unsqueeze_to(like.rank())
    }
}

fn forward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let data = a.tensor("data");
    let segments = Segments::new(a, data);
    let initial = a.opt_scalar("initial").map(|v| data.number(v));
    let start = |default: f64| data.number(Scalar::Float(default));
    match a.str("reduce").as_str() {
        "prod" => segments.reduce(data, "prod", start(1.0)) * initial.unwrap_or(start(1.0)),
        "max" => segments.reduce(data, "max", data.number(least(data.dtype()))).maximum(initial.unwrap_or(start(f64::NEG_INFINITY))),
        "min" => segments.reduce(data, "min", data.number(greatest(data.dtype()))).minimum(initial.unwrap_or(start(f64::INFINITY))),
        "mean" => {
            let (sum, count) = (segments.reduce(data, "sum", start(0.0)), segments.count(data));
            let empty = initial.unwrap_or(start(f64::NAN));
            count.equal(0.0).select(empty, (sum + initial.unwrap_or(start(0.0))) / count)
        }
        _ => segments.reduce(data, "sum", start(0.0)) + initial.unwrap_or(start(0.0)),
    }
}

fn backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (grad, output, data) = (a.tensor("grad"), a.tensor("output"), a.tensor("data"));
    let segments = Segments::new(a, data);
    match a.str("reduce").as_str() {
        "sum" => segments.spread(grad),
        "mean" => segments.spread(grad / segments.count(data).maximum(1.0)),
        "prod" => {
            // The product of the others of the segment, which is not `output / data` where data is 0.
            let (axis, member) = (segments.axis, segments.member);
            let together = member.unsqueeze(axis + 2).and(member.unsqueeze(axis + 1)).reduce("or", &[axis], false);
            let place = |dim| a.prim.iota(DType::I64, &together.shape(), dim);
            let others = together.and(place(axis).not_equal(place(axis + 1))).unsqueeze_to(data.rank() + 1);
            let product = others.select(data.unsqueeze(axis), 1.0).reduce("prod", &[axis + 1], false);
            let scaled = a.opt_scalar("initial").map_or(grad, |v| grad * v);
            segments.spread(scaled) * product
        }
        // The extremum's gradient is shared by all elements that are it.
        _ => {
            let hit = data.equal(segments.spread(output)).or(segments.spread(output.is_nan().convert(data.dtype())).greater(0.0));
            let hits = segments.reduce(hit.convert(data.dtype()), "sum", data.number(Scalar::Float(0.0)));
            hit.select(segments.spread(grad / hits.maximum(1.0)), 0.0)
        }
    }
}
