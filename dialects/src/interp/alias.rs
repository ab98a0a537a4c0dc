//! Tensors that share storage, for programs that still mutate.
//!
//! A reference is a storage and, for each element, a position in it. A view of a reference is the
//! same view taken of its positions, so no view operator needs to be described twice.

use super::dtype::{DType, Scalar};
use super::tensor::Tensor;
use super::value::{InterpError, fail};

/// Where a tensor's elements live.
#[derive(Clone, Debug)]
pub struct Ref {
    storage: usize,
    /// Positions in the storage, in the tensor's shape.
    positions: Tensor,
}

impl Ref {
    /// Which storage this refers to.
    pub fn storage(&self) -> usize {
        self.storage
    }
}

/// All storages of a run.
#[derive(Default, Debug)]
pub struct Heap {
    storages: Vec<Tensor>,
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
];

/// In-place overloads whose functional overload has another name.
const RENAMED: &[(&str, &str)] = &[
    ("aten.ldexp_", "aten.ldexp.Tensor"),
    ("aten.pow_.Scalar", "aten.pow.Tensor_Scalar"),
    ("aten.pow_.Tensor", "aten.pow.Tensor_Tensor"),
    ("aten.transpose_", "aten.transpose.int"),
];

/// Operators whose in-place form changes only shape and strides.
const RESHAPING: &[&str] =
    &["aten.as_strided", "aten.detach", "aten.squeeze", "aten.swapaxes", "aten.swapdims", "aten.t", "aten.transpose", "aten.unsqueeze"];

/// The operator's name without dialect and overload.
fn base(name: &str) -> &str {
    name.split('.').nth(1).unwrap_or(name)
}

/// True when the overload gives views of its first tensor.
pub fn is_view(name: &str) -> bool {
    VIEWS.contains(&base(name)) && !name.ends_with("view.dtype")
}

/// The functional overload of an in-place one.
pub fn functional(name: &str) -> Option<String> {
    if name == "prims.copy_to" {
        return Some(name.to_string());
    }
    let base = base(name);
    if !base.ends_with('_') || base.ends_with("__") {
        return None;
    }
    if let Some((_, f)) = RENAMED.iter().find(|(n, _)| *n == name) {
        return Some(f.to_string());
    }
    Some(name.replacen(base, &base[..base.len() - 1], 1))
}

/// True when the in-place form of this functional overload changes only shape and strides.
pub fn reshapes(functional: &str) -> bool {
    RESHAPING.contains(&functional) || RESHAPING.iter().any(|r| functional.strip_prefix(r).is_some_and(|rest| rest.starts_with('.')))
}

impl Heap {
    /// A new storage holding a tensor.
    pub fn store(&mut self, t: &Tensor) -> Result<Ref, InterpError> {
        self.storages.push(t.reshape(&[t.len()])?);
        let positions = Tensor::from_scalars(DType::I64, t.shape(), (0..t.len()).map(|k| Scalar::Int(k as i128)))?;
        Ok(Ref { storage: self.storages.len() - 1, positions })
    }

    /// The tensor's present value.
    pub fn load(&self, r: &Ref) -> Result<Tensor, InterpError> {
        let s = self.storages.get(r.storage).ok_or_else(|| fail("no such storage"))?;
        let positions: Vec<usize> = r.positions.ints().into_iter().map(|k| k as usize).collect();
        if positions.iter().any(|&k| k >= s.len()) {
            return Err(fail("a view leaves its storage"));
        }
        Ok(s.pick(r.positions.shape(), &positions))
    }

    /// Overwrites the tensor's elements, and with them those of all its views.
    pub fn write(&mut self, r: &Ref, value: &Tensor) -> Result<(), InterpError> {
        let value = value.expand(r.positions.shape())?;
        let s = self.storages.get_mut(r.storage).ok_or_else(|| fail("no such storage"))?;
        for k in 0..value.len() {
            s.put(r.positions.at(k).int() as usize, value.at(k));
        }
        Ok(())
    }

    /// The positions, to take a view of.
    pub fn positions<'a>(&self, r: &'a Ref) -> &'a Tensor {
        &r.positions
    }

    /// A view of the reference, given the view of its positions.
    pub fn view(&self, r: &Ref, positions: Tensor) -> Ref {
        Ref { storage: r.storage, positions }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_to_a_view_reaches_the_base() -> Result<(), InterpError> {
        let mut heap = Heap::default();
        let base = heap.store(&Tensor::from_ints(&[2, 2], &[1, 2, 3, 4])?)?;
        let row = heap.view(&base, heap.positions(&base).select(0, 1)?);
        heap.write(&row, &Tensor::from_ints(&[], &[9])?)?;
        assert_eq!(heap.load(&base)?, Tensor::from_ints(&[2, 2], &[1, 2, 9, 9])?);
        Ok(())
    }

    #[test]
    fn names_of_functional_overloads() {
        assert_eq!(functional("aten.add_.Tensor").as_deref(), Some("aten.add.Tensor"));
        assert_eq!(functional("aten.relu_").as_deref(), Some("aten.relu"));
        assert_eq!(functional("aten.__and__.Tensor"), None);
        assert!(reshapes("aten.squeeze.dim") && !reshapes("aten.square"));
    }
}
