//! Why folding fires with `numerics = "ulp"`: errors of a normalised feature against f64, relative to the sum of magnitudes of what
//! is added up, for weights that cancel, inputs far from 0, and statistics from tiny to large.

use crate::testing::Random;

const TERMS: usize = 288;
const FEATURES: usize = 400;

/// Products in four running sums, as a vectorised kernel adds them.
fn dot(x: &[f32], w: impl Fn(usize) -> f32) -> f32 {
    let mut sums = [0f32; 4];
    for (at, &x) in x.iter().enumerate() {
        sums[at % 4] = x.mul_add(w(at), sums[at % 4]);
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// The largest error as written and folded.
fn errors(input: fn(&mut Random) -> f32, variance: f32) -> (f64, f64) {
    let mut random = Random(11);
    let (mut before, mut after) = (0f64, 0f64);
    for _ in 0..FEATURES {
        let x: Vec<f32> = (0..TERMS).map(|_| input(&mut random)).collect();
        let w: Vec<f32> = (0..TERMS).map(|_| random.uniform() - 0.5).collect();
        let exact_dot: f64 = x.iter().zip(&w).map(|(&x, &w)| f64::from(x) * f64::from(w)).sum();
        // Running means lie near what they are means of.
        let mean = exact_dot as f32 * (0.9 + 0.2 * random.uniform());
        let (gamma, beta) = (random.uniform() * 2.0, random.uniform() - 0.5);
        let rstd = 1.0 / (variance * (0.5 + random.uniform()) + 1e-5).sqrt();
        let truth = (exact_dot - f64::from(mean)) * f64::from(rstd) * f64::from(gamma) + f64::from(beta);
        let total: f64 = x.iter().zip(&w).map(|(&x, &w)| (f64::from(x) * f64::from(w)).abs()).sum();
        let magnitude = (total + f64::from(mean.abs())) * f64::from(rstd) * f64::from(gamma) + f64::from(beta.abs());
        let written = (dot(&x, |at| w[at]) - mean) * rstd * gamma + beta;
        let scale = rstd * gamma;
        let folded = dot(&x, |at| w[at] * scale) + (-mean * rstd * gamma + beta);
        before = before.max((f64::from(written) - truth).abs() / magnitude);
        after = after.max((f64::from(folded) - truth).abs() / magnitude);
    }
    (before, after)
}

#[test]
fn folded_scales_stay_within_four_times_the_error() {
    let inputs: [fn(&mut Random) -> f32; 3] =
        [|random| random.uniform() - 0.5, |random| (random.uniform() - 0.3).max(0.0), |random| random.uniform() + 100.0];
    for input in inputs {
        for variance in [1e-6, 1.0, 1e4] {
            let (before, after) = errors(input, variance);
            assert!(after <= 4.0 * before, "{after:e} against {before:e} with variance {variance}");
            assert!(after <= 4.0 * f64::from(f32::EPSILON), "{after:e} with variance {variance}");
        }
    }
}
