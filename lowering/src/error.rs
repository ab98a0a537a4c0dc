//! What can go wrong on the way down.

use strata_core::ir::Op;

/// An op that cannot be lowered where it stands.
#[derive(Debug, thiserror::Error)]
#[error("{location}: '{op}' cannot be lowered: {reason}")]
pub struct Error {
    /// Where the op came from.
    pub location: String,
    /// The op's name.
    pub op: String,
    /// Why, and what to do.
    pub reason: String,
}

impl Error {
    /// An error at an op.
    pub fn at(op: Op<'_>, reason: impl Into<String>) -> Self {
        Self { location: op.location().to_string(), op: op.name().to_owned(), reason: reason.into() }
    }
}
