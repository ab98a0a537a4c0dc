//! Why a well-formed archive does not become a module: where in the program, what, and the way out.

use strata_dialects::aten::AtenError;

use crate::pt2::Pt2Error;

/// Why an import failed.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The archive is malformed.
    #[error(transparent)]
    Archive(#[from] Pt2Error),
    /// One call of the program cannot be imported.
    #[error("node `{node}` ({target}){place}: {why}; {help}")]
    Node {
        /// The node's name.
        node: String,
        /// The operator it calls.
        target: String,
        /// Where the python program made the call, ` at FILE:LINE`, when the archive says.
        place: String,
        /// What is wrong.
        why: String,
        /// The way out.
        help: &'static str,
    },
    /// An input, output or guard of the program cannot be imported.
    #[error("{what}: {why}; {help}")]
    Entry {
        /// Which part of the entry.
        what: String,
        /// What is wrong.
        why: String,
        /// The way out.
        help: &'static str,
    },
    /// The finished module does not verify: the archive's types contradict its operators.
    #[error("the imported module does not verify:\n{diagnostics}the archive contradicts itself: export the program again")]
    Verify {
        /// MLIR's messages, one per line.
        diagnostics: String,
    },
}

/// What is wrong with one thing, before it is known where that is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub why: String,
    pub help: &'static str,
}

pub(super) const EXPORT_AGAIN: &str = "the archive contradicts itself: export the program again";
pub(super) const NOT_READ: &str = "express it by other operators, or open an issue with this message";

impl Refusal {
    /// The archive is inconsistent.
    pub fn broken(why: impl Into<String>) -> Self {
        Self { why: why.into(), help: EXPORT_AGAIN }
    }

    /// The program uses something that is not imported.
    pub fn unsupported(why: impl Into<String>) -> Self {
        Self { why: why.into(), help: NOT_READ }
    }

    /// Says which part of the entry is meant.
    pub fn entry(self, what: impl Into<String>) -> ImportError {
        ImportError::Entry { what: what.into(), why: self.why, help: self.help }
    }
}

impl From<AtenError> for Refusal {
    fn from(error: AtenError) -> Self {
        Self::broken(error.to_string())
    }
}
