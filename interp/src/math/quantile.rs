//! Quantiles: where the distribution function of a random number reaches a probability.

use super::gamma::{incomplete, lgamma};

/// The least whole number that is not more than `most` with `above(n)`, by doubling and halving.
fn first(most: f64, above: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (-1.0, 1.0f64);
    while high < most && !above(high) {
        (low, high) = (high, 2.0 * high);
    }
    high = high.min(most);
    while high - low > 1.0 {
        let middle = ((low + high) / 2.0).floor();
        if above(middle) { high = middle } else { low = middle }
    }
    high
}

/// The least number of events of this rate that is not reached with a probability of more than `u`.
pub fn poisson(u: f64, rate: f64) -> f64 {
    if rate.is_nan() || rate < 0.0 {
        return f64::NAN;
    }
    if rate == 0.0 { 0.0 } else { first(1e18, |n| incomplete(n + 1.0, rate).1 > u) }
}

/// As [`poisson`], for successes of `count` trials of probability `p`.
pub fn binomial(u: f64, count: f64, p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) || count.is_nan() || count < 0.0 {
        return f64::NAN;
    }
    if p == 0.0 || p == 1.0 {
        return if p == 0.0 { 0.0 } else { count };
    }
    let term = |k: f64| (lgamma(count + 1.0) - lgamma(k + 1.0) - lgamma(count - k + 1.0) + k * p.ln() + (count - k) * (-p).ln_1p()).exp();
    let (mut k, mut sum) = (0.0, term(0.0));
    while sum <= u && k < count {
        k += 1.0;
        sum += term(k);
    }
    k
}

/// Where the regularised incomplete gamma function of this shape is `u`, by halving an interval of logarithms.
pub fn gamma(u: f64, shape: f64) -> f64 {
    if shape.is_nan() || shape <= 0.0 {
        return if shape == 0.0 { 0.0 } else { f64::NAN };
    }
    let (mut low, mut high) = (-745.0, (shape + 50.0 * shape.sqrt() + 100.0).ln());
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if incomplete(shape, middle.exp()).0 < u { low = middle } else { high = middle }
    }
    high.exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_invert_their_distributions() {
        assert_eq!((poisson(0.0, 3.0), poisson(0.05, 3.0), poisson(0.5, 3.0), poisson(0.99, 3.0)), (0.0, 1.0, 3.0, 8.0));
        assert_eq!((poisson(0.7, 0.0), poisson(0.5, 1000.0)), (0.0, 1000.0));
        assert_eq!((binomial(0.0, 4.0, 0.5), binomial(0.3, 4.0, 0.5), binomial(0.99, 4.0, 0.5)), (0.0, 1.0, 4.0));
        assert_eq!((binomial(0.4, 7.0, 1.0), binomial(0.4, 7.0, 0.0), binomial(0.4, 0.0, 0.3)), (7.0, 0.0, 0.0));
        assert!((gamma(0.5, 1.0) - 2f64.ln()).abs() < 1e-12 && gamma(0.5, 0.0) == 0.0);
        assert!(poisson(0.5, -1.0).is_nan() && binomial(0.5, 3.0, 1.5).is_nan() && gamma(0.5, -1.0).is_nan());
    }
}
