//! What crosses the border of a traced closure: arguments become values of the record, results places of outputs.

use std::ops::RangeFrom;
use std::panic::Location;
use std::sync::Arc;

use strata_runtime::guards::Guard;
use strata_runtime::{Guards, Leaf};

use crate::Error;
use crate::argument::Scalar;
use crate::graph::{Trace, Traced};
use crate::host_scalar::{HostScalar, Origin};
use crate::tensor::{Inner, Tensor};
use crate::tree::{Asked, Mapper};

/// The arguments of a call as values of a record.
pub(crate) struct Entering {
    trace: Arc<Trace>,
    tensors: RangeFrom<usize>,
    /// The values of the numbers that may be inputs, in order; nothing of those that are part of the program.
    numbers: std::vec::IntoIter<Option<usize>>,
}

impl Entering {
    pub fn new(trace: Arc<Trace>, guards: &Guards, leaves: &[Leaf<'_>]) -> Entering {
        let mut values = leaves.iter().filter(|leaf| matches!(leaf, Leaf::Tensor(_))).count()..;
        let mut numbers = Vec::new();
        for (guard, leaf) in guards.list().iter().zip(leaves) {
            if let Leaf::SymInt(_) | Leaf::SymFloat(_) = leaf {
                numbers.push(if let Guard::SymInt | Guard::SymFloat = guard { values.next() } else { None });
            }
        }
        Entering { trace, tensors: 0.., numbers: numbers.into_iter() }
    }
}

impl Mapper for Entering {
    fn tensor(&mut self, _: &Tensor) -> Tensor {
        let value = self.tensors.next().unwrap_or_default();
        Tensor(Inner::Traced(Traced::new(self.trace.clone(), value)))
    }

    fn number(&mut self, number: &HostScalar) -> HostScalar {
        let input = if let Scalar::Bool(_) = number.value { None } else { self.numbers.next().flatten() };
        let origin = input.map_or(Origin::Known, |value| Origin::Input(Traced::new(self.trace.clone(), value)));
        HostScalar { value: number.value, origin }
    }
}

/// The result of a closure with the places of outputs in it.
pub(crate) struct Leaving {
    trace: Arc<Trace>,
    place: &'static Location<'static>,
    pub outputs: Vec<usize>,
    pub failure: Option<Error>,
}

impl Leaving {
    pub fn new(trace: Arc<Trace>, place: &'static Location<'static>) -> Leaving {
        Leaving { trace, place, outputs: Vec::new(), failure: None }
    }
}

impl Mapper for Leaving {
    fn tensor(&mut self, tensor: &Tensor) -> Tensor {
        let value = match &tensor.0 {
            Inner::Value(_) => return tensor.clone(),
            Inner::Failed(failed) => Err(failed.error()),
            Inner::Traced(_) | Inner::Output(_) => self.trace.value_of(tensor).map_err(|why| Error::Trace { place: self.place, why }),
        };
        match value {
            Ok(value) => {
                self.outputs.push(value);
                Tensor(Inner::Output(self.outputs.len() - 1))
            }
            Err(error) => {
                self.failure.get_or_insert(error);
                tensor.clone()
            }
        }
    }

    fn number(&mut self, number: &HostScalar) -> HostScalar {
        Asked(self.place).number(number)
    }
}
