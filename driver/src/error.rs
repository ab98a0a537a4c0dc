//! Why a program has no artefact.

use crate::levels::{Level, UnknownLevel};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use strata_core::ir::ParseError;
use strata_core::pass::PipelineError;
use strata_frontend::ImportError;
use strata_frontend::onnx::OnnxError;
use strata_frontend::stablehlo::StableHloError;
use strata_frontend::torchscript::ScriptError;
use strata_lowering::codegen;
use strata_lowering::target::{UnknownGpu, UnknownTarget};
use strata_lowering::train_step::SettingsError;
use strata_runtime::{LoadError, OpLibraryError, OpLibraryKind};

/// A program that cannot be compiled or interpreted.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum Error {
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{path}: {source}")]
    File { path: PathBuf, source: Box<Error> },
    #[error(
        "{path}: not a file that can be compiled; give a .pt2 export, its graph as .json, a .pt archive of TorchScript, an .onnx model, or an .mlir module"
    )]
    Kind { path: PathBuf },
    #[error("--signature: {why}")]
    Signature { why: String },
    #[error("--operators: {why}")]
    Operators { why: String },
    #[error("the program calls `{symbol}` of the library {file}, which is not given; give it with {flag}=FOLDER/{file}", flag = OpLibraryKind::of(symbol).flag())]
    NoOpLibrary { file: String, symbol: String },
    #[error(transparent)]
    OpLibrary(#[from] OpLibraryError),
    #[error(
        "--load-torch-op is for exported programs and for programs that are run; leave it out, or give it with --check-semantics, --bisect or \
         --check-gradients"
    )]
    TorchOpUseless,
    #[error("PTX is code for a CUDA device; name one with --target=cuda:sm_90")]
    NoDevice,
    #[error("a text of PTX is for one device; --emit=strata keeps several")]
    OneDevice,
    #[error("the emulator runs whole programs; this one goes on elsewhere after a graph break")]
    EmulatedPart,
    /// What a query failed with, which is kept as its result.
    #[error(transparent)]
    Again(Arc<Error>),
    #[error(transparent)]
    Import(#[from] ImportError),
    #[error(transparent)]
    Script(#[from] ScriptError),
    #[error(transparent)]
    Onnx(#[from] OnnxError),
    #[error(transparent)]
    StableHlo(#[from] StableHloError),
    #[error(transparent)]
    Parse(#[from] ParseError),
    #[error("level '{level}': {source}")]
    Level { level: Level, source: PipelineError },
    #[error(
        "the passes to level '{level}' left a program that does not verify: {errors}; where that names a shape or type that is wrong in the program, mend it there, else please report it"
    )]
    Broken { level: Level, errors: String },
    #[error(transparent)]
    Lowering(#[from] strata_lowering::Error),
    #[error(transparent)]
    Kernel(#[from] strata_lowering::loop_to_cpu::Error),
    #[error("code generation: {0}")]
    Target(#[from] UnknownTarget),
    #[error(transparent)]
    WrongTarget(#[from] strata_dialects::target::WrongTarget),
    #[error(transparent)]
    Gpu(#[from] UnknownGpu),
    #[error("the program says for which machine it is compiled, in its attribute `{attribute}`, and so do the options; drop one of them")]
    TwoTargets { attribute: &'static str },
    #[error("code generation: {0}")]
    Codegen(#[from] codegen::Error),
    #[error("linking: {0}")]
    Link(#[from] codegen::LinkError),
    #[error("the code has no entry `strata_entry`")]
    NoEntry,
    #[error("weight '{name}': {reason}")]
    Weight { name: String, reason: String },
    #[error(
        "input '{name}' has symbolic sizes, and `dynamic` is off; say the sizes of the call's inputs (`--sizes=4x8:3`), or compile with dynamic=auto"
    )]
    Symbolic { name: String },
    #[error("options: {0}")]
    Options(#[from] serde_json::Error),
    #[error(transparent)]
    Passes(#[from] crate::PassListError),
    #[error("--autotune-budget is a number of seconds, not negative and not without end")]
    Budget,
    #[error("--autotune-budget is the time of --mode=max-autotune; give that too, or leave the budget out")]
    BudgetUnused,
    #[error(
        "the program is at the level `host` or below it, where nothing says any more what a call brings; what is compiled is text of the levels {known}, so begin again at one of these (rs-opt lowers `host` further)"
    )]
    Lowered { known: String },
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error("{0}")]
    Run(String),
    #[error("{0}")]
    Interpreter(String),
    #[error(transparent)]
    UnknownLevel(#[from] UnknownLevel),
    #[error("level '{level}' is one of the pipeline to a CUDA device; name one with --target=cuda:sm_90")]
    LevelOfDevice { level: Level },
    #[error("level '{level}' is one of the pipeline to the CPU, not to a CUDA device; leave --target out")]
    LevelOfCpu { level: Level },
    #[error("the step of training: {0}")]
    Train(#[from] SettingsError),
    #[error("{path}: it is computed forwards alone, and --rematerialise is about what a backward reads; give --train or --grad too")]
    NoBackward { path: PathBuf },
    #[error("the kernel `{symbol}` of {file}: {why}")]
    PtxKernel { file: String, symbol: String, why: String },
    #[error("there is no optimisation '{name}' to skip on the way to {target}; those that may be left out are {known}")]
    UnknownSkip { name: String, target: String, known: String },
    #[error("the compiler failed inside: {0}; please report it with the program")]
    Panic(String),
}

impl Error {
    /// The error with the file that it is about, which some name already.
    pub(crate) fn of(self, path: &Path) -> Error {
        match self {
            named @ (Error::Io { .. } | Error::File { .. } | Error::Kind { .. } | Error::NoBackward { .. } | Error::Parse(_)) => named,
            error => Error::File { path: path.to_owned(), source: Box::new(error) },
        }
    }
}
