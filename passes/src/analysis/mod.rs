//! Analyses that passes ask; each is computed from the IR alone and can be thrown away at any time.

mod dims;
mod expr;
mod sizes;
#[cfg(test)]
mod tests;

pub use dims::{Dims, Symbol};
pub use expr::{Atom, Expr, Interval};
