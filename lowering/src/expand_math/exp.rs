//! The exponential family: `2^n e^r` with `n` an integer and `r` within half of `ln 2`.

use super::lanes::{Float, Int};
use super::own::Normal;
use super::tables::*;

/// `x = n ln 2 + r`.
struct Reduced<'a, 'b, 'c> {
    n: Float<'a, 'b, 'c>,
    int: Int<'a, 'b, 'c>,
    r: Float<'a, 'b, 'c>,
}

/// `r` is exact but for one rounding: the first product cancels the leading bits of `x` exactly.
fn reduce<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Reduced<'a, 'b, 'c> {
    let ([high, low], [by, _]) = if x.is_f32() { (LN2_F32, LOG2_E_F32) } else { (LN2_F64, LOG2_E_F64) };
    let (n, int) = x.round_product(by);
    Reduced { n, int, r: n.fma(-low, n.fma(-high, x)) }
}

/// `e^r - 1` to within an ulp of itself.
fn core<'a, 'b, 'c>(r: Float<'a, 'b, 'c>, coefficients: &[f64]) -> Float<'a, 'b, 'c> {
    (r * r).fma(r.polynomial(coefficients), r)
}

/// `e^r`: what the rounding of the sums before loses is made small by the last product.
fn power<'a, 'b, 'c>(r: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let rest = r.polynomial(if r.is_f32() { EXP_F32 } else { EXP_F64 });
    rest.fma(r, 1.0).fma(r, 1.0)
}

/// `e^x`.
pub(super) fn exp<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    // Outside of these the result is zero or infinite.
    let (low, high) = if x.is_f32() { (-104.0, 89.0) } else { (-746.0, 710.0) };
    let Reduced { n, int, r } = reduce(x.at_least(low).at_most(high));
    unless_zero(x, low, power(r)).scale(n, int)
}

/// Zero where `x` is below the least argument whose power is none: a CPU takes a hundred cycles for a product that underflows, and masks are of
/// minus infinity.
fn unless_zero<'a, 'b, 'c>(x: Float<'a, 'b, 'c>, low: f64, power: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    x.below(low).select(0.0, power)
}

/// `e^x` where it is a normal number.
pub(super) fn exp_to_normal<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let Reduced { int, r, .. } = reduce(x);
    power(r).times_power(int)
}

/// Where that is.
pub(super) fn exp_is_normal(is_f32: bool) -> Normal {
    if is_f32 { Normal { within: 87.33, zero_below: -104.0 } } else { Normal { within: 708.39, zero_below: -746.0 } }
}

/// `e^(x + rest)` times a factor, in f64: `rest` is what the rounding of `x` lost, and a product below the normal numbers is rounded once.
pub(super) fn exp_of_sum<'a, 'b, 'c>(x: Float<'a, 'b, 'c>, rest: Float<'a, 'b, 'c>, factor: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let Reduced { n, int, r } = reduce(x.at_least(-760.0).at_most(720.0));
    ((core(r + rest, EXP_F64) + 1.0) * factor).scale(n, int)
}

/// `e^x` on f64 lanes, to what f32 holds.
pub(super) fn exp_for_f32<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let Reduced { int, r, .. } = reduce(x);
    ((r * r).fma(r.polynomial_in_two(EXPM1_F32), r) + 1.0).times_power(int)
}

/// `2^x`.
pub(super) fn exp2<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let (low, high) = if x.is_f32() { (-151.0, 129.0) } else { (-1076.0, 1025.0) };
    let within = x.at_least(low).at_most(high);
    let (n, int) = within.round_product(1.0);
    unless_zero(x, low, power((within - n) * std::f64::consts::LN_2)).scale(n, int)
}

/// `2^x` where it is a normal number.
pub(super) fn exp2_to_normal<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let (n, int) = x.round_product(1.0);
    power((x - n) * std::f64::consts::LN_2).times_power(int)
}

/// Where that is.
pub(super) fn exp2_is_normal(is_f32: bool) -> Normal {
    if is_f32 { Normal { within: 126.0, zero_below: -151.0 } } else { Normal { within: 1022.0, zero_below: -1076.0 } }
}

/// `e^r - 1`, for a difference that is small.
fn core_of_expm1<'a, 'b, 'c>(r: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    core(r, if r.is_f32() { EXPM1_F32 } else { EXP_F64 })
}

/// `e^x - 1` for `x` from -18 to 80, without care for the sign of zero: `2^n p + (2^n - 1)`.
/// The bracket is exact where the product is small beside it, and zero for `n = 0`.
pub(super) fn expm1_bounded<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let Reduced { int, r, .. } = reduce(x);
    let power = int.power();
    core_of_expm1(r).fma(power, power - 1.0)
}

/// `(e^x - 1) / 2^halve`, without an intermediate overflow.
fn expm1_scaled<'a, 'b, 'c>(x: Float<'a, 'b, 'c>, halve: i64) -> Float<'a, 'b, 'c> {
    // Below the first the result rounds to -1; from some 2^n on the bracket is 1.
    let (low, high, cap) = if x.is_f32() { (-18.0, 91.0, 126) } else { (-38.0, 712.0, 1022) };
    let reduced = reduce(x.at_least(low).at_most(high));
    // As above, but scaled at last: neither power need be a normal number.
    let sum = core_of_expm1(reduced.r) + (reduced.r.constant(1.0) - reduced.int.at_most(cap).inverse_power());
    let n = if halve == 0 { reduced.n } else { reduced.n - halve as f64 };
    sum.scale(n, reduced.int - halve)
}

/// `e^x - 1`.
pub(super) fn expm1<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    expm1_scaled(x, 0).with_sign_of(x)
}

/// `tanh |x| = e / (e + 2)` with `e = expm1(2 |x|)`, whose error the quotient shrinks; in f32 a polynomial near zero,
/// where it does not.
pub(super) fn tanh<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let a = x.abs();
    // Above the limit the result rounds to 1.
    let high = if x.is_f32() { 18.5 } else { 40.0 };
    let e = expm1_bounded((a * 2.0).at_most(high));
    let mut y = e / (e + 2.0);
    if x.is_f32() {
        y = a.below(0.55).select(odd(a, TANH_F32), y);
    }
    y.with_sign_of(x)
}

/// `a + a^3 q(a^2)`.
fn odd<'a, 'b, 'c>(a: Float<'a, 'b, 'c>, coefficients: &[f64]) -> Float<'a, 'b, 'c> {
    let z = a * a;
    (a * z).fma(z.polynomial(coefficients), a)
}

/// `sinh |x| = h + h / (2 h + 1)` with `h = expm1(|x|) / 2`; in f32 a polynomial near zero.
pub(super) fn sinh<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let a = x.abs();
    let half = expm1_scaled(a, 1);
    // The quotient is 1/2 from here on, and infinity over infinity would be none.
    let finite = half.at_most(1e30);
    let mut y = half + finite / finite.fma(2.0, 1.0);
    if x.is_f32() {
        y = a.below(1.0).select(odd(a, SINH_F32), y);
    }
    y.with_sign_of(x)
}

/// `cosh x = h + 1 / (4 h)` with `h = e^|x| / 2`.
pub(super) fn cosh<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let (high, table) = if x.is_f32() { (91.0, EXPM1_F32) } else { (712.0, EXP_F64) };
    let Reduced { n, int, r } = reduce(x.abs().at_most(high));
    let half = (core(r, table) + 1.0).scale(n - 1.0, int - 1);
    half + x.constant(0.25) / half
}
