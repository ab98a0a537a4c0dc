//! `torch.nn.Conv2d`.

use super::Weights;
use crate::operators::call_one;
use crate::{Error, Tensor, op};

/// A convolution over two dimensions.
#[derive(Debug, Clone)]
pub struct Conv2d {
    /// `[out, in / groups, height, width]`.
    pub weight: Tensor,
    /// `[out]`.
    pub bias: Option<Tensor>,
    /// Steps between windows.
    pub stride: [i64; 2],
    /// Zeros around the image.
    pub padding: [i64; 2],
    /// Steps between the elements of a window.
    pub dilation: [i64; 2],
    /// Parts of the channels that do not meet.
    pub groups: i64,
}

impl Conv2d {
    /// The layer with `weight` and, where it is there, `bias`; its settings are PyTorch's defaults.
    ///
    /// # Errors
    /// A weight that is not there, or of another rank.
    pub fn load(weights: &Weights) -> Result<Conv2d, Error> {
        let (weight, bias) = (weights.of_rank("weight", 4)?, weights.find("bias"));
        Ok(Conv2d { weight, bias, stride: [1, 1], padding: [0, 0], dilation: [1, 1], groups: 1 })
    }

    /// The layer on images `[batch, in, height, width]`.
    #[track_caller]
    pub fn forward(&self, x: &Tensor) -> Tensor {
        let Conv2d { weight, bias, stride, padding, dilation, groups } = self;
        let (windows, groups) = ([*stride, *padding, *dilation].map(Into::into), (*groups).into());
        let [stride, padding, dilation] = windows;
        call_one(op::CONV2D, &[x.into(), weight.into(), bias.as_ref().into(), stride, padding, dilation, groups])
    }
}
