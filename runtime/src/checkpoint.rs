//! The weights of a loaded program, written to a file and taken from one: a program that trains goes on where it was.

use std::io;
use std::path::Path;

use crate::error::LoadError;
use crate::replace::replace;
use crate::session::{Session, lock};
use crate::tensor::Tensor;
use crate::tensor_file::{TensorFile, TensorFileError};
use crate::weights::Weights;

impl Session {
    /// Writes all weights, as the calls so far have left them, to a safetensors file under their names. The file appears when it is
    /// whole. [`Session::load`] and [`Session::load_weights`] take it.
    ///
    /// # Errors
    /// What cannot be written; a program whose weights are on a device.
    pub fn save_weights(&self, path: &Path) -> Result<(), TensorFileError> {
        let failed = |source| TensorFileError::Io { path: path.into(), source };
        if self.resident().is_some() {
            return Err(failed(io::Error::other("the weights are on a device, from which they are not written")));
        }
        let copies = {
            let weights = lock(&self.weights);
            let copy = |(k, weight): (usize, &_)| weights.copy(k, weight);
            self.manifest().weights.iter().enumerate().map(copy).collect::<Result<Vec<Tensor>, _>>()
        };
        let copies = copies.map_err(|error| failed(io::Error::other(error.to_string())))?;
        let named: Vec<_> = self.manifest().weights.iter().map(|weight| weight.name.clone()).zip(&copies).collect();
        replace(path, failed, |part| TensorFile::write(part, &named))
    }

    /// Gives the weights that the program changes the values of a file: of [`Session::save_weights`], or of weights without an
    /// optimizer's state, which begins again then.
    ///
    /// # Errors
    /// A file that lacks a weight, or has too few bytes of it; a program whose weights are on a device. Nothing is changed then.
    pub fn load_weights(&self, path: &Path) -> Result<(), LoadError> {
        if self.resident().is_some() {
            return Err(LoadError::OnDevice);
        }
        let new = Weights::open(self.manifest(), Some(path))?;
        lock(&self.weights).take_values(&new);
        Ok(())
    }
}
