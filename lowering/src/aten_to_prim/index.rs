//! Reading at positions that tensors hold.

use strata_dialects::aten::dtype::DType;
use strata_dialects::aten::op::*;
use strata_dialects::capture::inverse;
use strata_dialects::prim_builder::{Scalar, Size, Tensor, gather_along, product};

use super::args::Args;
use super::compare::truth;
use super::rule::Precision::Exact;
use super::rule::{Rule, many, one};

pub(super) const RULES: &[Rule] = &[
    one(_UNSAFE_INDEX_TENSOR, Exact, index),
    one(_UNSAFE_MASKED_INDEX, Exact, masked_index),
    one(ARGWHERE, Exact, nonzero),
    one(AS_STRIDED, Exact, as_strided),
    one(AS_STRIDED_COPY, Exact, as_strided),
    one(EMBEDDING, Exact, |a| a.tensor("weight").gather(&[positions(a.raw("indices"))], &[0])),
    one(GATHER, Exact, gather),
    one(INDEX_TENSOR, Exact, index),
    one(INDEX_SELECT, Exact, index_select),
    one(MASKED_SELECT, Exact, masked_select),
    one(NONZERO, Exact, nonzero),
    many(NONZERO_NUMPY, Exact, nonzero_numpy),
    one(NONZERO_STATIC, Exact, nonzero_static),
    one(ONE_HOT, Exact, one_hot),
    one(TAKE, Exact, take),
    one(TAKE_ALONG_DIM, Exact, take_along_dim),
    many(WHERE, Exact, |a| {
        let mask = truth(a.tensor("condition"));
        // A number counts as a list of one.
        true_positions(if mask.rank() == 0 { mask.unsqueeze(0) } else { mask })
    }),
];

/// Positions as `prim` wants them.
pub(super) fn positions(index: Tensor<'_>) -> Tensor<'_> {
    index.convert(DType::I64)
}

/// Positions that count from the end when negative.
pub(super) fn wrapped<'c>(index: Tensor<'c>, size: Size<'c>) -> Tensor<'c> {
    let index = positions(index);
    index.less(0).select(index + size, index)
}

pub(super) fn flat(x: Tensor<'_>) -> Tensor<'_> {
    x.reshape(&[x.numel()])
}

/// Flat positions of the elements that sizes, strides and offset name in dense storage.
pub(super) fn strided_positions<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (sizes, strides) = (a.sizes("size"), a.sizes("stride"));
    let offset = a.opt_size("storage_offset").unwrap_or(Size::Const(0));
    let start = a.prim.size_tensor(DType::I64, offset).broadcast_to(&sizes);
    strides.iter().enumerate().take(sizes.len()).fold(start, |sum, (d, stride)| sum + a.prim.iota(DType::I64, &sizes, d) * *stride)
}

/// Below `aten` a tensor is dense, so storage is the tensor in row-major order.
fn as_strided<'c>(a: &Args<'c>) -> Tensor<'c> {
    let storage = flat(a.tensor("self"));
    block(a, storage).unwrap_or_else(|| storage.gather(&[strided_positions(a)], &[0]))
}

/// The elements as a view, where they are a run of the storage with its dimensions in any order.
fn block<'c>(a: &Args<'c>, storage: Tensor<'c>) -> Option<Tensor<'c>> {
    let known = |list: Vec<Size<'c>>| list.into_iter().map(Size::known).collect::<Option<Vec<_>>>();
    let (sizes, strides) = (known(a.sizes("size"))?, known(a.sizes("stride"))?);
    let offset = a.opt_size("storage_offset").unwrap_or(Size::Const(0)).known()?;
    let mut order: Vec<usize> = (0..sizes.len().min(strides.len())).collect();
    order.sort_by_key(|&dim| std::cmp::Reverse((sizes[dim] == 1, strides[dim])));
    let mut count = 1i64;
    for &dim in order.iter().rev().filter(|&&dim| sizes[dim] != 1) {
        if strides[dim] != count {
            return None;
        }
        count = count.checked_mul(sizes[dim])?;
    }
    let end = offset.checked_add(count)?;
    if count < 1 || offset < 0 || storage.size(0).known().is_none_or(|len| end > len) {
        return None;
    }
    let sorted: Vec<_> = order.iter().map(|&dim| Size::Const(sizes[dim])).collect();
    Some(storage.slice(0, offset, count, 1).reshape(&sorted).transpose(&inverse(&order)))
}

fn gather<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    gather_along(x, a.dim("dim", x.rank()), positions(a.raw("index")))
}

fn index_select<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, index) = (a.tensor("self"), positions(a.raw("index")));
    if x.rank() == 0 {
        return x;
    }
    let dim = a.dim("dim", x.rank());
    x.gather(&[flat(index)], &[dim]).move_dim(0, dim)
}

fn take<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = flat(a.tensor("self"));
    x.gather(&[wrapped(a.raw("index"), x.size(0))], &[0])
}

fn take_along_dim<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, index) = (a.tensor("self"), a.raw("indices"));
    let Some(dim) = a.opt_int("dim") else {
        let x = flat(x);
        return x.gather(&[flat(wrapped(index, x.size(0)))], &[0]);
    };
    let dim = a.wrap(dim, x.rank());
    let index = wrapped(index, x.size(dim));
    let without = |t: Tensor<'c>| {
        let mut shape = t.shape().to_vec();
        shape[dim] = Size::Const(1);
        shape
    };
    let common = a.prim.common_sizes(&[&without(x), &without(index)]);
    let spread = |t: Tensor<'c>| {
        let mut shape = common.clone();
        shape[dim] = t.size(dim);
        t.broadcast_to(&shape)
    };
    gather_along(spread(x), dim, spread(index))
}

// Indexing as Python writes it: one index, mask or nothing per dimension.

/// Which elements `x[indices]` names.
pub(super) struct Selection<'c> {
    /// Index tensors of one shape, wrapped.
    pub indices: Vec<Tensor<'c>>,
    /// The dimensions that they index.
    pub dims: Vec<usize>,
    /// Where the index dimensions stand in the result.
    pub place: usize,
}

/// Resolves masks and None. An index of rank 0 counts as any other.
pub(super) fn selection<'c>(a: &Args<'c>, x: Tensor<'c>, indices: &[Option<Tensor<'c>>]) -> Selection<'c> {
    let (mut tensors, mut dims) = (Vec::new(), Vec::new());
    let mut dim = 0;
    for index in indices {
        match index {
            None => dim += 1,
            Some(mask) if matches!(mask.dtype(), DType::Bool | DType::U8) => {
                for positions in true_positions(truth(*mask)) {
                    tensors.push(positions);
                    dims.push(dim);
                    dim += 1;
                }
            }
            Some(index) => {
                if dim < x.rank() {
                    tensors.push(wrapped(*index, x.size(dim)));
                }
                dims.push(dim);
                dim += 1;
            }
        }
    }
    if dims.iter().any(|d| *d >= x.rank()) || dims.is_empty() {
        a.fail(format!("{} indices for a tensor of rank {}", dims.len(), x.rank()));
        return Selection { indices: vec![a.prim.constant(DType::I64, Scalar::Int(0))], dims: vec![0], place: 0 };
    }
    let shape = a.prim.common_shape(&tensors);
    let adjacent = dims.windows(2).all(|pair| pair[1] == pair[0] + 1);
    let place = if adjacent { dims[0] } else { 0 };
    Selection { indices: tensors.into_iter().map(|t| t.broadcast_to(&shape)).collect(), dims, place }
}

impl<'c> Selection<'c> {
    fn rank(&self) -> usize {
        self.indices[0].rank()
    }

    /// Moves the leading index dimensions to their place.
    pub fn placed(&self, x: Tensor<'c>) -> Tensor<'c> {
        let (k, place) = (self.rank(), self.place);
        x.transpose(&[(k..k + place).collect::<Vec<_>>(), (0..k).collect(), (k + place..x.rank()).collect()].concat())
    }

    /// Moves the index dimensions from their place to the front.
    pub fn leading(&self, x: Tensor<'c>) -> Tensor<'c> {
        let (k, place) = (self.rank(), self.place);
        x.transpose(&[(place..place + k).collect::<Vec<_>>(), (0..place).collect(), (place + k..x.rank()).collect()].concat())
    }

    /// The shape of the result of indexing x.
    pub fn shape(&self, x: Tensor<'c>) -> Vec<Size<'c>> {
        let rest: Vec<_> = (0..x.rank()).filter(|d| !self.dims.contains(d)).map(|d| x.size(d)).collect();
        [&rest[..self.place], &self.indices[0].shape(), &rest[self.place..]].concat()
    }
}

fn index<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let indices = a.opt_tensors("indices");
    if indices.iter().all(Option::is_none) {
        return x;
    }
    let selection = selection(a, x, &indices);
    selection.placed(x.gather(&selection.indices, &selection.dims))
}

/// Indexing where the mask holds, a number elsewhere; indices elsewhere may be out of bounds.
fn masked_index<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, mask) = (a.tensor("self"), truth(a.raw("mask")));
    let indices = a.opt_tensors("indices");
    if x.numel().known() == Some(0) {
        return mask.prim().full(x.dtype(), a.scalar("fill"), &mask.shape());
    }
    let safe: Vec<_> = indices.iter().enumerate().map(|(d, i)| i.map(|i| inside(i, x.size(d)))).collect();
    let selection = selection(a, x, &safe);
    let read = selection.placed(x.gather(&selection.indices, &selection.dims));
    mask.select(read, a.scalar("fill"))
}

/// Positions moved into the bounds.
pub(super) fn inside<'c>(index: Tensor<'c>, size: Size<'c>) -> Tensor<'c> {
    let index = wrapped(index, size);
    index.maximum(0).minimum(size - 1)
}

// Results whose size depends on data.

/// For each dimension the coordinates of the true elements, in row-major order.
pub(super) fn true_positions(mask: Tensor<'_>) -> Vec<Tensor<'_>> {
    unravelled(numbered_true(mask), &mask.shape())
}

/// The coordinates of flat positions in a tensor of this shape.
pub(super) fn unravelled<'c>(flat: Tensor<'c>, shape: &[Size<'c>]) -> Vec<Tensor<'c>> {
    let prim = flat.prim();
    let mut stride = product(shape);
    let place = |(d, &size): (usize, &Size<'c>)| {
        stride = if size.known() == Some(0) { Size::Const(1) } else { stride / size };
        let outer = if stride.is_one() { flat } else { flat / prim.size_tensor(DType::I64, stride) };
        if d == 0 { outer } else { outer % prim.size_tensor(DType::I64, size.max(1)) }
    };
    shape.iter().enumerate().map(place).collect()
}

/// The flat positions of true elements.
fn numbered_true(mask: Tensor<'_>) -> Tensor<'_> {
    let count = flat(mask).convert(DType::I64).reduce("sum", &[0], false).item_size();
    first_true(mask, count)
}

/// The flat positions of so many true elements, then -1.
fn first_true<'c>(mask: Tensor<'c>, count: Size<'c>) -> Tensor<'c> {
    mask.prim().library("true_positions", &[], &[flat(mask)], &[count])[0]
}

fn nonzero<'c>(a: &Args<'c>) -> Tensor<'c> {
    let mask = truth(a.tensor("self"));
    let columns: Vec<_> = true_positions(mask).into_iter().map(|p| p.unsqueeze(1)).collect();
    if columns.is_empty() {
        let count = mask.convert(DType::I64).item_size();
        return a.prim.full(DType::I64, Scalar::Int(0), &[count, Size::Const(0)]);
    }
    a.prim.concat(&columns, 1)
}

fn nonzero_numpy<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let mask = truth(a.tensor("self"));
    true_positions(if mask.rank() == 0 { mask.unsqueeze(0) } else { mask })
}

fn nonzero_static<'c>(a: &Args<'c>) -> Tensor<'c> {
    let mask = truth(a.tensor("self"));
    let (count, fill) = (a.size("size"), a.int("fill_value"));
    if mask.rank() == 0 {
        return a.prim.full(DType::I64, Scalar::Int(0), &[count, Size::Const(0)]);
    }
    let numbered = first_true(mask, count);
    let missing = numbered.less(0);
    let column = |place: Tensor<'c>| missing.select(place.number(Scalar::Int(fill)), place).unsqueeze(1);
    a.prim.concat(&unravelled(numbered, &mask.shape()).into_iter().map(column).collect::<Vec<_>>(), 1)
}

fn masked_select<'c>(a: &Args<'c>) -> Tensor<'c> {
    let [x, mask] = a.prim.broadcast([a.tensor("self"), truth(a.tensor("mask"))]);
    flat(x).gather(&[numbered_true(mask)], &[0])
}

fn one_hot<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, classes) = (a.tensor("self"), a.size("num_classes"));
    let classes = if classes.known() == Some(-1) { (flat(x).reduce("max", &[0], false) + 1).item_size() } else { classes };
    let rank = x.rank();
    let range = x.greater_equal(0).and(x.less(a.prim.size_tensor(x.dtype(), classes)));
    let inside = range.reduce("and", &range.all_dims(), false);
    a.prim.guard(inside, "one_hot: a class is negative, or not below num_classes = {0}", &[classes]);
    x.unsqueeze(rank).equal(a.prim.range(x.dtype(), classes)).convert(DType::I64)
}
