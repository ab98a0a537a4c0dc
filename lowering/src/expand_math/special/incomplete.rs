//! The incomplete gamma functions and Hurwitz's zeta function: of f32 computed in f64 and rounded once. For incomplete gamma functions of f64, whose last
//! digits these steps do not have, there are functions of the runtime.

use super::super::gamma::STIRLING;
use super::super::lanes::{Float, Mask};
use std::f64::consts::PI;
use strata_core::upstream::math;

/// Terms and changes that are smaller, beside what they belong to, are none in f32.
const NOTHING: f64 = 1e-10;

/// Shapes from here on are nearly those of a normal distribution.
const LARGE: f64 = 1e6;

/// Steps up to where Stirling's series has all digits of an f64.
const STEPS: u32 = 15;

/// `ln(2 pi) / 2`.
const HALF_LN_2_PI: f64 = 0.918_938_533_204_672_7;

/// `ln gamma(1 + a)` by the powers of a: Euler's constant, then `(-1)^k zeta(k) / k` (NIST DLMF 5.7.3).
const LGAMMA_NEAR_ONE: &[f64] = &[
    0.0,
    -0.577_215_664_901_532_9,
    0.822_467_033_424_113_2,
    -0.400_685_634_386_531_43,
    0.270_580_808_427_784_55,
    -0.207_385_551_028_673_98,
    0.169_557_176_997_408_2,
    -0.144_049_896_768_846_1,
    0.125_509_669_524_743_04,
    -0.111_334_265_869_564_69,
    0.100_099_457_512_781_8,
];

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
            Float::in_f64_of([inside.select(a, 1.0), inside.select(x, 1.0)], |[a, x]| {
                a.above(LARGE).either(
                    [a, x],
                    |[a, x]| nearly_normal(a, x, upper),
                    |[a, x]| {
                        let large = a.above(LARGE);
                        moderate(large.select(1.0, a), large.select(1.0, x), upper)
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
fn moderate<'a, 'b, 'c>(a: Float<'a, 'b, 'c>, x: Float<'a, 'b, 'c>, upper: bool) -> Float<'a, 'b, 'c> {
    let scale = power_over_gamma(a, x);
    are_lower(a, x).either(
        [a, x, scale],
        |[a, x, scale]| {
            let lower = (scale * series(a, are_lower(a, x).select(x, 0.0)) / a).at_most(1.0);
            if !upper {
                return lower;
            }
            are_small(a, x).either([a, x, lower], |[a, x, _]| upper_of_small(a, x), |[_, _, lower]| other(lower))
        },
        |[a, x, scale]| {
            let lower = are_lower(a, x);
            let fraction = fraction(lower.select(1.0, a), lower.select(2.0, x));
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
fn series<'a, 'b, 'c>(a: Float<'a, 'b, 'c>, x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let one = a.constant(1.0);
    let start = [one, one, one, a, x, limit(a, x)];
    let [_, _, sum, ..] = a.lanes.repeat(
        start,
        |[k, term, sum, _, _, limit]| term.above(sum * NOTHING) & k.below(limit),
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
fn fraction<'a, 'b, 'c>(a: Float<'a, 'b, 'c>, x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
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
                (top, bottom) = ([top[1], top[1] * z - top[0] * factor], [bottom[1], bottom[1] * z - bottom[0] * factor]);
                k = k + 1.0;
            }
            let zero = bottom[1].equals(0.0);
            let next = zero.select(value, top[1] / bottom[1]);
            let change = zero.select(1.0, (value - next).abs() - next.abs() * NOTHING);
            let scale = top[1].abs().above(1e100).select(1e-100, 1.0);
            [k, y, z, top[1] * scale, bottom[1] * scale, top[0] * scale, bottom[0] * scale, next, change, limit]
        },
    );
    value
}

/// `x^a e^-x / gamma(a)`. For large a by Stirling's series, whose large terms cancel.
fn power_over_gamma<'a, 'b, 'c>(a: Float<'a, 'b, 'c>, x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    a.below(30.0).either(
        [a, x],
        |[a, x]| {
            let (product, shifted) = stirling(a, 0);
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

/// `(a + first) .. (a + 14)`, and the logarithm of the gamma function of `a + 15`, of which it is the part beyond that of `a + first`.
fn stirling<'a, 'b, 'c>(a: Float<'a, 'b, 'c>, first: u32) -> (Float<'a, 'b, 'c>, Float<'a, 'b, 'c>) {
    let product = (first + 1..STEPS).fold(a + f64::from(first), |product, step| product * (a + f64::from(step)));
    let b = a + f64::from(STEPS);
    let inverse = a.constant(1.0) / b;
    let series = inverse * (inverse * inverse).polynomial(STIRLING);
    (product, (b - 0.5) * b.unary(math::Log::NAME) - b + series + HALF_LN_2_PI)
}

/// Q where both arguments are small: the sum of `1 - x^a / gamma(1 + a)` and of the series without its first term.
fn upper_of_small<'a, 'b, 'c>(a: Float<'a, 'b, 'c>, x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let small = are_small(a, x);
    let (a, x) = (small.select(a, 0.5), small.select(x, 0.5));
    let one = a.constant(1.0);
    let start = [one, one, one, a.constant(0.0), a, x];
    let [_, _, _, sum, ..] = a.lanes.repeat(
        start,
        |[_, _, term, sum, _, _]| term.abs().above(sum.abs() * NOTHING),
        |[k, factor, _, sum, a, x]| {
            let factor = factor * (-x / k);
            let term = factor / (a + k);
            [k + 1.0, factor, term, sum + term, a, x]
        },
    );
    let (product, shifted) = stirling(a, 1);
    let lgamma = a.below(0.1).select(a.polynomial(LGAMMA_NEAR_ONE), shifted - product.unary(math::Log::NAME));
    let log = a * x.unary(math::Log::NAME) - lgamma;
    -log.unary(math::ExpM1::NAME) - a * log.unary(math::Exp::NAME) * sum
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
