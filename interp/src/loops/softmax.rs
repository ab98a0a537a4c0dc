//! Means weighed by the softmax of scores: the reducers `softmax` and `softmax_or_zero`.

use super::super::dtype::Scalar;

/// Whether a mean of no weight is 0 (and not NaN); `None` for other reducers.
pub(super) fn zero(reducer: &str) -> Option<bool> {
    match reducer {
        "softmax" => Some(false),
        "softmax_or_zero" => Some(true),
        _ => None,
    }
}

/// Means under way: all scores with their values, so that nothing is rounded before the largest score is known.
pub(super) struct Means {
    pairs: Vec<Vec<(f64, f64)>>,
    zero: bool,
}

impl Means {
    pub fn new(count: usize, zero: bool) -> Self {
        Self { pairs: vec![Vec::new(); count], zero }
    }

    pub fn add(&mut self, at: usize, score: Scalar, value: Scalar) {
        self.pairs[at].push((score.float(), value.float()));
    }

    pub fn value(&self, at: usize) -> Scalar {
        Scalar::Float(mean(&self.pairs[at], self.zero))
    }
}

fn mean(pairs: &[(f64, f64)], zero: bool) -> f64 {
    let largest = pairs.iter().fold(f64::NEG_INFINITY, |a, &(b, _)| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) });
    if zero && largest == f64::NEG_INFINITY {
        return 0.0;
    }
    let (mut sum, mut total) = (0.0, 0.0);
    for (score, value) in pairs {
        let weight = (score - largest).exp();
        sum += weight * value;
        total += weight;
    }
    sum / total
}
