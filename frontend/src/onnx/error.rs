//! Why an ONNX model does not become a module: where in it, what, and the way out.

use crate::import::ImportError;

/// Why a model is refused.
#[derive(Debug, thiserror::Error)]
pub enum OnnxError {
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The file is no message of ONNX's.
    #[error("not a readable ONNX model: {0}; write it again, with onnx.save or torch.onnx.export")]
    Decode(#[from] prost::DecodeError),
    /// A part of the model that is no node.
    #[error("{what}: {why}")]
    Part {
        /// The part.
        what: String,
        /// What is wrong, and the way out.
        why: String,
    },
    /// A node.
    #[error("node `{node}` ({operator}): {why}")]
    Node {
        /// Its name, or that of its first output where it has none.
        node: String,
        /// Its operator, with its domain where that is not ONNX's own.
        operator: String,
        /// What is wrong, and the way out.
        why: String,
    },
    /// The module that was made.
    #[error(transparent)]
    Import(#[from] ImportError),
}

/// Why the import of a part ends before its end.
#[derive(Debug)]
pub(super) enum Stop {
    /// It is refused.
    Refused(OnnxError),
    /// It is refused here, at the node of whoever knows it.
    Here(String),
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

impl From<OnnxError> for Stop {
    fn from(error: OnnxError) -> Self {
        Stop::Refused(error)
    }
}

pub(super) type Eval<T> = Result<T, Stop>;

impl OnnxError {
    pub(super) fn part(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Part { what: what.into(), why: why.into() }
    }
}

impl Stop {
    /// The error, about a part of the model where none is named yet.
    pub fn about(self, what: impl FnOnce() -> String) -> OnnxError {
        match self {
            Stop::Refused(error) => error,
            Stop::Here(why) => OnnxError::part(what(), why),
        }
    }
}
