//! Passes: one Rust struct whose fields are the options, in MLIR's own pass registry.
//!
//! ```text
//! /// Merges what is equal.
//! #[derive(Pass)]
//! #[pass(anchor = "func.func", dependents("prim"))]
//! pub struct MergeEqual {
//!     /// Largest number of merges.
//!     #[option(default = 100)]
//!     max: i64,
//!     /// Merges made.
//!     merged: Counter,
//! }
//!
//! impl Pass for MergeEqual {
//!     fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> { .. }
//! }
//! ```

mod analysis;
mod context;
mod def;
pub(crate) mod manager_pool;
mod pipeline;
mod register;
mod statistics;

pub use analysis::{Analysis, Incremental};
pub use context::{PassContext, PassError};
pub use def::{Counter, OptionDef, OptionKind, OptionReader, PassData, PassDef, PassEntry, StatisticDef};
pub use pipeline::{Addition, PassManager, PipelineDef, PipelineError, run_pipeline};
pub(crate) use register::{register_pass, register_pipeline};
pub use statistics::{Statistic, statistics};

/// The derive macro, under the name of the trait that it makes possible.
pub use strata_macros::Pass;

use crate::ir::Op;

/// A pass. `#[derive(Pass)]` makes its [`PassData`], this is its body.
///
/// One instance is made per run; passes anchored on an op run on many ops at once, so an instance keeps nothing between runs.
pub trait Pass: PassData {
    /// Works on one op, touching nothing outside of it.
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError>;
}
