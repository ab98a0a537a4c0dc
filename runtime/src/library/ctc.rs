//! Connectionist temporal classification (Graves and others, 2006): the probability of a sequence of labels, summed over all ways
//! to stretch it over time with blanks between, and its gradient. As in PyTorch, everything is in logarithms.

use super::array::{Array, Cost, each};
use crate::abi::StrataCall;
use crate::dtype::DType;

const NEVER: f64 = f64::NEG_INFINITY;

/// Sums of probabilities by their logarithms.
fn sum(logs: &[f64]) -> f64 {
    let top = logs.iter().copied().fold(NEVER, f64::max);
    if top == NEVER { NEVER } else { logs.iter().map(|v| (v - top).exp()).sum::<f64>().ln() + top }
}

/// One sample.
struct Sample {
    /// The logarithms of the classes' probabilities, `classes` at each time.
    scores: Vec<f64>,
    classes: usize,
    /// The labels with blanks before, between and after.
    states: Vec<usize>,
    /// How long it is.
    length: usize,
}

impl Sample {
    /// None where a label is no class.
    fn new(scores: Vec<f64>, classes: usize, length: i32, labels: &[i64], blank: i32) -> Option<Sample> {
        let class = |label: i64| usize::try_from(label).ok().filter(|&label| label < classes);
        let blank = class(blank.into())?;
        let mut states = vec![blank];
        for &label in labels {
            states.extend([class(label)?, blank]);
        }
        let times = scores.len().checked_div(classes).unwrap_or(0);
        Some(Sample { length: usize::try_from(length).unwrap_or(0).min(times), scores, classes, states })
    }

    fn score(&self, time: usize, state: usize) -> f64 {
        self.scores[time * self.classes + self.states[state]]
    }

    /// Whether a state may follow the one two before it, without the blank between.
    fn skips(&self, state: usize) -> bool {
        state >= 2 && self.states[state] != self.states[state - 2]
    }

    /// The logarithm of the probability to be in each state at each time, `width` of them, having seen what comes before.
    fn forward(&self, times: usize, width: usize) -> Vec<f64> {
        let mut alpha = vec![NEVER; times * width];
        for time in 0..self.length {
            for state in 0..self.states.len() {
                let before = |back: usize| alpha[(time - 1) * width + state - back];
                let reached = match time {
                    0 if state < 2 => 0.0,
                    0 => NEVER,
                    _ => sum(&[before(0), if state >= 1 { before(1) } else { NEVER }, if self.skips(state) { before(2) } else { NEVER }]),
                };
                alpha[time * width + state] = reached + self.score(time, state);
            }
        }
        alpha
    }

    /// The same from the end, seeing what comes after.
    fn backward(&self) -> Vec<f64> {
        let n = self.states.len();
        let mut beta = vec![NEVER; self.length * n];
        for time in (0..self.length).rev() {
            for state in 0..n {
                let after = |on: usize| beta[(time + 1) * n + state + on];
                let left = match self.length - 1 - time {
                    0 if state + 2 >= n => 0.0,
                    0 => NEVER,
                    _ => sum(&[
                        after(0),
                        if state + 1 < n { after(1) } else { NEVER },
                        if state + 2 < n && self.skips(state + 2) { after(2) } else { NEVER },
                    ]),
                };
                beta[time * n + state] = left + self.score(time, state);
            }
        }
        beta
    }

    /// The negative logarithm of the labels' probability.
    fn loss(&self, alpha: &[f64], width: usize) -> f64 {
        let n = self.states.len();
        match self.length {
            0 if n == 1 => 0.0,
            0 => f64::INFINITY,
            _ => -sum(&alpha[(self.length - 1) * width + n.saturating_sub(2)..][..n.min(2)]),
        }
    }

    /// The gradient of the loss by the classes' scores before their softmax, times `grad`.
    fn gradient(&self, alpha: &[f64], width: usize, loss: f64, grad: f64) -> Vec<f64> {
        let (beta, n) = (self.backward(), self.states.len());
        let mut out = vec![0.0; self.scores.len()];
        let used = self.length * self.classes;
        if loss == f64::INFINITY {
            // No path gives the labels, and PyTorch's gradient is a difference of infinities.
            out[..used].fill(f64::NAN);
            return out;
        }
        out[..used].iter_mut().zip(&self.scores).for_each(|(out, score)| *out = score.exp() * grad);
        let mut states: Vec<usize> = (0..n).collect();
        states.sort_by_key(|&state| self.states[state]);
        for time in 0..self.length {
            for same in states.chunk_by(|&a, &b| self.states[a] == self.states[b]) {
                let through: Vec<f64> = same.iter().map(|state| alpha[time * width + state] + beta[time * n + state]).collect();
                let score = self.score(time, same[0]);
                out[time * self.classes + self.states[same[0]]] -= (sum(&through) + loss - score).exp() * grad;
            }
        }
        out
    }
}

/// Numbers `item * n ..` of an array of the type that the code names.
///
/// # Safety
/// The array holds that many.
unsafe fn read(array: Array, single: bool, item: usize, n: usize) -> Vec<f64> {
    // SAFETY: the caller's.
    unsafe {
        if single {
            let mut line = vec![0f32; n];
            array.get_plain(item, &mut line);
            return line.into_iter().map(f64::from).collect();
        }
        let mut line = vec![0f64; n];
        array.get_plain(item, &mut line);
        line
    }
}

/// Writes them.
///
/// # Safety
/// The array holds that many, and no other thread uses them.
unsafe fn write(array: Array, single: bool, item: usize, line: &[f64]) {
    // SAFETY: the caller's.
    unsafe {
        if single {
            array.put_plain(item, &line.iter().map(|&v| v as f32).collect::<Vec<_>>());
        } else {
            array.put_plain(item, line);
        }
    }
}

/// The arrays that say what the samples are.
#[derive(Clone, Copy)]
struct Samples {
    single: bool,
    scores: Array,
    labels: Array,
    inputs: Array,
    targets: Array,
    blank: Array,
    sizes: [usize; 3],
}

impl Samples {
    /// Bytes of a sample: scores, labels, states.
    fn room(&self) -> usize {
        let [times, classes, longest] = self.sizes;
        8 * (2 * times * classes + 3 * longest)
    }

    /// # Safety
    /// The arrays hold sample `b`.
    unsafe fn sample(&self, b: usize) -> Option<Sample> {
        let [times, classes, longest] = self.sizes;
        let mut labels = vec![0i64; longest];
        // SAFETY: the caller's.
        let [length, count, blank] = unsafe {
            self.labels.get_plain(b, &mut labels);
            [self.inputs, self.targets, self.blank].map(|one| one.integers(b, 1)[0])
        };
        labels.truncate(usize::try_from(count).unwrap_or(0));
        // SAFETY: the caller's.
        Sample::new(unsafe { read(self.scores, self.single, b, times * classes) }, classes, length, &labels, blank)
    }
}

fn single(dtype: i32) -> bool {
    usize::try_from(dtype).ok().and_then(|at| DType::ALL.get(at)) == Some(&DType::F32)
}

/// See `prim.library` for what it computes.
///
/// # Safety
/// The arrays hold as many elements as the batch and the sizes say, and results do not overlap operands.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)] // It is a C function of the image ABI.
pub unsafe extern "C" fn strata_lib_ctc(
    call: *mut StrataCall,
    dtype: i32,
    scores: Array,
    labels: Array,
    inputs: Array,
    targets: Array,
    blank: Array,
    loss: Array,
    alpha: Array,
    batch: i64,
    t: i64,
    c: i64,
    s: i64,
    k: i64,
    _options: i32,
) {
    let (times, width) = (t as usize, k as usize);
    let samples = Samples { single: single(dtype), scores, labels, inputs, targets, blank, sizes: [times, c as usize, s as usize] };
    let table = times * width;
    let cost = Cost { work: table.saturating_mul(50), room: samples.room() + 8 * table };
    // SAFETY: the caller promises the call and the sizes; each item is this call's own.
    unsafe {
        each(call, batch, cost, |b| {
            let sample = samples.sample(b).filter(|sample| sample.states.len() <= width);
            let table = sample.as_ref().map_or_else(|| vec![f64::NAN; times * width], |sample| sample.forward(times, width));
            write(loss, samples.single, b, &[sample.map_or(f64::NAN, |sample| sample.loss(&table, width))]);
            write(alpha, samples.single, b, &table);
        });
    }
}

/// See `prim.library` for what it computes.
///
/// # Safety
/// The arrays hold as many elements as the batch and the sizes say, and results do not overlap operands.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)] // It is a C function of the image ABI.
pub unsafe extern "C" fn strata_lib_ctc_gradient(
    call: *mut StrataCall,
    dtype: i32,
    scores: Array,
    alpha: Array,
    loss: Array,
    grad: Array,
    labels: Array,
    inputs: Array,
    targets: Array,
    blank: Array,
    result: Array,
    batch: i64,
    t: i64,
    c: i64,
    k: i64,
    s: i64,
    options: i32,
) {
    let (times, classes, width) = (t as usize, c as usize, k as usize);
    let samples = Samples { single: single(dtype), scores, labels, inputs, targets, blank, sizes: [times, classes, s as usize] };
    let table = times * width;
    let cost = Cost { work: table.saturating_mul(100), room: samples.room() + 8 * (2 * table + times * classes) };
    // SAFETY: the caller promises the call and the sizes; each item is this call's own.
    unsafe {
        each(call, batch, cost, |b| {
            let one = |array: Array| read(array, samples.single, b, 1)[0];
            let (table, loss, grad) = (read(alpha, samples.single, b, times * width), one(loss), one(grad));
            let gradient = match samples.sample(b).filter(|sample| sample.states.len() <= width) {
                _ if options & 1 != 0 && loss == f64::INFINITY => vec![0.0; times * classes],
                Some(sample) => sample.gradient(&table, width, loss, grad),
                None => vec![f64::NAN; times * classes],
            };
            write(result, samples.single, b, &gradient);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(labels: &[i64], length: i32) -> Sample {
        let logits = [[0.3f64, -1.0, 0.4], [1.0, 0.2, -0.3], [0.1, 0.5, 0.9], [-0.4, 0.6, 0.2]];
        let scores = logits.iter().flat_map(|row| row.map(|v| v - sum(row))).collect();
        Sample::new(scores, 3, length, labels, 0).unwrap()
    }

    /// Every path over the classes, without repetitions and blanks.
    fn by_enumeration(sample: &Sample, labels: &[usize]) -> f64 {
        let mut total = 0.0;
        for path in 0..3usize.pow(sample.length as u32) {
            let path: Vec<usize> = (0..sample.length).map(|t| path / 3usize.pow(t as u32) % 3).collect();
            let mut read = path.clone();
            read.dedup();
            read.retain(|&class| class != 0);
            if read == labels {
                total += path.iter().enumerate().map(|(t, class)| sample.scores[t * 3 + class]).sum::<f64>().exp();
            }
        }
        -total.ln()
    }

    #[test]
    fn the_loss_sums_all_paths() {
        for (labels, length) in [(vec![1i64, 2], 4), (vec![1, 1], 3), (vec![2], 1), (vec![], 4), (vec![1, 2, 1], 4), (vec![1, 1], 2)] {
            let s = sample(&labels, length);
            let got = s.loss(&s.forward(4, s.states.len()), s.states.len());
            let want = by_enumeration(&s, &labels.iter().map(|&l| l as usize).collect::<Vec<_>>());
            assert!(got == want || (got - want).abs() < 1e-12, "{labels:?}: {got} {want}");
        }
        assert_eq!(sample(&[], 0).loss(&[], 1), 0.0);
        assert!(Sample::new(vec![0.0; 3], 3, 1, &[3], 0).is_none());
    }

    #[test]
    fn the_gradient_is_the_slope() {
        let s = sample(&[1, 2], 3);
        let (width, n) = (7, s.states.len());
        let alpha = s.forward(4, width);
        let gradient = s.gradient(&alpha, width, s.loss(&alpha, width), 2.0);
        // By the scores before the softmax: those of time 1.
        let loss = |class: usize, step: f64| {
            let mut moved = sample(&[1, 2], 3);
            moved.scores[3 + class] += step;
            let all = sum(&moved.scores[3..6]);
            moved.scores[3..6].iter_mut().for_each(|v| *v -= all);
            moved.loss(&moved.forward(4, n), n)
        };
        for class in 0..3 {
            let slope = (loss(class, 1e-6) - loss(class, -1e-6)) / 2e-6;
            assert!((gradient[3 + class] - 2.0 * slope).abs() < 1e-8);
        }
        assert_eq!(gradient[9..], [0.0; 3]);
        // Three labels in two steps.
        let s = sample(&[1, 2, 1], 2);
        let gradient = s.gradient(&s.forward(4, width), width, f64::INFINITY, 2.0);
        assert!(gradient[..6].iter().all(|v| v.is_nan()));
        assert_eq!(gradient[6..], [0.0; 6]);
    }
}
