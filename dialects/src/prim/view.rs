//! The same elements in another shape or order.

use strata_core::prelude::*;

use super::check::{self, Checked};
use super::sizes::{self, Constraint, ResultSizes, Size, SizeConstraints};
use super::types::*;

/// Dimension i of the operand becomes dimension `dims[i]` of the result; sizes of 1 and missing dimensions are repeated.
///
/// C1: `dims` names one dimension of the result per dimension of the operand, each at most once. C2: an operand's size
/// is 1 or the result's. C3: one `index` operand per `?` of the result. C4: element types agree.
#[op("prim.broadcast", effects(Pure), interfaces(ResultSizes), verify)]
pub struct Broadcast {
    x: Operand<AnyTensor>,
    sizes: Variadic<Index>,
    result: Result<AnyTensor>,
    dims: Attr<I64s>,
}

impl ResultSizes for Broadcast<'_> {
    fn result_sizes(&self) -> Option<Vec<Size>> {
        sizes::broadcast(&self.x().ty().shape(), &self.dims(), &self.result().ty().shape())
    }
}

impl Verify for Broadcast<'_> {
    fn verify(self) -> Checked {
        let (x, result) = (self.x().ty().shape(), self.result().ty().shape());
        check::per_dim(1, "dims", &self.dims(), x.len())?;
        let dims = check::dims(1, "dims", &self.dims(), result.len())?;
        for (size, dim) in x.iter().zip(dims) {
            let fits = *size == 1 || check::agree(*size, result[dim]);
            ensure!(fits, 2, "a dimension of size {size} cannot be broadcast to size {}", result[dim]);
        }
        check::one_per_unknown(3, self.sizes().len(), &result)?;
        check::same_elements(4, self.x().ty(), self.result().ty())
    }
}

/// The same elements in row-major order in another shape.
///
/// C1: both have the same number of elements. C2: one `index` operand per `?` of the result. C3: element types agree.
#[op("prim.reshape", effects(Pure), interfaces(ResultSizes), verify)]
pub struct Reshape {
    x: Operand<AnyTensor>,
    sizes: Variadic<Index>,
    result: Result<AnyTensor>,
}

impl ResultSizes for Reshape<'_> {
    fn result_sizes(&self) -> Option<Vec<Size>> {
        Some(sizes::spelled(&self.result().ty().shape(), 1))
    }
}

impl Verify for Reshape<'_> {
    fn verify(self) -> Checked {
        let (x, result) = (self.x().ty(), self.result().ty());
        if let (Some(have), Some(want)) = (x.num_elements(), result.num_elements()) {
            ensure!(have == want, 1, "{have} elements cannot be viewed as {want}");
        }
        check::one_per_unknown(2, self.sizes().len(), &result.shape())?;
        check::same_elements(3, x, result)
    }
}

/// Dimension i of the result is dimension `perm[i]` of the operand.
///
/// C1: `perm` is a permutation of the dimensions. C2: the result's sizes are the operand's, permuted. C3: element types agree.
#[op("prim.transpose", effects(Pure), interfaces(ResultSizes), verify)]
pub struct Transpose {
    x: Operand<AnyTensor>,
    result: Result<AnyTensor>,
    perm: Attr<I64s>,
}

impl ResultSizes for Transpose<'_> {
    fn result_sizes(&self) -> Option<Vec<Size>> {
        sizes::transpose(self.x().ty().rank(), &self.perm())
    }
}

impl Verify for Transpose<'_> {
    fn verify(self) -> Checked {
        let shape = self.x().ty().shape();
        check::per_dim(1, "perm", &self.perm(), shape.len())?;
        check::dims(1, "perm", &self.perm(), shape.len())?;
        check::result_sizes(2, self.op())?;
        check::same_elements(3, self.x().ty(), self.result().ty())
    }
}

/// The elements at `offsets + i * strides` for `i < sizes`. Unknown offsets and sizes are `index` operands: offsets first.
///
/// C1: one offset, size and stride per dimension. C2: strides are positive, known offsets and sizes not negative. C3: one
/// `index` operand per unknown entry. C4: known elements lie inside of the operand. C5: the result's sizes are `sizes`.
/// C6: element types agree.
#[op("prim.slice", effects(Pure), interfaces(ResultSizes, SizeConstraints), verify)]
pub struct Slice {
    x: Operand<AnyTensor>,
    bounds: Variadic<Index>,
    result: Result<AnyTensor>,
    offsets: Attr<I64s>,
    sizes: Attr<I64s>,
    strides: Attr<I64s>,
}

impl ResultSizes for Slice<'_> {
    fn result_sizes(&self) -> Option<Vec<Size>> {
        let offsets = self.offsets().iter().filter(|offset| **offset == DYNAMIC).count();
        Some(sizes::spelled(&self.sizes(), 1 + offsets))
    }
}

impl SizeConstraints for Slice<'_> {
    fn size_constraints(&self) -> Vec<Constraint> {
        let offsets = sizes::spelled(&self.offsets(), 1);
        let places = offsets.into_iter().zip(self.result_sizes().unwrap_or_default()).zip(self.strides());
        places.enumerate().flat_map(|(dim, ((offset, size), stride))| sizes::inside(offset, size, stride, Size::Of(0, dim))).collect()
    }
}

impl Verify for Slice<'_> {
    fn verify(self) -> Checked {
        let (shape, offsets, sizes, strides) = (self.x().ty().shape(), self.offsets(), self.sizes(), self.strides());
        for (name, entries) in [("offsets", &offsets), ("sizes", &sizes), ("strides", &strides)] {
            check::per_dim(1, name, entries, shape.len())?;
        }
        let natural = |n: &i64| *n == DYNAMIC || *n >= 0;
        ensure!(strides.iter().all(|s| *s >= 1), 2, "a stride is not positive");
        ensure!(offsets.iter().chain(&sizes).all(natural), 2, "an offset or size is negative");
        check::one_per_unknown(3, self.bounds().len(), &[offsets.clone(), sizes.clone()].concat())?;
        for (d, n) in shape.iter().enumerate() {
            if [*n, offsets[d], sizes[d]].contains(&DYNAMIC) || sizes[d] == 0 {
                continue;
            }
            let last = offsets[d].saturating_add((sizes[d] - 1).saturating_mul(strides[d]));
            ensure!(last < *n, 4, "element {last} is outside of dimension {d} of size {n}");
        }
        check::result_sizes(5, self.op())?;
        check::same_elements(6, self.x().ty(), self.result().ty())
    }
}

/// Some dimensions in opposite order.
///
/// C1: `dims` are different dimensions.
#[op("prim.reverse", traits(SameOperandsAndResultType), effects(Pure), verify)]
pub struct Reverse {
    x: Operand<AnyTensor>,
    result: Result<AnyTensor>,
    dims: Attr<I64s>,
}

impl Verify for Reverse<'_> {
    fn verify(self) -> Checked {
        check::dims(1, "dims", &self.dims(), self.x().ty().rank()).map(drop)
    }
}

/// `low` elements of the value before, `high` after, and `interior` between each two elements of a dimension; negative
/// `low` and `high` crop. Unknown `low` and `high` are `index` operands: low first.
///
/// C1: one entry per dimension. C2: `interior` is not negative. C3: one `index` operand per unknown entry. C4: the value is
/// a 0-d tensor of the operand's element type. C5: the result's sizes are `(n - 1) * interior + n + low + high`.
#[op("prim.pad", effects(Pure), interfaces(ResultSizes, SizeConstraints), verify)]
pub struct Pad {
    x: Operand<AnyTensor>,
    value: Operand<AnyTensor>,
    bounds: Variadic<Index>,
    result: Result<AnyTensor>,
    low: Attr<I64s>,
    high: Attr<I64s>,
    interior: Attr<I64s>,
}

impl ResultSizes for Pad<'_> {
    fn result_sizes(&self) -> Option<Vec<Size>> {
        sizes::pad(&self.low(), &self.high(), &self.interior())
    }
}

impl SizeConstraints for Pad<'_> {
    fn size_constraints(&self) -> Vec<Constraint> {
        sizes::not_negative(self.result_sizes().unwrap_or_default())
    }
}

impl Verify for Pad<'_> {
    fn verify(self) -> Checked {
        let (shape, low, high, interior) = (self.x().ty().shape(), self.low(), self.high(), self.interior());
        for (name, entries) in [("low", &low), ("high", &high), ("interior", &interior)] {
            check::per_dim(1, name, entries, shape.len())?;
        }
        ensure!(interior.iter().all(|i| *i >= 0), 2, "`interior` is negative");
        check::one_per_unknown(3, self.bounds().len(), &[low.clone(), high.clone()].concat())?;
        let value = self.value().ty();
        ensure!(value.rank() == 0, 4, "the value is not 0-d but {value}");
        check::same_elements(4, value, self.x().ty())?;
        check::same_elements(4, value, self.result().ty())?;
        check::result_sizes(5, self.op())
    }
}

/// Tensors one after the other along dimension `dim`.
///
/// C1: there is at least one, and `dim` is one of its dimensions. C2: all have one element type and, but for `dim`, one
/// shape, which is the result's. C3: the result's size of `dim` is the sum.
#[op("prim.concat", effects(Pure), interfaces(ResultSizes), verify)]
pub struct Concat {
    parts: Variadic<AnyTensor>,
    result: Result<AnyTensor>,
    dim: Attr<I64>,
}

impl ResultSizes for Concat<'_> {
    fn result_sizes(&self) -> Option<Vec<Size>> {
        let (parts, rank) = (self.parts().len(), self.result().ty().rank());
        Some(sizes::concat(parts, rank, usize::try_from(self.dim()).ok().filter(|dim| *dim < rank)?))
    }
}

impl Verify for Concat<'_> {
    fn verify(self) -> Checked {
        let result = self.result().ty();
        let dim = check::dim(1, self.dim(), result.rank())?;
        ensure!(!self.parts().is_empty(), 1, "there is nothing to concatenate");
        for part in self.parts() {
            check::same_elements(2, part.ty(), result)?;
            let shape = part.ty().shape();
            let fits = shape.len() == result.rank()
                && check::shapes_agree(&check::without(&shape, &[dim]), &check::without(&result.shape(), &[dim]));
            ensure!(fits, 2, "{} does not fit into {result}", part.ty());
        }
        check::result_sizes(3, self.op())
    }
}

/// Sliding windows over k dimensions, the last ones or `dims`: the result has their k positions in their places, then k dimensions
/// inside of the window. Element `(.., o, .., w)` is the operand's element `(.., o * strides + w * dilations, ..)`.
///
/// C1: `sizes`, `strides`, `dilations` and `dims` have k entries each, positive but for `dims`, which name different dimensions.
/// C2: the sizes of the positions are `(n - (sizes - 1) * dilations - 1) / strides + 1`, those inside of the window `sizes`.
/// C3: element types agree.
#[op("prim.sliding_window", effects(Pure), interfaces(ResultSizes, SizeConstraints), verify)]
pub struct SlidingWindow {
    x: Operand<AnyTensor>,
    result: Result<AnyTensor>,
    sizes: Attr<I64s>,
    strides: Attr<I64s>,
    dilations: Attr<I64s>,
    dims: OptAttr<I64s>,
}

/// The dimensions that windows slide over: `dims`, or the last ones.
pub fn windowed(rank: usize, count: usize, dims: Option<Vec<i64>>) -> Vec<usize> {
    match dims {
        Some(dims) => dims.into_iter().filter_map(|dim| usize::try_from(dim).ok()).collect(),
        None => (rank.saturating_sub(count)..rank).collect(),
    }
}

impl ResultSizes for SlidingWindow<'_> {
    fn result_sizes(&self) -> Option<Vec<Size>> {
        let rank = self.x().ty().rank();
        let dims = windowed(rank, self.sizes().len(), self.dims());
        sizes::window(rank, &dims, &self.sizes(), &self.strides(), &self.dilations())
    }
}

impl SizeConstraints for SlidingWindow<'_> {
    fn size_constraints(&self) -> Vec<Constraint> {
        sizes::not_negative(self.result_sizes().unwrap_or_default())
    }
}

impl Verify for SlidingWindow<'_> {
    fn verify(self) -> Checked {
        let (shape, sizes, strides, dilations) = (self.x().ty().shape(), self.sizes(), self.strides(), self.dilations());
        let same = sizes.len() == strides.len() && sizes.len() == dilations.len() && sizes.len() <= shape.len();
        ensure!(same, 1, "`sizes`, `strides` and `dilations` do not have one entry per windowed dimension");
        ensure!(sizes.iter().chain(&strides).chain(&dilations).all(|n| *n >= 1), 1, "an entry is not positive");
        if let Some(dims) = self.dims() {
            check::per_dim(1, "dims", &dims, sizes.len())?;
            check::dims(1, "dims", &dims, shape.len())?;
        }
        check::result_sizes(2, self.op())?;
        check::same_elements(3, self.x().ty(), self.result().ty())
    }
}

/// The size of dimension `dim`.
///
/// C1: `dim` is a dimension of the tensor.
#[op("prim.dim", effects(Pure), verify)]
pub struct Dim {
    x: Operand<AnyTensor>,
    result: Result<Index>,
    dim: Attr<I64>,
}

impl Verify for Dim<'_> {
    fn verify(self) -> Checked {
        check::dim(1, self.dim(), self.x().ty().rank()).map(drop)
    }
}
