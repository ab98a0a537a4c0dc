//! Rounding to integers, for halves that are computed with in f32: LLVM would do it in their own type, lane by lane.

use super::lanes::Float;

/// From here on every number is an integer, and adding this rounds what is smaller to one.
fn integers(x: Float<'_, '_, '_>) -> f64 {
    let digits = if x.is_f32() { f32::MANTISSA_DIGITS } else { f64::MANTISSA_DIGITS };
    2f64.powi(digits as i32 - 1)
}

/// The nearest integer, the even one of two.
pub(super) fn roundeven<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let (a, from) = (x.abs(), integers(x));
    a.below(from).select((a + from) - from, a).with_sign_of(x)
}

/// The next integer below.
pub(super) fn floor<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let near = roundeven(x);
    near.above(x).select(near - 1.0, near)
}

/// The next integer above; a zero has the sign of `x`.
pub(super) fn ceil<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let near = roundeven(x);
    near.below(x).select(near + 1.0, near).with_sign_of(x)
}

/// The next integer towards zero.
pub(super) fn trunc<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    floor(x.abs()).with_sign_of(x)
}
