//! Segments of a dimension: what they combine to, and which element is in which.

use super::gather::coordinates;
use super::{Scalar, Size, Tensor};
use crate::aten::dtype::DType;
use crate::prim;
use crate::prim::sizes;

/// Where the segments of a dimension begin and end, one behind the other: the dimensions before it, then one element for each segment.
#[derive(Clone, Copy)]
pub struct Segments<'c> {
    /// The first position of each.
    pub begins: Tensor<'c>,
    /// The position behind the last one of each.
    pub ends: Tensor<'c>,
}

/// The segments that elements are in: the dimensions before the one that is cut, then one element for each of its positions.
pub struct Owners<'c> {
    /// The number of the segment, 0 where there is none.
    segment: Tensor<'c>,
    /// Whether there is one.
    owned: Tensor<'c>,
}

impl<'c> Segments<'c> {
    /// The dimension that is cut.
    pub fn axis(&self) -> usize {
        self.begins.rank() - 1
    }

    /// Elements of each segment.
    pub fn lengths(&self) -> Tensor<'c> {
        self.ends - self.begins
    }

    /// Combines the elements of each segment.
    pub fn reduce(&self, x: Tensor<'c>, kind: &str) -> Tensor<'c> {
        let prim = x.prim();
        let shape = prim.sizes(Some(sizes::segments(x.rank(), self.begins.rank())), &[x, self.begins], &[]);
        let operands = [x, self.begins, self.ends].map(|tensor| tensor.value());
        prim.emit(prim::SegmentReduce::NAME, &operands, &[("kind", prim.cx().str_attr(kind))], x.dtype(), shape)
    }

    /// The segments of `n` elements. One belongs to the last segment that begins at it or before, if that does not end before it.
    pub fn owners(&self, n: Size<'c>) -> Owners<'c> {
        let axis = self.axis();
        let passed = |bounds: Tensor<'c>| {
            let prim = bounds.prim();
            let mut shape = bounds.shape().to_vec();
            shape[axis] = n + 1;
            let marks = prim.full(DType::I64, Scalar::Int(0), &shape);
            let at = bounds.minimum(prim.size_tensor(bounds.dtype(), n));
            let ones = prim.full(DType::I64, Scalar::Int(1), &bounds.shape());
            let marks = marks.scatter(ones, &coordinates(at, axis), &marks.all_dims(), "add");
            marks.slice(axis, 0, n, 1).scan("sum", axis)
        };
        let (begun, ended) = (passed(self.begins), passed(self.ends));
        Owners { segment: (begun - 1).maximum(0), owned: begun.greater(ended) }
    }
}

impl<'c> Owners<'c> {
    /// The value of each element's segment; 0 outside of all.
    pub fn spread(&self, values: Tensor<'c>) -> Tensor<'c> {
        let axis = self.segment.rank() - 1;
        let dims: Vec<_> = (0..=axis).collect();
        let values = values.gather(&coordinates(self.segment, axis), &dims);
        self.owned.unsqueeze_to(values.rank()).select(values, Scalar::Int(0))
    }
}
