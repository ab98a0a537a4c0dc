//! Operators whose gradient is defined to be 0 where a formula has none: norms at 0, logarithms times 0.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, PI};

use strata_dialects::aten::dtype::{Numeric, promote};
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Tensor, product};

use super::super::rule::Rule::{Arguments, Custom, Zero};
use super::super::rule::{At, Cotangents, Row, number, value, wide};
use super::{by_self, rows, zero};
use crate::aten_to_prim::Args;

rows! {
    /// `g`, `g * (value / b)` and `-g * (value * a / b^2)`; the second factors are rounded as `a` and `b` are.
    ADDCDIV => Arguments(|at, a| {
        let (x, y) = factors(at);
        let common = promote(x.dtype(), y.dtype());
        let quotient = with_number(a, x, |x, value| value * x).convert(common) / (y * y).convert(common);
        let by_x = times(at, with_number(a, y, |y, value| value / y));
        at.named(&[("self", Some(at.wide_g())), ("tensor1", Some(by_x)), ("tensor2", Some(-times(at, quotient)))])
    });
    /// `g`, `g * (b * value)` and `g * (a * value)`; the second factors are rounded as `a` and `b` are.
    ADDCMUL => Arguments(|at, a| {
        let (x, y) = factors(at);
        let [by_y, by_x] = [y, x].map(|tensor| times(at, with_number(a, tensor, |tensor, value| tensor * value)));
        at.named(&[("self", Some(at.wide_g())), ("tensor1", Some(by_y)), ("tensor2", Some(by_x))])
    });
    /// `binary_cross_entropy_backward`, and `g * (log(1 - x) - log(x))` by the target, as `binary_cross_entropy_target_backward`.
    BINARY_CROSS_ENTROPY => Arguments(|at, a| {
        let given = [("grad_output", value(at.g()))];
        let by_self = at.call(BINARY_CROSS_ENTROPY_BACKWARD, &given, &[at.op.operand(0).ty()]).first().copied();
        let (mut g, x) = (at.wide_g(), at.wide("self"));
        if at.place("weight").is_some() {
            g = g * at.wide("weight");
        }
        if a.int("reduction") == 1 {
            g = g / at.prim.size_tensor(g.dtype(), x.numel());
        }
        at.named(&[("self", by_self), ("target", Some(g * ((-x + 1.0).log() - x.log())))])
    });
    /// `_cdist_backward` by both; it is 0 where rows are equal.
    CDIST => Arguments(cdist);
    /// `y * (g - sum(g * y))`: rows without weight have none.
    _SAFE_SOFTMAX => Arguments(|at, a| {
        let (g, y) = (at.wide_g(), wide(at.y(0)));
        let dim = if y.rank() == 0 { Vec::new() } else { vec![a.dim("dim", y.rank())] };
        at.named(&[("self", Some(y * (g - (g * y).sum_keep(&dim))))])
    });
    /// None: that is what it is for.
    DETACH => Zero;
    /// The gradient of the norm of the difference.
    DIST => Arguments(|at, a| {
        let difference = a.tensor("self") - a.tensor("other");
        let g = norm(at.wide_g(), difference, wide(at.y(0)), a.float("p"), &difference.all_dims());
        at.named(&[("self", Some(g)), ("other", Some(-g))])
    });
    /// `g / b` and `-g * y / b`; none where the quotient is rounded.
    DIV_SCALAR_MODE => Arguments(divide);
    /// As `div.Scalar_mode`.
    DIV_TENSOR_MODE => Arguments(divide);
    /// None: constant almost everywhere.
    FLOOR_DIVIDE => Zero;
    /// `norm_backward`.
    FROBENIUS_NORM_DIM => Arguments(|at, a| vector_norm(at, a, 2.0));
    /// `g / 2^exponent`.
    FREXP_TENSOR => Custom(|at| by_self(at, |g, _| g * (-at.y(1).convert(g.dtype())).exp2()));
    /// `g * a / y` and `g * b / y`.
    HYPOT => Arguments(|at, a| {
        let (g, y) = (at.wide_g(), wide(at.y(0)));
        let part = |name: &str| Some(g * a.as_type(name, g.dtype()) / y);
        at.named(&[("self", part("self")), ("other", part("other"))])
    });
    /// `linalg_vector_norm_backward`: 0 at 0; the largest share it.
    LINALG_VECTOR_NORM => Arguments(|at, a| vector_norm(at, a, a.float("ord")));
    /// `g` by the first, 0 where both are equal; none by the second.
    NEXTAFTER => Arguments(|at, a| at.named(&[("self", Some(a.tensor("self").equal(a.tensor("other")).select(zero(at.wide_g()), at.wide_g())))]));
    /// None, as in PyTorch.
    NORMAL_FLOAT_TENSOR => Zero;
    /// None, as in PyTorch.
    NORMAL_TENSOR_FLOAT => Zero;
    /// None, as in PyTorch.
    NORMAL_TENSOR_TENSOR => Zero;
    /// `norm_backward`.
    NORM_SCALAR => Arguments(|at, a| vector_norm(at, a, a.float("p")));
    /// `norm_backward`.
    NORM_SCALAROPT_DIM => Arguments(|at, a| vector_norm(at, a, a.opt_float("p").unwrap_or(2.0)));
    /// `norm_backward`.
    NORM_SCALAROPT_DIM_DTYPE => Arguments(|at, a| vector_norm(at, a, a.opt_float("p").unwrap_or(2.0)));
    /// `norm_backward`.
    NORM_SCALAROPT_DTYPE => Arguments(|at, a| vector_norm(at, a, a.opt_float("p").unwrap_or(2.0)));
    /// Both of `abs * exp(i angle)`: the real part of `conj(g)` times the sign of `y`, and times `i y`.
    POLAR => Arguments(|at, a| {
        let (g, y) = (at.wide_g(), at.y(0));
        let size = a.tensor("abs").sign();
        let unit = a.tensor("angle");
        let by_abs = (g.real() * unit.cos() + g.imag() * unit.sin()) * size;
        at.named(&[("abs", Some(by_abs)), ("angle", Some(g.imag() * y.real() - g.real() * y.imag()))])
    });
    /// `_pdist_backward`; it is 0 where rows are equal.
    PDIST => Arguments(|at, a| {
        let given = [("grad_output", value(at.g())), ("grad", value(at.g())), ("p", number(a.float("p"))), ("pdist", value(at.y(0)))];
        at.call(_PDIST_BACKWARD, &given, &[at.x(0).ty()]).into_iter().map(Some).collect()
    });
    /// `(cos(pi x) pi x - sin(pi x)) / (pi x^2)`, 0 at 0.
    SINC => Custom(|at| by_self(at, |g, x| {
        let angle = x * PI;
        let slope = (angle.cos() * angle - angle.sin()) / (angle * x);
        g * x.equal(0).select(zero(x), slope)
    }));
    /// `-g * (log(x) + 1)`.
    SPECIAL_ENTR => Custom(|at| by_self(at, |g, x| g * -(x.log() + 1.0)));
    /// `2 x y - 2 / sqrt(pi)`.
    SPECIAL_ERFCX => Custom(|at| by_self(at, |g, x| g * (x * wide(at.y(0)) * 2.0 - FRAC_2_SQRT_PI)));
    /// `sqrt(2 / pi) / erfcx(-x / sqrt(2))`.
    SPECIAL_LOG_NDTR => Custom(|at| by_self(at, |g, x| {
        let scaled = x * -FRAC_1_SQRT_2;
        match at.call(SPECIAL_ERFCX, &[("self", value(scaled))], &[scaled.ty()]).first() {
            Some(tail) => g / *tail * (FRAC_2_SQRT_PI * FRAC_1_SQRT_2),
            None => g,
        }
    }));
    /// `g * log1p(b)`, 0 where a = 0 and b <= -1; `g * a / (b + 1)`.
    SPECIAL_XLOG1PY => Arguments(|at, a| x_log(at, a, -1.0));
    /// As `special_xlog1py`.
    SPECIAL_XLOG1PY_OTHER_SCALAR => Arguments(|at, a| x_log(at, a, -1.0));
    /// As `special_xlog1py`.
    SPECIAL_XLOG1PY_SELF_SCALAR => Arguments(|at, a| x_log(at, a, -1.0));
    /// `g / (2 y)` times the gradient of the variance, 0 where it is 0.
    STD => Arguments(deviation);
    /// As `std`.
    STD_CORRECTION => Arguments(deviation);
    /// As `std`.
    STD_DIM => Arguments(deviation);
    /// As `std`, and of the mean.
    STD_MEAN => Arguments(deviation);
    /// As `std`, and of the mean.
    STD_MEAN_CORRECTION => Arguments(deviation);
    /// As `std`, and of the mean.
    STD_MEAN_DIM => Arguments(deviation);
    /// `g * log(b)`, 0 where a = 0 and b <= 0; `g * a / b`.
    XLOGY_SCALAR_OTHER => Arguments(|at, a| x_log(at, a, 0.0));
    /// As `xlogy.Tensor`.
    XLOGY_SCALAR_SELF => Arguments(|at, a| x_log(at, a, 0.0));
    /// As `xlogy.Scalar_Other`.
    XLOGY_TENSOR => Arguments(|at, a| x_log(at, a, 0.0));
}

/// The dims that a reduction takes, and whether its result keeps them.
/// The two factors of `addcmul` and `addcdiv`, as they are given.
fn factors<'c>(at: &At<'c>) -> (Tensor<'c>, Tensor<'c>) {
    let tensor = |name: &str| at.x(at.place(name).unwrap_or_default());
    (tensor("tensor1"), tensor("tensor2"))
}

/// A tensor with the number `value`, rounded once as the tensor is.
fn with_number<'c>(a: &Args<'c>, tensor: Tensor<'c>, formula: impl FnOnce(Tensor<'c>, Tensor<'c>) -> Tensor<'c>) -> Tensor<'c> {
    let exact = wide(tensor);
    formula(exact, a.as_type("value", exact.dtype())).convert(tensor.dtype())
}

/// The cotangent times the conjugate of a partial derivative.
fn times<'c>(at: &At<'c>, partial: Tensor<'c>) -> Tensor<'c> {
    let (g, partial) = (at.wide_g(), wide(partial));
    let common = promote(g.dtype(), partial.dtype());
    g.convert(common) * partial.convert(common).conj()
}

fn reduced<'c>(a: &Args<'c>, rank: usize) -> (Vec<usize>, bool) {
    let dims = match (a.has("dim"), a.has("dim") && a.is_list("dim")) {
        (false, _) => (0..rank).collect(),
        (true, true) => a.dims_or_all("dim", rank),
        (true, false) => a.opt_int("dim").map_or_else(|| (0..rank).collect(), |dim| vec![a.wrap(dim, rank)]),
    };
    (dims, a.has("keepdim") && a.bool("keepdim"))
}

/// A reduced tensor beside what was reduced.
fn kept<'c>(reduced: Tensor<'c>, like: Tensor<'c>, dims: &[usize]) -> Tensor<'c> {
    let mut shape = like.shape().to_vec();
    dims.iter().for_each(|dim| shape[*dim] = 1.into());
    reduced.reshape(&shape)
}

fn vector_norm<'c>(at: &At<'c>, a: &Args<'c>, p: f64) -> Cotangents<'c> {
    let x = a.tensor("self");
    let (dims, _) = reduced(a, x.rank());
    let real = |tensor: Tensor<'c>| kept(wide(tensor), x, &dims);
    let (g, y) = (real(at.g()), real(at.y(0)));
    at.named(&[("self", Some(norm(g, x, y, p, &dims)))])
}

/// The gradient of a p-norm over `dims`, which `g` and the norm keep.
fn norm<'c>(g: Tensor<'c>, x: Tensor<'c>, y: Tensor<'c>, p: f64, dims: &[usize]) -> Tensor<'c> {
    let (g, y) = (g.convert(x.dtype().real_part()), y.convert(x.dtype().real_part()));
    let size = x.abs();
    let masked = |condition: Tensor<'c>, value: Tensor<'c>| condition.select(zero(value), value);
    // The factor of x / |x|, of x, or of the sign of x.
    if p == 2.0 {
        return scaled(x, masked(y.equal(0), g / y));
    }
    let sign = |factor: Tensor<'c>| scaled(x, masked(size.equal(0), factor / size));
    if p == 0.0 {
        x.filled(Scalar::Int(0))
    } else if p == 1.0 {
        sign(g.broadcast_to(&x.shape()))
    } else if p.is_infinite() {
        let extreme = size.equal(y).or(size.is_nan());
        let count = extreme.convert(g.dtype()).reduce("sum", dims, true);
        sign(extreme.select(g / count, zero(g)))
    } else if p < 1.0 {
        sign(masked(size.equal(0), size.pow(p - 1.0)) * masked(y.equal(0), g * y.pow(1.0 - p)))
    } else if p < 2.0 {
        sign(size.pow(p - 1.0) * masked(y.equal(0), g / y.pow(p - 1.0)))
    } else {
        scaled(x, size.pow(p - 2.0) * masked(y.equal(0), g / y.pow(p - 1.0)))
    }
}

/// A tensor, maybe a complex one, times a real one.
fn scaled<'c>(x: Tensor<'c>, by: Tensor<'c>) -> Tensor<'c> {
    if x.dtype().is_complex() { (x.real() * by).complex(x.imag() * by) } else { x * by }
}

fn deviation<'c>(at: &At<'c>, a: &Args<'c>) -> Cotangents<'c> {
    let x = a.tensor("self");
    let (dims, _) = reduced(a, x.rank());
    let correction = match (a.has("correction"), a.has("unbiased")) {
        (true, _) => a.opt_float("correction").unwrap_or(1.0),
        (false, true) => f64::from(u8::from(a.bool("unbiased"))),
        (false, false) => 1.0,
    };
    let (g, y) = (kept(wide(at.g()), x, &dims), kept(wide(at.y(0)), x, &dims));
    let count = product(&dims.iter().map(|dim| x.size(*dim)).collect::<Vec<_>>());
    let freedom = y.prim().size_tensor(y.dtype(), count);
    let factor = y.equal(0).select(zero(g), g / y) / (freedom - correction);
    let mut gradient = scaled(x - x.mean(&dims, true), factor.broadcast_to(&x.shape()));
    if let Some(mean) = at.cotangent(1) {
        gradient = gradient + kept(wide(mean), x, &dims) / x.count(&dims);
    }
    at.named(&[("self", Some(gradient))])
}

fn divide<'c>(at: &At<'c>, a: &Args<'c>) -> Cotangents<'c> {
    if !a.str("rounding_mode").is_empty() {
        return Vec::new();
    }
    let g = at.wide_g();
    let (x, y) = (a.as_type("self", g.dtype()), a.as_type("other", g.dtype()));
    at.named(&[("self", Some(g / y)), ("other", a.is_tensor("other").then(|| -(g * (x / y / y))))])
}

/// Both gradients of `a * log(b - from)`.
fn x_log<'c>(at: &At<'c>, a: &Args<'c>, from: f64) -> Cotangents<'c> {
    let g = at.wide_g();
    let (x, y) = (a.as_type("self", g.dtype()), a.as_type("other", g.dtype()));
    let (log, inside) = if from == 0.0 { (y.log(), y) } else { (y.log1p(), y - from) };
    let by_x = x.equal(0).and(y.less_equal(from)).select(zero(g), g * log);
    at.named(&[("self", a.is_tensor("self").then_some(by_x)), ("other", a.is_tensor("other").then(|| g * x / inside))])
}

/// By both: the distances of the rows exchanged are the transposed ones.
fn cdist<'c>(at: &At<'c>, a: &Args<'c>) -> Cotangents<'c> {
    let p = number(a.float("p"));
    let by = |operand: usize| {
        let turned = |tensor: Tensor<'c>| if operand == 0 { tensor } else { tensor.flipped() };
        let given = [
            ("grad_output", value(turned(at.g()))),
            ("grad", value(turned(at.g()))),
            ("x1", value(at.x(operand))),
            ("x2", value(at.x(1 - operand))),
            ("p", p.clone()),
            ("cdist", value(turned(at.y(0)))),
        ];
        at.call(_CDIST_BACKWARD, &given, &[at.x(operand).ty()]).first().copied()
    };
    at.each(by)
}
