//! The inverse of the error function.

use super::super::lanes::Float;
use super::super::tables::{ERFINV_END_F64, ERFINV_FAR_F32, ERFINV_FAR_F64, ERFINV_NEAR_F32, ERFINV_NEAR_F64};
use strata_core::upstream::math;

/// `erfinv x / x - 1` is a polynomial of `w = -log(1 - x^2)`, and for large w of its square root (M. Giles, "Approximating the erfinv
/// function", GPU Computing Gems, 2011). The factors of `1 - x^2` keep the digits of x near one; without the one, most of the polynomial's
/// rounding is lost when it is added to x.
pub(super) fn erfinv<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let (one, a) = (x.constant(1.0), x.abs());
    let w = -((one - a) * (one + a)).unary(math::Log::NAME);
    let more = if x.is_f32() { in_f32(w) } else { in_f64(w) };
    let y = x.fma(more, x).with_sign_of(x);
    a.equals(1.0).select(y.constant(f64::INFINITY).with_sign_of(x), a.not_within(1.0).select(f64::NAN, y))
}

fn in_f32<'a, 'b, 'c>(w: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let far = w.not_within(5.0);
    far.either([w], |[w]| (w.sqrt() - 3.2).polynomial(ERFINV_FAR_F32), |[w]| (w - 2.5).polynomial(ERFINV_NEAR_F32))
}

fn in_f64<'a, 'b, 'c>(w: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    w.not_within(6.25).either([w], |[w]| far_in_f64(w.sqrt()), |[w]| (w - 3.125).polynomial(ERFINV_NEAR_F64))
}

fn far_in_f64<'a, 'b, 'c>(root: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let end = root.not_within(4.0);
    end.either([root], |[root]| (root - 5.0625).polynomial(ERFINV_END_F64), |[root]| (root - 3.25).polynomial(ERFINV_FAR_F64))
}
