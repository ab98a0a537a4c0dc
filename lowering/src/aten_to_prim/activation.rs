//! Activation functions and their gradients.

use super::args::Args;
use super::rule::Precision::{Compute, Exact};
use super::rule::{Rule, many, one, unary};
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Tensor};

pub(super) const RULES: &[Rule] = &[
    one(_PRELU_KERNEL, Compute, prelu_kernel),
    many(_PRELU_KERNEL_BACKWARD, Compute, prelu_kernel_backward),
    one(CELU, Compute, celu),
    one(ELU, Compute, elu),
    one(ELU_BACKWARD, Compute, elu_backward),
    one(GELU, Compute, gelu),
    one(GELU_BACKWARD, Compute, gelu_backward),
    one(GLU, Compute, glu),
    one(GLU_BACKWARD, Compute, glu_backward),
    one(HARDSHRINK, Exact, hardshrink),
    one(HARDSHRINK_BACKWARD, Exact, hardshrink_backward),
    unary(HARDSIGMOID, Compute, hardsigmoid),
    one(HARDSIGMOID_BACKWARD, Compute, hardsigmoid_backward),
    unary(HARDSWISH, Compute, |x| x * hardsigmoid(x)),
    one(HARDSWISH_BACKWARD, Compute, hardswish_backward),
    one(HARDTANH, Exact, hardtanh),
    one(HARDTANH_BACKWARD, Exact, hardtanh_backward),
    one(LEAKY_RELU, Compute, leaky_relu),
    one(LEAKY_RELU_BACKWARD, Compute, leaky_relu_backward),
    unary(LOG_SIGMOID, Compute, log_sigmoid),
    one(LOG_SIGMOID_BACKWARD, Compute, log_sigmoid_backward),
    many(LOG_SIGMOID_FORWARD, Compute, |a| vec![log_sigmoid(a.tensor("self")), (-a.tensor("self").abs()).exp()]),
    one(LOGIT_BACKWARD, Compute, logit_backward),
    unary(MISH, Compute, |x| x * softplus(x, 1.0, 20.0).tanh()),
    one(MISH_BACKWARD, Compute, mish_backward),
    one(PRELU, Compute, prelu),
    unary(RELU, Exact, |x| x.relu()),
    unary(RELU6, Exact, |x| x.clamp(0, 6)),
    unary(SELU, Compute, selu),
    unary(SIGMOID, Compute, |x| x.sigmoid()),
    one(SIGMOID_BACKWARD, Compute, sigmoid_backward),
    unary(SILU, Compute, |x| x * x.sigmoid()),
    one(SILU_BACKWARD, Compute, silu_backward),
    one(SOFTPLUS, Compute, |a| softplus(a.tensor("self"), a.float("beta"), a.float("threshold"))),
    one(SOFTPLUS_BACKWARD, Compute, softplus_backward),
    one(SOFTSHRINK, Compute, softshrink),
    one(SOFTSHRINK_BACKWARD, Compute, softshrink_backward),
    one(TANH_BACKWARD, Compute, tanh_backward),
    one(THRESHOLD, Exact, threshold),
    one(THRESHOLD_BACKWARD, Exact, threshold_backward),
];

const SQRT_2_OVER_PI: f64 = std::f64::consts::FRAC_2_SQRT_PI * std::f64::consts::FRAC_1_SQRT_2;
const GELU_CUBE: f64 = 0.044715;

fn zero(x: Tensor<'_>) -> Tensor<'_> {
    x.number(Scalar::Int(0))
}

fn gelu<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    if a.str("approximate") == "tanh" {
        let inner = (x + x * x * x * GELU_CUBE) * SQRT_2_OVER_PI;
        return x * 0.5 * (inner.tanh() + 1.0);
    }
    exact_gelu(x)
}

pub(super) fn exact_gelu(x: Tensor<'_>) -> Tensor<'_> {
    x * 0.5 * ((x * std::f64::consts::FRAC_1_SQRT_2).erf() + 1.0)
}

fn gelu_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (grad, x) = (a.tensor("grad_output"), a.tensor("self"));
    if a.str("approximate") == "tanh" {
        let tanh = ((x + x * x * x * GELU_CUBE) * SQRT_2_OVER_PI).tanh();
        let slope = (x * x * (3.0 * GELU_CUBE) + 1.0) * SQRT_2_OVER_PI;
        return grad * ((tanh + 1.0) * 0.5 + x * 0.5 * (-(tanh * tanh) + 1.0) * slope);
    }
    let cdf = ((x * std::f64::consts::FRAC_1_SQRT_2).erf() + 1.0) * 0.5;
    let pdf = (x * x * -0.5).exp() * (0.5 * std::f64::consts::FRAC_2_SQRT_PI * std::f64::consts::FRAC_1_SQRT_2);
    grad * (cdf + x * pdf)
}

/// The two halves of a tensor along `dim`.
fn halves<'c>(a: &Args<'c>, x: Tensor<'c>) -> (Tensor<'c>, Tensor<'c>, usize) {
    let dim = a.dim("dim", x.rank());
    let half = x.size(dim) / 2;
    (x.slice(dim, 0, half, 1), x.slice(dim, half, half, 1), dim)
}

fn glu<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (value, gate, _) = halves(a, a.tensor("self"));
    value * gate.sigmoid()
}

fn glu_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let grad = a.tensor("grad_output");
    let (value, gate, dim) = halves(a, a.tensor("self"));
    let open = gate.sigmoid();
    a.prim.concat(&[grad * open, grad * value * open * (-open + 1.0)], dim)
}

fn hardsigmoid(x: Tensor<'_>) -> Tensor<'_> {
    (x + 3.0).clamp(0.0, 6.0) / 6.0
}

fn hardsigmoid_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (grad, x) = (a.tensor("grad_output"), a.tensor("self"));
    x.greater(-3.0).and(x.less(3.0)).select(grad / 6.0, 0.0)
}

fn hardswish_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (grad, x) = (a.tensor("grad_output"), a.tensor("self"));
    let inside = x.less(3.0).select(grad * (x / 3.0 + 0.5), grad);
    x.less_equal(-3.0).select(zero(grad), inside)
}

fn hardtanh<'c>(a: &Args<'c>) -> Tensor<'c> {
    a.tensor("self").clamp(a.scalar("min_val"), a.scalar("max_val"))
}

fn hardtanh_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (grad, x) = (a.tensor("grad_output"), a.tensor("self"));
    let outside = x.less_equal(a.scalar("min_val")).or(x.greater_equal(a.scalar("max_val")));
    outside.select(zero(grad), grad)
}

fn hardshrink<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, lambda) = (a.tensor("self"), a.float("lambd"));
    x.greater_equal(-lambda).and(x.less_equal(lambda)).select(zero(x), x)
}

fn hardshrink_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (grad, x, lambda) = (a.tensor("grad_out"), a.tensor("self"), a.float("lambd"));
    x.greater_equal(-lambda).and(x.less_equal(lambda)).select(zero(grad), grad)
}

fn softshrink<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, lambda) = (a.tensor("self"), a.float("lambd"));
    // x * 0 keeps a NaN.
    let inner = x.less(-lambda).select(x + lambda, x * 0.0);
    x.greater(lambda).select(x - lambda, inner)
}

fn softshrink_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (grad, x, lambda) = (a.tensor("grad_output"), a.tensor("self"), a.float("lambd"));
    x.greater_equal(-lambda).and(x.less_equal(lambda)).select(zero(grad), grad)
}

fn elu<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, alpha, scale, input_scale) = (a.tensor("self"), a.float("alpha"), a.float("scale"), a.float("input_scale"));
    x.greater(0.0).select(x * scale, (x * input_scale).expm1() * (alpha * scale))
}

fn elu_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (grad, x) = (a.tensor("grad_output"), a.tensor("self_or_result"));
    let (alpha, scale, input_scale) = (a.float("alpha"), a.float("scale"), a.float("input_scale"));
    // The exponential of a large number is infinite, and its gradient would be 0 times that.
    let is_low = x.less_equal(0.0);
    let low = x.less(0.0).select(x, 0);
    let slope =
        if a.bool("is_result") { (x + alpha * scale) * input_scale } else { (low * input_scale).exp() * (input_scale * alpha * scale) };
    is_low.select(grad * slope, grad * scale)
}

fn celu<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, alpha) = (a.tensor("self"), a.float("alpha"));
    x.greater(0.0).select(x, (x / alpha).expm1() * alpha)
}

fn selu(x: Tensor<'_>) -> Tensor<'_> {
    const ALPHA: f64 = 1.673_263_242_354_377_2;
    const SCALE: f64 = 1.050_700_987_355_480_5;
    x.greater(0.0).select(x * SCALE, x.expm1() * (ALPHA * SCALE))
}

fn leaky_relu<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    x.greater(0.0).select(x, x * a.scalar("negative_slope"))
}

fn leaky_relu_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (grad, x) = (a.tensor("grad_output"), a.tensor("self"));
    x.greater(0.0).select(grad, grad * a.scalar("negative_slope"))
}

/// The slope of channel c (dimension 1) is weight c.
fn prelu<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, weight) = (a.tensor("self"), a.tensor("weight"));
    let weight = if weight.rank() == 1 && x.rank() > 1 { weight.unsqueeze_to(x.rank() - 1) } else { weight };
    let weight = if x.rank() == 0 { weight.reshape(&[]) } else { weight };
    x.greater(0.0).select(x, x * weight)
}

fn prelu_kernel<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    x.greater(0.0).select(x, x * a.tensor("weight"))
}

fn prelu_kernel_backward<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let (grad, x, weight) = (a.tensor("grad_output"), a.tensor("self"), a.tensor("weight"));
    let positive = x.greater(0.0);
    vec![positive.select(grad, grad * weight), positive.select(zero(x), grad * x)]
}

pub(super) fn softplus(x: Tensor<'_>, beta: f64, threshold: f64) -> Tensor<'_> {
    let scaled = x * beta;
    scaled.greater(threshold).select(x, scaled.exp().log1p() / beta)
}

fn softplus_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (grad, x) = (a.tensor("grad_output"), a.tensor("self"));
    let scaled = x * a.float("beta");
    scaled.greater(a.float("threshold")).select(grad, grad * scaled.sigmoid())
}

/// `min(x, 0) - log1p(exp(-|x|))`.
pub(super) fn log_sigmoid(x: Tensor<'_>) -> Tensor<'_> {
    // By cases, so that its gradient at 0 is one half.
    let negative = x.less(0);
    negative.select(x, 0) - negative.select(x, -x).exp().log1p()
}

/// The forward pass on CPUs leaves `exp(-|x|)` in the buffer; on devices the buffer is empty.
fn log_sigmoid_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (grad, x, buffer) = (a.tensor("grad_output"), a.tensor("self"), a.tensor("buffer"));
    if buffer.numel().known() == Some(0) {
        return grad * (-x).sigmoid();
    }
    let share = buffer / (buffer + 1.0);
    grad * x.less(0.0).select(-share + 1.0, share)
}

fn logit_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (grad, x) = (a.tensor("grad_output"), a.tensor("self"));
    let slope = grad / (x * (-x + 1.0));
    match a.opt_float("eps").filter(|eps| *eps >= 0.0) {
        Some(eps) => x.less(eps).or(x.greater(1.0 - eps)).select(zero(x), slope),
        None => x.less(0.0).or(x.greater(1.0)).select(x.number(Scalar::Float(f64::NAN)), slope),
    }
}

fn sigmoid_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (grad, y) = (a.tensor("grad_output"), a.tensor("output"));
    grad * (y * (-y + 1.0)).conj()
}

fn tanh_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (grad, y) = (a.tensor("grad_output"), a.tensor("output"));
    grad * (-(y * y) + 1.0).conj()
}

fn silu_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (grad, x) = (a.tensor("grad_output"), a.tensor("self"));
    let gate = x.sigmoid();
    grad * (gate * (x * (-gate + 1.0) + 1.0)).conj()
}

fn mish_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (grad, x) = (a.tensor("grad_output"), a.tensor("self"));
    let tanh = softplus(x, 1.0, 20.0).tanh();
    grad * (tanh + x * x.sigmoid() * (-(tanh * tanh) + 1.0))
}

fn threshold<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    x.less_equal(a.scalar("threshold")).select(x.number(a.scalar("value")), x)
}

fn threshold_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, grad) = (a.tensor("self"), a.as_type("grad_output", a.result_dtype(0)));
    x.less_equal(a.scalar("threshold")).select(zero(grad), grad)
}
