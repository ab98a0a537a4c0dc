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
pub use refusal::{Refusal, Remark};
pub use target::Target;

/// A pass that fuses by rules: the struct with its options, and `run` for tests.
macro_rules! fusion_pass {
    ($(#[$doc:meta])* pub struct $name:ident: $rules:expr;) => {
        $(#[$doc])*
        #[derive(Pass)]
        #[pass(anchor = "func.func", dependents("prim"))]
        pub struct $name {
            /// Fusions in all functions.
            fusions: Counter,
        }

        impl Pass for $name {
            fn run<'c>(&self, op: strata_core::ir::Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
                for refused in run(op) {
                    cx.remarks().missed_at(refused.location, &refused);
                }
                self.fusions.add(op.find_all(strata_dialects::prim::Fusion::NAME).len());
                Ok(())
            }
        }

        /// Runs the pass on a function; gives what was refused.
        pub fn run(function: strata_core::ir::Op<'_>) -> Vec<$crate::prim::fusion::Remark<'_>> {
            $crate::prim::fusion::fuse(function, &$rules)
        }
    };
}
pub(crate) use fusion_pass;
