//! Margin losses of several classes, and their gradients.

use strata_dialects::aten::dtype::DType;
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Tensor, gather_along};

use super::args::Args;
use super::index::positions;
use super::loss::{averaged, reduced};
use super::rule::Precision::Compute;
use super::rule::{Rule, many, one};

pub(super) const RULES: &[Rule] = &[
    one(MULTI_MARGIN_LOSS, Compute, multi),
    one(MULTI_MARGIN_LOSS_BACKWARD, Compute, multi_backward),
    one(MULTILABEL_MARGIN_LOSS, Compute, |a| multilabel(a)[0]),
    one(MULTILABEL_MARGIN_LOSS_BACKWARD, Compute, multilabel_backward),
    many(MULTILABEL_MARGIN_LOSS_FORWARD, Compute, multilabel),
];

/// Rows of classes; one row of a vector, and of a number one row of one class.
fn rows(x: Tensor<'_>) -> Tensor<'_> {
    match x.rank() {
        0 => x.reshape(&[1.into(), 1.into()]),
        1 => x.unsqueeze(0),
        _ => x,
    }
}

/// Row losses in the shape that they have before the reduction.
fn row_shape<'c>(x: Tensor<'c>, loss: Tensor<'c>) -> Tensor<'c> {
    if x.rank() < 2 { loss.squeeze(&[0]) } else { loss }
}

/// For each row and class: how far the class comes within the margin, and whether it is not the target; and the target.
struct Margins<'c> {
    gap: Tensor<'c>,
    other: Tensor<'c>,
    weight: Option<Tensor<'c>>,
    p: f64,
}

impl<'c> Margins<'c> {
    fn new(a: &Args<'c>, x: Tensor<'c>) -> Margins<'c> {
        let target = positions(a.raw("target")).reshape(&[x.size(0)]).unsqueeze(1);
        let other = a.prim.range(DType::I64, x.size(1)).not_equal(target);
        let own = gather_along(x, 1, target);
        let weight = a.opt_tensor("weight").map(|w| w.gather(&[target], &[0]));
        let gap = x - own + x.number(a.scalar("margin"));
        Margins { gap, other, weight, p: a.opt_constant("p").unwrap_or(1.0) }
    }
}

fn multi<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let m = Margins::new(a, rows(x));
    let gap = m.other.select(m.gap.relu(), 0.0);
    let cost = if m.p == 1.0 { gap } else { gap.pow(m.p) };
    let cost = m.weight.map_or(cost, |w| cost * w);
    // The loss of one row has the shape of its target.
    let loss = cost.mean(&[1], false);
    reduced(a, if a.raw("target").rank() == 0 { loss.squeeze(&[0]) } else { loss })
}

fn multi_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let wide = rows(x);
    let m = Margins::new(a, wide);
    let slope = if m.p == 1.0 { m.gap.filled(Scalar::Int(1)) } else { m.gap.pow(m.p - 1.0) * m.p };
    let slope = m.weight.map_or(slope, |w| slope * w) / wide.count(&[1]);
    let slope = m.other.and(m.gap.greater(0.0)).select(slope, 0.0);
    let balance = m.other.select(slope, -slope.sum_keep(&[1]));
    (balance * row_gradient(a, wide)).reshape(&x.shape())
}

/// The incoming gradient of each row, averaged if asked for.
fn row_gradient<'c>(a: &Args<'c>, x: Tensor<'c>) -> Tensor<'c> {
    let grad = averaged(a, x.count(&[0]));
    if grad.numel().known() == Some(1) { grad.reshape(&[]) } else { grad.unsqueeze(1) }
}

/// Entries of a row that are all paired with all classes, although few of them may be labels: to ask how many are takes as long.
const FEW: i64 = 64;

/// For each row the labels: whether each entry of the target counts (up to the first -1), and which classes they are. Entries that are a label
/// of no row are left out: the rows of thousands of classes have few.
fn labels<'c>(a: &Args<'c>, x: Tensor<'c>) -> (Tensor<'c>, Tensor<'c>, Tensor<'c>) {
    let target = positions(a.raw("target")).reshape(&x.shape());
    let entry = a.prim.range(DType::I64, x.size(1));
    let first = target.less(0).select(entry, i64::MAX).reduce("min", &[1], true);
    let counts = entry.less(first);
    let (counts, target) = if x.size(1).known().is_some_and(|classes| classes <= FEW) {
        (counts, target)
    } else {
        let most = counts.convert(DType::I64).reduce("sum", &[1], false).reduce("max", &[0], false).item_size().max(0);
        (counts.slice(1, 0, most, 1), target.slice(1, 0, most, 1))
    };
    let safe = counts.select(target, 0);
    let class = a.prim.range(DType::I64, x.size(1));
    // (rows, entries, classes)
    let named = safe.unsqueeze(2).equal(class).and(counts.unsqueeze(2));
    (counts, safe, named.reduce("or", &[1], false))
}

/// Which entry and class pairs count, and by how much the class comes within the margin of the entry's label.
fn pairs<'c>(a: &Args<'c>, x: Tensor<'c>) -> (Tensor<'c>, Tensor<'c>, Tensor<'c>) {
    let (counts, safe, is_target) = labels(a, x);
    let own = gather_along(x, 1, safe).unsqueeze(2);
    let gap = x.unsqueeze(1) - own + 1.0;
    let active = counts.unsqueeze(2).and((!is_target).unsqueeze(1)).and(gap.greater(0.0));
    (active, gap, is_target)
}

fn multilabel<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let x = a.tensor("self");
    let wide = rows(x);
    let (active, gap, is_target) = pairs(a, wide);
    let loss = active.select(gap, 0.0).reduce("sum", &[1, 2], false) / wide.count(&[1]);
    let is_target = is_target.convert(x.dtype()).reshape(&a.raw("target").shape());
    vec![reduced(a, row_shape(x, loss)), is_target]
}

fn multilabel_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let wide = rows(x);
    let (active, _, _) = pairs(a, wide);
    let share = active.convert(x.dtype());
    let pushed = share.reduce("sum", &[1], false);
    let safe = labels(a, wide).1;
    let pulled = share.reduce("sum", &[2], false);
    let class = a.prim.range(DType::I64, wide.size(1));
    let pulled = safe.unsqueeze(2).equal(class).select(pulled.unsqueeze(2), 0.0).reduce("sum", &[1], false);
    ((pushed - pulled) / wide.count(&[1]) * row_gradient(a, wide)).reshape(&x.shape())
}
