//! Compiled forms: what they assume of a call, and what they run.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use strata_runtime::{self as runtime, Guards};

use crate::Error;
use crate::graph::Graph;
use crate::segments::{Event, Segment, Tree, Values, Walked};
use crate::state::States;
use crate::tensor::{Inner, Tensor};
use crate::tree::TensorTree;

/// What a call gives: the closure's result, and what it assigned to its states.
pub(crate) type Given<R> = (R, Vec<Option<Tensor>>);

/// A compiled form.
pub(crate) struct Entry<R> {
    pub guards: Guards,
    /// The places of the numbers that are inputs.
    pub numbers: Vec<usize>,
    pub form: Form<R>,
    pub calls: AtomicU64,
    /// Why the forms before did not serve.
    pub reason: String,
    pub took: Duration,
    pub guard_cost: Duration,
}

/// A form, and what it computed of the call that was traced.
pub(crate) type NewEntry<R> = (Entry<Given<R>>, Option<Given<R>>);

/// What a form runs.
pub(crate) enum Form<R> {
    /// One program, and the closure's result, with the places of outputs in it.
    Whole(Box<Segment>, R),
    /// The segments of a closure that asks for numbers.
    Broken(RwLock<Tree<R>>),
}

/// What a trace gives: a form, and what it computed of the call that was traced.
pub(crate) struct Made<R> {
    pub form: Form<R>,
    pub given: Option<R>,
}

/// The states among the inputs whose new values are the last outputs and of the same type: they may be written over the old ones.
pub(crate) fn changes(graph: &Graph, states: &[usize], assigned: &[Option<Tensor>], outputs: &[usize]) -> Vec<usize> {
    let mut changes = Vec::new();
    for (state, value) in states.iter().zip(assigned).rev() {
        let Some(Tensor(Inner::Output(place))) = value else { continue };
        let (old, new) = (&graph.types[*state], &graph.types[outputs[*place]]);
        if place + changes.len() + 1 != outputs.len() || old != new || !old.is_static() {
            break;
        }
        changes.push(*state);
    }
    changes.reverse();
    changes
}

/// A closure's result with the tensors of its outputs.
pub(crate) fn filled<R: TensorTree>(result: &R, outputs: &[usize], values: &Values) -> R {
    result.map(&mut |tensor: &Tensor| match tensor.0 {
        Inner::Output(place) => match outputs.get(place).and_then(|value| values.get(value)) {
            Some(value) => Tensor(Inner::Value(value.clone())),
            None => tensor.clone(),
        },
        _ => tensor.clone(),
    })
}

/// What a call did before it gave an answer that no call gave before.
pub(crate) type Known = (Values, Vec<Event>);

impl<R: TensorTree> Entry<R> {
    /// Runs a call, or as much of it as calls before it did.
    pub fn run(&self, inputs: &[&runtime::Tensor]) -> Result<Result<R, Known>, Error> {
        self.calls.fetch_add(1, Relaxed);
        match &self.form {
            Form::Whole(program, result) => {
                let outputs: Vec<Tensor> = program.run(inputs)?.into_iter().map(Tensor::from).collect();
                Ok(Ok(result.map(&mut |tensor: &Tensor| match tensor.0 {
                    Inner::Output(place) => outputs[place].clone(),
                    _ => tensor.clone(),
                })))
            }
            Form::Broken(tree) => Ok(match tree.read().unwrap_or_else(PoisonError::into_inner).walk(inputs)? {
                Walked::Done(result, outputs, values) => Ok(filled(&*result, &outputs, &values)),
                Walked::Open(values, events) => Err((values, events)),
            }),
        }
    }
}

impl<R: TensorTree> Entry<Given<R>> {
    /// Whether it may write new values of states over the old ones.
    pub fn changes(&self) -> bool {
        matches!(&self.form, Form::Whole(program, _) if !program.changes.is_empty())
    }

    /// Runs a call that changes states, whose places among the inputs these are. Memory of states that nobody else has is written over.
    pub fn run_owning(&self, inputs: Vec<Arc<runtime::Tensor>>, places: &[usize], states: &States<'_>) -> Result<R, Error> {
        let Form::Whole(program, result) = &self.form else { return Err(Error::Value("a form with breaks changes no memory".to_owned())) };
        self.calls.fetch_add(1, Relaxed);
        // Who asks for a value waits until the call is over.
        let mut values = states.values();
        for (value, place) in values.iter_mut().zip(places).filter(|(_, place)| program.changes.contains(place)) {
            // The state has one, and the call the other.
            if Arc::strong_count(&inputs[*place]) == 2 {
                **value = Tensor(Inner::Output(*place));
            }
        }
        let (outputs, kept) = program.run_owning(inputs);
        for (place, tensor) in kept {
            if let Some(at) = places.iter().position(|known| *known == place) {
                *values[at] = tensor.into();
            }
        }
        let outputs: Vec<Tensor> = outputs?.into_iter().map(Tensor::from).collect();
        let (result, assigned) = result.map(&mut |tensor: &Tensor| match tensor.0 {
            Inner::Output(place) => outputs[place].clone(),
            _ => tensor.clone(),
        });
        for (value, assigned) in values.iter_mut().zip(assigned) {
            if let Some(assigned) = assigned {
                **value = assigned;
            }
        }
        Ok(result)
    }
}
