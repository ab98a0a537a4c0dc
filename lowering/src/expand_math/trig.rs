//! Sine, cosine, tangent: `|x| = n pi/2 + r` with `r` within pi/4, then polynomials of `r` chosen by `n`.

use super::lanes::{Float, Int, Lanes, Mask};
use super::tables::*;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};
use strata_core::ir::Value;

/// A value and the lanes where it does not hold: too large arguments, and for angles infinities and NaN.
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
    let Turns { n, quadrant, near, parts: [_, p2, p3], far } = turns(x);
    Reduced { quadrant, r: n.fma(-p2, near), lost: n * -p3, far }
}

/// The quarter turns of `|x|`, and what is left of it without as many times the first part of pi/2: exactly.
struct Turns<'a, 'b, 'c> {
    n: Float<'a, 'b, 'c>,
    quadrant: Int<'a, 'b, 'c>,
    near: Float<'a, 'b, 'c>,
    parts: [f64; 3],
    far: Mask<'a, 'b, 'c>,
}

fn turns<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Turns<'a, 'b, 'c> {
    let (limit, parts) = if x.is_f32() { (1e5, HALF_PI_F32) } else { (1e8, HALF_PI_F64) };
    let (n, quadrant) = x.abs().round_product(std::f64::consts::FRAC_2_PI);
    Turns { n, quadrant, near: n.fma(-parts[0], x.abs()), parts, far: x.abs().not_within(limit) }
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

/// `tan x`: the slope is up to 2, so what the rounding of `r` lost counts as well.
pub(super) fn tan<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Partial<'a, 'b, 'c> {
    let Turns { n, quadrant, near, parts: [_, second, third], far } = turns(x);
    // The difference and the product, each with its rounding error.
    let product = n * second;
    let r = near - product;
    let back = r - near;
    let lost = (near - (r - back)) - (product + back) - n.fma(second, -product) - n * third;
    let z = r * r;
    let cubic = z * z.polynomial(if x.is_f32() { TAN_F32 } else { TAN_F64 });
    // The slope is 1 + t^2, and z is near enough to t^2.
    let t = r + r.fma(cubic, lost.fma(z, lost));
    let odd = quadrant.has(1);
    let value = odd.select(-1.0, t) / odd.select(t, 1.0);
    Partial { value: value.bits().xor(x.sign()).float(), far }
}

/// `atan x`: of `1 / |x|` where that is smaller.
pub(super) fn atan<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let a = x.abs();
    if !x.is_f32() {
        let far = a.above(TAN_OF_3_8_PI);
        let angle = arctangent(far.select(-1.0, a), far.select(a, 1.0), [far.select(FRAC_PI_2, 0.0), far.select(HALF_PI_F64[1], 0.0)]);
        return angle.with_sign_of(x);
    }
    let large = a.above(1.0);
    let t = large.select(-1.0, a) / large.select(a, 1.0);
    let z = t * t;
    let [high, low, _] = HALF_PI_F32;
    let rest = (t * z).fma(z.polynomial(ATAN_F32), large.select(low, 0.0));
    (large.select(high, 0.0) + (t + rest)).with_sign_of(x)
}

/// Tangents of pi/8 and 3/8 pi.
const TAN_OF_PI_8: f64 = std::f64::consts::SQRT_2 - 1.0;
const TAN_OF_3_8_PI: f64 = std::f64::consts::SQRT_2 + 1.0;

/// `base + atan(y / x)` in f64 for `x > 0` and `|y| / x` up to the tangent of 3/8 pi: from pi/8 on the distance to pi/4.
fn arctangent<'a, 'b, 'c>(y: Float<'a, 'b, 'c>, x: Float<'a, 'b, 'c>, [high, low]: [Float<'a, 'b, 'c>; 2]) -> Float<'a, 'b, 'c> {
    let middle = y.above(x * TAN_OF_PI_8);
    let t = middle.select(y - x, y) / middle.select(y + x, x);
    let z = t * t;
    let (high, low) = (middle.select(FRAC_PI_4, high), middle.select(HALF_PI_F64[1] / 2.0, low));
    let rest = (t * z).fma(z.polynomial(ATAN_F64), low);
    high + (t + rest)
}

/// The angle of the point `(x, y)`, in f64.
pub(super) fn atan2<'a, 'b, 'c>(y: Float<'a, 'b, 'c>, x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let (a, b) = (y.abs(), x.abs());
    let steep = a.above(b);
    let (large, small) = (steep.select(a, b), steep.select(b, a));
    // The sum of both must not overflow, and 0 / 0 and infinity / infinity are the angles 0 and pi/4.
    let scale = large.above(1e300).select(2f64.powi(-60), 1.0);
    let infinite = small.equals(f64::INFINITY);
    let large = infinite.select(1.0, large.equals(0.0).select(1.0, large * scale));
    let small = infinite.select(1.0, small * scale);
    let zero = y.constant(0.0);
    let angle = arctangent(small, large, [zero, zero]);
    let [high, low, _] = HALF_PI_F64;
    let angle = steep.select((angle.constant(low) - angle) + high, angle);
    let left = x.sign().has(-1);
    let angle = left.select((angle.constant(2.0 * low) - angle) + 2.0 * high, angle).with_sign_of(y);
    x.is_nan().select(x, y.is_nan().select(y, angle))
}

/// `asin` of the square root of `z`, `z` up to 1/4, as `root + rest`.
fn arcsine_rest<'a, 'b, 'c>(root: Float<'a, 'b, 'c>, z: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    root * z * z.polynomial(if z.is_f32() { ASIN_F32 } else { ASIN_F64 })
}

/// `asin x`: above 1/2, `pi/2 - 2 asin(sqrt((1 - |x|) / 2))`.
pub(super) fn asin<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let a = x.abs();
    let large = a.above(0.5);
    let z = large.select(a.fma(-0.5, 0.5), a * a);
    let root = large.select(z.sqrt(), a);
    let rest = arcsine_rest(root, z);
    let [high, low, _] = if x.is_f32() { HALF_PI_F32 } else { HALF_PI_F64 };
    // pi/2 - 2 root, and what its rounding lost.
    let near = root.fma(-2.0, high);
    let lost = root.fma(2.0, near - high);
    let outer = near + (rest.fma(-2.0, low) - lost);
    large.select(outer, root + rest).with_sign_of(x)
}

/// `acos x`: within 1/2 `pi/2 - asin x`, outside `2 asin(sqrt((1 - |x|) / 2))` or its distance to pi.
pub(super) fn acos<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let a = x.abs();
    let large = a.above(0.5);
    let z = large.select(a.fma(-0.5, 0.5), a * a);
    let root = large.select(z.sqrt(), a);
    let [high, low, _] = if x.is_f32() { HALF_PI_F32 } else { HALF_PI_F64 };
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
