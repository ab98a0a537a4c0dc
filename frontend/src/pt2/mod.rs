//! The `.pt2` archive as `torch.export.save` writes it, read without Python and trusted in nothing.
//!
//! Reading has three steps, each a file or two: the zip container ([`archive`]), the typed program
//! ([`schema`], [`argument`], [`expr`]) and its consistency ([`check`]). Weights stay where they are in the
//! mapped file ([`weights`]).

pub mod archive;
pub mod argument;
pub mod check;
pub mod dtype;
pub mod error;
pub mod expr;
pub mod guard;
pub mod kind;
pub(crate) mod map;
pub mod program;
pub mod pytree;
pub mod schema;
pub mod table;
mod token;
pub mod weights;

pub use error::Pt2Error;
pub use program::Program;
