//! `batch_norm`, `native_batch_norm` and `instance_norm` with running statistics: they write to them, which their schemas do not say.

use strata_core::ir::{Builder, Op, Value};
use strata_dialects::aten::{self, AtenOp, Input, Operator, Scalar, Size, op};

use super::{Refusal, alias::Aliases};

/// Whether the op updates running statistics.
pub(super) fn updates_statistics(op: Op<'_>) -> bool {
    let flag = |name: &str| op.attr(name).and_then(|attr| attr.as_bool()).unwrap_or(false);
    let training = match Operator::of(op) {
        Some(op::BATCH_NORM | op::NATIVE_BATCH_NORM) => flag("training"),
        Some(op::INSTANCE_NORM) => flag("use_input_stats"),
        _ => false,
    };
    training && AtenOp::new(op).is_ok_and(|view| matches!(view.opt_tensor("running_mean"), Ok(Some(_))))
}

/// Replaces such an op by ones that give the new statistics as results.
pub(super) fn make_functional<'c>(op: Op<'c>, aliases: &mut Aliases<'c>) -> Result<(), Refusal> {
    let view = AtenOp::new(op).map_err(|error| error.to_string())?;
    let statistic = |name| view.tensor(name).map_err(|error| error.to_string());
    let (mean, variance) = (statistic("running_mean")?, statistic("running_var")?);
    aliases.refresh_operands(op);
    let norm = Norm::read(op)?;
    let mut builder = Builder::before(op);
    let (results, new_mean, new_variance) = match op::INSTANCE_NORM.is(op) {
        true => norm.per_instance(&mut builder)?,
        false => norm.build(&mut builder)?,
    };
    aliases.write(mean, new_mean, op)?;
    aliases.write(variance, new_variance, op)?;
    op.replace_with(&results[..op.num_results()]);
    Ok(())
}

/// The results of an operator, the new mean and the new variance.
type Normed<'c> = (Vec<Value<'c>>, Value<'c>, Value<'c>);

/// The operands of a batch norm in training.
struct Norm<'c> {
    input: Value<'c>,
    weight: Option<Value<'c>>,
    bias: Option<Value<'c>>,
    mean: Value<'c>,
    variance: Value<'c>,
    momentum: f64,
    eps: f64,
}

impl<'c> Norm<'c> {
    fn read(op: Op<'c>) -> Result<Self, Refusal> {
        let view = AtenOp::new(op).map_err(|error| error.to_string())?;
        let read = || {
            Ok::<_, aten::AtenError>(Self {
                input: view.tensor("input")?,
                weight: view.opt_tensor("weight")?,
                bias: view.opt_tensor("bias")?,
                mean: view.tensor("running_mean")?,
                variance: view.tensor("running_var")?,
                momentum: view.float("momentum")?,
                eps: view.float("eps")?,
            })
        };
        read().map_err(|error| error.to_string())
    }

    /// The normalised input with the mean and the reciprocal deviation of the batch, then the new mean and the new variance.
    fn build(&self, builder: &mut Builder<'c>) -> Result<Normed<'c>, Refusal> {
        let tensor = |value: Option<Value<'c>>| value.map(Input::Tensor);
        let inputs = [
            Some(Input::Tensor(self.input)),
            tensor(self.weight),
            tensor(self.bias),
            Some(Input::Tensor(self.mean)),
            Some(Input::Tensor(self.variance)),
            Some(Input::Scalar(Scalar::Bool(true))),
            Some(Input::Scalar(Scalar::Float(self.momentum))),
            Some(Input::Scalar(Scalar::Float(self.eps))),
        ];
        let results = [self.input.ty(), self.mean.ty(), self.mean.ty(), self.mean.ty(), self.variance.ty()];
        let schema = op::_NATIVE_BATCH_NORM_LEGIT_FUNCTIONAL.schema();
        let op = aten::build(builder, schema, &inputs, &results).map_err(|error| error.to_string())?;
        Ok((op.results(), op.result(3), op.result(4)))
    }

    /// Every instance's channels are channels of one large batch norm; the new statistics are the instances' means.
    fn per_instance(&self, builder: &mut Builder<'c>) -> Result<Normed<'c>, Refusal> {
        let ty = self.input.ty();
        let shape = ty.shape();
        let ([batch, channels, ..], true) = (shape.as_slice(), ty.is_static()) else {
            return Err("updates running statistics of an input whose sizes are not known".to_owned());
        };
        let (batch, channels) = (*batch, *channels);
        let flat = [&[1, batch * channels], &shape[2..]].concat();
        let many = |builder: &mut Builder<'c>, value: Value<'c>| call(builder, op::REPEAT, value, &[batch], &[batch * channels]);
        let norm = Norm {
            input: call(builder, op::VIEW, self.input, &flat, &flat)?,
            weight: self.weight.map(|weight| many(builder, weight)).transpose()?,
            bias: self.bias.map(|bias| many(builder, bias)).transpose()?,
            mean: many(builder, self.mean)?,
            variance: many(builder, self.variance)?,
            ..*self
        };
        let (results, mean, variance) = norm.build(builder)?;
        let mut one = |value: Value<'c>| {
            let rows = call(builder, op::VIEW, value, &[batch, channels], &[batch, channels])?;
            call(builder, op::MEAN_DIM, rows, &[0], &[channels])
        };
        let (mean, variance) = (one(mean)?, one(variance)?);
        Ok((vec![call(builder, op::VIEW, results[0], &shape, &shape)?], mean, variance))
    }
}

/// An operator on a tensor and a list of integers, with a result of the given shape.
fn call<'c>(builder: &mut Builder<'c>, operator: Operator, value: Value<'c>, ints: &[i64], shape: &[i64]) -> Result<Value<'c>, Refusal> {
    let ints = ints.iter().map(|int| Size::Const(*int)).collect();
    let inputs = [Some(Input::Tensor(value)), Some(Input::Ints(ints))];
    let op = aten::build(builder, operator.schema(), &inputs, &[value.ty().with_shape(shape)]).map_err(|error| error.to_string())?;
    Ok(op.result(0))
}
