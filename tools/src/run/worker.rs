//! The worker process: runs the cases that come in as JSON lines and answers each with one line.
//! A crash ends only the worker; the suite sees the pipe close.

use std::error::Error;
use std::io::{BufRead, Write};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use strata_runtime::compare::Tolerance;

use super::backend::{Backend, Compile, Program, dump, with_signature};
use super::case::{Case, Check, InputSet};
use super::judge::{Rules, judge};

/// What a worker is told to do.
#[derive(Debug, Serialize, Deserialize)]
pub struct Task {
    /// The case.
    pub case: Case,
    /// The folder that its paths are relative to.
    pub folder: PathBuf,
    /// Where outputs are written, if anywhere.
    pub dump: Option<PathBuf>,
    /// The compiler's options as JSON.
    pub options: String,
    /// Whether the cache is used.
    pub cached: bool,
}

/// What a worker answers.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Answer {
    /// Microseconds of each compilation.
    pub compiled: Vec<u64>,
    /// Input sets run.
    pub sets: usize,
    /// The step that failed, if one did.
    pub failure: Option<Failure>,
}

/// Why a case failed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Failure {
    /// Which step.
    pub kind: Kind,
    /// The reason in words, one line.
    pub reason: String,
}

/// The steps of a case that can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    /// The compiler or interpreter refused the program.
    Refused,
    /// The program refused the inputs.
    Run,
    /// A result is wrong.
    Wrong,
    /// The process died.
    Crash,
    /// It did not end in time.
    TimeLimit,
    /// More than one compilation for one program.
    Recompiled,
}

impl Kind {
    /// The words used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Refused => "refused",
            Kind::Run => "call failed",
            Kind::Wrong => "wrong value",
            Kind::Crash => "crash",
            Kind::TimeLimit => "time limit",
            Kind::Recompiled => "recompiled",
        }
    }
}

/// Answers tasks from standard input until it closes.
pub fn serve(backend: Backend) -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let task: Task = serde_json::from_str(&line?)?;
        let mut answer = Answer::default();
        answer.failure = run(&task, backend, &mut answer).err();
        writeln!(out, "{}", serde_json::to_string(&answer)?)?;
        out.flush()?;
    }
    Ok(())
}

fn run(task: &Task, backend: Backend, answer: &mut Answer) -> Result<(), Failure> {
    let case = &task.case;
    let fail = |kind, reason: String| Failure { kind, reason: reason.split_whitespace().collect::<Vec<_>>().join(" ") };
    let model = task.folder.join(&case.pt2);
    let first = case.io.first().map(|io| InputSet::read(&task.folder.join(io))).transpose().map_err(|e| fail(Kind::Run, e.to_string()))?;
    // A model without types takes those of its first input set.
    let untyped = first.as_ref().filter(|_| model.extension().is_some_and(|kind| kind == "pt"));
    let options = with_signature(&task.options, &model, || untyped.map(InputSet::signature).unwrap_or_default());
    let options = options.map_err(|e| fail(Kind::Refused, e.to_string()))?;
    // What is differentiated by is said by the inputs' file.
    let gradient = first.as_ref().and_then(InputSet::gradient);
    let options = gradient.map_or(Ok(options.clone()), |gradient| gradient.options(&options));
    let options = options.map_err(|e| fail(Kind::Refused, e.to_string()))?;
    let cache = task.cached;
    let how = Compile { options: &options, cache, keep_prepared: false, explain: false, verify: None, weights: None, op_libraries: &[] };
    let opened = Program::open_for(&model, backend, &how, first.as_ref());
    let (mut program, times) = opened.map_err(|e| fail(Kind::Refused, e.to_string()))?;
    let mut signature = untyped.map(InputSet::signature);
    answer.compiled.extend(times.compile.map(|time| time.as_micros() as u64));
    let rules = Rules {
        tolerance: Some(Tolerance { rtol: case.rtol, atol: case.atol }),
        shape_only: case.check == Check::Shape,
        skip_outputs: &case.skip_outputs,
    };
    let mut wrong = None;
    for io in &case.io {
        let path = task.folder.join(io);
        let set = InputSet::read(&path).map_err(|e| fail(Kind::Run, e.to_string()))?;
        // A model without types is another program for calls of other types.
        if signature.as_ref().is_some_and(|signature| *signature != set.signature()) {
            let options = with_signature(&task.options, &model, || set.signature()).map_err(|e| fail(Kind::Refused, e.to_string()))?;
            let how = Compile { options: &options, ..how };
            program = Program::open(&model, backend, &how).map_err(|e| fail(Kind::Refused, e.to_string()))?.0;
            signature = Some(set.signature());
        }
        // Each input set was made by a fresh model.
        program.reset();
        answer.sets += 1;
        let stem = io.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let at = |reason: String| if case.io.len() > 1 { format!("{stem}: {reason}") } else { reason };
        let kind = if backend == Backend::Interp { Kind::Refused } else { Kind::Run };
        let mut inputs = set.inputs();
        if let Some(gradient) = set.gradient() {
            inputs.extend(set.seeds(&gradient.seeds()).map_err(|e| fail(Kind::Run, e))?);
        }
        let results = program.run(&inputs).map_err(|e| fail(kind, at(e.to_string())))?;
        if let Some(folder) = &task.dump {
            dump(folder, io, &results).map_err(|e| fail(Kind::Run, e.to_string()))?;
        }
        if let Err(reason) = judge(&results, &set, &rules) {
            wrong.get_or_insert(fail(Kind::Wrong, at(reason)));
        }
    }
    wrong.map_or(Ok(()), Err)
}
