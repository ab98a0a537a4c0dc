//! Values that hold tensors: what a traced closure takes and gives.

use std::panic::Location;
use std::sync::Arc;

use smallvec::SmallVec;
use strata_runtime::{DType, Guards, Leaf};

use crate::Error;
use crate::host_scalar::HostScalar;
use crate::state::State;
use crate::tensor::{Inner, Tensor};

/// Sees the leaves of a call.
pub trait Visitor<'t> {
    /// A tensor.
    fn tensor(&mut self, tensor: &'t Tensor);
    /// A number, the length of a list, or something that is left out.
    fn leaf(&mut self, leaf: Leaf<'t>);
    /// A number that may be an input of the program.
    fn number(&mut self, number: &'t HostScalar) {
        self.leaf(number.leaf());
    }
    /// A state, before the tensor that it is in this call.
    fn state(&mut self, _: &'t State) {}
}

/// Changes the leaves of a value. A function of tensors leaves numbers as they are.
pub trait Mapper {
    /// Another tensor in the place of this one.
    fn tensor(&mut self, tensor: &Tensor) -> Tensor;
    /// Another number in the place of this one.
    fn number(&mut self, number: &HostScalar) -> HostScalar {
        number.clone()
    }
}

impl<F: FnMut(&Tensor) -> Tensor> Mapper for F {
    fn tensor(&mut self, tensor: &Tensor) -> Tensor {
        self(tensor)
    }
}

/// A value that holds tensors, lists and numbers. The derive macro of this name makes a struct of such values one.
///
/// Tensors become inputs and outputs of the program. An `f64`, `i64` or `bool`, the length of a `Vec` and whether an `Option` is there are
/// part of the program, which is compiled for each of them; a [`HostScalar`] may become an input.
pub trait TensorTree: Sized {
    /// Whether values of this type hold [`State`]s.
    const STATES: bool = false;
    /// Shows all leaves, in the order in which [`TensorTree::map`] takes them.
    fn visit<'t>(&'t self, visitor: &mut impl Visitor<'t>);
    /// The same value with other tensors and numbers.
    fn map(&self, change: &mut (impl Mapper + ?Sized)) -> Self;
}

impl TensorTree for Tensor {
    #[inline]
    fn visit<'t>(&'t self, visitor: &mut impl Visitor<'t>) {
        visitor.tensor(self);
    }

    fn map(&self, change: &mut (impl Mapper + ?Sized)) -> Tensor {
        change.tensor(self)
    }
}

macro_rules! numbers {
    ($($ty:ty: $leaf:ident;)*) => { $(
        impl TensorTree for $ty {
            #[inline]
            fn visit<'t>(&'t self, visitor: &mut impl Visitor<'t>) {
                visitor.leaf(Leaf::$leaf(*self));
            }

            fn map(&self, _: &mut (impl Mapper + ?Sized)) -> $ty {
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

    fn map(&self, change: &mut (impl Mapper + ?Sized)) -> Vec<T> {
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

    fn map(&self, change: &mut (impl Mapper + ?Sized)) -> Option<T> {
        self.as_ref().map(|value| value.map(change))
    }
}

impl TensorTree for () {
    fn visit<'t>(&'t self, _: &mut impl Visitor<'t>) {}

    fn map(&self, _: &mut (impl Mapper + ?Sized)) {}
}

macro_rules! tuples {
    ($(($($name:ident . $place:tt),*);)*) => { $(
        impl<$($name: TensorTree),*> TensorTree for ($($name,)*) {
            const STATES: bool = false $(|| $name::STATES)*;

            #[inline]
            fn visit<'t>(&'t self, visitor: &mut impl Visitor<'t>) {
                $(self.$place.visit(visitor);)*
            }

            fn map(&self, change: &mut (impl Mapper + ?Sized)) -> Self {
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

    #[inline]
    fn number(&mut self, number: &'t HostScalar) {
        self.0.leaf(if number.is_traced() { Leaf::Length(usize::MAX) } else { number.leaf() });
    }
}

/// The leaves of a call, and its tensors that are no values.
#[derive(Default)]
pub(crate) struct Leaves<'t> {
    pub leaves: Vec<Leaf<'t>>,
    pub inputs: Vec<&'t Arc<strata_runtime::Tensor>>,
    pub others: Vec<&'t Tensor>,
    /// Which inputs are states.
    pub states: Vec<usize>,
    /// Whether some of them are of a closure that is being traced.
    pub traced: bool,
}

impl Leaves<'_> {
    /// What a form of these guards takes: the tensors, and the numbers that are inputs.
    pub fn taken(&self, guards: &Guards) -> Result<Vec<Arc<strata_runtime::Tensor>>, Error> {
        let numbers = guards.numbers().filter_map(|place| number(*self.leaves.get(place)?)).map(|number| number.map(Arc::new));
        self.inputs.iter().map(|tensor| Ok(Arc::clone(tensor))).chain(numbers).collect()
    }
}

impl<'t> Visitor<'t> for Leaves<'t> {
    fn tensor(&mut self, tensor: &'t Tensor) {
        match &tensor.0 {
            Inner::Value(value) => {
                self.leaves.push(Leaf::Tensor(value));
                self.inputs.push(value);
            }
            _ => {
                self.others.push(tensor);
                self.traced |= matches!(tensor.0, Inner::Traced(_));
            }
        }
    }

    fn leaf(&mut self, leaf: Leaf<'t>) {
        self.leaves.push(leaf);
    }

    fn number(&mut self, number: &'t HostScalar) {
        self.leaves.push(number.leaf());
        self.traced |= number.is_traced();
    }

    fn state(&mut self, _: &'t State) {
        self.states.push(self.inputs.len());
    }
}

/// Asks all numbers for their values.
pub(crate) struct Asked(pub &'static Location<'static>);

impl Mapper for Asked {
    fn tensor(&mut self, tensor: &Tensor) -> Tensor {
        tensor.clone()
    }

    fn number(&mut self, number: &HostScalar) -> HostScalar {
        number.value_at(self.0).into()
    }
}

/// A number as programs take it: a tensor of rank 0.
fn number(leaf: Leaf<'_>) -> Option<Result<strata_runtime::Tensor, Error>> {
    let tensor = match leaf {
        Leaf::SymInt(value) => strata_runtime::Tensor::from_slice(DType::I64, &[], &[value]),
        Leaf::SymFloat(value) => strata_runtime::Tensor::from_slice(DType::F64, &[], &[value]),
        _ => return None,
    };
    Some(tensor.map_err(Error::from))
}

/// Tensors of a call for which it asks for no memory.
pub(crate) const FEW: usize = 8;

/// The tensors of a call, and its numbers that may be inputs, by their places among the leaves.
#[derive(Default)]
pub(crate) struct Inputs<'t> {
    pub tensors: SmallVec<[&'t strata_runtime::Tensor; FEW]>,
    numbers: Vec<(usize, Leaf<'t>)>,
    place: usize,
}

impl Inputs<'_> {
    /// The numbers of these places.
    #[inline]
    pub fn numbers(&self, places: &[usize]) -> Result<Vec<strata_runtime::Tensor>, Error> {
        if places.is_empty() {
            return Ok(Vec::new());
        }
        self.numbers.iter().filter(|(place, _)| places.contains(place)).filter_map(|(_, leaf)| number(*leaf)).collect()
    }
}

impl<'t> Visitor<'t> for Inputs<'t> {
    #[inline]
    fn tensor(&mut self, tensor: &'t Tensor) {
        if let Inner::Value(value) = &tensor.0 {
            self.tensors.push(value);
        }
        self.place += 1;
    }

    #[inline]
    fn leaf(&mut self, _: Leaf<'t>) {
        self.place += 1;
    }

    #[inline]
    fn number(&mut self, number: &'t HostScalar) {
        self.numbers.push((self.place, number.leaf()));
        self.place += 1;
    }
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
