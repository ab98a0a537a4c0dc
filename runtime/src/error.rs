//! What can go wrong when a program is loaded or called; each variant says whose fault it is.

use crate::device::DeviceError;
use crate::image::ImageError;
use crate::manifest::{Input, Output};
use crate::memory::MemoryError;
use crate::weights::WeightError;

/// Loading failed: the artefact, the machine or the weights do not fit.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The code.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The weights.
    #[error(transparent)]
    Weights(#[from] WeightError),
    /// The program's own arithmetic on its weights.
    #[error("the weights cannot be prepared: {0}")]
    Prepare(#[from] RunError),
    /// The device.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The program is for a device, and nobody said which one it runs on, or the other way round.
    #[error("the program is compiled for {wanted}, and is loaded on {found}")]
    Place {
        /// What it is compiled for.
        wanted: String,
        /// Where it is to run.
        found: String,
    },
    /// The weights are on a device.
    #[error("the weights are on a device; they are read from a file when the program is loaded (--weights)")]
    OnDevice,
    /// The bound of memory is none, or there is no memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The compiler wrote nonsense.
    #[error("the artefact contradicts itself: {0}; compile the model again")]
    Manifest(String),
}

/// A call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The caller gave the wrong number of inputs.
    #[error("the program takes {expected} inputs, the call has {found}")]
    InputCount {
        /// Inputs of the program.
        expected: usize,
        /// Inputs of the call.
        found: usize,
    },
    /// The caller gave too many output tensors.
    #[error("the program has {expected} outputs, the call has room for {found}")]
    OutputCount {
        /// Outputs of the program.
        expected: usize,
        /// Outputs of the call.
        found: usize,
    },
    /// An input of the caller does not fit.
    #[error("input {index} `{name}` {reason}")]
    Input {
        /// Position in the call.
        index: usize,
        /// Its name.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// An output tensor of the caller does not fit.
    #[error("output {index} `{name}`: {reason}")]
    Output {
        /// Position in the call.
        index: usize,
        /// Its name.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// A condition of the program does not hold for this call.
    #[error("{message}")]
    Guard {
        /// The message with its details.
        message: String,
    },
    /// There is no memory for the call.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The program's device.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The compiled program broke its own contract: a compiler bug.
    #[error("the compiled program misbehaved: {0}")]
    Program(String),
}

impl RunError {
    pub(crate) fn input(index: usize, input: &Input, reason: String) -> RunError {
        RunError::Input { index, name: input.name.clone(), reason }
    }

    pub(crate) fn output(index: usize, output: &Output, reason: String) -> RunError {
        RunError::Output { index, name: output.name.clone(), reason }
    }

    /// The error of a status code: message `status - 1` with `{0}`..`{3}` replaced by the details.
    pub(crate) fn from_status(status: i32, messages: &[String], detail: &[i64; 4]) -> RunError {
        let text = usize::try_from(status).ok().and_then(|k| messages.get(k.checked_sub(1)?));
        let Some(text) = text else {
            return RunError::Program(format!("status {status}, it has {} messages", messages.len()));
        };
        let message = (0..detail.len()).fold(text.clone(), |text, k| text.replace(&format!("{{{k}}}"), &detail[k].to_string()));
        RunError::Guard { message }
    }
}
