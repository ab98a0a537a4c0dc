//! Activation functions and their gradients.

use super::Arm::{self, Op, Unary};
use super::common::{Kind, Operand, elementwise, evaluate, result_type};
use super::unary::sigmoid;
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::Scalar;
use crate::tensor::Tensor;
use crate::value::{Args, InterpError, Results, fail, many, one};

use Kind::Same;

const SELU_ALPHA: f64 = 1.673_263_242_354_377_2;
const SELU_SCALE: f64 = 1.050_700_987_355_480_5;

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (_PRELU_KERNEL, Op(|a| binary(a, "self", "weight", |x, w| if x > 0.0 { x } else { w * x }))),
    (_PRELU_KERNEL_BACKWARD, Op(prelu_backward)),
    (CELU, Op(|a| { let k = a.float("alpha")?; unary(a, |x| if x > 0.0 { x } else { k * (x / k).exp_m1() }) })),
    (ELU, Op(elu)),
    (ELU_BACKWARD, Op(elu_backward)),
    (GELU, Op(gelu)),
    (GELU_BACKWARD, Op(gelu_backward)),
    (GLU, Op(glu)),
    (GLU_BACKWARD, Op(glu_backward)),
    (HARDSHRINK, Op(|a| { let l = a.float("lambd")?; unary(a, |x| if x >= -l && x <= l { 0.0 } else { x }) })),
    (HARDSHRINK_BACKWARD, Op(|a| { let l = a.float("lambd")?; binary(a, "grad_out", "self", |g, x| if x >= -l && x <= l { 0.0 } else { g }) })),
    (HARDSIGMOID, Op(|a| unary(a, |x| clamp(x + 3.0, 0.0, 6.0) / 6.0))),
    (HARDSIGMOID_BACKWARD, Op(|a| binary(a, "grad_output", "self", |g, x| if x > -3.0 && x < 3.0 { g / 6.0 } else { 0.0 }))),
    (HARDSWISH, Op(|a| unary(a, |x| x * clamp(x + 3.0, 0.0, 6.0) / 6.0))),
    (HARDSWISH_BACKWARD, Op(|a| binary(a, "grad_output", "self", |g, x| if x <= -3.0 { 0.0 } else if x < 3.0 { g * (x / 3.0 + 0.5) } else { g }))),
    (HARDTANH, Op(hardtanh)),
    (HARDTANH_BACKWARD, Op(|a| { let (l, h) = (a.float("min_val")?, a.float("max_val")?); binary(a, "grad_output", "self", |g, x| if x <= l || x >= h { 0.0 } else { g }) })),
    (LEAKY_RELU, Op(|a| { let s = a.float("negative_slope")?; unary(a, |x| if x > 0.0 { x } else { x * s }) })),
    (LEAKY_RELU_BACKWARD, Op(|a| { let s = a.float("negative_slope")?; binary(a, "grad_output", "self", |g, x| if x > 0.0 { g } else { g * s }) })),
    (LOG_SIGMOID, Op(|a| unary(a, log_sigmoid))),
    (LOG_SIGMOID_BACKWARD, Op(|a| binary(a, "grad_output", "self", |g, x| g * sigmoid(-x)))),
    (LOG_SIGMOID_FORWARD, Op(log_sigmoid_forward)),
    (LOGIT_BACKWARD, Op(logit_backward)),
    (MISH, Op(|a| unary(a, |x| x * softplus(x).tanh()))),
    (MISH_BACKWARD, Op(|a| binary(a, "grad_output", "self", mish_gradient))),
    (PRELU, Op(prelu)),
    (RELU, Unary(Same, |x| if x.is_nan() || x.float() > 0.0 { x } else { Scalar::Int(0) })),
    (RELU6, Unary(Same, |x| if x.is_nan() { x } else if x.float() > 6.0 { Scalar::Int(6) } else if x.float() > 0.0 { x } else { Scalar::Int(0) })),
    (SELU, Op(|a| unary(a, |x| SELU_SCALE * if x > 0.0 { x } else { SELU_ALPHA * x.exp_m1() }))),
    (SIGMOID_BACKWARD, Op(|a| gradient_of_output(a, |y| y.conj() * (1.0 - y.conj())))),
    (SILU, Op(silu)),
    (SILU_BACKWARD, Op(|a| binary(a, "grad_output", "self", |g, x| g * sigmoid(x) * (1.0 + x * (1.0 - sigmoid(x)))))),
    (SOFTPLUS, Op(|a| { let (b, t) = (a.float("beta")?, a.float("threshold")?); unary(a, |x| if x * b > t { x } else { (x * b).exp().ln_1p() / b }) })),
    (SOFTPLUS_BACKWARD, Op(|a| { let (b, t) = (a.float("beta")?, a.float("threshold")?); binary(a, "grad_output", "self", |g, x| if x * b > t { g } else { g * sigmoid(x * b) }) })),
    (SOFTSHRINK, Op(|a| { let l = a.float("lambd")?; unary(a, |x| if x > l { x - l } else if x < -l { x + l } else if x.is_nan() { x } else { 0.0 }) })),
    (SOFTSHRINK_BACKWARD, Op(|a| { let l = a.float("lambd")?; binary(a, "grad_output", "self", |g, x| if x >= -l && x <= l { 0.0 } else { g }) })),
    (TANH_BACKWARD, Op(|a| gradient_of_output(a, |y| 1.0 - y.conj() * y.conj()))),
    (THRESHOLD, Op(threshold)),
    (THRESHOLD_BACKWARD, Op(|a| { let t = a.float("threshold")?; binary(a, "grad_output", "self", |g, x| if x <= t { 0.0 } else { g }) })),
];

fn clamp(x: f64, low: f64, high: f64) -> f64 {
    if x.is_nan() { x } else { x.max(low).min(high) }
}

/// `ln(1 + exp(x))` without overflow.
pub fn softplus(x: f64) -> f64 {
    if x > 30.0 { x } else { x.exp().ln_1p() }
}

fn log_sigmoid(x: f64) -> f64 {
    x.min(0.0) - (-x.abs()).exp().ln_1p()
}

/// A real function of `self`, in its element type.
fn unary(args: &Args, f: impl Fn(f64) -> f64) -> Results {
    let x = args.tensor("self")?;
    one(x.map(x.dtype(), |v| Scalar::Float(f(v.float()))))
}

/// A real function of two tensors, in their promoted type.
fn binary(args: &Args, first: &str, second: &str, f: impl Fn(f64, f64) -> f64) -> Results {
    one(pointwise(args, &[first, second], |v| f(v[0], v[1]))?)
}

/// A real function of tensors, in their promoted type.
pub fn pointwise(args: &Args, names: &[&str], f: impl Fn(&[f64]) -> f64) -> Result<Tensor, InterpError> {
    let operands: Vec<Operand> = names.iter().map(|n| args.tensor(n).map(Operand::Tensor)).collect::<Result<_, _>>()?;
    let dtype = result_type(&operands);
    evaluate(dtype, dtype, &operands, |v| Ok(Scalar::Float(f(&v.iter().map(|v| v.float()).collect::<Vec<_>>()))))
}

/// `grad_output` times a function of the forward's output; complex where the operands are.
fn gradient_of_output(args: &Args, f: fn(num_complex::Complex64) -> num_complex::Complex64) -> Results {
    let (g, y) = (args.tensor("grad_output")?, args.tensor("output")?);
    one(elementwise(Same, &[g.into(), y.into()], |v| Ok(Scalar::Complex(v[0].complex() * f(v[1].complex()))))?)
}

fn elu(args: &Args) -> Results {
    let (alpha, scale, input) = (args.float("alpha")?, args.float("scale")?, args.float("input_scale")?);
    unary(args, |x| if x > 0.0 { x * scale } else { (x * input).exp_m1() * alpha * scale })
}

fn elu_backward(args: &Args) -> Results {
    let (alpha, scale, input) = (args.float("alpha")?, args.float("scale")?, args.float("input_scale")?);
    let is_result = args.flag("is_result")?;
    binary(args, "grad_output", "self_or_result", |g, x| match () {
        _ if x > 0.0 => g * scale,
        _ if is_result => g * input * (x + alpha * scale),
        _ => g * input * alpha * scale * (x * input).exp(),
    })
}

fn is_tanh(args: &Args) -> Result<bool, InterpError> {
    match args.opt_str("approximate")?.unwrap_or("none") {
        "tanh" => Ok(true),
        "none" => Ok(false),
        other => Err(fail(format!("gelu has no approximation `{other}`"))),
    }
}

/// The argument of tanh in the approximation, and its derivative.
fn gelu_inner(x: f64) -> (f64, f64) {
    let k = (2.0 / std::f64::consts::PI).sqrt();
    (k * (x + 0.044715 * x * x * x), k * (1.0 + 3.0 * 0.044715 * x * x))
}

fn gelu(args: &Args) -> Results {
    if is_tanh(args)? {
        return unary(args, |x| 0.5 * x * (1.0 + gelu_inner(x).0.tanh()));
    }
    unary(args, exact_gelu)
}

pub(super) fn exact_gelu(x: f64) -> f64 {
    x * crate::math::erf::ndtr(x)
}

fn gelu_backward(args: &Args) -> Results {
    if is_tanh(args)? {
        return binary(args, "grad_output", "self", |g, x| {
            let (inner, slope) = gelu_inner(x);
            let t = inner.tanh();
            g * (0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * slope)
        });
    }
    binary(args, "grad_output", "self", |g, x| g * (crate::math::erf::ndtr(x) + x * (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()))
}

fn halves(x: &Tensor, dim: usize) -> Result<(Tensor, Tensor), InterpError> {
    match x.shape().get(dim) {
        Some(&n) if n % 2 == 0 => Ok((x.slice(dim, 0, n / 2, 1)?, x.slice(dim, n / 2, n / 2, 1)?)),
        _ => Err(fail("glu halves a dimension of even size")),
    }
}

fn glu(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let (a, b) = halves(x, args.dim("dim", x.rank())?)?;
    one(evaluate(x.dtype(), x.dtype(), &[(&a).into(), (&b).into()], |v| Ok(Scalar::Float(v[0].float() * sigmoid(v[1].float()))))?)
}

fn glu_backward(args: &Args) -> Results {
    let (g, x) = (args.tensor("grad_output")?, args.tensor("self")?);
    let dim = args.dim("dim", x.rank())?;
    let (a, b) = halves(x, dim)?;
    let left = evaluate(x.dtype(), x.dtype(), &[g.into(), (&b).into()], |v| Ok(Scalar::Float(v[0].float() * sigmoid(v[1].float()))))?;
    let right = evaluate(x.dtype(), x.dtype(), &[g.into(), (&a).into(), (&b).into()], |v| {
        let s = sigmoid(v[2].float());
        Ok(Scalar::Float(v[0].float() * v[1].float() * s * (1.0 - s)))
    })?;
    one(super::join::cat(&[&left, &right], dim as i64)?)
}

fn hardtanh(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let (low, high) = (args.scalar("min_val")?, args.scalar("max_val")?);
    one(x.map(x.dtype(), |v| if v.is_nan() { v } else if v.float() < low.float() { low } else if v.float() > high.float() { high } else { v }))
}

fn threshold(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let (t, value) = (args.scalar("threshold")?, args.scalar("value")?);
    one(x.map(x.dtype(), |v| if v.float() <= t.float() { value } else { v }))
}

fn log_sigmoid_forward(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let buffer = x.map(x.dtype(), |v| Scalar::Float((-v.float().abs()).exp()));
    many([x.map(x.dtype(), |v| Scalar::Float(log_sigmoid(v.float()))), buffer])
}

fn logit_backward(args: &Args) -> Results {
    let eps = args.opt_float("eps")?;
    binary(args, "grad_output", "self", |g, x| match eps {
        Some(e) if x < e || x > 1.0 - e => 0.0,
        None if !(0.0..=1.0).contains(&x) => f64::NAN,
        _ => g / (x * (1.0 - x)),
    })
}

fn mish_gradient(g: f64, x: f64) -> f64 {
    let t = softplus(x).tanh();
    g * (t + x * sigmoid(x) * (1.0 - t * t))
}

fn silu(args: &Args) -> Results {
    let x = args.tensor("self")?;
    one(x.map(x.dtype(), |v| match v {
        Scalar::Complex(z) => Scalar::Complex(z / (1.0 + (-z).exp())),
        v => Scalar::Float(v.float() * sigmoid(v.float())),
    }))
}

/// The weight belongs to dimension 1 unless it is a single number.
fn prelu(args: &Args) -> Results {
    let (x, w) = (args.tensor("self")?, args.tensor("weight")?);
    let mut shape = vec![1; x.rank()];
    if x.rank() >= 2 {
        shape[1] = w.len();
    } else if x.rank() == 1 && w.len() > 1 {
        shape[0] = w.len();
    }
    let w = w.reshape(&shape)?;
    one(evaluate(x.dtype(), x.dtype(), &[x.into(), (&w).into()], |v| Ok(Scalar::Float(if v[0].float() > 0.0 { v[0].float() } else { v[0].float() * v[1].float() })))?)
}

fn prelu_backward(args: &Args) -> Results {
    let to_x = pointwise(args, &["grad_output", "self", "weight"], |v| if v[1] > 0.0 { v[0] } else { v[0] * v[2] })?;
    let to_w = pointwise(args, &["grad_output", "self", "weight"], |v| if v[1] > 0.0 { 0.0 } else { v[0] * v[1] })?;
    many([to_x, to_w])
}
