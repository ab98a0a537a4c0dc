//! What runs a model: compiled code, or the reference interpreter.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use strata_runtime::compiler::Compiler;
use strata_runtime::manifest::OutputKind;
use strata_runtime::{Artefact, Session, Tensor, shared};

/// Who computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Backend {
    /// Native code for this CPU.
    Cpu,
    /// The reference interpreter: slow and obvious.
    Interp,
}

impl Backend {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Backend::Cpu => "cpu",
            Backend::Interp => "interp",
        }
    }
}

/// A model ready to run.
pub enum Program {
    /// Compiled code with its weights.
    Native(Box<Session>),
    /// A model that the interpreter reads anew at each run.
    Interpreted {
        /// The interpreter's home.
        compiler: Compiler,
        /// The model.
        path: PathBuf,
        /// Options as JSON.
        options: String,
    },
}

/// One result of a run.
pub struct Named {
    /// Its name; for a mutation the name of what changed.
    pub name: String,
    /// Whether it is the new value of a buffer or input.
    pub mutation: bool,
    /// The value.
    pub tensor: Tensor,
}

/// How long it took to get a program.
#[derive(Debug, Clone, Copy, Default)]
pub struct LoadTimes {
    /// Compilation; `None` when the file was compiled already.
    pub compile: Option<Duration>,
    /// Mapping code and weights.
    pub load: Duration,
}

impl Program {
    /// Compiles or loads a model.
    pub fn open(path: &Path, backend: Backend, options: &str) -> Result<(Program, LoadTimes), Box<dyn Error>> {
        let kind = path.extension().and_then(|kind| kind.to_str()).unwrap_or_default();
        let mut times = LoadTimes::default();
        let artefact = match (kind, backend) {
            ("strata" | "so", Backend::Interp) => {
                return Err(format!("{}: the interpreter needs the model, not compiled code", path.display()).into());
            }
            ("strata", _) => Artefact::read(path)?,
            ("so", _) => shared::read(path)?,
            ("pt2" | "mlir", Backend::Interp) => {
                let (compiler, path) = (Compiler::open()?, path.to_path_buf());
                return Ok((Program::Interpreted { compiler, path, options: options.into() }, times));
            }
            ("pt2" | "mlir", Backend::Cpu) => {
                let compiler = Compiler::open()?;
                let start = Instant::now();
                let artefact = compiler.compile(path, options)?;
                times.compile = Some(start.elapsed());
                artefact
            }
            _ => return Err(format!("{}: not a .pt2, .mlir, .so or .strata file", path.display()).into()),
        };
        let start = Instant::now();
        let session = Session::load(&artefact, None)?;
        times.load = start.elapsed();
        Ok((Program::Native(Box::new(session)), times))
    }

    /// Runs the program.
    pub fn run(&self, inputs: &[&Tensor]) -> Result<Vec<Named>, Box<dyn Error>> {
        match self {
            Program::Native(session) => {
                let results = session.run_refs(inputs)?.into_iter().zip(&session.manifest().outputs);
                Ok(results
                    .map(|(tensor, out)| Named { name: out.name.clone(), mutation: out.kind == OutputKind::Mutation, tensor })
                    .collect())
            }
            Program::Interpreted { compiler, path, options } => {
                let results = compiler.interpret(path, options, inputs)?.into_iter();
                Ok(results.map(|r| Named { name: r.name, mutation: r.mutation, tensor: r.tensor }).collect())
            }
        }
    }
}
