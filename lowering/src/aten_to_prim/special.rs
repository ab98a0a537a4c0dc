//! Special functions: those of the runtime (`prim.special`), and what is made of them.

use std::f64::consts::PI;
use strata_dialects::aten::op::*;

use strata_dialects::aten::dtype::DType;
use strata_dialects::prim_builder::{Scalar, Tensor};

use super::args::Args;
use super::pointwise::pair;
use super::rule::Precision::{Compute, Exact};
use super::rule::{Rule, one, unary};

pub(super) const RULES: &[Rule] = &[
    one(GCD, Exact, |a| pair(a, gcd)),
    unary(I0, Compute, |x| x.special("bessel_i0", &[])),
    one(IGAMMA, Compute, |a| pair(a, |x, y| x.special("igamma", &[y]))),
    one(IGAMMAC, Compute, |a| pair(a, |x, y| x.special("igammac", &[y]))),
    one(LCM, Exact, |a| pair(a, lcm)),
    one(MVLGAMMA, Compute, mvlgamma),
    one(POLYGAMMA, Compute, polygamma),
    one(SPECIAL_AIRY_AI, Compute, |a| of_x(a, "airy_ai")),
    one(SPECIAL_BESSEL_J0, Compute, |a| of_x(a, "bessel_j0")),
    one(SPECIAL_BESSEL_J1, Compute, |a| of_x(a, "bessel_j1")),
    one(SPECIAL_BESSEL_Y0, Compute, |a| of_x(a, "bessel_y0")),
    one(SPECIAL_BESSEL_Y1, Compute, |a| of_x(a, "bessel_y1")),
    one(SPECIAL_ERFCX, Exact, |a| in_f64(a, erfcx)),
    unary(SPECIAL_I0E, Compute, |x| x.special("bessel_i0e", &[])),
    unary(SPECIAL_I1, Compute, |x| x.special("bessel_i1", &[])),
    unary(SPECIAL_I1E, Compute, |x| x.special("bessel_i1e", &[])),
    unary(SPECIAL_LOG_NDTR, Compute, log_ndtr),
    one(SPECIAL_MODIFIED_BESSEL_I0, Compute, |a| of_x(a, "bessel_i0")),
    one(SPECIAL_MODIFIED_BESSEL_I1, Compute, |a| of_x(a, "bessel_i1_full")),
    one(SPECIAL_MODIFIED_BESSEL_K0, Compute, |a| of_x(a, "bessel_k0")),
    one(SPECIAL_MODIFIED_BESSEL_K1, Compute, |a| of_x(a, "bessel_k1")),
    one(SPECIAL_POLYGAMMA, Compute, polygamma),
    one(SPECIAL_SCALED_MODIFIED_BESSEL_K0, Compute, |a| of_x(a, "bessel_k0e")),
    one(SPECIAL_SCALED_MODIFIED_BESSEL_K1, Compute, |a| of_x(a, "bessel_k1e")),
    one(SPECIAL_SPHERICAL_BESSEL_J0, Compute, spherical),
    one(SPECIAL_ZETA, Compute, |a| pair(a, |x, y| x.special("zeta", &[y]))),
    one(SPECIAL_ZETA_OTHER_SCALAR, Compute, |a| pair(a, |x, y| x.special("zeta", &[y]))),
    one(SPECIAL_ZETA_SELF_SCALAR, Compute, |a| pair(a, |x, y| x.special("zeta", &[y]))),
    one(prims::SPHERICAL_BESSEL_J0, Compute, spherical),
];

/// The argument, which some schemas call `self` and some `x`.
fn argument<'c>(a: &Args<'c>) -> Tensor<'c> {
    a.tensor(if a.has("x") { "x" } else { "self" })
}

fn of_x<'c>(a: &Args<'c>, function: &str) -> Tensor<'c> {
    argument(a).special(function, &[])
}

fn in_f64<'c>(a: &Args<'c>, f: impl Fn(Tensor<'c>) -> Tensor<'c>) -> Tensor<'c> {
    f(a.raw("self").convert(DType::F64)).convert(a.result_dtype(0))
}

fn gcd<'c>(x: Tensor<'c>, y: Tensor<'c>) -> Tensor<'c> {
    x.convert(DType::I64).special("gcd", &[y.convert(DType::I64)]).convert(x.dtype())
}

/// The magnitude of `x / gcd * y`; 0 where both are.
fn lcm<'c>(x: Tensor<'c>, y: Tensor<'c>) -> Tensor<'c> {
    let divisor = gcd(x, y);
    let none = divisor.equal(0);
    (x / divisor.fill_where(none, 1) * y).abs().fill_where(none, 0)
}

/// `sin(x) / x`, near 0 by its series.
fn spherical<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = argument(a);
    let square = x * x;
    let series = (square * (-1.0 / 5040.0) + 1.0 / 120.0) * square - 1.0 / 6.0;
    // One rounding of the sine, one of the quotient.
    let sine = x.convert(DType::F64).sin().convert(x.dtype());
    let value = x.abs().less(0.5).select(series * square + 1.0, sine / x);
    value.fill_where(x.abs().equal(f64::INFINITY), 0.0)
}

/// `exp(x^2) erfc(x)`; for large x by its asymptotic series.
fn erfcx(x: Tensor<'_>) -> Tensor<'_> {
    let near = (x * x).exp() * x.erfc();
    let inverse = (x * x * 2.0).reciprocal();
    let series = -(inverse * (-(inverse * 3.0 * (-(inverse * 5.0) + 1.0)) + 1.0)) + 1.0;
    x.greater(26.0).select(series / (x * PI.sqrt()), near)
}

/// A function computed in f64 and rounded once.
fn rounded<'c>(x: Tensor<'c>, f: impl Fn(Tensor<'c>) -> Tensor<'c>) -> Tensor<'c> {
    f(x.convert(DType::F64)).convert(x.dtype())
}

/// The logarithm of the normal distribution function; to the left by [`erfcx`], which does not vanish.
/// Each step is rounded once.
fn log_ndtr(x: Tensor<'_>) -> Tensor<'_> {
    let t = x * std::f64::consts::FRAC_1_SQRT_2;
    let left = rounded(rounded(-t, erfcx) / 2.0, |x| x.log()) - t * t;
    let right = rounded(-(rounded(t, |x| x.erfc()) / 2.0), |x| x.log1p());
    x.less(-1.0).select(left, right)
}

/// The logarithm of the multivariate gamma function.
fn mvlgamma<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, p) = (a.tensor("self"), a.int("p"));
    let constant = p as f64 * (p as f64 - 1.0) / 4.0 * PI.ln();
    // Summed as PyTorch does: four sums of every fourth term, then these.
    let terms: Vec<_> = a.steps("argument `p`", p).rev().map(|i| (x - 0.5 * i as f64).lgamma()).collect();
    let part = |k: usize| terms.iter().copied().skip(k).step_by(4).reduce(|a, b| a + b);
    let sum = (0..4).filter_map(part).reduce(|a, b| a + b);
    sum.map_or(x, |sum| sum + constant)
}

/// The n-th derivative of the digamma function: `(-1)^(n+1) n! zeta(n + 1, x)`.
fn polygamma<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, n) = (a.tensor("self"), a.int("n"));
    match n {
        ..0 => a.fail("a derivative of negative order"),
        0 => return x.digamma(),
        1 => return x.special("trigamma", &[]),
        _ => {}
    }
    // 171! is infinite in every type, and so are all that follow.
    let factors = 1..=n.min(171);
    let log_factorial: f64 = factors.clone().map(|k| (k as f64).ln()).sum();
    let factorial = match x.dtype() {
        DType::F64 => factors.map(|k| k as f64).product(),
        _ => f64::from((log_factorial as f32).exp()),
    };
    let sign = if n % 2 == 0 { -1.0 } else { 1.0 };
    x.number(Scalar::Float(n as f64 + 1.0)).special("zeta", &[x]) * (sign * factorial)
}
