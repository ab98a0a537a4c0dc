//! The runtime's errors as Python's exceptions.

use std::fmt::Display;

use pyo3::exceptions::{PyIndexError, PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use strata_runtime::compiler::CompilerError;
use strata_runtime::{LoadError, OpLibraryError, RunError, TensorError};

/// An error that Python knows by a kind of its own.
pub trait Exception: Display {
    /// The exception of that kind.
    fn exception(&self) -> PyErr {
        PyRuntimeError::new_err(self.to_string())
    }
}

/// The text of an error that names an option of the tools, which is an argument here.
fn as_argument(error: &impl Display) -> String {
    error.to_string().replace("--load-op-library=", "op_libraries: ").replace("--load-torch-op=", "rs-run --load-torch-op=")
}

impl Exception for CompilerError {
    fn exception(&self) -> PyErr {
        PyRuntimeError::new_err(as_argument(self))
    }
}

impl Exception for LoadError {}
impl Exception for TensorError {}

impl Exception for OpLibraryError {
    fn exception(&self) -> PyErr {
        match self {
            OpLibraryError::Io { source, .. } => PyErr::from(std::io::Error::new(source.kind(), self.to_string())),
            _ => PyValueError::new_err(as_argument(self)),
        }
    }
}

/// What a guard says of an index that is not there; PyTorch raises an `IndexError` for it.
const INDEX: &str = "index out of bounds";

/// How messages of PyTorch's linear algebra begin; it raises a `LinAlgError` for them.
const ALGEBRA: &str = "linalg.";

fn algebra_error(text: &str) -> PyErr {
    Python::attach(|py| {
        let class = py.import("torch").and_then(|torch| torch.getattr("linalg")?.getattr("LinAlgError"));
        class.and_then(|class| class.call1((text,))).map_or_else(|_| PyRuntimeError::new_err(text.to_owned()), PyErr::from_value)
    })
}

impl Exception for RunError {
    fn exception(&self) -> PyErr {
        let text = self.to_string();
        match self {
            RunError::Guard { message } if message.starts_with(INDEX) => PyIndexError::new_err(text),
            RunError::Guard { message } if message.starts_with(ALGEBRA) => algebra_error(&text),
            RunError::Memory(_) => PyMemoryError::new_err(text),
            RunError::Input { .. } | RunError::InputCount { .. } => PyValueError::new_err(text),
            _ => PyRuntimeError::new_err(text),
        }
    }
}

/// An error of ours as Python's.
pub fn python(error: impl Exception) -> PyErr {
    error.exception()
}

/// What is said when our own code is at fault.
pub fn panicked() -> PyErr {
    PyRuntimeError::new_err("strata failed inside; please report it with the program")
}
