//! The error function and its complement.

use super::exp::{exp_for_f32, exp_of_sum, expm1_bounded};
use super::lanes::Float;
use super::tables::*;

/// `erf x = -expm1(-y)` in f32, where `y = -log(1 - erf |x|)` is a polynomial of `|x|` without a constant term.
/// One formula serves from zero to where the result rounds to 1. In f64 a polynomial up to 1, then the complement.
pub(super) fn erf<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    if !x.is_f32() {
        let a = x.abs();
        return a.above(1.0).select(a.constant(1.0) - complement(a), a.fma(slope(a), a)).with_sign_of(x);
    }
    let a = x.abs().at_most(3.92);
    let [high, low] = TWO_BY_SQRT_PI_F32;
    let tail = a.fma(a.polynomial(ERF_F32), low);
    let minus_y = a.fma(-high, -(a * tail));
    expm1_bounded(minus_y).with_sign_of(x)
}

/// `erf a / a - 1` in f64 for `a` within 1.
fn slope<'a, 'b, 'c>(a: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    (a * a).polynomial(ERF_F64)
}

/// `1 - erf x`. In f32 on f64 lanes, rounded once.
pub(super) fn erfc<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    if x.is_f32() {
        return x.in_f64(|x| {
            let y = complement_for_f32(x.abs());
            x.below(0.0).select(y.constant(2.0) - y, y)
        });
    }
    let a = x.abs();
    // Near zero 1/2 - (a - 1/2 + a slope): what is subtracted is small wherever the result is.
    let near = a.constant(0.5) - a.fma(slope(a), a - 0.5);
    let y = a.below(0.84375).select(near, complement(a));
    x.below(0.0).select(y.constant(2.0) - y, y)
}

/// `1 - erf a` for `a` from zero on: `e^(-a^2) (1 + q(t)) / (1 + 2 a)` with `t = (a - 4) / (a + 4)`.
fn complement<'a, 'b, 'c>(a: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    // From here on the result is zero.
    let a = a.at_most(28.0);
    let t = (a - 4.0) / (a + 4.0);
    let numerator = t.polynomial(ERFC_F64) + 1.0;
    // The denominator, and what its rounding lost.
    let denominator = a.fma(2.0, 1.0);
    let lost = a.constant(1.0) - (denominator - a * 2.0);
    let quotient = numerator / denominator;
    let quotient = quotient - quotient * lost / denominator;
    let square = a * a;
    exp_of_sum(-square, -a.fma(a, -square), quotient)
}

/// The same with `t = (a - 3) / (a + 3)`, to what f32 holds: both quotients by one division, and no care for what rounding loses.
fn complement_for_f32<'a, 'b, 'c>(a: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    // From here on the result is zero.
    let a = a.at_most(10.1);
    let [above, below] = [a + 3.0, a.fma(2.0, 1.0)];
    let inverse = a.constant(1.0) / (above * below);
    let t = (a - 3.0) * below * inverse;
    (t.polynomial_in_two(ERFC_F32) + 1.0) * (above * inverse) * exp_for_f32(-(a * a))
}
