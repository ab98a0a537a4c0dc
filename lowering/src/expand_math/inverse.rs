//! Inverse hyperbolic functions by `log1p`, and the cube root; in f64 but for `atanh`, whose argument of `log1p` takes few steps.

use super::lanes::Float;
use super::log::{Split, log1p, split_any};
use super::tables::*;
use std::f64::consts::LN_2;

/// From here on `x^2 + 1` is `x^2`.
const FAR: f64 = 268_435_456.0;

/// `asinh |x| = log1p(a + a^2 / (1 + sqrt(a^2 + 1)))`, and `log 2 a` where that overflows.
pub(super) fn asinh<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let a = x.abs();
    let far = a.above(FAR);
    let near = far.select(1.0, a);
    let root = near.fma(near, 1.0).sqrt();
    let y = log1p(far.select(a - 1.0, near + near * near / (root + 1.0))) + far.select(LN_2, 0.0);
    y.with_sign_of(x)
}

/// `acosh x = log1p(t + sqrt(2 t + t^2))` with `t = x - 1`, and `log 2 x` where that overflows.
pub(super) fn acosh<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let far = x.above(FAR);
    let t = far.select(1.0, x) - 1.0;
    let near = t + t.fma(t, t + t).sqrt();
    let y = log1p(far.select(x - 1.0, near)) + far.select(LN_2, 0.0);
    x.below(1.0).select(f64::NAN, y)
}

/// `atanh |x| = log1p(2 a / (1 - a)) / 2`; below one half the quotient is `2 a + 2 a^2 / (1 - a)`, of which only the second is rounded.
pub(super) fn atanh<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let a = x.abs();
    let (twice, small) = (a + a, a.below(0.5));
    let quotient = small.select(twice * a, twice) / (a.constant(1.0) - a);
    (log1p(small.select(twice, 0.0) + quotient) * 0.5).with_sign_of(x)
}

/// `2^q cbrt(z)` with `z` from 0.35 to 2.83: a polynomial for `1 / cbrt(z)`, made better twice without a division.
pub(super) fn cbrt<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let a = x.abs();
    let Split { e, f, .. } = split_any(a);
    let (q, int) = e.round_product(1.0 / 3.0);
    let rest = q.fma(-3.0, e);
    let (up, down) = (rest.above(0.5), rest.below(-0.5));
    let z = (f + 1.0) * up.select(2.0, down.select(0.5, 1.0));
    let root = 1.259_921_049_894_873_2;
    let w = f.polynomial(CBRT_F64) * up.select(1.0 / root, down.select(root, 1.0));
    let off = (w * w * w).fma(-z, 1.0);
    let w = w.fma(off * (1.0 / 3.0), w);
    let y = z * w * w;
    // What the cube of this lacks, to the first order.
    let square = y * y;
    let lacks = square.fma(-y, z);
    let y = lacks.fma(w * w * (1.0 / 3.0), y).scale(q, int);
    // Zeros, infinities and NaN are their own roots.
    (a.above(0.0) & a.below(f64::INFINITY)).select(y.with_sign_of(x), x)
}
