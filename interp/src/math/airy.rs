//! The Airy function.

use std::f64::consts::PI;

/// `Ai(x)`: its power series near zero, Bessel's asymptotic expansions far from it.
pub fn ai(x: f64) -> f64 {
    if x.is_nan() || x.is_infinite() {
        return f64::NAN;
    }
    if x > 2.0 {
        return asymptotic_decay(x);
    }
    if x < -9.0 {
        return asymptotic_wave(-x);
    }
    // Ai = c1 f - c2 g with the two power series of the equation y'' = x y.
    let (c1, c2) = (0.355_028_053_887_817_2, 0.258_819_403_792_806_8);
    let (mut f, mut g, mut tf, mut tg) = (1.0, x, 1.0, x);
    let cube = x * x * x;
    for k in 1..200 {
        let n = 3.0 * k as f64;
        tf *= cube / (n * (n - 1.0));
        tg *= cube / (n * (n + 1.0));
        f += tf;
        g += tg;
        if tf.abs() + tg.abs() < 1e-20 {
            break;
        }
    }
    c1 * f - c2 * g
}

/// `Ai(x) = sqrt(x / 3) / pi * K_{1/3}(2/3 x^{3/2})`, the integral by the trapezoid rule.
fn asymptotic_decay(x: f64) -> f64 {
    let z = 2.0 / 3.0 * x.powf(1.5);
    let step = 1.0 / 64.0;
    let mut sum = 0.5;
    let mut k = 1.0;
    loop {
        let t: f64 = k * step;
        let decay = z * (t.cosh() - 1.0);
        if decay > 700.0 {
            break;
        }
        sum += (-decay).exp() * (t / 3.0).cosh();
        k += 1.0;
    }
    (x / 3.0).sqrt() / PI * sum * step * (-z).exp()
}

/// The oscillating expansion for large negative arguments.
fn asymptotic_wave(x: f64) -> f64 {
    let z = 2.0 / 3.0 * x.powf(1.5);
    let (mut even, mut odd, mut u) = (1.0, 0.0, 1.0);
    for k in 1..14 {
        let n = k as f64;
        let next = u * (6.0 * n - 5.0) * (6.0 * n - 3.0) * (6.0 * n - 1.0) / (216.0 * n * (2.0 * n - 1.0)) / z;
        if f64::abs(next) > f64::abs(u) {
            break;
        }
        u = next;
        match k % 4 {
            1 => odd += u,
            2 => even -= u,
            3 => odd -= u,
            _ => even += u,
        }
    }
    let phase = z - PI / 4.0;
    (phase.cos() * even + phase.sin() * odd) / (PI.sqrt() * x.powf(0.25))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        for (x, y) in [
            (0.0, 0.355_028_053_887_817_2),
            (1.0, 0.135_292_416_312_881_4),
            (-2.0, 0.227_407_428_201_685_6),
            (3.0, 0.006_591_139_357_460_72),
            (-10.0, 0.040_241_238_486_444_32),
        ] {
            assert!((ai(x) - y).abs() < 1e-10, "{x}: {} against {y}", ai(x));
        }
    }
}
