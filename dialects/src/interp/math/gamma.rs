//! The gamma function's relatives.

use std::f64::consts::PI;

/// `ln |gamma(x)|`.
pub fn lgamma(x: f64) -> f64 {
    if x == f64::NEG_INFINITY { f64::INFINITY } else { libm::lgamma(x) }
}

/// The derivative of `ln gamma`: recurrence upward, then the asymptotic series.
pub fn digamma(x: f64) -> f64 {
    if x == 0.0 {
        return f64::INFINITY.copysign(-x);
    }
    if x < 0.0 {
        if x == x.floor() {
            return f64::NAN;
        }
        return digamma(1.0 - x) - PI / (PI * x.fract()).tan();
    }
    let (mut x, mut sum) = (x, 0.0);
    while x < 20.0 {
        sum -= 1.0 / x;
        x += 1.0;
    }
    let t = 1.0 / (x * x);
    sum + x.ln() - 0.5 / x - t * (1.0 / 12.0 - t * (1.0 / 120.0 - t * (1.0 / 252.0 - t * (1.0 / 240.0 - t / 132.0))))
}

/// The Hurwitz zeta function: the head of the sum, then Euler and Maclaurin's formula for the tail.
pub fn zeta(x: f64, q: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    if x.is_nan() || q.is_nan() || x < 1.0 {
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
    let (mut sum, mut a) = (0.0, q);
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
    match n {
        0 => digamma(x),
        n => {
            let sign = if n % 2 == 0 { -1.0 } else { 1.0 };
            sign * libm::tgamma(n as f64 + 1.0) * zeta(n as f64 + 1.0, x)
        }
    }
}

/// The regularised incomplete gamma functions `(P(a, x), Q(a, x))`.
pub fn incomplete(a: f64, x: f64) -> (f64, f64) {
    if a.is_nan() || x.is_nan() || a < 0.0 || x < 0.0 {
        return (f64::NAN, f64::NAN);
    }
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
        assert!((polygamma(1, 0.5) - PI * PI / 2.0).abs() < 1e-12);
        assert!((incomplete(2.0, 3.0).0 - (1.0 - 4.0 * (-3f64).exp())).abs() < 1e-14);
    }
}
