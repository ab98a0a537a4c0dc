//! From an ONNX model to a module of the capture and aten levels.
//!
//! Nodes are imported in their order ([`importer`](self)): a row of `table.rs` makes the ops of an operator, by the operators of `aten`
//! whose types are inferred by who knows them ([`crate::Operators`]). Arithmetic on sizes makes none (`fold.rs`), and a condition that is
//! known chooses its branch.

mod call;
mod data;
mod dtype;
mod entry;
mod error;
mod file;
mod fold;
mod importer;
mod loops;
mod operators;
mod proto;
mod table;
mod value;

use std::path::Path;

use strata_core::ir::Context;

pub use error::OnnxError;
pub use table::supported;

use crate::import::{Imported, verified};
use crate::library::Library;
use crate::operators::Operators;
use crate::signature::Signature;

/// Reads a model and imports it, for the calls of a signature where one is given.
pub fn import<'c>(
    path: &Path,
    signature: Option<&Signature>,
    known: (&dyn Operators, Option<&Library<'c>>),
    context: &'c Context,
) -> Result<Imported<'c>, OnnxError> {
    let (file, model) = file::File::open(path)?;
    verified(context, |cx| entry::build((&file, &model), signature, known, cx))
}
