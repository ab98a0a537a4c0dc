//! The reference interpreter: slow and obvious, written from the operators' definitions.
//!
//! It shares no code with the lowerings, so a program run here before and after a pass shows
//! whether the pass kept its meaning. An op without an arm is an error of its own kind, never a
//! silent pass.

pub mod alias;
pub mod aten;
pub mod dtype;
pub mod math;
pub mod tensor;
pub mod value;

pub use dtype::{DType, Scalar};
pub use tensor::Tensor;
pub use value::{Args, InterpError, Value};
