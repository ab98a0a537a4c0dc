//! Algebraic simplification of `prim`, one pass and one file of rules per topic.
//!
//! A rule is exact: it changes no bit of any result, infinities, NaN and signed zeros included, unless its comment names the
//! numerics mode that allows more. The right side never costs more than the left.

pub mod algebra;
pub mod constants;
pub mod converts;
mod dots;
pub(super) mod number;
mod product;
mod rewriter;
pub mod sizes;
pub mod sums;
#[cfg(test)]
mod sums_bound;
mod sums_of_dots;
#[cfg(test)]
mod tests;
pub mod views;
mod views_of_dots;
mod views_of_views;

pub use number::splat_number;
pub use rewriter::{BuildSized, Simplified, SizedPatterns, SizedRewriter, simplify};
pub use views_of_dots::ROWS_OF_A_REGISTER;
