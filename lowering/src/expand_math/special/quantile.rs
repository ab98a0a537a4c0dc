//! The inverse of the error function.

use super::super::lanes::Float;
use super::super::tables::{ERFINV_FAR, ERFINV_NEAR};
use std::f64::consts::PI;
use strata_core::upstream::math;

/// In f64 lanes rounded once for f32; f64 itself takes one of Halley's steps.
pub(super) fn erfinv<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let y = if x.is_f32() { x.in_f64(|x| approximate(x)) } else { improved(x, approximate(x)) };
    let a = x.abs();
    a.equals(1.0).select(y.constant(f64::INFINITY).with_sign_of(x), a.not_within(1.0).select(f64::NAN, y))
}

/// `erfinv x / x` is a polynomial of `w = -log(1 - x^2)`, and for large w of its square root.
fn approximate<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let (one, a) = (x.constant(1.0), x.abs());
    let w = -((one - a) * (one + a)).unary(math::Log::NAME);
    let ratio = w.not_within(5.0).either([w], |[w]| (w.sqrt() - 4.0).polynomial(ERFINV_FAR), |[w]| (w - 2.5).polynomial(ERFINV_NEAR));
    x * ratio
}

/// Halley's step triples the digits. Near one the equation is solved for the complement, which keeps its digits there.
fn improved<'a, 'b, 'c>(x: Float<'a, 'b, 'c>, y: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let (a, y) = (x.abs(), y.abs());
    let error =
        a.below(0.5).either([a, y], |[a, y]| y.unary(math::Erf::NAME) - a, |[a, y]| (a.constant(1.0) - a) - y.unary(math::Erfc::NAME));
    let slope = (-(y * y)).unary(math::Exp::NAME) * (2.0 / PI.sqrt());
    let step = error / slope;
    let better = y - step / y.fma(step, 1.0);
    better.with_sign_of(x)
}
