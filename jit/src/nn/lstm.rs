//! `torch.nn.LSTM`.

use super::Weights;
use crate::{Error, Tensor};

/// A long short-term memory of one or more layers, batch first, in one direction.
#[derive(Debug, Clone)]
pub struct Lstm {
    /// For each layer `weight_ih`, `weight_hh`, `bias_ih` and `bias_hh`.
    weights: Vec<Tensor>,
    layers: i64,
    width: i64,
}

impl Lstm {
    /// The layers `weight_ih_l0`, `weight_hh_l0`, `bias_ih_l0`, `bias_hh_l0`, and so on for as many as there are.
    ///
    /// # Errors
    /// A weight that is not there, or of another rank.
    pub fn load(weights: &Weights) -> Result<Lstm, Error> {
        let first = weights.of_rank("weight_hh_l0", 2)?;
        let width = first.size(1).known().unwrap_or_default();
        let (mut all, mut layers) = (Vec::new(), 0);
        while layers == 0 || weights.find(&format!("weight_ih_l{layers}")).is_some() {
            for (name, rank) in [("weight_ih", 2), ("weight_hh", 2), ("bias_ih", 1), ("bias_hh", 1)] {
                all.push(weights.of_rank(&format!("{name}_l{layers}"), rank)?);
            }
            layers += 1;
        }
        Ok(Lstm { weights: all, layers, width })
    }

    /// The outputs of the last layer for `[batch, length, in]`, from a state of zeros: `[batch, length, width]`.
    #[track_caller]
    pub fn forward(&self, x: &Tensor) -> Tensor {
        let state = x.new_zeros([self.layers.into(), x.size(0), self.width.into()]);
        let state = [state.clone(), state];
        let mut results = x.lstm_input(&state, &self.weights, true, self.layers, 0.0, false, false, true);
        results.swap_remove(0)
    }
}
