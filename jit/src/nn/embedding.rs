//! `torch.nn.Embedding`.

use super::Weights;
use crate::{Error, Tensor};

/// Rows of a table by their numbers.
#[derive(Debug, Clone)]
pub struct Embedding {
    /// `[rows, width]`.
    pub weight: Tensor,
}

impl Embedding {
    /// The layer with `weight`.
    ///
    /// # Errors
    /// A weight that is not there, or of another rank.
    pub fn load(weights: &Weights) -> Result<Embedding, Error> {
        Ok(Embedding { weight: weights.of_rank("weight", 2)? })
    }

    /// The rows of integers `[..]`; gives `[.., width]`.
    #[track_caller]
    pub fn forward(&self, indices: &Tensor) -> Tensor {
        self.weight.embedding(indices)
    }
}
