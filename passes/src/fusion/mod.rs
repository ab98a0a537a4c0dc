//! What `--fuse-elementwise` and `--fuse-reductions` share: the graph of a block, kernels, and the three questions of fusion.
//!
//! Fusion asks for each pair of groups that a value connects
//! - `kernel`, legality: can one kernel compute all of it? (No heuristics.)
//! - `profit`: is it worth it? (No correctness.)
//! - `target`: does the machine allow it?
//!
//! A "no" is a [`Refusal`], which becomes a remark. The questions look at the IR and change nothing; `rewrite` changes it once.

pub(crate) mod class;
mod graph;
mod greedy;
mod kernel;
mod path;
mod profit;
mod refusal;
mod rewrite;
mod target;

pub use greedy::{Rules, fuse};
pub use refusal::{Refusal, Remark, report};
pub use target::Target;
