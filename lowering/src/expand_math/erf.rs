//! The error function.

use super::exp::expm1_bounded;
use super::lanes::Float;
use super::tables::*;

/// `erf x = -expm1(-y)` in f32, where `y = -log(1 - erf |x|)` is a polynomial of `|x|` without a constant term.
/// One formula serves from zero to where the result rounds to 1.
pub(super) fn erf<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let a = x.abs().at_most(3.92);
    let [high, low] = TWO_BY_SQRT_PI_F32;
    let tail = a.fma(a.polynomial(ERF_F32), low);
    let minus_y = a.fma(-high, -(a * tail));
    expm1_bounded(minus_y).with_sign_of(x)
}
