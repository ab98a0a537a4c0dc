//! `torch.nn.MultiheadAttention`.

use super::{Linear, Weights};
use crate::operators::call_one;
use crate::{Argument, Error, Tensor, op};

/// Attention of several heads, batch first, of tensors of one width.
#[derive(Debug, Clone)]
pub struct MultiheadAttention {
    /// How many heads.
    pub heads: i64,
    /// Makes queries, keys and values: `[3 * width, width]`.
    pub in_proj: Linear,
    /// Makes the result of the heads.
    pub out_proj: Linear,
}

impl MultiheadAttention {
    /// The layer with `in_proj_weight`, `in_proj_bias` and `out_proj`.
    ///
    /// # Errors
    /// A weight that is not there, or of another rank.
    pub fn load(weights: &Weights, heads: i64) -> Result<MultiheadAttention, Error> {
        let in_proj = Linear { weight: weights.of_rank("in_proj_weight", 2)?, bias: weights.find("in_proj_bias") };
        Ok(MultiheadAttention { heads, in_proj, out_proj: Linear::load(&weights.at("out_proj"))? })
    }

    /// What each position of `[batch, length, width]` gathers from all, or with `causal` from those up to itself.
    #[track_caller]
    pub fn forward(&self, x: &Tensor, causal: bool) -> Tensor {
        let (batch, length, width) = (x.size(0), x.size(1), x.size(2));
        let head = width.clone() / self.heads;
        let split = |part: &Tensor| {
            let sizes = [batch.clone(), length.clone(), self.heads.into(), head.clone()];
            part.reshape(sizes).transpose_int(1, 2)
        };
        let parts = self.in_proj.forward(x).chunk_last(3);
        let (query, key, value) = (split(&parts[0]), split(&parts[1]), split(&parts[2]));
        let attention: [Argument; 6] = [(&query).into(), (&key).into(), (&value).into(), Argument::None, 0.0.into(), causal.into()];
        let heads = call_one(op::SCALED_DOT_PRODUCT_ATTENTION, &attention);
        self.out_proj.forward(&heads.transpose_int(1, 2).reshape([batch, length, width]))
    }
}

impl Tensor {
    /// Equal parts along the last dim; parts that stand for an error where there are none.
    #[track_caller]
    fn chunk_last(&self, parts: usize) -> Vec<Tensor> {
        let mut chunks = crate::call(op::CHUNK, &[self.into(), (parts as i64).into(), (-1i64).into()]);
        let last = chunks.last().cloned().unwrap_or_else(|| self.clone());
        chunks.resize(parts, last);
        chunks
    }
}
