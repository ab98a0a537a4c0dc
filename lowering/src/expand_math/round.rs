//! Rounding to integers, for halves that are computed with in f32. LLVM would see that the result is a half as well, and round in that type,
//! lane by lane. It does not look through a sign that is taken from the number once more, which changes nothing.

use super::lanes::Float;
use strata_core::upstream::math;

/// The nearest integer, the even one of two.
pub(super) fn roundeven<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    x.unary(math::RoundEven::NAME).with_sign_of(x)
}

/// The next integer below.
pub(super) fn floor<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    x.floor().with_sign_of(x)
}

/// The next integer above.
pub(super) fn ceil<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    x.unary(math::Ceil::NAME).with_sign_of(x)
}

/// The next integer towards zero.
pub(super) fn trunc<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    x.unary(math::Trunc::NAME).with_sign_of(x)
}
