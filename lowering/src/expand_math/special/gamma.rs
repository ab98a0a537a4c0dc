//! The first two derivatives of the gamma function's logarithm.

use super::super::lanes::Float;
use super::super::round::trunc;
use std::f64::consts::PI;
use strata_core::upstream::math;

/// Bernoulli's numbers `B(2k) / 2k`; PyTorch's last one is that of its source.
const SERIES: [f64; 7] = [1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32760.0, 1.0 / 12.0];

/// The derivative of `lgamma`: reflection below zero.
pub(super) fn digamma<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let y = x.below(0.0).either(
        [x],
        |[x]| {
            let cotangent = x.in_f64(|x| x.constant(PI) / ((x - trunc(x)) * PI).unary(math::Tan::NAME));
            let y = positive_digamma(x.constant(1.0) - x) - cotangent;
            // A pole, or minus infinity.
            trunc(x).equals(x).select(f64::NAN, y)
        },
        |[x]| positive_digamma(x),
    );
    x.equals(0.0).select(x.constant(f64::INFINITY).with_sign_of(-x), y)
}

/// For x above 0: the recurrence up to 10, then the asymptotic series.
fn positive_digamma<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let [x, below] =
        x.lanes.repeat([x, x.constant(0.0)], |[x, _]| x.above(0.0) & x.below(10.0), |[x, below]| [x + 1.0, below - x.constant(1.0) / x]);
    let z = x.constant(1.0) / (x * x);
    let series = SERIES.iter().rev().copied().map(|term| z.constant(term)).reduce(|sum, term| sum * z + term).unwrap_or(z);
    let y = below + x.rounded(math::Log::NAME) - x.constant(0.5) / x - z * series;
    x.equals(10.0).select(below + 2.251_752_589_066_721, y)
}

/// The derivative of digamma: recurrence six steps up, then the asymptotic series; reflection below one half.
pub(super) fn trigamma<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    x.below(0.5).either(
        [x],
        |[x]| {
            let sine = (x * PI).rounded(math::Sin::NAME);
            let reflected = x.constant(PI) * PI / (sine * sine);
            -trigamma_from(x.constant(1.0) - x, -reflected)
        },
        |[x]| trigamma_from(x, x.constant(0.0)),
    )
}

/// `sum` and what the recurrence and the series say.
fn trigamma_from<'a, 'b, 'c>(x: Float<'a, 'b, 'c>, sum: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let one = x.constant(1.0);
    let (x, sum) = (0..6).fold((x, sum), |(x, sum), _| (x + 1.0, sum + one / (x * x)));
    let z = one / (x * x);
    let series = z.constant(1.0 / 6.0) - z * (z.constant(1.0 / 30.0) - z * (1.0 / 42.0));
    sum + (one + one / (x * 2.0) + z * series) / x
}
