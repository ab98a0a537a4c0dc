//! Results of stages that are under way.

use std::cell::RefCell;
use std::rc::Rc;

use crate::dtype::{DType, Scalar};
use crate::float8::in_register;
use crate::scalar::element;
use crate::tensor::{Tensor, numel};
use crate::value::{InterpError, Value, fail};

/// A tensor of which some elements have been computed.
pub(crate) struct Partial {
    tensor: Tensor,
    done: Vec<bool>,
}

impl Partial {
    /// Nothing is computed.
    pub fn new(dtype: DType, shape: &[usize]) -> Result<Self, InterpError> {
        Ok(Self { tensor: Tensor::zeros(dtype, shape)?, done: vec![false; numel(shape)?] })
    }

    /// All is there.
    pub fn whole(tensor: Tensor) -> Self {
        let done = vec![true; tensor.shape().iter().product()];
        Self { tensor, done }
    }

    /// The element as it is stored, where a scatter writes.
    pub fn stored(&self, at: &[i64]) -> Result<Scalar, InterpError> {
        match contains(&self.tensor, at) {
            true => self.element(at)?.ok_or_else(|| fail("no element")),
            // (The error names the place.)
            false => element(&self.tensor, at),
        }
    }

    /// Stores an element.
    pub fn set(&mut self, at: &[usize], value: Scalar) {
        let flat = self.flat(at);
        self.tensor.set(at, value);
        self.done[flat] = true;
    }

    /// An element; `None` outside of the tensor.
    fn element(&self, at: &[i64]) -> Result<Option<Scalar>, InterpError> {
        if !contains(&self.tensor, at) {
            return Ok(None);
        }
        let index: Vec<usize> = at.iter().map(|&index| index as usize).collect();
        if self.done[self.flat(&index)] {
            return Ok(Some(self.tensor.get(&index)));
        }
        Err(fail(format!("element {at:?} is read before it is computed: the schedule runs the stages in an order that does not fit them")))
    }

    fn flat(&self, at: &[usize]) -> usize {
        at.iter().zip(self.tensor.shape()).fold(0, |flat, (&index, &size)| flat * size + index)
    }

    /// The tensor, with zeros where nothing is computed.
    pub fn tensor(&self) -> &Tensor {
        &self.tensor
    }
}

fn contains(tensor: &Tensor, at: &[i64]) -> bool {
    at.len() == tensor.rank() && at.iter().zip(tensor.shape()).all(|(&index, &size)| index >= 0 && (index as usize) < size)
}

/// What a stage reads.
pub(crate) enum Source {
    /// A value that is there.
    Value(Value),
    /// What a stage before it is computing.
    Partial(Rc<RefCell<Partial>>),
}

impl Source {
    /// An element in a register, or the number that the source is; `None` outside of the tensor.
    pub fn at(&self, at: &[i64]) -> Result<Option<Scalar>, InterpError> {
        match self {
            Self::Value(Value::Tensor(tensor)) if !contains(tensor, at) => Ok(None),
            Self::Value(Value::Tensor(tensor)) => Ok(Some(in_register(tensor.dtype(), element(tensor, at)?))),
            Self::Value(Value::Scalar(number)) => Ok(Some(*number)),
            Self::Value(_) => Err(fail("an operand of a stage is neither a tensor nor a number")),
            Self::Partial(partial) => {
                let partial = partial.borrow();
                Ok(partial.element(at)?.map(|value| in_register(partial.tensor.dtype(), value)))
            }
        }
    }

    /// Whether it has elements.
    pub fn is_tensor(&self) -> bool {
        matches!(self, Self::Value(Value::Tensor(_)) | Self::Partial(_))
    }
}
