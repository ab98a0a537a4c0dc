//! Tensors of the `prim` builder: views, reductions, contractions, indexing, order.

use std::rc::Rc;

use crate::aten::dtype::{DType, Numeric};
use crate::prim;
use crate::prim::sizes;
use crate::prim::view::windowed;
use strata_core::ir::{Attr, Type, Value};
use strata_core::upstream::arith;

use super::builder::{Prim, Scalar};
use super::size::{Size, product};

/// Dimensions as attributes spell them.
fn signed(dims: &[usize]) -> Vec<i64> {
    dims.iter().map(|dim| *dim as i64).collect()
}

/// A tensor made by a [`Prim`] builder.
#[derive(Clone, Copy)]
pub struct Tensor<'c> {
    pub(super) prim: &'c Prim<'c>,
    pub(super) id: u32,
}

impl<'c> Tensor<'c> {
    /// Its builder.
    pub fn prim(self) -> &'c Prim<'c> {
        self.prim
    }

    /// Its value.
    pub fn value(self) -> Value<'c> {
        self.prim.node(self.id).value
    }

    /// Its type.
    pub fn ty(self) -> Type<'c> {
        self.value().ty()
    }

    /// Its element type.
    pub fn dtype(self) -> DType {
        self.prim.node(self.id).dtype
    }

    /// Its sizes.
    pub fn shape(self) -> Rc<[Size<'c>]> {
        self.prim.node(self.id).shape
    }

    /// The size of one dimension.
    pub fn size(self, dim: usize) -> Size<'c> {
        self.shape().get(dim).copied().unwrap_or_else(|| {
            self.prim.fail(format!("dimension {dim} of a tensor of rank {}", self.rank()));
            Size::Const(1)
        })
    }

    /// Its number of dimensions.
    pub fn rank(self) -> usize {
        self.shape().len()
    }

    /// Its number of elements.
    pub fn numel(self) -> Size<'c> {
        product(&self.shape())
    }

    /// All dimensions.
    pub fn all_dims(self) -> Vec<usize> {
        (0..self.rank()).collect()
    }

    /// A 0-d constant of the same element type.
    pub fn number(self, number: Scalar<'c>) -> Tensor<'c> {
        self.prim.constant(self.dtype(), number)
    }

    /// A tensor of the same type and shape, filled with a number.
    pub fn filled(self, number: Scalar<'c>) -> Tensor<'c> {
        self.prim.full(self.dtype(), number, &self.shape())
    }

    fn ints(self, values: &[usize]) -> Attr<'c> {
        self.prim.cx().i64s_attr(&signed(values))
    }

    // Types.

    /// The same numbers in another element type.
    pub fn convert(self, dtype: DType) -> Tensor<'c> {
        if dtype == self.dtype() {
            return self;
        }
        self.prim.emit(prim::Convert::NAME, &[self.value()], &[], dtype, self.shape())
    }

    /// The same bits as another element type of the same width.
    pub fn bitcast(self, dtype: DType) -> Tensor<'c> {
        if dtype == self.dtype() {
            return self;
        }
        self.prim.emit(prim::Bitcast::NAME, &[self.value()], &[], dtype, self.shape())
    }

    /// In the type that operators on floats compute in.
    pub fn float(self) -> Tensor<'c> {
        self.convert(self.dtype().to_float().compute())
    }

    // Views.

    /// Dimension i becomes dimension `dims[i]` of `shape`; sizes of 1 are repeated.
    pub fn broadcast_dims(self, shape: &[Size<'c>], dims: &[usize]) -> Tensor<'c> {
        let mut refined = self.shape().to_vec();
        for (size, dim) in refined.iter_mut().zip(dims) {
            match (*size, shape[*dim]) {
                (Size::Sym(_), target @ Size::Const(_)) => *size = target,
                (Size::Const(n), Size::Const(m)) if n != m && n != 1 => {
                    self.prim.fail(format!("a dimension of size {n} cannot be broadcast to size {m}"));
                    return self;
                }
                _ => {}
            }
        }
        let from = self.reshape(&refined);
        let types = |sizes: &[Size<'c>]| sizes.iter().map(|s| s.static_size()).collect::<Vec<_>>();
        if dims.iter().copied().eq(0..shape.len()) && types(&refined) == types(shape) {
            return from;
        }
        let mut operands = vec![from.value()];
        operands.extend(self.prim.dynamic(shape));
        self.prim.emit(prim::Broadcast::NAME, &operands, &[("dims", self.ints(dims))], self.dtype(), shape)
    }

    /// Broadcasts to `shape` with dimensions aligned at the end.
    pub fn broadcast_to(self, shape: &[Size<'c>]) -> Tensor<'c> {
        let Some(lead) = shape.len().checked_sub(self.rank()) else {
            self.prim.fail(format!("a tensor of rank {} cannot be broadcast to rank {}", self.rank(), shape.len()));
            return self;
        };
        self.broadcast_dims(shape, &(lead..shape.len()).collect::<Vec<_>>())
    }

    /// The same elements in row-major order in another shape.
    pub fn reshape(self, shape: &[Size<'c>]) -> Tensor<'c> {
        let same = |(a, b): (&Size<'c>, &Size<'c>)| a.static_size() == b.static_size() && (a.known().is_some() || a.same(*b));
        if shape.len() == self.rank() && self.shape().iter().zip(shape).all(same) {
            return self;
        }
        if let (Some(have), Some(want)) = (self.numel().known(), product(shape).known())
            && have != want
        {
            self.prim.fail(format!("{have} elements cannot be viewed as {want}"));
            return self;
        }
        let mut operands = vec![self.value()];
        operands.extend(self.prim.dynamic(shape));
        self.prim.emit(prim::Reshape::NAME, &operands, &[], self.dtype(), shape)
    }

    /// Result dimension i is dimension `perm[i]`.
    pub fn transpose(self, perm: &[usize]) -> Tensor<'c> {
        if perm.iter().copied().eq(0..self.rank()) {
            return self;
        }
        let shape = self.prim.sizes(sizes::transpose(self.rank(), &signed(perm)), &[self], &[]);
        self.prim.emit(prim::Transpose::NAME, &[self.value()], &[("perm", self.ints(perm))], self.dtype(), shape)
    }

    /// Exchanges two dimensions.
    pub fn swap(self, a: usize, b: usize) -> Tensor<'c> {
        let mut perm = self.all_dims();
        if a.max(b) < perm.len() {
            perm.swap(a, b);
        }
        self.transpose(&perm)
    }

    /// Moves dimension `from` to position `to`.
    pub fn move_dim(self, from: usize, to: usize) -> Tensor<'c> {
        if from.max(to) >= self.rank() {
            self.prim.fail(format!("dimension {} of a tensor of rank {}", from.max(to), self.rank()));
            return self;
        }
        let mut perm = self.all_dims();
        let dim = perm.remove(from);
        perm.insert(to, dim);
        self.transpose(&perm)
    }

    /// Inserts a dimension of size 1.
    pub fn unsqueeze(self, dim: usize) -> Tensor<'c> {
        let mut shape = self.shape().to_vec();
        shape.insert(dim.min(shape.len()), Size::Const(1));
        self.reshape(&shape)
    }

    /// Appends dimensions of size 1 up to `rank`.
    pub fn unsqueeze_to(self, rank: usize) -> Tensor<'c> {
        let mut shape = self.shape().to_vec();
        shape.resize(rank.max(shape.len()), Size::Const(1));
        self.reshape(&shape)
    }

    /// Drops dimensions (of size 1).
    pub fn squeeze(self, dims: &[usize]) -> Tensor<'c> {
        let keep = |(d, size): (usize, &Size<'c>)| (!dims.contains(&d)).then_some(*size);
        self.reshape(&self.shape().iter().enumerate().filter_map(keep).collect::<Vec<_>>())
    }

    /// Elements `offsets + i * strides` for `i < sizes`, per dimension.
    pub fn slice_all(self, offsets: &[Size<'c>], sizes: &[Size<'c>], strides: &[i64]) -> Tensor<'c> {
        let whole = |d: usize| offsets[d].known() == Some(0) && strides[d] == 1 && sizes[d].same(self.size(d));
        if (0..self.rank()).all(whole) {
            return self;
        }
        let cx = self.prim.cx();
        let spell = |sizes: &[Size<'c>]| cx.i64s_attr(&sizes.iter().map(|s| s.static_size()).collect::<Vec<_>>());
        let mut operands = vec![self.value()];
        operands.extend(self.prim.dynamic(offsets));
        operands.extend(self.prim.dynamic(sizes));
        let attrs = [("offsets", spell(offsets)), ("sizes", spell(sizes)), ("strides", cx.i64s_attr(strides))];
        self.prim.emit(prim::Slice::NAME, &operands, &attrs, self.dtype(), sizes)
    }

    /// `size` elements of one dimension from `offset` on, each `stride`-th.
    pub fn slice(self, dim: usize, offset: impl Into<Size<'c>>, size: impl Into<Size<'c>>, stride: i64) -> Tensor<'c> {
        let (mut offsets, mut sizes) = (vec![Size::Const(0); self.rank()], self.shape().to_vec());
        let mut strides = vec![1; self.rank()];
        if dim >= self.rank() {
            self.prim.fail(format!("dimension {dim} of a tensor of rank {}", self.rank()));
            return self;
        }
        (offsets[dim], sizes[dim], strides[dim]) = (offset.into(), size.into(), stride);
        self.slice_all(&offsets, &sizes, &strides)
    }

    /// The sub-tensor at `index` of one dimension.
    pub fn at(self, dim: usize, index: impl Into<Size<'c>>) -> Tensor<'c> {
        self.slice(dim, index, 1, 1).squeeze(&[dim])
    }

    /// The tensor with another row `index` of dimension 0, which must be there.
    pub fn with_row(self, index: impl Into<Size<'c>>, row: Tensor<'c>) -> Tensor<'c> {
        let index = self.prim.size_tensor(DType::I64, index.into()).unsqueeze(0);
        self.scatter(row.unsqueeze(0), &[index], &[0], "set")
    }

    /// Dimensions in opposite order.
    pub fn reverse(self, dims: &[usize]) -> Tensor<'c> {
        if dims.is_empty() {
            return self;
        }
        self.prim.emit(prim::Reverse::NAME, &[self.value()], &[("dims", self.ints(dims))], self.dtype(), self.shape())
    }

    /// Adds elements of value `value` (0-d) around and between; negative `low` and `high` crop.
    pub fn pad(self, value: Tensor<'c>, low: &[Size<'c>], high: &[Size<'c>], interior: &[i64]) -> Tensor<'c> {
        let zero = |s: &Size<'c>| s.known() == Some(0);
        if low.iter().chain(high).all(zero) && interior.iter().all(|i| *i == 0) {
            return self;
        }
        let cx = self.prim.cx();
        let numbers = |sizes: &[Size<'c>]| sizes.iter().map(|s| s.static_size()).collect::<Vec<_>>();
        let spell = |sizes: &[Size<'c>]| cx.i64s_attr(&numbers(sizes));
        let unknown: Vec<_> = low.iter().chain(high).copied().filter(|size| size.known().is_none()).collect();
        let shape = self.prim.sizes(sizes::pad(&numbers(low), &numbers(high), interior), &[self, value], &unknown);
        let mut operands = vec![self.value(), value.value()];
        operands.extend(self.prim.dynamic(low));
        operands.extend(self.prim.dynamic(high));
        let attrs = [("low", spell(low)), ("high", spell(high)), ("interior", cx.i64s_attr(interior))];
        self.prim.emit(prim::Pad::NAME, &operands, &attrs, self.dtype(), shape)
    }

    /// Pads one dimension with a number.
    pub fn pad_dim(self, dim: usize, number: Scalar<'c>, low: impl Into<Size<'c>>, high: impl Into<Size<'c>>) -> Tensor<'c> {
        let (mut lows, mut highs) = (vec![Size::Const(0); self.rank()], vec![Size::Const(0); self.rank()]);
        (lows[dim], highs[dim]) = (low.into(), high.into());
        self.pad(self.number(number), &lows, &highs, &vec![0; self.rank()])
    }

    /// Sliding windows over the last `sizes.len()` dimensions: output positions, then positions in the window.
    pub fn window(self, sizes: &[i64], strides: &[i64], dilations: &[i64]) -> Tensor<'c> {
        let shape =
            self.prim.sizes(sizes::window(self.rank(), &windowed(self.rank(), sizes.len(), None), sizes, strides, dilations), &[self], &[]);
        let cx = self.prim.cx();
        let attrs = [("sizes", cx.i64s_attr(sizes)), ("strides", cx.i64s_attr(strides)), ("dilations", cx.i64s_attr(dilations))];
        self.prim.emit(prim::SlidingWindow::NAME, &[self.value()], &attrs, self.dtype(), shape)
    }

    // Reductions.

    /// Combines elements over `dims`, which are dropped or kept with size 1.
    pub fn reduce(self, kind: &str, dims: &[usize], keep: bool) -> Tensor<'c> {
        if dims.is_empty() {
            return self;
        }
        let mut sorted = dims.to_vec();
        sorted.sort_unstable();
        let attrs = [("dims", self.ints(&sorted)), ("kind", self.prim.cx().str_attr(self.combined(kind)))];
        let shape = self.prim.sizes(Some(sizes::without(0, self.rank(), &signed(dims))), &[self], &[]);
        let reduced = self.prim.emit(prim::Reduce::NAME, &[self.value()], &attrs, self.dtype(), shape);
        let mut kept = self.shape().to_vec();
        kept.iter_mut().enumerate().filter(|(dim, _)| dims.contains(dim)).for_each(|(_, size)| *size = Size::Const(1));
        if keep { reduced.reshape(&kept) } else { reduced }
    }

    /// Sum over `dims`, kept with size 1.
    pub fn sum_keep(self, dims: &[usize]) -> Tensor<'c> {
        self.reduce("sum", dims, true)
    }

    /// The number of elements reduced over `dims`, as a 0-d tensor of the same type.
    pub fn count(self, dims: &[usize]) -> Tensor<'c> {
        let sizes: Vec<_> = dims.iter().map(|d| self.size(*d)).collect();
        self.prim.size_tensor(self.dtype(), product(&sizes))
    }

    /// Mean over `dims`.
    pub fn mean(self, dims: &[usize], keep: bool) -> Tensor<'c> {
        self.reduce("sum", dims, keep) / self.count(dims)
    }

    /// The position of the first maximum (`max`) or minimum (`min`) along `dim`, which is dropped.
    pub fn arg_reduce(self, kind: &str, dim: usize) -> Tensor<'c> {
        let shape = self.prim.sizes(Some(sizes::without(0, self.rank(), &[dim as i64])), &[self], &[]);
        let attrs = [("dim", self.prim.cx().i64_attr(dim as i64)), ("kind", self.prim.cx().str_attr(kind))];
        self.prim.emit(prim::ArgReduce::NAME, &[self.value()], &attrs, DType::I64, shape)
    }

    /// The kind of a reduction: sums and products of bool are "or" and "and".
    fn combined(self, kind: &str) -> &str {
        match (self.dtype(), kind) {
            (DType::Bool, "sum") => "or",
            (DType::Bool, "prod") => "and",
            _ => kind,
        }
    }

    /// Running reduction along `dim`.
    pub fn scan(self, kind: &str, dim: usize) -> Tensor<'c> {
        let attrs = [("dim", self.prim.cx().i64_attr(dim as i64)), ("kind", self.prim.cx().str_attr(self.combined(kind)))];
        self.prim.emit(prim::Scan::NAME, &[self.value()], &attrs, self.dtype(), self.shape())
    }

    /// Sorts along `dim`, stably: values and their former positions.
    pub fn sort(self, dim: usize, descending: bool) -> (Tensor<'c>, Tensor<'c>) {
        let cx = self.prim.cx();
        let attrs = [("dim", cx.i64_attr(dim as i64)), ("descending", cx.bool_attr(descending))];
        let types = [(self.dtype(), self.shape()), (DType::I64, self.shape())];
        let results = self.prim.emit_many(prim::Sort::NAME, &[self.value()], &attrs, &types);
        (results[0], results[1])
    }

    // Contractions.

    /// Sums products over the contracted dimensions: batch, free dimensions of `self`, free dimensions of `rhs`. Of complex matrices the parts
    /// are four such sums.
    pub fn dot(self, rhs: Tensor<'c>, batch: (&[usize], &[usize]), contract: (&[usize], &[usize])) -> Tensor<'c> {
        if self.dtype() != rhs.dtype() {
            self.prim.fail(format!("product of {} and {}", self.dtype(), rhs.dtype()));
            return self;
        }
        for (&a, &b) in batch.0.iter().chain(contract.0).zip(batch.1.iter().chain(contract.1)) {
            if let (Some(left), Some(right)) = (self.size(a).known(), rhs.size(b).known())
                && left != right
            {
                self.prim.fail(format!("a product of {} and {}, whose sizes {left} and {right} do not agree", self.ty(), rhs.ty()));
                return self;
            }
        }
        if self.dtype().is_complex() {
            let is_vector = |tensor: Tensor<'c>, batch: &[usize], contract: &[usize]| {
                (0..tensor.rank()).all(|dim| batch.contains(&dim) || contract.contains(&dim) || tensor.size(dim).known() == Some(1))
            };
            if contract.0.is_empty() || is_vector(self, batch.0, contract.0) || is_vector(rhs, batch.1, contract.1) {
                return self.products(rhs, batch, contract);
            }
            // Four products of real matrices, which have lanes and matrix units.
            let part = |x: Tensor<'c>, y: Tensor<'c>| x.dot(y, batch, contract);
            let ([a, b], [c, d]) = ([self.real(), self.imag()], [rhs.real(), rhs.imag()]);
            return (part(a, c) - part(b, d)).complex(part(a, d) + part(b, c));
        }
        let [lhs_batch, rhs_batch, lhs_contract, rhs_contract] = [batch.0, batch.1, contract.0, contract.1].map(signed);
        let of_result = sizes::dot((self.rank(), rhs.rank()), (&lhs_batch, &rhs_batch), (&lhs_contract, &rhs_contract));
        let shape = self.prim.sizes(of_result, &[self, rhs], &[]);
        let attrs = [
            ("lhs_batch", self.ints(batch.0)),
            ("rhs_batch", self.ints(batch.1)),
            ("lhs_contract", self.ints(contract.0)),
            ("rhs_contract", self.ints(contract.1)),
        ];
        self.prim.emit(prim::Dot::NAME, &[self.value(), rhs.value()], &attrs, self.dtype(), shape)
    }

    /// What [`Tensor::dot`] gives, as products that are summed. Where each element has one use, they read it once for both parts of the result.
    fn products(self, rhs: Tensor<'c>, batch: (&[usize], &[usize]), contract: (&[usize], &[usize])) -> Tensor<'c> {
        let free = |tensor: Tensor<'c>, batch: &[usize], contract: &[usize]| -> Vec<usize> {
            (0..tensor.rank()).filter(|dim| !batch.contains(dim) && !contract.contains(dim)).collect()
        };
        let (lhs_free, rhs_free) = (free(self, batch.0, contract.0), free(rhs, batch.1, contract.1));
        let sizes = |dims: &[usize], of: Tensor<'c>| dims.iter().map(|&dim| of.size(dim)).collect::<Vec<_>>();
        let shape = [sizes(batch.0, self), sizes(&lhs_free, self), sizes(&rhs_free, rhs), sizes(contract.0, self)].concat();
        let summed: Vec<usize> = (shape.len() - contract.0.len()..shape.len()).collect();
        // Where the dims of an operand are among those of the products: its free ones come behind so many others.
        let places = |before: usize, own: &[usize]| -> Vec<usize> {
            let begin = batch.0.len() + before;
            (0..batch.0.len()).chain(begin..begin + own.len()).chain(summed.iter().copied()).collect()
        };
        let lhs = self.transpose(&[batch.0, &lhs_free, contract.0].concat()).broadcast_dims(&shape, &places(0, &lhs_free));
        let rhs = rhs.transpose(&[batch.1, &rhs_free, contract.1].concat()).broadcast_dims(&shape, &places(lhs_free.len(), &rhs_free));
        (lhs * rhs).reduce("sum", &summed, false)
    }

    // Indexing.

    /// Elements at `indices` (of one shape I) along `dims`: a tensor of shape I and the remaining dimensions.
    pub fn gather(self, indices: &[Tensor<'c>], dims: &[usize]) -> Tensor<'c> {
        self.gather_with(indices, dims, &[])
    }

    /// [`Tensor::gather`] at indices that are clamped: nobody looks whether they are in bounds, but along dimensions that may be empty.
    pub fn gather_clamped(self, indices: &[Tensor<'c>], dims: &[usize]) -> Tensor<'c> {
        let sure = dims.iter().all(|&dim| self.size(dim).known().is_some_and(|size| size > 0));
        let in_bounds = [("in_bounds", self.prim.cx().unit())];
        self.gather_with(indices, dims, if sure { &in_bounds } else { &[] })
    }

    fn gather_with(self, indices: &[Tensor<'c>], dims: &[usize], attrs: &[(&str, Attr<'c>)]) -> Tensor<'c> {
        let tensors: Vec<_> = std::iter::once(self).chain(indices.iter().copied()).collect();
        let index_rank = indices.first().map_or(0, |index| index.rank());
        let shape = self.prim.sizes(Some(sizes::gather(self.rank(), index_rank, &signed(dims))), &tensors, &[]);
        let operands: Vec<_> = tensors.iter().map(|tensor| tensor.value()).collect();
        let attrs = [&[("dims", self.ints(dims))], attrs].concat();
        self.prim.emit(prim::Gather::NAME, &operands, &attrs, self.dtype(), shape)
    }

    /// Puts `updates` (shape I and the remaining dimensions) at `indices` along `dims`; `kind` says how they combine.
    pub fn scatter(self, updates: Tensor<'c>, indices: &[Tensor<'c>], dims: &[usize], kind: &str) -> Tensor<'c> {
        if kind != "set" && self.dtype().is_float8() {
            self.prim.fail("floats of 8 bits are put in place, not added up; convert them to another type first");
        }
        let mut operands = vec![self.value(), updates.value()];
        operands.extend(indices.iter().map(|i| i.value()));
        let attrs = [("dims", self.ints(dims)), ("kind", self.prim.cx().str_attr(kind))];
        self.prim.emit(prim::Scatter::NAME, &operands, &attrs, self.dtype(), self.shape())
    }

    /// The element of a 0-d tensor as a scalar value; integers become `index`.
    pub fn item(self) -> Value<'c> {
        let cx = self.prim.cx();
        let value = self.prim.scalar_op(prim::Item::NAME, &[self.value()], &[], cx.element(self.dtype()));
        if self.dtype() == DType::I64 { self.prim.scalar_op(arith::IndexCast::NAME, &[value], &[], cx.index()) } else { value }
    }

    /// The element of a 0-d integer tensor as a size.
    pub fn item_size(self) -> Size<'c> {
        self.prim.symbol(self.convert(DType::I64).item())
    }
}
