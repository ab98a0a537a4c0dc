//! The incomplete gamma functions and Hurwitz's zeta function: of f32 computed in f64 and rounded once.

use super::super::gamma::{STIRLING, lgamma_above};
use super::super::lanes::{Float, Mask};
use super::super::log::log1p;
use super::super::tables::LGAMMA_F64;
use std::f64::consts::PI;
use strata_core::upstream::math;

/// The digits that a result has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Digits {
    /// Those of an f32.
    Single,
    /// Those of an f64.
    Double,
}

impl Digits {
    /// Terms that are smaller, beside their sum, are none.
    const fn term(self) -> f64 {
        match self {
            Self::Single => 1e-10,
            Self::Double => f64::EPSILON / 16.0,
        }
    }

    /// Terms of the alternating series for small arguments up to the last that is one, by fours.
    const fn alternating(self) -> u32 {
        match self {
            Self::Single => 16,
            Self::Double => 20,
        }
    }

    /// Changes of what is rounded that are no larger, beside it, are none.
    const fn change(self) -> f64 {
        match self {
            Self::Single => 1e-10,
            Self::Double => f64::EPSILON,
        }
    }
}

/// Shapes from here on are nearly those of a normal distribution.
const LARGE: f64 = 1e6;

/// Nothing of a distribution of a shape up to [`LARGE`] is beyond this point; much further on convergents overflow.
const FAR: f64 = 1e9;

/// Steps up to where Stirling's series has all digits of an f64.
const STEPS: u32 = 15;

/// `ln(2 pi) / 2`.
const HALF_LN_2_PI: f64 = 0.918_938_533_204_672_7;

/// (2k)! / B(2k) for Bernoulli's numbers from B(2) on.
const EULER_MACLAURIN: [f64; 12] = [
    12.0,
    -720.0,
    30_240.0,
    -1_209_600.0,
    47_900_160.0,
    -1_307_674_368_000.0 / 691.0,
    74_724_249_600.0,
    -10_670_622_842_880_000.0 / 3617.0,
    5_109_094_217_170_944_000.0 / 43_867.0,
    -802_857_662_698_291_200_000.0 / 174_611.0,
    155_112_100_433_309_859_840_000.0 / 854_513.0,
    -1_693_824_136_731_743_669_452_800_000.0 / 236_364_091.0,
];

/// The lower one, `P(a, x)`.
pub(super) fn igamma<'a, 'b, 'c>(a: Float<'a, 'b, 'c>, x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    incomplete(a, x, false)
}

/// The upper one, `Q(a, x) = 1 - P(a, x)`.
pub(super) fn igammac<'a, 'b, 'c>(a: Float<'a, 'b, 'c>, x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    incomplete(a, x, true)
}

/// Positive numbers.
fn are_inside<'a, 'b, 'c>(a: Float<'a, 'b, 'c>, x: Float<'a, 'b, 'c>) -> Mask<'a, 'b, 'c> {
    a.above(0.0) & x.above(0.0) & a.below(f64::INFINITY) & x.below(f64::INFINITY)
}

/// Where the series is sooner.
fn are_lower<'a, 'b, 'c>(a: Float<'a, 'b, 'c>, x: Float<'a, 'b, 'c>) -> Mask<'a, 'b, 'c> {
    x.below(1.1) | x.below(a)
}

/// Where `1 - P` would lose the digits of Q.
fn are_small<'a, 'b, 'c>(a: Float<'a, 'b, 'c>, x: Float<'a, 'b, 'c>) -> Mask<'a, 'b, 'c> {
    x.below(1.1) & a.below(0.9)
}

/// Q or P. Lanes that others compute for get numbers for which each loop ends at once.
fn incomplete<'a, 'b, 'c>(a: Float<'a, 'b, 'c>, x: Float<'a, 'b, 'c>, upper: bool) -> Float<'a, 'b, 'c> {
    are_inside(a, x).either(
        [a, x],
        |[a, x]| {
            let inside = are_inside(a, x);
            let digits = if a.is_f32() { Digits::Single } else { Digits::Double };
            Float::in_f64_of([inside.select(a, 1.0), inside.select(x, 1.0)], |[a, x]| {
                a.above(LARGE).either(
                    [a, x],
                    |[a, x]| nearly_normal(a, x, upper),
                    |[a, x]| {
                        let large = a.above(LARGE);
                        moderate(large.select(1.0, a), large.select(1.0, x).at_most(FAR), upper, digits)
                    },
                )
            })
        },
        |[a, x]| ends(a, x, upper),
    )
}

/// One of Q and P by the other.
fn other<'a, 'b, 'c>(part: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    part.constant(1.0) - part
}

/// The power series of P, or the continued fraction of Q.
fn moderate<'a, 'b, 'c>(a: Float<'a, 'b, 'c>, x: Float<'a, 'b, 'c>, upper: bool, digits: Digits) -> Float<'a, 'b, 'c> {
    let scale = power_over_gamma(a, x, digits);
    are_lower(a, x).either(
        [a, x, scale],
        |[a, x, scale]| {
            let lower = (scale * series(a, are_lower(a, x).select(x, 0.0), digits) / a).at_most(1.0);
            if !upper {
                return lower;
            }
            are_small(a, x).either([a, x, lower], |[a, x, _]| upper_of_small(a, x, digits), |[_, _, lower]| other(lower))
        },
        |[a, x, scale]| {
            let lower = are_lower(a, x);
            let fraction = fraction(lower.select(1.0, a), lower.select(2.0, x), digits);
            let part = (scale * fraction).at_least(0.0).at_most(1.0);
            if upper { part } else { other(part) }
        },
    )
}

/// Steps until the terms vanish: about the width of the distribution.
fn limit<'a, 'b, 'c>(a: Float<'a, 'b, 'c>, x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    a.above(x).select(a, x).sqrt() * 40.0 + 200.0
}

/// The sum of `x^k / ((a + 1) .. (a + k))`, four terms with one division at a time.
fn series<'a, 'b, 'c>(a: Float<'a, 'b, 'c>, x: Float<'a, 'b, 'c>, digits: Digits) -> Float<'a, 'b, 'c> {
    let one = a.constant(1.0);
    let start = [one, one, one, a, x, limit(a, x)];
    let [_, _, sum, ..] = a.lanes.repeat(
        start,
        |[k, term, sum, _, _, limit]| term.above(sum * digits.term()) & k.below(limit),
        |[k, term, sum, a, x, limit]| {
            let [b, c, d, e] = [0.0, 1.0, 2.0, 3.0].map(|step| a + (k + step));
            let (de, square) = (d * e, x * x);
            let part = term / (b * c * de);
            let four = part * x * (c * de + x * (de + x * (e + x)));
            [k + 4.0, part * (square * square), sum + four, a, x, limit]
        },
    );
    sum
}

/// Convergents by the recurrence of their numerators and denominators, every fourth of which is looked at, and scaled down when they grow.
fn fraction<'a, 'b, 'c>(a: Float<'a, 'b, 'c>, x: Float<'a, 'b, 'c>, digits: Digits) -> Float<'a, 'b, 'c> {
    let one = a.constant(1.0);
    let (y, z) = (one - a, x + 2.0 - a);
    let (top, bottom) = (x + 1.0, z * x);
    let start = [one, y, z, top, bottom, one, x, top / bottom, one, limit(a, x)];
    let [.., value, _, _] = a.lanes.repeat(
        start,
        |[k, .., change, limit]| change.above(0.0) & k.below(limit),
        |[k, y, z, top, bottom, last_top, last_bottom, value, _, limit]| {
            let (mut k, mut y, mut z) = (k, y, z);
            let (mut top, mut bottom) = ([last_top, top], [last_bottom, bottom]);
            for _ in 0..4 {
                (y, z) = (y + 1.0, z + 2.0);
                let factor = y * k;
                (top, bottom) = (convergent(top, z, factor), convergent(bottom, z, factor));
                k = k + 1.0;
            }
            let zero = bottom[1].equals(0.0);
            let next = zero.select(value, top[1] / bottom[1]);
            let change = zero.select(1.0, (value - next).abs() - next.abs() * digits.change());
            let scale = top[1].abs().above(1e100).select(1e-100, 1.0);
            [k, y, z, top[1] * scale, bottom[1] * scale, top[0] * scale, bottom[0] * scale, next, change, limit]
        },
    );
    value
}

/// The next one of a recurrence, and the one before it: by one operation after that one is known.
fn convergent<'a, 'b, 'c>([last, now]: [Float<'a, 'b, 'c>; 2], z: Float<'a, 'b, 'c>, factor: Float<'a, 'b, 'c>) -> [Float<'a, 'b, 'c>; 2] {
    [now, now.fma(z, -(last * factor))]
}

/// `x^a e^-x / gamma(a)`. For large a by Stirling's series, whose large terms cancel.
fn power_over_gamma<'a, 'b, 'c>(a: Float<'a, 'b, 'c>, x: Float<'a, 'b, 'c>, digits: Digits) -> Float<'a, 'b, 'c> {
    a.below(30.0).either(
        [a, x],
        |[a, x]| {
            if digits == Digits::Double {
                return (a * x.unary(math::Log::NAME) - x - lgamma_above(a)).unary(math::Exp::NAME);
            }
            let (product, shifted) = stirling(a);
            (a * x.unary(math::Log::NAME) - x - shifted).unary(math::Exp::NAME) * product
        },
        |[a, x]| {
            let distance = (x - a) / a;
            let near = distance.abs().below(0.3).select(distance, 0.0).unary(math::Log1p::NAME);
            let log = distance.abs().below(0.3).select(near, (x / a).unary(math::Log::NAME)) - distance;
            let inverse = a.constant(1.0) / a;
            let series = inverse * (inverse * inverse).polynomial(STIRLING);
            (a * (0.5 / PI)).sqrt() * (a * log - series).unary(math::Exp::NAME)
        },
    )
}

/// `a .. (a + 14)`, and the logarithm of the gamma function of `a + 15`, of which it is the part beyond that of `a`.
fn stirling<'a, 'b, 'c>(a: Float<'a, 'b, 'c>) -> (Float<'a, 'b, 'c>, Float<'a, 'b, 'c>) {
    let product = (1..STEPS).fold(a, |product, step| product * (a + f64::from(step)));
    let b = a + f64::from(STEPS);
    let inverse = a.constant(1.0) / b;
    let series = inverse * (inverse * inverse).polynomial(STIRLING);
    (product, (b - 0.5) * b.unary(math::Log::NAME) - b + series + HALF_LN_2_PI)
}

/// `ln gamma(1 + a)` between 0 and 1. Near 0, where it has a zero that `1 + a` has no digits for, it is `ln gamma(2 + a) - ln(1 + a)`.
fn lgamma_of_next<'a, 'b, 'c>(a: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    a.below(0.5).select(a * a.polynomial(LGAMMA_F64) - log1p(a), lgamma_above(a + 1.0))
}

/// Q where both arguments are small: the sum of `1 - x^a / gamma(1 + a)` and of the series without its first term.
fn upper_of_small<'a, 'b, 'c>(a: Float<'a, 'b, 'c>, x: Float<'a, 'b, 'c>, digits: Digits) -> Float<'a, 'b, 'c> {
    let small = are_small(a, x);
    let (a, x) = (small.select(a, 0.5), small.select(x, 0.5));
    let log = a * x.unary(math::Log::NAME) - lgamma_of_next(a);
    -log.unary(math::ExpM1::NAME) - a * log.unary(math::Exp::NAME) * alternating(a, x, digits)
}

/// The sum of `(-x)^k / (k! (a + k))` from 1 on, four terms with one division at a time, the last ones first.
fn alternating<'a, 'b, 'c>(a: Float<'a, 'b, 'c>, x: Float<'a, 'b, 'c>, digits: Digits) -> Float<'a, 'b, 'c> {
    let square = x * x;
    let fours = (0..digits.alternating() / 4).rev().map(|four| {
        let k = f64::from(4 * four + 1);
        // `1 / k!`, and with a sign and a power of x less what it is in the next terms.
        let first = -1.0 / (1..=4 * four + 1).map(f64::from).product::<f64>();
        let [second, third, last] = [1.0, 2.0, 3.0].map(|step| (1..=step as u32).fold(first, |c, i| -c / (k + f64::from(i))));
        let [b, c, d, e] = [0.0, 1.0, 2.0, 3.0].map(|step| a + (k + step));
        let (low, high) = (b * c, d * e);
        let terms = high * (c * first + x * b * second) + square * low * (e * third + x * d * last);
        terms / (low * high)
    });
    let zero = a.constant(0.0);
    fours.fold(zero, |sum, four| sum.fma(square * square, four)) * x
}

/// For large a: the normal distribution of a deviation, and the first correction.
fn nearly_normal<'a, 'b, 'c>(a: Float<'a, 'b, 'c>, x: Float<'a, 'b, 'c>, upper: bool) -> Float<'a, 'b, 'c> {
    let one = a.constant(1.0);
    let distance = (x - a) / a;
    // Half the squared deviation; its logarithm's series where that cancels.
    let series = distance * distance * (a.constant(0.5) - distance * (1.0 / 3.0));
    let half_square = distance.abs().below(1e-4).select(series, distance - distance.unary(math::Log1p::NAME));
    let deviation = (half_square * 2.0).sqrt().with_sign_of(distance);
    let tail = (deviation.abs() * (a * 0.5).sqrt()).unary(math::Erfc::NAME) * 0.5;
    let skew = deviation.abs().below(1e-4).select(-1.0 / 3.0, one / distance - one / deviation);
    let correction = (-a * half_square).unary(math::Exp::NAME) / (a * (2.0 * PI)).sqrt() * skew;
    let is_lower = deviation.below(0.0);
    let part = is_lower.select(tail - correction, tail + correction);
    if upper { is_lower.select(other(part), part) } else { is_lower.select(part, other(part)) }
}

/// Where an argument is an end of its range, or outside. In this order NaN beside an end does not matter, as in PyTorch.
fn ends<'a, 'b, 'c>(a: Float<'a, 'b, 'c>, x: Float<'a, 'b, 'c>, upper: bool) -> Float<'a, 'b, 'c> {
    let of = |q: f64| a.constant(if upper { q } else { 1.0 - q });
    let far = x.equals(f64::INFINITY);
    let y = far.select(of(0.0), f64::NAN);
    let y = a.equals(f64::INFINITY).select(far.select(f64::NAN, of(1.0)), y);
    let y = x.equals(0.0).select(of(1.0), y);
    let y = a.equals(0.0).select(x.above(0.0).select(of(0.0), f64::NAN), y);
    (a.below(0.0) | x.below(0.0)).select(f64::NAN, y)
}

/// Where Hurwitz's zeta function is a sum. Powers of negative numbers are numbers where the exponent is whole.
fn are_sums<'a, 'b, 'c>(x: Float<'a, 'b, 'c>, q: Float<'a, 'b, 'c>) -> Mask<'a, 'b, 'c> {
    let negative = q.below(0.0) & x.equals(x.floor());
    x.above(1.0) & (q.above(0.0) | negative.unless(q.equals(q.floor())))
}

/// The sum of `(q + k)^-x`: at least nine terms, then Euler and Maclaurin's formula for the others. The first term is of the arguments' precision.
pub(super) fn zeta<'a, 'b, 'c>(x: Float<'a, 'b, 'c>, q: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    are_sums(x, q).either(
        [x, q],
        |[x, q]| {
            // Other lanes get numbers that are done at once.
            let sums = are_sums(x, q);
            let (x, q) = (sums.select(x, f64::INFINITY), sums.select(q, 2.0));
            let first = Float::in_f64_of([x, q], |[x, q]| power(q, -x));
            let term = if x.is_f32() { exponential } else { power };
            Float::in_f64_of([x, q, first], |[x, q, first]| hurwitz(x, q, first, term))
        },
        |[x, q]| {
            let pole = q.at_or_below(0.0) & q.equals(q.floor());
            (x.equals(1.0) | pole.unless(x.below(1.0))).select(f64::INFINITY, f64::NAN)
        },
    )
}

fn power<'a, 'b, 'c>(x: Float<'a, 'b, 'c>, by: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    x.binary(math::PowF::NAME, by)
}

/// The same in f64 with the digits of an f32, by a logarithm of a few digits less: of negative numbers by whole exponents.
fn exponential<'a, 'b, 'c>(x: Float<'a, 'b, 'c>, by: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let size = (x.abs().unary(math::Log::NAME) * by).unary(math::Exp::NAME);
    let half = by * 0.5;
    let odd = x.below(0.0).unless(half.equals(half.floor()));
    odd.select(-size, size)
}

/// What gives a number's power.
type Power = for<'x, 'y, 'z> fn(Float<'x, 'y, 'z>, Float<'x, 'y, 'z>) -> Float<'x, 'y, 'z>;

fn hurwitz<'a, 'b, 'c>(x: Float<'a, 'b, 'c>, q: Float<'a, 'b, 'c>, first: Float<'a, 'b, 'c>, term: Power) -> Float<'a, 'b, 'c> {
    const SMALL: f64 = f64::EPSILON / 2.0;
    let (zero, one) = (x.constant(0.0), x.constant(1.0));
    let start = [first, q, zero, zero, one, x];
    let [mut sum, a, mut power, _, more, _] = x.lanes.repeat(
        start,
        |[_, a, _, terms, more, _]| more.above(0.0) & (terms.below(9.0) | a.at_or_below(9.0)),
        |[sum, a, _, terms, _, x]| {
            let a = a + 1.0;
            let power = term(a, -x);
            let sum = sum + power;
            let more = power.abs().below(sum.abs() * SMALL).select(0.0, 1.0);
            [sum, a, power, terms + 1.0, more, x]
        },
    );
    let mut more = more.above(0.0);
    sum = more.select(sum + power * a / (x - 1.0) - power * 0.5, sum);
    let (mut rising, mut k, inverse) = (one, 0.0, one / a);
    for divisor in EULER_MACLAURIN {
        rising = rising * (x + k);
        power = power * inverse;
        let term = rising * power * (1.0 / divisor);
        sum = more.select(sum + term, sum);
        more = more.unless(term.abs().below(sum.abs() * SMALL));
        rising = rising * (x + (k + 1.0));
        power = power * inverse;
        k += 2.0;
    }
    sum
}
