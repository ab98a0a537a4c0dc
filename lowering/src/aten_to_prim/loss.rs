//! Losses and their gradients.

use strata_dialects::aten::dtype::{DType, Numeric, promote};
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Tensor, gather_along};

use super::activation::log_sigmoid;
use super::args::Args;
use super::distance::exact_difference;
use super::index::positions;
use super::reduce::log_softmax;
use super::rule::Precision::{Compute, Exact};
use super::rule::{Rule, many, one};

pub(super) const RULES: &[Rule] = &[
    one(BINARY_CROSS_ENTROPY, Compute, binary_cross_entropy),
    one(BINARY_CROSS_ENTROPY_BACKWARD, Compute, binary_cross_entropy_backward),
    one(BINARY_CROSS_ENTROPY_WITH_LOGITS, Compute, with_logits),
    one(COSINE_EMBEDDING_LOSS, Compute, cosine_embedding),
    one(CROSS_ENTROPY_LOSS, Compute, cross_entropy),
    one(HINGE_EMBEDDING_LOSS, Compute, hinge_embedding),
    one(HUBER_LOSS, Compute, |a| reduced(a, huber(difference(a), a.float("delta")))),
    one(HUBER_LOSS_BACKWARD, Compute, |a| gradient(a, |d, g| huber_slope(d, a.float("delta")) * g)),
    one(KL_DIV, Compute, kl_div),
    one(L1_LOSS, Compute, |a| reduced(a, difference(a).abs())),
    one(MARGIN_RANKING_LOSS, Compute, margin_ranking),
    one(MSE_LOSS, Compute, |a| reduced(a, difference(a).square())),
    one(MSE_LOSS_BACKWARD, Compute, |a| gradient(a, |d, g| d * 2.0 * g)),
    one(NLL_LOSS, Compute, |a| nll_forward(a)[0]),
    one(NLL_LOSS2D, Compute, |a| nll_forward(a)[0]),
    one(NLL_LOSS2D_BACKWARD, Compute, nll_backward),
    many(NLL_LOSS2D_FORWARD, Compute, nll_forward),
    one(NLL_LOSS_BACKWARD, Compute, nll_backward),
    many(NLL_LOSS_FORWARD, Compute, nll_forward),
    one(NLL_LOSS_ND, Compute, |a| nll_forward(a)[0]),
    one(POISSON_NLL_LOSS, Compute, poisson),
    one(SMOOTH_L1_LOSS, Compute, |a| reduced(a, smooth(difference(a), a.float("beta")))),
    one(SMOOTH_L1_LOSS_BACKWARD, Compute, |a| gradient(a, |d, g| smooth_slope(d, a.float("beta")) * g)),
    one(SOFT_MARGIN_LOSS, Exact, soft_margin),
    one(SOFT_MARGIN_LOSS_BACKWARD, Compute, soft_margin_backward),
    one(TRIPLET_MARGIN_LOSS, Compute, triplet),
];

const NONE: i64 = 0;
const MEAN: i64 = 1;

pub(super) fn reduced<'c>(a: &Args<'c>, loss: Tensor<'c>) -> Tensor<'c> {
    match a.int("reduction") {
        NONE => loss,
        MEAN => loss.mean(&loss.all_dims(), false),
        _ => loss.reduce("sum", &loss.all_dims(), false),
    }
}

fn difference<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, target) = (a.tensor("self"), a.tensor("target"));
    let common = promote(x.dtype(), target.dtype());
    x.convert(common) - target.convert(common)
}

/// The gradient of a loss of the difference; `f` gets the difference and the incoming gradient, averaged if asked for.
fn gradient<'c>(a: &Args<'c>, f: impl Fn(Tensor<'c>, Tensor<'c>) -> Tensor<'c>) -> Tensor<'c> {
    let difference = difference(a);
    f(difference, shared(a, difference))
}

fn shared<'c>(a: &Args<'c>, loss: Tensor<'c>) -> Tensor<'c> {
    averaged(a, loss.count(&loss.all_dims()))
}

/// The incoming gradient of a loss, divided by the number of losses where it is that of their mean.
pub(super) fn averaged<'c>(a: &Args<'c>, count: Tensor<'c>) -> Tensor<'c> {
    let grad = a.tensor("grad_output");
    if a.int("reduction") == MEAN { grad / count } else { grad }
}

fn smooth(d: Tensor<'_>, beta: f64) -> Tensor<'_> {
    let distance = d.abs();
    if beta == 0.0 {
        return distance;
    }
    distance.less(beta).select(d * d * 0.5 / beta, distance - 0.5 * beta)
}

fn smooth_slope(d: Tensor<'_>, beta: f64) -> Tensor<'_> {
    if beta == 0.0 {
        return d.sign();
    }
    d.abs().less(beta).select(d / beta, d.sign())
}

fn huber(d: Tensor<'_>, delta: f64) -> Tensor<'_> {
    let distance = d.abs();
    distance.less_equal(delta).select(d * d * 0.5, (distance - 0.5 * delta) * delta)
}

fn huber_slope(d: Tensor<'_>, delta: f64) -> Tensor<'_> {
    d.clamp(-delta, delta)
}

fn weighted<'c>(a: &Args<'c>, loss: Tensor<'c>) -> Tensor<'c> {
    a.opt_tensor("weight").map_or(loss, |w| loss * w)
}

/// Logarithms are at least -100, as in PyTorch.
fn binary_cross_entropy<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, target) = (a.tensor("self"), a.tensor("target"));
    let (yes, no) = (x.log().maximum(-100.0), (-x).log1p().maximum(-100.0));
    reduced(a, weighted(a, (target - 1.0) * no - target * yes))
}

fn binary_cross_entropy_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, target) = (a.tensor("self"), a.tensor("target"));
    let slope = (x - target) / ((-x + 1.0) * x).maximum(1e-12);
    weighted(a, shared(a, x) * slope)
}

fn with_logits<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, target) = (a.tensor("self"), a.tensor("target"));
    let log = log_sigmoid(x);
    let loss = match a.opt_tensor("pos_weight") {
        Some(weight) => (-target + 1.0) * x - ((weight - 1.0) * target + 1.0) * log,
        None => (-target + 1.0) * x - log,
    };
    reduced(a, weighted(a, loss))
}

fn kl_div<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, target) = (a.tensor("self"), a.tensor("target"));
    let loss = if a.bool("log_target") {
        target.exp() * (target - x)
    } else {
        (target * target.log()).fill_where(target.equal(0.0), 0.0) - target * x
    };
    reduced(a, loss)
}

fn poisson<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, target) = (a.tensor("input"), a.tensor("target"));
    let loss = if a.bool("log_input") { x.exp() - target * x } else { x - target * (x + a.float("eps")).log() };
    if !a.bool("full") {
        return reduced(a, loss);
    }
    let stirling = target * target.log() - target + (target * (2.0 * std::f64::consts::PI)).log() * 0.5;
    reduced(a, loss + target.greater(1.0).select(stirling, 0.0))
}

fn hinge_embedding<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, target) = (a.tensor("self"), a.tensor("target"));
    let apart = target.equal(1.0).select(x.number(Scalar::Int(0)), (-x + a.float("margin")).relu());
    let together = target.equal(-1.0).select(x.number(Scalar::Int(0)), x);
    reduced(a, apart + together)
}

/// Every step rounds to the tensors' type, as in PyTorch: in half precision the exponential overflows early.
fn soft_margin<'c>(a: &Args<'c>) -> Tensor<'c> {
    let [x, target] = a.promoted(["self", "target"]);
    reduced(a, (-target * x).exp().log1p().float()).convert(a.result_dtype(0))
}

/// NaN where the exponential overflows, as in PyTorch.
fn soft_margin_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, target) = (a.tensor("self"), a.tensor("target"));
    let z = (-target * x).exp();
    -target * z / (z + 1.0) * shared(a, x)
}

/// Integers are multiplied as such: what goes below 0 wraps around.
fn margin_ranking<'c>(a: &Args<'c>) -> Tensor<'c> {
    let distance = exact_difference(a, "input1", "input2");
    let [distance, target] = match distance.dtype().is_integral() {
        true => [distance, a.raw("target").convert(distance.dtype())],
        false => [distance, a.tensor("target")],
    };
    reduced(a, ((-target * distance).float() + a.float("margin")).relu())
}

fn cosine_embedding<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, y, target) = (a.tensor("input1"), a.tensor("input2"), a.tensor("target"));
    let dim = target.rank();
    let sum = |t: Tensor<'c>| t.reduce("sum", &[dim], false);
    const EPSILON: f64 = 1e-12;
    let cosine = sum(x * y) / ((sum(x * x) + EPSILON) * (sum(y * y) + EPSILON)).sqrt();
    let zero = cosine.filled(Scalar::Int(0));
    let same = target.equal(1.0).select(-cosine + 1.0, zero);
    let different = target.equal(-1.0).select((cosine - a.float("margin")).relu(), zero);
    reduced(a, same + different)
}

fn triplet<'c>(a: &Args<'c>) -> Tensor<'c> {
    let distance = |x: &str, y: &str| {
        let d = exact_difference(a, x, y).float() + a.float("eps");
        let last = d.rank().saturating_sub(1);
        super::norm::vector_norm(d, a.float("p"), Some(&[last]), false)
    };
    let near = distance("anchor", "positive");
    let far = distance("anchor", "negative");
    let far = if a.bool("swap") { far.minimum(distance("positive", "negative")) } else { far };
    reduced(a, (near - far + a.float("margin")).relu())
}

// Negative log likelihood: the class dimension is 1, or 0 of a vector.

fn class_dim(x: Tensor<'_>) -> usize {
    usize::from(x.rank() > 1)
}

/// The weight of each target, 0 for those to be ignored; the targets with ignored ones moved inside; and which are ignored.
fn targets<'c>(a: &Args<'c>, x: Tensor<'c>, weight: Option<Tensor<'c>>) -> [Tensor<'c>; 3] {
    let target = positions(a.raw("target"));
    // The target of one sample may be a vector of one element.
    let target = if x.rank() == 1 { target.reshape(&[]) } else { target };
    let ignored = target.equal(a.int("ignore_index"));
    let safe = target.fill_where(ignored, 0);
    let weights = match weight {
        Some(weight) => weight.gather(&[safe], &[0]),
        None => a.prim.full(x.dtype(), Scalar::Int(1), &target.shape()),
    };
    [weights.fill_where(ignored, 0), safe, ignored]
}

/// Elements of the class dimension at the targets.
fn at_targets<'c>(x: Tensor<'c>, target: Tensor<'c>) -> Tensor<'c> {
    let dim = class_dim(x);
    gather_along(x, dim, target.unsqueeze(dim)).squeeze(&[dim])
}

fn nll<'c>(a: &Args<'c>, x: Tensor<'c>, weight: Option<Tensor<'c>>) -> Vec<Tensor<'c>> {
    let [weights, target, ignored] = targets(a, x, weight);
    // A weight of 0 is not enough: the element may be infinite.
    let loss = (-at_targets(x, target) * weights).fill_where(ignored, 0.0);
    let all = weights.all_dims();
    let total = weights.reduce("sum", &all, false);
    let value = match a.int("reduction") {
        NONE => loss,
        MEAN => loss.reduce("sum", &all, false) / total,
        _ => loss.reduce("sum", &all, false),
    };
    let total = if a.int("reduction") == NONE && x.rank() > 1 { total.filled(Scalar::Int(0)) } else { total };
    vec![value, total]
}

fn nll_forward<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    nll(a, a.tensor("self"), a.opt_tensor("weight"))
}

fn nll_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (grad, x) = (a.tensor("grad_output"), a.tensor("self"));
    let [weights, target, ignored] = targets(a, x, a.opt_tensor("weight"));
    let grad = if a.int("reduction") == MEAN { grad / a.tensor("total_weight") } else { grad };
    // The gradient of one sample may be a vector of one element.
    let grad = if weights.rank() == 0 { grad.reshape(&[]) } else { grad };
    // Where all are ignored the total weight is 0 and the gradient no number.
    let share = (-(grad * weights)).fill_where(ignored, 0.0);
    let dim = class_dim(x);
    let class = a.prim.iota(DType::I64, &x.shape(), dim);
    class.equal(target.unsqueeze(dim)).select(share.unsqueeze(dim), 0.0)
}

fn cross_entropy<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let (dim, weight) = (class_dim(x), a.opt_tensor("weight"));
    let smoothing = a.float("label_smoothing");
    let log = log_softmax(x, dim);
    let per_class = weight.map(|w| w.unsqueeze_to(x.rank() - dim));
    let weigh = |t: Tensor<'c>| per_class.map_or(t, |w| t * w);
    let classes = x.count(&[dim]);
    let target = a.raw("target");
    if target.dtype().is_float() {
        let target = target.convert(x.dtype());
        let target = if smoothing > 0.0 { target * (1.0 - smoothing) + classes.reciprocal() * smoothing } else { target };
        let loss = -weigh(log * target).reduce("sum", &[dim], false);
        return match a.int("reduction") {
            NONE => loss,
            // The mean over everything but the classes.
            MEAN => loss.reduce("sum", &loss.all_dims(), false) / (x.count(&x.all_dims()) / classes),
            _ => loss.reduce("sum", &loss.all_dims(), false),
        };
    }
    let hard = nll(a, log, weight)[0];
    if smoothing == 0.0 {
        return hard;
    }
    let [weights, _, ignored] = targets(a, x, weight);
    let spread = -weigh(log).reduce("sum", &[dim], false).fill_where(ignored, 0.0);
    let all = spread.all_dims();
    let smooth = match a.int("reduction") {
        NONE => spread,
        MEAN => spread.reduce("sum", &all, false) / weights.reduce("sum", &all, false),
        _ => spread.reduce("sum", &all, false),
    };
    hard * (1.0 - smoothing) + smooth * smoothing / classes
}
