//! Upstream `arith`, `math`, `complex` and `tensor` ops, on scalars and element by element on tensors.
//!
//! Integers are held with their signed value; operators that read them without a sign say so.

use num_complex::Complex64;
use strata_core::ir::Op;
use strata_core::upstream::{arith, complex, math, tensor};

use super::aten::binary;
use super::aten::common::{add, maximum, minimum, mul, sub};
use super::dtype::{DType, Scalar};
use super::math::polynomial::{self, Family};
use super::math::{airy, bessel, gamma, quantile};
use super::run::{Machine, dtype_of, single, unsupported};
use super::tensor::{Tensor, numel};
use super::value::{InterpError, Results, Value, fail};

/// Runs an op.
pub(super) fn run<'c>(m: &mut Machine<'c>, op: Op<'c>) -> Results {
    match op.name() {
        arith::Constant::NAME => return single(constant(op)?),
        tensor::Cast::NAME => return single(m.get(op.operand(0))?),
        tensor::Dim::NAME => {
            let (t, d) = (m.tensor(op.operand(0))?, m.int(op.operand(1))?);
            let size = usize::try_from(d).ok().and_then(|d| t.shape().get(d).copied()).ok_or_else(|| fail("no such dimension"))?;
            return single(Value::int(size as i64));
        }
        tensor::Extract::NAME => {
            let t = m.tensor(op.operand(0))?;
            let at: Vec<i64> = op.operands()[1..].iter().map(|&v| m.int(v)).collect::<Result<_, _>>()?;
            return single(Value::Scalar(element(&t, &at)?));
        }
        tensor::FromElements::NAME => {
            let ty = op.result(0).ty();
            let shape: Vec<usize> = ty.shape().into_iter().map(|s| s.max(0) as usize).collect();
            let values: Vec<Scalar> = op.operands().into_iter().map(|v| m.scalar(v)).collect::<Result<_, _>>()?;
            return single(Value::Tensor(Tensor::from_scalars(dtype_of(ty)?, &shape, values)?));
        }
        _ => {}
    }
    let operands: Vec<Value> = op.operands().into_iter().map(|v| m.get(v)).collect::<Result<_, _>>()?;
    let result = op.results().first().copied().ok_or_else(|| unsupported(op))?;
    let dtype = dtype_of(result.ty())?;
    let shape = operands.iter().find_map(|v| if let Value::Tensor(t) = v { Some(t.shape().to_vec()) } else { None });
    let at = |k: usize| -> Result<Vec<Scalar>, InterpError> {
        operands
            .iter()
            .map(|v| match v {
                Value::Scalar(s) => Ok(*s),
                Value::Tensor(t) if k < t.len() => Ok(t.at(k)),
                other => Err(fail(format!("{} where a number was expected", other.kind()))),
            })
            .collect()
    };
    let evaluate = decode(op)?;
    match shape {
        None => single(Value::Scalar(evaluate(&at(0)?)?)),
        Some(shape) => {
            let values: Vec<Scalar> = (0..numel(&shape)?).map(|k| evaluate(&at(k)?)).collect::<Result<_, _>>()?;
            single(Value::Tensor(Tensor::from_scalars(dtype, &shape, values)?))
        }
    }
}

/// The element of a tensor at computed indices.
pub(super) fn element(t: &Tensor, at: &[i64]) -> Result<Scalar, InterpError> {
    let inside = at.len() == t.rank() && at.iter().zip(t.shape()).all(|(&i, &s)| i >= 0 && (i as usize) < s);
    if !inside {
        return Err(fail(format!("index out of bounds: {at:?} in a tensor of shape {:?}", t.shape())));
    }
    Ok(t.get(&at.iter().map(|&i| i as usize).collect::<Vec<_>>()))
}

/// The value of a constant's attribute.
pub(super) fn constant(op: Op<'_>) -> Result<Value, InterpError> {
    let attr = op.attr("value").ok_or_else(|| fail("a constant without a value"))?;
    if let Some((bytes, splat)) = attr.as_dense() {
        let ty = attr.ty();
        let dtype = dtype_of(ty)?;
        let shape: Vec<usize> = ty.shape().into_iter().map(|s| s.max(0) as usize).collect();
        return Ok(Value::Tensor(if splat {
            Tensor::full(dtype, &shape, Tensor::from_bytes(dtype, &[1], &bytes)?.at(0))?
        } else {
            Tensor::from_bytes(dtype, &shape, &bytes)?
        }));
    }
    let dtype = dtype_of(op.result(0).ty())?;
    let value = match (attr.as_int(), attr.as_float(), attr.as_array()) {
        (Some(v), _, _) => Scalar::Int(v as i128),
        (_, Some(v), _) => Scalar::Float(v),
        (_, _, Some(parts)) if parts.len() == 2 => {
            Scalar::Complex(Complex64::new(parts[0].as_float().unwrap_or(0.0), parts[1].as_float().unwrap_or(0.0)))
        }
        _ => return Err(fail("a constant of a kind that the interpreter does not know")),
    };
    Ok(Value::Scalar(dtype.cast(value)))
}

/// A scalar op on the elements of its operands.
pub(super) type Evaluate = Box<dyn Fn(&[Scalar]) -> Result<Scalar, InterpError>>;

/// Reads a scalar op once, to be evaluated on many elements.
pub(super) fn decode(op: Op<'_>) -> Result<Evaluate, InterpError> {
    let name = op.name().to_string();
    let result = op.results().first().copied().ok_or_else(|| unsupported(op))?;
    let dtype = dtype_of(result.ty())?;
    let arity = op.num_operands();
    let missing = move |v: &[Scalar]| if v.len() < arity { Err(fail("too few operands")) } else { Ok(()) };
    if arity == 0 {
        return Err(unsupported(op));
    }
    let operand = op.operand(0).ty();
    let bits = match dtype_of(operand)? {
        DType::Bool => 1,
        d => d.size() as u32 * 8,
    };
    if let Some(f) = unary_float(&name) {
        return Ok(Box::new(move |v| missing(v).map(|()| dtype.cast(Scalar::Float(f(v[0].float()))))));
    }
    if arity == 1 && conversion(&name, Scalar::Int(0), bits).is_some() {
        return Ok(Box::new(move |v| {
            missing(v).and_then(|()| conversion(&name, v[0], bits).map(|v| finish(dtype, v)).ok_or_else(|| fail("no such conversion")))
        }));
    }
    match (name.as_str(), arity) {
        (arith::Select::NAME, 3) => return Ok(Box::new(move |v| missing(v).map(|()| if v[0].truthy() { v[1] } else { v[2] }))),
        (math::Fma::NAME, 3) => {
            return Ok(Box::new(move |v| missing(v).map(|()| dtype.cast(Scalar::Float(v[0].float().mul_add(v[1].float(), v[2].float()))))));
        }
        (arith::CmpI::NAME | arith::CmpF::NAME, 2) => {
            let predicate = op.int("predicate").ok_or_else(|| fail("no predicate"))?;
            if name == arith::CmpI::NAME {
                return Ok(Box::new(move |v| {
                    missing(v).and_then(|()| compare_int(predicate, v[0].int(), v[1].int(), bits).map(Scalar::Bool))
                }));
            }
            return Ok(Box::new(move |v| missing(v).and_then(|()| compare_float(predicate, v[0].float(), v[1].float()).map(Scalar::Bool))));
        }
        (_, 2) => {}
        _ => return Err(unsupported(op)),
    }
    let zero = Scalar::Float(0.0);
    if binary_float(&name, zero, zero).is_some() {
        return Ok(Box::new(move |v| {
            missing(v).and_then(|()| binary_float(&name, v[0], v[1]).map(|v| dtype.cast(v)).ok_or_else(|| fail("no such operator")))
        }));
    }
    if binary_int(&name, 1, 1, bits).is_none() {
        return Err(unsupported(op));
    }
    Ok(Box::new(move |v| {
        missing(v)?;
        let result = binary_int(&name, v[0].int(), v[1].int(), bits).flatten();
        result.map(|v| finish(dtype, Scalar::Int(v))).ok_or_else(|| fail("integer division by zero"))
    }))
}

/// Casts by wrapping: the result of i1 arithmetic is its lowest bit.
fn finish(dtype: DType, v: Scalar) -> Scalar {
    match (dtype, v) {
        (DType::Bool, Scalar::Int(v)) => Scalar::Bool(v & 1 == 1),
        _ => dtype.cast(v),
    }
}

fn unsigned(v: i128, bits: u32) -> i128 {
    v & ((1i128 << bits) - 1)
}

fn signed(v: i128, bits: u32) -> i128 {
    let v = unsigned(v, bits);
    if bits > 1 && v >> (bits - 1) == 1 { v - (1i128 << bits) } else { v }
}

fn unary_float(name: &str) -> Option<fn(f64) -> f64> {
    Some(match name {
        arith::NegF::NAME => |x| -x,
        math::AbsF::NAME => f64::abs,
        math::Acos::NAME => f64::acos,
        math::Acosh::NAME => f64::acosh,
        math::Asin::NAME => f64::asin,
        math::Asinh::NAME => libm::asinh,
        math::Atan::NAME => f64::atan,
        math::Atanh::NAME => f64::atanh,
        math::Cbrt::NAME => f64::cbrt,
        math::Ceil::NAME => f64::ceil,
        math::Cos::NAME => f64::cos,
        math::Cosh::NAME => f64::cosh,
        math::Erf::NAME => libm::erf,
        math::Erfc::NAME => libm::erfc,
        math::Exp::NAME => f64::exp,
        math::Exp2::NAME => f64::exp2,
        math::ExpM1::NAME => f64::exp_m1,
        math::Floor::NAME => f64::floor,
        math::Log::NAME => f64::ln,
        math::Log10::NAME => f64::log10,
        math::Log1p::NAME => f64::ln_1p,
        math::Log2::NAME => f64::log2,
        math::Round::NAME => f64::round,
        math::RoundEven::NAME => f64::round_ties_even,
        math::Rsqrt::NAME => |x| 1.0 / x.sqrt(),
        math::Sin::NAME => f64::sin,
        math::Sinh::NAME => f64::sinh,
        math::Sqrt::NAME => f64::sqrt,
        math::Tan::NAME => f64::tan,
        math::Tanh::NAME => f64::tanh,
        math::Trunc::NAME => f64::trunc,
        _ => return None,
    })
}

/// Ops of one operand that change the type, or are not on floats.
fn conversion(name: &str, v: Scalar, bits: u32) -> Option<Scalar> {
    Some(match name {
        arith::ExtF::NAME | arith::TruncF::NAME | arith::FPToSI::NAME => v,
        arith::FPToUI::NAME => Scalar::Int(v.float().trunc() as i128),
        arith::SIToFP::NAME => Scalar::Float(signed(v.int(), bits) as f64),
        arith::UIToFP::NAME => Scalar::Float(unsigned(v.int(), bits) as f64),
        arith::ExtSI::NAME | arith::IndexCast::NAME if bits == 1 => Scalar::Int(-v.int()),
        arith::ExtSI::NAME | arith::TruncI::NAME | arith::IndexCast::NAME => Scalar::Int(v.int()),
        arith::ExtUI::NAME | arith::IndexCastUI::NAME => Scalar::Int(unsigned(v.int(), bits)),
        complex::Re::NAME => Scalar::Float(v.complex().re),
        complex::Im::NAME => Scalar::Float(v.complex().im),
        complex::Neg::NAME => Scalar::Complex(-v.complex()),
        complex::Conj::NAME => Scalar::Complex(v.complex().conj()),
        complex::Abs::NAME => Scalar::Float(v.complex().norm()),
        complex::Exp::NAME => Scalar::Complex(v.complex().exp()),
        complex::Log::NAME => Scalar::Complex(v.complex().ln()),
        complex::Sqrt::NAME => Scalar::Complex(v.complex().sqrt()),
        complex::Sin::NAME => Scalar::Complex(v.complex().sin()),
        complex::Cos::NAME => Scalar::Complex(v.complex().cos()),
        complex::Tan::NAME => Scalar::Complex(v.complex().tan()),
        complex::Tanh::NAME => Scalar::Complex(v.complex().tanh()),
        math::AbsI::NAME => Scalar::Int(signed(v.int(), bits).abs()),
        math::CtPop::NAME => Scalar::Int(unsigned(v.int(), bits).count_ones() as i128),
        _ => return None,
    })
}

fn binary_float(name: &str, a: Scalar, b: Scalar) -> Option<Scalar> {
    let (x, y) = (a.float(), b.float());
    Some(match name {
        arith::AddF::NAME | complex::Add::NAME => add(a, b),
        arith::SubF::NAME | complex::Sub::NAME => sub(a, b),
        arith::MulF::NAME | complex::Mul::NAME => mul(a, b),
        arith::DivF::NAME => Scalar::Float(x / y),
        arith::RemF::NAME => Scalar::Float(x % y),
        arith::MaximumF::NAME => maximum(a, b),
        arith::MinimumF::NAME => minimum(a, b),
        arith::MaxNumF::NAME => Scalar::Float(x.max(y)),
        arith::MinNumF::NAME => Scalar::Float(x.min(y)),
        math::Atan2::NAME => Scalar::Float(x.atan2(y)),
        math::CopySign::NAME => Scalar::Float(x.copysign(y)),
        math::PowF::NAME => Scalar::Float(libm::pow(x, y)),
        math::FPowI::NAME => Scalar::Float(x.powi(b.int() as i32)),
        complex::Create::NAME => Scalar::Complex(Complex64::new(x, y)),
        complex::Div::NAME => super::aten::common::quotient(a, b),
        complex::Pow::NAME => binary::pow(a, b),
        complex::Eq::NAME => Scalar::Bool(a.complex() == b.complex()),
        complex::NotEq::NAME => Scalar::Bool(a.complex() != b.complex()),
        _ => return None,
    })
}

/// `Some(None)` is a division by zero.
fn binary_int(name: &str, a: i128, b: i128, bits: u32) -> Option<Option<i128>> {
    let (sa, sb, ua, ub) = (signed(a, bits), signed(b, bits), unsigned(a, bits), unsigned(b, bits));
    let shift = |f: &dyn Fn(u32) -> i128, out: i128| if ub < bits as i128 { f(ub as u32) } else { out };
    Some(match name {
        arith::AddI::NAME => Some(sa.wrapping_add(sb)),
        arith::SubI::NAME => Some(sa.wrapping_sub(sb)),
        arith::MulI::NAME => Some(sa.wrapping_mul(sb)),
        arith::AndI::NAME => Some(ua & ub),
        arith::OrI::NAME => Some(ua | ub),
        arith::XOrI::NAME => Some(ua ^ ub),
        arith::MaxSI::NAME => Some(sa.max(sb)),
        arith::MinSI::NAME => Some(sa.min(sb)),
        arith::MaxUI::NAME => Some(ua.max(ub)),
        arith::MinUI::NAME => Some(ua.min(ub)),
        arith::DivSI::NAME => sa.checked_div(sb),
        arith::RemSI::NAME => sa.checked_rem(sb),
        arith::DivUI::NAME => ua.checked_div(ub),
        arith::RemUI::NAME => ua.checked_rem(ub),
        arith::FloorDivSI::NAME => sa.checked_div_euclid(sb).map(|q| if sb < 0 && sa.rem_euclid(sb) != 0 { q - 1 } else { q }),
        arith::CeilDivSI::NAME => (-sa).checked_div_euclid(sb).map(|q| -(if sb < 0 && (-sa).rem_euclid(sb) != 0 { q - 1 } else { q })),
        arith::CeilDivUI::NAME => {
            if ub == 0 {
                None
            } else {
                Some((ua + ub - 1) / ub)
            }
        }
        arith::ShLI::NAME => Some(shift(&|s| sa << s, 0)),
        arith::ShRSI::NAME => Some(shift(&|s| sa >> s, if sa < 0 { -1 } else { 0 })),
        arith::ShRUI::NAME => Some(shift(&|s| ua >> s, 0)),
        math::IPowI::NAME => Some(binary::pow(Scalar::Int(sa), Scalar::Int(sb)).int()),
        _ => return None,
    })
}

fn compare_int(predicate: i64, a: i128, b: i128, bits: u32) -> Result<bool, InterpError> {
    let (sa, sb, ua, ub) = (signed(a, bits), signed(b, bits), unsigned(a, bits), unsigned(b, bits));
    Ok(match predicate {
        0 => ua == ub,
        1 => ua != ub,
        2 => sa < sb,
        3 => sa <= sb,
        4 => sa > sb,
        5 => sa >= sb,
        6 => ua < ub,
        7 => ua <= ub,
        8 => ua > ub,
        9 => ua >= ub,
        other => return Err(fail(format!("there is no integer predicate {other}"))),
    })
}

fn compare_float(predicate: i64, a: f64, b: f64) -> Result<bool, InterpError> {
    let unordered = a.is_nan() || b.is_nan();
    Ok(match predicate {
        0 => false,
        1 => a == b,
        2 => a > b,
        3 => a >= b,
        4 => a < b,
        5 => a <= b,
        6 => !unordered && a != b,
        7 => !unordered,
        8 => unordered || a == b,
        9 => unordered || a > b,
        10 => unordered || a >= b,
        11 => unordered || a < b,
        12 => unordered || a <= b,
        13 => a != b,
        14 => unordered,
        15 => true,
        other => return Err(fail(format!("there is no float predicate {other}"))),
    })
}

/// Functions of the runtime on scalars, as `loop.libm` names them.
pub(super) fn library(name: &str, dtype: DType, v: &[Scalar]) -> Option<Scalar> {
    let x = v.first()?.float();
    let y = v.get(1).map_or(0.0, |v| v.float());
    Some(Scalar::Float(match name {
        "digamma" => gamma::digamma(x),
        "erfinv" => super::math::erf::erfinv(x),
        "lgamma" => gamma::lgamma(x),
        "nextafter" => return Some(binary::next_after(dtype, x, y)),
        "acosh" => x.acosh(),
        "asinh" => libm::asinh(x),
        "atanh" => x.atanh(),
        "atan2" => x.atan2(y),
        "pow" => libm::pow(x, y),
        "fmod" => x % y,
        _ => return special(name, dtype, v),
    }))
}

/// Functions as `prim.special` names them.
fn special(name: &str, dtype: DType, v: &[Scalar]) -> Option<Scalar> {
    let x = v.first()?.float();
    let y = v.get(1).map_or(0.0, |v| v.float());
    let degree = |family| polynomial::value(family, x, if y.is_finite() { y as i64 } else { -1 }, dtype);
    Some(Scalar::Float(match name {
        "airy_ai" => airy::ai(x),
        "bessel_i0" => bessel::i(0, x),
        "bessel_i0e" => bessel::i_scaled(0, x),
        "bessel_i1" | "bessel_i1_full" => bessel::i(1, x),
        "bessel_i1e" => bessel::i_scaled(1, x),
        "bessel_j0" => libm::j0(x),
        "bessel_j1" => libm::j1(x),
        "bessel_k0" => bessel::k(0, x),
        "bessel_k0e" => bessel::k_scaled(0, x),
        "bessel_k1" => bessel::k(1, x),
        "bessel_k1e" => bessel::k_scaled(1, x),
        "bessel_y0" => libm::y0(x),
        "bessel_y1" => libm::y1(x),
        "binomial_quantile" => quantile::binomial(x, y, v.get(2)?.float()),
        "chebyshev_t" => degree(Family::ChebyshevT),
        "chebyshev_u" => degree(Family::ChebyshevU),
        "chebyshev_v" => degree(Family::ChebyshevV),
        "chebyshev_w" => degree(Family::ChebyshevW),
        "exp" => x.exp(),
        "gamma_quantile" => quantile::gamma(x, y),
        "gcd" => return Some(Scalar::Int(greatest_divisor(v[0].int(), v.get(1)?.int()))),
        "hermite_h" => degree(Family::HermiteH),
        "hermite_he" => degree(Family::HermiteHe),
        "igamma" => gamma::incomplete(x, y).0,
        "igammac" => gamma::incomplete(x, y).1,
        "laguerre_l" => degree(Family::LaguerreL),
        "log" => x.ln(),
        "legendre_p" => degree(Family::LegendreP),
        "poisson_quantile" => quantile::poisson(x, y),
        "trigamma" => gamma::polygamma_in(1, x, dtype),
        "zeta" => gamma::zeta_in(x, y, dtype),
        _ => return None,
    }))
}

fn greatest_divisor(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { greatest_divisor(b, a % b) }
}
