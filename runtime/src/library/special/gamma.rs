//! Relatives of the gamma function.

use std::f64::consts::PI;

use super::real::Real;

unsafe extern "C" {
    safe fn erfc(x: f64) -> f64;
    fn lgamma_r(x: f64, sign: *mut i32) -> f64;
}

pub(super) fn lgamma(x: f64) -> f64 {
    let mut sign = 0;
    // SAFETY: the sign goes to a variable of ours; unlike `lgamma` this writes no global.
    unsafe { lgamma_r(x, &raw mut sign) }
}

/// (2k)! / B(2k) for Bernoulli's numbers from B(2) on.
const EULER_MACLAURIN: [f64; 12] = [
    12.0,
    -720.0,
    30240.0,
    -1_209_600.0,
    47_900_160.0,
    -1_307_674_368_000.0 / 691.0,
    74_724_249_600.0,
    -10_670_622_842_880_000.0 / 3617.0,
    5_109_094_217_170_944_000.0 / 43867.0,
    -802_857_662_698_291_200_000.0 / 174_611.0,
    155_112_100_433_309_859_840_000.0 / 854_513.0,
    -1_693_824_136_731_743_669_452_800_000.0 / 236_364_091.0,
];

/// Hurwitz's zeta function, the sum of `(q + k)^-x`, in double precision: at least nine terms, then Euler and Maclaurin's
/// formula for the others.
pub(super) fn zeta<T: Real>(x: T, q: T) -> T {
    // The first term is of the arguments' precision.
    let first = T::of(q.wide().powf(-x.wide()));
    T::of(hurwitz(x.wide(), q.wide(), first.wide()))
}

fn hurwitz(x: f64, q: f64, first: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    if x < 1.0 {
        return f64::NAN;
    }
    if q <= 0.0 {
        if q == q.floor() {
            return f64::INFINITY;
        }
        if x != x.floor() {
            return f64::NAN;
        }
    }
    let small = |term: f64, sum: f64| term.abs() < sum.abs() * (f64::EPSILON / 2.0);
    let (mut sum, mut a, mut power, mut terms) = (first, q, 0.0, 0);
    while terms < 9 || a <= 9.0 {
        terms += 1;
        a += 1.0;
        power = a.powf(-x);
        sum += power;
        if small(power, sum) {
            return sum;
        }
    }
    sum += power * a / (x - 1.0);
    sum -= 0.5 * power;
    let (mut rising, mut k) = (1.0, 0.0);
    for divisor in EULER_MACLAURIN {
        rising *= x + k;
        power /= a;
        let term = rising * power / divisor;
        sum += term;
        if small(term, sum) {
            return sum;
        }
        rising *= x + k + 1.0;
        power /= a;
        k += 2.0;
    }
    sum
}

/// The regularised lower incomplete gamma function P(a, x).
pub(super) fn igamma<T: Real>(a: T, x: T) -> T {
    let (a, x) = (a.wide(), x.wide());
    if a < 0.0 || x < 0.0 {
        return T::nan();
    }
    T::of(match incomplete(a, x, T::epsilon().wide()) {
        Part::Lower(p) => p,
        Part::Upper(q) => 1.0 - q,
    })
}

/// The regularised upper incomplete gamma function Q(a, x).
pub(super) fn igammac<T: Real>(a: T, x: T) -> T {
    let (a, x) = (a.wide(), x.wide());
    if a < 0.0 || x < 0.0 {
        return T::nan();
    }
    T::of(match incomplete(a, x, T::epsilon().wide()) {
        Part::Lower(p) => upper_near_zero(a, x).unwrap_or(1.0 - p),
        Part::Upper(q) => q,
    })
}

/// P or Q: the other one is what is missing to 1.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Lower(f64),
    Upper(f64),
}

/// Nothing of a distribution of a shape up to a million is beyond this point; much further on convergents overflow.
const FAR: f64 = 1e9;

/// The power series of P where x is small beside a, else the continued fraction of Q. Either ends where a term is less than a small part
/// of the `epsilon` of the result's type.
#[inline(never)] // What is outside of the range needs no registers.
pub(super) fn incomplete(a: f64, x: f64, epsilon: f64) -> Part {
    const NONE: Part = Part::Upper(f64::NAN);
    let nothing = epsilon / 1024.0;
    // In this order NaN beside an end of the range does not matter, as in PyTorch.
    match () {
        () if a < 0.0 || x < 0.0 => return NONE,
        () if a == 0.0 => return if x > 0.0 { Part::Upper(0.0) } else { NONE },
        () if x == 0.0 => return Part::Upper(1.0),
        () if a.is_infinite() => return if x.is_infinite() { NONE } else { Part::Upper(1.0) },
        () if x.is_infinite() => return Part::Upper(0.0),
        () if a.is_nan() || x.is_nan() => return NONE,
        () => {}
    }
    if a > 1e6 {
        return nearly_normal(a, x);
    }
    let x = x.min(FAR);
    let scale = power_over_gamma(a, x);
    // Steps until the terms vanish: about the width of the distribution.
    let limit = 200 + (40.0 * a.max(x).sqrt()) as usize;
    if x < 1.1 || x < a {
        let (mut term, mut sum) = (1.0, 1.0);
        for k in 1..limit {
            term *= x / (a + k as f64);
            sum += term;
            if term < sum * nothing {
                break;
            }
        }
        return Part::Lower((scale * sum / a).min(1.0));
    }
    // Convergents by the recurrence of their numerators and denominators, scaled down when they grow.
    let (mut y, mut z) = (1.0 - a, x + 1.0 - a + 1.0);
    let (mut top, mut bottom, mut last_top, mut last_bottom) = (x + 1.0, z * x, 1.0, x);
    let mut value = top / bottom;
    for k in 1..limit {
        y += 1.0;
        z += 2.0;
        let factor = y * k as f64;
        (last_top, top) = (top, top * z - last_top * factor);
        (last_bottom, bottom) = (bottom, bottom * z - last_bottom * factor);
        if bottom != 0.0 {
            let next = top / bottom;
            let settled = ((value - next) / next).abs() < nothing.max(f64::EPSILON / 2.0);
            value = next;
            if settled {
                break;
            }
        }
        if top.abs() > 1e100 {
            for part in [&mut top, &mut bottom, &mut last_top, &mut last_bottom] {
                *part *= 1e-100;
            }
        }
    }
    Part::Upper((scale * value).clamp(0.0, 1.0))
}

/// For large a: the normal distribution of a deviation, and the first correction.
fn nearly_normal(a: f64, x: f64) -> Part {
    let distance = (x - a) / a;
    // Half the squared deviation; its logarithm's series where that cancels.
    let half_square = if distance.abs() < 1e-4 { distance * distance * (0.5 - distance / 3.0) } else { distance - distance.ln_1p() };
    let deviation = (2.0 * half_square).sqrt().copysign(distance);
    let tail = |t: f64| 0.5 * erfc(t * (a / 2.0).sqrt());
    let skew = if deviation.abs() < 1e-4 { -1.0 / 3.0 } else { 1.0 / distance - 1.0 / deviation };
    let correction = (-a * half_square).exp() / (2.0 * PI * a).sqrt() * skew;
    match deviation < 0.0 {
        true => Part::Lower(tail(-deviation) - correction),
        false => Part::Upper(tail(deviation) + correction),
    }
}

/// `x^a e^-x / gamma(a)`. For large a by Stirling's series, whose large terms cancel.
fn power_over_gamma(a: f64, x: f64) -> f64 {
    if a < 30.0 {
        return (a * x.ln() - x - lgamma(a)).exp();
    }
    let distance = (x - a) / a;
    let log = if distance.abs() < 0.3 { distance.ln_1p() - distance } else { (x / a).ln() - distance };
    let square = a * a;
    let stirling = (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * square)) / square) / a;
    (a / (2.0 * PI)).sqrt() * (a * log - stirling).exp()
}

/// Q where both arguments are small, so that `1 - P` would lose its digits: the sum of `1 - x^a / gamma(1 + a)` and of the
/// series without its first term.
fn upper_near_zero(a: f64, x: f64) -> Option<f64> {
    if x > 1.1 || a > 0.9 {
        return None;
    }
    let (mut factor, mut sum) = (1.0, 0.0);
    for k in 1..200 {
        factor *= -x / f64::from(k);
        let term = factor / (a + f64::from(k));
        sum += term;
        if term.abs() < 1e-17 * f64::abs(sum) {
            break;
        }
    }
    let log_power = a * x.ln();
    Some(-(log_power - lgamma(1.0 + a)).exp_m1() - a * (log_power - lgamma(1.0 + a)).exp() * sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative to the result, or to the largest intermediate value.
    fn close(got: f64, want: f64, scale: f64) {
        assert!((got - want).abs() <= 4e-15 * scale.max(want.abs()) || got == want, "{got:e} instead of {want:e}");
    }

    #[test]
    fn zeta_has_its_known_values() {
        close(zeta(2.0, 1.0), PI * PI / 6.0, 0.0);
        close(zeta(4.0, 1.0), PI.powi(4) / 90.0, 0.0);
        assert_eq!(zeta(1.0, 2.0), f64::INFINITY);
        assert_eq!(zeta(2.0, -3.0), f64::INFINITY);
        assert!(zeta(0.5_f64, 2.0).is_nan() && zeta(1.5_f64, -0.5).is_nan() && zeta(0.0_f64, -2.0).is_nan());
    }

    #[test]
    fn incomplete_gamma_has_its_known_values() {
        let relative = |got: f64, want: f64| assert!((got - want).abs() <= 2e-14 * want.abs(), "{got:e} instead of {want:e}");
        relative(igamma(2.0, 3.0), 1.0 - 4.0 * (-3f64).exp());
        relative(igammac(2.0, 3.0), 4.0 * (-3f64).exp());
        relative(igammac(1.0, 40.0), (-40f64).exp());
        assert_eq!((igammac(2.0, 1e200), igamma(2.0, 1e200)), (0.0, 1.0));
        relative(igamma(1.0, 1e-8), -(-1e-8f64).exp_m1());
        relative(igamma(0.5, 0.25), 0.520_499_877_813_046_5);
        assert_eq!((igamma(3.0, 0.0), igammac(0.0, 3.0)), (0.0, 0.0));
        assert!(igamma(-1.0_f64, 1.0).is_nan() && igamma(0.0_f64, 0.0).is_nan() && igammac(1.0, f64::NAN).is_nan());
        assert!(igammac(-0.5_f64, 0.5).is_nan() && igammac(3.0, 0.0) == 1.0 && igamma(3.0, f64::INFINITY) == 1.0);
        assert!((igamma(1e4_f32, 1e4) - 0.501_329_8).abs() < 1e-6 && (igammac(1e5_f32, 1e5) - 0.499_579_5).abs() < 1e-6);
        assert!((igamma(1e4_f64, 1e4) - 0.501_329_808_339_955_3).abs() < 1e-12);
    }
}
