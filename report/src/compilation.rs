//! How a program was compiled: its text at each level, the passes between them, its kernels and its memory.

use serde::{Deserialize, Serialize};
use strata_runtime::manifest::{self, StageTime};

/// A compilation.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Compilation {
    /// The machine that the code is for, as in `x86_64 znver4`.
    pub target: String,
    /// The options that were given.
    pub options: serde_json::Value,
    /// What ops come from; lines and kernels name these by their positions here.
    pub sources: Vec<Source>,
    /// The levels, from the top down.
    pub levels: Vec<Level>,
    /// The kernels.
    pub kernels: Vec<Kernel>,
    /// What a call runs, one step after the other: kernels by name, and statements of control flow.
    pub steps: Vec<String>,
    /// The buffers in the arena of a call.
    pub memory: Vec<Buffer>,
    /// The size of the arena, where all sizes in it are known.
    pub arena_bytes: Option<u64>,
    /// Stages of the compilation as it usually runs: with the cache, and with the passes of a level in one go.
    pub stages: Vec<StageTime>,
    /// What that compilation took from the cache, by function and passes.
    pub cached: Vec<Cached>,
}

/// What an op comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Source {
    /// The name of the operator's call in the captured program.
    pub name: String,
    /// The module that it stands in, as in `layers.0.attention`.
    pub module: String,
    /// The file of the user's program.
    pub file: String,
    /// The line in it, from 1 on; 0 where it is unknown.
    pub line: u32,
}

/// The program at a level.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Level {
    /// The level's name.
    pub name: String,
    /// What holds at it.
    pub description: String,
    /// The passes that led to it.
    pub passes: Vec<Pass>,
    /// The text.
    pub text: String,
    /// The sources of each line of the text.
    pub lines: Vec<Vec<usize>>,
    /// Lines at the end that are left out, of a text that is very long.
    pub left_out: usize,
}

/// A pass that ran on the whole program.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Pass {
    /// As in a pipeline.
    pub text: String,
    /// When it began, in microseconds from the beginning of the compilation.
    pub start: u64,
    /// How long it took, in microseconds.
    pub micros: u64,
    /// Ops before.
    pub before: usize,
    /// Ops after.
    pub after: usize,
    /// Whether the program is another.
    pub changed: bool,
    /// What it said.
    pub remarks: Vec<Remark>,
}

/// A warning or a remark of a pass.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Remark {
    /// Whether it is a warning.
    pub warning: bool,
    /// Where.
    pub place: String,
    /// What.
    pub message: String,
}

/// A kernel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Kernel {
    /// What the manifest says of it.
    #[serde(flatten)]
    pub kernel: manifest::Kernel,
    /// What its ops come from.
    pub sources: Vec<usize>,
    /// Its schedule and those of its stages, as text.
    pub schedule: Vec<String>,
}

/// A buffer of a call.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Buffer {
    /// The first step that touches it, which writes it.
    pub label: String,
    /// Where it begins in the arena.
    pub offset: u64,
    /// Its size.
    pub bytes: u64,
    /// The number of the first step that needs it.
    pub first: usize,
    /// The number of the last step that needs it.
    pub last: usize,
}

/// A result that a compilation asked the cache for.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Cached {
    /// The function; `module` for the whole program.
    pub function: String,
    /// The passes.
    pub passes: String,
    /// `computed`, `disk` or `memory`.
    pub how: String,
    /// What had changed, where something had.
    pub cause: String,
}
