//! Rewriting: the [`Rewriter`] through which patterns change IR, sets of [`Patterns`], and the drivers that apply them.

mod driver;
mod patterns;
mod rewriter;

pub use driver::{Greedy, NotConverged, apply_greedily, apply_once};
pub use patterns::{Matched, NoMatch, Patterns, explain_failures};
pub use rewriter::Rewriter;
