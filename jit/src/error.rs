//! Why a call has no result.

use std::panic::Location;

use strata_runtime::{LoadError, RunError, TensorError, TensorFileError};

/// A call that failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The closure calls an operator with arguments that it does not take.
    #[error("{place}: {why}")]
    Trace {
        /// The place of the call in the source.
        place: &'static Location<'static>,
        /// What is wrong.
        why: String,
    },
    /// A tensor is asked for its values where it has none.
    #[error("{0}")]
    Value(String),
    /// The program that was recorded does not compile.
    #[error(transparent)]
    Compile(#[from] strata_driver::Error),
    /// It does not load.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// It fails for these values.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A tensor cannot be made.
    #[error(transparent)]
    Tensor(#[from] TensorError),
    /// A file of weights cannot be read.
    #[error(transparent)]
    File(#[from] TensorFileError),
    /// The file of weights has not what a layer needs.
    #[error("weight `{name}` {why}")]
    Weight {
        /// The weight's name in the file.
        name: String,
        /// What is wrong.
        why: String,
    },
    /// There are as many compiled forms as there may be.
    #[error(
        "the closure at {place} was compiled {limit} times and this call needs another form: {why}; allow more by `limit`, or replace old ones by `OnLimit::Replace`"
    )]
    Limit {
        /// The place of `jit`.
        place: &'static Location<'static>,
        /// How many there may be.
        limit: usize,
        /// Why none of them serves.
        why: String,
    },
}
