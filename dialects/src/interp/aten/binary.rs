//! Pointwise operators of two operands.

use num_complex::Complex64;

use super::Arm::{self, Binary, Op};
use super::common::{Kind, Operand, add, analytic, divide_complex, elementwise, equal, less, maximum, minimum, mul, operand, opmath, quotient, result_type, sub};
use crate::interp::dtype::{DType, Scalar};
use crate::interp::math::gamma;
use crate::interp::value::{Args, InterpError, Results, fail, one};

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
const IGAMMA: Arm = Binary(Float, |a, b| Scalar::Float(gamma::incomplete(a.float(), b.float()).0));
const IGAMMAC: Arm = Binary(Float, |a, b| Scalar::Float(gamma::incomplete(a.float(), b.float()).1));

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(&str, Arm)] = &[
    ("aten.__and__.Scalar", AND), ("aten.__and__.Tensor", AND),
    ("aten.__lshift__.Scalar", SHL), ("aten.__lshift__.Tensor", SHL),
    ("aten.__or__.Scalar", OR), ("aten.__or__.Tensor", OR),
    ("aten.__rshift__.Scalar", SHR), ("aten.__rshift__.Tensor", SHR),
    ("aten.__xor__.Scalar", XOR), ("aten.__xor__.Tensor", XOR),
    ("aten._add_relu.Scalar", Op(add_relu)), ("aten._add_relu.Tensor", Op(add_relu)),
    ("aten.add.Scalar", Op(|a| scaled(a, add))),
    ("aten.add.Tensor", Op(|a| scaled(a, add))),
    ("aten.arctan2", Binary(Float, |a, b| Scalar::Float(a.float().atan2(b.float())))),
    ("aten.atan2", Binary(Float, |a, b| Scalar::Float(a.float().atan2(b.float())))),
    ("aten.bitwise_and.Scalar", AND), ("aten.bitwise_and.Scalar_Tensor", AND), ("aten.bitwise_and.Tensor", AND),
    ("aten.bitwise_left_shift.Scalar_Tensor", SHL), ("aten.bitwise_left_shift.Tensor", SHL), ("aten.bitwise_left_shift.Tensor_Scalar", SHL),
    ("aten.bitwise_or.Scalar", OR), ("aten.bitwise_or.Scalar_Tensor", OR), ("aten.bitwise_or.Tensor", OR),
    ("aten.bitwise_right_shift.Scalar_Tensor", SHR), ("aten.bitwise_right_shift.Tensor", SHR), ("aten.bitwise_right_shift.Tensor_Scalar", SHR),
    ("aten.bitwise_xor.Scalar", XOR), ("aten.bitwise_xor.Scalar_Tensor", XOR), ("aten.bitwise_xor.Tensor", XOR),
    ("aten.complex", Op(|a| parts(a, "real", "imag", Complex64::new))),
    ("aten.copysign.Scalar", COPYSIGN), ("aten.copysign.Tensor", COPYSIGN),
    ("aten.div.Scalar", DIV),
    ("aten.div.Scalar_mode", Op(div_mode)),
    ("aten.div.Tensor", DIV),
    ("aten.div.Tensor_mode", Op(div_mode)),
    ("aten.divide.Scalar", DIV), ("aten.divide.Tensor", DIV), ("aten.divide.Tensor_mode", Op(div_mode)),
    ("aten.eq.Scalar", EQ), ("aten.eq.Tensor", EQ),
    ("aten.float_power.Scalar", Op(float_power)), ("aten.float_power.Tensor_Scalar", Op(float_power)), ("aten.float_power.Tensor_Tensor", Op(float_power)),
    ("aten.floor_divide", Op(floor_divide)), ("aten.floor_divide.Scalar", Op(floor_divide)),
    ("aten.fmax", Binary(Same, |a, b| if a.is_nan() { b } else if b.is_nan() { a } else { maximum(a, b) })),
    ("aten.fmin", Binary(Same, |a, b| if a.is_nan() { b } else if b.is_nan() { a } else { minimum(a, b) })),
    ("aten.fmod.Scalar", Op(fmod)), ("aten.fmod.Tensor", Op(fmod)),
    ("aten.gcd", Binary(Same, |a, b| Scalar::Int(gcd(a.int(), b.int())))),
    ("aten.ge.Scalar", GE), ("aten.ge.Tensor", GE),
    ("aten.greater.Scalar", GT), ("aten.greater.Tensor", GT), ("aten.greater_equal.Scalar", GE), ("aten.greater_equal.Tensor", GE),
    ("aten.gt.Scalar", GT), ("aten.gt.Tensor", GT),
    ("aten.heaviside", Binary(Same, heaviside)),
    ("aten.hypot", Binary(Same, |a, b| Scalar::Float(a.float().hypot(b.float())))),
    ("aten.igamma", IGAMMA),
    ("aten.igammac", IGAMMAC),
    ("aten.isclose", Op(isclose)),
    ("aten.lcm", Binary(Same, |a, b| Scalar::Int(lcm(a.int(), b.int())))),
    ("aten.ldexp.Tensor", Binary(Float, |a, b| mul(a, analytic(b, f64::exp2, |z| (z * std::f64::consts::LN_2).exp())))),
    ("aten.le.Scalar", LE), ("aten.le.Tensor", LE),
    ("aten.less.Scalar", LT), ("aten.less.Tensor", LT), ("aten.less_equal.Scalar", LE), ("aten.less_equal.Tensor", LE),
    ("aten.logaddexp", Binary(Float, log_add)),
    ("aten.logaddexp2", Binary(Float, |a, b| Scalar::Float(logaddexp(a.float() * std::f64::consts::LN_2, b.float() * std::f64::consts::LN_2) / std::f64::consts::LN_2))),
    ("aten.logical_and", Binary(Kind::Bool, |a, b| Scalar::Bool(a.truthy() && b.truthy()))),
    ("aten.logical_or", Binary(Kind::Bool, |a, b| Scalar::Bool(a.truthy() || b.truthy()))),
    ("aten.logical_xor", Binary(Kind::Bool, |a, b| Scalar::Bool(a.truthy() != b.truthy()))),
    ("aten.lt.Scalar", LT), ("aten.lt.Tensor", LT),
    ("aten.max.other", Binary(Same, maximum)),
    ("aten.maximum", Binary(Same, maximum)),
    ("aten.min.other", Binary(Same, minimum)),
    ("aten.minimum", Binary(Same, minimum)),
    ("aten.mul.Scalar", MUL), ("aten.mul.Tensor", MUL),
    ("aten.multiply.Scalar", MUL), ("aten.multiply.Tensor", MUL),
    ("aten.ne.Scalar", NE), ("aten.ne.Tensor", NE),
    ("aten.nextafter", Op(nextafter)),
    ("aten.not_equal.Scalar", NE), ("aten.not_equal.Tensor", NE),
    ("aten.polar", Op(|a| parts(a, "abs", "angle", Complex64::from_polar))),
    ("aten.pow.Scalar", Binary(Same, pow)), ("aten.pow.Tensor_Scalar", Binary(Same, pow)), ("aten.pow.Tensor_Tensor", Binary(Same, pow)),
    ("aten.remainder.Scalar", Op(remainder)), ("aten.remainder.Scalar_Tensor", Op(remainder)), ("aten.remainder.Tensor", Op(remainder)),
    ("aten.rsub.Scalar", Op(rsub)), ("aten.rsub.Tensor", Op(rsub)),
    ("aten.special_gammainc", IGAMMA), ("aten.special_gammaincc", IGAMMAC),
    ("aten.special_xlog1py", XLOG1PY), ("aten.special_xlog1py.other_scalar", XLOG1PY), ("aten.special_xlog1py.self_scalar", XLOG1PY),
    ("aten.special_xlogy", XLOGY),
    ("aten.sub.Scalar", Op(|a| scaled(a, sub))), ("aten.sub.Tensor", Op(|a| scaled(a, sub))),
    ("aten.subtract.Scalar", Op(|a| scaled(a, sub))), ("aten.subtract.Tensor", Op(|a| scaled(a, sub))),
    ("aten.true_divide.Scalar", DIV), ("aten.true_divide.Tensor", DIV),
    ("aten.xlogy.Scalar_Other", XLOGY), ("aten.xlogy.Scalar_Self", XLOGY), ("aten.xlogy.Tensor", XLOGY),
];

/// `self op alpha * other`.
fn scaled(args: &Args, f: fn(Scalar, Scalar) -> Scalar) -> Results {
    let alpha = args.opt_scalar("alpha")?.unwrap_or(Scalar::Int(1));
    one(elementwise(Same, &[operand(args, "self")?, operand(args, "other")?], |v| Ok(f(v[0], mul(v[1], alpha))))?)
}

fn add_relu(args: &Args) -> Results {
    super::behind("aten.relu", scaled(args, add))
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
