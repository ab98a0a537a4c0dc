//! Arithmetic, rounding, exponentials, trigonometry: operators on single elements.

use strata_dialects::aten::dtype::{DType, Numeric};
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Tensor};

use super::args::Args;
use super::complex;
use super::rule::Precision::{Compute, Exact, Float};
use super::rule::{Rule, one, unary};
use super::special::ndtri;

pub(super) const RULES: &[Rule] = &[
    one(_ADD_RELU_SCALAR, Exact, |a| add(a).relu()),
    one(_ADD_RELU_TENSOR, Exact, |a| add(a).relu()),
    unary(ABS, Exact, |x| x.abs()),
    unary(ABSOLUTE, Exact, |x| x.abs()),
    unary(ACOS, Float, complex::acos),
    unary(ACOSH, Float, complex::acosh),
    one(ADD_SCALAR, Exact, add),
    one(ADD_TENSOR, Exact, add),
    one(ADDCDIV, Exact, addcdiv),
    one(ADDCMUL, Exact, addcmul),
    unary(ASIN, Float, complex::asin),
    unary(ASINH, Float, complex::asinh),
    unary(ATAN, Float, complex::atan),
    one(ATAN2, Float, |a| pair(a, Tensor::atan2)),
    unary(ATANH, Float, complex::atanh),
    unary(CEIL, Exact, ceil),
    one(CLAMP, Exact, clamp),
    one(CLAMP_TENSOR, Exact, clamp),
    one(CLAMP_MAX, Exact, clamp),
    one(CLAMP_MAX_TENSOR, Exact, clamp),
    one(CLAMP_MIN, Exact, clamp),
    one(CLAMP_MIN_TENSOR, Exact, clamp),
    one(CLIP, Exact, clamp),
    one(CLIP_TENSOR, Exact, clamp),
    one(COPYSIGN_SCALAR, Float, |a| pair(a, copysign)),
    one(COPYSIGN_TENSOR, Float, |a| pair(a, copysign)),
    unary(COS, Float, |x| x.cos()),
    unary(COSH, Float, complex::cosh),
    unary(DEG2RAD, Compute, |x| x * (std::f64::consts::PI / 180.0)),
    unary(DIGAMMA, Compute, |x| x.digamma()),
    one(DIV_SCALAR, Float, |a| pair(a, |x, y| x / y)),
    one(DIV_SCALAR_MODE, Exact, div_mode),
    one(DIV_TENSOR, Float, |a| pair(a, |x, y| x / y)),
    one(DIV_TENSOR_MODE, Exact, div_mode),
    one(DIVIDE_SCALAR, Float, |a| pair(a, |x, y| x / y)),
    one(DIVIDE_TENSOR, Float, |a| pair(a, |x, y| x / y)),
    one(DIVIDE_TENSOR_MODE, Exact, div_mode),
    unary(ERF, Float, |x| x.erf()),
    unary(ERFC, Float, |x| x.erfc()),
    unary(ERFINV, Float, |x| x.erfinv()),
    unary(EXP, Float, |x| x.exp()),
    unary(EXP2, Float, complex::exp2),
    unary(EXPM1, Float, |x| x.expm1()),
    one(FLOAT_POWER_SCALAR, Exact, float_power),
    one(FLOAT_POWER_TENSOR_SCALAR, Exact, float_power),
    one(FLOAT_POWER_TENSOR_TENSOR, Exact, float_power),
    unary(FLOOR, Exact, floor),
    one(FLOOR_DIVIDE, Exact, |a| by_divisor(a, floor_div)),
    one(FLOOR_DIVIDE_SCALAR, Exact, |a| by_divisor(a, floor_div)),
    one(FMAX, Exact, |a| pair(a, fmax)),
    one(FMIN, Exact, |a| pair(a, fmin)),
    one(FMOD_SCALAR, Exact, |a| by_divisor(a, |x, y| x % y)),
    one(FMOD_TENSOR, Exact, |a| by_divisor(a, |x, y| x % y)),
    unary(FRAC, Exact, |x| x - x.trunc()),
    one(HEAVISIDE, Exact, heaviside),
    one(HYPOT, Float, |a| pair(a, hypot)),
    one(LDEXP_TENSOR, Compute, |a| a.tensor("self") * complex::exp2(a.tensor("other"))),
    one(LERP_SCALAR, Compute, lerp),
    one(LERP_TENSOR, Compute, lerp),
    unary(LGAMMA, Compute, |x| x.lgamma()),
    unary(LOG, Float, |x| x.log()),
    unary(LOG10, Float, complex::log10),
    unary(LOG1P, Float, |x| x.log1p()),
    unary(LOG2, Float, complex::log2),
    one(LOGADDEXP, Compute, |a| pair(a, log_add_exp)),
    one(LOGADDEXP2, Compute, |a| pair(a, |x, y| log_add(x, y, Tensor::exp2, |t| t.log1p() * std::f64::consts::LOG2_E))),
    one(LOGIT, Compute, logit),
    one(MAX_OTHER, Exact, |a| pair(a, Tensor::maximum)),
    one(MAXIMUM, Exact, |a| pair(a, Tensor::maximum)),
    one(MIN_OTHER, Exact, |a| pair(a, Tensor::minimum)),
    one(MINIMUM, Exact, |a| pair(a, Tensor::minimum)),
    one(MUL_SCALAR, Exact, |a| pair(a, mul)),
    one(MUL_TENSOR, Exact, |a| pair(a, mul)),
    one(MULTIPLY_SCALAR, Exact, |a| pair(a, mul)),
    one(MULTIPLY_TENSOR, Exact, |a| pair(a, mul)),
    one(NAN_TO_NUM, Exact, nan_to_num),
    unary(NEG, Exact, |x| -x),
    unary(NEGATIVE, Exact, |x| -x),
    one(NEXTAFTER, Exact, |a| pair(a, Tensor::nextafter)),
    unary(POSITIVE, Exact, |x| x),
    one(POW_SCALAR, Exact, pow),
    one(POW_TENSOR_SCALAR, Exact, pow),
    one(POW_TENSOR_TENSOR, Exact, pow),
    unary(RAD2DEG, Compute, |x| x * (180.0 / std::f64::consts::PI)),
    unary(RECIPROCAL, Float, |x| x.reciprocal()),
    one(REMAINDER_SCALAR, Exact, |a| by_divisor(a, remainder)),
    one(REMAINDER_SCALAR_TENSOR, Exact, |a| by_divisor(a, remainder)),
    one(REMAINDER_TENSOR, Exact, |a| by_divisor(a, remainder)),
    unary(ROUND, Exact, round),
    one(ROUND_DECIMALS, Compute, round_decimals),
    unary(RSQRT, Compute, |x| x.rsqrt()),
    one(RSUB_SCALAR, Exact, rsub),
    one(RSUB_TENSOR, Exact, rsub),
    unary(SGN, Exact, sign),
    unary(SIGN, Exact, sign),
    unary(SIN, Float, |x| x.sin()),
    unary(SINC, Compute, sinc),
    unary(SINH, Float, complex::sinh),
    unary(SPECIAL_ENTR, Compute, entr),
    unary(SPECIAL_EXPIT, Compute, |x| x.sigmoid()),
    unary(SPECIAL_NDTR, Compute, ndtr),
    unary(SPECIAL_NDTRI, Compute, ndtri),
    one(SPECIAL_XLOG1PY, Compute, |a| pair(a, |x, y| x_times(x, y, y.log1p()))),
    one(SPECIAL_XLOG1PY_OTHER_SCALAR, Compute, |a| pair(a, |x, y| x_times(x, y, y.log1p()))),
    one(SPECIAL_XLOG1PY_SELF_SCALAR, Compute, |a| pair(a, |x, y| x_times(x, y, y.log1p()))),
    unary(SQRT, Float, |x| x.sqrt()),
    one(SQUARE, Exact, |a| mul(a.as_type("self", a.result_dtype(0)), a.as_type("self", a.result_dtype(0)))),
    one(SUB_SCALAR, Exact, sub),
    one(SUB_TENSOR, Exact, sub),
    one(SUBTRACT_SCALAR, Exact, sub),
    one(SUBTRACT_TENSOR, Exact, sub),
    unary(TAN, Float, |x| x.tan()),
    unary(TANH, Float, |x| x.tanh()),
    one(TRUE_DIVIDE_SCALAR, Float, |a| pair(a, |x, y| x / y)),
    one(TRUE_DIVIDE_TENSOR, Float, |a| pair(a, |x, y| x / y)),
    unary(TRUNC, Exact, trunc),
    one(XLOGY_SCALAR_OTHER, Compute, |a| pair(a, |x, y| x_times(x, y, y.log()))),
    one(XLOGY_SCALAR_SELF, Compute, |a| pair(a, |x, y| x_times(x, y, y.log()))),
    one(XLOGY_TENSOR, Compute, |a| pair(a, |x, y| x_times(x, y, y.log()))),
];

/// Applies `f` to `self` and `other` in the type that they promote to.
pub(super) fn pair<'c>(a: &Args<'c>, f: impl Fn(Tensor<'c>, Tensor<'c>) -> Tensor<'c>) -> Tensor<'c> {
    let [x, y] = a.promoted(["self", "other"]);
    f(x, y)
}

/// As [`pair`]; the call fails where a whole number is divided by zero, as in PyTorch.
fn by_divisor<'c>(a: &Args<'c>, f: impl Fn(Tensor<'c>, Tensor<'c>) -> Tensor<'c>) -> Tensor<'c> {
    pair(a, |x, y| divided(a, x, y, &f))
}

fn divided<'c>(a: &Args<'c>, x: Tensor<'c>, y: Tensor<'c>, f: impl Fn(Tensor<'c>, Tensor<'c>) -> Tensor<'c>) -> Tensor<'c> {
    let constant = a.opt_constant("other").is_some_and(|divisor| divisor != 0.0);
    let dividends = x.numel();
    if y.dtype().is_integral() && !constant && dividends.known() != Some(0) {
        let zero = y.equal(0).reduce("or", &y.all_dims(), false);
        let divides = match dividends.known() {
            Some(_) => zero,
            None => zero.and(a.prim.size_tensor(DType::I64, dividends).greater(0)),
        };
        a.prim.guard(!divides, "ZeroDivisionError: a whole number is divided by zero", &[]);
    }
    f(x, y)
}

/// `x + alpha * y`, rounded once; on bool it is "or".
fn scaled_sum<'c>(a: &Args<'c>, x: Tensor<'c>, y: Tensor<'c>, negate: bool) -> Tensor<'c> {
    let alpha = if a.has("alpha") { a.scalar("alpha") } else { Scalar::Int(1) };
    let dtype = x.dtype();
    if dtype == DType::Bool {
        let nothing = matches!(alpha, Scalar::Bool(false) | Scalar::Int(0));
        return if nothing { x } else { x.or(y) };
    }
    let plain = matches!(alpha, Scalar::Int(1)) || alpha == Scalar::Float(1.0);
    match (plain, negate) {
        (true, false) => x + y,
        (true, true) => x - y,
        (false, false) => (x.convert(dtype.compute()) + y.convert(dtype.compute()) * alpha).convert(dtype),
        (false, true) => (x.convert(dtype.compute()) - y.convert(dtype.compute()) * alpha).convert(dtype),
    }
}

fn add<'c>(a: &Args<'c>) -> Tensor<'c> {
    pair(a, |x, y| scaled_sum(a, x, y, false))
}

fn sub<'c>(a: &Args<'c>) -> Tensor<'c> {
    pair(a, |x, y| scaled_sum(a, x, y, true))
}

fn rsub<'c>(a: &Args<'c>) -> Tensor<'c> {
    pair(a, |x, y| scaled_sum(a, y, x, true))
}

/// Product; on bool it is "and".
pub(super) fn mul<'c>(x: Tensor<'c>, y: Tensor<'c>) -> Tensor<'c> {
    if x.dtype() == DType::Bool { x.and(y) } else { x * y }
}

fn addcmul<'c>(a: &Args<'c>) -> Tensor<'c> {
    let [x, t, u] = a.promoted(["self", "tensor1", "tensor2"]);
    let work = x.dtype().compute();
    let product = t.convert(work) * u.convert(work) * a.scalar("value");
    (x.convert(work) + product).convert(x.dtype())
}

fn addcdiv<'c>(a: &Args<'c>) -> Tensor<'c> {
    let [x, t, u] = a.promoted(["self", "tensor1", "tensor2"]);
    let work = x.dtype().compute();
    let quotient = t.convert(work) / u.convert(work) * a.scalar("value");
    (x.convert(work) + quotient).convert(x.dtype())
}

fn div_mode<'c>(a: &Args<'c>) -> Tensor<'c> {
    let [x, y] = a.promoted(["self", "other"]);
    let float = x.dtype().to_float();
    match a.str("rounding_mode").as_str() {
        "floor" => divided(a, x, y, floor_div),
        "trunc" if x.dtype().is_integral() => divided(a, x, y, |x, y| x / y),
        "trunc" => {
            let work = float.compute();
            (x.convert(work) / y.convert(work)).trunc().convert(float)
        }
        _ => x.convert(float) / y.convert(float),
    }
}

/// Whether `x % y` (truncated) and `y` have different signs: then floored and truncated results differ.
fn crosses_zero<'c>(remainder: Tensor<'c>, y: Tensor<'c>) -> Tensor<'c> {
    remainder.not_equal(0).and(remainder.less(0).xor(y.less(0)))
}

/// Quotient rounded down, as Python's `//`.
pub(super) fn floor_div<'c>(x: Tensor<'c>, y: Tensor<'c>) -> Tensor<'c> {
    let dtype = x.dtype();
    if dtype.is_unsigned() {
        return x / y;
    }
    if dtype.is_integral() {
        let quotient = x / y;
        return crosses_zero(x % y, y).select(quotient - 1, quotient);
    }
    let (x, y) = (x.float(), y.float());
    let remainder = x % y;
    let exact = (x - remainder) / y;
    let exact = crosses_zero(remainder, y).select(exact - 1.0, exact);
    let floor = exact.floor();
    let nearest = (exact - floor).greater(0.5).select(floor + 1.0, floor);
    let zero = copysign(exact.number(Scalar::Int(0)), x / y);
    let result = exact.not_equal(0).select(nearest, zero);
    y.equal(0).select(x / y, result).convert(dtype)
}

/// Python's `%`: the sign of the divisor.
fn remainder<'c>(x: Tensor<'c>, y: Tensor<'c>) -> Tensor<'c> {
    let remainder = x % y;
    if x.dtype().is_unsigned() {
        return remainder;
    }
    crosses_zero(remainder, y).select(remainder + y, remainder)
}

fn pow<'c>(a: &Args<'c>) -> Tensor<'c> {
    let dtype = a.promoted_dtype(&["self", "exponent"]);
    let exponent = match a.opt_constant("exponent") {
        Some(exponent) => exponent,
        None => return a.as_type("self", dtype).pow(a.as_type("exponent", dtype)),
    };
    if dtype.is_integral() && exponent < 0.0 {
        a.fail("whole numbers have no whole powers of a negative exponent; convert them to floats first");
    }
    let x = a.as_type("self", dtype).convert(dtype.compute());
    constant_power(x, exponent).convert(dtype)
}

/// Powers that are products and roots, as PyTorch computes them.
fn constant_power<'c>(x: Tensor<'c>, exponent: f64) -> Tensor<'c> {
    let float = !x.dtype().is_integral();
    match exponent {
        0.0 => x.filled(Scalar::Int(1)),
        1.0 => x,
        2.0 => mul(x, x),
        3.0 => mul(mul(x, x), x),
        0.5 if float => x.sqrt(),
        -0.5 if float => x.rsqrt(),
        -1.0 if float => x.reciprocal(),
        -2.0 if float => (x * x).reciprocal(),
        _ if float => x.pow(exponent),
        _ => x.pow(exponent as i64),
    }
}

/// The power in `f64`.
fn float_power<'c>(a: &Args<'c>) -> Tensor<'c> {
    let dtype = if a.promoted_dtype(&["self", "exponent"]).is_complex() { DType::C128 } else { DType::F64 };
    a.as_type("self", dtype).pow(a.as_type("exponent", dtype))
}

fn floor(x: Tensor<'_>) -> Tensor<'_> {
    if x.dtype().is_integral() { x } else { x.floor() }
}

fn ceil(x: Tensor<'_>) -> Tensor<'_> {
    if x.dtype().is_integral() { x } else { x.ceil() }
}

fn trunc(x: Tensor<'_>) -> Tensor<'_> {
    if x.dtype().is_integral() { x } else { x.trunc() }
}

fn round(x: Tensor<'_>) -> Tensor<'_> {
    if x.dtype().is_integral() { x } else { x.round() }
}

fn round_decimals<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, decimals) = (a.tensor("self"), a.int("decimals"));
    let scale = 10f64.powi(decimals.unsigned_abs().min(400) as i32);
    match decimals {
        0 => x.round(),
        1.. => (x * scale).round() / scale,
        _ => (x / scale).round() * scale,
    }
}

fn sign(x: Tensor<'_>) -> Tensor<'_> {
    if x.dtype() == DType::Bool {
        return x;
    }
    if x.dtype().is_complex() {
        let modulus = x.abs();
        let zero = modulus.equal(0);
        let scale = modulus.fill_where(zero, 1);
        return (x.real() / scale).complex(x.imag() / scale);
    }
    // PyTorch compares with 0, so NaN has no sign.
    let sign = x.sign();
    if x.dtype().is_float() { sign.fill_where(x.is_nan(), 0) } else { sign }
}

/// Which elements carry a minus sign, also -0 and NaN.
pub(super) fn signbit(x: Tensor<'_>) -> Tensor<'_> {
    match x.dtype() {
        DType::F16 | DType::BF16 => x.bitcast(DType::I16).less(0),
        DType::F32 => x.bitcast(DType::I32).less(0),
        DType::F64 => x.bitcast(DType::I64).less(0),
        dtype if dtype.is_signed() => x.less(0),
        _ => x.prim().full(DType::Bool, Scalar::Bool(false), &x.shape()),
    }
}

fn copysign<'c>(x: Tensor<'c>, y: Tensor<'c>) -> Tensor<'c> {
    signbit(y).select(-x.abs(), x.abs())
}

/// The maximum that prefers a number to NaN.
fn fmax<'c>(x: Tensor<'c>, y: Tensor<'c>) -> Tensor<'c> {
    x.is_nan().select(y, y.is_nan().select(x, x.maximum(y)))
}

fn fmin<'c>(x: Tensor<'c>, y: Tensor<'c>) -> Tensor<'c> {
    x.is_nan().select(y, y.is_nan().select(x, x.minimum(y)))
}

fn clamp<'c>(a: &Args<'c>) -> Tensor<'c> {
    let bounds: Vec<&str> = ["min", "max"].into_iter().filter(|name| a.has(name) && a.given(name)).collect();
    let dtype = a.promoted_dtype(&[&["self"], bounds.as_slice()].concat());
    let mut x = a.as_type("self", dtype);
    for name in bounds {
        let bound = a.as_type(name, dtype);
        x = if name == "min" { x.maximum(bound) } else { x.minimum(bound) };
    }
    x
}

fn lerp<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (start, end) = (a.tensor("self"), a.tensor("end"));
    let weight = a.as_type("weight", start.dtype());
    let span = end - start;
    weight.abs().less(0.5).select(start + weight * span, end - span * (-weight + 1.0))
}

fn heaviside<'c>(a: &Args<'c>) -> Tensor<'c> {
    let [x, at_zero] = a.promoted(["self", "values"]);
    let step = x.greater(0).select(x.number(Scalar::Int(1)), 0);
    x.is_nan().select(step.number(Scalar::Int(0)), x.equal(0).select(at_zero, step))
}

fn hypot<'c>(x: Tensor<'c>, y: Tensor<'c>) -> Tensor<'c> {
    let dtype = x.dtype();
    // Also beside NaN.
    let infinite = x.abs().equal(f64::INFINITY).or(y.abs().equal(f64::INFINITY));
    if dtype != DType::F64 {
        let (x, y) = (x.convert(DType::F64), y.convert(DType::F64));
        return (x * x + y * y).sqrt().convert(dtype).fill_where(infinite, f64::INFINITY);
    }
    let (large, small) = (x.abs().maximum(y.abs()), x.abs().minimum(y.abs()));
    let ratio = (small / large).fill_where(large.equal(0), 0);
    (large * (ratio * ratio + 1.0).sqrt()).fill_where(infinite, f64::INFINITY)
}

/// `log(b^x + b^y)` without overflow.
fn log_add<'c>(x: Tensor<'c>, y: Tensor<'c>, power: fn(Tensor<'c>) -> Tensor<'c>, log1p: fn(Tensor<'c>) -> Tensor<'c>) -> Tensor<'c> {
    let largest = x.maximum(y);
    let sum = largest + log1p(power(-(x - y).abs()));
    x.equal(y).and(x.abs().equal(f64::INFINITY)).select(x, sum)
}

fn log_add_exp<'c>(x: Tensor<'c>, y: Tensor<'c>) -> Tensor<'c> {
    if x.dtype().is_complex() { complex::log_add_exp(x, y) } else { log_add(x, y, Tensor::exp, Tensor::log1p) }
}

fn logit<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let x = match a.opt_float("eps") {
        Some(eps) => {
            // The lower bound goes first, also where it is above the upper one.
            let bounded = x.fill_where(x.greater(1.0 - eps), 1.0 - eps);
            bounded.fill_where(x.less(eps), eps)
        }
        None => x,
    };
    (x / (-x + 1.0)).log()
}

fn nan_to_num<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    if x.dtype().is_integral() {
        return x;
    }
    let (lowest, highest) = limits(x.dtype());
    let value = |name, default| a.opt_float(name).unwrap_or(default);
    let finite = x.fill_where(x.is_nan(), value("nan", 0.0));
    let finite = finite.fill_where(x.equal(f64::INFINITY), value("posinf", highest));
    finite.fill_where(x.equal(f64::NEG_INFINITY), value("neginf", lowest))
}

/// The finite range of a float type.
pub(super) fn limits(dtype: DType) -> (f64, f64) {
    let highest = match dtype {
        DType::F64 | DType::C128 => f64::MAX,
        DType::F16 => 65504.0,
        DType::BF16 => 3.389_531_389_251_535_5e38,
        _ => f64::from(f32::MAX),
    };
    (-highest, highest)
}

fn sinc(x: Tensor<'_>) -> Tensor<'_> {
    let angle = x * std::f64::consts::PI;
    (angle.sin() / angle).fill_where(x.equal(0), 1)
}

/// `x * log`, where `log` is a logarithm of y: 0 where x is 0, NaN where y is.
fn x_times<'c>(x: Tensor<'c>, y: Tensor<'c>, log: Tensor<'c>) -> Tensor<'c> {
    let product = (x * log).fill_where(x.equal(0), 0);
    product.fill_where(y.is_nan(), f64::NAN)
}

fn entr(x: Tensor<'_>) -> Tensor<'_> {
    let value = (-x * x.log()).fill_where(x.equal(0), 0).fill_where(x.less(0), f64::NEG_INFINITY);
    x.is_nan().select(x, value)
}

pub(super) fn ndtr(x: Tensor<'_>) -> Tensor<'_> {
    ((x * std::f64::consts::FRAC_1_SQRT_2).erf() + 1.0) * 0.5
}
