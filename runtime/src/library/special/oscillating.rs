//! Bessel functions of the first and second kind and the Airy function, in the precision of the argument and with the steps that
//! PyTorch takes: programs of whole numbers compare the last bit.
//!
//! PyTorch leaves out the leading 1 of Cephes' monic denominators, which costs up to a relative 1e-6, and so does this.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_4, PI};

use super::ratios::{self, Ratio};
use super::real::Real;

/// `sqrt(2 / pi)`.
const ROOT: f64 = 0.797_884_560_802_865_4;
/// `1 / sqrt(pi)`.
const INVERSE_ROOT: f64 = 0.564_189_583_547_756_3;

#[inline(always)]
fn polynomial<T: Real>(x: T, coefficients: &[f64]) -> T {
    coefficients.iter().fold(T::of(0.0), |sum, c| sum.mul_add(x, T::of(*c)))
}

#[inline(always)]
fn ratio<T: Real>(x: T, (above, below): Ratio) -> T {
    polynomial(x, above) / polynomial(x, below)
}

/// A product of factors `x^2 - root^2`.
#[inline(always)]
fn roots<T: Real>(square: T, roots: [f64; 2]) -> (T, T) {
    (square - T::of(roots[0]), square - T::of(roots[1]))
}

/// The waves of order 0 or 1 beyond 5, with the cosine and sine of the phase in their places.
#[inline(always)]
fn wave<T: Real>(x: T, order: u8, second: bool) -> T {
    let five = T::of(5.0) / x;
    let (square, p, q, phase) = match order {
        0 => (T::of(25.0) / (x * x), ratios::P0, ratios::Q0, FRAC_PI_4),
        _ => (five * five, ratios::P1, ratios::Q1, 3.0 * FRAC_PI_4),
    };
    let (p, q) = (ratio(square, p), five * ratio(square, q));
    let (sin, cos) = ((x - T::of(phase)).sin(), (x - T::of(phase)).cos());
    let sum = if second { p.mul_add(sin, q * cos) } else { p.mul_add(cos, -(q * sin)) };
    sum * T::of(ROOT) / x.sqrt()
}

#[inline(always)]
pub(super) fn bessel_j0<T: Real>(x: T) -> T {
    let x = x.abs();
    let square = x * x;
    match () {
        () if x > T::of(5.0) || x.is_nan() => wave(x, 0, false),
        () if x < T::of(0.00001) => T::of(1.0) - square / T::of(4.0),
        () => {
            let (a, b) = roots(square, [5.783_185_962_946_784, 30.471_262_343_662_087]);
            let (above, below) = ratios::J0_NEAR;
            a * b * polynomial(square, above) / polynomial(square, below)
        }
    }
}

#[inline(always)]
pub(super) fn bessel_j1<T: Real>(x: T) -> T {
    match () {
        () if x < T::of(0.0) => -bessel_j1(-x),
        () if x <= T::of(5.0) => {
            let (a, b) = roots(x * x, [14.681_970_642_123_893, 49.218_456_321_694_6]);
            ratio(x * x, ratios::J1_NEAR) * x * a * b
        }
        () => wave(x, 1, false),
    }
}

/// A function of the second kind: no value below 0, the lower end at 0, `near` up to 5.
#[inline(always)]
fn second<T: Real>(x: T, order: u8, near: impl Fn(T) -> T) -> T {
    match () {
        () if x == T::of(0.0) => T::neg_infinity(),
        () if x < T::of(0.0) => T::nan(),
        () if x <= T::of(5.0) => near(x),
        () => wave(x, order, true),
    }
}

#[inline(always)]
pub(super) fn bessel_y0<T: Real>(x: T) -> T {
    second(x, 0, |x| (T::of(FRAC_2_PI) * x.ln()).mul_add(bessel_j0(x), ratio(x * x, ratios::Y0_NEAR)))
}

#[inline(always)]
pub(super) fn bessel_y1<T: Real>(x: T) -> T {
    second(x, 1, |x| {
        let rest = bessel_j1(x).mul_add(x.ln(), -(T::of(1.0) / x));
        x.mul_add(ratio(x * x, ratios::Y1_NEAR), T::of(FRAC_2_PI) * rest)
    })
}

/// Nothing at the infinities.
#[inline(always)]
pub(super) fn airy_ai<T: Real>(x: T) -> T {
    match () {
        () if x.is_infinite() => T::nan(),
        () if x > T::of(103.892) => T::of(0.0),
        () if x < T::of(-2.09) => airy_wave(x),
        () if x >= T::of(2.09) => airy_decay(x),
        () => airy_series(x),
    }
}

#[inline(always)]
fn airy_wave<T: Real>(x: T) -> T {
    let zeta = T::of(-2.0) * x * (-x).sqrt() / T::of(3.0);
    let z = T::of(1.0) / zeta;
    let (f, g) = (z * z * polynomial(z * z, ratios::AIRY_F.0), z * polynomial(z * z, ratios::AIRY_G.0));
    let (f, g) = (f / polynomial(z * z, ratios::AIRY_F.1), g / polynomial(z * z, ratios::AIRY_G.1));
    let phase = T::of(0.25).mul_add(T::of(PI), zeta);
    let sum = phase.sin().mul_add(T::of(1.0) + f, -(phase.cos() * g));
    T::of(INVERSE_ROOT) / (-x).sqrt().sqrt() * sum
}

#[inline(always)]
fn airy_decay<T: Real>(x: T) -> T {
    let zeta = T::of(2.0) * x * x.sqrt() / T::of(3.0);
    T::of(INVERSE_ROOT) * ratio(T::of(1.0) / zeta, ratios::AIRY) / (T::of(2.0) * x.sqrt().sqrt() * zeta.exp())
}

/// Both power series of the differential equation.
#[inline(always)]
fn airy_series<T: Real>(x: T) -> T {
    let one = T::of(1.0);
    let cube = x * x * x;
    let (mut f, mut g, mut k, mut m, mut n, mut t) = (one, x, one, one, x, one);
    while t > T::epsilon() {
        k += one;
        m = m * cube / k;
        n *= cube;
        k += one;
        n /= k;
        m /= k;
        f += m;
        k += one;
        n /= k;
        g += n;
        t = (m / f).abs();
    }
    T::of(0.355_028_053_887_817_2).mul_add(f, -(T::of(0.258_819_403_792_806_8) * g))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, want: f64, within: f64) {
        assert!((got - want).abs() <= within * want.abs(), "{got:e} instead of {want:e}");
    }

    #[test]
    fn airy_is_known() {
        for (x, want) in [
            (0.0, 0.355_028_053_887_817_2),
            (1.0, 0.135_292_416_312_881_4),
            (-2.0, 0.227_407_428_201_685_6),
            (3.0, 0.006_591_139_357_460_72),
            (10.0, 1.104_753_255_289_868_7e-10),
            (-5.0, 0.350_761_009_024_114_3),
            (-20.0, -0.176_406_127_077_984_7),
        ] {
            close(airy_ai(x), want, 1e-12);
        }
        assert!(airy_ai(f32::INFINITY).is_nan() && airy_ai(f64::NAN).is_nan());
        assert_eq!(airy_ai(200.0), 0.0);
    }

    #[test]
    fn bessel_functions_are_known() {
        for (f, x, want) in [
            (bessel_j0 as fn(f64) -> f64, 1.0, 0.765_197_686_557_966_6),
            (bessel_j0, -7.5, 0.266_339_657_880_378_4),
            (bessel_j1, 2.0, 0.576_724_807_756_873_4),
            (bessel_j1, -9.0, -0.245_311_786_573_325_3),
            (bessel_y0, 2.0, 0.510_375_672_649_745_1),
            (bessel_y0, 11.0, -0.168_847_323_892_079_6),
            (bessel_y1, 0.5, -1.471_472_392_670_243),
            (bessel_y1, 6.0, -0.175_010_344_300_398_3),
        ] {
            close(f(x), want, 2e-6);
        }
    }

    /// The last bits of PyTorch's results.
    #[test]
    fn single_precision_rounds_as_pytorch_does() {
        assert_eq!(bessel_j0(1.0_f32), 7.651_976_3e-1);
        assert_eq!(bessel_j1(1.0_f32), 4.400_506_3e-1);
        assert_eq!(airy_ai(1.0_f32), 1.352_923_8e-1);
        assert_eq!(bessel_y0(1.0_f32), 8.825_695e-2);
    }

    #[test]
    fn ends() {
        assert_eq!(bessel_y0(0.0_f32), f32::NEG_INFINITY);
        assert!(bessel_y1(-1.0_f64).is_nan() && bessel_j0(f32::INFINITY).is_nan() && bessel_j1(f64::NAN).is_nan());
    }
}
