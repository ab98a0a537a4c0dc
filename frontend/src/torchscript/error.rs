//! Why a TorchScript archive does not become a module: where in its text, what, and the way out.

use super::text::SyntaxError;
use crate::import::ImportError;
use crate::pt2::Pt2Error;

/// Why an archive is refused.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The container.
    #[error(transparent)]
    Archive(#[from] Pt2Error),
    /// The module that was made.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A pickle of it.
    #[error("archive entry `{entry}`: {why}; save the model again with torch.jit.save")]
    Pickle {
        /// The entry.
        entry: String,
        /// What is wrong.
        why: String,
    },
    /// A text of it.
    #[error("archive entry `{entry}`, {error}; save the model again with torch.jit.save")]
    Syntax {
        /// The entry.
        entry: String,
        /// What is wrong, and on which line.
        error: SyntaxError,
    },
    /// Something about a call.
    #[error("{0}")]
    Signature(String),
    /// The program itself.
    #[error("{entry}:{line}: {why}; {help}")]
    Program {
        /// The entry of the archive.
        entry: String,
        /// The line of its text.
        line: u32,
        /// What is wrong.
        why: String,
        /// The way out.
        help: &'static str,
    },
}

/// The way out where a program does what is not imported.
pub const OTHERWISE: &str = "write it otherwise, or export the model with torch.export";

/// Why the evaluation of a part ends before its end.
#[derive(Debug)]
pub(super) enum Stop {
    /// It is refused.
    Refused(ScriptError),
    /// The program raises this error.
    Raised(String),
    /// It is refused here, at the line of whoever knows it.
    Here(String),
    /// The evaluation was to end here: both ways are evaluated from this place on.
    Split,
}

impl From<String> for Stop {
    fn from(why: String) -> Self {
        Stop::Here(why)
    }
}

impl From<&str> for Stop {
    fn from(why: &str) -> Self {
        Stop::Here(why.to_owned())
    }
}

impl From<ScriptError> for Stop {
    fn from(error: ScriptError) -> Self {
        Stop::Refused(error)
    }
}

pub(super) type Eval<T> = Result<T, Stop>;
