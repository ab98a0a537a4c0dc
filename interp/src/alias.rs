//! Tensors that share storage, for programs that still mutate.
//!
//! A reference is a storage and, for each element, a position in it. A view of a reference is the
//! same view taken of its positions, so no view operator needs to be described twice. Positions
//! count bytes, so that a storage can be seen under several element types.

use super::dtype::{DType, Scalar};
use super::tensor::Tensor;
use super::value::{InterpError, fail};
use strata_dialects::aten::{Operator, op};
use strata_dialects::capture::{Storage, inverse};

/// Where a tensor's elements live.
#[derive(Clone, Debug)]
pub struct Ref {
    storage: usize,
    dtype: DType,
    /// The byte of the storage at which each element begins, in the tensor's shape.
    positions: Tensor,
}

impl Ref {
    /// Which storage this refers to.
    pub fn storage(&self) -> usize {
        self.storage
    }

    /// The type of its elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The positions, to take a view of.
    pub fn positions(&self) -> &Tensor {
        &self.positions
    }

    /// A view of the reference, given the view of its positions.
    pub fn view(&self, positions: Tensor) -> Ref {
        Ref { positions, ..*self }
    }

    /// The number of elements in the storage before the first one of the reference.
    pub fn offset(&self) -> i64 {
        if self.positions.is_empty() { 0 } else { self.positions.at(0).int() as i64 / self.dtype.size() as i64 }
    }

    /// The same bytes as elements of another type and shape; `skip` bytes of each element come first.
    pub fn recast(&self, dtype: DType, shape: &[usize], skip: usize) -> Result<Ref, InterpError> {
        let (from, to) = (self.dtype.size() - skip, dtype.size());
        let pieces = if skip > 0 || shape == self.positions.shape() { 1 } else { (from / to).max(1) };
        let starts = self.positions.ints().into_iter().step_by((to / from).max(1));
        let positions = starts.flat_map(|start| (0..pieces).map(move |piece| Scalar::Int(start + (skip + piece * to) as i128)));
        Ok(Ref { storage: self.storage, dtype, positions: Tensor::from_scalars(DType::I64, shape, positions)? })
    }
}

/// All storages of a run, as bytes.
#[derive(Default, Debug)]
pub struct Heap {
    storages: Vec<Vec<u8>>,
}

/// Overloads that give views of their first tensor. `reshape`, `contiguous` and the like give
/// views only of dense tensors.
const VIEWS: &[&str] = &[
    "alias",
    "as_strided",
    "broadcast_to",
    "chunk",
    "contiguous",
    "detach",
    "diagonal",
    "dsplit",
    "expand",
    "expand_as",
    "flatten",
    "hsplit",
    "mT",
    "moveaxis",
    "movedim",
    "narrow",
    "numpy_T",
    "permute",
    "ravel",
    "reshape",
    "reshape_as",
    "select",
    "slice",
    "split",
    "split_with_sizes",
    "squeeze",
    "swapaxes",
    "swapdims",
    "t",
    "tensor_split",
    "transpose",
    "unbind",
    "unflatten",
    "unfold",
    "unsqueeze",
    "view",
    "view_as",
    "vsplit",
    "positive",
    "broadcast_in_dim",
    "collapse_view",
    "split_dim",
    "view_of",
    "mH",
    "adjoint",
    "matrix_H",
    "linalg_diagonal",
    "lift_fresh",
    "conj",
    "resolve_conj",
    "resolve_neg",
    "pin_memory",
];

/// Overloads of [`VIEWS`] that compute something of a complex tensor.
const REAL_VIEWS: &[&str] = &["mH", "adjoint", "matrix_H", "conj", "resolve_conj"];

/// In-place overloads whose functional overload has another name.
const RENAMED: &[(Operator, Operator)] = &[
    (op::LDEXP_, op::LDEXP_TENSOR),
    (op::POW__SCALAR, op::POW_TENSOR_SCALAR),
    (op::POW__TENSOR, op::POW_TENSOR_TENSOR),
    (op::TRANSPOSE_, op::TRANSPOSE_INT),
];

/// The operator's name without dialect and overload.
fn base(operator: Operator) -> &'static str {
    operator.name().split('.').nth(1).unwrap_or_default()
}

/// True when the overload gives views of its first tensor, of this element type.
pub fn is_view(operator: Operator, dtype: DType) -> bool {
    let base = base(operator);
    VIEWS.contains(&base) && operator != op::VIEW_DTYPE && !(dtype.is_complex() && REAL_VIEWS.contains(&base))
}

/// For an overload that sees the bytes of its first tensor as another element type, how many of each element it passes over.
pub fn recasts(operator: Operator, dtype: DType) -> Option<usize> {
    match base(operator) {
        "view_as_real" | "view_as_complex" | "real" | "view_of_dtype" => Some(0),
        "view" if operator == op::VIEW_DTYPE => Some(0),
        "imag" => Some(dtype.size() / 2),
        _ => None,
    }
}

/// Whether the operator writes to its first argument.
pub fn is_in_place(operator: Operator) -> bool {
    let base = base(operator);
    operator == op::prims::COPY_TO || base.ends_with('_') && !base.ends_with("__")
}

/// The functional overload of an in-place one; `prims.copy_to` gives what it writes.
pub fn functional(operator: Operator) -> Option<Operator> {
    if operator == op::prims::COPY_TO {
        return Some(operator);
    }
    let renamed = RENAMED.iter().find(|(in_place, _)| *in_place == operator).map(|(_, functional)| *functional);
    let base = base(operator);
    renamed.or_else(|| Operator::named(&operator.name().replacen(base, base.strip_suffix('_')?, 1)))
}

/// Whether an in-place operator changes only shape and strides; one that resizes makes a new storage.
pub fn reshapes(operator: Operator) -> bool {
    operator.schema().has("inplace_view") && !matches!(operator, op::RESIZE_ | op::RESIZE_AS_)
}

impl Heap {
    /// A new storage holding a tensor, which lies in it as said, or else row-major.
    pub fn store(&mut self, t: &Tensor, lies: &Storage) -> Result<Ref, InterpError> {
        let (stored, back) = match lies {
            Storage::Order(order) if order.len() == t.rank() => (t.permute(order)?, Some(inverse(order))),
            _ => (t.clone(), None),
        };
        let positions = counted(stored.shape(), t.len(), t.dtype())?;
        let positions = back.map_or(Ok(positions.clone()), |back| positions.permute(&back))?;
        self.storages.push(stored.to_bytes());
        Ok(Ref { storage: self.storages.len() - 1, dtype: t.dtype(), positions })
    }

    fn bytes(&self, r: &Ref) -> Result<&[u8], InterpError> {
        self.storages.get(r.storage).map(Vec::as_slice).ok_or_else(|| fail("no such storage"))
    }

    /// The whole storage of a reference as a tensor of rank 1.
    pub fn whole(&self, r: &Ref) -> Result<Ref, InterpError> {
        let len = self.bytes(r)?.len() / r.dtype.size();
        Ok(r.view(counted(&[len], len, r.dtype)?))
    }

    /// The tensor's present value.
    pub fn load(&self, r: &Ref) -> Result<Tensor, InterpError> {
        let (storage, size) = (self.bytes(r)?, r.dtype.size());
        let mut bytes = Vec::with_capacity(r.positions.len() * size);
        for start in r.positions.ints() {
            let element = usize::try_from(start).ok().and_then(|start| storage.get(start..start.checked_add(size)?));
            bytes.extend(element.ok_or_else(|| fail("a view leaves its storage"))?);
        }
        Tensor::from_bytes(r.dtype, r.positions.shape(), &bytes)
    }

    /// Overwrites the tensor's elements, and with them those of all its views.
    pub fn write(&mut self, r: &Ref, value: &Tensor) -> Result<(), InterpError> {
        let (value, size) = (value.expand(r.positions.shape())?.cast(r.dtype).to_bytes(), r.dtype.size());
        let storage = self.storages.get_mut(r.storage).ok_or_else(|| fail("no such storage"))?;
        for (start, element) in r.positions.ints().into_iter().zip(value.chunks(size)) {
            let place = usize::try_from(start).ok().and_then(|start| storage.get_mut(start..start.checked_add(size)?));
            place.ok_or_else(|| fail("a view leaves its storage"))?.copy_from_slice(element);
        }
        Ok(())
    }
}

/// The positions of so many elements one behind the other.
fn counted(shape: &[usize], len: usize, dtype: DType) -> Result<Tensor, InterpError> {
    Tensor::from_scalars(DType::I64, shape, (0..len).map(|k| Scalar::Int((k * dtype.size()) as i128)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_to_a_view_reaches_the_base() -> Result<(), InterpError> {
        let mut heap = Heap::default();
        let base = heap.store(&Tensor::from_ints(&[2, 2], &[1, 2, 3, 4])?, &Storage::RowMajor)?;
        let row = base.view(base.positions().select(0, 1)?);
        heap.write(&row, &Tensor::from_ints(&[], &[9])?)?;
        assert_eq!(heap.load(&base)?, Tensor::from_ints(&[2, 2], &[1, 2, 9, 9])?);
        Ok(())
    }

    #[test]
    fn names_of_functional_overloads() {
        assert_eq!(functional(op::ADD__TENSOR), Some(op::ADD_TENSOR));
        assert_eq!(functional(op::RELU_), Some(op::RELU));
        assert!(is_in_place(op::RELU_) && !is_in_place(op::__AND___TENSOR));
        assert!(reshapes(op::SQUEEZE__DIM) && !reshapes(op::SQUARE_) && !reshapes(op::RESIZE_));
    }
}
