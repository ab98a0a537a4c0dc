//! `--train-step`: a joint program becomes a step of training, which writes its parameters.
//!
//! The joint program comes from `--differentiate` with the cotangent of one output, the loss, which is one number. The step takes
//! no cotangent, and has no gradients among its outputs: it gives the outputs, and new values of the parameters and of the
//! optimizer's state (results of kind `mutation`). The state is arguments behind all others, of kind `state` where the program
//! has its parameters itself, and of kind `input` where the call gives them; it begins as zeros.
//!
//! The rules are those of PyTorch's optimizers, and ordinary ops that later passes fuse.
//! With `loss-scale` the loss is scaled up for the backward and gradients down again, and a step whose gradients are not finite is left out.
//! A parameter that the loss does not depend on stays as it is, as one without a gradient does in PyTorch.
//!
//! It refuses: settings that make no step, a loss that is not one number, complex parameters, and parameters that the program
//! itself changes.
//!
//! ```text
//! // --train-step="optimizer=sgd lr=0.5"
//! func.func @f(%w: tensor<f32>, %cot: tensor<f32> {capture.cotangent = 0}) -> (tensor<f32>, tensor<f32> {capture.gradient = "w"}) {
//!   %0 = prim.exp %w : tensor<f32>
//!   %1 = prim.mul %cot, %0 : tensor<f32>
//!   return %0, %1 : tensor<f32>, tensor<f32>
//! }
//! // becomes, with %cot = 1 and %rate = -0.5
//! func.func @f(%w: tensor<f32>) -> (tensor<f32>, tensor<f32> {capture.kind = "mutation", capture.name = "w"}) {
//!   %0 = prim.exp %w : tensor<f32>
//!   %1 = prim.mul %cot, %0 : tensor<f32>
//!   %2 = prim.mul %1, %rate : tensor<f32>
//!   %3 = prim.add %w, %2 : tensor<f32>
//!   return %0, %3 : tensor<f32>, tensor<f32>
//! }
//! ```

mod loss_scale;
mod optimizer;
mod program;
mod settings;

use strata_core::ir::Op;
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_dialects::capture;

pub use settings::{Group, LossScale, Optimizer, Rate, Rule, Settings, SettingsError};

/// Makes a joint program a step of training.
#[derive(Pass)]
#[pass(anchor = "func.func", dependents("prim", "arith", "capture"))]
pub struct TrainStep {
    /// The optimizer: `adam`, `adamw` or `sgd`; its settings may follow, as in `adamw,lr=1e-3`, and those of groups of parameters that have
    /// others, as in `adamw,lr=1e-3;params=*.bias,weight_decay=0`.
    optimizer: String,
    /// The learning rate: a number, or `input` for an input `lr` of each call.
    lr: String,
    /// The part of a parameter that is added to its gradient or, by adamw, taken off the parameter.
    weight_decay: String,
    /// Let the loss grow.
    maximize: bool,
    /// The norm of all gradients together that larger ones are scaled down to.
    clip_norm: String,
    /// Calls whose mean gradient makes one step.
    accumulate: String,
    /// What the loss is multiplied by for the backward: a number, or `dynamic` for one that follows the gradients as `GradScaler`'s.
    loss_scale: String,
    /// dynamic: the first scale.
    init_scale: String,
    /// dynamic: what the scale is multiplied by after `growth-interval` steps.
    growth_factor: String,
    /// dynamic: what the scale is multiplied by where gradients are not finite.
    backoff_factor: String,
    /// dynamic: steps of one scale before it grows.
    growth_interval: String,
    /// sgd: the part of the last direction that is kept.
    momentum: String,
    /// sgd: the part of a gradient that does not go into the direction.
    dampening: String,
    /// sgd: take the gradient where the direction leads.
    nesterov: bool,
    /// adam, adamw: the decay of the mean of gradients.
    beta1: String,
    /// adam, adamw: the decay of the mean of their squares.
    beta2: String,
    /// adam, adamw: what keeps the denominator off 0.
    eps: String,
    /// adam, adamw: divide by the largest denominator so far.
    amsgrad: bool,
    /// Parameters that are written.
    parameters: Counter,
}

impl TrainStep {
    fn settings(&self) -> Result<Settings, SettingsError> {
        // Settings may stand behind the optimizer too, with commas as in `--train`.
        let (first, groups) = Settings::pairs(&self.optimizer);
        let texts = [
            ("lr", &self.lr),
            ("weight_decay", &self.weight_decay),
            ("clip_norm", &self.clip_norm),
            ("accumulate", &self.accumulate),
            ("loss_scale", &self.loss_scale),
            ("init_scale", &self.init_scale),
            ("growth_factor", &self.growth_factor),
            ("backoff_factor", &self.backoff_factor),
            ("growth_interval", &self.growth_interval),
            ("momentum", &self.momentum),
            ("dampening", &self.dampening),
            ("beta1", &self.beta1),
            ("beta2", &self.beta2),
            ("eps", &self.eps),
        ];
        let flags = [("maximize", self.maximize), ("nesterov", self.nesterov), ("amsgrad", self.amsgrad)];
        let texts = texts.into_iter().filter(|(_, text)| !text.is_empty()).map(|(name, text)| (name.to_owned(), text.clone()));
        let flags = flags.into_iter().filter(|(_, set)| *set).map(|(name, _)| (name.to_owned(), "true".to_owned()));
        Settings::of(&first.into_iter().chain(texts).chain(flags).collect::<Vec<_>>(), &groups)
    }
}

impl Pass for TrainStep {
    fn run<'c>(&self, op: Op<'c>, _: &mut PassContext<'c>) -> Result<(), PassError> {
        if op.attr(capture::ENTRY).is_none() {
            return Ok(());
        }
        let settings = self.settings().map_err(|error| Refusal::from(error).at(op))?;
        self.parameters.add(program::step(op, &settings).map_err(|refusal| refusal.at(op))?);
        Ok(())
    }
}

/// Why a program is no step.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error("computes no gradients of a loss; run --differentiate=cotangents=0 first, where output 0 is the loss")]
    NoLoss,
    #[error("has {0} outputs with a cotangent, and the loss is one; name it, as in --differentiate=cotangents=0")]
    Losses(usize),
    #[error("the loss, output {place}, is {ty}, and a loss is one real number; reduce it with mean() or sum()")]
    Loss { place: i64, ty: String },
    #[error("there is no parameter `{0}` to train for a group; there are {known}", known = .1.join(", "))]
    Group(String, Vec<String>),
    #[error("the parameter `{0}` is of complex numbers, which no optimizer here takes")]
    Complex(String),
    #[error("the parameter `{0}` is changed by the program itself; leave it out of what is differentiated by")]
    Changed(String),
    #[error("no parameter is to be trained: the loss depends on none")]
    NoParameter,
    #[error("{0}")]
    Program(String),
}

impl Refusal {
    /// The error of the pass.
    fn at(self, op: Op<'_>) -> PassError {
        PassError::at(op, &self.to_string())
    }
}
