//! Tensor programs written in Rust.
//!
//! [`jit`] takes a closure over tensors. A call for which nothing was compiled yet runs the closure on tensors without values, which
//! record the operators that are called on them; the record is compiled like any other program. Later calls of the same kind go
//! straight to the machine code.
//!
//! ```
//! use strata::{Tensor, jit};
//!
//! let f = jit(|x: &Tensor| x.sin().mul(x).sum());
//! let x = Tensor::new(&[1.0f32, 2.0], &[2])?;
//! let value = f.call(&x)?.to_vec::<f32>()?[0];
//! assert!((value - (1f32.sin() + 2.0 * 2f32.sin())).abs() < 1e-5);
//! # Ok::<(), strata::Error>(())
//! ```

// What the derive macro writes names this crate from outside.
extern crate self as strata;

mod argument;
mod boundary;
mod control;
mod error;
mod form;
mod function;
mod graph;
mod host_scalar;
// As it was generated.
#[rustfmt::skip]
mod methods;
pub mod nn;
mod operators;
mod program;
mod segments;
mod state;
mod tensor;
mod tree;

pub use argument::{Argument, Scalar, Size, Sizes};
pub use control::{cond, scan, while_loop};
pub use error::Error;
pub use function::{Dynamic, Function, Jit, OnLimit, jit};
pub use host_scalar::HostScalar;
pub use operators::call;
pub use state::State;
pub use strata_derive::TensorTree;
pub use strata_dialects::aten::op;
pub use strata_runtime::DType;
pub use tensor::{Element, Tensor};
pub use tree::{Mapper, TensorTree, Visitor};
