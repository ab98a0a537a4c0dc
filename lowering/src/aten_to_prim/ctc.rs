//! Connectionist temporal classification: the loss of sequences of labels that are not aligned with their inputs.

use strata_dialects::aten::dtype::DType;
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Size, Tensor};

use super::args::Args;
use super::loss::reduced;
use super::rule::Precision::Compute;
use super::rule::{Rule, many, one};

pub(super) const RULES: &[Rule] = &[
    many(_CTC_LOSS, Compute, forward),
    many(_CTC_LOSS_TENSOR, Compute, forward),
    one(_CTC_LOSS_BACKWARD, Compute, backward),
    one(_CTC_LOSS_BACKWARD_TENSOR, Compute, backward),
    one(CTC_LOSS_INTLIST, Compute, loss),
    one(CTC_LOSS_TENSOR, Compute, loss),
];

/// One length for each sample.
fn lengths<'c>(a: &Args<'c>, name: &str) -> Tensor<'c> {
    let given = if a.is_tensor(name) { a.raw(name).convert(DType::I64) } else { a.prim.int_vector(&a.ints(name)) };
    super::index::flat(given)
}

/// Scores with samples first.
fn scores<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("log_probs");
    if x.rank() == 2 { x.unsqueeze(0) } else { x.swap(0, 1) }
}

/// What the library wants to know of the samples besides their scores, and the number of their states.
fn samples<'c>(a: &Args<'c>, scores: Tensor<'c>) -> ([Tensor<'c>; 4], Size<'c>) {
    let (inputs, counts) = (lengths(a, "input_lengths"), lengths(a, "target_lengths"));
    let targets = a.raw("targets").convert(DType::I64);
    let known = (!a.is_tensor("target_lengths")).then(|| a.ints("target_lengths").into_iter().max().unwrap_or(0));
    // Labels stand in rows, or one after the other.
    let longest = match (known, targets.rank()) {
        (Some(longest), _) => Size::Const(longest),
        (None, 1) => targets.size(0),
        (None, _) => targets.size(1),
    };
    let labels = if targets.rank() == 1 {
        let begin = counts.scan("sum", 0) - counts;
        let place = begin.unsqueeze(1) + a.prim.range(DType::I64, longest);
        // What is behind the last label is not read.
        let padded = targets.pad_dim(0, Scalar::Int(0), 0, 1);
        padded.gather(&[place.minimum(targets.size(0))], &[0])
    } else {
        targets.slice(1, 0, longest, 1)
    };
    let at_most = |lengths: Tensor<'c>, most: Size<'c>, text: &str| {
        let largest = a.prim.concat(&[lengths, a.prim.int_vector(&[0])], 0).reduce("max", &[0], false);
        a.prim.guard(largest.less_equal(most), text, &[largest.item_size()]);
    };
    at_most(inputs, scores.size(1), "an input of ctc_loss has {0} steps, more than there are scores");
    at_most(counts, longest, "a target of ctc_loss has {0} labels, more than there are targets");
    let blank = a.prim.full(DType::I32, Scalar::Int(a.int("blank")), &[scores.size(0)]);
    let narrow = |t: Tensor<'c>| t.convert(DType::I32);
    ([labels, narrow(inputs), narrow(counts), blank], longest * 2 + 1)
}

/// Losses, and the logarithms of the probabilities of states, `width` of them.
fn forward_to<'c>(a: &Args<'c>, width: Option<Size<'c>>) -> Vec<Tensor<'c>> {
    let scores = scores(a);
    let ([labels, inputs, counts, blank], states) = samples(a, scores);
    a.prim.library("ctc", &[], &[scores, labels, inputs, counts, blank], &[width.unwrap_or(states)])
}

fn forward<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let declared = a.result_sizes(1).last().copied().flatten();
    let mut results = forward_to(a, declared.map(Size::Const));
    if a.tensor("log_probs").rank() == 2 && a.result_sizes(0).is_empty() {
        results = results.into_iter().map(|t| t.squeeze(&[0])).collect();
    }
    results
}

fn loss<'c>(a: &Args<'c>) -> Tensor<'c> {
    let losses = forward_to(a, None)[0];
    let losses = if a.bool("zero_infinity") { losses.fill_where(losses.equal(f64::INFINITY), 0) } else { losses };
    let mean = a.int("reduction") == 1;
    let losses = if mean { losses / lengths(a, "target_lengths").maximum(1).convert(losses.dtype()) } else { losses };
    let none = a.int("reduction") == 0 && a.tensor("log_probs").rank() == 2;
    if none { losses.squeeze(&[0]) } else { reduced(a, losses) }
}

fn backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let scores = scores(a);
    let ([labels, inputs, counts, blank], _) = samples(a, scores);
    let batch = [scores.size(0)];
    let (grad, losses) = (a.tensor("grad").broadcast_to(&batch), a.tensor("neg_log_likelihood").broadcast_to(&batch));
    let alpha = a.tensor("log_alpha");
    let alpha = if alpha.rank() == 2 { alpha.unsqueeze(0) } else { alpha };
    let options: &[&str] = if a.bool("zero_infinity") { &["zero_infinity"] } else { &[] };
    let result = a.prim.library("ctc_gradient", options, &[scores, alpha, losses, grad, labels, inputs, counts, blank], &[])[0];
    if a.tensor("log_probs").rank() == 2 { result.squeeze(&[0]) } else { result.swap(0, 1) }
}
