//! Quantiles of distributions, which make random numbers of uniform ones.

use super::gamma::{igamma, lgamma};
use super::real::Real;

/// Beyond this many standard deviations nothing is left that an f64 below one can ask for (with as many counts more, for rare events).
const REACH: f64 = 10.0;

/// Deviations beyond which counts are no longer added up one by one.
const WIDE: f64 = 300.0;

/// The first count whose terms add up to more than `u`. Terms begin a few deviations below the mean; each is made of the one before
/// by `ratio` of its count.
fn count(u: f64, [mean, deviation, most]: [f64; 3], log_term: impl Fn(f64) -> f64, ratio: impl Fn(f64) -> f64) -> f64 {
    let mut k = (mean - REACH * deviation).floor().max(0.0);
    let end = (mean + REACH * (deviation + 4.0)).ceil().min(most);
    let mut term = log_term(k).exp();
    let mut sum = term;
    while sum <= u && k < end {
        k += 1.0;
        // A term too small for its neighbour to be made of it is computed anew.
        term = if term > f64::MIN_POSITIVE { term * ratio(k) } else { log_term(k).exp() };
        sum += term;
    }
    k
}

/// Wide distributions of counts by the normal one, with the skew of their tails (Cornish and Fisher).
fn nearly_normal(u: f64, [mean, deviation, most]: [f64; 3], skew: f64) -> f64 {
    let z = std::f64::consts::SQRT_2 * crate::library::math::erfinv(2.0 * u - 1.0);
    (mean + deviation * (z + (z * z - 1.0) * skew / 6.0)).round().clamp(0.0, most)
}

/// The number of events of a rate that a uniform number stands for.
pub(super) fn poisson_quantile<T: Real>(u: T, rate: T) -> T {
    let (u, rate) = (u.wide(), rate.wide());
    if rate.is_nan() || rate < 0.0 {
        return T::nan();
    }
    let shape = [rate, rate.sqrt(), f64::INFINITY];
    T::of(match () {
        () if rate == 0.0 => 0.0,
        () if shape[1] > WIDE => nearly_normal(u, shape, rate.sqrt().recip()),
        () => count(u, shape, |k| k * rate.ln() - rate - lgamma(k + 1.0), |k| rate / k),
    })
}

/// The number of successes of `trials` of probability `p` that a uniform number stands for.
pub(super) fn binomial_quantile<T: Real>(u: T, trials: T, p: T) -> T {
    let (u, n, p) = (u.wide(), trials.wide(), p.wide());
    if !(0.0..=1.0).contains(&p) || n.is_nan() || n < 0.0 {
        return T::nan();
    }
    let shape = [n * p, (n * p * (1.0 - p)).sqrt(), n];
    let log_term = |k: f64| lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) + k * p.ln() + (n - k) * (-p).ln_1p();
    T::of(match () {
        () if p == 0.0 || p == 1.0 => n * p,
        () if shape[1] > WIDE => nearly_normal(u, shape, (1.0 - 2.0 * p) / shape[1]),
        () => count(u, shape, log_term, |k| (n - k + 1.0) / k * (p / (1.0 - p))),
    })
}

/// Where the regularised incomplete gamma function of a shape is `u`: Newton's steps in the logarithm inside of a bracket.
pub(super) fn gamma_quantile<T: Real>(u: T, shape: T) -> T {
    let (u, a) = (u.wide(), shape.wide());
    if a.is_nan() || a < 0.0 {
        return T::nan();
    }
    if a == 0.0 || u <= 0.0 {
        return T::of(0.0);
    }
    let (mut low, mut high) = (-745.0, (a + 50.0 * a.sqrt() + 100.0).ln());
    // The first term of the series near zero.
    let mut t = ((u.ln() + lgamma(a + 1.0)) / a).clamp(low, high).min(a.max(1.0).ln());
    for _ in 0..200 {
        let off = igamma(a, t.exp()) - u;
        if off < 0.0 {
            low = t
        } else {
            high = t
        }
        let slope = (a * t - t.exp() - lgamma(a)).exp();
        let next = t - off / slope;
        let next = if next > low && next < high { next } else { f64::midpoint(low, high) };
        if (next - t).abs() <= 1e-15 * t.abs().max(1.0) {
            break;
        }
        t = next;
    }
    T::of(t.exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_their_quantiles() {
        let poisson = |u: f64, rate: f64| poisson_quantile(u, rate);
        assert_eq!((poisson(0.0, 3.0), poisson(0.05, 3.0), poisson(0.5, 3.0), poisson(0.99, 3.0)), (0.0, 1.0, 3.0, 8.0));
        assert_eq!((poisson(0.7, 0.0), poisson(0.5, 1000.0), poisson(0.5, 1e8)), (0.0, 1000.0, 1e8));
        let binomial = |u: f64, n: f64, p: f64| binomial_quantile(u, n, p);
        assert_eq!((binomial(0.0, 4.0, 0.5), binomial(0.3, 4.0, 0.5), binomial(0.99, 4.0, 0.5)), (0.0, 1.0, 4.0));
        assert_eq!((binomial(0.4, 7.0, 1.0), binomial(0.4, 7.0, 0.0), binomial(0.4, 0.0, 0.3)), (7.0, 0.0, 0.0));
        assert_eq!((binomial(0.5, 1e9, 0.5), binomial(0.9999, 3.0, 1e-9)), (5e8, 0.0));
        assert!(poisson(0.5, -1.0).is_nan() && binomial(0.5, 3.0, 1.5).is_nan());
    }

    #[test]
    fn gamma_numbers_have_their_quantiles() {
        for (u, a) in [(0.5, 1.0), (1e-9, 0.3), (0.9999, 0.01), (0.3, 2.5), (0.999_999, 40.0), (0.01, 1e4)] {
            let x: f64 = gamma_quantile(u, a);
            assert!((igamma(a, x) - u).abs() < 1e-9 * u.max(1e-3), "{u} {a}: {x}");
        }
        assert!((gamma_quantile(0.5, 1.0) - 2f64.ln()).abs() < 1e-14 && gamma_quantile(0.5, 0.0) == 0.0);
        assert!(gamma_quantile(0.5, -1.0_f64).is_nan());
    }
}
