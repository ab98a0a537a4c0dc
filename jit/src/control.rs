//! Control flow inside of one program: branches and loops whose bodies are recorded once, and run as a call decides.
//!
//! Names and meanings are those of PyTorch's higher-order operators and of `jax.lax`. A body may use tensors from around it. What is read
//! behind it, it gives.

use std::ops::Range;
use std::panic::Location;
use std::sync::Arc;

use strata_core::ir::DYNAMIC;
use strata_dialects::aten::op;
use strata_runtime::{DType, Guards};

use crate::argument::Size;
use crate::graph::{Body, Number, Source, Trace, Traced, Ty};
use crate::operators::record;
use crate::tensor::{Failure, Inner, Tensor};
use crate::tree::{Asked, Parts, TensorTree};

/// What `yes` gives where the predicate holds, else what `no` gives. The predicate is a tensor of one bool. Both closures give tensors of
/// the same element types and sizes.
///
/// ```
/// use strata::{Tensor, cond, jit};
///
/// let f = jit(|x: &Tensor| cond(&x.sum().gt_scalar(1.0), || x.neg(), || x.exp()));
/// assert_eq!(f.call(&Tensor::new(&[1.0f32, 2.0], &[2])?)?.to_vec::<f32>()?, [-1.0, -2.0]);
/// assert_eq!(f.call(&Tensor::new(&[0.0f32, 0.0], &[2])?)?.to_vec::<f32>()?, [1.0, 1.0]);
/// # Ok::<(), strata::Error>(())
/// ```
#[track_caller]
pub fn cond<R: TensorTree>(predicate: &Tensor, yes: impl FnOnce() -> R, no: impl FnOnce() -> R) -> R {
    let control = match Control::new("cond", &[predicate], Location::caller()) {
        Ok(control) => control,
        Err(failure) => return failed(&yes(), &failure),
    };
    let (tree, yes) = control.body(&[], |_| yes());
    let (other, no) = control.body(&[], |_| no());
    let results = control.branch(predicate, (&tree, yes), (&other, no));
    control.given(&tree, results)
}

/// The state that `step` makes of `state` again and again, as long as `test` gives true of it. The state keeps its element types and sizes.
///
/// ```
/// use strata::{Tensor, jit, while_loop};
///
/// // Halves until the sum is small, and counts how often.
/// let f = jit(|x: &Tensor| {
///     let start = (x.clone(), x.sum().zeros_like());
///     while_loop(&start, |(x, _)| x.sum().gt_scalar(1.0), |(x, n)| (x.mul_scalar(0.5), n.add_scalar(1.0)))
/// });
/// let (x, n) = f.call(&Tensor::new(&[2.0f32, 4.0], &[2])?)?;
/// assert_eq!((x.to_vec::<f32>()?, n.to_vec::<f32>()?), (vec![0.25, 0.5], vec![3.0]));
/// # Ok::<(), strata::Error>(())
/// ```
#[track_caller]
pub fn while_loop<S: TensorTree>(state: &S, test: impl FnOnce(&S) -> Tensor, step: impl FnOnce(&S) -> S) -> S {
    let parts = Parts::of(state);
    let control = match Control::new("while_loop", &parts.tensors, Location::caller()) {
        Ok(control) => control,
        Err(failure) => return failed(state, &failure),
    };
    let results = control.values(&parts.tensors).and_then(|start| control.repeat(state, start, test, step));
    control.given(state, results)
}

/// Goes over the rows of the tensors of `xs`, which are along their first dimension: `body` takes what is carried and one row of each, and
/// gives what is carried on and a row of results. Gives what is carried in the end, and all rows of results.
///
/// ```
/// use strata::{Tensor, jit, scan};
///
/// let sums = jit(|x: &Tensor| scan(&x.sum().zeros_like(), x, |sum, x| (sum.add(x), sum.add(x))));
/// let (last, all) = sums.call(&Tensor::new(&[1.0f32, 2.0, 4.0], &[3])?)?;
/// assert_eq!((last.to_vec::<f32>()?, all.to_vec::<f32>()?), (vec![7.0], vec![1.0, 3.0, 7.0]));
/// # Ok::<(), strata::Error>(())
/// ```
#[track_caller]
pub fn scan<C: TensorTree, X: TensorTree, Y: TensorTree>(init: &C, xs: &X, body: impl FnOnce(&C, &X) -> (C, Y)) -> (C, Y) {
    let (carried, rows) = (Parts::of(init), Parts::of(xs));
    let start = Control::new("scan", &[carried.tensors.as_slice(), &rows.tensors].concat(), Location::caller()).and_then(|control| {
        let (start, counts) = (control.values(&carried.tensors)?, control.counts(&rows.tensors)?);
        Ok((control, start, counts))
    });
    let (control, start, counts) = match start {
        Ok(start) => start,
        // What the results are, only the body knows.
        Err(failure) => return failed(&body(&failed(init, &failure), &failed(xs, &failure)), &failure),
    };
    let types = [&[Ty::Index], control.types(&start).as_slice()].concat();
    let (tree, body) = control.body(&types, |given| {
        let row = Size::Traced(Traced::new(control.trace.clone(), given.start));
        let xs = xs.map(&mut |tensor: &Tensor| control.row(tensor, &row));
        body(&control.filled(init, given.start + 1..given.end), &xs)
    });
    let results = control.rows((init, start), counts, &tree, body);
    control.given(&tree, results)
}

/// A tree of tensors that all stand for an error.
fn failed<T: TensorTree>(tree: &T, failure: &Arc<Failure>) -> T {
    tree.map(&mut |_: &Tensor| Tensor(Inner::Failed(failure.clone())))
}

/// Whether a value of one type may stand for one of another: sizes that only a call knows may be any.
fn fits(value: &Ty, ty: &Ty) -> bool {
    match (value, ty) {
        (Ty::Tensor(a, from), Ty::Tensor(b, to)) => {
            a == b && from.len() == to.len() && from.iter().zip(to).all(|(from, to)| from == to || *to == DYNAMIC)
        }
        _ => value == ty,
    }
}

/// The type of a value that is of one type or of another: sizes that one of them does not know only a call knows.
fn either(a: &Ty, b: &Ty) -> Option<Ty> {
    let (Ty::Tensor(dtype, first), Ty::Tensor(other, second)) = (a, b) else { return None };
    let size = |(a, b): (&i64, &i64)| match (*a, *b) {
        (a, b) if a == b => Some(a),
        (DYNAMIC, _) | (_, DYNAMIC) => Some(DYNAMIC),
        _ => None,
    };
    let sizes = first.iter().zip(second).map(size).collect::<Option<_>>()?;
    (dtype == other && first.len() == second.len()).then_some(Ty::Tensor(*dtype, sizes))
}

/// A call of `cond`, `while_loop` or `scan` in a record.
struct Control {
    name: &'static str,
    trace: Arc<Trace>,
    place: &'static Location<'static>,
}

impl Control {
    /// A call on these tensors, one of which is traced.
    fn new(name: &'static str, tensors: &[&Tensor], place: &'static Location<'static>) -> Result<Control, Arc<Failure>> {
        if let Some(failure) = tensors.iter().find_map(|tensor| if let Inner::Failed(failure) = &tensor.0 { Some(failure) } else { None }) {
            return Err(failure.clone());
        }
        match tensors.iter().find_map(|tensor| tensor.record()) {
            Some(trace) => Ok(Control { name, trace: trace.clone(), place }),
            None => {
                let why = format!("`{name}`: none of the tensors that it is given is one of a traced closure; make one of an argument");
                Err(Arc::new(Failure { place, why, trace: std::sync::Weak::new() }))
            }
        }
    }

    fn failure(&self, why: impl std::fmt::Display) -> Arc<Failure> {
        Arc::new(Failure { place: self.place, why: format!("`{}`: {why}", self.name), trace: Arc::downgrade(&self.trace) })
    }

    /// The values of tensors; the first error is the one that is told.
    fn values(&self, tensors: &[&Tensor]) -> Result<Vec<usize>, Arc<Failure>> {
        let value = |tensor: &&Tensor| match &tensor.0 {
            Inner::Failed(failure) => Err(failure.clone()),
            _ => self.trace.value_of(tensor).map_err(|why| self.failure(why)),
        };
        tensors.iter().map(value).collect()
    }

    fn types(&self, values: &[usize]) -> Vec<Ty> {
        let graph = self.trace.lock();
        values.iter().map(|value| graph.types[*value].clone()).collect()
    }

    /// The tree with values of the record.
    fn filled<T: TensorTree>(&self, tree: &T, mut values: Range<usize>) -> T {
        tree.map(&mut |tensor: &Tensor| match values.next() {
            Some(value) => Tensor(Inner::Traced(Traced::new(self.trace.clone(), value))),
            None => tensor.clone(),
        })
    }

    /// The tree with the results of the call, or with its error.
    fn given<T: TensorTree>(&self, tree: &T, results: Result<Range<usize>, Arc<Failure>>) -> T {
        match results {
            Ok(values) => self.filled(tree, values),
            Err(failure) => failed(tree, &failure),
        }
    }

    /// Records what a closure calls; gives what it gave, and the body with the tensors of that.
    fn body<T: TensorTree>(&self, given: &[Ty], run: impl FnOnce(Range<usize>) -> T) -> (T, Result<Body, Arc<Failure>>) {
        self.trace.body(given, |given| {
            let tree = run(given);
            let values = self.values(&Parts::of(&tree).tensors);
            (tree, values)
        })
    }

    /// The value of a predicate.
    fn truth(&self, predicate: &Tensor) -> Result<usize, Arc<Failure>> {
        let value = self.values(&[predicate])?[0];
        match &self.types(&[value])[0] {
            Ty::Tensor(DType::Bool, sizes) if sizes.iter().all(|size| *size == 1) => Ok(value),
            other => Err(self.failure(format!("the predicate is {other}, not one bool"))),
        }
    }

    /// Checks that two trees have the same lists and numbers, which are part of the program.
    fn alike<T: TensorTree>(&self, wanted: &T, found: &T, who: &str) -> Result<(), Arc<Failure>> {
        if T::STATES {
            return Err(self.failure("a state is no value of a body; take its tensor by `get`, and `set` what the body gives"));
        }
        // Numbers are compared by their values, which are then those of the program.
        let mut asked = Asked(self.place);
        let (wanted, found) = (wanted.map(&mut asked), found.map(&mut asked));
        let (wanted, found) = (Parts::of(&wanted).leaves, Parts::of(&found).leaves);
        match Guards::of(&wanted).refusal(&found) {
            Some(why) => Err(self.failure(format!("{who} changes what is no tensor: {why}; make a tensor of what changes"))),
            None => Ok(()),
        }
    }

    /// Checks that what a step carries on has the types of what it was given.
    fn carries<T: TensorTree>(&self, (state, start): (&T, &[usize]), next: &T, gives: &[usize]) -> Result<(), Arc<Failure>> {
        self.alike(state, next, "a step")?;
        let (start, gives) = (self.types(start), self.types(gives));
        match start.iter().zip(&gives).position(|(ty, next)| !fits(next, ty)) {
            Some(place) => {
                let (ty, next) = (&start[place], &gives[place]);
                Err(self.failure(format!("tensor {place} of what is carried is {ty}, and {next} behind a step")))
            }
            None => Ok(()),
        }
    }

    fn branch<R: TensorTree>(
        &self,
        predicate: &Tensor,
        (tree, yes): (&R, Result<Body, Arc<Failure>>),
        (other, no): (&R, Result<Body, Arc<Failure>>),
    ) -> Result<Range<usize>, Arc<Failure>> {
        let when = self.truth(predicate)?;
        let (yes, no) = (yes?, no?);
        self.alike(tree, other, "the second branch")?;
        let mut types = Vec::new();
        for (place, (a, b)) in self.types(&yes.gives).iter().zip(&self.types(&no.gives)).enumerate() {
            let differ = || self.failure(format!("tensor {place} of what the branches give is {a} in the first and {b} in the second"));
            types.push(either(a, b).ok_or_else(differ)?);
        }
        Ok(self.trace.push(Source::If { when, branches: [yes, no] }, types, self.place))
    }

    fn repeat<S: TensorTree>(
        &self,
        state: &S,
        start: Vec<usize>,
        test: impl FnOnce(&S) -> Tensor,
        step: impl FnOnce(&S) -> S,
    ) -> Result<Range<usize>, Arc<Failure>> {
        let types = self.types(&start);
        let ((), test) = self.trace.body(&types, |given| ((), self.truth(&test(&self.filled(state, given))).map(|holds| vec![holds])));
        let test = test?;
        let (next, step) = self.body(&types, |given| step(&self.filled(state, given)));
        let step = step?;
        self.carries((state, &start), &next, &step.gives)?;
        Ok(self.trace.push(Source::While { start, test, step }, types, self.place))
    }

    /// The numbers of rows of tensors, a known one first.
    fn counts(&self, tensors: &[&Tensor]) -> Result<Vec<Number>, Arc<Failure>> {
        let mut counts: Vec<Number> = Vec::new();
        for tensor in tensors {
            let size = tensor.sizes().into_iter().next().ok_or_else(|| self.failure("a tensor of rank 0 has no rows"))?;
            let count = self.trace.number(&size).map_err(|why| self.failure(why))?;
            match (count, counts.first()) {
                _ if counts.contains(&count) => {}
                (Number::Known(count), Some(Number::Known(other))) => {
                    return Err(self.failure(format!("its tensors have {other} rows and {count}")));
                }
                (Number::Known(_), _) => counts.insert(0, count),
                _ => counts.push(count),
            }
        }
        if counts.is_empty() { Err(self.failure("there is no tensor whose rows it goes over")) } else { Ok(counts) }
    }

    /// One row of a tensor.
    fn row(&self, tensor: &Tensor, row: &Size) -> Tensor {
        match record(&self.trace, op::SELECT_INT, &[tensor.into(), 0.into(), row.into()], self.place) {
            Ok(values) => self.filled(tensor, values[0]..values[0] + 1),
            Err(why) => Tensor(Inner::Failed(self.failure(why))),
        }
    }

    fn rows<C: TensorTree, Y: TensorTree>(
        &self,
        (init, start): (&C, Vec<usize>),
        counts: Vec<Number>,
        (next, _): &(C, Y),
        body: Result<Body, Arc<Failure>>,
    ) -> Result<Range<usize>, Arc<Failure>> {
        let body = body?;
        self.carries((init, &start), next, &body.gives)?;
        let count = if let Number::Known(count) = counts[0] { count } else { DYNAMIC };
        let mut types = self.types(&start);
        for ty in self.types(&body.gives[start.len()..]) {
            if let Ty::Tensor(dtype, sizes) = ty {
                types.push(Ty::Tensor(dtype, [&[count], sizes.as_slice()].concat()));
            }
        }
        Ok(self.trace.push(Source::For { counts, start, body }, types, self.place))
    }
}
