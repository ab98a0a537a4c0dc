//! From the llvm level to machine code in memory: upstream conversions, LLVM's optimiser and code generator, a small linker.
//!
//! ```text
//! func/scf/arith/math/vector -> lower_to_llvm -> llvm dialect -> emit -> object bytes -> link -> LinkedImage
//! ```
//!
//! Nothing here writes a file or starts a process: a cold compile is spent in LLVM alone.

mod emit;
mod emulate_bf16;
mod lane_stores;
mod link;
mod lower_to_llvm;
mod machines;
mod prepare;
mod ptx;
mod simplify;

pub use crate::target::Target;
pub use emit::{Emitted, Options, Timings, emit};
pub use link::{Alias, LinkError, LinkedImage, Symbol, link, link_as};
pub(crate) use lower_to_llvm::lower;
pub use lower_to_llvm::{LowerToLlvm, lower_to_llvm};
pub use ptx::{Device, Devices, UnknownDevice, ptx};

use crate::target::UnknownTarget;

#[cfg(test)]
pub(crate) mod tests;

/// The function that runs a call.
pub const ENTRY: &str = "strata_entry";
/// The function that computes prepared weights, in images that have them.
pub const PREPARE: &str = "strata_prepare";

/// Why a module does not become machine code.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An upstream conversion refused the module; this is a fault of the lowering before it.
    #[error("the module does not lower to the llvm dialect:\n{diagnostics}")]
    Lower {
        /// What MLIR said, one message per line.
        diagnostics: String,
    },
    /// The module is not in the llvm dialect.
    #[error("the module does not translate to LLVM IR (run `lower_to_llvm` first):\n{diagnostics}")]
    Translate {
        /// What MLIR said.
        diagnostics: String,
    },
    /// Mathematics that cannot be expanded.
    #[error(transparent)]
    Math(#[from] crate::expand_math::Error),
    /// LLVM refused a stage.
    #[error("LLVM failed to {stage}: {message}")]
    Llvm {
        /// What it was asked for.
        stage: &'static str,
        /// What it said.
        message: String,
    },
    /// A machine that this build of LLVM does not know.
    #[error(transparent)]
    Target(#[from] UnknownTarget),
    /// The object file cannot be linked.
    #[error(transparent)]
    Link(#[from] LinkError),
}
