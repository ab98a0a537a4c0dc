//! Values that hold tensors: what a traced closure takes and gives.

use std::sync::Arc;

use strata_runtime::Leaf;

use crate::state::State;
use crate::tensor::{Inner, Tensor};

/// Sees the leaves of a call.
pub trait Visitor<'t> {
    /// A tensor.
    fn tensor(&mut self, tensor: &'t Tensor);
    /// A number, the length of a list, or something that is left out.
    fn leaf(&mut self, leaf: Leaf<'t>);
    /// A state, before the tensor that it is in this call.
    fn state(&mut self, _: &'t State) {}
}

/// A value that holds tensors, lists and numbers. The derive macro of this name makes a struct of such values one.
///
/// Tensors become inputs and outputs of the program. A number, the length of a `Vec` and whether an `Option` is there are part of the
/// program, which is compiled for each of them.
pub trait TensorTree: Sized {
    /// Whether values of this type hold [`State`]s.
    const STATES: bool = false;
    /// Shows all leaves, in the order in which [`TensorTree::map`] takes the tensors.
    fn visit<'t>(&'t self, visitor: &mut impl Visitor<'t>);
    /// The same value with other tensors.
    fn map(&self, change: &mut impl FnMut(&Tensor) -> Tensor) -> Self;
}

impl TensorTree for Tensor {
    #[inline]
    fn visit<'t>(&'t self, visitor: &mut impl Visitor<'t>) {
        visitor.tensor(self);
    }

    fn map(&self, change: &mut impl FnMut(&Tensor) -> Tensor) -> Tensor {
        change(self)
    }
}

macro_rules! numbers {
    ($($ty:ty: $leaf:ident;)*) => { $(
        impl TensorTree for $ty {
            #[inline]
            fn visit<'t>(&'t self, visitor: &mut impl Visitor<'t>) {
                visitor.leaf(Leaf::$leaf(*self));
            }

            fn map(&self, _: &mut impl FnMut(&Tensor) -> Tensor) -> $ty {
                *self
            }
        }
    )* };
}

numbers! { i64: Int; f64: Float; bool: Bool; }

impl<T: TensorTree> TensorTree for Vec<T> {
    const STATES: bool = T::STATES;

    #[inline]
    fn visit<'t>(&'t self, visitor: &mut impl Visitor<'t>) {
        visitor.leaf(Leaf::Length(self.len()));
        self.iter().for_each(|item| item.visit(visitor));
    }

    fn map(&self, change: &mut impl FnMut(&Tensor) -> Tensor) -> Vec<T> {
        self.iter().map(|item| item.map(change)).collect()
    }
}

impl<T: TensorTree> TensorTree for Option<T> {
    const STATES: bool = T::STATES;

    #[inline]
    fn visit<'t>(&'t self, visitor: &mut impl Visitor<'t>) {
        match self {
            Some(value) => {
                visitor.leaf(Leaf::Length(1));
                value.visit(visitor);
            }
            None => visitor.leaf(Leaf::Absent),
        }
    }

    fn map(&self, change: &mut impl FnMut(&Tensor) -> Tensor) -> Option<T> {
        self.as_ref().map(|value| value.map(change))
    }
}

impl TensorTree for () {
    fn visit<'t>(&'t self, _: &mut impl Visitor<'t>) {}

    fn map(&self, _: &mut impl FnMut(&Tensor) -> Tensor) {}
}

macro_rules! tuples {
    ($(($($name:ident . $place:tt),*);)*) => { $(
        impl<$($name: TensorTree),*> TensorTree for ($($name,)*) {
            const STATES: bool = false $(|| $name::STATES)*;

            #[inline]
            fn visit<'t>(&'t self, visitor: &mut impl Visitor<'t>) {
                $(self.$place.visit(visitor);)*
            }

            fn map(&self, change: &mut impl FnMut(&Tensor) -> Tensor) -> Self {
                ($(self.$place.map(change),)*)
            }
        }
    )* };
}

tuples! { (A.0); (A.0, B.1); (A.0, B.1, C.2); (A.0, B.1, C.2, D.3); }

/// The guards of a form, checked leaf by leaf.
pub(crate) struct Checked<'g>(pub strata_runtime::guards::Check<'g>);

impl<'t> Visitor<'t> for Checked<'_> {
    #[inline]
    fn tensor(&mut self, tensor: &'t Tensor) {
        match &tensor.0 {
            Inner::Value(value) => self.0.leaf(Leaf::Tensor(value)),
            // No guard holds for it.
            _ => self.0.leaf(Leaf::Length(usize::MAX)),
        }
    }

    #[inline]
    fn leaf(&mut self, leaf: Leaf<'t>) {
        self.0.leaf(leaf);
    }
}

/// The leaves of a call, and its tensors that are no values.
#[derive(Default)]
pub(crate) struct Leaves<'t> {
    pub leaves: Vec<Leaf<'t>>,
    pub inputs: Vec<&'t Arc<strata_runtime::Tensor>>,
    pub others: Vec<&'t Tensor>,
}

impl Leaves<'_> {
    /// The tensors of the call.
    pub fn tensors(&self) -> Vec<&strata_runtime::Tensor> {
        self.inputs.iter().map(|tensor| &***tensor).collect()
    }

    /// The same, to be kept.
    pub fn shared(&self) -> Vec<Arc<strata_runtime::Tensor>> {
        self.inputs.iter().map(|tensor| Arc::clone(tensor)).collect()
    }
}

impl<'t> Visitor<'t> for Leaves<'t> {
    fn tensor(&mut self, tensor: &'t Tensor) {
        match &tensor.0 {
            Inner::Value(value) => {
                self.leaves.push(Leaf::Tensor(value));
                self.inputs.push(value);
            }
            _ => self.others.push(tensor),
        }
    }

    fn leaf(&mut self, leaf: Leaf<'t>) {
        self.leaves.push(leaf);
    }
}

/// The tensors of a call.
#[derive(Default)]
pub(crate) struct Inputs<'t>(pub Vec<&'t strata_runtime::Tensor>);

impl<'t> Visitor<'t> for Inputs<'t> {
    #[inline]
    fn tensor(&mut self, tensor: &'t Tensor) {
        if let Inner::Value(value) = &tensor.0 {
            self.0.push(value);
        }
    }

    #[inline]
    fn leaf(&mut self, _: Leaf<'t>) {}
}

/// The tensors of a value, and the rest of it.
#[derive(Default)]
pub(crate) struct Parts<'t> {
    pub tensors: Vec<&'t Tensor>,
    pub leaves: Vec<Leaf<'t>>,
}

impl<'t> Parts<'t> {
    pub fn of(tree: &'t impl TensorTree) -> Parts<'t> {
        let mut parts = Parts::default();
        tree.visit(&mut parts);
        parts
    }
}

impl<'t> Visitor<'t> for Parts<'t> {
    fn tensor(&mut self, tensor: &'t Tensor) {
        self.tensors.push(tensor);
    }

    fn leaf(&mut self, leaf: Leaf<'t>) {
        self.leaves.push(leaf);
    }
}
