//! Tensors that calls change: caches, running means, counters.

use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use strata_runtime::Leaf;

use crate::Error;
use crate::host_scalar::HostScalar;
use crate::tensor::{Failure, Inner, Tensor};
use crate::tree::{Mapper, TensorTree, Visitor};

/// A tensor that calls of a function read and change. It is an argument of the function, or part of one. The closure gets the old value
/// and assigns a new one, which is the state's when the call is over; a call that fails changes nothing.
///
/// Clones are the same state. Calls on one state run one after the other, whichever threads they are of.
///
/// ```
/// use strata::{State, Tensor, jit};
///
/// let push = jit(|sum: &State, x: &Tensor| {
///     sum.update(|sum| sum.add(x));
///     sum.get().mul_scalar(2.0)
/// });
/// let sum = State::new(Tensor::new(&[0.0f32], &[1])?);
/// push.call(&sum, &Tensor::new(&[1.5f32], &[1])?)?;
/// assert_eq!(push.call(&sum, &Tensor::new(&[2.0f32], &[1])?)?.to_vec::<f32>()?, [7.0]);
/// assert_eq!(sum.value().to_vec::<f32>()?, [3.5]);
/// # Ok::<(), strata::Error>(())
/// ```
#[derive(Clone)]
pub struct State(Place);

#[derive(Clone)]
enum Place {
    /// Outside of the calls.
    Kept(Arc<Kept>),
    /// Inside of one.
    Call(Arc<InCall>),
}

struct Kept {
    /// Whose turn it is: held by a call from its guards to its new value.
    turn: Mutex<()>,
    value: Mutex<Tensor>,
}

struct InCall {
    given: Tensor,
    assigned: Mutex<Option<Tensor>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is locked is replaced whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    /// A state with a first value.
    pub fn new(value: Tensor) -> State {
        State(Place::Kept(Arc::new(Kept { turn: Mutex::new(()), value: Mutex::new(value) })))
    }

    /// The value after the calls so far. Inside of a closure, [`State::get`] is the one to ask.
    pub fn value(&self) -> Tensor {
        match &self.0 {
            Place::Kept(kept) => lock(&kept.value).clone(),
            Place::Call(_) => self.get(),
        }
    }

    /// Inside of a closure: the value that was assigned last, or that the call began with.
    #[track_caller]
    pub fn get(&self) -> Tensor {
        match &self.0 {
            Place::Call(call) => lock(&call.assigned).clone().unwrap_or_else(|| call.given.clone()),
            Place::Kept(_) => Tensor::failed(
                Location::caller(),
                "`get` of a state that is no argument of the call; make it one, or take its `value` outside of closures",
            ),
        }
    }

    /// Assigns a value, inside of a closure or between calls. Its sizes may be others than before: the next call has guards for them.
    #[track_caller]
    pub fn set(&self, value: &Tensor) {
        let place = Location::caller();
        match &self.0 {
            Place::Call(call) => {
                if let Some(trace) = call.given.record().filter(|trace| trace.lock().in_body()) {
                    let why = "a state is assigned inside of a body of `cond`, `while_loop` or `scan`; let the body give the new value";
                    trace.fail(Arc::new(Failure { place, why: why.to_owned(), trace: Arc::downgrade(trace) }));
                }
                *lock(&call.assigned) = Some(value.clone());
            }
            Place::Kept(kept) => match value.record() {
                Some(trace) => {
                    let why = "`set` of a state that is no argument of the call; make it one".to_owned();
                    trace.fail(Arc::new(Failure { place, why, trace: Arc::downgrade(trace) }));
                }
                None => {
                    let _turn = lock(&kept.turn);
                    *lock(&kept.value) = value.clone();
                }
            },
        }
    }

    /// Assigns what a function makes of the value: `cache.update(|cache| cache.index_copy(0, at, rows))` is PyTorch's
    /// `cache.index_copy_(0, at, rows)`.
    #[track_caller]
    pub fn update(&self, change: impl FnOnce(&Tensor) -> Tensor) {
        let value = change(&self.get());
        self.set(&value);
    }
}

impl TensorTree for State {
    const STATES: bool = true;

    fn visit<'t>(&'t self, visitor: &mut impl Visitor<'t>) {
        visitor.state(self);
        if let Place::Call(call) = &self.0 {
            visitor.tensor(&call.given);
        }
    }

    fn map(&self, change: &mut (impl Mapper + ?Sized)) -> State {
        let given = match &self.0 {
            Place::Kept(kept) => change.tensor(&lock(&kept.value).clone()),
            Place::Call(call) => change.tensor(&call.given),
        };
        State(Place::Call(Arc::new(InCall { given, assigned: Mutex::new(None) })))
    }
}

/// The values that a call assigned to its states, in the order of its leaves; nothing of a state that keeps its value.
#[derive(Default)]
pub(crate) struct Assigned(pub Vec<Option<Tensor>>);

impl<'t> Visitor<'t> for Assigned {
    fn tensor(&mut self, _: &'t Tensor) {}

    fn leaf(&mut self, _: Leaf<'t>) {}

    fn state(&mut self, state: &'t State) {
        if let Place::Call(call) = &state.0 {
            let same = |value: &Tensor| matches!((&value.0, &call.given.0), (Inner::Traced(a), Inner::Traced(b)) if a.value == b.value);
            self.0.push(lock(&call.assigned).clone().filter(|value| !same(value)));
        }
    }
}

/// The states of a call, from outside, and whether some of its tensors are traced.
#[derive(Default)]
pub(crate) struct States<'t> {
    kept: Vec<&'t Kept>,
    traced: bool,
}

impl<'t> Visitor<'t> for States<'t> {
    fn tensor(&mut self, tensor: &'t Tensor) {
        self.traced |= matches!(tensor.0, Inner::Traced(_));
    }

    fn leaf(&mut self, _: Leaf<'t>) {}

    fn number(&mut self, number: &'t HostScalar) {
        self.traced |= number.is_traced();
    }

    fn state(&mut self, state: &'t State) {
        if let Place::Kept(kept) = &state.0 {
            self.kept.push(kept);
            self.traced |= !matches!(lock(&kept.value).0, Inner::Value(_));
        }
    }
}

impl<'t> States<'t> {
    /// Whether there are states that the call is to change itself.
    pub fn any(&self) -> bool {
        !self.kept.is_empty()
    }

    /// Waits until no other call has one of the states.
    ///
    /// # Errors
    /// A state that is given twice, or to a part of a traced closure that has it from elsewhere.
    pub fn turns(&self) -> Result<Vec<MutexGuard<'t, ()>>, Error> {
        if self.traced {
            return Err(Error::Value(
                "a function inside of a traced closure is given a state that is no argument of the closure".to_owned(),
            ));
        }
        // All calls take their turns in one order, so that no two wait for each other.
        let mut kept = self.kept.clone();
        kept.sort_by_key(|kept| std::ptr::from_ref::<Kept>(kept));
        if kept.windows(2).any(|pair| std::ptr::eq(pair[0], pair[1])) {
            return Err(Error::Value("a state is given to a call twice: one of its new values would be lost".to_owned()));
        }
        Ok(kept.into_iter().map(|kept| lock(&kept.turn)).collect())
    }

    /// The states' values. Nobody else sees them meanwhile.
    pub fn values(&self) -> Vec<MutexGuard<'t, Tensor>> {
        self.kept.iter().map(|kept| lock(&kept.value)).collect()
    }

    /// Gives the states their new values.
    pub fn assign(&self, assigned: Vec<Option<Tensor>>) {
        for (mut state, value) in self.values().into_iter().zip(assigned) {
            if let Some(value) = value {
                *state = value;
            }
        }
    }
}
