//! The greatest common divisor.

use super::super::lanes::Float;
use strata_core::upstream::math;

/// The greatest common divisor of two integers up to 2^52, by Euclid's steps; of two zeros it is 0.
pub(super) fn gcd<'a, 'b, 'c>(a: Float<'a, 'b, 'c>, b: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let [divisor, _] = a.lanes.repeat(
        [a.abs(), b.abs()],
        |[_, b]| b.above(0.0),
        |[a, b]| {
            let quotient = (a / b).unary(math::Trunc::NAME);
            [b, (-quotient).fma(b, a)]
        },
    );
    divisor
}
