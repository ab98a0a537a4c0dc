//! `torch.nn.Linear`.

use super::Weights;
use crate::operators::call_one;
use crate::{Error, Tensor, TensorTree, op};

/// `x @ weight.T + bias`.
#[derive(Debug, Clone, TensorTree)]
pub struct Linear {
    /// `[out, in]`.
    pub weight: Tensor,
    /// `[out]`.
    pub bias: Option<Tensor>,
}

impl Linear {
    /// The layer with `weight` and, where it is there, `bias`.
    ///
    /// # Errors
    /// A weight that is not there, or of another rank.
    pub fn load(weights: &Weights) -> Result<Linear, Error> {
        Ok(Linear { weight: weights.of_rank("weight", 2)?, bias: weights.find("bias") })
    }

    /// The layer on `[.., in]`; gives `[.., out]`.
    #[track_caller]
    pub fn forward(&self, x: &Tensor) -> Tensor {
        call_one(op::LINEAR, &[x.into(), (&self.weight).into(), self.bias.as_ref().into()])
    }
}
