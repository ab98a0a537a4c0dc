//! The `prim` builder: tensors with arithmetic on them, so that what makes `prim` ops reads as formulas.
//!
//! Decompositions of `aten` and passes of `prim` write with it.

mod arith;
mod builder;
mod counted;
mod gather;
mod library;
mod matrices;
mod overlap;
mod segments;
mod size;
mod tensor;

pub use arith::Operand;
pub use builder::{MAX_ELEMENTS, MAX_STEPS, Prim, Scalar};
pub use gather::{coordinates, gather_along};
pub use segments::{Owners, Segments};
pub use size::{Size, Sym, product};
pub use tensor::Tensor;
