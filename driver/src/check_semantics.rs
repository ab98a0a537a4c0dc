//! Translation validation: the reference interpreter runs the program before the first pass and after each one.
//!
//! A pass after which the results differ is named with the first value that differs. A program that the
//! interpreter cannot run (an op without an arm, a level below `host`) is counted as not checked, never as right.

use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use strata_core::ir::{Module, Op};
use strata_core::pass::{PassManager, PipelineError};
use strata_core::upstream::func;
use strata_dialects::{capture, host};
use strata_interp as interp;
use strata_interp::{Budget, InterpError, Kernels, Lent, Outputs, Signature, Tensor};

use crate::compare::{self, first_difference};
use crate::sample_inputs::{ATTEMPTS, Sample, sample};

/// How thoroughly to look.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// Input sets for each function.
    pub sets: usize,
    /// Where inputs come from: the same seed gives the same inputs.
    pub seed: u64,
    /// Data of parameters, buffers and constants; what is not here is generated.
    pub weights: HashMap<String, Tensor>,
    /// What a run of the interpreter may take; a pass behind which it would take more is not checked.
    pub budget: Budget,
    /// The opened libraries whose kernels the program may call.
    pub kernels: Option<Arc<dyn Kernels>>,
}

impl CheckOptions {
    /// What a run is lent.
    pub(crate) fn lent<'a>(&'a self, weights: interp::Weights<'a>) -> Lent<'a> {
        Lent { weights, kernels: self.kernels.as_ref() }
    }
}

/// Elements of a tensor in a check: generated sizes are small, so that more are the program's own.
pub const ELEMENTS: usize = 1 << 20;

/// Seconds of a run in a check. The models of the tests take less than one.
pub const SECONDS: u64 = 20;

/// The bounds of a run whose tensors have at most so many elements: of such tensors it may have a hundred or so at a time.
pub fn budget(elements: usize, seconds: u64) -> Budget {
    Budget { elements, together: elements.saturating_mul(128), time: Duration::from_secs(seconds) }
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self { sets: 3, seed: 1, weights: HashMap::new(), budget: budget(ELEMENTS, SECONDS), kernels: None }
    }
}

/// A check that could not be made at all.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum CheckError {
    #[error("pass '{pass}': {source}")]
    Pass { pass: String, source: PipelineError },
    #[error("there is no function to run; a program is a func.func with a body")]
    NoFunction,
}

/// What changed a program's meaning.
#[derive(Clone, Debug)]
pub struct Guilty {
    /// The pass, as it was given.
    pub pass: String,
    /// Its place among the passes, from 0.
    pub at: usize,
    /// Passes right before it after which the program could not be run: it may be one of those instead.
    pub suspects: Vec<String>,
    /// The function that was run.
    pub function: String,
    /// Which input set showed it.
    pub set: usize,
    /// What is different.
    pub change: Change,
}

/// How a program is different from what it was.
#[derive(Clone, Debug)]
pub enum Change {
    /// It gives another value.
    Value(compare::Difference),
    /// It ran before, and fails now.
    Fails(String),
}

/// What a check found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// How many passes there are.
    pub passes: usize,
    /// After how many of them the program was run (or is the same as before).
    pub checked: usize,
    /// Passes that were not checked, each with the reason.
    pub not_checked: Vec<(String, String)>,
    /// The first pass that changed the meaning; nothing after it was looked at.
    pub guilty: Option<Guilty>,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Value(difference) => difference.fmt(f),
            Change::Fails(reason) => write!(f, "the program ran before and fails after: {reason}"),
        }
    }
}

impl fmt::Display for Guilty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Guilty { pass, at, function, set, change, .. } = self;
        write!(f, "pass {} ('{pass}') changed what @{function} computes (input set {set}): {change}", at + 1)?;
        if !self.suspects.is_empty() {
            write!(f, "\nor one of these did, after which nothing could be run: {}", self.suspects.join(", "))?;
        }
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(guilty) = &self.guilty {
            writeln!(f, "{guilty}")?;
        }
        write!(f, "checked {} of {} passes", self.checked, self.passes)?;
        if let Some((_, reason)) = self.not_checked.first() {
            write!(f, ", {} not checked ({reason})", self.not_checked.len())?;
        }
        Ok(())
    }
}

/// A program as it can be run: at `host` the signature is gone from the IR, so it is kept from above.
pub(crate) struct Runner<'o> {
    options: &'o CheckOptions,
    signature: Option<Signature>,
    functions: Vec<Function>,
}

/// A function with the calls on which it is run.
struct Function {
    name: String,
    samples: Vec<Sample>,
}

/// What a run of all functions on all their samples gave: `[function][set]`.
pub(crate) type Runs = Vec<Vec<Result<Outputs, String>>>;

/// Why a program is not run.
pub(crate) type NotRun = String;

impl<'o> Runner<'o> {
    /// Chooses the functions to run and inputs on which they do not fail.
    pub(crate) fn new(module: Op<'_>, options: &'o CheckOptions) -> Result<(Self, Result<Runs, NotRun>), CheckError> {
        let functions = functions(module);
        if functions.is_empty() {
            return Err(CheckError::NoFunction);
        }
        let mut runner = Self { options, signature: None, functions: Vec::new() };
        runner.note_signature(module);
        let (mut runs, mut reason) = (Vec::new(), None);
        for function in functions {
            let name = function.str("sym_name").unwrap_or_default();
            let (mut samples, mut outputs) = (Vec::new(), Vec::new());
            for set in 0..options.sets {
                match runner.find_sample(module, function, &name, set) {
                    Ok((sample, output)) => {
                        samples.push(sample);
                        outputs.push(Ok(output));
                    }
                    Err(why) => reason = reason.or(Some(why)),
                }
            }
            if !samples.is_empty() {
                runner.functions.push(Function { name, samples });
                runs.push(outputs);
            }
        }
        let runs = if runs.is_empty() { Err(reason.unwrap_or_default()) } else { Ok(runs) };
        Ok((runner, runs))
    }

    fn find_sample(&self, module: Op<'_>, function: Op<'_>, name: &str, set: usize) -> Result<(Sample, Outputs), NotRun> {
        let mut first = None;
        for attempt in 0..ATTEMPTS {
            let tried = self.options.budget.spend(|| sample(function, self.options.seed, set, attempt, &self.options.weights));
            let tried = tried.and_then(|sample| self.call(module, name, &sample).map(|outputs| (sample, outputs)));
            match tried {
                Ok(found) => return Ok(found),
                Err(error @ (InterpError::Unsupported { .. } | InterpError::Budget { .. })) => return Err(unsupported(&error)),
                Err(error) => first = first.or(Some(error.to_string())),
            }
        }
        Err(format!("the program fails on all generated inputs: {}", first.unwrap_or_default()))
    }

    /// Writes to inputs become results on the way down, so the last signature above `host` counts.
    pub(crate) fn note_signature(&mut self, module: Op<'_>) {
        if host_entry(module).is_none()
            && let Ok(signature) = Signature::of(module)
        {
            self.signature = Some(signature);
        }
    }

    fn call(&self, module: Op<'_>, function: &str, sample: &Sample) -> Result<Outputs, InterpError> {
        let inputs = sample.inputs.clone();
        let weights = |name: &str| sample.weights.get(name).cloned();
        let run = || match (host_entry(module), &self.signature) {
            (Some(_), Some(signature)) => interp::run_host(module, signature, inputs, self.options.lent(&weights)),
            (Some(entry), None) => Err(no_arm(entry)),
            (None, _) => interp::run(module, Some(function), inputs, self.options.lent(&weights)),
        };
        let fail = |_| InterpError::Failed { op: function.to_owned(), location: "interpreter".into(), reason: "it panicked".into() };
        let run = || self.options.budget.spend(run);
        catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| Err(fail(panic)))
    }

    /// Runs everything; an op without an arm anywhere makes the whole not run.
    pub(crate) fn run(&mut self, module: Op<'_>) -> Result<Runs, NotRun> {
        self.note_signature(module);
        let mut runs = Vec::new();
        for function in &self.functions {
            if host_entry(module).is_none() && !functions(module).iter().any(|op| op.str("sym_name").as_ref() == Some(&function.name)) {
                return Err(format!("@{} is below the level host", function.name));
            }
            let mut outputs = Vec::new();
            for sample in &function.samples {
                outputs.push(match self.call(module, &function.name, sample) {
                    Err(error @ (InterpError::Unsupported { .. } | InterpError::Budget { .. })) => return Err(unsupported(&error)),
                    other => other.map_err(|error| error.to_string()),
                });
            }
            runs.push(outputs);
        }
        Ok(runs)
    }

    /// The first function and input set on which two versions of the program differ.
    pub(crate) fn compare(&self, before: &Runs, after: &Runs) -> Option<(String, usize, Change)> {
        for (function, (old, new)) in self.functions.iter().zip(before.iter().zip(after)) {
            for (set, pair) in old.iter().zip(new).enumerate() {
                let change = match pair {
                    (Ok(old), Ok(new)) => first_difference(old, new).map(Change::Value),
                    (Ok(_), Err(reason)) => Some(Change::Fails(reason.clone())),
                    _ => None,
                };
                if let Some(change) = change {
                    return Some((function.name.clone(), set, change));
                }
            }
        }
        None
    }
}

fn unsupported(error: &InterpError) -> String {
    match error {
        InterpError::Unsupported { op, location } => format!("op without an interpreter arm: {op} at {location}"),
        other => other.to_string(),
    }
}

fn no_arm(op: Op<'_>) -> InterpError {
    InterpError::Unsupported { op: op.name().to_owned(), location: interp::run::place(op) }
}

/// The captured entry, or all functions with a body where nothing is captured.
fn functions(module: Op<'_>) -> Vec<Op<'_>> {
    let has_body = |op: &Op<'_>| op.isa::<func::Func>() && op.regions().first().and_then(|region| region.entry()).is_some();
    let all: Vec<_> = module.body(0).ops().into_iter().filter(has_body).collect();
    let entries: Vec<_> = all.iter().copied().filter(|op| op.attr(capture::ENTRY).is_some() || op.attr(host::ENTRY).is_some()).collect();
    if entries.is_empty() { all } else { entries }
}

fn host_entry(module: Op<'_>) -> Option<Op<'_>> {
    functions(module).into_iter().find(|op| op.attr(host::ENTRY).is_some())
}

/// Runs one pass as `rs-opt` would: one for functions is nested when it stands at the top.
pub(crate) fn run_pass(module: &Module<'_>, pass: &str) -> Result<(), CheckError> {
    let failed = |source| CheckError::Pass { pass: pass.to_owned(), source };
    let parse = |text: &str| PassManager::parse(module.cx(), "builtin.module", text);
    let manager = parse(pass).or_else(|error| parse(&format!("func.func({pass})")).map_err(|_| error)).map_err(failed)?;
    manager.verify_each(true).run(module.op()).map_err(failed)
}

/// Runs the passes in order and the program after each of them, up to the first difference.
///
/// `after` is called behind each pass, before the program is run.
pub fn check_semantics(
    module: &Module<'_>,
    passes: &[String],
    options: &CheckOptions,
    after: &mut dyn FnMut(&str, Op<'_>),
) -> Result<Report, CheckError> {
    let (mut runner, mut last) = Runner::new(module.op(), options)?;
    let mut report = Report { passes: passes.len(), ..Report::default() };
    let mut text = module.to_string();
    let mut suspects = Vec::new();
    for (at, pass) in passes.iter().enumerate() {
        run_pass(module, pass)?;
        after(pass, module.op());
        let before = match &last {
            Ok(before) => before,
            Err(reason) => {
                report.not_checked.push((pass.clone(), reason.clone()));
                continue;
            }
        };
        let new_text = module.to_string();
        if std::mem::replace(&mut text, new_text) == text && suspects.is_empty() {
            report.checked += 1;
            continue;
        }
        match runner.run(module.op()) {
            Err(reason) => {
                report.not_checked.push((pass.clone(), reason));
                suspects.push(pass.clone());
            }
            Ok(runs) => {
                report.checked += 1;
                if let Some((function, set, change)) = runner.compare(before, &runs) {
                    report.guilty = Some(Guilty { pass: pass.clone(), at, suspects, function, set, change });
                    return Ok(report);
                }
                suspects.clear();
                last = Ok(runs);
            }
        }
    }
    Ok(report)
}
