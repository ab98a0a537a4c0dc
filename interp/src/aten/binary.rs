//! Pointwise operators of two operands.

use num_complex::Complex64;

use super::Arm::{self, Binary, Op};
use super::common::{Kind, Operand, add, analytic, divide_complex, elementwise, equal, less, maximum, minimum, mul, operand, opmath, quotient, result_type, sub};
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::{DType, Scalar};
use crate::math::gamma;
use crate::value::{Args, InterpError, Results, Value, fail, one};

use Kind::{Float, Same};

const LT: Arm = Binary(Kind::Bool, |a, b| Scalar::Bool(less(a, b)));
const GT: Arm = Binary(Kind::Bool, |a, b| Scalar::Bool(less(b, a)));
const LE: Arm = Binary(Kind::Bool, |a, b| Scalar::Bool(less(a, b) || equal(a, b)));
const GE: Arm = Binary(Kind::Bool, |a, b| Scalar::Bool(less(b, a) || equal(a, b)));
const EQ: Arm = Binary(Kind::Bool, |a, b| Scalar::Bool(equal(a, b)));
const NE: Arm = Binary(Kind::Bool, |a, b| Scalar::Bool(!equal(a, b)));
const AND: Arm = Binary(Same, |a, b| Scalar::Int(a.int() & b.int()));
const OR: Arm = Binary(Same, |a, b| Scalar::Int(a.int() | b.int()));
const XOR: Arm = Binary(Same, |a, b| Scalar::Int(a.int() ^ b.int()));
const SHL: Arm = Binary(Same, shift_left);
const SHR: Arm = Binary(Same, shift_right);
const MUL: Arm = Binary(Same, mul);
const DIV: Arm = Binary(Float, quotient);
const COPYSIGN: Arm = Binary(Float, |a, b| Scalar::Float(a.float().copysign(b.float())));
const XLOGY: Arm = Binary(Float, |a, b| Scalar::Float(if b.is_nan() { f64::NAN } else if a.float() == 0.0 { 0.0 } else { a.float() * b.float().ln() }));
const XLOG1PY: Arm = Binary(Float, |a, b| Scalar::Float(if b.is_nan() { f64::NAN } else if a.float() == 0.0 { 0.0 } else { a.float() * b.float().ln_1p() }));
const LOWER_GAMMA: Arm = Binary(Float, |a, b| Scalar::Float(gamma::incomplete(a.float(), b.float()).0));
const UPPER_GAMMA: Arm = Binary(Float, |a, b| Scalar::Float(gamma::incomplete(a.float(), b.float()).1));

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (__AND___SCALAR, AND), (__AND___TENSOR, AND),
    (__LSHIFT___SCALAR, SHL), (__LSHIFT___TENSOR, SHL),
    (__OR___SCALAR, OR), (__OR___TENSOR, OR),
    (__RSHIFT___SCALAR, SHR), (__RSHIFT___TENSOR, SHR),
    (__XOR___SCALAR, XOR), (__XOR___TENSOR, XOR),
    (_ADD_RELU_SCALAR, Op(add_relu)), (_ADD_RELU_TENSOR, Op(add_relu)),
    (ADD_SCALAR, Op(|a| scaled(a, add))),
    (ADD_TENSOR, Op(|a| scaled(a, add))),
    (ALLCLOSE, Op(allclose)),
    (ARCTAN2, Binary(Float, |a, b| Scalar::Float(a.float().atan2(b.float())))),
    (ATAN2, Binary(Float, |a, b| Scalar::Float(a.float().atan2(b.float())))),
    (BITWISE_AND_SCALAR, AND), (BITWISE_AND_SCALAR_TENSOR, AND), (BITWISE_AND_TENSOR, AND),
    (BITWISE_LEFT_SHIFT_SCALAR_TENSOR, SHL), (BITWISE_LEFT_SHIFT_TENSOR, SHL), (BITWISE_LEFT_SHIFT_TENSOR_SCALAR, SHL),
    (BITWISE_OR_SCALAR, OR), (BITWISE_OR_SCALAR_TENSOR, OR), (BITWISE_OR_TENSOR, OR),
    (BITWISE_RIGHT_SHIFT_SCALAR_TENSOR, SHR), (BITWISE_RIGHT_SHIFT_TENSOR, SHR), (BITWISE_RIGHT_SHIFT_TENSOR_SCALAR, SHR),
    (BITWISE_XOR_SCALAR, XOR), (BITWISE_XOR_SCALAR_TENSOR, XOR), (BITWISE_XOR_TENSOR, XOR),
    (COMPLEX, Op(|a| parts(a, "real", "imag", Complex64::new))),
    (COPYSIGN_SCALAR, COPYSIGN), (COPYSIGN_TENSOR, COPYSIGN),
    (DIV_SCALAR, DIV),
    (DIV_SCALAR_MODE, Op(div_mode)),
    (DIV_TENSOR, DIV),
    (DIV_TENSOR_MODE, Op(div_mode)),
    (DIVIDE_SCALAR, DIV), (DIVIDE_TENSOR, DIV), (DIVIDE_TENSOR_MODE, Op(div_mode)),
    (EQ_SCALAR, EQ), (EQ_TENSOR, EQ),
    (EQUAL, Op(same)),
    (FLOAT_POWER_SCALAR, Op(float_power)), (FLOAT_POWER_TENSOR_SCALAR, Op(float_power)), (FLOAT_POWER_TENSOR_TENSOR, Op(float_power)),
    (FLOOR_DIVIDE, Op(floor_divide)), (FLOOR_DIVIDE_SCALAR, Op(floor_divide)),
    (FMAX, Binary(Same, |a, b| if a.is_nan() { b } else if b.is_nan() { a } else { maximum(a, b) })),
    (FMIN, Binary(Same, |a, b| if a.is_nan() { b } else if b.is_nan() { a } else { minimum(a, b) })),
    (FMOD_SCALAR, Op(fmod)), (FMOD_TENSOR, Op(fmod)),
    (GCD, Binary(Same, |a, b| Scalar::Int(gcd(a.int(), b.int())))),
    (GE_SCALAR, GE), (GE_TENSOR, GE),
    (GREATER_SCALAR, GT), (GREATER_TENSOR, GT), (GREATER_EQUAL_SCALAR, GE), (GREATER_EQUAL_TENSOR, GE),
    (GT_SCALAR, GT), (GT_TENSOR, GT),
    (HEAVISIDE, Binary(Same, heaviside)),
    (HYPOT, Binary(Same, |a, b| Scalar::Float(a.float().hypot(b.float())))),
    (IGAMMA, LOWER_GAMMA),
    (IGAMMAC, UPPER_GAMMA),
    (ISCLOSE, Op(isclose)),
    (LCM, Binary(Same, |a, b| Scalar::Int(lcm(a.int(), b.int())))),
    (LDEXP_TENSOR, Binary(Float, |a, b| mul(a, analytic(b, f64::exp2, |z| (z * std::f64::consts::LN_2).exp())))),
    (LE_SCALAR, LE), (LE_TENSOR, LE),
    (LESS_SCALAR, LT), (LESS_TENSOR, LT), (LESS_EQUAL_SCALAR, LE), (LESS_EQUAL_TENSOR, LE),
    (LOGADDEXP, Binary(Float, log_add)),
    (LOGADDEXP2, Binary(Float, |a, b| Scalar::Float(logaddexp(a.float() * std::f64::consts::LN_2, b.float() * std::f64::consts::LN_2) / std::f64::consts::LN_2))),
    (LOGICAL_AND, Binary(Kind::Bool, |a, b| Scalar::Bool(a.truthy() && b.truthy()))),
    (LOGICAL_OR, Binary(Kind::Bool, |a, b| Scalar::Bool(a.truthy() || b.truthy()))),
    (LOGICAL_XOR, Binary(Kind::Bool, |a, b| Scalar::Bool(a.truthy() != b.truthy()))),
    (LT_SCALAR, LT), (LT_TENSOR, LT),
    (MAX_OTHER, Binary(Same, maximum)),
    (MAXIMUM, Binary(Same, maximum)),
    (MIN_OTHER, Binary(Same, minimum)),
    (MINIMUM, Binary(Same, minimum)),
    (MUL_SCALAR, MUL), (MUL_TENSOR, MUL),
    (MULTIPLY_SCALAR, MUL), (MULTIPLY_TENSOR, MUL),
    (NE_SCALAR, NE), (NE_TENSOR, NE),
    (NEXTAFTER, Op(nextafter)),
    (NOT_EQUAL_SCALAR, NE), (NOT_EQUAL_TENSOR, NE),
    (POLAR, Op(|a| parts(a, "abs", "angle", Complex64::from_polar))),
    (POW_SCALAR, Binary(Same, pow)), (POW_TENSOR_SCALAR, Binary(Same, pow)), (POW_TENSOR_TENSOR, Binary(Same, pow)),
    (REMAINDER_SCALAR, Op(remainder)), (REMAINDER_SCALAR_TENSOR, Op(remainder)), (REMAINDER_TENSOR, Op(remainder)),
    (RSUB_SCALAR, Op(rsub)), (RSUB_TENSOR, Op(rsub)),
    (SPECIAL_GAMMAINC, LOWER_GAMMA), (SPECIAL_GAMMAINCC, UPPER_GAMMA),
    (SPECIAL_XLOG1PY, XLOG1PY), (SPECIAL_XLOG1PY_OTHER_SCALAR, XLOG1PY), (SPECIAL_XLOG1PY_SELF_SCALAR, XLOG1PY),
    (SPECIAL_XLOGY, XLOGY),
    (SUB_SCALAR, Op(|a| scaled(a, sub))), (SUB_TENSOR, Op(|a| scaled(a, sub))),
    (SUBTRACT_SCALAR, Op(|a| scaled(a, sub))), (SUBTRACT_TENSOR, Op(|a| scaled(a, sub))),
    (TRUE_DIVIDE_SCALAR, DIV), (TRUE_DIVIDE_TENSOR, DIV),
    (XLOGY_SCALAR_OTHER, XLOGY), (XLOGY_SCALAR_SELF, XLOGY), (XLOGY_TENSOR, XLOGY),
];

/// `self op alpha * other`.
fn scaled(args: &Args, f: fn(Scalar, Scalar) -> Scalar) -> Results {
    let alpha = args.opt_scalar("alpha")?.unwrap_or(Scalar::Int(1));
    one(elementwise(Same, &[operand(args, "self")?, operand(args, "other")?], |v| Ok(f(v[0], mul(v[1], alpha))))?)
}

fn add_relu(args: &Args) -> Results {
    super::behind(RELU, scaled(args, add))
}

/// `other - alpha * self`.
fn rsub(args: &Args) -> Results {
    let alpha = args.opt_scalar("alpha")?.unwrap_or(Scalar::Int(1));
    one(elementwise(Same, &[operand(args, "self")?, operand(args, "other")?], |v| Ok(sub(v[1], mul(v[0], alpha))))?)
}

fn parts(args: &Args, first: &str, second: &str, f: fn(f64, f64) -> Complex64) -> Results {
    let (a, b) = (args.tensor(first)?, args.tensor(second)?);
    let compute = result_type(&[a.into(), b.into()]);
    one(super::common::evaluate(compute, compute.complex(), &[a.into(), b.into()], |v| Ok(Scalar::Complex(f(v[0].float(), v[1].float()))))?)
}

fn shift_left(a: Scalar, b: Scalar) -> Scalar {
    Scalar::Int(if (0..64).contains(&b.int()) { a.int().wrapping_shl(b.int() as u32) } else { 0 })
}

fn shift_right(a: Scalar, b: Scalar) -> Scalar {
    Scalar::Int(if (0..64).contains(&b.int()) { a.int() >> b.int() } else if a.int() < 0 { -1 } else { 0 })
}

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn lcm(a: i128, b: i128) -> i128 {
    let g = gcd(a, b);
    if g == 0 { 0 } else { (a / g).wrapping_mul(b).abs() }
}

fn heaviside(a: Scalar, b: Scalar) -> Scalar {
    match a {
        v if v.float() == 0.0 => b,
        v => Scalar::Int((v.float() > 0.0) as i128),
    }
}

fn log_add(a: Scalar, b: Scalar) -> Scalar {
    if !matches!((a, b), (Scalar::Complex(_), _) | (_, Scalar::Complex(_))) {
        return Scalar::Float(logaddexp(a.float(), b.float()));
    }
    let (a, b) = if a.complex().re < b.complex().re { (b.complex(), a.complex()) } else { (a.complex(), b.complex()) };
    Scalar::Complex(if a.re.is_infinite() && a == b { a } else { a + ((b - a).exp() + 1.0).ln() })
}

fn logaddexp(a: f64, b: f64) -> f64 {
    if a.is_infinite() && a == b {
        return a;
    }
    let m = a.max(b);
    if a.is_nan() || b.is_nan() { f64::NAN } else { m + (-(a - b).abs()).exp().ln_1p() }
}

/// Power; integers wrap, and a negative integer exponent leaves only the powers of 1 and -1.
pub fn pow(a: Scalar, b: Scalar) -> Scalar {
    match (a, b) {
        (Scalar::Complex(_), _) | (_, Scalar::Complex(_)) => Scalar::Complex(complex_pow(a.complex(), b.complex())),
        (Scalar::Float(_), _) | (_, Scalar::Float(_)) => Scalar::Float(libm::pow(a.float(), b.float())),
        _ => Scalar::Int(int_pow(a.int(), b.int())),
    }
}

fn complex_pow(a: Complex64, b: Complex64) -> Complex64 {
    if b == Complex64::new(0.0, 0.0) {
        return Complex64::new(1.0, 0.0);
    }
    if a == Complex64::new(0.0, 0.0) {
        return if b.re > 0.0 { a } else { Complex64::new(f64::NAN, f64::NAN) };
    }
    if b.im == 0.0 && b.re == b.re.trunc() && b.re.abs() <= 64.0 {
        let p = a.powu(b.re.abs() as u32);
        return if b.re < 0.0 { divide_complex(Complex64::new(1.0, 0.0), p) } else { p };
    }
    (b * a.ln()).exp()
}

fn int_pow(base: i128, exponent: i128) -> i128 {
    if exponent < 0 {
        return match base {
            1 => 1,
            -1 if exponent % 2 == 0 => 1,
            -1 => -1,
            _ => 0,
        };
    }
    let (mut result, mut base, mut left) = (1i128, base, exponent);
    while left > 0 {
        if left & 1 == 1 {
            result = result.wrapping_mul(base) as i64 as i128;
        }
        base = base.wrapping_mul(base) as i64 as i128;
        left >>= 1;
    }
    result
}

/// A power computed in double precision.
fn float_power(args: &Args) -> Results {
    let (a, b) = (operand(args, "self")?, operand(args, "exponent")?);
    let dtype = if result_type(&[a, b]).is_complex() { DType::C128 } else { DType::F64 };
    one(super::common::evaluate(dtype, dtype, &[a, b], |v| Ok(pow(v[0], v[1])))?)
}

fn nonzero(b: Scalar) -> Result<(), InterpError> {
    if matches!(b, Scalar::Float(_)) || b.truthy() { Ok(()) } else { Err(fail("integer division by zero")) }
}

/// The largest float not above the quotient, from the exact remainder.
fn floor_float(a: f64, b: f64) -> f64 {
    if b == 0.0 {
        return a / b;
    }
    let rest = a % b;
    let mut q = (a - rest) / b;
    if rest != 0.0 && (b < 0.0) != (rest < 0.0) {
        q -= 1.0;
    }
    if q == 0.0 {
        return 0f64.copysign(a / b);
    }
    let down = q.floor();
    if q - down > 0.5 { down + 1.0 } else { down }
}

fn floor_quotient(a: Scalar, b: Scalar) -> Result<Scalar, InterpError> {
    nonzero(b)?;
    Ok(match (a, b) {
        (Scalar::Float(a), _) => Scalar::Float(floor_float(a, b.float())),
        _ => Scalar::Int(a.int().div_euclid(b.int()) - ((b.int() < 0 && a.int().rem_euclid(b.int()) != 0) as i128)),
    })
}

fn floor_divide(args: &Args) -> Results {
    one(elementwise(Same, &[operand(args, "self")?, operand(args, "other")?], |v| floor_quotient(v[0], v[1]))?)
}

fn div_mode(args: &Args) -> Results {
    let operands: [Operand; 2] = [operand(args, "self")?, operand(args, "other")?];
    let dtype = opmath(result_type(&operands));
    match args.opt_str("rounding_mode")? {
        None => one(elementwise(Float, &operands, |v| Ok(quotient(v[0], v[1])))?),
        Some("floor") => one(elementwise(Same, &operands, |v| floor_quotient(v[0], v[1]))?),
        Some("trunc") => one(elementwise(Same, &operands, |v| {
            nonzero(v[1])?;
            Ok(match v[0] {
                Scalar::Float(a) => Scalar::Float(dtype.round(a / v[1].float()).trunc()),
                a => Scalar::Int(a.int() / v[1].int()),
            })
        })?),
        Some(other) => Err(fail(format!("rounding_mode `{other}` is not known"))),
    }
}

fn fmod(args: &Args) -> Results {
    one(elementwise(Same, &[operand(args, "self")?, operand(args, "other")?], |v| {
        nonzero(v[1])?;
        Ok(match v[0] {
            Scalar::Float(a) => Scalar::Float(a % v[1].float()),
            a => Scalar::Int(a.int() % v[1].int()),
        })
    })?)
}

/// The remainder with the divisor's sign.
fn remainder(args: &Args) -> Results {
    one(elementwise(Same, &[operand(args, "self")?, operand(args, "other")?], |v| {
        nonzero(v[1])?;
        Ok(match v[0] {
            Scalar::Float(a) => {
                let b = v[1].float();
                let r = a % b;
                Scalar::Float(if r != 0.0 && (r < 0.0) != (b < 0.0) { r + b } else { r })
            }
            a => {
                let (a, b) = (a.int(), v[1].int());
                let r = a % b;
                Scalar::Int(if r != 0 && (r < 0) != (b < 0) { r + b } else { r })
            }
        })
    })?)
}

fn isclose(args: &Args) -> Results {
    let (rtol, atol, nan) = (args.float("rtol")?, args.float("atol")?, args.flag("equal_nan")?);
    one(elementwise(Kind::Bool, &[operand(args, "self")?, operand(args, "other")?], |v| {
        let (a, b) = (v[0].complex(), v[1].complex());
        let close = (a - b).norm() <= atol + rtol * b.norm() && a.is_finite() && b.is_finite();
        Ok(Scalar::Bool(equal(v[0], v[1]) || close || (nan && v[0].is_nan() && v[1].is_nan())))
    })?)
}

fn allclose(args: &Args) -> Results {
    every(isclose(args)?)
}

/// Whether two tensors have the same sizes and elements.
fn same(args: &Args) -> Results {
    let (a, b) = (args.tensor("self")?, args.tensor("other")?);
    Ok(vec![Value::Scalar(Scalar::Bool(a.shape() == b.shape() && a.scalars().zip(b.scalars()).all(|(a, b)| equal(a, b))))])
}

/// Whether all elements of a result are true.
fn every(results: Vec<Value>) -> Results {
    let all = |value: &Value| matches!(value, Value::Tensor(tensor) if tensor.scalars().all(Scalar::truthy));
    Ok(vec![Value::Scalar(Scalar::Bool(results.iter().all(all)))])
}

/// The neighbour of `a` towards `b` among the values of an element type.
pub fn next_after(dtype: DType, a: f64, b: f64) -> Scalar {
    if a.is_nan() || b.is_nan() {
        return Scalar::Float(f64::NAN);
    }
    if a == b {
        return Scalar::Float(b);
    }
    let up = b > a;
    Scalar::Float(match dtype {
        DType::F64 => libm::nextafter(a, b),
        DType::F16 => half::f16::from_bits(step(half::f16::from_f64(a).to_bits() as u64, a, up, 15) as u16).to_f64(),
        DType::Bf16 => half::bf16::from_bits(step(half::bf16::from_f64(a).to_bits() as u64, a, up, 15) as u16).to_f64(),
        _ => f32::from_bits(step((a as f32).to_bits() as u64, a, up, 31) as u32) as f64,
    })
}

fn nextafter(args: &Args) -> Results {
    let (a, b) = (args.tensor("self")?, args.tensor("other")?);
    let dtype = result_type(&[a.into(), b.into()]);
    one(elementwise(Same, &[a.into(), b.into()], |v| Ok(next_after(dtype, v[0].float(), v[1].float())))?)
}

fn step(bits: u64, value: f64, up: bool, sign: u32) -> u64 {
    match value {
        0.0 => 1 | if up { 0 } else { 1 << sign },
        v if (v > 0.0) == up => bits + 1,
        _ => bits - 1,
    }
}
