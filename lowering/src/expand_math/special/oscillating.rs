//! Bessel functions of the first and second kind and the Airy function.
//!
//! PyTorch leaves out the leading 1 of Cephes' monic denominators, which costs up to a relative 1e-6, and so does this.

use super::super::lanes::Float;
use super::ratios::{self, Ratio};
use std::f64::consts::{FRAC_2_PI, FRAC_PI_4, PI};
use strata_core::upstream::math;

/// `sqrt(2 / pi)`.
const ROOT: f64 = 0.797_884_560_802_865_4;
/// `1 / sqrt(pi)`.
const INVERSE_ROOT: f64 = 0.564_189_583_547_756_3;
/// The squares of the first two roots of J0, and of J1.
const J0_ROOTS: [f64; 2] = [5.783_185_962_946_784, 30.471_262_343_662_087];
const J1_ROOTS: [f64; 2] = [14.681_970_642_123_893, 49.218_456_321_694_6];

/// The polynomial whose coefficients are given from the highest power on.
fn polynomial<'a, 'b, 'c>(x: Float<'a, 'b, 'c>, coefficients: &[f64]) -> Float<'a, 'b, 'c> {
    let terms = coefficients.iter().map(|&coefficient| x.constant(coefficient));
    terms.reduce(|sum, coefficient| sum.fma(x, coefficient)).unwrap_or(x)
}

fn ratio<'a, 'b, 'c>(x: Float<'a, 'b, 'c>, (above, below): Ratio) -> Float<'a, 'b, 'c> {
    polynomial(x, above) / polynomial(x, below)
}

/// Whether a function is of the first or of the second kind.
#[derive(Clone, Copy)]
enum Kind {
    First,
    Second,
}

/// What the waves of an order are made of: ratios for the cosine and the sine, and the phase.
#[derive(Clone, Copy)]
struct Order {
    number: u8,
    p: Ratio,
    q: Ratio,
    phase: f64,
}

const ZERO: Order = Order { number: 0, p: ratios::P0, q: ratios::Q0, phase: FRAC_PI_4 };
const ONE: Order = Order { number: 1, p: ratios::P1, q: ratios::Q1, phase: 3.0 * FRAC_PI_4 };

/// The function beyond 5, where it oscillates.
fn wave<'a, 'b, 'c>(x: Float<'a, 'b, 'c>, order: Order, kind: Kind) -> Float<'a, 'b, 'c> {
    let five = x.constant(5.0) / x;
    let square = if order.number == 0 { x.constant(25.0) / (x * x) } else { five * five };
    let (p, q) = (ratio(square, order.p), five * ratio(square, order.q));
    let angle = x - order.phase;
    let (sin, cos) = (angle.rounded(math::Sin::NAME), angle.rounded(math::Cos::NAME));
    let sum = match kind {
        Kind::First => p.fma(cos, -(q * sin)),
        Kind::Second => p.fma(sin, q * cos),
    };
    sum * ROOT / x.sqrt()
}

/// J0 up to 5.
fn j0_near<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let square = x * x;
    let [a, b] = J0_ROOTS.map(|root| square - root);
    let (above, below) = ratios::J0_NEAR;
    let y = a * b * polynomial(square, above) / polynomial(square, below);
    x.below(0.00001).select(x.constant(1.0) - square / 4.0, y)
}

/// J1 up to 5.
fn j1_near<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let square = x * x;
    let [a, b] = J1_ROOTS.map(|root| square - root);
    ratio(square, ratios::J1_NEAR) * x * a * b
}

pub(super) fn bessel_j0<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let x = x.abs();
    x.not_within(5.0).either([x], |[x]| wave(x, ZERO, Kind::First), |[x]| j0_near(x))
}

pub(super) fn bessel_j1<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let a = x.abs();
    let y = a.not_within(5.0).either([a], |[a]| wave(a, ONE, Kind::First), |[a]| j1_near(a));
    x.below(0.0).select(-y, y)
}

/// A function of the second kind: no value below 0, the lower end at 0, `near` up to 5.
fn second<'a, 'b, 'c>(
    x: Float<'a, 'b, 'c>,
    order: Order,
    near: impl for<'x, 'y> FnOnce(Float<'x, 'y, 'c>) -> Float<'x, 'y, 'c>,
) -> Float<'a, 'b, 'c> {
    let y = x.not_within(5.0).either([x], |[x]| wave(x, order, Kind::Second), |[x]| near(x));
    x.below(0.0).select(f64::NAN, x.equals(0.0).select(f64::NEG_INFINITY, y))
}

fn log<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    x.rounded(math::Log::NAME)
}

pub(super) fn bessel_y0<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    second(x, ZERO, |x| (log(x) * FRAC_2_PI).fma(j0_near(x), ratio(x * x, ratios::Y0_NEAR)))
}

pub(super) fn bessel_y1<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    second(x, ONE, |x| {
        let rest = j1_near(x).fma(log(x), -(x.constant(1.0) / x));
        x.fma(ratio(x * x, ratios::Y1_NEAR), rest * FRAC_2_PI)
    })
}

/// Nothing at the infinities.
pub(super) fn airy_ai<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let a = x.abs();
    // Only 2.09 itself is decided by its sign.
    let far = a.not_within(2.09) | x.equals(2.09);
    let y = far.either(
        [x],
        |[x]| x.below(0.0).either([x], |[x]| airy_wave(x), |[x]| airy_decay(x)),
        |[x]| airy_series(x.at_least(-2.09).at_most(2.09)),
    );
    a.equals(f64::INFINITY).select(f64::NAN, x.above(103.892).select(0.0, y))
}

fn airy_wave<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let root = (-x).sqrt();
    let zeta = x * -2.0 * root / 3.0;
    let z = x.constant(1.0) / zeta;
    let square = z * z;
    let (f, g) = (square * polynomial(square, ratios::AIRY_F.0), z * polynomial(square, ratios::AIRY_G.0));
    let (f, g) = (f / polynomial(square, ratios::AIRY_F.1), g / polynomial(square, ratios::AIRY_G.1));
    let phase = x.constant(0.25).fma(PI, zeta);
    let (sin, cos) = (phase.rounded(math::Sin::NAME), phase.rounded(math::Cos::NAME));
    let sum = sin.fma(f + 1.0, -(cos * g));
    x.constant(INVERSE_ROOT) / root.sqrt() * sum
}

fn airy_decay<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let root = x.sqrt();
    let zeta = x * 2.0 * root / 3.0;
    let y = ratio(x.constant(1.0) / zeta, ratios::AIRY) * INVERSE_ROOT;
    y / (root.sqrt() * 2.0 * zeta.rounded(math::Exp::NAME))
}

/// Both power series of the differential equation: fast only near 0.
fn airy_series<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let epsilon = if x.is_f32() { f32::EPSILON.into() } else { f64::EPSILON };
    let one = x.constant(1.0);
    // The series, their terms (with a step of the first in between), the number of the last factor, and the last term's share.
    let [f, g, ..] = x.lanes.repeat(
        [one, x, one, x, one, one, x * x * x],
        |[.., share, _]| share.above(epsilon),
        |[f, g, m, n, k, _, cube]| {
            let k = k + 1.0;
            let m = m * cube / k;
            let n = n * cube;
            let k = k + 1.0;
            let (n, m) = (n / k, m / k);
            let f = f + m;
            let k = k + 1.0;
            let n = n / k;
            [f, g + n, m, n, k, (m / f).abs(), cube]
        },
    );
    x.constant(0.355_028_053_887_817_2).fma(f, -(g * 0.258_819_403_792_806_8))
}
