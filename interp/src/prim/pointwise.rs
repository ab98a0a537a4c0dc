//! Pointwise operators: operands and result have one shape.

use num_complex::Complex64;
use strata_dialects::prim;

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
    let name = n.op.name();
    match name {
        prim::Convert::NAME => return convert(n).map(Some),
        prim::Bitcast::NAME => return Tensor::from_bytes(n.dtype(0)?, n.tensor(0)?.shape(), &n.tensor(0)?.to_bytes()).map(Some),
        prim::Select::NAME => {
            let [c, a, b] = n.tensors(0)?[..] else { return Err(fail("a selection has three operands")) };
            same_shape(&[c, a, b])?;
            return Tensor::from_scalars(n.dtype(0)?, a.shape(), (0..a.len()).map(|k| if c.at(k).truthy() { a.at(k) } else { b.at(k) }))
                .map(Some);
        }
        prim::Special::NAME => return special(n).map(Some),
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
        prim::Abs::NAME => |x| match x {
            Scalar::Complex(z) => Scalar::Float(z.re.hypot(z.im)),
            Scalar::Float(v) => Scalar::Float(v.abs()),
            v => Scalar::Int(v.int().abs()),
        },
        prim::Acos::NAME => |x| analytic(x, f64::acos, |z| z.acos()),
        prim::Acosh::NAME => |x| analytic(x, f64::acosh, |z| z.acosh()),
        prim::Asin::NAME => |x| analytic(x, f64::asin, |z| z.asin()),
        prim::Asinh::NAME => |x| analytic(x, libm::asinh, |z| z.asinh()),
        prim::Atan::NAME => |x| analytic(x, f64::atan, |z| z.atan()),
        prim::Atanh::NAME => |x| analytic(x, f64::atanh, |z| z.atanh()),
        prim::Ceil::NAME => |x| real(x, f64::ceil),
        prim::Cos::NAME => |x| analytic(x, f64::cos, |z| z.cos()),
        prim::Cosh::NAME => |x| analytic(x, f64::cosh, |z| z.cosh()),
        prim::Digamma::NAME => |x| real(x, gamma::digamma),
        prim::Erf::NAME => |x| real(x, libm::erf),
        prim::Erfc::NAME => |x| real(x, libm::erfc),
        prim::Erfinv::NAME => |x| real(x, erf::erfinv),
        prim::Exp::NAME => |x| analytic(x, f64::exp, |z| z.exp()),
        prim::Exp2::NAME => |x| analytic(x, f64::exp2, |z| (z * std::f64::consts::LN_2).exp()),
        prim::Expm1::NAME => |x| analytic(x, f64::exp_m1, |z| z.exp() - 1.0),
        prim::Floor::NAME => |x| real(x, f64::floor),
        prim::Imag::NAME => |x| Scalar::Float(x.complex().im),
        prim::IsNan::NAME => |x| Scalar::Bool(x.is_nan()),
        prim::Lgamma::NAME => |x| real(x, gamma::lgamma),
        prim::Log::NAME => |x| analytic(x, f64::ln, |z| z.ln()),
        prim::Log10::NAME => |x| analytic(x, f64::log10, |z| z.ln() / std::f64::consts::LN_10),
        prim::Log1p::NAME => |x| analytic(x, f64::ln_1p, |z| (z + 1.0).ln()),
        prim::Log2::NAME => |x| analytic(x, f64::log2, |z| z.ln() / std::f64::consts::LN_2),
        prim::Neg::NAME => neg,
        prim::Not::NAME => |x| match x {
            Scalar::Bool(v) => Scalar::Bool(!v),
            v => Scalar::Int(!v.int()),
        },
        prim::Real::NAME => |x| Scalar::Float(x.complex().re),
        prim::Round::NAME => |x| real(x, f64::round_ties_even),
        prim::Rsqrt::NAME => |x| analytic(x, |v| 1.0 / v.sqrt(), |z| 1.0 / z.sqrt()),
        prim::Sign::NAME => |x| match x {
            Scalar::Float(v) if v > 0.0 => Scalar::Float(1.0),
            Scalar::Float(v) if v < 0.0 => Scalar::Float(-1.0),
            v => Scalar::Int(v.int().signum()),
        },
        prim::Sin::NAME => |x| analytic(x, f64::sin, |z| z.sin()),
        prim::Sinh::NAME => |x| analytic(x, f64::sinh, |z| z.sinh()),
        prim::Sqrt::NAME => |x| analytic(x, f64::sqrt, |z| z.sqrt()),
        prim::Tan::NAME => |x| analytic(x, f64::tan, |z| z.tan()),
        prim::Tanh::NAME => |x| analytic(x, f64::tanh, |z| z.tanh()),
        prim::Trunc::NAME => |x| real(x, f64::trunc),
        _ => return None,
    })
}

type Binary = fn(Scalar, Scalar, DType, i128) -> Result<Scalar, InterpError>;

fn binary(name: &str) -> Option<Binary> {
    Some(match name {
        prim::Add::NAME => |a, b, _, _| Ok(add(a, b)),
        prim::And::NAME => |a, b, _, _| Ok(Scalar::Int(a.int() & b.int())),
        prim::Atan2::NAME => |a, b, _, _| Ok(Scalar::Float(a.float().atan2(b.float()))),
        prim::MakeComplex::NAME => |a, b, _, _| Ok(Scalar::Complex(Complex64::new(a.float(), b.float()))),
        prim::Div::NAME => |a, b, _, _| match (a, b) {
            (Scalar::Int(a), Scalar::Int(b)) => a.checked_div(b).map(Scalar::Int).ok_or_else(|| fail("integer division by zero")),
            _ => Ok(quotient(a, b)),
        },
        prim::Eq::NAME => |a, b, _, _| Ok(Scalar::Bool(equal(a, b))),
        prim::Ge::NAME => |a, b, _, _| Ok(Scalar::Bool(less(b, a) || equal(a, b))),
        prim::Gt::NAME => |a, b, _, _| Ok(Scalar::Bool(less(b, a))),
        prim::Le::NAME => |a, b, _, _| Ok(Scalar::Bool(less(a, b) || equal(a, b))),
        prim::Lt::NAME => |a, b, _, _| Ok(Scalar::Bool(less(a, b))),
        prim::Maximum::NAME => |a, b, _, _| Ok(maximum(a, b)),
        prim::Minimum::NAME => |a, b, _, _| Ok(minimum(a, b)),
        prim::Mul::NAME => |a, b, _, _| Ok(mul(a, b)),
        prim::Ne::NAME => |a, b, _, _| Ok(Scalar::Bool(!equal(a, b))),
        prim::Nextafter::NAME => |a, b, dtype, _| Ok(next_after(dtype, a.float(), b.float())),
        prim::Or::NAME => |a, b, _, _| Ok(Scalar::Int(a.int() | b.int())),
        prim::Pow::NAME => |a, b, _, _| Ok(pow(a, b)),
        prim::Rem::NAME => |a, b, _, _| match (a, b) {
            (Scalar::Int(a), Scalar::Int(b)) => a.checked_rem(b).map(Scalar::Int).ok_or_else(|| fail("integer division by zero")),
            _ => Ok(Scalar::Float(a.float() % b.float())),
        },
        prim::Shl::NAME => |a, b, _, width| Ok(Scalar::Int(if (0..width).contains(&b.int()) { a.int() << b.int() } else { 0 })),
        prim::Shr::NAME => |a, b, _, width| {
            Ok(Scalar::Int(if (0..width).contains(&b.int()) {
                a.int() >> b.int()
            } else if a.int() < 0 {
                -1
            } else {
                0
            }))
        },
        prim::Sub::NAME => |a, b, _, _| Ok(sub(a, b)),
        prim::Xor::NAME => |a, b, _, _| Ok(Scalar::Int(a.int() ^ b.int())),
        _ => return None,
    })
}
