//! Ops of other crates: what an op says of itself, so that a foreign dialect is compiled, too.

use strata_dialects::prim_builder::Tensor;

/// An op that says itself what it is in `prim`: `#[op("mine.rotate", interfaces(Decompose))]`. `--decompose-aten` asks it.
///
/// Ops with [`Pointwise`](strata_dialects::prim::scalar::Pointwise) need it not: they stay as they are, and are fused and compiled by
/// their scalar form.
pub trait Decompose {
    /// A formula for each result, of the operands. [`Prim::fail`](super::Prim::fail) refuses, with the reason, what it has no formula for.
    fn decompose<'c>(&self, operands: &[Tensor<'c>]) -> Vec<Tensor<'c>>;
}
