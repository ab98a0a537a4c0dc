//! The logarithm of the gamma function, on f64 lanes whose results are rounded to f32.
//!
//! Stirling's series holds from 8 on (NIST DLMF 5.11.1). Smaller arguments take eight steps up by the recurrence (5.5.1), negative ones the
//! reflection formula (5.5.3).

use super::lanes::Float;
use super::log::log;
use super::trig;
use std::f64::consts::PI;

/// The argument from which on the series is right to 13 digits, and the steps that bring any positive one there.
const ENOUGH: u32 = 8;

/// `B(2k) / (2k (2k - 1))`, with Bernoulli's numbers B.
pub(super) const STIRLING: &[f64] = &[1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360_360.0];

/// `(ln(2 pi) - 1) / 2`.
const OFFSET: f64 = 0.418_938_533_204_672_7;

/// `log |gamma(x)|`.
pub(super) fn lgamma<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let a = x.abs();
    let small = a.below(f64::from(ENOUGH));
    let product = (1..ENOUGH).fold(a, |product, step| product * (a + f64::from(step)));
    let z = small.select(a + f64::from(ENOUGH), a);
    let inverse = a.constant(1.0) / z;
    let series = inverse * (inverse * inverse).polynomial(STIRLING);
    let y = (z - 0.5) * (log(z) - 1.0) + (series + OFFSET) - log(small.select(product, 1.0));
    // log |gamma(x)| + log |gamma(-x)| = log(pi / |x sin(pi x)|), which is infinite at the poles.
    let sine = trig::sin(to_integer(a) * PI).value;
    let reflected = log(a.constant(PI) / (a * sine)) - y;
    let y = x.below(0.0).select(reflected, y);
    // Where the value is 0 the sum above leaves its rounding error; at infinity it is the difference of infinities.
    let y = (x.equals(1.0) | x.equals(2.0)).select(0.0, y);
    a.equals(f64::INFINITY).select(f64::INFINITY, y)
}

/// The distance of a number from zero on to the nearest integer: exactly, so that its sine is as near to zero as it should be.
fn to_integer<'a, 'b, 'c>(a: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let fraction = a - a.floor();
    fraction.above(0.5).select(fraction.constant(1.0) - fraction, fraction)
}
