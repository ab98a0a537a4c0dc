//! The error function's relatives and the normal distribution.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// `exp(x^2) erfc(x)`; the continued fraction takes over where erfc underflows.
pub fn erfcx(x: f64) -> f64 {
    if x < 10.0 {
        return (x * x).exp() * libm::erfc(x);
    }
    let mut f = x;
    for k in (1..60).rev() {
        f = x + k as f64 / 2.0 / f;
    }
    1.0 / (PI.sqrt() * f)
}

/// The inverse of erf: a rough start, then Newton steps.
pub fn erfinv(y: f64) -> f64 {
    if y.is_nan() || y.abs() > 1.0 {
        return f64::NAN;
    }
    if y.abs() == 1.0 {
        return y * f64::INFINITY;
    }
    let l = (1.0 - y * y).ln();
    let a = 2.0 / (PI * 0.147) + l / 2.0;
    let mut x = y.signum() * ((a * a - l / 0.147).sqrt() - a).max(0.0).sqrt();
    for _ in 0..4 {
        // The complement keeps its digits in the tail.
        let error = if x.abs() < 0.5 { libm::erf(x) - y } else { x.signum() * ((1.0 - y.abs()) - libm::erfc(x.abs())) };
        let step = error / (2.0 / PI.sqrt() * (-x * x).exp());
        x -= step / (1.0 + x * step);
    }
    x
}

/// The normal distribution function.
pub fn ndtr(x: f64) -> f64 {
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

/// The logarithm of the normal distribution function.
pub fn log_ndtr(x: f64) -> f64 {
    let t = x * FRAC_1_SQRT_2;
    if x < -1.0 { (erfcx(-t) / 2.0).ln() - t * t } else { (-libm::erfc(t) / 2.0).ln_1p() }
}

/// The inverse of the normal distribution function.
pub fn ndtri(p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    if p == 0.0 || p == 1.0 {
        return if p == 0.0 { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    if p > 1e-3 && p < 1.0 - 1e-3 {
        return erfinv(2.0 * p - 1.0) / FRAC_1_SQRT_2;
    }
    // Bisection on the tail keeps every digit.
    let (tail, sign) = if p < 0.5 { (p, -1.0) } else { (1.0 - p, 1.0) };
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..200 {
        let mid = (low + high) / 2.0;
        if ndtr(-mid) > tail { low = mid } else { high = mid }
    }
    sign * low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverses_invert() {
        for y in [-0.999, -0.5, -1e-9, 0.0, 0.3, 0.9999999] {
            assert!((libm::erf(erfinv(y)) - y).abs() < 1e-15 + 1e-14 * y.abs(), "{y}");
        }
        assert!((ndtri(0.975) - 1.959963984540054).abs() < 1e-12);
        assert!((erfcx(1.0) - 0.427583576155807).abs() < 1e-14);
        assert!((erfcx(20.0) - 0.0281743487410513).abs() < 1e-15);
    }
}
