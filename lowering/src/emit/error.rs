//! What can go wrong when a kernel becomes code.

use strata_core::ir::Op;
use strata_dialects::loops;

/// A kernel that cannot be emitted.
#[derive(Debug, thiserror::Error)]
#[error("{location}: kernel '{kernel}' cannot be emitted for the CPU: {reason}")]
pub struct Error {
    /// Where the kernel came from.
    pub location: String,
    /// Its symbol.
    pub kernel: String,
    /// Why.
    pub reason: String,
}

impl Error {
    /// An error about an op of a kernel.
    pub fn at(op: Op<'_>, reason: impl Into<String>) -> Self {
        let mut kernel = op;
        while let Some(parent) = kernel.parent().filter(|_| !kernel.isa::<loops::Kernel>()) {
            kernel = parent;
        }
        let name = kernel.str("sym_name").unwrap_or_default();
        Self { location: op.location().to_string(), kernel: name, reason: reason.into() }
    }
}
