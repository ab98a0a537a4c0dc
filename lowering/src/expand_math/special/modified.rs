//! Modified Bessel functions by their Chebyshev expansions.

use super::super::lanes::Float;
use super::tables::*;
use strata_core::upstream::math;

/// The expansion whose coefficients are given from the highest order on; `x` is twice its variable.
fn expansion<'a, 'b, 'c>(x: Float<'a, 'b, 'c>, coefficients: &[f64]) -> Float<'a, 'b, 'c> {
    let zero = x.constant(0.0);
    let (mut now, mut last, mut before) = (zero, zero, zero);
    for (at, &coefficient) in coefficients.iter().enumerate() {
        before = last;
        last = now;
        now = match at {
            0 => x.constant(coefficient),
            1 => x * last + coefficient,
            _ => x.fma(last, -before) + coefficient,
        };
    }
    (now - before) * 0.5
}

/// `x / 2 - 2` runs over the variable of the tables for x up to 8.
fn near<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    x * 0.5 - 2.0
}

/// `4 edge / x - 2` runs over the variable of the tables for x from `edge` on.
fn far<'a, 'b, 'c>(x: Float<'a, 'b, 'c>, edge: f64) -> Float<'a, 'b, 'c> {
    x.constant(4.0 * edge) / x - 2.0
}

/// The last terms of a table, those of low order: f32 cannot tell more from none.
fn low(x: Float<'_, '_, '_>, table: &'static [f64], terms: usize) -> &'static [f64] {
    if x.is_f32() { &table[table.len() - terms..] } else { table }
}

fn exp<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    x.rounded(math::Exp::NAME)
}

/// By a table for x from 8 on, scaled by `exp(-x)`.
fn scaled_far<'a, 'b, 'c>(x: Float<'a, 'b, 'c>, table: &[f64]) -> Float<'a, 'b, 'c> {
    expansion(far(x, 8.0), table) / x.sqrt()
}

/// By a table for x from 8 on.
fn growing_far<'a, 'b, 'c>(x: Float<'a, 'b, 'c>, table: &[f64]) -> Float<'a, 'b, 'c> {
    exp(x) * expansion(far(x, 8.0), table) / x.sqrt()
}

fn i0_near<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    exp(x) * expansion(near(x), I0_NEAR)
}

fn i1_near<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    exp(x) * x * expansion(near(x), low(x, I1_NEAR, 17))
}

pub(super) fn bessel_i0<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let x = x.abs();
    x.not_within(8.0).either([x], |[x]| growing_far(x, I0_FAR), |[x]| i0_near(x))
}

pub(super) fn bessel_i0e<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let x = x.abs();
    x.not_within(8.0).either([x], |[x]| scaled_far(x, I0_FAR), |[x]| expansion(near(x), I0_NEAR))
}

fn odd<'a, 'b, 'c>(x: Float<'a, 'b, 'c>, value: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    x.below(0.0).select(-value, value)
}

pub(super) fn bessel_i1<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let a = x.abs();
    let y = a.not_within(8.0).either([a], |[a]| growing_far(a, low(a, I1_FAR, 7)), |[a]| i1_near(a));
    odd(x, y)
}

/// The same function by all terms of the tables: PyTorch has one of either kind, and they differ in the last bit of `f32`.
pub(super) fn bessel_i1_full<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let a = x.abs();
    let y = a.not_within(8.0).either([a], |[a]| growing_far(a, I1_FAR), |[a]| expansion(near(a), I1_NEAR) * a * exp(a));
    odd(x, y)
}

pub(super) fn bessel_i1e<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let a = x.abs();
    let y = a.not_within(8.0).either([a], |[a]| scaled_far(a, low(a, I1_FAR, 7)), |[a]| expansion(near(a), low(a, I1_NEAR, 17)) * a);
    odd(x, y)
}

/// A function of the third kind: infinite at 0, without a value below, by `small` up to 2 and by `large` beyond.
fn decaying<'a, 'b, 'c>(
    x: Float<'a, 'b, 'c>,
    small: impl for<'x, 'y> FnOnce(Float<'x, 'y, 'c>) -> Float<'x, 'y, 'c>,
    large: impl for<'x, 'y> FnOnce(Float<'x, 'y, 'c>) -> Float<'x, 'y, 'c>,
) -> Float<'a, 'b, 'c> {
    let y = x.not_within(2.0).either([x], |[x]| large(x), |[x]| small(x));
    x.below(0.0).select(f64::NAN, x.equals(0.0).select(f64::INFINITY, y))
}

fn log_half<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    (x * 0.5).rounded(math::Log::NAME)
}

fn k0_near<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    expansion(x * x - 2.0, K0_NEAR) - log_half(x) * i0_near(x)
}

fn k1_near<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    log_half(x) * i1_near(x) + expansion(x * x - 2.0, K1_NEAR) / x
}

/// By a table for x from 2 on.
fn k_far<'a, 'b, 'c>(x: Float<'a, 'b, 'c>, table: &[f64]) -> Float<'a, 'b, 'c> {
    exp(-x) * expansion(far(x, 2.0), table) / x.sqrt()
}

pub(super) fn bessel_k0<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    decaying(x, |x| k0_near(x), |x| k_far(x, K0_FAR))
}

pub(super) fn bessel_k0e<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    decaying(x, |x| k0_near(x) * exp(x), |x| expansion(far(x, 2.0), K0_FAR) / x.sqrt())
}

pub(super) fn bessel_k1<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    decaying(x, |x| k1_near(x), |x| k_far(x, K1_FAR))
}

pub(super) fn bessel_k1e<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    decaying(x, |x| k1_near(x) * exp(x), |x| expansion(far(x, 2.0), K1_FAR) / x.sqrt())
}
