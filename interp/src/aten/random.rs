//! Random numbers: an operator that draws takes a fresh seed of the run, and element `i` of what it draws is number `i` of that
//! stream, as `prim.rng` defines it. So a program gives the same numbers at every level.

use std::f64::consts::PI;

use super::Arm::{self, Op};
use super::activation::pointwise;
use super::common::{add, mul, opmath, quotient};
use super::order::ranking;
use super::scan::lines;
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::{DType, Scalar};
use crate::math::quantile;
use crate::math::philox::numbers;
use crate::tensor::{Tensor, broadcast_shape};
use crate::value::{Args, InterpError, Results, fail, many, one};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (_FUSED_DROPOUT, Op(fused_dropout)),
    (_SAMPLE_DIRICHLET, Op(dirichlet)),
    (_STANDARD_GAMMA, Op(|a| { let x = a.tensor("self")?; one(gammas(a)?.cast(x.dtype())) })),
    (ALPHA_DROPOUT, Op(|a| alpha_dropout(a, false))),
    (BERNOULLI, Op(|a| { let p = a.tensor("self")?; trials(a, p, p) })),
    (BERNOULLI_TENSOR, Op(|a| trials(a, a.tensor("self")?, a.tensor("p")?))),
    (BERNOULLI_P, Op(|a| { let x = a.tensor("self")?; one(kept(a, a.float("p")?, x.shape())?.cast(x.dtype())) })),
    (BINOMIAL, Op(binomial)),
    (CAUCHY, Op(|a| { let (m, s) = (a.float("median")?, a.float("sigma")?); drawn(a, "uniform", |u| (PI * (u - 0.5)).tan() * s + m) })),
    (DROPOUT, Op(|a| { let (y, _) = dropout(a, false)?; one(y) })),
    (EXPONENTIAL, Op(|a| { let rate = a.float("lambd")?; drawn(a, "uniform", |u| waiting(u) / rate) })),
    (FEATURE_ALPHA_DROPOUT, Op(|a| alpha_dropout(a, true))),
    (FEATURE_DROPOUT, Op(|a| { let (y, _) = dropout(a, true)?; one(y) })),
    (GEOMETRIC, Op(|a| { let p = a.float("p")?; drawn(a, "uniform", |u| (waiting(u) / -(-p).ln_1p()).floor() + 1.0) })),
    (LOG_NORMAL, Op(|a| { let (m, s) = (a.float("mean")?, a.float("std")?); drawn(a, "normal", |z| (z * s + m).exp()) })),
    (MULTINOMIAL, Op(multinomial)),
    (NATIVE_DROPOUT, Op(|a| { let (y, mask) = dropout(a, false)?; many([y, mask]) })),
    (NORMAL_TENSOR_TENSOR, Op(|a| scattered(a, a.tensor("mean")?, a.tensor("std")?))),
    (NORMAL_TENSOR_FLOAT, Op(|a| { let m = a.tensor("mean")?; scattered(a, m, &Tensor::scalar(m.dtype(), a.scalar("std")?)) })),
    (NORMAL_FLOAT_TENSOR, Op(|a| { let s = a.tensor("std")?; scattered(a, &Tensor::scalar(s.dtype(), a.scalar("mean")?), s) })),
    (NORMAL_FLOAT_FLOAT, Op(|a| scattered_to(a, &a.shape("size")?, a.dtype("dtype")?.unwrap_or(DType::F32)))),
    (NORMAL_FUNCTIONAL, Op(|a| { let x = a.tensor("self")?; scattered_to(a, x.shape(), x.dtype()) })),
    (POISSON, Op(poisson)),
    (RAND, Op(|a| one(numbers(a.seed(), 0, "uniform", a.dtype("dtype")?.unwrap_or(DType::F32), &a.shape("size")?)?))),
    (RAND_LIKE, Op(|a| like(a, "uniform"))),
    (RANDINT, Op(|a| between(a, 0, a.int("high")?, &a.shape("size")?, DType::I64))),
    (RANDINT_LOW, Op(|a| between(a, a.int("low")?, a.int("high")?, &a.shape("size")?, DType::I64))),
    (RANDINT_LIKE, Op(|a| { let x = a.tensor("self")?; between(a, 0, a.int("high")?, x.shape(), x.dtype()) })),
    (RANDINT_LIKE_LOW_DTYPE, Op(|a| { let x = a.tensor("self")?; between(a, a.int("low")?, a.int("high")?, x.shape(), x.dtype()) })),
    (RANDN, Op(|a| one(numbers(a.seed(), 0, "normal", a.dtype("dtype")?.unwrap_or(DType::F32), &a.shape("size")?)?))),
    (RANDN_LIKE, Op(|a| like(a, "normal"))),
    (RANDOM_FROM, Op(|a| { let x = a.tensor("self")?; between(a, a.int("from")?, a.opt_int("to")?.unwrap_or(i64::MAX), x.shape(), x.dtype()) })),
    (RANDOM_TO, Op(|a| { let x = a.tensor("self")?; between(a, 0, a.int("to")?, x.shape(), x.dtype()) })),
    (RANDPERM, Op(permutation)),
    (RRELU, Op(|a| { let (y, _) = leaky(a)?; one(y) })),
    (RRELU_WITH_NOISE, Op(|a| { let (y, _) = leaky(a)?; one(y) })),
    (RRELU_WITH_NOISE_BACKWARD, Op(leaky_backward)),
    (RRELU_WITH_NOISE_FUNCTIONAL, Op(|a| { let (y, slopes) = leaky(a)?; many([y, slopes.map_or_else(|| a.tensor("noise").cloned(), Ok)?]) })),
    (UNIFORM, Op(|a| { let (low, high) = (a.float("from")?, a.float("to")?); drawn(a, "uniform", |u| u * (high - low) + low) })),
];

/// A function of numbers of a fresh stream, in the shape and type of `self`.
fn drawn(args: &Args, kind: &str, f: impl Fn(f64) -> f64) -> Results {
    let x = args.tensor("self")?;
    let drawn = numbers(args.seed(), 0, kind, opmath(x.dtype().floating()), x.shape())?;
    one(drawn.map(x.dtype(), |v| Scalar::Float(f(v.float()))))
}

fn like(args: &Args, kind: &str) -> Results {
    let x = args.tensor("self")?;
    one(numbers(args.seed(), 0, kind, args.dtype("dtype")?.unwrap_or(x.dtype()), x.shape())?)
}

/// The time until an event of rate one.
fn waiting(u: f64) -> f64 {
    -(-u).ln_1p()
}

/// Integers from `low` up to `high`, which is not among them.
fn between(args: &Args, low: i64, high: i64, shape: &[usize], dtype: DType) -> Results {
    let count = i128::from(high) - i128::from(low);
    if count <= 0 {
        return Err(fail(format!("there are no integers from {low} up to {high}")));
    }
    let dtype = args.dtype("dtype")?.unwrap_or(dtype);
    let bits = numbers(args.seed(), 0, "bits", DType::I64, shape)?;
    one(bits.map(dtype, |v| Scalar::Int((v.int() & i128::from(i64::MAX)) % count + i128::from(low))))
}

fn permutation(args: &Args) -> Results {
    let n = usize::try_from(args.int("n")?).map_err(|_| fail("a negative length"))?;
    let bits: Vec<Scalar> = numbers(args.seed(), 0, "bits", DType::I64, &[n])?.scalars().collect();
    let order = ranking(&bits, false).into_iter().map(|k| Scalar::Int(k as i128));
    one(Tensor::from_scalars(args.dtype("dtype")?.unwrap_or(DType::I64), &[n], order)?)
}

/// Normal numbers of a mean and a deviation each.
fn scattered(args: &Args, mean: &Tensor, std: &Tensor) -> Results {
    let shape = broadcast_shape(&[mean.shape(), std.shape()])?;
    let (mean, std) = (mean.expand(&shape)?, std.expand(&shape)?);
    let z = numbers(args.seed(), 0, "normal", opmath(mean.dtype()), &shape)?;
    one(Tensor::from_scalars(mean.dtype(), &shape, (0..z.len()).map(|k| add(mul(z.at(k), std.at(k)), mean.at(k))))?)
}

fn scattered_to(args: &Args, shape: &[usize], dtype: DType) -> Results {
    let (mean, std) = (args.float("mean")?, args.float("std")?);
    let [mean, std] = [mean, std].map(Scalar::Float);
    one(numbers(args.seed(), 0, "normal", opmath(dtype), shape)?.map(dtype, |z| add(mul(z, std), mean)))
}

/// True with probability `p`.
fn kept(args: &Args, p: f64, shape: &[usize]) -> Result<Tensor, InterpError> {
    let p = DType::F32.round(p);
    Ok(numbers(args.seed(), 0, "uniform", DType::F32, shape)?.map(DType::Bool, |u| Scalar::Bool(u.float() < p)))
}

/// One where a trial of probability `p` succeeds.
fn trials(args: &Args, x: &Tensor, p: &Tensor) -> Results {
    let p = p.expand(x.shape())?.cast(opmath(p.dtype().floating()));
    let u = numbers(args.seed(), 0, "uniform", p.dtype(), p.shape())?;
    one(Tensor::from_scalars(x.dtype(), x.shape(), (0..u.len()).map(|k| Scalar::Bool(u.at(k).float() < p.at(k).float())))?)
}

/// What a mask keeps of a tensor, divided by the probability to keep an element.
fn scaled(x: &Tensor, mask: &Tensor, p: f64) -> Result<Tensor, InterpError> {
    let mask = mask.expand(x.shape())?;
    let value = |k: usize| if mask.at(k).truthy() { quotient(x.at(k), Scalar::Float(p)) } else { Scalar::Int(0) };
    Tensor::from_scalars(x.dtype(), x.shape(), (0..x.len()).map(value))
}

/// A tensor of which each element is left out with probability `p`.
pub fn thinned(args: &Args, x: &Tensor, p: f64) -> Result<Tensor, InterpError> {
    if p >= 1.0 { Tensor::zeros(x.dtype(), x.shape()) } else { scaled(x, &kept(args, 1.0 - p, x.shape())?, 1.0 - p) }
}

/// Here p is the probability to keep an element.
fn fused_dropout(args: &Args) -> Results {
    let (x, p) = (args.tensor("self")?, args.float("p")?);
    let u = numbers(args.seed(), 0, "uniform", opmath(x.dtype()), x.shape())?;
    let p = u.dtype().round(p);
    let mask = u.map(DType::U8, |u| Scalar::Bool(u.float() < p));
    many([scaled(x, &mask, p)?, mask])
}

/// What dropout drops of: the in-place overloads call it `self`.
fn dropped(args: &Args) -> Result<&Tensor, InterpError> {
    args.tensor(if args.opt("input").is_some() { "input" } else { "self" })
}

/// One element for each channel of each sample.
fn features(x: &Tensor) -> Vec<usize> {
    x.shape().iter().enumerate().map(|(d, &n)| if d < 2 { n } else { 1 }).collect()
}

/// The output and what was kept: elements, or whole channels.
fn dropout(args: &Args, channels: bool) -> Result<(Tensor, Tensor), InterpError> {
    let (x, p) = (dropped(args)?, args.float("p")?);
    let all = |value| Tensor::full(DType::Bool, x.shape(), Scalar::Bool(value));
    let train = args.opt("train").is_none() || args.flag("train")?;
    if !train || p == 0.0 {
        return Ok((x.clone(), all(true)?));
    }
    if p == 1.0 {
        return Ok((Tensor::zeros(x.dtype(), x.shape())?, all(false)?));
    }
    let mask = kept(args, 1.0 - p, &if channels { features(x) } else { x.shape().to_vec() })?;
    Ok((scaled(x, &mask, 1.0 - p)?, mask))
}

/// What is dropped becomes the value that SELU saturates at; an affine function restores mean and variance.
fn alpha_dropout(args: &Args, channels: bool) -> Results {
    const ALPHA: f64 = 1.758_099_340_847_376_6;
    let (x, p) = (dropped(args)?, args.float("p")?);
    if !args.flag("train")? || p == 0.0 {
        return one(x.clone());
    }
    if p == 1.0 {
        return one(Tensor::zeros(x.dtype(), x.shape())?);
    }
    let mask = kept(args, 1.0 - p, &if channels { features(x) } else { x.shape().to_vec() })?.expand(x.shape())?;
    let scale = 1.0 / ((ALPHA * ALPHA * p + 1.0) * (1.0 - p)).sqrt();
    let value = |k: usize| Scalar::Float(if mask.at(k).truthy() { x.at(k).float() } else { -ALPHA } * scale + ALPHA * scale * p);
    one(Tensor::from_scalars(x.dtype(), x.shape(), (0..x.len()).map(value))?)
}

/// Positions by weight. Without replacement those win whose events come first, each at the rate of its weight.
fn multinomial(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let x = x.cast(opmath(x.dtype()));
    let last = x.rank().checked_sub(1).ok_or_else(|| fail("a vector or a matrix of weights was expected"))?;
    let count = usize::try_from(args.int("num_samples")?).map_err(|_| fail("a negative number of samples"))?;
    if !args.flag("replacement")? {
        let u = numbers(args.seed(), 0, "uniform", x.dtype(), x.shape())?;
        let times = Tensor::from_scalars(x.dtype(), x.shape(), (0..x.len()).map(|k| Scalar::Float(waiting(u.at(k).float()) / x.at(k).float())))?;
        let order = lines(&times, last, DType::I64, |v| Ok(ranking(v, false).into_iter().map(|k| Scalar::Int(k as i128)).collect()))?;
        return one(order.slice(last, 0, count, 1)?);
    }
    let n = x.shape()[last];
    let shape = [&x.shape()[..last], &[count]].concat();
    let u = numbers(args.seed(), 0, "uniform", x.dtype(), &shape)?;
    let pick = |k: usize| {
        let row = k / count * n;
        let sums: Vec<f64> = (0..n).scan(0.0, |sum, c| { *sum += x.at(row + c).float(); Some(*sum) }).collect();
        let at = u.at(k).float() * sums.last().copied().unwrap_or(0.0);
        // The first sum that is larger.
        Scalar::Int(sums.iter().filter(|&&sum| sum <= at).count() as i128)
    };
    one(Tensor::from_scalars(DType::I64, &shape, (0..u.len()).map(pick))?)
}

/// Negative numbers times a slope: one drawn for each in training (where the slopes are given too), the mean one otherwise.
fn leaky(args: &Args) -> Result<(Tensor, Option<Tensor>), InterpError> {
    let (x, low, high) = (args.tensor("self")?, args.float("lower")?, args.float("upper")?);
    if !args.flag("training")? {
        return Ok((x.map(x.dtype(), |v| if v.float() > 0.0 { v } else { mul(v, Scalar::Float((low + high) / 2.0)) }), None));
    }
    let u = numbers(args.seed(), 0, "uniform", opmath(x.dtype()), x.shape())?;
    let slope = |k: usize| Scalar::Float(if x.at(k).float() > 0.0 { 1.0 } else { u.at(k).float() * (high - low) + low });
    let y = Tensor::from_scalars(x.dtype(), x.shape(), (0..x.len()).map(|k| mul(x.at(k), slope(k))))?;
    Ok((y, Some(Tensor::from_scalars(x.dtype(), x.shape(), (0..x.len()).map(slope))?)))
}

/// In training the noise holds the slopes.
fn leaky_backward(args: &Args) -> Results {
    let (low, high) = (args.float("lower")?, args.float("upper")?);
    if args.flag("training")? {
        return one(pointwise(args, &["grad_output", "noise"], |v| v[0] * v[1])?);
    }
    one(pointwise(args, &["grad_output", "self"], |v| if v[1] > 0.0 { v[0] } else { v[0] * (low + high) / 2.0 })?)
}

// Distributions without a formula: the quantile of a uniform number.

fn uniform(args: &Args, shape: &[usize]) -> Result<Tensor, InterpError> {
    numbers(args.seed(), 0, "uniform", DType::F64, shape)
}

fn poisson(args: &Args) -> Results {
    let rate = args.tensor("self")?;
    let u = uniform(args, rate.shape())?;
    one(Tensor::from_scalars(rate.dtype(), rate.shape(), (0..u.len()).map(|k| Scalar::Float(quantile::poisson(u.at(k).float(), rate.at(k).float()))))?)
}

fn binomial(args: &Args) -> Results {
    let (count, p) = (args.tensor("count")?, args.tensor("prob")?);
    let shape = broadcast_shape(&[count.shape(), p.shape()])?;
    let (dtype, count, p) = (count.dtype(), count.expand(&shape)?, p.expand(&shape)?);
    let u = uniform(args, &shape)?;
    one(Tensor::from_scalars(dtype, &shape, (0..u.len()).map(|k| Scalar::Float(quantile::binomial(u.at(k).float(), count.at(k).float(), p.at(k).float()))))?)
}

/// Gamma numbers of scale one, in f64.
fn gammas(args: &Args) -> Result<Tensor, InterpError> {
    let shape = args.tensor("self")?;
    let u = uniform(args, shape.shape())?;
    Tensor::from_scalars(DType::F64, shape.shape(), (0..u.len()).map(|k| Scalar::Float(quantile::gamma(u.at(k).float(), shape.at(k).float()))))
}

/// Gamma numbers that are shares of their sum along the last dimension.
fn dirichlet(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let last = x.rank().checked_sub(1).ok_or_else(|| fail("a vector of concentrations was expected"))?;
    one(lines(&gammas(args)?, last, DType::F64, |v| {
        let sum = super::reduce::total(v);
        Ok(v.iter().map(|&v| quotient(v, sum)).collect())
    })?
    .cast(x.dtype()))
}
