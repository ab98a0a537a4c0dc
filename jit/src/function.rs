//! Closures as compiled functions: one compiled form for each kind of call, chosen by guards.

use std::fmt::Write as _;
use std::hint::black_box;
use std::panic::Location;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

use strata_driver::{Options, SourceFile, compile, standard};
use strata_runtime::{self as runtime, Guards, Session};

use crate::Error;
use crate::graph::{Trace, Traced};
use crate::operators::{text, weight_name};
use crate::tensor::{Inner, Tensor};
use crate::tree::{Checked, Inputs, Leaves, TensorTree};

/// How many forms a closure has if nobody says otherwise.
const LIMIT: usize = 8;

/// How often guards are checked to measure them.
const CHECKS: u32 = 1000;

/// Which sizes become symbolic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dynamic {
    /// A size that differs from that of an earlier call. Sizes of 0 and 1 never do.
    #[default]
    Auto,
    /// None: each shape has a form of its own.
    Off,
}

/// What a call does that would make one form too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnLimit {
    /// It fails, and says why no form serves it.
    #[default]
    Error,
    /// It takes the place of the oldest form.
    Replace,
}

/// A closure that [`jit`] takes: of one to four references to [`TensorTree`]s.
pub trait Function<Arguments> {
    /// What it gives.
    type Output: TensorTree;
}

/// A closure and its compiled forms. See [`jit`].
pub struct Jit<F, Arguments, R> {
    function: F,
    place: &'static Location<'static>,
    dynamic: Dynamic,
    limit: (usize, OnLimit),
    entries: RwLock<Vec<Arc<Entry<R>>>>,
    made: AtomicU64,
    arguments: std::marker::PhantomData<fn(Arguments)>,
}

/// A compiled form.
struct Entry<R> {
    guards: Guards,
    session: Session,
    /// The closure's result, with the places of outputs in it.
    result: R,
    calls: AtomicU64,
    /// Why the forms before did not serve.
    reason: String,
    kernels: usize,
    took: Duration,
    guard_cost: Duration,
}

/// Makes a function of a closure. It is traced and compiled at the first call of each kind: element types, ranks, orders of dims, sizes,
/// numbers and lengths of lists are guards. The second size that is seen makes it symbolic.
///
/// The closure runs again for each form and never for a call that has one, so it should do nothing but call operators. Tensors that it
/// has captured are weights: they are prepared once, and read where they are.
#[track_caller]
pub fn jit<F: Function<Arguments>, Arguments>(function: F) -> Jit<F, Arguments, F::Output> {
    Jit {
        function,
        place: Location::caller(),
        dynamic: Dynamic::default(),
        limit: (LIMIT, OnLimit::default()),
        entries: RwLock::default(),
        made: AtomicU64::new(0),
        arguments: std::marker::PhantomData,
    }
}

impl<F, Arguments, R> Jit<F, Arguments, R> {
    /// Says which sizes become symbolic.
    pub fn dynamic(mut self, dynamic: Dynamic) -> Self {
        self.dynamic = dynamic;
        self
    }

    /// Says how many forms there may be, at least one, and what becomes of a call that needs one more.
    pub fn limit(mut self, forms: usize, then: OnLimit) -> Self {
        self.limit = (forms.max(1), then);
        self
    }

    /// How many forms there are.
    pub fn entries(&self) -> usize {
        self.forms().len()
    }

    /// How often the closure was compiled.
    pub fn compilations(&self) -> u64 {
        self.made.load(Relaxed)
    }

    /// The forms, with what they assume of a call, what checking that costs, and why they were made.
    pub fn explain(&self) -> String {
        let forms = self.forms();
        let mut text = format!("the closure at {}: {} forms, compiled {} times\n", self.place, forms.len(), self.compilations());
        for (number, entry) in forms.iter().enumerate() {
            let Entry { guards, reason, kernels, took, guard_cost, .. } = &**entry;
            let calls = entry.calls.load(Relaxed);
            // Writing to a text does not fail.
            let _ = writeln!(text, "form {number}: {guards}");
            let _ = writeln!(text, "  made for {reason}, in {:.0} ms: {kernels} kernels", took.as_secs_f64() * 1e3);
            let _ = writeln!(text, "  guards {:.1} ns, {calls} calls", guard_cost.as_secs_f64() * 1e9);
        }
        text
    }

    fn forms(&self) -> RwLockReadGuard<'_, Vec<Arc<Entry<R>>>> {
        // No code panics while it holds the lock.
        self.entries.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The form whose guards hold.
    #[inline]
    fn find(&self, holds: impl Fn(&Guards) -> bool) -> Option<Arc<Entry<R>>> {
        self.forms().iter().find(|entry| holds(&entry.guards)).cloned()
    }
}

/// The closure at the arguments of a call, with another tensor in the place of each of theirs.
type Closure<'a, R> = dyn Fn(&mut dyn FnMut(&Tensor) -> Tensor) -> R + 'a;

impl<F, Arguments, R: TensorTree> Jit<F, Arguments, R> {
    /// Makes a form for a call. Nothing is locked meanwhile.
    fn make(&self, leaves: &Leaves<'_>, holds: &dyn Fn(&Guards) -> bool, run: &Closure<'_, R>) -> Result<Arc<Entry<R>>, Error> {
        let forms: Vec<_> = self.forms().iter().map(|entry| entry.guards.clone()).collect();
        let widened = match self.dynamic {
            Dynamic::Auto => forms.iter().rev().find_map(|guards| guards.widened(&leaves.leaves)),
            Dynamic::Off => None,
        };
        let refusal = forms.last().and_then(|guards| guards.refusal(&leaves.leaves));
        let reason = refusal.unwrap_or_else(|| "the first call".to_owned());
        if forms.len() >= self.limit.0 && self.limit.1 == OnLimit::Error {
            return Err(Error::Limit { place: self.place, limit: self.limit.0, why: reason });
        }
        let fixed = || Guards::of(&leaves.leaves);
        let entry = match widened {
            Some(guards) => match self.form(guards, reason.clone(), run) {
                // A program whose sizes must be known has a form for each of them.
                Err(error @ (Error::Trace { .. } | Error::Compile(_))) => {
                    self.form(fixed(), format!("{reason} (not for all sizes: {error})"), run)
                }
                made => made,
            },
            None => self.form(fixed(), reason, run),
        };
        let mut entry = entry?;
        let start = Instant::now();
        for _ in 0..CHECKS {
            black_box(holds(black_box(&entry.guards)));
        }
        entry.guard_cost = start.elapsed() / CHECKS;
        let entry = Arc::new(entry);
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        self.made.fetch_add(1, Relaxed);
        // Another thread may have made it meanwhile.
        if let Some(known) = entries.iter().find(|known| holds(&known.guards)) {
            return Ok(known.clone());
        }
        if entries.len() >= self.limit.0 {
            entries.remove(0);
        }
        entries.push(entry.clone());
        Ok(entry)
    }

    /// Traces, compiles and loads the closure for calls for which the guards hold.
    fn form(&self, guards: Guards, reason: String, run: &Closure<'_, R>) -> Result<Entry<R>, Error> {
        let start = Instant::now();
        let trace = Trace::new(&guards);
        let mut inputs = 0..;
        let result = run(&mut |_| {
            let value = inputs.next().unwrap_or_default();
            Tensor(Inner::Traced(Traced { trace: trace.clone(), value }))
        });
        let (mut outputs, mut failure) = (Vec::new(), None);
        let result = result.map(&mut |tensor| match &tensor.0 {
            Inner::Value(_) => tensor.clone(),
            Inner::Failed(failed) => {
                failure.get_or_insert_with(|| failed.error());
                tensor.clone()
            }
            Inner::Traced(_) | Inner::Output(_) => match trace.value_of(tensor) {
                Ok(value) => {
                    outputs.push(value);
                    Tensor(Inner::Output(outputs.len() - 1))
                }
                Err(why) => {
                    failure.get_or_insert(Error::Trace { place: self.place, why });
                    tensor.clone()
                }
            },
        });
        if let Some(failure) = failure {
            return Err(failure);
        }
        let graph = trace.lock();
        let program = text(&graph, &outputs).map_err(|why| Error::Trace { place: self.place, why })?;
        // The source has the closure's name, and its operators their lines.
        let name = format!("{}.mlir", self.place.file());
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
        let (calls, guard_cost) = (AtomicU64::new(0), Duration::ZERO);
        Ok(Entry { guards, session, result, calls, reason, kernels, took: start.elapsed(), guard_cost })
    }
}

impl<R: TensorTree> Entry<R> {
    fn run(&self, inputs: &[&runtime::Tensor]) -> Result<R, Error> {
        self.calls.fetch_add(1, Relaxed);
        let outputs: Vec<Tensor> = self.session.run_refs(inputs)?.into_iter().map(Tensor::from).collect();
        Ok(self.result.map(&mut |tensor| match tensor.0 {
            Inner::Output(place) => outputs[place].clone(),
            _ => tensor.clone(),
        }))
    }
}

macro_rules! arities {
    ($(($($name:ident $value:ident),*);)*) => { $(
        impl<F, R, $($name),*> Function<($($name,)*)> for F
        where
            F: Fn($(&$name),*) -> R,
            R: TensorTree,
        {
            type Output = R;
        }

        impl<F, R, $($name),*> Jit<F, ($($name,)*), R>
        where
            F: Fn($(&$name),*) -> R,
            R: TensorTree,
            $($name: TensorTree),*
        {
            /// Calls the function. Inside of another traced closure it is a part of that one.
            ///
            /// # Errors
            /// An operator that does not take its arguments, a program that does not compile, one form too many, and values
            /// that the program refuses.
            pub fn call(&self, $($value: &$name),*) -> Result<R, Error> {
                let holds = |guards: &Guards| {
                    let mut check = Checked(guards.check());
                    $($value.visit(&mut check);)*
                    check.0.holds()
                };
                if let Some(entry) = self.find(holds) {
                    let mut inputs = Inputs::default();
                    $($value.visit(&mut inputs);)*
                    return entry.run(&inputs.0);
                }
                let mut leaves = Leaves::default();
                $($value.visit(&mut leaves);)*
                if let Some(failed) = leaves.others.iter().find(|tensor| matches!(tensor.0, Inner::Failed(_) | Inner::Output(_))) {
                    return failed.value().map(|_| unreachable!("it has no value"));
                }
                if !leaves.others.is_empty() {
                    return Ok((self.function)($($value),*));
                }
                let run = |change: &mut dyn FnMut(&Tensor) -> Tensor| {
                    let mut change = |tensor: &Tensor| change(tensor);
                    $(let $value = $value.map(&mut change);)*
                    (self.function)($(&$value),*)
                };
                self.make(&leaves, &holds, &run)?.run(&leaves.inputs)
            }
        }
    )* };
}

arities! { (A a); (A a, B b); (A a, B b, C c); (A a, B b, C c, D d); }
