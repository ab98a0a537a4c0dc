//! Pointwise operators of one tensor.

use num_complex::Complex64;

use super::Arm::{self, Op, Unary};
use super::common::{Kind, Operand, analytic, elementwise, mul, neg, real};
use crate::interp::dtype::{DType, Scalar};
use crate::interp::math::{airy, bessel, erf, gamma};
use crate::interp::value::{Args, Results, one};

use Kind::{Float, Real, Same};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(&str, Arm)] = &[
    ("aten._conj", Unary(Same, conj)),
    ("aten._conj_physical", Unary(Same, conj)),
    ("aten.abs", Unary(Real, abs)),
    ("aten.absolute", Unary(Real, abs)),
    ("aten.acos", Unary(Float, |x| analytic(x, f64::acos, |z| z.acos()))),
    ("aten.acosh", Unary(Float, |x| analytic(x, f64::acosh, |z| z.acosh()))),
    ("aten.angle", Op(angle)),
    ("aten.arccos", Unary(Float, |x| analytic(x, f64::acos, |z| z.acos()))),
    ("aten.arccosh", Unary(Float, |x| analytic(x, f64::acosh, |z| z.acosh()))),
    ("aten.arcsin", Unary(Float, |x| analytic(x, f64::asin, arc_sine))),
    ("aten.arcsinh", Unary(Float, |x| analytic(x, asinh, |z| z.asinh()))),
    ("aten.arctan", Unary(Float, |x| analytic(x, f64::atan, |z| z.atan()))),
    ("aten.arctanh", Unary(Float, |x| analytic(x, f64::atanh, |z| z.atanh()))),
    ("aten.asin", Unary(Float, |x| analytic(x, f64::asin, arc_sine))),
    ("aten.asinh", Unary(Float, |x| analytic(x, asinh, |z| z.asinh()))),
    ("aten.atan", Unary(Float, |x| analytic(x, f64::atan, |z| z.atan()))),
    ("aten.atanh", Unary(Float, |x| analytic(x, f64::atanh, |z| z.atanh()))),
    ("aten.bitwise_not", Unary(Same, bitwise_not)),
    ("aten.ceil", Unary(Same, |x| rounding(x, f64::ceil))),
    ("aten.conj", Unary(Same, conj)),
    ("aten.conj_physical", Unary(Same, conj)),
    ("aten.cos", Unary(Float, |x| analytic(x, f64::cos, |z| z.cos()))),
    ("aten.cosh", Unary(Float, |x| analytic(x, f64::cosh, |z| z.cosh()))),
    ("aten.erf", Unary(Float, |x| real(x, libm::erf))),
    ("aten.erfc", Unary(Float, |x| real(x, libm::erfc))),
    ("aten.erfinv", Unary(Float, |x| real(x, erf::erfinv))),
    ("aten.exp", Unary(Float, |x| analytic(x, f64::exp, |z| z.exp()))),
    ("aten.exp2", Unary(Float, |x| analytic(x, f64::exp2, |z| (z * std::f64::consts::LN_2).exp()))),
    ("aten.expm1", Unary(Float, |x| analytic(x, f64::exp_m1, expm1))),
    ("aten.fix", Unary(Same, |x| rounding(x, f64::trunc))),
    ("aten.floor", Unary(Same, |x| rounding(x, f64::floor))),
    ("aten.frac", Unary(Same, |x| real(x, |v| v - v.trunc()))),
    ("aten.frexp.Tensor", Op(frexp)),
    ("aten.i0", Unary(Float, |x| real(x, |v| bessel::i(0, v)))),
    ("aten.imag", Unary(Real, |x| Scalar::Float(x.complex().im))),
    ("aten.isfinite", Unary(Kind::Bool, |x| Scalar::Bool(parts(x, f64::is_finite).0 && parts(x, f64::is_finite).1))),
    ("aten.isinf", Unary(Kind::Bool, |x| Scalar::Bool(parts(x, f64::is_infinite).0 || parts(x, f64::is_infinite).1))),
    ("aten.isnan", Unary(Kind::Bool, |x| Scalar::Bool(x.is_nan()))),
    ("aten.isneginf", Unary(Kind::Bool, |x| Scalar::Bool(x.float() == f64::NEG_INFINITY))),
    ("aten.isposinf", Unary(Kind::Bool, |x| Scalar::Bool(x.float() == f64::INFINITY))),
    ("aten.isreal", Unary(Kind::Bool, |x| Scalar::Bool(x.complex().im == 0.0))),
    ("aten.lgamma", Unary(Float, |x| real(x, gamma::lgamma))),
    ("aten.log", Unary(Float, |x| analytic(x, f64::ln, |z| z.ln()))),
    ("aten.log10", Unary(Float, |x| analytic(x, f64::log10, |z| z.ln() / std::f64::consts::LN_10))),
    ("aten.log1p", Unary(Float, |x| analytic(x, f64::ln_1p, |z| (z + 1.0).ln()))),
    ("aten.log2", Unary(Float, |x| analytic(x, f64::log2, |z| z.ln() / std::f64::consts::LN_2))),
    ("aten.logical_not", Unary(Kind::Bool, |x| Scalar::Bool(!x.truthy()))),
    ("aten.nan_to_num", Op(nan_to_num)),
    ("aten.neg", Unary(Same, neg)),
    ("aten.negative", Unary(Same, neg)),
    ("aten.positive", Unary(Same, |x| x)),
    ("aten.real", Unary(Real, |x| if let Scalar::Complex(z) = x { Scalar::Float(z.re) } else { x })),
    ("aten.reciprocal", Unary(Float, |x| analytic(x, |v| 1.0 / v, |z| super::common::divide_complex(Complex64::new(1.0, 0.0), z)))),
    ("aten.resolve_conj", Unary(Same, |x| x)),
    ("aten.resolve_neg", Unary(Same, |x| x)),
    ("aten.round", Unary(Same, |x| rounding(x, f64::round_ties_even))),
    ("aten.round.decimals", Op(round_decimals)),
    ("aten.sgn", Unary(Same, sgn)),
    ("aten.sign", Unary(Same, sgn)),
    ("aten.signbit", Unary(Kind::Bool, |x| Scalar::Bool(if let Scalar::Float(v) = x { v.is_sign_negative() } else { x.int() < 0 }))),
    ("aten.sin", Unary(Float, |x| analytic(x, f64::sin, |z| z.sin()))),
    ("aten.sinh", Unary(Float, |x| analytic(x, f64::sinh, |z| z.sinh()))),
    ("aten.special_airy_ai", Unary(Float, |x| real(x, airy::ai))),
    ("aten.special_bessel_j0", Unary(Float, |x| real(x, |v| if v.is_infinite() { f64::NAN } else { libm::j0(v) }))),
    ("aten.special_bessel_j1", Unary(Float, |x| real(x, |v| if v.is_infinite() { f64::NAN } else { libm::j1(v) }))),
    ("aten.special_bessel_y0", Unary(Float, |x| real(x, |v| if v.is_infinite() { f64::NAN } else { libm::y0(v) }))),
    ("aten.special_bessel_y1", Unary(Float, |x| real(x, |v| if v.is_infinite() { f64::NAN } else { libm::y1(v) }))),
    ("aten.special_erf", Unary(Float, |x| real(x, libm::erf))),
    ("aten.special_erfc", Unary(Float, |x| real(x, libm::erfc))),
    ("aten.special_erfcx", Unary(Float, |x| real(x, erf::erfcx))),
    ("aten.special_erfinv", Unary(Float, |x| real(x, erf::erfinv))),
    ("aten.special_exp2", Unary(Float, |x| real(x, f64::exp2))),
    ("aten.special_expm1", Unary(Float, |x| real(x, f64::exp_m1))),
    ("aten.special_gammaln", Unary(Float, |x| real(x, gamma::lgamma))),
    ("aten.special_i0", Unary(Float, |x| real(x, |v| bessel::i(0, v)))),
    ("aten.special_i0e", Unary(Float, |x| real(x, |v| bessel::i_scaled(0, v)))),
    ("aten.special_i1", Unary(Float, |x| real(x, |v| bessel::i(1, v)))),
    ("aten.special_i1e", Unary(Float, |x| real(x, |v| bessel::i_scaled(1, v)))),
    ("aten.special_log1p", Unary(Float, |x| real(x, f64::ln_1p))),
    ("aten.special_log_ndtr", Unary(Float, |x| real(x, erf::log_ndtr))),
    ("aten.special_modified_bessel_i0", Unary(Float, |x| real(x, |v| bessel::i(0, v)))),
    ("aten.special_modified_bessel_i1", Unary(Float, |x| real(x, |v| bessel::i(1, v)))),
    ("aten.special_modified_bessel_k0", Unary(Float, |x| real(x, |v| bessel::k(0, v)))),
    ("aten.special_modified_bessel_k1", Unary(Float, |x| real(x, |v| bessel::k(1, v)))),
    ("aten.special_ndtri", Unary(Float, |x| real(x, erf::ndtri))),
    ("aten.special_round", Unary(Same, |x| rounding(x, f64::round_ties_even))),
    ("aten.special_scaled_modified_bessel_k0", Unary(Float, |x| real(x, |v| bessel::k_scaled(0, v)))),
    ("aten.special_scaled_modified_bessel_k1", Unary(Float, |x| real(x, |v| bessel::k_scaled(1, v)))),
    ("aten.sqrt", Unary(Float, |x| analytic(x, f64::sqrt, |z| z.sqrt()))),
    ("aten.square", Unary(Kind::Long, |x| mul(x, x))),
    ("aten.tan", Unary(Float, |x| analytic(x, f64::tan, |z| z.tan()))),
    ("aten.tanh", Unary(Float, |x| analytic(x, f64::tanh, |z| z.tanh()))),
    ("aten.trunc", Unary(Same, |x| rounding(x, f64::trunc))),
];

/// The logistic function.
pub fn sigmoid(v: f64) -> f64 {
    1.0 / (1.0 + (-v).exp())
}

/// Kahan's formulas, which keep to the side of the branch cuts that the sign of a zero says.
fn arc_sine(z: Complex64) -> Complex64 {
    let [below, above] = [Complex64::new(1.0 - z.re, -z.im), Complex64::new(1.0 + z.re, z.im)].map(Complex64::sqrt);
    Complex64::new(z.re.atan2((below * above).re), libm::asinh((below.conj() * above).im))
}

fn asinh(v: f64) -> f64 {
    libm::asinh(v)
}

fn conj(x: Scalar) -> Scalar {
    if let Scalar::Complex(z) = x { Scalar::Complex(z.conj()) } else { x }
}

fn abs(x: Scalar) -> Scalar {
    match x {
        Scalar::Float(v) => Scalar::Float(v.abs()),
        Scalar::Complex(z) => Scalar::Float(z.re.hypot(z.im)),
        v => Scalar::Int(v.int().abs()),
    }
}

fn expm1(z: Complex64) -> Complex64 {
    let half = (z.im / 2.0).sin();
    Complex64::new(z.re.exp_m1() * z.im.cos() - 2.0 * half * half, z.re.exp() * z.im.sin())
}

fn bitwise_not(x: Scalar) -> Scalar {
    match x {
        Scalar::Bool(v) => Scalar::Bool(!v),
        v => Scalar::Int(!v.int()),
    }
}

/// Rounding operators leave integers alone.
fn rounding(x: Scalar, f: fn(f64) -> f64) -> Scalar {
    if let Scalar::Float(v) = x { Scalar::Float(f(v)) } else { x }
}

fn parts(x: Scalar, test: fn(f64) -> bool) -> (bool, bool) {
    let z = match x {
        Scalar::Complex(z) => z,
        Scalar::Float(v) => Complex64::new(v, v),
        _ => Complex64::new(0.0, 0.0),
    };
    (test(z.re), test(z.im))
}

fn sgn(x: Scalar) -> Scalar {
    match x {
        Scalar::Bool(_) => x,
        Scalar::Int(v) => Scalar::Int(v.signum()),
        Scalar::Float(v) => Scalar::Float(if v > 0.0 { 1.0 } else if v < 0.0 { -1.0 } else { 0.0 }),
        Scalar::Complex(z) if z.norm() == 0.0 => Scalar::Complex(Complex64::new(0.0, 0.0)),
        Scalar::Complex(z) => Scalar::Complex(z / z.norm()),
    }
}

/// The argument of a complex number: 0 or pi for real ones.
fn angle(args: &Args) -> Results {
    let x = args.tensor("self")?;
    one(x.map(x.dtype().floating().real(), |v| match v {
        Scalar::Complex(z) => Scalar::Float(z.im.atan2(z.re)),
        v if v.is_nan() => v,
        v => Scalar::Float(if v.float() < 0.0 { std::f64::consts::PI } else { 0.0 }),
    }))
}

fn frexp(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let mantissa = x.map(x.dtype(), |v| Scalar::Float(libm::frexp(v.float()).0));
    let exponent = x.map(DType::I32, |v| Scalar::Int(if v.float().is_finite() { libm::frexp(v.float()).1 as i128 } else { 0 }));
    Ok(vec![mantissa.into(), exponent.into()])
}

fn nan_to_num(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let top = x.dtype().max_float();
    let (nan, inf, low) = (args.opt_float("nan")?.unwrap_or(0.0), args.opt_float("posinf")?.unwrap_or(top), args.opt_float("neginf")?.unwrap_or(-top));
    let fix = |v: f64| match v {
        v if v.is_nan() => nan,
        f64::INFINITY => inf,
        f64::NEG_INFINITY => low,
        v => v,
    };
    one(x.map(x.dtype(), |v| match v {
        Scalar::Float(v) => Scalar::Float(fix(v)),
        Scalar::Complex(z) => Scalar::Complex(Complex64::new(fix(z.re), fix(z.im))),
        other => other,
    }))
}

/// Each step is rounded to the element type, since ties depend on it.
fn round_decimals(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let decimals = args.int("decimals")?;
    let d = super::common::opmath(x.dtype());
    let power = d.round(10f64.powi(decimals.unsigned_abs().min(400) as i32));
    one(elementwise(Same, &[Operand::Tensor(x)], |v| {
        let Scalar::Float(v) = v[0] else { return Ok(v[0]) };
        Ok(Scalar::Float(if decimals >= 0 { d.round(v * power).round_ties_even() / power } else { d.round(v / power).round_ties_even() * power }))
    })?)
}
