//! Pointwise operators of one tensor.

use num_complex::Complex64;

use super::Arm::{self, Op, Unary};
use super::common::{Kind, Operand, analytic, elementwise, mul, neg, real};
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::{DType, Scalar};
use crate::math::{airy, bessel, erf, gamma};
use crate::value::{Args, Results, one};

use Kind::{Float, Real, Same};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (_CONJ, Unary(Same, conj)),
    (_CONJ_PHYSICAL, Unary(Same, conj)),
    (ABS, Unary(Real, abs)),
    (ABSOLUTE, Unary(Real, abs)),
    (ACOS, Unary(Float, |x| analytic(x, f64::acos, |z| z.acos()))),
    (ACOSH, Unary(Float, |x| analytic(x, f64::acosh, |z| z.acosh()))),
    (ANGLE, Op(angle)),
    (ARCCOS, Unary(Float, |x| analytic(x, f64::acos, |z| z.acos()))),
    (ARCCOSH, Unary(Float, |x| analytic(x, f64::acosh, |z| z.acosh()))),
    (ARCSIN, Unary(Float, |x| analytic(x, f64::asin, arc_sine))),
    (ARCSINH, Unary(Float, |x| analytic(x, asinh, |z| z.asinh()))),
    (ARCTAN, Unary(Float, |x| analytic(x, f64::atan, |z| z.atan()))),
    (ARCTANH, Unary(Float, |x| analytic(x, f64::atanh, |z| z.atanh()))),
    (ASIN, Unary(Float, |x| analytic(x, f64::asin, arc_sine))),
    (ASINH, Unary(Float, |x| analytic(x, asinh, |z| z.asinh()))),
    (ATAN, Unary(Float, |x| analytic(x, f64::atan, |z| z.atan()))),
    (ATANH, Unary(Float, |x| analytic(x, f64::atanh, |z| z.atanh()))),
    (BITWISE_NOT, Unary(Same, bitwise_not)),
    (CEIL, Unary(Same, |x| rounding(x, f64::ceil))),
    (CONJ, Unary(Same, conj)),
    (CONJ_PHYSICAL, Unary(Same, conj)),
    (COS, Unary(Float, |x| analytic(x, f64::cos, |z| z.cos()))),
    (COSH, Unary(Float, |x| analytic(x, f64::cosh, |z| z.cosh()))),
    (ERF, Unary(Float, |x| real(x, libm::erf))),
    (ERFC, Unary(Float, |x| real(x, libm::erfc))),
    (ERFINV, Unary(Float, |x| real(x, erf::erfinv))),
    (EXP, Unary(Float, |x| analytic(x, f64::exp, |z| z.exp()))),
    (EXP2, Unary(Float, |x| analytic(x, f64::exp2, |z| (z * std::f64::consts::LN_2).exp()))),
    (EXPM1, Unary(Float, |x| analytic(x, f64::exp_m1, expm1))),
    (FIX, Unary(Same, |x| rounding(x, f64::trunc))),
    (FLOOR, Unary(Same, |x| rounding(x, f64::floor))),
    (FRAC, Unary(Same, |x| real(x, |v| v - v.trunc()))),
    (FREXP_TENSOR, Op(frexp)),
    (I0, Unary(Float, |x| real(x, |v| bessel::i(0, v)))),
    (IMAG, Unary(Real, |x| Scalar::Float(x.complex().im))),
    (ISFINITE, Unary(Kind::Bool, |x| Scalar::Bool(parts(x, f64::is_finite).0 && parts(x, f64::is_finite).1))),
    (ISINF, Unary(Kind::Bool, |x| Scalar::Bool(parts(x, f64::is_infinite).0 || parts(x, f64::is_infinite).1))),
    (ISNAN, Unary(Kind::Bool, |x| Scalar::Bool(x.is_nan()))),
    (ISNEGINF, Unary(Kind::Bool, |x| Scalar::Bool(x.float() == f64::NEG_INFINITY))),
    (ISPOSINF, Unary(Kind::Bool, |x| Scalar::Bool(x.float() == f64::INFINITY))),
    (ISREAL, Unary(Kind::Bool, |x| Scalar::Bool(x.complex().im == 0.0))),
    (LGAMMA, Unary(Float, |x| real(x, gamma::lgamma))),
    (LOG, Unary(Float, |x| analytic(x, f64::ln, |z| z.ln()))),
    (LOG10, Unary(Float, |x| analytic(x, f64::log10, |z| z.ln() / std::f64::consts::LN_10))),
    (LOG1P, Unary(Float, |x| analytic(x, f64::ln_1p, |z| (z + 1.0).ln()))),
    (LOG2, Unary(Float, |x| analytic(x, f64::log2, |z| z.ln() / std::f64::consts::LN_2))),
    (LOGICAL_NOT, Unary(Kind::Bool, |x| Scalar::Bool(!x.truthy()))),
    (NAN_TO_NUM, Op(nan_to_num)),
    (NEG, Unary(Same, neg)),
    (NEGATIVE, Unary(Same, neg)),
    (POSITIVE, Unary(Same, |x| x)),
    (REAL, Unary(Real, |x| if let Scalar::Complex(z) = x { Scalar::Float(z.re) } else { x })),
    (RECIPROCAL, Unary(Float, |x| analytic(x, |v| 1.0 / v, |z| super::common::divide_complex(Complex64::new(1.0, 0.0), z)))),
    (RESOLVE_CONJ, Unary(Same, |x| x)),
    (RESOLVE_NEG, Unary(Same, |x| x)),
    (ROUND, Unary(Same, |x| rounding(x, f64::round_ties_even))),
    (ROUND_DECIMALS, Op(round_decimals)),
    (SGN, Unary(Same, sgn)),
    (SIGN, Unary(Same, sgn)),
    (SIGNBIT, Unary(Kind::Bool, |x| Scalar::Bool(if let Scalar::Float(v) = x { v.is_sign_negative() } else { x.int() < 0 }))),
    (SIN, Unary(Float, |x| analytic(x, f64::sin, |z| z.sin()))),
    (SINH, Unary(Float, |x| analytic(x, f64::sinh, |z| z.sinh()))),
    (SPECIAL_AIRY_AI, Unary(Float, |x| real(x, airy::ai))),
    (SPECIAL_BESSEL_J0, Unary(Float, |x| real(x, |v| if v.is_infinite() { f64::NAN } else { libm::j0(v) }))),
    (SPECIAL_BESSEL_J1, Unary(Float, |x| real(x, |v| if v.is_infinite() { f64::NAN } else { libm::j1(v) }))),
    (SPECIAL_BESSEL_Y0, Unary(Float, |x| real(x, |v| if v.is_infinite() { f64::NAN } else { libm::y0(v) }))),
    (SPECIAL_BESSEL_Y1, Unary(Float, |x| real(x, |v| if v.is_infinite() { f64::NAN } else { libm::y1(v) }))),
    (SPECIAL_ERF, Unary(Float, |x| real(x, libm::erf))),
    (SPECIAL_ERFC, Unary(Float, |x| real(x, libm::erfc))),
    (SPECIAL_ERFCX, Unary(Float, |x| real(x, erf::erfcx))),
    (SPECIAL_ERFINV, Unary(Float, |x| real(x, erf::erfinv))),
    (SPECIAL_EXP2, Unary(Float, |x| real(x, f64::exp2))),
    (SPECIAL_EXPM1, Unary(Float, |x| real(x, f64::exp_m1))),
    (SPECIAL_GAMMALN, Unary(Float, |x| real(x, gamma::lgamma))),
    (SPECIAL_I0, Unary(Float, |x| real(x, |v| bessel::i(0, v)))),
    (SPECIAL_I0E, Unary(Float, |x| real(x, |v| bessel::i_scaled(0, v)))),
    (SPECIAL_I1, Unary(Float, |x| real(x, |v| bessel::i(1, v)))),
    (SPECIAL_I1E, Unary(Float, |x| real(x, |v| bessel::i_scaled(1, v)))),
    (SPECIAL_LOG1P, Unary(Float, |x| real(x, f64::ln_1p))),
    (SPECIAL_LOG_NDTR, Unary(Float, |x| real(x, erf::log_ndtr))),
    (SPECIAL_MODIFIED_BESSEL_I0, Unary(Float, |x| real(x, |v| bessel::i(0, v)))),
    (SPECIAL_MODIFIED_BESSEL_I1, Unary(Float, |x| real(x, |v| bessel::i(1, v)))),
    (SPECIAL_MODIFIED_BESSEL_K0, Unary(Float, |x| real(x, |v| bessel::k(0, v)))),
    (SPECIAL_MODIFIED_BESSEL_K1, Unary(Float, |x| real(x, |v| bessel::k(1, v)))),
    (SPECIAL_NDTRI, Unary(Float, |x| real(x, erf::ndtri))),
    (SPECIAL_ROUND, Unary(Same, |x| rounding(x, f64::round_ties_even))),
    (SPECIAL_SCALED_MODIFIED_BESSEL_K0, Unary(Float, |x| real(x, |v| bessel::k_scaled(0, v)))),
    (SPECIAL_SCALED_MODIFIED_BESSEL_K1, Unary(Float, |x| real(x, |v| bessel::k_scaled(1, v)))),
    (SQRT, Unary(Float, |x| analytic(x, f64::sqrt, |z| z.sqrt()))),
    (SQUARE, Unary(Kind::Long, |x| mul(x, x))),
    (TAN, Unary(Float, |x| analytic(x, f64::tan, |z| z.tan()))),
    (TANH, Unary(Float, |x| analytic(x, f64::tanh, |z| z.tanh()))),
    (TRUNC, Unary(Same, |x| rounding(x, f64::trunc))),
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
