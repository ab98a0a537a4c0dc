//! From the generic text of StableHLO to a module of the capture and aten levels.
//!
//! The text is what `print(generic=True)` of MLIR gives (`jax.jit(f).lower(..).compiler_ir("stablehlo")`): MLIR 22 has no StableHLO of its
//! own, and reads the ops by their names. Each becomes operators of `aten`, by a row of `operators.rs`.

mod attributes;
mod bits;
mod control;
mod importer;
mod index;
mod linalg;
mod operators;
mod product;
mod random;
mod reduce;
mod region;
mod sizes;
mod sort;
mod window;

use strata_core::ir::Context;

use crate::import::{ImportError, Imported, verified};
use crate::operators::Operators;
use crate::signature::Signature;

/// Why a program is refused.
#[derive(Debug, thiserror::Error)]
pub enum StableHloError {
    /// The text is none of MLIR.
    #[error("{0}; the generic text is read, as MLIR prints it with print_generic_op_form=True")]
    Text(String),
    /// An op of it.
    #[error("line {line}: `{op}`: {why}")]
    Op {
        /// Where it stands in the text.
        line: u32,
        /// Its name.
        op: String,
        /// What is wrong.
        why: String,
    },
    /// The module that was made.
    #[error(transparent)]
    Import(#[from] ImportError),
}

/// Imports a program of the text's function `main`, for a call of this signature where it has sizes that only a call knows.
pub fn import<'c>(
    (text, name): (&str, &str),
    signature: Option<&Signature>,
    operators: &dyn Operators,
    context: &'c Context,
) -> Result<Imported<'c>, StableHloError> {
    // A context of its own, which takes ops that no dialect registers.
    let source = Context::new();
    source.set_allow_unregistered_dialects(true);
    let module = strata_core::ir::Module::parse(&source, text, name).map_err(|error| StableHloError::Text(error.to_string()))?;
    verified(context, |cx| importer::build(module.op(), signature, operators, cx))
}
