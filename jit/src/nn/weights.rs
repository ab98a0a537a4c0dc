//! Weights by name.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use strata_runtime::TensorFile;

use crate::{Error, Tensor};

/// The weights of a safetensors file, or those of them whose names begin with a prefix.
#[derive(Debug, Clone)]
pub struct Weights {
    tensors: Arc<HashMap<String, Tensor>>,
    prefix: String,
}

impl Weights {
    /// Reads a safetensors file.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn read(path: &Path) -> Result<Weights, Error> {
        let file = TensorFile::read(path)?;
        Ok(file.tensors.into_iter().map(|(name, tensor)| (name, tensor.into())).collect())
    }

    /// The weights of a part: `at("layer1")` has `layer1.weight` as `weight`.
    #[must_use]
    pub fn at(&self, part: &str) -> Weights {
        Weights { tensors: self.tensors.clone(), prefix: format!("{}{part}.", self.prefix) }
    }

    /// A weight.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn get(&self, name: &str) -> Result<Tensor, Error> {
        let name = format!("{}{name}", self.prefix);
        self.tensors.get(&name).cloned().ok_or_else(|| Error::Weight { name, why: "is not there".to_owned() })
    }

    /// A weight of this rank.
    pub(crate) fn of_rank(&self, name: &str, rank: usize) -> Result<Tensor, Error> {
        let tensor = self.get(name)?;
        let why = || format!("has {} dimensions, not {rank}", tensor.rank());
        if tensor.rank() == rank { Ok(tensor) } else { Err(Error::Weight { name: format!("{}{name}", self.prefix), why: why() }) }
    }

    /// A weight that a layer may be without.
    pub fn find(&self, name: &str) -> Option<Tensor> {
        self.tensors.get(&format!("{}{name}", self.prefix)).cloned()
    }
}

impl FromIterator<(String, Tensor)> for Weights {
    fn from_iter<I: IntoIterator<Item = (String, Tensor)>>(tensors: I) -> Weights {
        Weights { tensors: Arc::new(tensors.into_iter().collect()), prefix: String::new() }
    }
}
