//! The record of a traced closure: inputs, weights, and calls of operators with the types of their results. It is plain data, so that
//! tensors may name its values wherever they are; [`crate::program`] makes ops of it.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use strata_core::ir::DYNAMIC;
use strata_dialects::aten::{Operator, op};
use strata_runtime::guards::{self, Guard, Guards};
use strata_runtime::{self as runtime, DType};

use crate::argument::Size;
use crate::host_scalar::Question;
use crate::segments::Way;
use crate::tensor::{Failure, Inner, Tensor};

/// The type of a recorded value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ty {
    /// Sizes that only a call knows are [`DYNAMIC`].
    Tensor(DType, Vec<i64>),
    /// A size or another integer.
    Index,
    /// A number of the call.
    Float,
}

impl Ty {
    /// Whether it is a tensor whose sizes are all known.
    pub fn is_static(&self) -> bool {
        matches!(self, Ty::Tensor(_, sizes) if !sizes.contains(&DYNAMIC))
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = |size: &i64| if *size == DYNAMIC { "?".to_owned() } else { size.to_string() };
        match self {
            Ty::Tensor(dtype, sizes) => write!(f, "{dtype}[{}]", sizes.iter().map(size).collect::<Vec<_>>().join(", ")),
            Ty::Index => f.write_str("a size"),
            Ty::Float => f.write_str("a number"),
        }
    }
}

/// Arithmetic on sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Add,
    Sub,
    Mul,
    FloorDiv,
}

/// A size of the record: a number or one of its values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Known(i64),
    Value(usize),
}

/// An argument of a recorded call, whose tensors are values of the record.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Input {
    Default,
    None,
    Tensor(usize),
    Tensors(Vec<usize>),
    OptionalTensors(Vec<Option<usize>>),
    Size(Number),
    Sizes(Vec<Number>),
    Scalar(crate::Scalar),
    /// A number that only a call knows.
    Number(usize),
    Floats(Vec<f64>),
    Text(String),
    DType(DType),
}

/// What gives values.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    Operator(Operator, Vec<Input>),
    Arithmetic(Arithmetic, Number, Number),
    /// One of two bodies, by a bool.
    If {
        when: usize,
        branches: [Body; 2],
    },
    /// A body that runs as long as another one, of the same arguments, gives true.
    While {
        start: Vec<usize>,
        test: Body,
        step: Body,
    },
    /// A body that runs for each row of tensors, whose numbers of rows are equal. It is given the row's number and what is carried; it gives
    /// what is carried on and then rows, which are collected.
    For {
        counts: Vec<Number>,
        start: Vec<usize>,
        body: Body,
    },
}

impl Source {
    /// The values that it reads itself, of control flow.
    pub fn starts(&self) -> Vec<usize> {
        match self {
            Source::Operator(..) | Source::Arithmetic(..) => Vec::new(),
            Source::If { when, .. } => vec![*when],
            Source::While { start, .. } | Source::For { start, .. } => start.clone(),
        }
    }

    pub fn bodies(&self) -> Vec<&Body> {
        match self {
            Source::Operator(..) | Source::Arithmetic(..) => Vec::new(),
            Source::If { branches, .. } => branches.iter().collect(),
            Source::While { test, step, .. } => vec![test, step],
            Source::For { body, .. } => vec![body],
        }
    }
}

/// A branch, or a step of a loop: calls that are recorded once and run as often as a call decides.
#[derive(Debug, Clone)]
pub(crate) struct Body {
    /// The values that it is given.
    pub arguments: Range<usize>,
    pub nodes: Vec<Node>,
    pub gives: Vec<usize>,
}

/// A recorded call. Its results are the values from `first` on.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub source: Source,
    pub place: &'static Location<'static>,
    pub first: usize,
    pub count: usize,
}

/// The record of a closure.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// The types of all values: those of the inputs first.
    pub types: Vec<Ty>,
    /// What is assumed of the inputs, which are the first values: tensors, then numbers.
    pub inputs: Vec<Guard>,
    /// The numbers among them, with their places in the guards.
    pub numbers: Vec<(usize, usize)>,
    /// The places of numbers that only this call's value answers for.
    pinned: Vec<usize>,
    /// The sizes of the call, by symbol.
    pub symbols: Vec<usize>,
    /// Tensors that the closure has from elsewhere, and their values.
    pub weights: Vec<(usize, Arc<runtime::Tensor>)>,
    /// What is recorded, of the innermost body that is being recorded.
    pub nodes: Vec<Node>,
    /// What was recorded around that body, outermost first.
    around: Vec<Vec<Node>>,
    /// The values of bodies that are complete. They have no meaning outside.
    hidden: Vec<Range<usize>>,
    /// What the names of a value share, as long as there are any.
    named: HashMap<usize, Weak<()>>,
}

impl Graph {
    /// Whether the closure can still read a value.
    pub fn is_named(&self, value: usize) -> bool {
        self.named.get(&value).is_some_and(|named| named.strong_count() > 0)
    }

    /// Whether a body is being recorded.
    pub fn in_body(&self) -> bool {
        !self.around.is_empty()
    }

    /// A value that may be read where the record is now.
    fn visible(&self, value: usize) -> Result<usize, String> {
        let hidden = self.hidden.iter().any(|values| values.contains(&value)) && !self.weights.iter().any(|(weight, _)| *weight == value);
        if hidden {
            return Err("what a body of `cond`, `while_loop` or `scan` made is used outside of it; let the body give it".to_owned());
        }
        Ok(value)
    }
}

/// A record that is being made.
#[derive(Debug)]
pub struct Trace {
    graph: Mutex<Graph>,
    /// What of it ran already.
    pub(crate) way: Mutex<Way>,
}

/// A value of a record.
#[derive(Debug, Clone)]
pub struct Traced {
    pub(crate) trace: Arc<Trace>,
    pub(crate) value: usize,
    /// All names of the value share it.
    _named: Arc<()>,
}

impl Trace {
    /// A record of calls for which the guards hold.
    pub(crate) fn new(guards: &Guards, way: Way) -> Arc<Trace> {
        let mut graph = Graph::default();
        for guard in guards.list() {
            let Guard::Tensor { dtype, sizes, .. } = guard else { continue };
            let size = |size: &guards::Size| if let guards::Size::Fixed(size) = size { *size } else { DYNAMIC };
            graph.types.push(Ty::Tensor(*dtype, sizes.iter().map(size).collect()));
            graph.inputs.push(guard.clone());
        }
        for (place, guard) in guards.list().iter().enumerate() {
            let ty = match guard {
                Guard::SymInt => Ty::Index,
                Guard::SymFloat => Ty::Float,
                _ => continue,
            };
            let value = graph.types.len();
            graph.numbers.push((value, place));
            graph.types.push(ty);
            graph.inputs.push(guard.clone());
        }
        for _ in 0..guards.symbols() {
            graph.symbols.push(graph.types.len());
            graph.types.push(Ty::Index);
        }
        Arc::new(Trace { graph: Mutex::new(graph), way: Mutex::new(way) })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Graph> {
        // Every change of a record is one push, done or not.
        self.graph.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value of a tensor, which may be one that the closure has from elsewhere.
    pub(crate) fn value_of(self: &Arc<Trace>, tensor: &Tensor) -> Result<usize, String> {
        match &tensor.0 {
            Inner::Traced(traced) if Arc::ptr_eq(&traced.trace, self) => self.lock().visible(traced.value),
            Inner::Traced(_) => Err("a tensor of another call of `jit` is used; it has no value here".to_owned()),
            Inner::Output(_) => Err("a tensor without a value is used".to_owned()),
            Inner::Failed(failure) => Err(failure.why.clone()),
            Inner::Value(value) => {
                let mut graph = self.lock();
                if let Some((known, _)) = graph.weights.iter().find(|(_, known)| Arc::ptr_eq(known, value)) {
                    return Ok(*known);
                }
                let place = graph.types.len();
                graph.types.push(Ty::Tensor(value.dtype(), value.shape().to_vec()));
                graph.weights.push((place, value.clone()));
                Ok(place)
            }
        }
    }

    /// Records a body, of arguments of these types: `run` makes something of it, and the values that it gives.
    pub(crate) fn body<T, E>(&self, given: &[Ty], run: impl FnOnce(Range<usize>) -> (T, Result<Vec<usize>, E>)) -> (T, Result<Body, E>) {
        let mut graph = self.lock();
        let first = graph.types.len();
        let arguments = first..first + given.len();
        graph.types.extend_from_slice(given);
        let around = std::mem::take(&mut graph.nodes);
        graph.around.push(around);
        drop(graph);
        let (made, gives) = run(arguments.clone());
        let mut graph = self.lock();
        let around = graph.around.pop().unwrap_or_default();
        let nodes = std::mem::replace(&mut graph.nodes, around);
        let values = first..graph.types.len();
        graph.hidden.push(values);
        (made, gives.map(|gives| Body { arguments, nodes, gives }))
    }

    /// Notes that the record is right for one value of a number alone.
    pub(crate) fn needs(&self, value: usize) {
        let mut graph = self.lock();
        if let Some((_, place)) = graph.numbers.iter().find(|(number, _)| *number == value).copied() {
            graph.pinned.push(place);
        }
    }

    /// The closure asks an input for its value: the record cannot be for all values.
    pub(crate) fn pin(self: &Arc<Trace>, value: usize, question: Question, place: &'static Location<'static>) {
        self.needs(value);
        let why = format!("the closure asks a number of the call: {question}");
        self.fail(Arc::new(Failure { place, why, trace: Arc::downgrade(self) }));
    }

    /// The places of numbers that only this call's value answers for.
    pub(crate) fn pinned(&self) -> Vec<usize> {
        self.lock().pinned.clone()
    }

    /// The value of a number.
    pub(crate) fn value_of_number(self: &Arc<Trace>, traced: &Traced) -> Result<usize, String> {
        if Arc::ptr_eq(&traced.trace, self) { Ok(traced.value) } else { Err("a number of another call of `jit` is used".to_owned()) }
    }

    /// Adds a call; gives its values.
    pub(crate) fn push(&self, source: Source, types: Vec<Ty>, place: &'static Location<'static>) -> Range<usize> {
        let mut graph = self.lock();
        let (first, count) = (graph.types.len(), types.len());
        graph.types.extend(types);
        graph.nodes.push(Node { source, place, first, count });
        first..first + count
    }

    pub(crate) fn number(self: &Arc<Trace>, size: &Size) -> Result<Number, String> {
        match size {
            Size::Known(size) => Ok(Number::Known(*size)),
            Size::Traced(traced) if Arc::ptr_eq(&traced.trace, self) => self.lock().visible(traced.value).map(Number::Value),
            Size::Traced(_) => Err("a size of another call of `jit` is used".to_owned()),
            Size::Failed(failure) => Err(failure.why.clone()),
        }
    }
}

impl Traced {
    /// One more name of a value.
    pub(crate) fn new(trace: Arc<Trace>, value: usize) -> Traced {
        let mut graph = trace.lock();
        let known = graph.named.get(&value).and_then(Weak::upgrade);
        let named = known.unwrap_or_else(|| {
            let named = Arc::new(());
            graph.named.insert(value, Arc::downgrade(&named));
            named
        });
        drop(graph);
        Traced { trace, value, _named: named }
    }

    /// The tensor's element type and sizes.
    pub(crate) fn tensor(&self) -> Option<(DType, Vec<i64>)> {
        match &self.trace.lock().types[self.value] {
            Ty::Tensor(dtype, sizes) => Some((*dtype, sizes.clone())),
            Ty::Index | Ty::Float => None,
        }
    }

    /// The tensor's sizes; those that only a call knows are symbols of its inputs, or read off it.
    pub(crate) fn sizes(&self, place: &'static Location<'static>) -> Vec<Size> {
        let sizes = self.tensor().map(|(_, sizes)| sizes).unwrap_or_default();
        let size = |(dim, size): (usize, i64)| if size == DYNAMIC { self.symbolic(dim, place) } else { Size::Known(size) };
        sizes.into_iter().enumerate().map(size).collect()
    }

    fn symbolic(&self, dim: usize, place: &'static Location<'static>) -> Size {
        let traced = |value| Size::Traced(Traced::new(self.trace.clone(), value));
        let symbol = |graph: &Graph| match graph.inputs.get(self.value)? {
            Guard::Tensor { sizes, .. } => match sizes.get(dim)? {
                guards::Size::Symbol(symbol) => Some(graph.symbols[*symbol]),
                guards::Size::Fixed(_) => None,
            },
            _ => None,
        };
        let symbol = symbol(&self.trace.lock());
        if let Some(symbol) = symbol {
            return traced(symbol);
        }
        let source = Source::Operator(op::SYM_SIZE_INT, vec![Input::Tensor(self.value), Input::Size(Number::Known(dim as i64))]);
        traced(self.trace.push(source, vec![Ty::Index], place).start)
    }
}

/// Arithmetic on two sizes: numbers are computed, symbolic sizes recorded.
pub(crate) fn arithmetic(on: Arithmetic, a: Size, b: Size, place: &'static Location<'static>) -> Size {
    let trace = match (&a, &b) {
        (Size::Failed(_), _) => return a,
        (_, Size::Failed(_)) => return b,
        (Size::Traced(traced), _) | (_, Size::Traced(traced)) => traced.trace.clone(),
        (Size::Known(a), Size::Known(b)) => {
            let value = match on {
                Arithmetic::Add => a.checked_add(*b),
                Arithmetic::Sub => a.checked_sub(*b),
                Arithmetic::Mul => a.checked_mul(*b),
                Arithmetic::FloorDiv => a.checked_div(*b).map(|value| value - i64::from(a % b != 0 && (*a < 0) != (*b < 0))),
            };
            return value.map_or_else(|| Size::failed(place, format!("{on:?} of the sizes {a} and {b} is no size")), Size::Known);
        }
    };
    if on == Arithmetic::FloorDiv && b.known().is_none_or(|b| b <= 0) {
        return Size::failed(place, "a symbolic size is divided by what is no positive number; divide by a number that is known");
    }
    match (trace.number(&a), trace.number(&b)) {
        (Ok(a), Ok(b)) => {
            let value = trace.push(Source::Arithmetic(on, a, b), vec![Ty::Index], place).start;
            Size::Traced(Traced::new(trace, value))
        }
        (Err(why), _) | (_, Err(why)) => Size::failed(place, why),
    }
}
