//! Does what `rs-opt` was asked beside running passes: reads the program, checks it or draws it.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use strata_core::ir::{Context, Module};
use strata_core::registry::Registry;
use strata_interp::Kernels;
use strata_lowering::loop_to_host::{Program, entry};
use strata_runtime::op_library;
use strata_store::{Settings, Store};

use crate::bisect::bisect;
use crate::check_gradients::check_gradients;
use crate::check_semantics::{CheckError, CheckOptions, budget, check_semantics, run_pass};
use crate::incremental::{self, Database, Form, Pipeline, Source as Text};
use crate::interpret::weights;
use crate::kernels::{all_called, opened};
use crate::opt_args::{Explain, Job, Samples, Task};
use crate::source_file::{Source, SourceFile};
use crate::{Error, Options, graph};

/// A task that could not be done.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum JobError {
    #[error(transparent)]
    Driver(#[from] Error),
    #[error(transparent)]
    Check(#[from] CheckError),
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("--watch needs a file; give one in the place of standard input")]
    Watch,
    #[error("{0}")]
    Incremental(String),
    #[error("--graph=svg calls Graphviz's dot, which is not here ({0}); install graphviz, or write --graph=dot")]
    NoGraphviz(std::io::Error),
    #[error("Graphviz's dot failed: {0}")]
    Graphviz(String),
}

/// The opened libraries of the user, where there are some.
type Opened = Option<Arc<dyn Kernels>>;

impl Job {
    /// Does it and writes the answer; says whether all is well.
    pub fn run(&self, registry: &'static Registry) -> Result<bool, JobError> {
        let kernels = opened(&self.op_libraries)?;
        match self.task {
            Task::Incremental { explain, watch } => self.incremental(registry, explain, watch),
            Task::Check(samples) => self.each(registry, |source| self.check(source, samples, &kernels)),
            Task::Bisect(samples) => self.each(registry, |source| self.bisect(source, samples, &kernels)),
            Task::Gradients(samples) => self.each(registry, |source| self.gradients(registry, source, samples, &kernels)),
            Task::Graph { svg } => self.each(registry, |source| self.graph(source, svg)),
        }
    }

    /// One program after the other; `one` gives its answer and whether it is well.
    fn each(&self, registry: &'static Registry, one: impl Fn(&Source<'_>) -> Result<(Vec<u8>, bool), JobError>) -> Result<bool, JobError> {
        let context = registry.pooled_context();
        let (mut answer, mut all_well) = (Vec::new(), true);
        for source in self.programs(&context)? {
            all_called(source.module.op(), &self.op_libraries)?;
            let (text, well) = one(&source)?;
            answer.extend(text);
            all_well &= well;
        }
        self.write(&answer)?;
        Ok(all_well)
    }

    fn write(&self, answer: &[u8]) -> std::io::Result<()> {
        match &self.output {
            Some(path) if path.as_os_str() != "-" => std::fs::write(path, answer),
            _ => std::io::stdout().write_all(answer),
        }
    }

    /// Runs the passes through the database: only what is not in the store runs, and in a watch only what an edit changed.
    fn incremental(&self, registry: &'static Registry, explain: Option<Explain>, watch: bool) -> Result<bool, JobError> {
        let mut db = Database::new(registry, Store::open_or_warn(&Settings::default()).map(Arc::new));
        let pipeline = Pipeline::new(&db, self.passes.clone());
        if watch {
            let path = self.input.as_deref().ok_or(JobError::Watch)?;
            let mut text = |path: &Path| match path.extension() {
                Some(kind) if kind == "mlir" => std::fs::read_to_string(path).map_err(|error| error.to_string()),
                _ => self.read(path, &registry.pooled_context()).map(|source| source.module.to_string()).map_err(|error| error.to_string()),
            };
            incremental::watch(&mut db, path, &mut text, pipeline, &mut std::io::stdout(), &mut || true)?;
            return Ok(true);
        }
        let context = registry.pooled_context();
        let mut texts = Vec::new();
        for source in self.programs(&context)? {
            let source = Text::new(&db, self.name(), source.module.op().to_text_with_locations(), Form::Located);
            let (text, report) = incremental::run(&db, source, pipeline).map_err(JobError::Incremental)?;
            report.diagnostics.iter().for_each(|said| eprintln!("{said}"));
            match explain {
                Some(Explain::Text) => eprintln!("{report}"),
                Some(Explain::Json) => eprintln!("{}", report.json()),
                None => {}
            }
            let module = Module::parse(&context, &text, &self.name()).map_err(Error::from)?;
            // MLIR's driver ends a program with an empty line.
            texts.push(if self.locations { module.op().to_text_with_locations() + "\n" } else { module.to_string() + "\n" });
        }
        self.write(texts.join("// -----\n").as_bytes())?;
        Ok(true)
    }

    /// Reads an exported program, with the operators of extensions that it calls.
    fn read<'c>(&self, path: &Path, context: &'c Context) -> Result<Source<'c>, Error> {
        let op_libraries = self.op_libraries.iter().map(op_library::describe).collect::<Result<_, _>>()?;
        SourceFile::from(path).read_for(context, &Options { op_libraries, ..Options::default() })
    }

    fn programs<'c>(&self, context: &'c Context) -> Result<Vec<Source<'c>>, JobError> {
        let text = match &self.input {
            Some(path) if SourceFile::from(path).is_exported() => return Ok(vec![self.read(path, context)?]),
            Some(path) => std::fs::read_to_string(path).map_err(|source| Error::Io { path: path.clone(), source })?,
            None => {
                let mut text = String::new();
                std::io::stdin().read_to_string(&mut text)?;
                text
            }
        };
        let name = self.name();
        let mut programs = vec![String::new()];
        for line in text.lines() {
            match programs.last_mut() {
                Some(program) if !(self.split && line.trim_end() == "// -----") => {
                    program.push_str(line);
                    program.push('\n');
                }
                _ => programs.push(String::new()),
            }
        }
        let parse = |text: &String| {
            let module = Module::parse(context, text, &name).map_err(Error::from)?;
            Ok(Source { module, weights: None, format: "text of MLIR".to_owned() })
        };
        programs.iter().map(parse).collect()
    }

    fn name(&self) -> String {
        self.input.as_ref().map_or_else(|| "-".to_owned(), |path| path.display().to_string())
    }

    fn check(&self, source: &Source<'_>, samples: Samples, kernels: &Opened) -> Result<(Vec<u8>, bool), JobError> {
        let report = check_semantics(&source.module, &self.passes, &self.options(source, samples, kernels)?, &mut |_, _| {})?;
        Ok((format!("{report}\n").into_bytes(), report.guilty.is_none()))
    }

    fn bisect(&self, source: &Source<'_>, samples: Samples, kernels: &Opened) -> Result<(Vec<u8>, bool), JobError> {
        let found = bisect(&source.module, &self.passes, &self.options(source, samples, kernels)?, &mut |_, _| {})?;
        let reproducer = found.reproducer(&self.name(), &self.passes).map(|line| format!("{line}\n")).unwrap_or_default();
        Ok((format!("{found}\n{reproducer}").into_bytes(), found.guilty.is_empty()))
    }

    fn gradients(
        &self,
        registry: &'static Registry,
        source: &Source<'_>,
        samples: Samples,
        kernels: &Opened,
    ) -> Result<(Vec<u8>, bool), JobError> {
        let options = self.options(source, samples, kernels)?;
        for pass in &self.passes {
            run_pass(&source.module, pass)?;
        }
        let report = check_gradients(registry, &self.name(), &source.module.to_string(), &options)?;
        Ok((report.to_string().into_bytes(), report.is_right()))
    }

    fn graph(&self, source: &Source<'_>, svg: bool) -> Result<(Vec<u8>, bool), JobError> {
        for pass in &self.passes {
            run_pass(&source.module, pass)?;
        }
        let text = graph::dot(source.module.op());
        Ok((if svg { draw(&text)? } else { text.into_bytes() }, true))
    }

    fn options(&self, source: &Source<'_>, samples: Samples, kernels: &Opened) -> Result<CheckOptions, Error> {
        let weights = match (&source.weights, &self.input) {
            (Some(_), Some(path)) => known_weights(source, path)?,
            _ => HashMap::new(),
        };
        let Samples { sets, seed, elements, seconds } = samples;
        Ok(CheckOptions { sets, seed, weights, budget: budget(elements, seconds), kernels: kernels.clone() })
    }
}

/// The data that the program's file brings.
fn known_weights(source: &Source<'_>, path: &Path) -> Result<HashMap<String, strata_interp::Tensor>, Error> {
    weights(&Program::of(entry(source.module.op())?)?, source, path)
}

/// Imports a `.pt2` or reads an `.mlir` file and checks what passes do to it, with the weights that the file brings.
pub fn check_file(
    registry: &'static Registry,
    path: &Path,
    passes: &[String],
    options: &CheckOptions,
) -> Result<crate::check_semantics::Report, JobError> {
    let context = registry.pooled_context();
    let source = SourceFile::from(path).read(&context)?;
    let weights = if source.weights.is_some() { known_weights(&source, path)? } else { HashMap::new() };
    let options = CheckOptions { weights, ..options.clone() };
    Ok(check_semantics(&source.module, passes, &options, &mut |_, _| {})?)
}

/// Calls Graphviz.
fn draw(text: &str) -> Result<Vec<u8>, JobError> {
    let mut dot = Command::new("dot");
    dot.arg("-Tsvg").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = dot.spawn().map_err(JobError::NoGraphviz)?;
    if let Some(mut input) = child.stdin.take() {
        // Graphviz reads all before it writes; when it stops early its status says why.
        let _ = input.write_all(text.as_bytes());
    }
    let output = child.wait_with_output()?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(JobError::Graphviz(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
    }
}

/// The passes of the levels from below `from` down to `to`, one each.
pub fn passes_between(registry: &'static Registry, from: &str, to: &str) -> Result<Vec<String>, crate::ArgsError> {
    let args = ["--check-semantics".to_owned(), format!("--from={from}"), format!("--to={to}")];
    Ok(crate::opt_args::job(registry, &args)?.map(|job| job.passes).unwrap_or_default())
}
