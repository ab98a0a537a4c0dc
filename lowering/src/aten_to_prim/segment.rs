//! Reductions of the segments of a dimension, whose bounds tensors hold.

use strata_dialects::aten::dtype::DType;
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Tensor, coordinates};

use super::args::Args;
use super::index::positions;
use super::rule::Precision::Compute;
use super::rule::{Rule, one};
use super::scatter::{greatest, least};

pub(super) const RULES: &[Rule] = &[one(_SEGMENT_REDUCE_BACKWARD, Compute, backward), one(SEGMENT_REDUCE, Compute, forward)];

/// The segments of `data`'s dimension `axis`, one behind the other.
struct Segments<'c> {
    axis: usize,
    /// Where segments begin and end: dimensions up to the axis, then segments.
    starts: Tensor<'c>,
    ends: Tensor<'c>,
    /// The segment of each element, and whether it is in any: dimensions up to the axis, then elements.
    owner: Tensor<'c>,
    owned: Tensor<'c>,
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
        // An element belongs to the last segment that begins at it or before, if that does not end before it.
        let n = data.size(axis);
        let passed = |bounds: Tensor<'c>| {
            let mut shape = bounds.shape().to_vec();
            shape[axis] = n + 1;
            let marks = a.prim.full(DType::I64, Scalar::Int(0), &shape);
            let at = bounds.minimum(a.prim.size_tensor(DType::I64, n));
            let marks = marks.scatter(bounds.filled(Scalar::Int(1)), &coordinates(at, axis), &marks.all_dims(), "add");
            marks.slice(axis, 0, n, 1).scan("sum", axis)
        };
        let (begun, ended) = (passed(starts), passed(ends));
        let owner = (begun - 1).maximum(0);
        Segments { axis, starts, ends, owner, owned: begun.greater(ended) }
    }

    /// Which segment has which element: dimensions up to the axis, segments, elements.
    fn member(&self, data: Tensor<'c>) -> Tensor<'c> {
        let place = data.prim().range(DType::I64, data.size(self.axis));
        let (starts, ends) = (self.starts.unsqueeze(self.axis + 1), self.ends.unsqueeze(self.axis + 1));
        starts.less_equal(place).and(ends.greater(place))
    }

    /// Combines the elements of each segment.
    fn reduce(&self, data: Tensor<'c>, kind: &str, start: Tensor<'c>) -> Tensor<'c> {
        let mut shape = data.shape().to_vec();
        shape[self.axis] = self.starts.size(self.axis);
        let elements = self.owned.unsqueeze_to(data.rank()).select(data, start);
        let dims: Vec<_> = (0..=self.axis).collect();
        start.broadcast_to(&shape).scatter(elements, &coordinates(self.owner, self.axis), &dims, kind)
    }

    /// The value of each element's segment; 0 outside of all.
    fn spread(&self, values: Tensor<'c>) -> Tensor<'c> {
        let dims: Vec<_> = (0..=self.axis).collect();
        let values = values.gather(&coordinates(self.owner, self.axis), &dims);
        self.owned.unsqueeze_to(values.rank()).select(values, 0.0)
    }

    fn count(&self, like: Tensor<'c>) -> Tensor<'c> {
        (self.ends - self.starts).convert(like.dtype()).unsqueeze_to(like.rank())
    }
}

fn forward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let data = a.tensor("data");
    let segments = Segments::new(a, data);
    let initial = a.opt_scalar("initial").map(|v| data.number(v));
    let start = |default: f64| data.number(Scalar::Float(default));
    match a.str("reduce").as_str() {
        "prod" => segments.reduce(data, "mul", start(1.0)) * initial.unwrap_or(start(1.0)),
        "max" => segments.reduce(data, "max", data.number(least(data.dtype()))).maximum(initial.unwrap_or(start(f64::NEG_INFINITY))),
        "min" => segments.reduce(data, "min", data.number(greatest(data.dtype()))).minimum(initial.unwrap_or(start(f64::INFINITY))),
        "mean" => {
            let (sum, count) = (segments.reduce(data, "add", start(0.0)), segments.count(data));
            let empty = initial.unwrap_or(start(f64::NAN));
            count.equal(0.0).select(empty, (sum + initial.unwrap_or(start(0.0))) / count)
        }
        _ => segments.reduce(data, "add", start(0.0)) + initial.unwrap_or(start(0.0)),
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
            let (axis, member) = (segments.axis, segments.member(data));
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
            let hits = segments.reduce(hit.convert(data.dtype()), "add", data.number(Scalar::Float(0.0)));
            hit.select(segments.spread(grad / hits.maximum(1.0)), 0.0)
        }
    }
}
