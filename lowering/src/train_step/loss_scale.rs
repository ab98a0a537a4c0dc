//! The loss is scaled up, so that gradients of halves do not vanish, and gradients are scaled down again before a parameter sees them: the
//! rule of `torch.amp.GradScaler`. A step whose gradients are not finite is left out.

use strata_dialects::aten::dtype::DType;
use strata_dialects::prim_builder::{Scalar, Tensor};

use super::program::{Memory, Parameter};
use super::settings::LossScale;

/// The names of what a dynamic scale keeps, by those of `GradScaler.state_dict()`.
const SCALE: &str = "grad_scaler.scale";
const TRACKER: &str = "grad_scaler.growth_tracker";

/// The scale of a call.
pub(super) struct Scale<'c> {
    rule: LossScale,
    /// What the loss is multiplied by, of `f32`.
    pub factor: Tensor<'c>,
    /// What a dynamic scale keeps, by name: the scale, and the number of steps since it was changed.
    kept: Option<[(Tensor<'c>, String); 2]>,
}

impl<'c> Scale<'c> {
    /// Reads it where the program begins.
    pub fn read(rule: LossScale, memory: &mut Memory<'c>, kind: &str) -> Self {
        let number = |value: f64| memory.prim.constant(DType::F32, Scalar::Float(value));
        match rule {
            LossScale::Constant(scale) => Self { rule, factor: number(scale), kept: None },
            LossScale::Dynamic { init_scale, .. } => {
                let first = number(init_scale);
                let kept = [memory.number(kind, DType::F32, SCALE), memory.number(kind, DType::I32, TRACKER)];
                // State begins as zeros.
                let factor = kept[0].0.equal(0.0).select(first, kept[0].0);
                Self { rule, factor, kept: Some(kept) }
            }
        }
    }

    /// Scales gradients down, and leaves the step out where one of them is not finite.
    pub fn unscale(self, memory: &mut Memory<'c>, parameters: &mut [Parameter<'c>]) {
        let largest = parameters.iter().map(|parameter| {
            let gradient = parameter.gradient;
            gradient.abs().reduce("max", &gradient.all_dims(), false).convert(DType::F64)
        });
        let none = memory.prim.constant(DType::F64, Scalar::Float(0.0));
        let finite = largest.fold(none, Tensor::maximum).less(f64::INFINITY);
        let inverse = self.factor.convert(DType::F64).reciprocal();
        for parameter in parameters {
            parameter.gradient = parameter.gradient * inverse.convert(parameter.gradient.dtype());
        }
        self.update(memory, finite);
        memory.done = Some(memory.done.map_or(finite, |done| done.and(finite)));
    }

    /// The scale of the next step.
    fn update(self, memory: &mut Memory<'c>, finite: Tensor<'c>) {
        let (LossScale::Dynamic { growth_factor, backoff_factor, growth_interval, .. }, Some(kept)) = (self.rule, self.kept) else {
            return;
        };
        let [(scale, scale_name), (tracker, tracker_name)] = kept;
        let times = |factor: f64| (self.factor.convert(DType::F64) * factor).convert(DType::F32);
        let (larger, steps) = (times(growth_factor), tracker + tracker.number(Scalar::Int(1)));
        let (due, none) = (steps.equal(growth_interval), tracker.number(Scalar::Int(0)));
        let grown = due.and(larger.less(f64::INFINITY)).select(larger, self.factor);
        memory.write(&scale_name, scale, finite.select(grown, times(backoff_factor)));
        memory.write(&tracker_name, tracker, finite.and(!due).select(steps, none));
    }
}
