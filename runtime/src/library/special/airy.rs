//! The Airy function.

use std::f64::consts::PI;

use super::real::Real;

/// `Ai(x)`, in double precision; nothing at the infinities, as in PyTorch.
pub(super) fn airy_ai<T: Real>(x: T) -> T {
    T::of(ai(x.wide()))
}

/// The integral of `exp(i (t^3 / 3 + x t))` over a line parallel to the real axis. At height c the integrand decays like
/// `exp(-c t^2)`, so that the trapezoid rule converges exponentially; the height is that of the saddle point.
fn ai(x: f64) -> f64 {
    const STEP: f64 = 1.0 / 64.0;
    if !x.is_finite() {
        return f64::NAN;
    }
    if x < -12.0 {
        return wave(-x);
    }
    let height = if x > 1.0 { x.sqrt() } else { 1.0 / (1.0 + 0.25 * (1.0 - x)) };
    let reach = (40.0 / height).sqrt();
    let term = |t: f64| (-height * t * t).exp() * (t * t * t / 3.0 + (x - height * height) * t).cos();
    let steps = (reach / STEP) as usize;
    let sum: f64 = (1..=steps).map(|k| term(k as f64 * STEP)).sum();
    (height * height * height / 3.0 - x * height).exp() * (0.5 + sum) * STEP / PI
}

/// The asymptotic expansion of `Ai(-x)` for large x.
fn wave(x: f64) -> f64 {
    let zeta = x.powf(1.5) / 1.5;
    let (mut cosine, mut sine, mut term) = (0.0, 0.0, 1.0);
    for k in 0..20 {
        match k % 4 {
            0 => cosine += term,
            1 => sine += term,
            2 => cosine -= term,
            _ => sine -= term,
        }
        let n = 6.0 * f64::from(k);
        let next = term * (n + 1.0) * (n + 5.0) / (72.0 * (f64::from(k) + 1.0) * zeta);
        if next > term {
            break;
        }
        term = next;
    }
    let phase = zeta - PI / 4.0;
    (phase.cos() * cosine + phase.sin() * sine) / (PI.sqrt() * x.powf(0.25))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        for (x, want) in [
            (0.0, 0.355_028_053_887_817_2),
            (1.0, 0.135_292_416_312_881_4),
            (-2.0, 0.227_407_428_201_685_6),
            (3.0, 0.006_591_139_357_460_72),
            (10.0, 1.104_753_255_289_868_7e-10),
            (-5.0, 0.350_761_009_024_114_3),
            (-10.0, 0.040_241_238_486_441_95),
            (-20.0, -0.176_406_127_077_984_7),
        ] {
            let got = airy_ai(x);
            assert!(f64::abs(got - want) <= 2e-13 * f64::abs(want), "{x}: {got:e} instead of {want:e}");
        }
        assert!(airy_ai(f32::INFINITY).is_nan());
        assert_eq!(airy_ai(200.0), 0.0);
    }
}
