//! Connectionist temporal classification: the probability that a sequence of classes, without repetitions and blanks, reads as the labels.

use super::Arm::{self, Op};
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::Scalar;
use crate::tensor::Tensor;
use crate::value::{Args, InterpError, Results, Value, fail, many, one};

/// Arms by name.
pub const ARMS: &[(Operator, Arm)] = &[
    (_CTC_LOSS, Op(|a| named(a)?.forward())),
    (_CTC_LOSS_TENSOR, Op(|a| named(a)?.forward())),
    (_CTC_LOSS_BACKWARD, Op(gradient)),
    (_CTC_LOSS_BACKWARD_TENSOR, Op(gradient)),
    (CTC_LOSS_INTLIST, Op(loss)),
    (CTC_LOSS_TENSOR, Op(loss)),
];

/// A batch of samples.
struct Samples {
    /// Logarithms of probabilities by sample, time and class.
    scores: Tensor,
    /// The labels of each sample.
    labels: Vec<Vec<i128>>,
    /// How long each sample is.
    lengths: Vec<usize>,
    blank: i128,
    /// States of the longest sample: labels with blanks before, between and after them.
    width: usize,
}

impl Samples {
    /// The classes of a sample's states.
    fn states(&self, b: usize) -> Vec<usize> {
        let labels = self.labels[b].iter().flat_map(|&label| [label, self.blank]);
        std::iter::once(self.blank).chain(labels).map(|class| class as usize).collect()
    }

    fn p(&self, b: usize, time: usize, class: usize) -> f64 {
        self.scores.f(&[b, time, class])
    }

    /// Logarithms of the probability to be in each state at each time, from the past (or, reversed, from the future).
    fn table(&self, b: usize, reversed: bool) -> Vec<Vec<f64>> {
        let (mut states, length) = (self.states(b), self.lengths[b]);
        if reversed {
            states.reverse();
        }
        let mut rows: Vec<Vec<f64>> = Vec::new();
        for step in 0..length {
            let time = if reversed { length - 1 - step } else { step };
            let row = (0..states.len()).map(|k| {
                let reached = match rows.last() {
                    None => if k < 2 { 0.0 } else { f64::NEG_INFINITY },
                    Some(last) => {
                        let jump = k >= 2 && states[k] != states[k - 2];
                        log_total(&last[(if jump { k - 2 } else { k.saturating_sub(1) })..=k])
                    }
                };
                reached + self.p(b, time, states[k])
            });
            rows.push(row.collect());
        }
        if reversed {
            rows.iter_mut().for_each(|row| row.reverse());
            rows.reverse();
        }
        rows
    }

    /// The negative logarithms of the labels' probabilities, and the tables they are read from.
    fn forward(&self) -> Results {
        let (dtype, times, n) = (self.scores.dtype(), self.scores.shape()[1], self.labels.len());
        let mut alpha = Tensor::full(dtype, &[n, times, self.width], Scalar::Float(f64::NEG_INFINITY))?;
        let mut losses = Vec::new();
        for b in 0..n {
            let table = self.table(b, false);
            for (time, row) in table.iter().enumerate() {
                row.iter().enumerate().for_each(|(k, &v)| alpha.set(&[b, time, k], Scalar::Float(v)));
            }
            losses.push(match table.last() {
                // It ends in the last label or in the blank behind it.
                Some(row) => -log_total(&row[row.len().saturating_sub(2)..]),
                None => if self.labels[b].is_empty() { 0.0 } else { f64::INFINITY },
            });
        }
        many([Tensor::from_floats(dtype, &[n], &losses)?, alpha])
    }

    /// The gradient by the scores before their softmax, in the order of `scores`.
    fn backward(&self, grad: &Tensor, losses: &Tensor, zero_infinity: bool) -> Result<Tensor, InterpError> {
        let mut out = Tensor::zeros(self.scores.dtype(), self.scores.shape())?;
        for b in 0..self.labels.len() {
            let (loss, g) = (losses.at(b).float(), grad.at(b).float());
            if zero_infinity && loss == f64::INFINITY {
                continue;
            }
            let (from, to, states) = (self.table(b, false), self.table(b, true), self.states(b));
            for time in 0..self.lengths[b] {
                for class in 0..self.scores.shape()[2] {
                    // Each table counts the present score: once too often.
                    let score = self.p(b, time, class);
                    let here: Vec<f64> = (0..states.len()).filter(|&k| states[k] == class).map(|k| from[time][k] + to[time][k]).collect();
                    out.set(&[b, time, class], Scalar::Float((score.exp() - (log_total(&here) + loss - score).exp()) * g));
                }
            }
        }
        Ok(out)
    }
}

/// The logarithm of a sum of exponentials; that of nothing is minus infinity.
fn log_total(v: &[f64]) -> f64 {
    if v.iter().all(|&v| v == f64::NEG_INFINITY) { f64::NEG_INFINITY } else { super::reduce::log_sum_exp(v) }
}

fn count(v: i128) -> Result<usize, InterpError> {
    usize::try_from(v).map_err(|_| fail("a negative length"))
}

fn checked(samples: Samples) -> Result<Samples, InterpError> {
    let (times, classes) = (samples.scores.shape()[1], samples.scores.shape()[2] as i128);
    if samples.lengths.iter().any(|&n| n > times) {
        return Err(fail(format!("an input is longer than the {times} steps")));
    }
    if samples.labels.iter().flatten().chain([&samples.blank]).any(|&label| label < 0 || label >= classes) {
        return Err(fail(format!("a label is out of {classes} classes")));
    }
    Ok(samples)
}

/// The samples of an operator's arguments: times come first, labels stand in rows or one after the other.
fn named(args: &Args) -> Result<Samples, InterpError> {
    let (scores, targets) = (args.tensor("log_probs")?, args.tensor("targets")?);
    let scores = if scores.rank() == 2 { scores.unsqueeze(1) } else { scores.clone() };
    if scores.rank() != 3 {
        return Err(fail("scores by time, sample and class were expected"));
    }
    let lengths = |name: &str| -> Result<Vec<usize>, InterpError> {
        let given = match args.value(name)? {
            Value::Tensor(t) => t.ints(),
            _ => args.ints(name)?.into_iter().map(i128::from).collect(),
        };
        given.into_iter().map(count).collect()
    };
    let (inputs, counts) = (lengths("input_lengths")?, lengths("target_lengths")?);
    let (n, labels) = (scores.shape()[1], targets.ints());
    if inputs.len() != n || counts.len() != n {
        return Err(fail("a length for each sample was expected"));
    }
    let rows = targets.rank() == 2;
    let mut begin = 0;
    let mut parts = Vec::new();
    for (b, &count) in counts.iter().enumerate() {
        let from = if rows { b * targets.shape()[1] } else { begin };
        begin += count;
        parts.push(labels.get(from..from + count).ok_or_else(|| fail("there are fewer labels than their lengths say"))?.to_vec());
    }
    let width = 2 * counts.iter().copied().max().unwrap_or(0) + 1;
    checked(Samples { scores: scores.permute(&[1, 0, 2])?, labels: parts, lengths: inputs, blank: args.int("blank")?.into(), width })
}

fn gradient(args: &Args) -> Results {
    let samples = named(args)?;
    let out = samples.backward(args.tensor("grad")?, args.tensor("neg_log_likelihood")?, args.flag("zero_infinity")?)?;
    one(out.permute(&[1, 0, 2])?.reshape(args.tensor("log_probs")?.shape())?)
}

fn loss(args: &Args) -> Results {
    let samples = named(args)?;
    let losses = samples.forward()?[0].tensor()?.clone();
    let zero = args.flag("zero_infinity")?;
    let losses = losses.map(losses.dtype(), |v| if zero && v.float() == f64::INFINITY { Scalar::Int(0) } else { v });
    let single = args.tensor("log_probs")?.rank() == 2;
    let code = args.int("reduction")?;
    let shared = |k: usize| Scalar::Float(losses.at(k).float() / if code == 1 { samples.labels[k].len().max(1) as f64 } else { 1.0 });
    let shared = Tensor::from_scalars(losses.dtype(), losses.shape(), (0..losses.len()).map(shared))?;
    let value = super::loss::reduced(&shared, code, losses.dtype())?;
    one(if single && code == 0 { value.reshape(&[])? } else { value })
}

// The library's functions: samples come first, labels stand in rows.

fn samples(scores: &Tensor, operands: &[&Tensor], width: usize) -> Result<Samples, InterpError> {
    let [labels, inputs, counts, blank] = operands else { return Err(fail("labels, lengths and the blank were expected")) };
    let r = scores.rank();
    let n = inputs.len();
    let longest = labels.shape()[labels.rank() - 1];
    let all = labels.ints();
    let part = |b: usize| -> Result<Vec<i128>, InterpError> {
        all.get(b * longest..b * longest + count(counts.at(b).int())?.min(longest)).map(<[i128]>::to_vec).ok_or_else(|| fail("too few labels"))
    };
    checked(Samples {
        scores: scores.reshape(&[n, scores.shape()[r - 2], scores.shape()[r - 1]])?,
        labels: (0..n).map(part).collect::<Result<_, _>>()?,
        lengths: inputs.ints().into_iter().map(count).collect::<Result<_, _>>()?,
        blank: if n == 0 { 0 } else { blank.at(0).int() },
        width,
    })
}

/// `ctc` of the library, with tables of `width` states.
pub(crate) fn forward(operands: &[&Tensor], width: usize) -> Results {
    let scores = operands[0];
    let batch = &scores.shape()[..scores.rank() - 2];
    let out = samples(scores, &operands[1..], width)?.forward()?;
    let times = scores.shape()[scores.rank() - 2];
    many([out[0].tensor()?.reshape(batch)?, out[1].tensor()?.reshape(&[batch, &[times, width]].concat())?])
}

/// `ctc_gradient` of the library.
pub(crate) fn backward(operands: &[&Tensor], zero_infinity: bool) -> Results {
    let [scores, alpha, losses, grad, rest @ ..] = operands else { return Err(fail("scores, results and a gradient were expected")) };
    let out = samples(scores, rest, alpha.shape()[alpha.rank() - 1])?.backward(grad, losses, zero_infinity)?;
    one(out.reshape(scores.shape())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::DType;

    #[test]
    fn two_steps_by_hand() -> Result<(), InterpError> {
        let p = [0.5f64, 0.3, 0.2, 0.1, 0.6, 0.3].map(f64::ln);
        let args = Args::new()
            .with("log_probs", Tensor::from_floats(DType::F64, &[2, 1, 3], &p)?)
            .with("targets", Tensor::from_ints(&[1, 1], &[1])?)
            .with("input_lengths", Value::ints(&[2]))
            .with("target_lengths", Value::ints(&[1]))
            .with("blank", Value::int(0));
        let out = named(&args)?.forward()?;
        // blank 1, 1 blank, 1 1.
        let want = -(0.5f64 * 0.6 + 0.3 * 0.1 + 0.3 * 0.6).ln();
        assert!((out[0].tensor()?.at(0).float() - want).abs() < 1e-12);
        Ok(())
    }
}
