//! The gamma function's relatives.

use std::f64::consts::PI;

use crate::dtype::DType;

/// `ln |gamma(x)|`.
pub fn lgamma(x: f64) -> f64 {
    if x == f64::NEG_INFINITY { f64::INFINITY } else { libm::lgamma(x) }
}

/// The derivative of `ln gamma`.
pub fn digamma(x: f64) -> f64 {
    digamma_in(x, DType::F64)
}

/// The derivative of `ln gamma`, every step rounded: recurrence upward to 10, then the asymptotic series.
pub fn digamma_in(x: f64, d: DType) -> f64 {
    if x == 0.0 {
        return f64::INFINITY.copysign(-x);
    }
    if x < 0.0 {
        if x == x.floor() {
            return f64::NAN;
        }
        return d.round(digamma_in(d.round(1.0 - x), d) - d.round(PI / (PI * x.fract()).tan()));
    }
    let (mut x, mut sum) = (x, 0.0);
    while x < 10.0 {
        sum = d.round(sum - d.round(1.0 / x));
        x = d.round(x + 1.0);
    }
    if x == 10.0 {
        return d.round(sum + d.round(2.251_752_589_066_721));
    }
    let t = d.round(1.0 / d.round(x * x));
    let mut series = 0.0;
    for b in [1.0 / 12.0, -691.0 / 32760.0, 1.0 / 132.0, -1.0 / 240.0, 1.0 / 252.0, -1.0 / 120.0, 1.0 / 12.0] {
        series = d.round(d.round(series * t) + d.round(b));
    }
    let near = d.round(d.round(sum + d.round(x.ln())) - d.round(0.5 / x));
    d.round(near - d.round(t * series))
}

/// The second derivative of `ln gamma`, every step rounded.
fn trigamma_in(x: f64, d: DType) -> f64 {
    let pi = d.round(PI);
    let (mut x, mut sign, mut sum) = (x, 1.0, 0.0);
    if x < 0.5 {
        let sine = d.round(d.round(pi * x).sin());
        sum = -d.round(d.round(pi * pi) / d.round(sine * sine));
        sign = -1.0;
        x = d.round(1.0 - x);
    }
    for _ in 0..6 {
        sum = d.round(sum + d.round(1.0 / d.round(x * x)));
        x = d.round(x + 1.0);
    }
    let t = d.round(1.0 / d.round(x * x));
    let inner = d.round(d.round(1.0 / 30.0) - d.round(t * d.round(1.0 / 42.0)));
    let series = d.round(t * d.round(d.round(1.0 / 6.0) - d.round(t * inner)));
    let head = d.round(1.0 + d.round(1.0 / d.round(2.0 * x)));
    sign * d.round(sum + d.round(d.round(head + series) / x))
}

/// The Hurwitz zeta function: the head of the sum, then Euler and Maclaurin's formula for the tail.
pub fn zeta(x: f64, q: f64) -> f64 {
    zeta_in(x, q, DType::F64)
}

/// The Hurwitz zeta function of numbers of a type: the first term is of that type, the sum is not.
pub fn zeta_in(x: f64, q: f64, d: DType) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    if x.is_nan() || q.is_nan() || x < 1.0 || q == f64::INFINITY {
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
    let (mut sum, mut a) = (d.round(q.powf(-x)), q + 1.0);
    while a < 12.0 {
        sum += a.powf(-x);
        a += 1.0;
    }
    // B(2k) / (2k)!
    const B: [f64; 10] = [
        1.0 / 12.0,
        -1.0 / 720.0,
        1.0 / 30240.0,
        -1.0 / 1209600.0,
        1.0 / 47900160.0,
        -691.0 / 1307674368000.0,
        1.0 / 74724249600.0,
        -3617.0 / 10670622842880000.0,
        43867.0 / 5109094217170944000.0,
        -174611.0 / 802857662698291200000.0,
    ];
    sum += a.powf(1.0 - x) / (x - 1.0) + 0.5 * a.powf(-x);
    let (mut rising, mut power) = (x, a.powf(-x - 1.0));
    for (k, b) in B.iter().enumerate() {
        sum += b * rising * power;
        let j = 2.0 * k as f64;
        rising *= (x + j + 1.0) * (x + j + 2.0);
        power /= a * a;
    }
    sum
}

/// The n-th derivative of digamma.
pub fn polygamma(n: i64, x: f64) -> f64 {
    polygamma_in(n, x, DType::F64)
}

/// The n-th derivative of digamma of a number of a type.
pub fn polygamma_in(n: i64, x: f64, d: DType) -> f64 {
    match n {
        0 => digamma_in(x, d),
        1 => trigamma_in(x, d),
        n => {
            let sign = if n % 2 == 0 { -1.0 } else { 1.0 };
            let factorial = if d == DType::F64 { libm::tgamma(n as f64 + 1.0) } else { d.round(d.round(lgamma(n as f64 + 1.0)).exp()) };
            d.round(sign * factorial * d.round(zeta_in(n as f64 + 1.0, x, d)))
        }
    }
}

/// The regularised incomplete gamma functions `(P(a, x), Q(a, x))`.
pub fn incomplete(a: f64, x: f64) -> (f64, f64) {
    if a < 0.0 || x < 0.0 {
        return (f64::NAN, f64::NAN);
    }
    // The ends of the range come before NaN, as in PyTorch.
    if a == 0.0 {
        return if x > 0.0 { (1.0, 0.0) } else { (f64::NAN, f64::NAN) };
    }
    if x == 0.0 {
        return (0.0, 1.0);
    }
    if a.is_infinite() {
        return if x.is_infinite() { (f64::NAN, f64::NAN) } else { (0.0, 1.0) };
    }
    if x.is_infinite() {
        return (1.0, 0.0);
    }
    if a.is_nan() || x.is_nan() {
        return (f64::NAN, f64::NAN);
    }
    let scale = (a * x.ln() - x - lgamma(a)).exp();
    if x < a + 1.0 {
        let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, a);
        for _ in 0..10000 {
            n += 1.0;
            term *= x / n;
            sum += term;
            if term < sum * 1e-17 {
                break;
            }
        }
        let p = scale * sum;
        return (p, 1.0 - p);
    }
    // Lentz's method for the continued fraction of Q.
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (1e300, 1.0 / b);
    let mut h = d;
    for k in 1..10000 {
        let k = k as f64;
        let an = -k * (k - a);
        b += 2.0;
        d = 1.0 / (an * d + b);
        c = b + an / c;
        h *= d * c;
        if (d * c - 1.0).abs() < 1e-16 {
            break;
        }
    }
    let q = scale * h;
    (1.0 - q, q)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        assert!((digamma(1.0) + 0.577_215_664_901_532_9).abs() < 1e-14);
        assert!((digamma(-0.5) - 0.036_489_973_978_576_52).abs() < 1e-13);
        assert!((zeta(2.0, 1.0) - PI * PI / 6.0).abs() < 1e-14);
        assert!((polygamma(1, 0.5) - PI * PI / 2.0).abs() < 1e-5);
        assert!((polygamma(2, 1.0) + 2.404_113_806_319_188_6).abs() < 1e-12);
        assert!((incomplete(2.0, 3.0).0 - (1.0 - 4.0 * (-3f64).exp())).abs() < 1e-14);
    }
}
