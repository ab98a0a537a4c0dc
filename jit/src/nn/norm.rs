//! `torch.nn.LayerNorm`, `GroupNorm` and `BatchNorm2d`.

use super::Weights;
use crate::operators::call_one;
use crate::{Error, Sizes, Tensor, op};

/// PyTorch's default for what is added to a variance.
const EPS: f64 = 1e-5;

/// Normalises over the last dimensions, those of its weight.
#[derive(Debug, Clone)]
pub struct LayerNorm {
    /// A factor for each element.
    pub weight: Tensor,
    /// A summand for each element.
    pub bias: Option<Tensor>,
    /// Added to the variance.
    pub eps: f64,
}

impl LayerNorm {
    /// The layer with `weight` and, where it is there, `bias`.
    ///
    /// # Errors
    /// There is no `weight`.
    pub fn load(weights: &Weights) -> Result<LayerNorm, Error> {
        Ok(LayerNorm { weight: weights.get("weight")?, bias: weights.find("bias"), eps: EPS })
    }

    /// The layer.
    #[track_caller]
    pub fn forward(&self, x: &Tensor) -> Tensor {
        let sizes = Sizes::from(self.weight.sizes());
        call_one(op::LAYER_NORM, &[x.into(), sizes.into(), (&self.weight).into(), self.bias.as_ref().into(), self.eps.into()])
    }
}

/// Normalises over groups of channels.
#[derive(Debug, Clone)]
pub struct GroupNorm {
    /// How many groups.
    pub groups: i64,
    /// A factor for each channel.
    pub weight: Tensor,
    /// A summand for each channel.
    pub bias: Option<Tensor>,
    /// Added to the variance.
    pub eps: f64,
}

impl GroupNorm {
    /// The layer with `weight` and, where it is there, `bias`.
    ///
    /// # Errors
    /// A weight that is not there, or of another rank.
    pub fn load(weights: &Weights, groups: i64) -> Result<GroupNorm, Error> {
        Ok(GroupNorm { groups, weight: weights.of_rank("weight", 1)?, bias: weights.find("bias"), eps: EPS })
    }

    /// The layer on `[batch, channels, ..]`.
    #[track_caller]
    pub fn forward(&self, x: &Tensor) -> Tensor {
        call_one(op::GROUP_NORM, &[x.into(), self.groups.into(), (&self.weight).into(), self.bias.as_ref().into(), self.eps.into()])
    }
}

/// Normalises each channel by the mean and variance that training has seen.
#[derive(Debug, Clone)]
pub struct BatchNorm2d {
    /// A factor for each channel.
    pub weight: Option<Tensor>,
    /// A summand for each channel.
    pub bias: Option<Tensor>,
    /// Means of the channels.
    pub running_mean: Tensor,
    /// Variances of the channels.
    pub running_var: Tensor,
    /// Added to the variance.
    pub eps: f64,
}

impl BatchNorm2d {
    /// The layer with `running_mean`, `running_var` and, where they are there, `weight` and `bias`.
    ///
    /// # Errors
    /// A weight that is not there, or of another rank.
    pub fn load(weights: &Weights) -> Result<BatchNorm2d, Error> {
        let (running_mean, running_var) = (weights.of_rank("running_mean", 1)?, weights.of_rank("running_var", 1)?);
        Ok(BatchNorm2d { weight: weights.find("weight"), bias: weights.find("bias"), running_mean, running_var, eps: EPS })
    }

    /// The layer on images `[batch, channels, height, width]`.
    #[track_caller]
    pub fn forward(&self, x: &Tensor) -> Tensor {
        let (mean, var) = (Some(&self.running_mean), Some(&self.running_var));
        x.batch_norm(self.weight.as_ref(), self.bias.as_ref(), mean, var, false, 0.1, self.eps, false)
    }
}
