//! The rules of optimizers, op by op as PyTorch's single-tensor forms have them (`torch/optim/sgd.py`, `torch/optim/adam.py`).

use strata_dialects::aten::dtype::DType;
use strata_dialects::prim_builder::{Prim, Scalar, Tensor};

use super::settings::{Optimizer, Rule};

/// What the parameters of a rule share. Numbers of the step are of `f64`, as Python's are.
pub(super) struct Step<'c, 's> {
    pub prim: &'c Prim<'c>,
    pub rule: &'s Rule,
    /// The learning rate.
    pub lr: Tensor<'c>,
    /// The number of this step, from 1 on; one where the rule does not ask.
    pub count: Tensor<'c>,
}

/// The state of one parameter: tensors of its shape that begin as zeros.
pub(super) trait State<'c> {
    /// What the last step left.
    fn read(&mut self, name: &str) -> Tensor<'c>;
    /// What this step leaves.
    fn write(&mut self, name: &str, value: Tensor<'c>);
}

/// Whether a rule asks for the number of the step.
pub(super) fn counts(optimizer: &Optimizer) -> bool {
    match optimizer {
        Optimizer::Adam { .. } => true,
        Optimizer::Sgd { dampening, .. } => *dampening != 0.0,
    }
}

impl<'c> Step<'c, '_> {
    /// The new value of a parameter.
    pub fn update(&self, parameter: Tensor<'c>, gradient: Tensor<'c>, state: &mut dyn State<'c>) -> Tensor<'c> {
        let gradient = if self.rule.maximize { -gradient } else { gradient };
        match self.rule.optimizer {
            Optimizer::Sgd { momentum, dampening, nesterov } => self.sgd((parameter, gradient), (momentum, dampening, nesterov), state),
            Optimizer::Adam { beta1, beta2, eps, amsgrad, decoupled } => {
                let (parameter, gradient) = self.decayed(parameter, gradient, decoupled);
                self.adam((parameter, gradient), (beta1, beta2), eps, amsgrad, state)
            }
        }
    }

    /// A number of the step beside a tensor.
    fn beside(&self, number: Tensor<'c>, tensor: Tensor<'c>) -> Tensor<'c> {
        number.convert(tensor.dtype())
    }

    /// Parameter and gradient with the decay of weights in one of them.
    fn decayed(&self, parameter: Tensor<'c>, gradient: Tensor<'c>, decoupled: bool) -> (Tensor<'c>, Tensor<'c>) {
        let decay = self.rule.weight_decay;
        if decay == 0.0 {
            (parameter, gradient)
        } else if decoupled {
            let kept = self.one() - self.lr * decay;
            (parameter * self.beside(kept, parameter), gradient)
        } else {
            (parameter, gradient + parameter * decay)
        }
    }

    fn one(&self) -> Tensor<'c> {
        self.prim.constant(DType::F64, Scalar::Float(1.0))
    }

    fn sgd(
        &self,
        (parameter, gradient): (Tensor<'c>, Tensor<'c>),
        (momentum, dampening, nesterov): (f64, f64, bool),
        state: &mut dyn State<'c>,
    ) -> Tensor<'c> {
        let (parameter, gradient) = self.decayed(parameter, gradient, false);
        let mut direction = gradient;
        if momentum != 0.0 {
            let last = state.read("momentum_buffer");
            direction = last * momentum + if dampening == 0.0 { gradient } else { gradient * (1.0 - dampening) };
            if dampening != 0.0 {
                // The first direction is the gradient itself.
                direction = self.count.equal(1.0).select(gradient, direction);
            }
            state.write("momentum_buffer", direction);
            if nesterov {
                direction = gradient + direction * momentum;
            }
        }
        parameter + direction * self.beside(-self.lr, parameter)
    }

    fn adam(
        &self,
        (parameter, gradient): (Tensor<'c>, Tensor<'c>),
        (beta1, beta2): (f64, f64),
        eps: f64,
        amsgrad: bool,
        state: &mut dyn State<'c>,
    ) -> Tensor<'c> {
        let (mean, square) = (state.read("exp_avg"), state.read("exp_avg_sq"));
        let mean = lerp(mean, gradient, 1.0 - beta1);
        let square = square * beta2 + (gradient * (1.0 - beta2)) * gradient;
        state.write("exp_avg", mean);
        state.write("exp_avg_sq", square);
        let correction = |beta: f64| self.one() - self.prim.constant(DType::F64, Scalar::Float(beta)).pow(self.count);
        let size = -(self.lr / correction(beta1));
        let root = correction(beta2).sqrt();
        let mut largest = square;
        if amsgrad {
            largest = state.read("max_exp_avg_sq").maximum(square);
            state.write("max_exp_avg_sq", largest);
        }
        let denominator = largest.sqrt() / self.beside(root, largest) + eps;
        parameter + (mean * self.beside(size, mean)) / denominator
    }
}

/// `a + weight * (b - a)`, from the nearer end.
fn lerp<'c>(a: Tensor<'c>, b: Tensor<'c>, weight: f64) -> Tensor<'c> {
    if weight < 0.5 { a + (b - a) * weight } else { b - (b - a) * (1.0 - weight) }
}
