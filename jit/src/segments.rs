//! Graph breaks: a closure that asks for a number of a tensor is compiled in segments. What it then asks of the number decides which
//! segment follows, so its forms are trees of segments and questions.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::panic::Location;
use std::path::Path;
use std::sync::{Arc, MutexGuard, PoisonError, Weak};

use strata_driver::{Options, SourceFile, compile, standard};
use strata_runtime::{self as runtime, DType, RunError, Session};

use crate::Error;
use crate::argument::{Argument, Scalar};
use crate::graph::{Graph, Trace, Traced, Ty};
use crate::host_scalar::{Answer, HostScalar, Origin, Question};
use crate::operators::call_one;
use crate::program::{read_of_before, text, weight_name};
use crate::tensor::{Failure, Tensor};
use strata_dialects::aten::op;

/// Tensors by the numbers of their values in a record.
pub(crate) type Values = HashMap<usize, Arc<runtime::Tensor>>;

/// Inputs of a call, with their places.
type Placed = Vec<(usize, runtime::Tensor)>;

/// A compiled part of a record.
pub(crate) struct Segment {
    session: Session,
    /// The values of segments before that it takes, behind the inputs of the call.
    read: Vec<usize>,
    /// The values that it gives.
    gives: Vec<usize>,
    /// The inputs whose new values it gives last.
    pub changes: Vec<usize>,
    /// How many nodes of the record have run behind it.
    until: usize,
    pub kernels: usize,
    /// The place that it was compiled for.
    pub place: &'static Location<'static>,
}

/// What a closure did between its operators.
#[derive(Clone)]
pub(crate) enum Event {
    Ran(Arc<Segment>),
    Asked { scalar: usize, question: Question, answer: Answer, place: &'static Location<'static> },
}

/// What of a record has run, of the call that is traced.
#[derive(Default)]
pub(crate) struct Way {
    inputs: Vec<Arc<runtime::Tensor>>,
    pub values: Values,
    /// What was done for this call before it was traced: the closure does it once more.
    known: VecDeque<Event>,
    /// What was done.
    pub events: Vec<Event>,
    /// How many nodes have run.
    from: usize,
    pub failure: Option<Arc<Failure>>,
    /// Nothing is run: whether the closure asked for a number, behind which it is not known what it does.
    dry: Option<bool>,
}

impl fmt::Debug for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of the nodes ran", self.from)
    }
}

impl Way {
    pub fn new(inputs: Vec<Arc<runtime::Tensor>>, (values, known): (Values, Vec<Event>)) -> Way {
        Way { inputs, values, known: known.into(), ..Way::default() }
    }

    /// One that runs nothing.
    pub fn dry() -> Way {
        Way { dry: Some(false), ..Way::default() }
    }

    /// Whether the closure asked for a number that was not there.
    pub fn lost(&self) -> bool {
        self.dry == Some(true)
    }

    /// Notes why the call fails; the first reason is the one that is told.
    fn fail(&mut self, failure: Arc<Failure>) {
        self.failure.get_or_insert(failure);
    }

    /// What a segment gave.
    pub fn value(&self, value: usize) -> Option<Arc<runtime::Tensor>> {
        self.values.get(&value).cloned()
    }
}

impl Segment {
    /// Compiles the nodes of a record from `from` on. The last values that it gives are new ones of inputs.
    pub fn new(
        graph: &Graph,
        from: usize,
        gives: Vec<usize>,
        changes: Vec<usize>,
        place: &'static Location<'static>,
    ) -> Result<Segment, Error> {
        let read = read_of_before(graph, from, &gives);
        let program = text(graph, from, &read, &gives, &changes).map_err(|why| Error::Trace { place, why })?;
        // The source has the closure's name, and its operators their lines.
        let name = format!("{}.mlir", place.file());
        let source = SourceFile { path: Path::new(&name), text: Some(&program) };
        let artefact = compile(standard(), source, &Options::default(), None)?;
        let weight = |name: &String| {
            let place = (0..graph.weights.len()).find(|place| weight_name(*place) == *name);
            place.map(|place| graph.weights[place].1.clone())
        };
        let names = artefact.manifest.weights.iter().map(|weight| &weight.name);
        let weights = names.filter_map(weight).collect();
        let session = Session::load_sharing(&artefact, weights)?;
        let kernels = artefact.manifest.kernels.len();
        Ok(Segment { session, read, gives, changes, until: graph.nodes.len(), kernels, place })
    }

    /// Runs it on the inputs of a call alone.
    pub fn run(&self, inputs: &[&runtime::Tensor]) -> Result<Vec<runtime::Tensor>, RunError> {
        self.session.run_refs(inputs)
    }

    /// Runs it on the inputs of a call, some of which may be written over. They come back where they were not.
    pub fn run_owning(&self, inputs: Vec<Arc<runtime::Tensor>>) -> (Result<Vec<runtime::Tensor>, RunError>, Placed) {
        let (mut shared, mut owned) = (Vec::new(), Vec::new());
        for (place, tensor) in inputs.into_iter().enumerate() {
            match if self.changes.contains(&place) { Arc::try_unwrap(tensor) } else { Err(tensor) } {
                Ok(tensor) => owned.push((place, tensor)),
                Err(tensor) => shared.push(tensor),
            }
        }
        let shared: Vec<&runtime::Tensor> = shared.iter().map(|tensor| &**tensor).collect();
        let results = self.session.run_owning(&shared, &mut owned);
        (results, owned)
    }

    /// Runs it on the inputs of a call and what segments before gave; adds what it gives.
    pub fn run_on(&self, inputs: &[&runtime::Tensor], values: &mut Values) -> Result<(), RunError> {
        let read = self.read.iter().filter_map(|value| values.get(value)).cloned().collect::<Vec<_>>();
        let all: Vec<&runtime::Tensor> = inputs.iter().copied().chain(read.iter().map(|tensor| &**tensor)).collect();
        let given = self.session.run_refs(&all)?;
        values.extend(self.gives.iter().copied().zip(given.into_iter().map(Arc::new)));
        Ok(())
    }
}

impl Trace {
    pub(crate) fn way(&self) -> MutexGuard<'_, Way> {
        // Whoever panics while it is locked ends the trace.
        self.way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs what was recorded since the last segment, which gives these values and those that the closure can still read.
    pub(crate) fn run(&self, mut gives: Vec<usize>, place: &'static Location<'static>) -> Result<(), Error> {
        let mut way = self.way();
        let graph = self.lock();
        if let Some(event) = way.known.pop_front() {
            let Event::Ran(segment) = &event else { return Err(otherwise(place)) };
            if segment.until != graph.nodes.len() {
                return Err(otherwise(place));
            }
            way.from = segment.until;
            way.events.push(event);
            return Ok(());
        }
        let made = graph.nodes[way.from..].iter().flat_map(|node| node.first..node.first + node.count);
        let named: Vec<_> = made.filter(|value| graph.is_named(*value) && matches!(graph.types[*value], Ty::Tensor(..))).collect();
        gives.extend(named.into_iter().filter(|value| !gives.contains(value)).collect::<Vec<_>>());
        gives.retain(|value| !way.values.contains_key(value));
        let segment = Arc::new(Segment::new(&graph, way.from, gives, Vec::new(), place)?);
        drop(graph);
        let way = &mut *way;
        let inputs: Vec<&runtime::Tensor> = way.inputs.iter().map(|tensor| &**tensor).collect();
        segment.run_on(&inputs, &mut way.values)?;
        way.from = segment.until;
        way.events.push(Event::Ran(segment));
        Ok(())
    }

    pub(crate) fn fail(&self, failure: Arc<Failure>) {
        self.way().fail(failure);
    }

    /// Notes what the closure asks of a number.
    pub(crate) fn ask(&self, scalar: usize, question: Question, answer: Answer, place: &'static Location<'static>) {
        let mut way = self.way();
        let event = Event::Asked { scalar, question, answer, place };
        match way.known.pop_front() {
            Some(Event::Asked { scalar: known, question: asked, answer: told, .. })
                if (known, asked, told) != (scalar, question, answer) =>
            {
                way.fail(failure(&otherwise(place), place));
            }
            Some(Event::Ran(_)) => way.fail(failure(&otherwise(place), place)),
            _ => {}
        }
        way.events.push(event);
    }
}

fn failure(error: &Error, place: &'static Location<'static>) -> Arc<Failure> {
    let why = if let Error::Trace { why, .. } = error { why.clone() } else { error.to_string() };
    Arc::new(Failure { place, why, trace: Weak::new() })
}

fn otherwise(place: &'static Location<'static>) -> Error {
    Error::Trace { place, why: "the closure does something else for the same arguments when it runs again".to_owned() }
}

/// The number of a traced tensor of one element: what was recorded so far runs.
pub(crate) fn item(tensor: &Tensor, traced: &Traced, place: &'static Location<'static>) -> HostScalar {
    match computed(tensor, traced, place) {
        Ok((value, scalar)) => HostScalar { origin: Origin::Item(traced.trace.clone(), scalar), ..HostScalar::of(number(&value)) },
        Err(error) => {
            traced.trace.fail(failure(&error, place));
            HostScalar::of(None)
        }
    }
}

/// The element of a traced tensor, in 64 bits, and its value in the record.
fn computed(tensor: &Tensor, traced: &Traced, place: &'static Location<'static>) -> Result<(Arc<runtime::Tensor>, usize), Error> {
    let error = |why: String| Error::Trace { place, why };
    let (dtype, sizes) = traced.tensor().ok_or_else(|| error("it is no tensor".to_owned()))?;
    if sizes.iter().any(|size| *size != 1) || matches!(dtype, DType::C64 | DType::C128) {
        return Err(error(format!("`item` of a {dtype}{sizes:?}: only a tensor of one real element has a number")));
    }
    if traced.trace.lock().in_body() {
        let why =
            "`item` inside of a body of `cond`, `while_loop` or `scan`: the body is recorded once, and its tensors have no numbers yet";
        return Err(error(why.to_owned()));
    }
    if let Some(lost) = &mut traced.trace.way().dry {
        *lost = true;
        return Err(error("nothing is run".to_owned()));
    }
    let wide = if dtype.is_floating() { DType::F64 } else { DType::I64 };
    let wide = call_one(op::_TO_COPY, &[tensor.into(), Argument::DType(wide)]);
    let scalar = traced.trace.value_of(&wide).map_err(error)?;
    drop(wide);
    traced.trace.run(vec![scalar], place)?;
    let value = traced.trace.way().value(scalar).ok_or_else(|| error("the number was not computed".to_owned()))?;
    Ok((value, scalar))
}

/// The number of a tensor of one element; nothing of one of several, or of numbers that Rust has not.
pub(crate) fn number(tensor: &runtime::Tensor) -> Option<Scalar> {
    fn one<T: bytemuck::AnyBitPattern>(tensor: &runtime::Tensor) -> Option<T> {
        if let Some([one]) = tensor.values::<T>() { Some(*one) } else { None }
    }
    Some(match tensor.dtype() {
        DType::F64 => Scalar::Float(one(tensor)?),
        DType::F32 => Scalar::Float(one::<f32>(tensor)?.into()),
        DType::I64 => Scalar::Int(one(tensor)?),
        DType::I32 => Scalar::Int(one::<i32>(tensor)?.into()),
        DType::I16 => Scalar::Int(one::<i16>(tensor)?.into()),
        DType::I8 => Scalar::Int(one::<i8>(tensor)?.into()),
        DType::U8 | DType::Bool => Scalar::Int(one::<u8>(tensor)?.into()),
        _ => return None,
    })
}

/// A step of a tree: what is done, and the places of the steps that follow.
enum Step<R> {
    Run(Arc<Segment>, usize),
    Ask {
        scalar: usize,
        question: Question,
        place: &'static Location<'static>,
        answers: Vec<(Answer, usize)>,
    },
    /// The closure's result, and the values of the outputs in it.
    Done(Arc<R>, Vec<usize>),
    /// No call came here yet.
    Open,
}

/// The segments of a closure that asks for numbers.
pub(crate) struct Tree<R>(Vec<Step<R>>);

/// How far a call came in a tree.
pub(crate) enum Walked<R> {
    Done(Arc<R>, Vec<usize>, Values),
    /// It gives an answer that no call gave before.
    Open(Values, Vec<Event>),
}

impl<R> Tree<R> {
    pub fn new() -> Self {
        Tree(vec![Step::Open])
    }

    /// How many ways there are through it.
    pub fn ways(&self) -> usize {
        self.0.iter().filter(|step| matches!(step, Step::Done(..))).count()
    }

    pub fn kernels(&self) -> usize {
        self.0.iter().map(|step| if let Step::Run(segment, _) = step { segment.kernels } else { 0 }).sum()
    }

    /// Runs a call as far as its answers are known.
    pub fn walk(&self, inputs: &[&runtime::Tensor]) -> Result<Walked<R>, RunError> {
        let (mut at, mut values, mut events) = (0, Values::new(), Vec::new());
        loop {
            at = match &self.0[at] {
                Step::Run(segment, next) => {
                    segment.run_on(inputs, &mut values)?;
                    events.push(Event::Ran(segment.clone()));
                    *next
                }
                Step::Ask { scalar, question, place, answers } => {
                    let Some(answer) = values.get(scalar).and_then(|tensor| question.answer(number(tensor)?)) else {
                        return Ok(Walked::Open(values, events));
                    };
                    let Some((_, next)) = answers.iter().find(|(known, _)| *known == answer) else {
                        return Ok(Walked::Open(values, events));
                    };
                    events.push(Event::Asked { scalar: *scalar, question: *question, answer, place });
                    *next
                }
                Step::Done(result, outputs) => return Ok(Walked::Done(result.clone(), outputs.clone(), values)),
                Step::Open => return Ok(Walked::Open(values, events)),
            };
        }
    }

    /// Adds the way of a call; one that differs where no answer does is left out.
    pub fn add(&mut self, events: &[Event], result: Arc<R>, outputs: Vec<usize>) {
        let mut at = 0;
        for event in events {
            let next = self.0.len();
            at = match (&mut self.0[at], event) {
                (Step::Run(known, then), Event::Ran(segment)) if known.until == segment.until => *then,
                (Step::Ask { scalar, question, answers, .. }, Event::Asked { scalar: asked, question: what, answer, .. })
                    if (*scalar, *question) == (*asked, *what) =>
                {
                    let known = answers.iter().find(|(known, _)| known == answer).map(|(_, then)| *then);
                    known.unwrap_or_else(|| {
                        answers.push((*answer, next));
                        next
                    })
                }
                (open @ Step::Open, Event::Ran(segment)) => {
                    *open = Step::Run(segment.clone(), next);
                    next
                }
                (open @ Step::Open, Event::Asked { scalar, question, answer, place }) => {
                    *open = Step::Ask { scalar: *scalar, question: *question, place, answers: vec![(*answer, next)] };
                    next
                }
                _ => return,
            };
            if at == next {
                self.0.push(Step::Open);
            }
        }
        if let open @ Step::Open = &mut self.0[at] {
            *open = Step::Done(result, outputs);
        }
    }

    /// The breaks, each with its place and what follows it.
    pub fn explain(&self) -> String {
        let mut text = String::new();
        self.explained(0, 1, &mut text);
        text
    }

    fn explained(&self, at: usize, depth: usize, text: &mut String) {
        let indent = "  ".repeat(depth);
        match &self.0[at] {
            Step::Run(segment, next) => {
                let why = if matches!(self.0[*next], Step::Done(..)) { "the result" } else { "a number that the closure asks for" };
                text.push_str(&format!("{indent}segment of {} kernels, up to {why} at {}\n", segment.kernels, segment.place));
                self.explained(*next, depth, text);
            }
            Step::Ask { question, place, answers, .. } => {
                for (answer, next) in answers {
                    text.push_str(&format!("{indent}{question} at {place}: {answer}\n"));
                    self.explained(*next, depth + 1, text);
                }
            }
            Step::Done(..) | Step::Open => {}
        }
    }
}
