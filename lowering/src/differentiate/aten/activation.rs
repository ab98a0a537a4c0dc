//! Activations: one-sided at their corners, and without infinities at large arguments.

use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::Tensor;

use super::super::rule::Rule::{self, Arguments, Custom};
use super::super::rule::{At, Cotangents, Row, flag, number, value};
use super::{by_self, rows, zero};
use crate::aten_to_prim::Args;

rows! {
    /// `elu_backward` with `1 / alpha` for the scale of the input.
    CELU => Arguments(|at, a| elu(at, a.float("alpha"), 1.0, 1.0 / a.float("alpha")));
    /// `g` inside of the bounds, 0 at them, beside them and for NaN.
    CLAMP => Arguments(clamp);
    /// `g` below the bound.
    CLAMP_MAX => Arguments(clamp);
    /// `g` above the bound.
    CLAMP_MIN => Arguments(clamp);
    /// As `minimum`.
    CLAMP_MAX_TENSOR => Arguments(|at, a| of_two(at, a, ["self", "max"], |x, y| x.greater(y)));
    /// As `maximum`.
    CLAMP_MIN_TENSOR => Arguments(|at, a| of_two(at, a, ["self", "min"], |x, y| x.less(y)));
    /// Half of `g` at a bound for both; all of it for the upper bound where the bounds cross.
    CLAMP_TENSOR => Arguments(clamp_by_tensors);
    /// `elu_backward`.
    ELU => Arguments(|at, a| elu(at, a.float("alpha"), a.float("scale"), a.float("input_scale")));
    /// `glu_backward`.
    GLU => Rule::Operator(GLU_BACKWARD);
    /// `hardsigmoid_backward`: 0 at both corners.
    HARDSIGMOID => Rule::Operator(HARDSIGMOID_BACKWARD);
    /// `hardswish_backward`: 0 at -3, 1 at 3.
    HARDSWISH => Rule::Operator(HARDSWISH_BACKWARD);
    /// `logit_backward`: 0 beyond the bounds of `eps`.
    LOGIT => Rule::Operator(LOGIT_BACKWARD);
    /// As `maximum`.
    MAX_OTHER => Arguments(|at, a| of_two(at, a, ["self", "other"], |x, y| x.less(y)));
    /// `g` for the larger one, half of it for each of two equal ones; at `prim` a bound that is constant has none.
    MAXIMUM => Arguments(|at, a| of_two(at, a, ["self", "other"], |x, y| x.less(y)));
    /// As `minimum`.
    MIN_OTHER => Arguments(|at, a| of_two(at, a, ["self", "other"], |x, y| x.greater(y)));
    /// As `maximum`.
    MINIMUM => Arguments(|at, a| of_two(at, a, ["self", "other"], |x, y| x.greater(y)));
    /// `mish_backward`.
    MISH => Rule::Operator(MISH_BACKWARD);
    /// `elu_backward` with the constants of SELU.
    SELU => Custom(|at| elu(at, 1.673_263_242_354_377_2, 1.050_700_987_355_480_5, 1.0));
    /// `sigmoid_backward`: `g * y * (1 - y)`.
    SIGMOID => Rule::Operator(SIGMOID_BACKWARD);
    /// `silu_backward`.
    SILU => Rule::Operator(SILU_BACKWARD);
    /// `softplus_backward`.
    SOFTPLUS => Rule::Operator(SOFTPLUS_BACKWARD);
    /// `sigmoid_backward`.
    SPECIAL_EXPIT => Rule::Operator(SIGMOID_BACKWARD);
}

fn elu<'c>(at: &At<'c>, alpha: f64, scale: f64, input_scale: f64) -> Cotangents<'c> {
    let given = [
        ("grad_output", value(at.g())),
        ("alpha", number(alpha)),
        ("scale", number(scale)),
        ("input_scale", number(input_scale)),
        ("is_result", flag(false)),
        ("self_or_result", value(at.x(0))),
    ];
    at.call(ELU_BACKWARD, &given, &[at.x(0).ty()]).into_iter().map(Some).collect()
}

fn clamp<'c>(at: &At<'c>, a: &Args<'c>) -> Cotangents<'c> {
    let bound = |name: &str| if a.has(name) { a.opt_scalar(name) } else { None };
    by_self(at, |g, x| {
        let above = bound("min").map(|low| x.greater(low));
        let below = bound("max").map(|high| x.less(high));
        match (above, below) {
            (Some(above), Some(below)) => above.and(below).select(g, zero(g)),
            (Some(inside), None) | (None, Some(inside)) => inside.select(g, zero(g)),
            (None, None) => g,
        }
    })
}

/// `g` for the one of two that is not passed over, half of it where both are equal.
fn of_two<'c>(at: &At<'c>, a: &Args<'c>, names: [&str; 2], passed: fn(Tensor<'c>, Tensor<'c>) -> Tensor<'c>) -> Cotangents<'c> {
    let g = at.wide_g();
    let [x, y] = names.map(|name| a.as_type(name, g.dtype()));
    let half = x.equal(y).select(g * 0.5, g);
    at.named(&[(names[0], Some(passed(x, y).select(zero(g), half))), (names[1], Some(passed(y, x).select(zero(g), half)))])
}

/// `clamp_backward` and `clamp_backward_min_max`, which takes the lower bound first.
fn clamp_by_tensors<'c>(at: &At<'c>, a: &Args<'c>) -> Cotangents<'c> {
    let g = at.wide_g();
    let typed = |name: &str| a.given(name).then(|| a.as_type(name, g.dtype()));
    let (x, low, high) = (a.as_type("self", g.dtype()), typed("min"), typed("max"));
    let half = |tied: Tensor<'c>, g: Tensor<'c>| tied.select(g * 0.5, g);
    // What is left of g for the first of the two that are compared, and for the second.
    let bounded = low.map_or(x, |low| x.maximum(low));
    let by_high = high.map(|high| half(bounded.equal(high), bounded.greater_equal(high).select(g, zero(g))));
    let rest = high.map_or(g, |high| half(bounded.equal(high), bounded.less_equal(high).select(g, zero(g))));
    let by_low = low.map(|low| half(x.equal(low), x.less_equal(low).select(rest, zero(g))));
    let by_x = low.map_or(rest, |low| half(x.equal(low), x.greater_equal(low).select(rest, zero(g))));
    at.named(&[("self", Some(by_x)), ("min", by_low), ("max", by_high)])
}
