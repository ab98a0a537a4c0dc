//! The remainder of a division that truncates: C's `fmod`.

use super::lanes::Float;
use super::trig::Partial;

/// `a - q d` of the magnitudes, with the sign of `x`. A quotient with fewer digits than a fraction has is rounded across one integer at
/// most, and then `q` is one too large. What is left is a multiple of the last digit of `a` or `d` and not larger than `d`: it is exact.
pub(super) fn rem<'a, 'b, 'c>(x: Float<'a, 'b, 'c>, y: Float<'a, 'b, 'c>) -> Partial<'a, 'b, 'c> {
    let (a, d) = (x.abs(), y.abs());
    let quotient = a / d;
    let rest = (-quotient.floor()).fma(d, a);
    let rest = rest.below(0.0).select(rest + d, rest);
    // Below one also where the divisor is infinite.
    let value = quotient.below(1.0).select(a, rest).with_sign_of(x);
    let digits = if x.is_f32() { f32::MANTISSA_DIGITS } else { f64::MANTISSA_DIGITS };
    let most = 2f64.powi(digits as i32 - 1);
    // Infinite numbers and zeros as divisors have no remainder, which the formula gives.
    Partial { value, far: quotient.above(most) & a.below(f64::INFINITY) & d.above(0.0) }
}
