//! Arithmetic, rounding, exponentials, trigonometry: operators on single elements.

use strata_dialects::aten::dtype::{DType, Numeric};

use super::args::Args;
use super::builder::Scalar;
use super::complex;
use super::rule::Precision::{Compute, Exact, Float};
use super::rule::{Rule, one, unary};
use super::tensor::Tensor;

pub(super) const RULES: &[Rule] = &[
    one("aten._add_relu.Scalar", Exact, |a| add(a).relu()),
    one("aten._add_relu.Tensor", Exact, |a| add(a).relu()),
    unary("aten.abs", Exact, |x| x.abs()),
    unary("aten.absolute", Exact, |x| x.abs()),
    unary("aten.acos", Float, complex::acos),
    unary("aten.acosh", Float, complex::acosh),
    one("aten.add.Scalar", Exact, add),
    one("aten.add.Tensor", Exact, add),
    one("aten.addcdiv", Exact, addcdiv),
    one("aten.addcmul", Exact, addcmul),
    unary("aten.asin", Float, complex::asin),
    unary("aten.asinh", Float, complex::asinh),
    unary("aten.atan", Float, complex::atan),
    one("aten.atan2", Float, |a| pair(a, Tensor::atan2)),
    unary("aten.atanh", Float, complex::atanh),
    unary("aten.ceil", Exact, ceil),
    one("aten.clamp", Exact, clamp),
    one("aten.clamp.Tensor", Exact, clamp),
    one("aten.clamp_max", Exact, clamp),
    one("aten.clamp_max.Tensor", Exact, clamp),
    one("aten.clamp_min", Exact, clamp),
    one("aten.clamp_min.Tensor", Exact, clamp),
    one("aten.clip", Exact, clamp),
    one("aten.clip.Tensor", Exact, clamp),
    one("aten.copysign.Scalar", Float, |a| pair(a, copysign)),
    one("aten.copysign.Tensor", Float, |a| pair(a, copysign)),
    unary("aten.cos", Float, |x| x.cos()),
    unary("aten.cosh", Float, complex::cosh),
    unary("aten.deg2rad", Compute, |x| x * (std::f64::consts::PI / 180.0)),
    unary("aten.digamma", Compute, |x| x.digamma()),
    one("aten.div.Scalar", Float, |a| pair(a, |x, y| x / y)),
    one("aten.div.Scalar_mode", Exact, div_mode),
    one("aten.div.Tensor", Float, |a| pair(a, |x, y| x / y)),
    one("aten.div.Tensor_mode", Exact, div_mode),
    one("aten.divide.Scalar", Float, |a| pair(a, |x, y| x / y)),
    one("aten.divide.Tensor", Float, |a| pair(a, |x, y| x / y)),
    one("aten.divide.Tensor_mode", Exact, div_mode),
    unary("aten.erf", Float, |x| x.erf()),
    unary("aten.erfc", Float, |x| x.erfc()),
    unary("aten.erfinv", Float, |x| x.erfinv()),
    unary("aten.exp", Float, |x| x.exp()),
    unary("aten.exp2", Float, complex::exp2),
    unary("aten.expm1", Float, |x| x.expm1()),
    one("aten.float_power.Scalar", Exact, float_power),
    one("aten.float_power.Tensor_Scalar", Exact, float_power),
    one("aten.float_power.Tensor_Tensor", Exact, float_power),
    unary("aten.floor", Exact, floor),
    one("aten.floor_divide", Exact, |a| by_divisor(a, floor_div)),
    one("aten.floor_divide.Scalar", Exact, |a| by_divisor(a, floor_div)),
    one("aten.fmax", Exact, |a| pair(a, fmax)),
    one("aten.fmin", Exact, |a| pair(a, fmin)),
    one("aten.fmod.Scalar", Exact, |a| by_divisor(a, |x, y| x % y)),
    one("aten.fmod.Tensor", Exact, |a| by_divisor(a, |x, y| x % y)),
    unary("aten.frac", Exact, |x| x - x.trunc()),
    one("aten.heaviside", Exact, heaviside),
    one("aten.hypot", Float, |a| pair(a, hypot)),
    one("aten.ldexp.Tensor", Compute, |a| a.tensor("self") * complex::exp2(a.tensor("other"))),
    one("aten.lerp.Scalar", Compute, lerp),
    one("aten.lerp.Tensor", Compute, lerp),
    unary("aten.lgamma", Compute, |x| x.lgamma()),
    unary("aten.log", Float, |x| x.log()),
    unary("aten.log10", Float, complex::log10),
    unary("aten.log1p", Float, |x| x.log1p()),
    unary("aten.log2", Float, complex::log2),
    one("aten.logaddexp", Compute, |a| pair(a, log_add_exp)),
    one("aten.logaddexp2", Compute, |a| pair(a, |x, y| log_add(x, y, Tensor::exp2, |t| t.log1p() * std::f64::consts::LOG2_E))),
    one("aten.logit", Compute, logit),
    one("aten.max.other", Exact, |a| pair(a, Tensor::maximum)),
    one("aten.maximum", Exact, |a| pair(a, Tensor::maximum)),
    one("aten.min.other", Exact, |a| pair(a, Tensor::minimum)),
    one("aten.minimum", Exact, |a| pair(a, Tensor::minimum)),
    one("aten.mul.Scalar", Exact, |a| pair(a, mul)),
    one("aten.mul.Tensor", Exact, |a| pair(a, mul)),
    one("aten.multiply.Scalar", Exact, |a| pair(a, mul)),
    one("aten.multiply.Tensor", Exact, |a| pair(a, mul)),
    one("aten.nan_to_num", Exact, nan_to_num),
    unary("aten.neg", Exact, |x| -x),
    unary("aten.negative", Exact, |x| -x),
    one("aten.nextafter", Exact, |a| pair(a, Tensor::nextafter)),
    unary("aten.positive", Exact, |x| x),
    one("aten.pow.Scalar", Exact, pow),
    one("aten.pow.Tensor_Scalar", Exact, pow),
    one("aten.pow.Tensor_Tensor", Exact, pow),
    unary("aten.rad2deg", Compute, |x| x * (180.0 / std::f64::consts::PI)),
    unary("aten.reciprocal", Float, |x| x.reciprocal()),
    one("aten.remainder.Scalar", Exact, |a| by_divisor(a, remainder)),
    one("aten.remainder.Scalar_Tensor", Exact, |a| by_divisor(a, remainder)),
    one("aten.remainder.Tensor", Exact, |a| by_divisor(a, remainder)),
    unary("aten.round", Exact, round),
    one("aten.round.decimals", Compute, round_decimals),
    unary("aten.rsqrt", Compute, |x| x.rsqrt()),
    one("aten.rsub.Scalar", Exact, rsub),
    one("aten.rsub.Tensor", Exact, rsub),
    unary("aten.sgn", Exact, sign),
    unary("aten.sign", Exact, sign),
    unary("aten.sin", Float, |x| x.sin()),
    unary("aten.sinc", Compute, sinc),
    unary("aten.sinh", Float, complex::sinh),
    unary("aten.special_entr", Compute, entr),
    unary("aten.special_expit", Compute, |x| x.sigmoid()),
    unary("aten.special_ndtr", Compute, ndtr),
    unary("aten.special_ndtri", Compute, |x| (x * 2.0 - 1.0).erfinv() * std::f64::consts::SQRT_2),
    one("aten.special_xlog1py", Compute, |a| pair(a, |x, y| x_times(x, y, y.log1p()))),
    one("aten.special_xlog1py.other_scalar", Compute, |a| pair(a, |x, y| x_times(x, y, y.log1p()))),
    one("aten.special_xlog1py.self_scalar", Compute, |a| pair(a, |x, y| x_times(x, y, y.log1p()))),
    unary("aten.sqrt", Float, |x| x.sqrt()),
    one("aten.square", Exact, |a| mul(a.as_type("self", a.result_dtype(0)), a.as_type("self", a.result_dtype(0)))),
    one("aten.sub.Scalar", Exact, sub),
    one("aten.sub.Tensor", Exact, sub),
    one("aten.subtract.Scalar", Exact, sub),
    one("aten.subtract.Tensor", Exact, sub),
    unary("aten.tan", Float, |x| x.tan()),
    unary("aten.tanh", Float, |x| x.tanh()),
    one("aten.true_divide.Scalar", Float, |a| pair(a, |x, y| x / y)),
    one("aten.true_divide.Tensor", Float, |a| pair(a, |x, y| x / y)),
    unary("aten.trunc", Exact, trunc),
    one("aten.xlogy.Scalar_Other", Compute, |a| pair(a, |x, y| x_times(x, y, y.log()))),
    one("aten.xlogy.Scalar_Self", Compute, |a| pair(a, |x, y| x_times(x, y, y.log()))),
    one("aten.xlogy.Tensor", Compute, |a| pair(a, |x, y| x_times(x, y, y.log()))),
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
