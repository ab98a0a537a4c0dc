//! Pipelines that redo only what an edit changed: a salsa database of functions and of what groups of passes make of them.
//!
//! ```text
//! Source -> written -> units (one function, and the declarations of what it refers to) -> cleaned, as MLIR prints them
//!                       -> transformed by the first group of passes -> by the second -> ... -> the module put together again
//! ```
//!
//! A group is a run of passes on functions, or one pass on the module, which is a barrier. IR crosses a query as text without
//! locations (or with numbers in their place, see `places.rs`), so a renamed value, a comment or a moved line changes nothing. Units
//! are known by their content: equal functions are transformed once, and undoing an edit costs nothing. What passes say is kept with
//! their results. Behind the database stands the store on disk, for the next process.
//! No query is asked inside a pass, so that a query is cancelled between two groups and never inside of MLIR.

mod outcome;
mod places;
mod program;
mod queries;
mod run;
mod sections;
mod watch;

pub use crate::database::{Cause, Database, Diagnostic, How, Query, Record, Report};
pub(crate) use program::unit;
pub(crate) use queries::each;
pub use queries::{Form, Pipeline, Source};
pub use run::{run, run_unless_cancelled};
pub use watch::watch;
