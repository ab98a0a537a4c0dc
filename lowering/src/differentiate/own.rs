//! Ops of other crates: what an op says of its own gradient.

use super::rule::{At, Cotangents};

/// An op that says itself what its gradient is: `#[op("mine.rotate", interfaces(Gradient))]`. `--differentiate` asks it.
pub trait Gradient {
    /// The cotangents of the operands, made of those of the results. [`Prim::fail`](strata_dialects::prim_builder::Prim::fail) refuses,
    /// with the reason, what has none.
    fn gradient<'c>(&self, at: &At<'c>) -> Cotangents<'c>;
}
