//! From an archive of `torch.jit.save` to a module of the capture and aten levels.
//!
//! An archive holds a program as text in a subset of Python, and no types of tensors: it becomes a module for the types of one call
//! ([`Signature`]). The text is evaluated with these (`evaluate.rs`); types of results are inferred by who knows the operators below
//! ([`Operators`]), which this crate does not.

mod containers;
mod control;
mod entry;
mod error;
mod evaluate;
mod fold;
mod journal;
mod numbers;
mod operators;
mod overload;
mod pickle;
mod program;
mod signature;
pub mod text;
mod types;
mod value;
mod words;
mod writes;

use std::path::Path;

use strata_core::ir::{Context, ElementType, Op, Type};

pub use error::ScriptError;
pub use signature::{Leaf, Signature};

use crate::import::{Imported, verified};

/// A tensor, or a number of rank 0, that is known at import time.
#[derive(Debug, Clone, PartialEq)]
pub struct Constant {
    /// The element type.
    pub dtype: ElementType,
    /// The sizes.
    pub shape: Vec<i64>,
    /// The elements in row-major order.
    pub bytes: Vec<u8>,
}

/// What is known of operators below this crate.
pub trait Operators {
    /// The types of an operator's results, whatever it declares.
    fn infer<'c>(&self, op: Op<'c>) -> Result<Vec<Type<'c>>, String>;
    /// The results of an operator for these operands.
    fn evaluate(&self, op: Op<'_>, operands: &[Constant]) -> Result<Vec<Constant>, String>;
}

/// Reads an archive and imports its program for the calls of a signature; without one, for those that it was traced with.
pub fn import<'c>(
    path: &Path,
    signature: Option<&Signature>,
    operators: &dyn Operators,
    context: &'c Context,
) -> Result<Imported<'c>, ScriptError> {
    let program = program::Program::open(path)?;
    verified(context, |cx| entry::build(&program, signature, operators, cx))
}
