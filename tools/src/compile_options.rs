//! The options of a compilation, the same on every command line.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValue;
use serde_json::{Map, json};
use strata_runtime::op_library::{self, OpLibraryError, OpLibraryFile};

/// How to compile.
#[derive(Args, Clone, Debug, Default)]
pub struct CompileOptions {
    /// How much time compilation may take for faster code
    #[arg(long, value_parser = ["default", "reduce-overhead", "max-autotune"])]
    mode: Option<String>,
    /// Seconds that --mode=max-autotune may measure schedules
    #[arg(long, value_name = "SECONDS")]
    autotune_budget: Option<f64>,
    /// Which sizes stay symbolic
    #[arg(long, value_parser = ["auto", "on", "off"])]
    dynamic: Option<String>,
    /// The sizes of the call's inputs for --dynamic=off, as in 4x8:3; rs-run takes those of its inputs
    #[arg(long, value_name = "SIZES")]
    sizes: Option<String>,
    /// The types of a call of a TorchScript archive, an ONNX model or StableHLO, as in f32[?x3x224x224],i64[2]={0 1}; rs-run takes those of its inputs
    #[arg(long, value_name = "TYPES")]
    signature: Option<String>,
    /// Operators that a program calls and PyTorch does not have: an .mlir file of functions, each named after an operator, whose bodies are
    /// operators of aten
    #[arg(long, value_name = "FILE", value_parser = text)]
    operators: Option<String>,
    /// A library of C functions that are kernels of custom operators (strata_ops.h), or a file of PTX (.ptx) with kernels for CUDA devices;
    /// the program calls them; may be given more than once
    #[arg(long = "load-op-library", value_name = "FILE")]
    op_libraries: Vec<PathBuf>,
    /// An extension that is built on PyTorch's stable ABI (STABLE_TORCH_LIBRARY), whose operators the program calls; may be given more than
    /// once
    #[arg(long = "load-torch-op", value_name = "FILE")]
    torch_ops: Vec<PathBuf>,
    /// How closely results follow the program's own order of operations
    #[arg(long, value_parser = [PossibleValue::new("strict").alias("bitwise"), PossibleValue::new("ulp"), PossibleValue::new("fast")])]
    numerics: Option<String>,
    /// Make the program a step of training by this optimizer, as in adamw,lr=1e-3: its first output is the loss, and its parameters are
    /// overwritten at each call
    #[arg(long, value_name = "OPTIMIZER,SETTINGS")]
    train: Option<String>,
    /// Compute as under torch.autocast of the CPU: products of matrices and convolutions in this type, losses in f32
    #[arg(long, value_name = "TYPE", num_args = 0..=1, require_equals = true, default_missing_value = "bf16", value_parser = ["bf16", "f16"])]
    autocast: Option<String>,
    /// Save less for the backward of a joint program or a step of training: what is cheap is computed again; with budget=0.5 so much more
    /// that a half of the rest is saved, with bytes=N until so many bytes are
    #[arg(long, value_name = "OPTIONS", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    rematerialise: Option<String>,
    /// Leave these passes out of the pipeline (comma separated)
    #[arg(long, value_name = "PASSES", value_delimiter = ',')]
    skip: Vec<String>,
    /// Tell the runtime when a kernel begins and ends
    #[arg(skip)]
    profile: bool,
    /// Neither read nor write the cache of compiled programs
    #[arg(long)]
    pub no_cache: bool,
    /// Say whether the program came from the cache, and if not, what differs from the nearest that is in it
    #[arg(long, conflicts_with = "no_cache")]
    pub explain_cache: bool,
    /// Say which schedules were measured, and what that gained
    #[arg(long)]
    pub explain_autotune: bool,
}

/// The text of a file.
fn text(path: &str) -> Result<String, std::io::Error> {
    std::fs::read_to_string(path)
}

impl CompileOptions {
    /// The same, and the runtime is told when a kernel begins and ends.
    pub fn with_profile(self, profile: bool) -> CompileOptions {
        CompileOptions { profile, ..self }
    }

    /// Whether less is to be saved for a backward.
    pub fn asks_to_rematerialise(&self) -> bool {
        self.rematerialise.is_some()
    }

    /// Whether something is asked about the cache, or about what was measured.
    pub fn says_of_cache(&self) -> bool {
        self.no_cache || self.explain_cache || self.explain_autotune
    }

    /// Whether somebody asks what the cache or the search for schedules did.
    pub fn asks_why(&self) -> bool {
        self.explain_cache || self.explain_autotune
    }

    /// Whether time is given to the search for schedules.
    pub fn says_mode(&self) -> bool {
        self.mode.is_some() || self.autotune_budget.is_some()
    }

    /// Whether something is asked about how to compile.
    pub fn says_how(&self) -> bool {
        !self.clone().with_profile(false).map().is_empty()
    }

    /// The libraries of the user whose kernels the program calls.
    pub fn op_libraries(&self) -> Vec<OpLibraryFile> {
        let functions = self.op_libraries.iter().map(OpLibraryFile::kernels);
        functions.chain(self.torch_ops.iter().map(OpLibraryFile::torch)).collect()
    }

    /// The driver's options as JSON; what was not given is left to the compiler. Equal options and libraries give equal texts.
    ///
    /// # Errors
    /// When a library cannot be read, or an extension of PyTorch not opened.
    pub fn json(&self) -> Result<String, OpLibraryError> {
        let mut options = self.map();
        let libraries: Vec<_> = self.op_libraries().iter().map(op_library::describe).collect::<Result<_, _>>()?;
        if !libraries.is_empty() {
            options.insert("op_libraries".into(), json!(libraries));
        }
        Ok(serde_json::Value::Object(options).to_string())
    }

    fn map(&self) -> Map<String, serde_json::Value> {
        let mut options = Map::new();
        let texts = [("mode", &self.mode), ("dynamic", &self.dynamic), ("sizes", &self.sizes), ("numerics", &self.numerics)];
        let more = [
            ("signature", &self.signature),
            ("operators", &self.operators),
            ("autocast", &self.autocast),
            ("train", &self.train),
            ("rematerialise", &self.rematerialise),
        ];
        for (name, value) in texts.into_iter().chain(more) {
            if let Some(value) = value {
                options.insert(name.into(), json!(value));
            }
        }
        if let Some(seconds) = self.autotune_budget {
            options.insert("autotune_budget".into(), json!(seconds));
        }
        if self.profile {
            options.insert("profile".into(), json!(true));
        }
        if !self.skip.is_empty() {
            options.insert("skip".into(), json!(self.skip));
        }
        options
    }
}
