//! Pointwise operators: operands and result have one shape.

use num_complex::Complex64;

use super::Node;
use crate::aten::binary::{next_after, pow};
use crate::aten::common::{add, analytic, equal, less, maximum, minimum, mul, neg, quotient, real, sub};
use crate::dtype::{DType, Scalar};
use crate::math::{erf, gamma};
use crate::scalar::library;
use crate::tensor::Tensor;
use crate::value::{InterpError, fail};

/// Runs a pointwise operator; nothing for other operators.
pub(super) fn run(n: &Node<'_>) -> Result<Option<Tensor>, InterpError> {
    let Some(name) = n.op.name().strip_prefix("prim.") else { return Ok(None) };
    match name {
        "convert" => return convert(n).map(Some),
        "bitcast" => return Tensor::from_bytes(n.dtype(0)?, n.tensor(0)?.shape(), &n.tensor(0)?.to_bytes()).map(Some),
        "select" => {
            let [c, a, b] = n.tensors(0)?[..] else { return Err(fail("a selection has three operands")) };
            same_shape(&[c, a, b])?;
            return Tensor::from_scalars(n.dtype(0)?, a.shape(), (0..a.len()).map(|k| if c.at(k).truthy() { a.at(k) } else { b.at(k) }))
                .map(Some);
        }
        "special" => return special(n).map(Some),
        _ => {}
    }
    if let Some(f) = unary(name) {
        let x = n.tensor(0)?;
        return Ok(Some(x.map(n.dtype(0)?, f)));
    }
    let bits = |t: &Tensor| t.dtype().size() as i128 * 8;
    let Some(f) = binary(name) else { return Ok(None) };
    let [a, b] = n.tensors(0)?[..] else { return Err(fail("two operands were expected")) };
    same_shape(&[a, b])?;
    let (dtype, width) = (n.dtype(0)?, bits(a));
    Tensor::from_scalars(dtype, a.shape(), (0..a.len()).map(|k| f(a.at(k), b.at(k), dtype, width)).collect::<Result<Vec<_>, _>>()?)
        .map(Some)
}

fn same_shape(tensors: &[&Tensor]) -> Result<(), InterpError> {
    if tensors.windows(2).all(|w| w[0].shape() == w[1].shape()) { Ok(()) } else { Err(fail("operands differ in shape")) }
}

fn special(n: &Node<'_>) -> Result<Tensor, InterpError> {
    let (name, dtype, arguments) = (n.text("function")?, n.dtype(0)?, n.tensors(0)?);
    same_shape(&arguments)?;
    let first = *arguments.first().ok_or_else(|| fail("a function has an argument"))?;
    let at = |k: usize| {
        let scalars: Vec<Scalar> = arguments.iter().map(|t| t.at(k)).collect();
        library(&name, dtype, &scalars).ok_or_else(|| fail(format!("there is no function `{name}`")))
    };
    Tensor::from_scalars(dtype, first.shape(), (0..first.len()).map(at).collect::<Result<Vec<_>, _>>()?)
}

/// Floats out of an integer's range give any integer: here, what x86 makes of them.
fn convert(n: &Node<'_>) -> Result<Tensor, InterpError> {
    Ok(n.tensor(0)?.cast(n.dtype(0)?))
}

fn unary(name: &str) -> Option<fn(Scalar) -> Scalar> {
    Some(match name {
        "abs" => |x| match x {
            Scalar::Complex(z) => Scalar::Float(z.re.hypot(z.im)),
            Scalar::Float(v) => Scalar::Float(v.abs()),
            v => Scalar::Int(v.int().abs()),
        },
        "acos" => |x| analytic(x, f64::acos, |z| z.acos()),
        "acosh" => |x| analytic(x, f64::acosh, |z| z.acosh()),
        "asin" => |x| analytic(x, f64::asin, |z| z.asin()),
        "asinh" => |x| analytic(x, libm::asinh, |z| z.asinh()),
        "atan" => |x| analytic(x, f64::atan, |z| z.atan()),
        "atanh" => |x| analytic(x, f64::atanh, |z| z.atanh()),
        "ceil" => |x| real(x, f64::ceil),
        "cos" => |x| analytic(x, f64::cos, |z| z.cos()),
        "cosh" => |x| analytic(x, f64::cosh, |z| z.cosh()),
        "digamma" => |x| real(x, gamma::digamma),
        "erf" => |x| real(x, libm::erf),
        "erfc" => |x| real(x, libm::erfc),
        "erfinv" => |x| real(x, erf::erfinv),
        "exp" => |x| analytic(x, f64::exp, |z| z.exp()),
        "exp2" => |x| analytic(x, f64::exp2, |z| (z * std::f64::consts::LN_2).exp()),
        "expm1" => |x| analytic(x, f64::exp_m1, |z| z.exp() - 1.0),
        "floor" => |x| real(x, f64::floor),
        "imag" => |x| Scalar::Float(x.complex().im),
        "is_nan" => |x| Scalar::Bool(x.is_nan()),
        "lgamma" => |x| real(x, gamma::lgamma),
        "log" => |x| analytic(x, f64::ln, |z| z.ln()),
        "log10" => |x| analytic(x, f64::log10, |z| z.ln() / std::f64::consts::LN_10),
        "log1p" => |x| analytic(x, f64::ln_1p, |z| (z + 1.0).ln()),
        "log2" => |x| analytic(x, f64::log2, |z| z.ln() / std::f64::consts::LN_2),
        "neg" => neg,
        "not" => |x| match x {
            Scalar::Bool(v) => Scalar::Bool(!v),
            v => Scalar::Int(!v.int()),
        },
        "real" => |x| Scalar::Float(x.complex().re),
        "round" => |x| real(x, f64::round_ties_even),
        "rsqrt" => |x| analytic(x, |v| 1.0 / v.sqrt(), |z| 1.0 / z.sqrt()),
        "sign" => |x| match x {
            Scalar::Float(v) if v > 0.0 => Scalar::Float(1.0),
            Scalar::Float(v) if v < 0.0 => Scalar::Float(-1.0),
            v => Scalar::Int(v.int().signum()),
        },
        "sin" => |x| analytic(x, f64::sin, |z| z.sin()),
        "sinh" => |x| analytic(x, f64::sinh, |z| z.sinh()),
        "sqrt" => |x| analytic(x, f64::sqrt, |z| z.sqrt()),
        "tan" => |x| analytic(x, f64::tan, |z| z.tan()),
        "tanh" => |x| analytic(x, f64::tanh, |z| z.tanh()),
        "trunc" => |x| real(x, f64::trunc),
        _ => return None,
    })
}

type Binary = fn(Scalar, Scalar, DType, i128) -> Result<Scalar, InterpError>;

fn binary(name: &str) -> Option<Binary> {
    Some(match name {
        "add" => |a, b, _, _| Ok(add(a, b)),
        "and" => |a, b, _, _| Ok(Scalar::Int(a.int() & b.int())),
        "atan2" => |a, b, _, _| Ok(Scalar::Float(a.float().atan2(b.float()))),
        "complex" => |a, b, _, _| Ok(Scalar::Complex(Complex64::new(a.float(), b.float()))),
        "div" => |a, b, _, _| match (a, b) {
            (Scalar::Int(a), Scalar::Int(b)) => a.checked_div(b).map(Scalar::Int).ok_or_else(|| fail("integer division by zero")),
            _ => Ok(quotient(a, b)),
        },
        "eq" => |a, b, _, _| Ok(Scalar::Bool(equal(a, b))),
        "ge" => |a, b, _, _| Ok(Scalar::Bool(less(b, a) || equal(a, b))),
        "gt" => |a, b, _, _| Ok(Scalar::Bool(less(b, a))),
        "le" => |a, b, _, _| Ok(Scalar::Bool(less(a, b) || equal(a, b))),
        "lt" => |a, b, _, _| Ok(Scalar::Bool(less(a, b))),
        "maximum" => |a, b, _, _| Ok(maximum(a, b)),
        "minimum" => |a, b, _, _| Ok(minimum(a, b)),
        "mul" => |a, b, _, _| Ok(mul(a, b)),
        "ne" => |a, b, _, _| Ok(Scalar::Bool(!equal(a, b))),
        "nextafter" => |a, b, dtype, _| Ok(next_after(dtype, a.float(), b.float())),
        "or" => |a, b, _, _| Ok(Scalar::Int(a.int() | b.int())),
        "pow" => |a, b, _, _| Ok(pow(a, b)),
        "rem" => |a, b, _, _| match (a, b) {
            (Scalar::Int(a), Scalar::Int(b)) => a.checked_rem(b).map(Scalar::Int).ok_or_else(|| fail("integer division by zero")),
            _ => Ok(Scalar::Float(a.float() % b.float())),
        },
        "shl" => |a, b, _, width| Ok(Scalar::Int(if (0..width).contains(&b.int()) { a.int() << b.int() } else { 0 })),
        "shr" => |a, b, _, width| {
            Ok(Scalar::Int(if (0..width).contains(&b.int()) {
                a.int() >> b.int()
            } else if a.int() < 0 {
                -1
            } else {
                0
            }))
        },
        "sub" => |a, b, _, _| Ok(sub(a, b)),
        "xor" => |a, b, _, _| Ok(Scalar::Int(a.int() ^ b.int())),
        _ => return None,
    })
}
