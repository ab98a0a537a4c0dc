//! Training from Rust: a program as its gradients, and as a step that writes its parameters.

use std::path::Path;

use strata_core::registry::Registry;
use strata_runtime::{LoadError, Manifest, RunError, Session, Tensor, TensorFileError};

use crate::options::{Gradient, Options};
use crate::source_file::SourceFile;
use crate::{Error, compile};

/// Loads the joint program of a file: it takes a cotangent for each output, behind the inputs, and gives the outputs, then the gradients
/// by `wrt`, in its order (of all that requires one where nothing is named).
///
/// # Errors
/// What does not compile or load; an argument of `wrt` that is not there, or is not of floats or complex numbers.
pub fn grad<'a>(
    registry: &'static Registry,
    file: impl Into<SourceFile<'a>>,
    wrt: &[&str],
    options: &Options,
    weights: Option<&Path>,
) -> Result<Session, Error> {
    let gradient = Gradient { wrt: wrt.iter().map(|name| (*name).to_owned()).collect(), ..Gradient::default() };
    let options = Options { gradient: Some(gradient), ..options.clone() };
    Ok(Session::load(&compile(registry, file, &options, None)?, weights)?)
}

/// A step of training: forward, loss, backward and optimizer in one program. It has the parameters and the optimizer's state, and
/// overwrites them at each call.
#[derive(Debug)]
pub struct Step {
    session: Session,
}

impl Step {
    /// Compiles the step of a file. `optimizer` is the optimizer with its settings, as in `adamw,lr=1e-3`; output 0 is the loss, one
    /// number; what is trained is all that requires a gradient, or what `options.gradient` names. With `weights` the parameters, and the
    /// state where it is there, come from that file, else from the program's own, and the state begins as zeros.
    ///
    /// # Errors
    /// What does not compile or load; settings that are none; a loss that is not one number.
    pub fn compile<'a>(
        registry: &'static Registry,
        file: impl Into<SourceFile<'a>>,
        optimizer: &str,
        options: &Options,
        weights: Option<&Path>,
    ) -> Result<Step, Error> {
        let options = Options { train: Some(optimizer.to_owned()), ..options.clone() };
        Ok(Step { session: Session::load(&compile(registry, file, &options, None)?, weights)? })
    }

    /// What the program says about itself: its inputs, its weights, its results.
    pub fn manifest(&self) -> &Manifest {
        self.session.manifest()
    }

    /// Makes a step; gives the program's outputs, the loss first. `batch` is the inputs, then the learning rate where it is one.
    ///
    /// # Errors
    /// Inputs that do not fit the program.
    pub fn run(&self, batch: &[&Tensor]) -> Result<Vec<Tensor>, RunError> {
        self.session.run_outputs(batch)
    }

    /// Writes parameters and state to a safetensors file: a checkpoint.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), TensorFileError> {
        self.session.save_weights(path)
    }

    /// Goes on from a checkpoint.
    ///
    /// # Errors
    /// A file that is none of this program's.
    pub fn restore(&self, path: &Path) -> Result<(), LoadError> {
        self.session.load_weights(path)
    }
}
