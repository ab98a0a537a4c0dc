//! The logarithm of the gamma function, on f64 lanes, whose results are rounded once for f32.
//!
//! Stirling's series holds from 8 on (NIST DLMF 5.11.1). Smaller arguments are brought to between 3/2 and 5/2 by the recurrence (5.5.1), where a
//! polynomial has a factor for the zero at 2; those below -1/2 take the reflection formula (5.5.3).

use super::lanes::Float;
use super::log::log;
use super::tables::LGAMMA_F64;
use super::trig;
use std::f64::consts::PI;

/// The argument from which on the series is right to all digits.
const ENOUGH: f64 = 8.0;

/// The most factors between an argument below [`ENOUGH`] and 5/2.
const FACTORS: i32 = 6;

/// `B(2k) / (2k (2k - 1))`, with Bernoulli's numbers B.
pub(super) const STIRLING: &[f64] =
    &[1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360_360.0, 1.0 / 156.0, -3617.0 / 122_400.0];

/// `(ln(2 pi) - 1) / 2`.
const OFFSET: f64 = 0.418_938_533_204_672_7;

/// `log |gamma(x)|`.
pub(super) fn lgamma<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let negative = x.below(-0.5);
    let a = negative.select(-x, x);
    let y = lgamma_above(a);
    // log |gamma(x)| + log |gamma(-x)| = log(pi / |x sin(pi x)|).
    let sine = trig::sin(to_integer(a) * PI).value;
    let y = negative.select(log(a.constant(PI) / (a * sine)) - y, y);
    // Differences of infinities: the ends, and poles beyond which the function is too large.
    (a.equals(f64::INFINITY) | (negative & sine.equals(0.0))).select(f64::INFINITY, y)
}

/// `log |gamma(a)|` from -1/2 on.
pub(super) fn lgamma_above<'a, 'b, 'c>(a: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let one = a.constant(1.0);
    // gamma(a) = (a - 1) .. (a - steps + 2) gamma(2 + t), or gamma(2 + t) / a, or gamma(2 + t) / (a (a + 1)): t is exact.
    let steps = (a + 0.5).floor();
    let t = a - steps;
    let above = (1..=FACTORS).map(f64::from).fold(one, |product, k| steps.below(k + 2.0).select(product, product * (a - k)));
    let below = steps.below(1.0).select(a * (a + 1.0), a).abs();
    let divides = steps.below(2.0);
    let small = a.below(ENOUGH);
    let log = log(small.select(divides.select(below, above), a));
    let near = t.fma(t.polynomial(LGAMMA_F64), divides.select(-log, log));
    let inverse = one / a;
    let series = inverse * (inverse * inverse).polynomial(STIRLING);
    small.select(near, (a - 0.5) * (log - 1.0) + (series + OFFSET))
}

/// The distance of a number from zero on to the nearest integer: exactly, so that its sine is as near to zero as it should be.
fn to_integer<'a, 'b, 'c>(a: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let fraction = a - a.floor();
    fraction.above(0.5).select(fraction.constant(1.0) - fraction, fraction)
}
