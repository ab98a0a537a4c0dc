//! Analyses that passes ask; each is computed from the IR alone and can be thrown away at any time.

mod constraints;
mod dims;
mod expr;
mod not_negative;
mod sizes;
#[cfg(test)]
mod tests;
pub(crate) mod views;

pub use constraints::Constraint;
pub use dims::{Dims, Symbol};
pub use expr::{Atom, Expr, Interval};
