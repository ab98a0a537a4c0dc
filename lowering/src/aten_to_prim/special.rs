//! Special functions, by series and integrals whose error is below that of the element type. They compute in `f64`.
//!
//! Bessel functions are means of periodic functions over a period (or integrals of functions that decay doubly
//! exponentially), for which the trapezoidal rule converges exponentially.

use std::f64::consts::PI;

use strata_dialects::aten::dtype::{DType, Numeric};

use super::args::Args;
use super::builder::Scalar;
use super::rule::Precision::{Compute, Exact};
use super::rule::{Rule, one};
use super::tensor::Tensor;

pub(super) const RULES: &[Rule] = &[
    one("aten.i0", Exact, |a| in_f64(a, "self", |x| modified(x, 0, false))),
    one("aten.mvlgamma", Compute, mvlgamma),
    one("aten.polygamma", Exact, polygamma),
    one("aten.special_bessel_j0", Exact, |a| in_f64(a, "self", |x| oscillating(x, 0))),
    one("aten.special_bessel_j1", Exact, |a| in_f64(a, "self", |x| oscillating(x, 1))),
    one("aten.special_erfcx", Exact, |a| in_f64(a, "self", erfcx)),
    one("aten.special_i0e", Exact, |a| in_f64(a, "self", |x| modified(x, 0, true))),
    one("aten.special_i1", Exact, |a| in_f64(a, "self", |x| modified(x, 1, false))),
    one("aten.special_i1e", Exact, |a| in_f64(a, "self", |x| modified(x, 1, true))),
    one("aten.special_log_ndtr", Exact, |a| in_f64(a, "self", log_ndtr)),
    one("aten.special_modified_bessel_i0", Exact, |a| in_f64(a, "self", |x| modified(x, 0, false))),
    one("aten.special_modified_bessel_i1", Exact, |a| in_f64(a, "self", |x| modified(x, 1, false))),
    one("aten.special_modified_bessel_k0", Exact, |a| in_f64(a, "self", |x| decaying(x, 0, false))),
    one("aten.special_modified_bessel_k1", Exact, |a| in_f64(a, "self", |x| decaying(x, 1, false))),
    one("aten.special_polygamma", Exact, polygamma),
    one("aten.special_scaled_modified_bessel_k0", Exact, |a| in_f64(a, "x", |x| decaying(x, 0, true))),
    one("aten.special_scaled_modified_bessel_k1", Exact, |a| in_f64(a, "x", |x| decaying(x, 1, true))),
    one("aten.special_spherical_bessel_j0", Exact, |a| in_f64(a, "x", spherical)),
    one("aten.special_zeta", Exact, zeta_of),
    one("aten.special_zeta.other_scalar", Exact, zeta_of),
    one("aten.special_zeta.self_scalar", Exact, zeta_of),
    one("prims.spherical_bessel_j0", Exact, |a| in_f64(a, "self", spherical)),
];

fn in_f64<'c>(a: &Args<'c>, name: &str, f: impl Fn(Tensor<'c>) -> Tensor<'c>) -> Tensor<'c> {
    let name = if a.has(name) { name } else { "self" };
    f(a.raw(name).convert(DType::F64)).convert(a.result_dtype(0))
}

/// Samples of an integrand, one along a new last dimension for each node; the weighted sum over them.
fn sampled<'c>(x: Tensor<'c>, nodes: &[f64], weight: f64, f: impl Fn(Tensor<'c>, Tensor<'c>) -> Tensor<'c>) -> Tensor<'c> {
    let (rank, nodes) = (x.rank(), x.prim().float_vector(DType::F64, nodes));
    f(x.unsqueeze(rank), nodes).reduce("sum", &[rank], false) * weight
}

/// `points` angles over a full turn.
fn angles(points: usize) -> Vec<f64> {
    (0..points).map(|k| 2.0 * PI * k as f64 / points as f64).collect()
}

/// The mean of `exp(|x| (cos t - 1)) cos(n t)` over a turn: I_n(x) exp(-|x|), with the sign of x for n = 1.
fn modified(x: Tensor<'_>, n: i32, scaled: bool) -> Tensor<'_> {
    const POINTS: usize = 160;
    let mean = sampled(x.abs(), &angles(POINTS), 1.0 / POINTS as f64, |x, t| {
        let wave = (x * (t.cos() - 1.0)).exp();
        if n == 0 { wave } else { wave * t.cos() }
    });
    let signed = if n == 0 { mean } else { mean * x.sign() };
    if scaled { signed } else { signed * x.abs().exp() }
}

/// The mean of `cos(x sin t - n t)` over a turn: J_n(x).
fn oscillating(x: Tensor<'_>, n: i32) -> Tensor<'_> {
    const POINTS: usize = 256;
    sampled(x, &angles(POINTS), 1.0 / POINTS as f64, |x, t| (x * t.sin() - t * f64::from(n)).cos())
}

/// The integral of `exp(-x (cosh t - 1)) cosh(n t)` over positive t: K_n(x) exp(x); infinite at 0, NaN below.
fn decaying(x: Tensor<'_>, n: i32, scaled: bool) -> Tensor<'_> {
    const STEP: f64 = 0.1;
    let nodes: Vec<f64> = (-300..=300).map(|k| STEP * f64::from(k)).collect();
    let integral = sampled(x, &nodes, STEP / 2.0, |x, t| {
        let decay = (-x * (t.cosh() - 1.0)).exp();
        if n == 0 { decay } else { decay * t.cosh() }
    });
    let value = if scaled { integral } else { integral * (-x).exp() };
    value.fill_where(x.equal(0), f64::INFINITY).fill_where(x.less(0), f64::NAN)
}

/// `sin(x) / x`.
fn spherical(x: Tensor<'_>) -> Tensor<'_> {
    (x.sin() / x).fill_where(x.abs().less(1e-8), 1)
}

/// `exp(x^2) erfc(x)`; for large x by its asymptotic series.
fn erfcx(x: Tensor<'_>) -> Tensor<'_> {
    let near = (x * x).exp() * x.erfc();
    let inverse = (x * x * 2.0).reciprocal();
    let series = -(inverse * (-(inverse * 3.0 * (-(inverse * 5.0) + 1.0)) + 1.0)) + 1.0;
    x.greater(26.0).select(series / (x * PI.sqrt()), near)
}

/// The logarithm of the normal distribution function; to the left by [`erfcx`], which does not vanish.
fn log_ndtr(x: Tensor<'_>) -> Tensor<'_> {
    let left = (erfcx(x * -std::f64::consts::FRAC_1_SQRT_2) * 0.5).log() - x * x * 0.5;
    x.less(-1.0).select(left, (-super::pointwise::ndtr(-x)).log1p())
}

/// The logarithm of the multivariate gamma function.
fn mvlgamma<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, p) = (a.tensor("self"), a.int("p"));
    let constant = (p * (p - 1)) as f64 / 4.0 * PI.ln();
    let terms = (0..p).map(|i| (x - 0.5 * i as f64).lgamma());
    terms.reduce(|a, b| a + b).map_or(x, |sum| sum + constant)
}

/// The n-th derivative of the digamma function: `(-1)^(n+1) n! zeta(n + 1, x)`.
fn polygamma<'c>(a: &Args<'c>) -> Tensor<'c> {
    let n = a.int("n");
    in_f64(a, "self", |x| {
        if n == 0 {
            return x.digamma();
        }
        let factorial: f64 = (1..=n).map(|k| k as f64).product();
        let sign = if n % 2 == 0 { -1.0 } else { 1.0 };
        zeta(x.number(Scalar::Float(n as f64 + 1.0)), x) * (sign * factorial)
    })
}

fn zeta_of<'c>(a: &Args<'c>) -> Tensor<'c> {
    let dtype = a.promoted_dtype(&["self", "other"]).to_float();
    let value = zeta(a.as_type("self", DType::F64), a.as_type("other", DType::F64));
    value.convert(dtype)
}

/// Bernoulli numbers B_2j divided by (2j)!.
const BERNOULLI: [f64; 6] = [1.0 / 12.0, -1.0 / 720.0, 1.0 / 30240.0, -1.0 / 1209600.0, 1.0 / 47900160.0, -691.0 / 1307674368000.0];

/// The Hurwitz zeta function: the sum of `(q + k)^-s` by Euler and Maclaurin's formula behind the first terms.
fn zeta<'c>(s: Tensor<'c>, q: Tensor<'c>) -> Tensor<'c> {
    const TERMS: usize = 24;
    let head = (0..TERMS).map(|k| (q + k as f64).pow(-s)).reduce(|a, b| a + b);
    let w = q + TERMS as f64;
    let power = w.pow(-s);
    let mut sum = power * w / (s - 1.0) + power * 0.5;
    // s (s + 1) .. (s + 2j - 2) w^(-s - 2j + 1)
    let mut rising = s * power / w;
    for (j, bernoulli) in BERNOULLI.iter().enumerate() {
        sum = sum + rising * *bernoulli;
        let k = 2.0 * j as f64;
        rising = rising * (s + (k + 1.0)) * (s + (k + 2.0)) / (w * w);
    }
    let sum = head.map_or(sum, |head| head + sum);
    let pole = q.less_equal(0).and(q.equal(q.floor()));
    let undefined = s.less(1).or(q.less_equal(0).and(s.not_equal(s.floor())));
    let value = sum.fill_where(undefined, f64::NAN).fill_where(pole, f64::INFINITY);
    value.fill_where(s.equal(1), f64::INFINITY).fill_where(s.is_nan().or(q.is_nan()), f64::NAN)
}
