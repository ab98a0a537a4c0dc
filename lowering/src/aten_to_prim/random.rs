//! Random numbers: each operator draws a fresh seed of the call and takes numbers of its stream. Distributions are PyTorch's,
//! the numbers are those of our generator.

use strata_dialects::aten::dtype::{DType, Numeric};
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Prim, Scalar, Size, Tensor};

use super::args::Args;
use super::rule::Precision::{Compute, Exact};
use super::rule::{Rule, many, one};

pub(super) const RULES: &[Rule] = &[
    many(_FUSED_DROPOUT, Exact, |a| {
        // Here p is the probability to keep an element.
        let x = a.tensor("self");
        let kept = uniform(a.prim, x.dtype().compute(), &x.shape()).less(a.probability("p"));
        vec![scaled(x, kept, a.probability("p")), kept.convert(DType::U8)]
    }),
    one(_SAMPLE_DIRICHLET, Compute, |a| {
        let parts = gammas(a);
        let parts = parts / parts.sum_keep(&[parts.rank().saturating_sub(1)]);
        parts.convert(a.result_dtype(0))
    }),
    one(_STANDARD_GAMMA, Compute, |a| gammas(a).convert(a.result_dtype(0))),
    one(ALPHA_DROPOUT, Compute, |a| alpha_dropout(a, false)),
    one(BERNOULLI, Exact, |a| bernoulli(a.raw("self")).convert(a.result_dtype(0))),
    one(BERNOULLI_TENSOR, Exact, |a| bernoulli(a.raw("p").broadcast_to(&a.raw("self").shape())).convert(a.result_dtype(0))),
    one(BERNOULLI_P, Exact, |a| kept(a.prim, a.probability("p"), &a.raw("self").shape()).convert(a.result_dtype(0))),
    one(BINOMIAL, Compute, |a| {
        let [count, p] = a.prim.broadcast([a.tensor("count"), a.tensor("prob")]);
        quantile("binomial_quantile", &[count, p]).convert(a.result_dtype(0))
    }),
    one(CAUCHY, Compute, |a| {
        let turn = drawn(a, uniform) - 0.5;
        (turn * std::f64::consts::PI).tan() * a.positive("sigma") + a.float("median")
    }),
    one(DROPOUT, Exact, |a| dropout(a, a.tensor("input"), a.bool("train"))[0]),
    one(EXPONENTIAL, Compute, |a| exponential(drawn(a, uniform)) / a.positive("lambd")),
    one(FEATURE_ALPHA_DROPOUT, Compute, |a| alpha_dropout(a, true)),
    one(FEATURE_DROPOUT, Exact, feature_dropout),
    one(GEOMETRIC, Compute, |a| {
        (exponential(drawn(a, uniform)) / -(-a.float_in("p", f64::MIN_POSITIVE..1.0, "it must lie between 0 and 1")).ln_1p()).floor() + 1.0
    }),
    one(LOG_NORMAL, Compute, |a| (drawn(a, normal) * a.positive("std") + a.float("mean")).exp()),
    one(MULTINOMIAL, Compute, multinomial),
    many(NATIVE_DROPOUT, Exact, |a| dropout(a, a.tensor("input"), !a.given("train") || a.bool("train")).into()),
    one(NORMAL_TENSOR_TENSOR, Compute, |a| scattered(a, a.tensor("mean"), a.tensor("std"))),
    one(NORMAL_TENSOR_FLOAT, Compute, |a| {
        let mean = a.tensor("mean");
        scattered(a, mean, mean.number(Scalar::Float(a.float_in("std", 0.0.., "a standard deviation is not negative"))))
    }),
    one(NORMAL_FLOAT_TENSOR, Compute, |a| {
        let std = a.tensor("std");
        scattered(a, std.number(Scalar::Float(a.float("mean"))), std)
    }),
    one(NORMAL_FLOAT_FLOAT, Compute, |a| {
        normal(a.prim, a.result_dtype(0).compute(), &a.sizes("size")) * a.float_in("std", 0.0.., "a standard deviation is not negative")
            + a.float("mean")
    }),
    one(NORMAL_FUNCTIONAL, Compute, |a| {
        drawn(a, normal) * a.float_in("std", 0.0.., "a standard deviation is not negative") + a.float("mean")
    }),
    one(POISSON, Compute, |a| quantile("poisson_quantile", &[a.tensor("self")]).convert(a.result_dtype(0))),
    one(RAND, Exact, |a| uniform(a.prim, a.result_dtype(0), &a.sizes("size"))),
    one(RAND_LIKE, Exact, |a| uniform(a.prim, a.result_dtype(0), &a.raw("self").shape())),
    one(RANDINT, Exact, |a| between(a, Size::Const(0), a.size("high"), &a.sizes("size"))),
    one(RANDINT_LOW, Exact, |a| between(a, a.size("low"), a.size("high"), &a.sizes("size"))),
    one(RANDINT_LIKE, Exact, |a| between(a, Size::Const(0), a.size("high"), &a.raw("self").shape())),
    one(RANDINT_LIKE_LOW_DTYPE, Exact, |a| between(a, a.size("low"), a.size("high"), &a.raw("self").shape())),
    one(RANDN, Exact, |a| normal(a.prim, a.result_dtype(0), &a.sizes("size"))),
    one(RANDN_LIKE, Exact, |a| normal(a.prim, a.result_dtype(0), &a.raw("self").shape())),
    one(RANDOM_FROM, Exact, |a| {
        let high = if a.given("to") { a.size("to") } else { Size::Const(i64::MAX) };
        between(a, a.size("from"), high, &a.raw("self").shape())
    }),
    one(RANDOM_TO, Exact, |a| between(a, Size::Const(0), a.size("to"), &a.raw("self").shape())),
    one(RANDPERM, Exact, |a| a.prim.random("bits", DType::I64, &[a.size("n")]).sort(0, false).1.convert(a.result_dtype(0))),
    one(RRELU, Compute, |a| leaky(a, a.prim.full(a.result_dtype(0).compute(), Scalar::Int(0), &[]))[0]),
    one(RRELU_WITH_NOISE, Compute, |a| leaky(a, a.tensor("noise"))[0]),
    one(RRELU_WITH_NOISE_BACKWARD, Compute, leaky_backward),
    many(RRELU_WITH_NOISE_FUNCTIONAL, Compute, |a| leaky(a, a.tensor("noise")).into()),
    one(UNIFORM, Compute, |a| drawn(a, uniform) * (a.float("to") - a.float("from")) + a.float("from")),
];

/// Whether each trial succeeds, for probabilities.
fn bernoulli(p: Tensor<'_>) -> Tensor<'_> {
    let p = p.convert(p.dtype().to_float().compute());
    uniform(p.prim(), p.dtype(), &p.shape()).less(p)
}

fn uniform<'c>(prim: &'c Prim<'c>, dtype: DType, shape: &[Size<'c>]) -> Tensor<'c> {
    prim.random("uniform", dtype, shape)
}

fn normal<'c>(prim: &'c Prim<'c>, dtype: DType, shape: &[Size<'c>]) -> Tensor<'c> {
    prim.random("normal", dtype, shape)
}

/// Numbers in the shape of `self`, in the type that the result is computed in.
fn drawn<'c>(a: &Args<'c>, distribution: fn(&'c Prim<'c>, DType, &[Size<'c>]) -> Tensor<'c>) -> Tensor<'c> {
    distribution(a.prim, a.result_dtype(0).to_float().compute(), &a.raw("self").shape())
}

/// A number of each distribution with these parameters: the quantile of a uniform number, in f64.
fn quantile<'c>(function: &str, parameters: &[Tensor<'c>]) -> Tensor<'c> {
    let parameters: Vec<_> = parameters.iter().map(|t| t.convert(DType::F64)).collect();
    uniform(parameters[0].prim(), DType::F64, &parameters[0].shape()).special(function, &parameters)
}

/// Gamma numbers of scale one, in f64.
fn gammas<'c>(a: &Args<'c>) -> Tensor<'c> {
    quantile("gamma_quantile", &[a.tensor("self")])
}

/// Of rate one, from uniform numbers: one minus them is never zero.
fn exponential(uniform: Tensor<'_>) -> Tensor<'_> {
    -(-uniform).log1p()
}

fn scattered<'c>(a: &Args<'c>, mean: Tensor<'c>, std: Tensor<'c>) -> Tensor<'c> {
    let [mean, std] = a.prim.broadcast([mean, std]);
    normal(a.prim, mean.dtype(), &mean.shape()) * std + mean
}

/// Integers from `low` up to `high`, which is not among them.
fn between<'c>(a: &Args<'c>, low: Size<'c>, high: Size<'c>, shape: &[Size<'c>]) -> Tensor<'c> {
    let bits = a.prim.random("bits", DType::I64, shape).and(i64::MAX);
    (bits % (high - low) + low).convert(a.result_dtype(0))
}

/// True with probability `p`.
fn kept<'c>(prim: &'c Prim<'c>, p: f64, shape: &[Size<'c>]) -> Tensor<'c> {
    uniform(prim, DType::F32, shape).less(p)
}

/// What is kept, with the mean of the whole.
fn scaled<'c>(x: Tensor<'c>, kept: Tensor<'c>, p: f64) -> Tensor<'c> {
    let wide = x.convert(x.dtype().compute());
    kept.select(wide / p, 0).convert(x.dtype())
}

/// With each element left out with probability `p`.
pub(super) fn thinned(x: Tensor<'_>, p: f64) -> Tensor<'_> {
    if p >= 1.0 { x.filled(Scalar::Int(0)) } else { scaled(x, kept(x.prim(), 1.0 - p, &x.shape()), 1.0 - p) }
}

/// The output and the mask of what was kept.
fn dropout<'c>(a: &Args<'c>, x: Tensor<'c>, train: bool) -> [Tensor<'c>; 2] {
    let (p, all) = (a.probability("p"), |value| a.prim.full(DType::Bool, Scalar::Bool(value), &x.shape()));
    match train {
        true if p == 1.0 => [x.filled(Scalar::Int(0)), all(false)],
        true if p != 0.0 => {
            let mask = kept(a.prim, 1.0 - p, &x.shape());
            [scaled(x, mask, 1.0 - p), mask]
        }
        _ => [x, all(true)],
    }
}

/// Whole channels are kept or not.
fn features<'c>(x: Tensor<'c>) -> Vec<Size<'c>> {
    x.shape().iter().enumerate().map(|(d, size)| if d < 2 { *size } else { Size::Const(1) }).collect()
}

fn feature_dropout<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, p) = (a.tensor("input"), a.probability("p"));
    match a.bool("train") {
        true if p == 1.0 => x.filled(Scalar::Int(0)),
        true if p != 0.0 => scaled(x, kept(a.prim, 1.0 - p, &features(x)).broadcast_to(&x.shape()), 1.0 - p),
        _ => x,
    }
}

/// What is dropped becomes the value that SELU saturates at; then mean and variance are put back.
fn alpha_dropout<'c>(a: &Args<'c>, by_feature: bool) -> Tensor<'c> {
    const ALPHA: f64 = 1.758_099_340_847_376_6;
    let (x, p) = (a.tensor("input"), a.probability("p"));
    if !a.bool("train") || p == 0.0 {
        return x;
    }
    if p == 1.0 {
        return x.filled(Scalar::Int(0));
    }
    let shape = if by_feature { features(x) } else { x.shape().to_vec() };
    let kept = kept(a.prim, 1.0 - p, &shape).broadcast_to(&x.shape());
    let scale = ((ALPHA * ALPHA * p + 1.0) * (1.0 - p)).sqrt().recip();
    kept.select(x, -ALPHA) * scale + ALPHA * scale * p
}

/// Positions drawn by weight. Without replacement the largest of `weight ^ (1 / uniform)` win, which draws them one after
/// the other.
fn multinomial<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, count) = (a.tensor("self"), a.size("num_samples"));
    let last = x.rank() - 1;
    if a.bool("replacement") {
        let sums = x.scan("sum", last);
        let total = sums.slice(last, sums.size(last) - 1, 1, 1);
        let mut shape = x.shape().to_vec();
        shape[last] = count;
        let at = uniform(a.prim, x.dtype(), &shape) * total;
        // The first sum that is larger.
        return sums.unsqueeze(last).less_equal(at.unsqueeze(last + 1)).convert(DType::I64).reduce("sum", &[last + 1], false);
    }
    let race = exponential(uniform(a.prim, x.dtype(), &x.shape())) / x;
    race.sort(last, false).1.slice(last, 0, count, 1)
}

/// Negative numbers times a slope, drawn for each of them in training and the mean one otherwise; and the slopes (1 where a
/// number is not negative), which replace `noise` in training.
fn leaky<'c>(a: &Args<'c>, noise: Tensor<'c>) -> [Tensor<'c>; 2] {
    let (x, low, high) = (a.tensor("self"), a.float("lower"), a.float("upper"));
    if !a.bool("training") {
        return [x.greater(0).select(x, x * ((low + high) / 2.0)), noise];
    }
    let slope = uniform(a.prim, x.dtype(), &x.shape()) * (high - low) + low;
    let slope = x.greater(0).select(x.filled(Scalar::Int(1)), slope);
    [x * slope, slope]
}

fn leaky_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (grad, x, low, high) = (a.tensor("grad_output"), a.tensor("self"), a.float("lower"), a.float("upper"));
    match a.bool("training") {
        true => grad * a.tensor("noise"),
        false => x.greater(0).select(grad, grad * ((low + high) / 2.0)),
    }
}
