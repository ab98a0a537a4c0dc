//! Scaled dot-product attention.

use strata_dialects::aten::dtype::DType;
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Tensor};

use super::args::Args;
use super::matmul::matmul;
use super::random::thinned;
use super::reduce::{logsumexp_of_softmax, softmax};
use super::rule::Precision::Wide;
use super::rule::{Rule, many, one};

pub(super) const RULES: &[Rule] = &[
    many(_SCALED_DOT_PRODUCT_ATTENTION_MATH, Wide, |a| {
        let weights = weights(a, scores(a, repeated(a, "key")));
        vec![matmul(weights, repeated(a, "value")), weights]
    }),
    many(_SCALED_DOT_PRODUCT_FLASH_ATTENTION_FOR_CPU, Wide, with_logsumexp),
    many(_SCALED_DOT_PRODUCT_FLASH_ATTENTION_FOR_CPU_BACKWARD, Wide, gradients),
    one(SCALED_DOT_PRODUCT_ATTENTION, Wide, |a| attention(a).0),
];

/// `softmax(scale * q k^T + mask) v`, and the scores before the softmax.
fn attention<'c>(a: &Args<'c>) -> (Tensor<'c>, Tensor<'c>) {
    let scores = scores(a, attended(a, "key"));
    (matmul(weights(a, scores), attended(a, "value")), scores)
}

/// Key or value up to the last position that a query attends to. A mask, which causal attention may have beside, is for all of them.
fn attended<'c>(a: &Args<'c>, name: &str) -> Tensor<'c> {
    let (x, query) = (repeated(a, name), a.tensor("query"));
    let (positions, queries) = (x.rank() - 2, query.size(query.rank() - 2));
    match (queries.known(), x.size(positions).known()) {
        (Some(last), Some(all)) if last < all && is_causal(a) && !a.given("attn_mask") => x.slice(positions, 0, queries, 1),
        _ => x,
    }
}

/// Whether position i attends to positions up to i only.
fn is_causal(a: &Args<'_>) -> bool {
    a.has("is_causal") && a.bool("is_causal")
}

/// The weights of the values, some of which dropout leaves out.
fn weights<'c>(a: &Args<'c>, scores: Tensor<'c>) -> Tensor<'c> {
    let weights = masked_softmax(a, scores);
    if !a.given("dropout_p") {
        return weights;
    }
    match a.probability("dropout_p") {
        0.0 => weights,
        p => thinned(weights, p),
    }
}

/// A row that is masked throughout attends to nothing.
fn masked_softmax<'c>(a: &Args<'c>, scores: Tensor<'c>) -> Tensor<'c> {
    let last = scores.rank() - 1;
    let weights = softmax(scores, last);
    if !a.given("attn_mask") {
        return weights;
    }
    hidden(scores).select(weights.number(Scalar::Int(0)), weights)
}

/// Which rows are masked throughout.
fn hidden(scores: Tensor<'_>) -> Tensor<'_> {
    scores.equal(f64::NEG_INFINITY).reduce("and", &[scores.rank() - 1], true)
}

fn scores<'c>(a: &Args<'c>, key: Tensor<'c>) -> Tensor<'c> {
    let scores = matmul(a.tensor("query") * factor(a), key.flipped());
    let scores = if is_causal(a) { causal(scores) } else { scores };
    match a.opt_tensor("attn_mask") {
        Some(mask) if mask.dtype() == DType::Bool => mask.select(scores, f64::NEG_INFINITY),
        Some(mask) => scores + mask.convert(scores.dtype()),
        None => scores,
    }
}

/// What scores are multiplied by.
fn factor<'c>(a: &Args<'c>) -> Tensor<'c> {
    let query = a.tensor("query");
    let width = query.size(query.rank() - 1);
    match a.opt_float("scale").or_else(|| width.known().map(|e| 1.0 / (e as f64).sqrt())) {
        Some(scale) => query.number(Scalar::Float(scale)),
        None => a.prim.size_tensor(query.dtype(), width).rsqrt(),
    }
}

/// Position i attends to positions up to i.
fn causal(scores: Tensor<'_>) -> Tensor<'_> {
    let last = scores.rank() - 1;
    let square = [scores.size(last - 1), scores.size(last)];
    let prim = scores.prim();
    let seen = prim.iota(DType::I64, &square, 1).less_equal(prim.iota(DType::I64, &square, 0));
    seen.select(scores, f64::NEG_INFINITY)
}

/// Where the heads of key or value are, if several heads of the query may share one of them. The fused operators have no argument that says so.
fn grouped<'c>(a: &Args<'c>, x: Tensor<'c>) -> Option<usize> {
    let query = a.tensor("query");
    let asked = !a.has("enable_gqa") || a.bool("enable_gqa");
    let (Some(heads), Some(at)) = (x.rank().checked_sub(3), query.rank().checked_sub(3)) else { return None };
    (asked && !x.size(heads).same(query.size(at))).then_some(heads)
}

/// Key or value with a head for each head of the query.
fn repeated<'c>(a: &Args<'c>, name: &str) -> Tensor<'c> {
    let (x, query) = (a.tensor(name), a.tensor("query"));
    let Some(heads) = grouped(a, x) else { return x };
    let shape = x.shape();
    let times = query.size(query.rank() - 3) / x.size(heads);
    let mut wide = shape.to_vec();
    wide.insert(heads + 1, times);
    let dims: Vec<_> = (0..=x.rank()).filter(|d| *d != heads + 1).collect();
    let mut merged = shape.to_vec();
    merged[heads] = shape[heads] * times;
    x.broadcast_dims(&wide, &dims).reshape(&merged)
}

/// The gradient of key or value from that of its repeated form.
fn gathered<'c>(a: &Args<'c>, name: &str, gradient: Tensor<'c>) -> Tensor<'c> {
    let x = a.tensor(name);
    let Some(heads) = grouped(a, x) else { return gradient };
    let mut groups = gradient.shape().to_vec();
    groups.splice(heads..=heads, [x.size(heads), gradient.size(heads) / x.size(heads)]);
    gradient.reshape(&groups).reduce("sum", &[heads + 1], false)
}

/// Gradients of query, key and value: the weights come back from the logarithms of their sums.
fn gradients<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    if a.float("dropout_p") != 0.0 {
        a.fail("the gradient of attention with dropout, whose random numbers this operator does not have");
    }
    let (grad, query, key, value) = (a.tensor("grad_out"), a.tensor("query"), repeated(a, "key"), repeated(a, "value"));
    let scores = scores(a, key);
    let last = scores.rank() - 1;
    let weights = (scores - a.tensor("logsumexp").convert(scores.dtype()).unsqueeze(last)).exp();
    let weights = weights.fill_where(scores.equal(f64::NEG_INFINITY), 0);
    let mean = (grad * a.tensor("out")).reduce("sum", &[last], true);
    let slope = weights * (matmul(grad, value.flipped()) - mean) * factor(a);
    let (to_key, to_value) = (matmul(slope.flipped(), query), matmul(weights.flipped(), grad));
    vec![matmul(slope, key), gathered(a, "key", to_key), gathered(a, "value", to_value)]
}

fn with_logsumexp<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let (output, scores) = attention(a);
    let last = scores.rank() - 1;
    let sum = logsumexp_of_softmax(scores, last);
    // PyTorch gives 0 for a row that is masked throughout.
    let sum = if a.given("attn_mask") { hidden(scores).select(sum.number(Scalar::Int(0)), sum) } else { sum };
    vec![output, sum.squeeze(&[last])]
}
