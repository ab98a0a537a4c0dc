//! Sine, cosine, tangent: `|x| = n pi/2 + r` with `r` within pi/4, then polynomials of `r` chosen by `n`.

use super::lanes::{Float, Int, Lanes, Mask};
use super::tables::*;
use strata_core::ir::Value;

/// A value and the lanes where it does not hold: too large arguments, infinities and NaN.
pub(super) struct Partial<'a, 'b, 'c> {
    pub value: Float<'a, 'b, 'c>,
    pub far: Mask<'a, 'b, 'c>,
}

struct Reduced<'a, 'b, 'c> {
    quadrant: Int<'a, 'b, 'c>,
    r: Float<'a, 'b, 'c>,
    /// What `r` still lacks.
    lost: Float<'a, 'b, 'c>,
    far: Mask<'a, 'b, 'c>,
}

/// The first product cancels exactly, the second is rounded once, the third goes to `lost`.
fn reduce<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Reduced<'a, 'b, 'c> {
    let (limit, [p1, p2, p3]) = if x.is_f32() { (1e5, HALF_PI_F32) } else { (1e8, HALF_PI_F64) };
    let (n, quadrant) = x.abs().round_product(std::f64::consts::FRAC_2_PI);
    let r = n.fma(-p2, n.fma(-p1, x.abs()));
    Reduced { quadrant, r, lost: n * -p3, far: x.abs().not_within(limit) }
}

/// The correction counts only where `r` is small, and there the slope is 1.
fn sine<'a, 'b, 'c>(r: Float<'a, 'b, 'c>, z: Float<'a, 'b, 'c>, lost: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    r + (r * z).fma(z.polynomial(if r.is_f32() { SIN_F32 } else { SIN_F64 }), lost)
}

fn cosine<'a, 'b, 'c>(z: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    z.fma(z.fma(z.polynomial(if z.is_f32() { COS_F32 } else { COS_F64 }), -0.5), 1.0)
}

/// Sine of the angle with another quadrant.
fn rotate<'a, 'b, 'c>(reduced: &Reduced<'a, 'b, 'c>, quadrant: Int<'a, 'b, 'c>) -> Int<'a, 'b, 'c> {
    let r = reduced.r;
    let z = r * r;
    let value = quadrant.has(1).select(cosine(z), sine(r, z, reduced.lost));
    value.bits().xor(quadrant.and(2).shift_left(if r.is_f32() { 30 } else { 62 }))
}

/// `sin x`.
pub(super) fn sin<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Partial<'a, 'b, 'c> {
    let reduced = reduce(x);
    Partial { value: rotate(&reduced, reduced.quadrant).xor(x.sign()).float(), far: reduced.far }
}

/// `cos x`.
pub(super) fn cos<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Partial<'a, 'b, 'c> {
    let reduced = reduce(x);
    Partial { value: rotate(&reduced, reduced.quadrant + 1).float(), far: reduced.far }
}

/// `tan x`, in f32.
pub(super) fn tan<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Partial<'a, 'b, 'c> {
    let Reduced { quadrant, r, lost, far } = reduce(x);
    let z = r * r;
    let t = r + (r * z).fma(z.polynomial(TAN_F32), lost);
    let odd = quadrant.has(1);
    let value = odd.select(-1.0, t) / odd.select(t, 1.0);
    Partial { value: value.bits().xor(x.sign()).float(), far }
}

/// `atan x`, in f32: of `1 / |x|` where that is smaller.
pub(super) fn atan<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let a = x.abs();
    let large = a.above(1.0);
    let t = large.select(-1.0, a) / large.select(a, 1.0);
    let z = t * t;
    let [high, low, _] = HALF_PI_F32;
    let rest = (t * z).fma(z.polynomial(ATAN_F32), large.select(low, 0.0));
    (large.select(high, 0.0) + (t + rest)).with_sign_of(x)
}

/// `asin` of the square root of `z`, `z` up to 1/4, as `root + rest`.
fn arcsine_rest<'a, 'b, 'c>(root: Float<'a, 'b, 'c>, z: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    root * z * z.polynomial(ASIN_F32)
}

/// `asin x`, in f32: above 1/2, `pi/2 - 2 asin(sqrt((1 - |x|) / 2))`.
pub(super) fn asin<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let a = x.abs();
    let large = a.above(0.5);
    let z = large.select(a.fma(-0.5, 0.5), a * a);
    let root = large.select(z.sqrt(), a);
    let rest = arcsine_rest(root, z);
    let [high, low, _] = HALF_PI_F32;
    // pi/2 - 2 root, and what its rounding lost.
    let near = root.fma(-2.0, high);
    let lost = root.fma(2.0, near - high);
    let outer = near + (rest.fma(-2.0, low) - lost);
    large.select(outer, root + rest).with_sign_of(x)
}

/// `acos x`, in f32: within 1/2 `pi/2 - asin x`, outside `2 asin(sqrt((1 - |x|) / 2))` or its distance to pi.
pub(super) fn acos<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let a = x.abs();
    let large = a.above(0.5);
    let z = large.select(a.fma(-0.5, 0.5), a * a);
    let root = large.select(z.sqrt(), a);
    let [high, low, _] = HALF_PI_F32;
    let rest = arcsine_rest(root, z);
    // The angle from the nearer end, with its sign: +-asin |x| from pi/2, or twice the half angle from 0 or pi.
    let signed = (root + rest).with_sign_of(x);
    let middle = (x.constant(low) - signed) + high;
    let outer = signed * 2.0;
    let outer = x.below(0.0).select(outer + 2.0 * low + 2.0 * high, outer);
    large.select(outer, middle)
}

/// Sine, cosine or tangent of `x`, in f64, when so many quarter turns of `|x|` leave this angle within an eighth of a turn.
pub(super) fn of_angle<'c>(lanes: &Lanes<'_, 'c>, function: &str, x: Value<'c>, quadrant: Value<'c>, angle: Value<'c>) -> Value<'c> {
    let (x, r, quadrant) = (lanes.float(x), lanes.float(angle), lanes.integer(quadrant));
    let zero = r.constant(0.0);
    let reduced = Reduced { quadrant, r, lost: zero, far: zero.above(0.0) };
    let sine = rotate(&reduced, quadrant).xor(x.sign()).float();
    let cosine = rotate(&reduced, quadrant + 1).float();
    match function {
        "sin" => sine,
        "cos" => cosine,
        _ => sine / cosine,
    }
    .value
}
