//! Values of a model while it is imported: tensors of the program, tensors whose elements are known, and what holds several of them.

use std::rc::Rc;

use strata_core::ir::{self, ElementType};

use super::data::Data;

/// A value of the model.
#[derive(Debug, Clone)]
pub(super) enum Value<'c> {
    /// An input that is left out, or an optional value that holds nothing.
    Absent,
    /// A tensor of the program.
    Tensor(ir::Value<'c>),
    /// A tensor of the model.
    Data(Rc<Data>),
    /// A small tensor of integers, each known or a size that only a call knows.
    Known(Rc<Known<'c>>),
    /// A sequence.
    Sequence(Rc<Vec<Value<'c>>>),
}

/// A tensor of integers or bool whose elements are known, or are numbers of the program.
#[derive(Debug, Clone)]
pub(super) struct Known<'c> {
    /// The element type.
    pub dtype: ElementType,
    /// The sizes.
    pub shape: Vec<i64>,
    /// The elements in row-major order.
    pub items: Vec<Num<'c>>,
}

/// An element of [`Known`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Num<'c> {
    /// Known.
    Int(i64),
    /// An `index`, or an `i1` where the tensor is of bool.
    Value(ir::Value<'c>),
}

impl<'c> Value<'c> {
    /// What it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Absent => "nothing",
            Value::Tensor(_) | Value::Data(_) | Value::Known(_) => "a tensor",
            Value::Sequence(_) => "a sequence",
        }
    }

    /// The element type of a tensor.
    pub fn dtype(&self) -> Option<ElementType> {
        match self {
            Value::Tensor(tensor) => tensor.ty().element_type(),
            Value::Data(data) => Some(data.dtype),
            Value::Known(known) => Some(known.dtype),
            _ => None,
        }
    }

    /// The sizes of a tensor; those that only a call knows are [`ir::DYNAMIC`].
    pub fn shape(&self) -> Option<Vec<i64>> {
        match self {
            Value::Tensor(tensor) => Some(tensor.ty().shape()),
            Value::Data(data) => Some(data.shape.clone()),
            Value::Known(known) => Some(known.shape.clone()),
            _ => None,
        }
    }

    /// A tensor of rank 1 of sizes.
    pub fn sizes(items: Vec<Num<'c>>) -> Self {
        let shape = vec![items.len() as i64];
        Value::Known(Rc::new(Known { dtype: ElementType::I64, shape, items }))
    }

    /// A tensor of rank 0.
    pub fn number(dtype: ElementType, item: Num<'c>) -> Self {
        Value::Known(Rc::new(Known { dtype, shape: Vec::new(), items: vec![item] }))
    }
}

impl<'c> Known<'c> {
    /// The elements, where all of them are known.
    pub fn ints(&self) -> Option<Vec<i64>> {
        self.items.iter().map(|item| if let Num::Int(value) = item { Some(*value) } else { None }).collect()
    }
}
