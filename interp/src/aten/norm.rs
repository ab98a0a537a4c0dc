//! Softmax and normalisation layers.

use super::Arm::{self, Op};
use super::reduce::{p_norm, reduce, total};
use super::scan::lines;
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::{DType, Scalar};
use crate::tensor::Tensor;
use crate::value::{Args, InterpError, Results, Value, fail, many, one};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (_BATCH_NORM_NO_UPDATE, Op(|a| batch_norm(&a.clone().with("training", Value::Scalar(Scalar::Bool(false))), Outputs::Reserved))),
    (_BATCH_NORM_WITH_UPDATE, Op(|a| batch_norm(a, Outputs::Reserved))),
    (_BATCH_NORM_WITH_UPDATE_FUNCTIONAL, Op(|a| batch_norm(a, Outputs::ReservedFunctional))),
    (_FUSED_RMS_NORM, Op(|a| { let (y, r) = rms_norm(a)?; many([y, r]) })),
    (_LOG_SOFTMAX, Op(|a| softmax(a, Soft::Log))),
    (_NATIVE_BATCH_NORM_LEGIT, Op(|a| batch_norm(a, Outputs::Native))),
    (_NATIVE_BATCH_NORM_LEGIT_NO_STATS, Op(|a| batch_norm(a, Outputs::Native))),
    (_NATIVE_BATCH_NORM_LEGIT_FUNCTIONAL, Op(|a| batch_norm(a, Outputs::Functional))),
    (_NATIVE_BATCH_NORM_LEGIT_NO_TRAINING, Op(|a| batch_norm(a, Outputs::Native))),
    (_SAFE_SOFTMAX, Op(|a| softmax(a, Soft::Safe))),
    (_SOFTMAX, Op(|a| softmax(a, Soft::Plain))),
    (_WEIGHT_NORM, Op(weight_norm)),
    (_WEIGHT_NORM_INTERFACE, Op(weight_norm_interface)),
    (_WEIGHT_NORM_INTERFACE_BACKWARD, Op(weight_norm_backward)),
    (BATCH_NORM, Op(|a| batch_norm(a, Outputs::One))),
    (GROUP_NORM, Op(|a| { let (y, _, _) = group_norm(a)?; one(y) })),
    (INSTANCE_NORM, Op(instance_norm)),
    (LAYER_NORM, Op(|a| { let (y, _, _) = layer_norm(a)?; one(y) })),
    (LOG_SOFTMAX_INT, Op(|a| softmax(a, Soft::Log))),
    (NATIVE_BATCH_NORM, Op(|a| batch_norm(a, Outputs::Native))),
    (NATIVE_GROUP_NORM, Op(|a| { let (y, m, r) = group_norm(a)?; many([y, m, r]) })),
    (NATIVE_LAYER_NORM, Op(|a| { let (y, m, r) = layer_norm(a)?; many([y, m, r]) })),
    (RENORM, Op(renorm)),
    (RMS_NORM, Op(|a| { let (y, _) = rms_norm(a)?; one(y) })),
    (SOFTMAX_INT, Op(|a| softmax(a, Soft::Plain))),
    (SPECIAL_LOG_SOFTMAX, Op(|a| softmax(a, Soft::Log))),
    (SPECIAL_SOFTMAX, Op(|a| softmax(a, Soft::Plain))),
];

/// Variants of softmax.
#[derive(Clone, Copy, PartialEq)]
enum Soft {
    Plain,
    Log,
    /// A line of minus infinities gives zeros.
    Safe,
}

fn softmax(args: &Args, kind: Soft) -> Results {
    let x = args.tensor("self")?;
    let dim = args.dim("dim", x.rank())?;
    let dtype = match args.flag("half_to_float")? {
        true => DType::F32,
        false => args.dtype("dtype")?.unwrap_or(x.dtype()),
    };
    one(lines(&x.cast(dtype), dim, dtype, |v| {
        let v: Vec<f64> = v.iter().map(|v| v.float()).collect();
        if kind == Soft::Safe && v.iter().all(|&v| v == f64::NEG_INFINITY) {
            return Ok(vec![Scalar::Float(0.0); v.len()]);
        }
        // Shifting by the largest element keeps differences that its size would absorb.
        let top = v.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = v.iter().map(|v| (v - top).exp()).sum();
        Ok(v.iter().map(|&v| Scalar::Float(if kind == Soft::Log { v - top - sum.ln() } else { (v - top).exp() / sum })).collect())
    })?)
}

/// Mean and biased variance of the groups that the dimensions span, in f64.
fn statistics(x: &Tensor, dims: &[usize]) -> Result<(Tensor, Tensor), InterpError> {
    let mean_of = |v: &[Scalar]| total(v).float() / v.len() as f64;
    let mean = reduce(x, dims, true, DType::F64, |v| Ok(Scalar::Float(mean_of(v))))?;
    let variance = reduce(x, dims, true, DType::F64, |v| {
        let m = mean_of(v);
        Ok(Scalar::Float(v.iter().map(|v| (v.float() - m).powi(2)).sum::<f64>() / v.len() as f64))
    })?;
    Ok((mean, variance))
}

/// `(x - mean) * rstd * weight + bias`, all broadcast to x and rounded once.
fn normalize(x: &Tensor, mean: &Tensor, rstd: &Tensor, weight: Option<&Tensor>, bias: Option<&Tensor>) -> Result<Tensor, InterpError> {
    let wide = |t: &Tensor| t.expand(x.shape());
    let (mean, rstd) = (wide(mean)?, wide(rstd)?);
    let (weight, bias) = (weight.map(wide).transpose()?, bias.map(wide).transpose()?);
    let at = |t: &Option<Tensor>, k: usize, missing: f64| t.as_ref().map_or(missing, |t| t.at(k).float());
    let values = (0..x.len()).map(|k| Scalar::Float((x.at(k).float() - mean.at(k).float()) * rstd.at(k).float() * at(&weight, k, 1.0) + at(&bias, k, 0.0)));
    Tensor::from_scalars(x.dtype(), x.shape(), values)
}

fn rstd(variance: &Tensor, eps: f64) -> Tensor {
    variance.map(DType::F64, |v| Scalar::Float(1.0 / (v.float() + eps).sqrt()))
}

/// The element type of saved statistics: f32 for halves.
fn saved(x: &Tensor, weight: Option<&Tensor>) -> DType {
    match weight {
        Some(w) if w.dtype() != x.dtype() => w.dtype(),
        _ => x.dtype(),
    }
}

/// The layer normalisation of `x` over its last dimension.
pub(super) fn normalised_rows(x: &Tensor, eps: f64, weight: &Tensor, bias: &Tensor) -> Result<Tensor, InterpError> {
    let (mean, variance) = statistics(x, &[x.rank() - 1])?;
    normalize(x, &mean, &rstd(&variance, eps), Some(weight), Some(bias))
}

fn layer_norm(args: &Args) -> Result<(Tensor, Tensor, Tensor), InterpError> {
    let x = args.tensor("input")?;
    let n = args.sizes("normalized_shape")?.len();
    if n > x.rank() {
        return Err(fail("more normalised dimensions than the input has"));
    }
    let dims: Vec<usize> = (x.rank() - n..x.rank()).collect();
    let (mean, variance) = statistics(x, &dims)?;
    let rstd = rstd(&variance, args.float("eps")?);
    let weight = args.opt_tensor("weight")?;
    let y = normalize(x, &mean, &rstd, weight, args.opt_tensor("bias")?)?;
    let dtype = saved(x, weight);
    Ok((y, mean.cast(dtype), rstd.cast(dtype)))
}

/// The output and the reciprocal of the root mean square.
fn rms_norm(args: &Args) -> Result<(Tensor, Tensor), InterpError> {
    let x = args.tensor("input")?;
    let n = args.sizes("normalized_shape")?.len().min(x.rank());
    let dims: Vec<usize> = (x.rank() - n..x.rank()).collect();
    let eps = args.opt_float("eps")?.unwrap_or(super::common::opmath(x.dtype()).epsilon());
    let square = reduce(x, &dims, true, DType::F64, |v| Ok(Scalar::Float(v.iter().map(|v| v.float().powi(2)).sum::<f64>() / v.len() as f64)))?;
    let rstd = rstd(&square, eps);
    let y = normalize(x, &Tensor::scalar(DType::F64, Scalar::Int(0)), &rstd, args.opt_tensor("weight")?, None)?;
    Ok((y, rstd.cast(super::common::opmath(x.dtype()))))
}

/// Statistics per sample and group of channels.
fn group_norm(args: &Args) -> Result<(Tensor, Tensor, Tensor), InterpError> {
    let x = args.tensor("input")?;
    let groups = if args.opt("num_groups").is_some() { args.int("num_groups")? } else { args.int("group")? }.max(1) as usize;
    if x.rank() < 2 || x.shape()[1] % groups != 0 {
        return Err(fail(format!("{groups} groups do not divide the channels of {:?}", x.shape())));
    }
    let (n, c) = (x.shape()[0], x.shape()[1]);
    let grouped = [&[n, groups, c / groups], &x.shape()[2..]].concat();
    let y = x.reshape(&grouped)?;
    let dims: Vec<usize> = (2..grouped.len()).collect();
    let (mean, variance) = statistics(&y, &dims)?;
    let rstd = rstd(&variance, args.float("eps")?);
    let mut per_channel = vec![1; grouped.len()];
    (per_channel[1], per_channel[2]) = (groups, c / groups);
    let shaped = |name: &str| args.opt_tensor(name)?.map(|t| t.reshape(&per_channel)).transpose();
    let (weight, bias) = (shaped("weight")?, shaped("bias")?);
    let out = normalize(&y, &mean, &rstd, weight.as_ref(), bias.as_ref())?.reshape(x.shape())?;
    let dtype = saved(x, weight.as_ref());
    Ok((out, mean.cast(dtype).reshape(&[n, groups])?, rstd.cast(dtype).reshape(&[n, groups])?))
}

/// A per-channel tensor shaped to broadcast against the input.
pub fn per_channel(t: &Tensor, rank: usize) -> Result<Tensor, InterpError> {
    let mut shape = vec![1; rank];
    shape[1.min(rank - 1)] = t.len();
    t.reshape(&shape)
}

/// Which results a batch norm overload gives besides the normalised input.
#[derive(Clone, Copy, PartialEq)]
enum Outputs {
    One,
    Native,
    /// Saved statistics and scratch memory.
    Reserved,
    /// Saved and new running statistics.
    Functional,
    /// Saved statistics, scratch memory, new running statistics.
    ReservedFunctional,
}

fn batch_norm(args: &Args, outputs: Outputs) -> Results {
    let input = args.tensor("input")?;
    if input.rank() == 0 {
        return Err(fail("batch norm needs channels"));
    }
    // A vector is one row of channels.
    let x = &if input.rank() == 1 { input.unsqueeze(0) } else { input.clone() };
    let dims: Vec<usize> = (0..x.rank()).filter(|&d| d != 1).collect();
    let running = (args.opt_tensor("running_mean")?, args.opt_tensor("running_var")?);
    let (eps, momentum) = (args.float("eps")?, args.opt_float("momentum")?.unwrap_or(0.0));
    let training = match outputs {
        Outputs::Reserved | Outputs::ReservedFunctional if args.opt("training").is_none() => true,
        _ => args.flag("training")? || running.0.is_none(),
    };
    let (mean, variance) = match (training, running) {
        (false, (Some(m), Some(v))) => (per_channel(&m.cast(DType::F64), x.rank())?, per_channel(&v.cast(DType::F64), x.rank())?),
        _ => statistics(x, &dims)?,
    };
    let rstd = rstd(&variance, eps);
    let shaped = |name: &str| args.opt_tensor(name)?.map(|t| per_channel(t, x.rank())).transpose();
    let (weight, bias) = (shaped("weight")?, shaped("bias")?);
    let y = normalize(x, &mean, &rstd, weight.as_ref(), bias.as_ref())?.reshape(input.shape())?;
    if outputs == Outputs::One {
        return one(y);
    }
    let channels = [x.shape()[1]];
    let dtype = saved(x, weight.as_ref());
    let dtype = if dtype == x.dtype() && x.dtype().size() == 2 { x.dtype() } else { dtype };
    let empty = || Tensor::zeros(dtype, &[0]);
    let mut out = match training {
        true => vec![y, mean.cast(dtype).reshape(&channels)?, rstd.cast(dtype).reshape(&channels)?],
        false => vec![y, empty()?, empty()?],
    };
    if matches!(outputs, Outputs::Reserved | Outputs::ReservedFunctional) {
        out.push(Tensor::zeros(DType::U8, &[0])?);
    }
    if matches!(outputs, Outputs::Functional | Outputs::ReservedFunctional) {
        let n = (x.len() / channels[0].max(1)) as f64;
        let (Some(m), Some(v)) = running else { return Err(fail("no running statistics to update")) };
        let update = |old: &Tensor, new: &Tensor, scale: f64| {
            Tensor::from_scalars(old.dtype(), old.shape(), (0..old.len()).map(|k| Scalar::Float(old.at(k).float() * (1.0 - momentum) + new.at(k).float() * scale * momentum)))
        };
        out.push(if training { update(m, &mean, 1.0)? } else { m.clone() });
        out.push(if training { update(v, &variance, n / (n - 1.0))? } else { v.clone() });
    }
    many(out)
}

fn instance_norm(args: &Args) -> Results {
    let x = args.tensor("input")?;
    if x.rank() < 2 {
        return Err(fail("instance norm needs a batch and channels"));
    }
    let dims: Vec<usize> = (2..x.rank()).collect();
    let (mean, variance) = match (args.flag("use_input_stats")?, args.opt_tensor("running_mean")?, args.opt_tensor("running_var")?) {
        (false, Some(m), Some(v)) => (per_channel(m, x.rank())?, per_channel(v, x.rank())?),
        _ => statistics(x, &dims)?,
    };
    let shaped = |name: &str| args.opt_tensor(name)?.map(|t| per_channel(t, x.rank())).transpose();
    let (weight, bias) = (shaped("weight")?, shaped("bias")?);
    one(normalize(x, &mean, &rstd(&variance, args.float("eps")?), weight.as_ref(), bias.as_ref())?)
}

/// `g * v / norm(v)`, the norm over every dimension but one.
fn weight_norm(args: &Args) -> Results {
    let (v, g) = (args.tensor("v")?, args.tensor("g")?);
    let dim = args.int("dim")?;
    let dims: Vec<usize> = (0..v.rank()).filter(|&d| d as i64 != dim).collect();
    let norm = reduce(v, &dims, true, DType::F64, |v| Ok(Scalar::Float(p_norm(v.iter().map(|v| v.float().abs()), 2.0))))?.expand(v.shape())?;
    let g = g.expand(v.shape())?;
    one(Tensor::from_scalars(v.dtype(), v.shape(), (0..v.len()).map(|k| Scalar::Float(v.at(k).float() * g.at(k).float() / norm.at(k).float())))?)
}

fn weight_norm_interface(args: &Args) -> Results {
    let (v, dim) = (args.tensor("v")?, args.int("dim")?);
    let dims: Vec<usize> = (0..v.rank()).filter(|&d| d as i64 != dim).collect();
    let norm = reduce(v, &dims, true, v.dtype(), |v| Ok(Scalar::Float(p_norm(v.iter().map(|v| v.float().abs()), 2.0))))?;
    Ok([weight_norm(args)?, one(norm)?].concat())
}

/// Of `w = v g / n` with the norm n of v: `g / n (dw - v s / n^2)` and `s / n`, where s is the sum of `dw v`.
fn weight_norm_backward(args: &Args) -> Results {
    let (v, g) = (args.tensor("saved_v")?, args.tensor("saved_g")?);
    let grad = args.tensor("grad_w")?.expand(v.shape())?;
    let (norm, dim) = (args.tensor("saved_norms")?.expand(v.shape())?, args.dim("dim", v.rank())?);
    let dims: Vec<usize> = (0..v.rank()).filter(|&d| d != dim).collect();
    let product = Tensor::from_scalars(DType::F64, v.shape(), (0..v.len()).map(|k| Scalar::Float(grad.at(k).float() * v.at(k).float())))?;
    let sums = reduce(&product, &dims, true, DType::F64, |v| Ok(total(v)))?;
    let (wide, scale) = (sums.expand(v.shape())?, g.expand(v.shape())?);
    let by_v = |k: usize| {
        let n = norm.at(k).float();
        scale.at(k).float() / n * (grad.at(k).float() - v.at(k).float() * wide.at(k).float() / (n * n))
    };
    let first = Tensor::from_scalars(v.dtype(), v.shape(), (0..v.len()).map(|k| Scalar::Float(by_v(k))))?;
    let norms = args.tensor("saved_norms")?;
    let second = Tensor::from_scalars(g.dtype(), g.shape(), (0..sums.len()).map(|k| Scalar::Float(sums.at(k).float() / norms.at(k).float())))?;
    Ok([one(first)?, one(second)?].concat())
}

/// Slices along a dimension are scaled down to a largest norm.
fn renorm(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let (p, dim, most) = (args.float("p")?, args.dim("dim", x.rank())?, args.float("maxnorm")?);
    let dims: Vec<usize> = (0..x.rank()).filter(|&d| d != dim).collect();
    let scale = reduce(x, &dims, true, DType::F64, |v| {
        let n = p_norm(v.iter().map(|&v| super::reduce::magnitude(v)), p);
        Ok(Scalar::Float(if n > most { most / (n + 1e-7) } else { 1.0 }))
    })?
    .expand(x.shape())?;
    one(Tensor::from_scalars(x.dtype(), x.shape(), (0..x.len()).map(|k| super::common::mul(x.at(k), scale.at(k))))?)
}
