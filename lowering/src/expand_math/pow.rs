//! Powers: `x^y = e^(y log |x|)`. In f64 the logarithm is a sum of two numbers; for f32 one f64 has digits enough.

use super::exp::{exp_for_f32, exp_of_sum};
use super::lanes::Float;
use super::log::{Split, log_of_normal, split_any};
use super::tables::*;

/// A number and what its rounding lost.
#[derive(Clone, Copy)]
struct Sum<'a, 'b, 'c> {
    high: Float<'a, 'b, 'c>,
    low: Float<'a, 'b, 'c>,
}

impl<'a, 'b, 'c> Sum<'a, 'b, 'c> {
    /// Of two numbers, the first one not the smaller.
    fn of(large: Float<'a, 'b, 'c>, small: Float<'a, 'b, 'c>) -> Self {
        let high = large + small;
        Self { high, low: (large - high) + small }
    }

    fn times(self, other: Self) -> Self {
        let high = self.high * other.high;
        let lost = self.high.fma(other.high, -high);
        Self { high, low: self.high.fma(other.low, self.low.fma(other.high, lost)) }
    }
}

/// `log a` of a positive number: `2 s + s^3 (2/3 + s^2 q(s^2))` with `s = f / (2 + f)`, of which all but `q` have twice the digits.
fn log<'a, 'b, 'c>(a: Float<'a, 'b, 'c>) -> Sum<'a, 'b, 'c> {
    let Split { e, f, .. } = split_any(a);
    let below = f + 2.0;
    let below_low = f - (below - 2.0);
    let high = f / below;
    let s = Sum { high, low: (below.fma(-high, f) - high * below_low) / below };
    let z = s.times(s);
    let third = Sum::of(f.constant(2.0 / 3.0), z.high * z.high.polynomial(POW_F64));
    let third = Sum { low: third.low + TWO_THIRDS_LOW, ..third };
    let cubic = s.times(z.times(third));
    let fraction = Sum::of(s.high + s.high, cubic.high);
    let fraction_low = fraction.low + (s.low.fma(2.0, cubic.low));
    let power = e * LN2_F64[0];
    let power_low = e.fma(LN2_F64[0], -power) + e * LN2_F64[1];
    let all = Sum::of(power, fraction.high);
    Sum::of(all.high, all.low + (power_low + fraction_low))
}

/// `2/3` less the f64 next to it.
const TWO_THIRDS_LOW: f64 = 2.0 / 3.0 / (1u64 << 54) as f64;

/// `x^y`.
pub(super) fn pow<'a, 'b, 'c>(x: Float<'a, 'b, 'c>, y: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    at_edges(x, y, if x.is_f32() { power_of_f32(x.abs(), y) } else { power(x.abs(), y) })
}

/// `a^y` in f64, of a positive number.
fn power<'a, 'b, 'c>(a: Float<'a, 'b, 'c>, y: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let log = log(a);
    let exponent = y * log.high;
    let rest = y.fma(log.high, -exponent) + y * log.low;
    // Beyond all exponents the rest counts for nothing, and may be none.
    let rest = exponent.abs().below(800.0).select(rest, 0.0);
    let one = y.constant(1.0);
    exp_of_sum(exponent, rest, one)
}

/// `a^y` in f32: the error of the logarithm is some `2^-52` of it, and no exponent that counts is above 160.
fn power_of_f32<'a, 'b, 'c>(a: Float<'a, 'b, 'c>, y: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    Float::in_f64_of([a, y], |[a, y]| exp_for_f32((y * log_of_normal(a)).at_least(-160.0).at_most(160.0)))
}

/// `x^y` where `|x|^y` is given for a positive finite `x` other than one.
fn at_edges<'a, 'b, 'c>(x: Float<'a, 'b, 'c>, y: Float<'a, 'b, 'c>, value: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let a = x.abs();
    let up = y.above(0.0);
    let value = a.equals(0.0).select(up.select(0.0, f64::INFINITY), value);
    let value = a.equals(f64::INFINITY).select(up.select(f64::INFINITY, 0.0), value);
    // A base below zero: whole exponents keep the sign or drop it, others have no value.
    let (half, whole) = (y * 0.5, y.equals(y.floor()));
    let integers = if y.is_f32() { 2f64.powi(23) } else { 2f64.powi(52) };
    let odd = half.abs().below(integers) & whole & half.floor().below(half);
    let value = odd.select(value.with_sign_of(x), value);
    let finite = a.below(f64::INFINITY);
    let value = (x.below(0.0) & finite).select(whole.select(value, f64::NAN), value);
    // One to any power, and anything to none; minus one to an infinite one.
    let value = x.is_nan().select(x, y.is_nan().select(y, value));
    let infinite = y.abs().equals(f64::INFINITY);
    (x.equals(1.0) | y.equals(0.0) | (a.equals(1.0) & infinite)).select(1.0, value)
}
