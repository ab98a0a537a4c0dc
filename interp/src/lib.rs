//! The reference interpreter: slow and obvious, written from the operators' definitions.
//!
//! It shares no code with the lowerings, so a program run here before and after a pass shows
//! whether the pass kept its meaning. An op that has no arm, and does not say itself what it computes
//! ([`Interpret`]), is an error of its own kind, never a silent pass.

mod affine;
pub mod alias;
mod args;
pub mod aten;
mod budget;
mod capture;
mod control;
pub mod dtype;
mod float8;
pub mod gpu;
mod held;
pub mod host;
mod kernel;
mod library;
mod loops;
pub mod math;
mod own;
mod prim;
pub mod run;
mod scalar;
pub mod tensor;
pub mod value;

pub use budget::Budget;
pub use dtype::{DType, Scalar};
pub use host::{Signature, run_host};
pub use kernel::Kernels;
pub use own::Interpret;
pub use run::{Lent, Outputs, Weights, run};
pub use tensor::Tensor;
pub use value::{Args, InterpError, Value};
