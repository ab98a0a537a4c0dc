//! Closures as compiled functions: one compiled form for each kind of call, chosen by guards.

use std::fmt::Write as _;
use std::hint::black_box;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

use strata_runtime::{Guards, Leaf};

use crate::Error;
use crate::boundary::{Entering, Leaving};
use crate::form::{Entry, Form, Given, Known, Made, NewEntry, changes, filled};
use crate::graph::Trace;
use crate::segments::{Segment, Tree, Way};
use crate::state::{Assigned, States};
use crate::tensor::{Inner, Tensor};
use crate::tree::{Checked, Inputs, Leaves, Mapper, TensorTree};

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
    entries: RwLock<Vec<Arc<Entry<Given<R>>>>>,
    made: AtomicU64,
    arguments: std::marker::PhantomData<fn(Arguments)>,
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
            let Entry { guards, form, reason, took, guard_cost, .. } = &**entry;
            let calls = entry.calls.load(Relaxed);
            let (kernels, breaks) = match form {
                Form::Whole(program, _) => (program.kernels, String::new()),
                Form::Broken(tree) => {
                    let tree = tree.read().unwrap_or_else(PoisonError::into_inner);
                    (tree.kernels(), tree.explain())
                }
            };
            // Writing to a text does not fail.
            let _ = writeln!(text, "form {number}: {guards}");
            let _ = writeln!(text, "  made for {reason}, in {:.0} ms: {kernels} kernels", took.as_secs_f64() * 1e3);
            let _ = writeln!(text, "  guards {:.1} ns, {calls} calls", guard_cost.as_secs_f64() * 1e9);
            text.push_str(&breaks);
        }
        text
    }

    fn forms(&self) -> RwLockReadGuard<'_, Vec<Arc<Entry<Given<R>>>>> {
        // No code panics while it holds the lock.
        self.entries.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The form whose guards hold.
    #[inline]
    fn find(&self, holds: impl Fn(&Guards) -> bool) -> Option<Arc<Entry<Given<R>>>> {
        self.forms().iter().find(|entry| holds(&entry.guards)).cloned()
    }
}

/// The closure at the arguments of a call, with others in the places of their tensors and numbers.
type Closure<'a, R> = dyn Fn(&mut dyn Mapper) -> R + 'a;

/// Why there is no form of some guards.
struct Refused {
    error: Box<Error>,
    /// The places of the numbers that only this call's values answer for.
    pinned: Vec<usize>,
}

impl<E: Into<Error>> From<E> for Refused {
    fn from(error: E) -> Refused {
        Refused { error: Box::new(error.into()), pinned: Vec::new() }
    }
}

impl<F, Arguments, R: TensorTree> Jit<F, Arguments, R> {
    /// Makes a form for a call, and what it computes of the call. Nothing is locked meanwhile.
    fn make(&self, leaves: &Leaves<'_>, holds: &dyn Fn(&Guards) -> bool, run: &Closure<'_, Given<R>>) -> Result<Given<R>, Error> {
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
        if widened.is_some() {
            self.check(leaves, run)?;
        }
        let (mut guards, mut reason) = (widened.unwrap_or_else(|| Guards::of(&leaves.leaves)), reason);
        let (mut entry, given) = loop {
            let Refused { error, pinned } = match self.entry(guards.clone(), reason.clone(), leaves, run) {
                Ok(made) => break made,
                Err(refused) => refused,
            };
            // A program for which some values must be known has a form for each of them.
            match narrower(&guards, &leaves.leaves, pinned) {
                Some((narrower, what)) if matches!(*error, Error::Trace { .. } | Error::Compile(_)) => {
                    reason = format!("{reason} (not for all {what}: {error})");
                    guards = narrower;
                }
                _ => return Err(*error),
            }
        };
        let start = Instant::now();
        for _ in 0..CHECKS {
            black_box(holds(black_box(&entry.guards)));
        }
        entry.guard_cost = start.elapsed() / CHECKS;
        let entry = Arc::new(entry);
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        self.made.fetch_add(1, Relaxed);
        // Another thread may have made it meanwhile.
        if !entries.iter().any(|known| holds(&known.guards)) {
            if entries.len() >= self.limit.0 {
                entries.remove(0);
            }
            entries.push(entry.clone());
        }
        drop(entries);
        match given {
            Some(given) => Ok(given),
            None => {
                let inputs = leaves.taken(&entry.guards)?;
                let inputs: Vec<_> = inputs.iter().map(|tensor| &**tensor).collect();
                entry.run(&inputs)?.map_err(|_| Error::Value("a form has no way for its own call".to_owned()))
            }
        }
    }

    /// Traces the closure for the sizes of a call alone: what is wrong with these may look right where sizes are symbolic.
    fn check(&self, leaves: &Leaves<'_>, run: &Closure<'_, Given<R>>) -> Result<(), Error> {
        let guards = Guards::of(&leaves.leaves);
        let trace = Trace::new(&guards, Way::dry());
        let result = run(&mut Entering::new(trace.clone(), &guards, &leaves.leaves));
        let mut leaving = Leaving::new(trace.clone(), self.place);
        result.map(&mut leaving);
        let way = trace.way();
        let noted = way.failure.as_ref().map(|failure| failure.error());
        match noted.or(leaving.failure) {
            Some(error) if !way.lost() => Err(error),
            _ => Ok(()),
        }
    }

    fn entry(&self, guards: Guards, reason: String, leaves: &Leaves<'_>, run: &Closure<'_, Given<R>>) -> Result<NewEntry<R>, Refused> {
        let start = Instant::now();
        let Made { form, given } = self.form(&guards, leaves, Known::default(), None, run)?;
        let (numbers, calls, guard_cost) = (guards.numbers().collect(), AtomicU64::new(0), Duration::ZERO);
        Ok((Entry { guards, numbers, form, calls, reason, took: start.elapsed(), guard_cost }, given))
    }

    /// Traces a call that gives an answer which no call gave before: one more way through a form.
    fn grow(&self, entry: &Entry<Given<R>>, known: Known, leaves: &Leaves<'_>, run: &Closure<'_, Given<R>>) -> Result<Given<R>, Error> {
        let Form::Broken(tree) = &entry.form else { return Err(Error::Value("a form without breaks has no more ways".to_owned())) };
        if tree.read().unwrap_or_else(PoisonError::into_inner).ways() >= self.limit.0 {
            match self.limit.1 {
                OnLimit::Error => {
                    let why = "its numbers have other answers than those of the calls before".to_owned();
                    return Err(Error::Limit { place: self.place, limit: self.limit.0, why });
                }
                OnLimit::Replace => *tree.write().unwrap_or_else(PoisonError::into_inner) = Tree::new(),
            }
        }
        self.made.fetch_add(1, Relaxed);
        let made = self.form(&entry.guards, leaves, known, Some(tree), run).map_err(|refused| *refused.error)?;
        made.given.ok_or_else(|| Error::Value("the closure asks for no number when it runs again".to_owned()))
    }

    /// Traces, compiles and loads the closure for calls for which the guards hold. A closure that asks for numbers runs meanwhile; its way
    /// is added to a tree.
    fn form(
        &self,
        guards: &Guards,
        leaves: &Leaves<'_>,
        known: Known,
        tree: Option<&RwLock<Tree<Given<R>>>>,
        run: &Closure<'_, Given<R>>,
    ) -> Result<Made<Given<R>>, Refused> {
        if R::STATES {
            let why = "a state is no result of a closure; give its tensor".to_owned();
            return Err(Error::Trace { place: self.place, why }.into());
        }
        let trace = Trace::new(guards, Way::new(leaves.taken(guards)?, known));
        let result = run(&mut Entering::new(trace.clone(), guards, &leaves.leaves));
        let mut leaving = Leaving::new(trace.clone(), self.place);
        let result = result.map(&mut leaving);
        let Leaving { outputs, failure, .. } = leaving;
        let noted = trace.way().failure.as_ref().map(|failure| failure.error());
        if let Some(error) = noted.or(failure) {
            return Err(Refused { error: Box::new(error), pinned: trace.pinned() });
        }
        if trace.way().events.is_empty() {
            let graph = trace.lock();
            let changes = changes(&graph, &leaves.states, &result.1, &outputs);
            let program = Segment::new(&graph, 0, outputs, changes, self.place)?;
            return Ok(Made { form: Form::Whole(Box::new(program), result), given: None });
        }
        trace.run(outputs.clone(), self.place)?;
        let way = trace.way();
        let given = filled(&result, &outputs, &way.values);
        let result = Arc::new(result);
        let mut grown = Tree::new();
        match tree {
            Some(tree) => tree.write().unwrap_or_else(PoisonError::into_inner).add(&way.events, result, outputs),
            None => grown.add(&way.events, result, outputs),
        }
        Ok(Made { form: Form::Broken(RwLock::new(grown)), given: Some(given) })
    }
}

/// Guards for fewer calls, and of what they fix the values: of these numbers, else of all numbers, else of all sizes. Nothing where
/// everything is fixed.
fn narrower(guards: &Guards, leaves: &[Leaf<'_>], pinned: Vec<usize>) -> Option<(Guards, &'static str)> {
    let numbers = [pinned, guards.numbers().collect()].map(|places| (guards.fixed_at(&places, leaves), "numbers"));
    numbers.into_iter().chain([(Guards::of(leaves), "sizes")]).find(|(narrower, _)| narrower != guards)
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
                if false $(|| $name::STATES)* {
                    let mut states = States::default();
                    $($value.visit(&mut states);)*
                    if states.any() {
                        let turns = states.turns()?;
                        let held = ($($value.map(&mut |tensor: &Tensor| tensor.clone()),)*);
                        let ($($value,)*) = &held;
                        let mut leaves = Leaves::default();
                        $($value.visit(&mut leaves);)*
                        let holds = |guards: &Guards| {
                            let mut check = guards.check();
                            leaves.leaves.iter().for_each(|leaf| check.leaf(*leaf));
                            check.holds()
                        };
                        if let Some(entry) = self.find(holds).filter(|entry| entry.changes()) {
                            let (inputs, places) = (leaves.taken(&entry.guards)?, leaves.states);
                            drop(held);
                            return entry.run_owning(inputs, &places, &states);
                        }
                        let (result, assigned) = self.given($($value),*)?;
                        states.assign(assigned);
                        drop(turns);
                        return Ok(result);
                    }
                }
                Ok(self.given($($value),*)?.0)
            }

            /// The call, on tensors and states of this call alone.
            #[inline]
            fn given(&self, $($value: &$name),*) -> Result<Given<R>, Error> {
                let holds = |guards: &Guards| {
                    let mut check = Checked(guards.check());
                    $($value.visit(&mut check);)*
                    check.0.holds()
                };
                let mut known = None;
                if let Some(entry) = self.find(holds) {
                    let numbers;
                    let mut inputs = Inputs::default();
                    $($value.visit(&mut inputs);)*
                    numbers = inputs.numbers(&entry.numbers)?;
                    inputs.tensors.extend(&numbers);
                    match entry.run(&inputs.tensors)? {
                        Ok(result) => return Ok(result),
                        Err(before) => known = Some((entry, before)),
                    }
                }
                let mut leaves = Leaves::default();
                $($value.visit(&mut leaves);)*
                if let Some(failed) = leaves.others.iter().find(|tensor| matches!(tensor.0, Inner::Failed(_) | Inner::Output(_))) {
                    return failed.value().map(|_| unreachable!("it has no value"));
                }
                if leaves.traced {
                    return Ok(((self.function)($($value),*), Vec::new()));
                }
                let run = |change: &mut dyn Mapper| {
                    $(let $value = $value.map(change);)*
                    let result = (self.function)($(&$value),*);
                    let mut assigned = Assigned::default();
                    $($value.visit(&mut assigned);)*
                    (result, assigned.0)
                };
                match known {
                    Some((entry, before)) => self.grow(&entry, before, &leaves, &run),
                    None => self.make(&leaves, &holds, &run),
                }
            }
        }
    )* };
}

arities! { (A a); (A a, B b); (A a, B b, C c); (A a, B b, C c, D d); }
