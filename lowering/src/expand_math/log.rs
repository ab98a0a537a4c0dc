//! Logarithms: `x = 2^e (1 + f)` with `1 + f` between the square roots of 1/2 and 2.

use super::lanes::{Float, Int, Mask};
use super::tables::*;

/// Exponent, as a number and as an integer, and fraction of a positive normal number.
pub(super) struct Split<'a, 'b, 'c> {
    pub e: Float<'a, 'b, 'c>,
    pub int: Int<'a, 'b, 'c>,
    pub f: Float<'a, 'b, 'c>,
}

fn split<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Split<'a, 'b, 'c> {
    // The bits of sqrt(1/2): subtracting them carries into the exponent where the fraction is above it.
    let (root, mantissa) = if x.is_f32() { (0x3F35_04F3, 23) } else { (0x3FE6_A09E_667F_3BCD, 52) };
    let bits = x.bits();
    let int = (bits - root).shift_right(mantissa);
    Split { e: int.to_float(), int, f: bits.minus(int.shift_left(mantissa)).float() - 1.0 }
}

/// `split` of any positive number: subnormals are scaled up first.
pub(super) fn split_any<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Split<'a, 'b, 'c> {
    let (least, bits) = if x.is_f32() { (f64::from(f32::MIN_POSITIVE), 23) } else { (f64::MIN_POSITIVE, 52) };
    let small = x.below(least);
    let Split { e, int, f } = split(small.select(x * 2f64.powi(bits), x));
    Split { e: e - small.select(f64::from(bits), 0.0), int, f }
}

/// `log(1 + f) - f`; in f64 by `s = f / (2 + f)`, since `log(1 + f) = 2 atanh s`.
fn core<'a, 'b, 'c>(f: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    if f.is_f32() {
        return f * f * f.polynomial(LOG_F32);
    }
    let s = f / (f + 2.0);
    let (z, half) = (s * s, f * f * 0.5);
    s * z.fma(z.polynomial(LOG_F64), half) - half
}

/// `y` for finite `x` above the pole, minus infinity at it, NaN below it, and infinity and NaN for themselves.
fn at_edges<'a, 'b, 'c>(x: Float<'a, 'b, 'c>, pole: f64, y: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let y = x.below(f64::INFINITY).select(y, x);
    let edge = x.equals(pole).select(f64::NEG_INFINITY, f64::NAN);
    x.above(pole).select(y, edge)
}

/// Which lanes are no positive normal numbers: subnormal, zero, negative, infinite or NaN.
pub(super) fn is_no_normal<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Mask<'a, 'b, 'c> {
    let (least, infinite) = if x.is_f32() { (0x0080_0000, 0x7F80_0000) } else { (0x0010_0000_0000_0000, 0x7FF0_0000_0000_0000) };
    // All others are as many above the least one as natural numbers, where negative ones are the largest.
    (x.bits() - least).is_natural_from(infinite - least)
}

/// `log x` of a positive normal number.
pub(super) fn log_of_normal<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    log_of(split(x))
}

/// `log x`.
pub(super) fn log<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    at_edges(x, 0.0, log_of(split_any(x)))
}

fn log_of<'a, 'b, 'c>(Split { e, f, .. }: Split<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let [high, low] = if f.is_f32() { LN2_F32 } else { LN2_F64 };
    e.fma(high, f + e.fma(low, core(f)))
}

/// `log2 x` of a positive normal number.
pub(super) fn log2_of_normal<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    log2_of(split(x))
}

/// `log2 x`, exact at powers of two.
pub(super) fn log2<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    at_edges(x, 0.0, log2_of(split_any(x)))
}

fn log2_of<'a, 'b, 'c>(Split { e, f, .. }: Split<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let [high, low] = if f.is_f32() { LOG2_E_F32 } else { LOG2_E_F64 };
    e + f.fma(high, f.fma(low, core(f) * high))
}

/// `log10 x` of a positive normal number.
pub(super) fn log10_of_normal<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    log10_of(split(x))
}

/// `log10 x`.
pub(super) fn log10<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    at_edges(x, 0.0, log10_of(split_any(x)))
}

fn log10_of<'a, 'b, 'c>(Split { e, f, .. }: Split<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let ([high, low], [e_high, e_low]) = if f.is_f32() { (LOG10_E_F32, LOG10_2_F32) } else { (LOG10_E_F64, LOG10_2_F64) };
    let small = e.fma(e_low, f.fma(low, core(f) * high));
    e.fma(e_high, f.fma(high, small))
}

/// `log(1 + x)`: the exponent is that of `1 + x` rounded, the fraction that of the exact sum. Lanes below the pole have the exponent 0: that of a
/// negative number would scale them to subnormals, each of which costs a hundred cycles.
pub(super) fn log1p<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let Split { e, int, .. } = split(x.above(-1.0).select(x + 1.0, 1.0));
    let (minus, minus_int) = (-e, int.negated());
    let f = x.scale(minus, minus_int) + (x.constant(1.0).scale(minus, minus_int) - 1.0);
    let [high, low] = if x.is_f32() { LN2_F32 } else { LN2_F64 };
    let y = e.fma(high, f + e.fma(low, core(f))).with_sign_of(x);
    at_edges(x, -1.0, y)
}
