//! Special functions: those of the runtime (`prim.special`), and what is made of them.

use std::f64::consts::{PI, SQRT_2};
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

/// The magnitude of `x / gcd * y`, of small integers in the 32 bits that C++ computes with; 0 where both are.
fn lcm<'c>(x: Tensor<'c>, y: Tensor<'c>) -> Tensor<'c> {
    let (dtype, divisor) = (x.dtype(), gcd(x, y));
    let wide = if dtype == DType::I64 { dtype } else { DType::I32 };
    let [x, y, divisor] = [x, y, divisor].map(|x| x.convert(wide));
    let none = divisor.equal(0);
    (x / divisor.fill_where(none, 1) * y).abs().fill_where(none, 0).convert(dtype)
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

/// Where the tails of the normal distribution begin: `e^-2`.
const TAIL: f64 = 0.135_335_283_236_612_7;

/// `(r - log(r) / r - x) r` of the place `x` with a tail of `e^(-r^2 / 2)`, as a quotient of polynomials of `1 / r`, highest powers first: for
/// `r` from 2 to 8, and from 8 on. Moshier, Cephes Mathematical Library, `ndtri`.
const NEAR_TAIL: [&[f64]; 2] = [
    &[
        4.055_448_923_059_624,
        31.525_109_459_989_388,
        57.162_819_224_642_13,
        44.080_507_389_320_08,
        14.684_956_192_885_803,
        2.186_633_068_507_902_5,
        -0.140_256_079_171_354_5,
        -0.035_042_462_682_784_82,
        -0.000_857_456_785_154_685_4,
    ],
    &[
        1.0,
        15.779_988_325_646_675,
        45.390_763_512_887_92,
        41.317_203_825_467_2,
        15.042_538_569_290_75,
        2.504_649_462_083_094,
        -0.142_182_922_854_787_8,
        -0.038_080_640_769_157_83,
        -0.000_933_259_480_895_457_4,
    ],
];
const FAR_TAIL: [&[f64]; 2] = [
    &[
        3.237_748_917_769_460_2,
        6.915_228_890_689_842,
        3.938_810_252_924_744_4,
        1.333_034_608_158_075_5,
        0.201_485_389_549_179_09,
        0.012_371_663_481_782_002,
        0.000_301_581_553_508_235_4,
        2.658_069_746_867_375_6e-6,
        6.239_745_391_849_833e-9,
    ],
    &[
        1.0,
        6.024_270_393_647_42,
        3.679_835_638_561_608_6,
        1.377_020_994_890_813_2,
        0.216_236_993_594_496_64,
        0.013_420_400_608_854_318,
        0.000_328_014_464_682_127_74,
        2.892_478_647_453_807e-6,
        6.790_194_080_099_813e-9,
    ],
];

/// The inverse of the normal distribution function. `2 x - 1` loses what a small `x` says, so tails have a formula of their own.
pub(super) fn ndtri(x: Tensor<'_>) -> Tensor<'_> {
    // Of whole numbers two are probabilities.
    if x.prim().is_whole() {
        let [low, high, none] = [f64::NEG_INFINITY, f64::INFINITY, f64::NAN].map(|number| x.filled(Scalar::Float(number)));
        return x.equal(0.0).select(low, x.equal(1.0).select(high, none));
    }
    let tail = x.minimum(-x + 1.0);
    let r = (tail.log() * -2.0).sqrt();
    let z = r.reciprocal();
    let polynomial = |powers: &[f64]| powers[1..].iter().fold(x.filled(Scalar::Float(powers[0])), |sum, power| sum * z + *power);
    let [near, far] = [NEAR_TAIL, FAR_TAIL].map(|[over, under]| polynomial(over) / polynomial(under));
    let distance = r - r.log() * z - z * r.less(8.0).select(near, far);
    let distance = tail.equal(0.0).select(x.filled(Scalar::Float(f64::INFINITY)), distance);
    let outside = x.less(0.5).select(-distance, distance);
    tail.greater(TAIL).select((x * 2.0 - 1.0).erfinv() * SQRT_2, outside)
}
