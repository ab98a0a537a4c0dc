//! From an archive of `torch.jit.save` to a module of the capture and aten levels.
//!
//! An archive holds a program as text in a subset of Python, and no types of tensors: it becomes a module for the types of one call
//! ([`Signature`]). The text is evaluated with these (`evaluate.rs`); types of results are inferred by who knows the operators below
//! ([`Operators`]), which this crate does not.

mod archive;
mod calls;
mod carried;
mod containers;
mod control;
mod detached;
mod entry;
mod error;
mod evaluate;
mod facts;
mod fold;
mod in_place;
mod items;
mod join;
mod journal;
mod layout;
mod loops;
mod numbers;
mod operators;
mod overload;
mod paths;
mod pickle;
mod program;
mod rows;
mod state;
pub mod text;
mod texts;
mod value;
mod words;
mod writes;

use std::path::Path;

use strata_core::ir::Context;

pub use error::ScriptError;

use crate::import::{Imported, verified};
use crate::library::Library;
use crate::operators::Operators;
use crate::signature::Signature;

/// Reads an archive and imports its program for the calls of a signature; without one, for those that it was traced with.
pub fn import<'c>(
    path: &Path,
    signature: Option<&Signature>,
    known: (&dyn Operators, Option<&Library<'c>>),
    context: &'c Context,
) -> Result<Imported<'c>, ScriptError> {
    let program = program::Program::open(path)?;
    verified(context, |cx| entry::build(&program, signature, known, cx))
}
