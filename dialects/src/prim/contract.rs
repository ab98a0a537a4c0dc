//! Sums of products: generalised matrix products and convolutions.

use strata_core::prelude::*;

use super::check::{self, Checked};
use super::layout::ConvLayout;
use super::sizes::{self, Constraint, ResultSizes, Size, SizeConstraints, Space};
use super::types::*;

/// The sum over the contracted dimensions of the products of elements; dimensions of the result are the batch, the
/// free dimensions of lhs, the free dimensions of rhs, each in the order of its operand (the batch in that of `lhs_batch`).
/// Halves accumulate in `f32`, rounded once, or not where the result is `f32`. Integers of 8 bits, signed or not, may be multiplied and summed
/// in `i32`.
///
/// C1: the lists name different dimensions; batch lists have one length, contracted lists too. C2: sizes of paired
/// dimensions agree. C3: the result's sizes are those above. C4: element types agree; the result of halves may be `f32`, that of integers of
/// 8 bits, of which one may have a sign and the other none, `i32`.
#[op("prim.dot", effects(Pure), interfaces(ResultSizes, SizeConstraints), verify)]
pub struct Dot {
    lhs: Operand<Computed>,
    rhs: Operand<Computed>,
    result: Result<Computed>,
    lhs_batch: Attr<I64s>,
    rhs_batch: Attr<I64s>,
    lhs_contract: Attr<I64s>,
    rhs_contract: Attr<I64s>,
}

impl ResultSizes for Dot<'_> {
    fn result_sizes(&self) -> Option<Vec<Size>> {
        contraction_sizes(self.op())
    }
}

impl SizeConstraints for Dot<'_> {
    fn size_constraints(&self) -> Vec<Constraint> {
        contracted(self.op())
    }
}

impl Verify for Dot<'_> {
    fn verify(self) -> Checked {
        contraction(self.op())?;
        elements(4, self.op())
    }
}

/// The element types of both operands and of the result agree, or are those of a product of bytes, or of halves in `f32`.
fn elements(constraint: u32, op: Op<'_>) -> Checked {
    let (lhs, rhs, result) = (op.operand(0).ty(), op.operand(1).ty(), op.result(0).ty());
    let bytes = [lhs, rhs].iter().all(|ty| matches!(ty.element_type(), Some(ElementType::I8 | ElementType::U8)));
    if bytes && result.element_type() == Some(ElementType::I32) {
        return Ok(());
    }
    check::same_elements(constraint, lhs, rhs)?;
    let halves = matches!(lhs.element_type(), Some(ElementType::F16 | ElementType::BF16));
    if halves && result.element_type() == Some(ElementType::F32) {
        return Ok(());
    }
    check::same_elements(constraint, lhs, result)
}

/// The lists that every contraction has: batch and contracted dimensions of lhs and rhs.
fn lists(op: Op<'_>) -> [Vec<i64>; 4] {
    ["lhs_batch", "rhs_batch", "lhs_contract", "rhs_contract"].map(|name| op.ints(name).unwrap_or_default())
}

/// The sizes of a contraction's result, by the lists of the op.
fn contraction_sizes(op: Op<'_>) -> Option<Vec<Size>> {
    let ranks = (op.operand(0).ty().rank(), op.operand(1).ty().rank());
    let [lb, rb, lc, rc] = lists(op);
    sizes::dot(ranks, (&lb, &rb), (&lc, &rc))
}

/// The contracted dimensions of lhs and rhs have one size each.
fn contracted(op: Op<'_>) -> Vec<Constraint> {
    let [_, _, lc, rc] = lists(op);
    sizes::equal(0, 1, lc.iter().zip(&rc).map(|(l, r)| (*l as usize, *r as usize)))
}

/// C1 to C4 of contractions.
fn contraction(op: Op<'_>) -> Checked {
    let (lhs_type, rhs_type) = (op.operand(0).ty(), op.operand(1).ty());
    let (lhs, rhs) = (lhs_type.shape(), rhs_type.shape());
    let [lb, rb, lc, rc] = lists(op);
    let left = check::dims(1, "lhs_batch and lhs_contract", &[lb.clone(), lc].concat(), lhs.len())?;
    let right = check::dims(1, "rhs_batch and rhs_contract", &[rb.clone(), rc].concat(), rhs.len())?;
    ensure!(lb.len() == rb.len() && left.len() == right.len(), 1, "the lists of lhs and rhs differ in length");
    for (l, r) in left.iter().zip(&right) {
        ensure!(check::agree(lhs[*l], rhs[*r]), 2, "dimension {l} of lhs has size {}, dimension {r} of rhs {}", lhs[*l], rhs[*r]);
    }
    check::result_sizes(3, op)
}

/// The mean of rows of `rhs`, weighed by the softmax of the scores `lhs` over the one contracted dimension: `dot` of the softmax of
/// `lhs` and of `rhs`, so that no weight has to be stored. With `empty = "zero"` a row whose scores are all `-inf` gives 0, with
/// `empty = "nan"` NaN.
///
/// C1 to C4: as `dot`. C5: elements are floats. C6: one dimension is contracted. C7: `empty` is `nan` or `zero`.
#[op("prim.softmax_dot", effects(Pure), interfaces(ResultSizes, SizeConstraints), verify)]
pub struct SoftmaxDot {
    lhs: Operand<AnyTensor>,
    rhs: Operand<AnyTensor>,
    result: Result<AnyTensor>,
    lhs_batch: Attr<I64s>,
    rhs_batch: Attr<I64s>,
    lhs_contract: Attr<I64s>,
    rhs_contract: Attr<I64s>,
    empty: Attr<Str>,
}

impl ResultSizes for SoftmaxDot<'_> {
    fn result_sizes(&self) -> Option<Vec<Size>> {
        contraction_sizes(self.op())
    }
}

impl SizeConstraints for SoftmaxDot<'_> {
    fn size_constraints(&self) -> Vec<Constraint> {
        contracted(self.op())
    }
}

impl Verify for SoftmaxDot<'_> {
    fn verify(self) -> Checked {
        contraction(self.op())?;
        let scores = self.lhs().ty();
        check::same_elements(4, scores, self.rhs().ty())?;
        check::same_elements(4, scores, self.result().ty())?;
        ensure!(scores.element_type().is_some_and(|e| e.is_float()), 5, "scores of type {}", scores.element());
        let contracted = self.lhs_contract().len();
        ensure!(contracted == 1, 6, "{contracted} contracted dimensions");
        check::kind(7, &self.empty(), &["nan", "zero"])
    }
}

/// Convolution (a correlation: the kernel is not reversed) of `lhs` (batch, channels, space..) with `rhs` (features,
/// channels of a group, window..); the result is (batch, features, space..). `low` and `high` pad (or crop) space with zeros,
/// `lhs_dilation - 1` zeros stand between elements, `rhs_dilation` spreads the window. Feature group g sees channel group g.
/// The zeros are elements like any other: zero times a weight that is NaN or infinite is NaN.
/// `layout` says where the dims stand when not in that order: `n01c,01co->n01o` is channels-last. In `n01c,O01co->n01o` the features
/// of rhs are split in panels: feature f is at block `f / size(o)`, place `f mod size(o)`.
///
/// C1: lhs and rhs have one rank of at least 3 (rhs one more with panels), and the layout can be read. C2: one entry per spatial
/// dimension; strides, dilations and groups are positive. C3: groups times the channels of rhs are the channels of lhs, and groups
/// divide the features. C4: the result's sizes are
/// `((n - 1) * lhs_dilation + 1 + low + high - (w - 1) * rhs_dilation - 1) / strides + 1`. C5: element types agree; the result of halves may be
/// `f32`, that of integers of 8 bits, of which one may have a sign and the other none, `i32`.
#[op("prim.conv", effects(Pure), interfaces(ResultSizes, SizeConstraints), verify)]
pub struct Conv {
    lhs: Operand<Numbers>,
    rhs: Operand<Numbers>,
    result: Result<Numbers>,
    strides: Attr<I64s>,
    low: Attr<I64s>,
    high: Attr<I64s>,
    lhs_dilation: Attr<I64s>,
    rhs_dilation: Attr<I64s>,
    groups: Attr<I64>,
    layout: OptAttr<Str>,
}

impl ResultSizes for Conv<'_> {
    fn result_sizes(&self) -> Option<Vec<Size>> {
        let layout = ConvLayout::of(self.op()).ok()?;
        sizes::conv(
            &layout,
            &Space {
                strides: &self.strides(),
                low: &self.low(),
                high: &self.high(),
                lhs_dilation: &self.lhs_dilation(),
                rhs_dilation: &self.rhs_dilation(),
            },
        )
    }
}

impl SizeConstraints for Conv<'_> {
    fn size_constraints(&self) -> Vec<Constraint> {
        let mut constraints = sizes::not_negative(self.result_sizes().unwrap_or_default());
        if let Ok(layout) = ConvLayout::of(self.op()) {
            constraints.push(sizes::grouped(Size::Of(0, layout.lhs.channel), Size::Of(1, layout.rhs.channel), self.groups()));
        }
        constraints
    }
}

impl Verify for Conv<'_> {
    fn verify(self) -> Checked {
        let (lhs, rhs) = (self.lhs().ty().shape(), self.rhs().ty().shape());
        ensure!(lhs.len() >= 3, 1, "a convolution of ranks {} and {}", lhs.len(), rhs.len());
        let layout = ConvLayout::of(self.op()).map_err(|error| Violation::new(1, error.to_string()))?;
        let panels = usize::from(layout.panels.is_some());
        ensure!(lhs.len() + panels == rhs.len(), 1, "a convolution of ranks {} and {}", lhs.len(), rhs.len());
        let (strides, low, high) = (self.strides(), self.low(), self.high());
        let (spread, dilation, groups) = (self.lhs_dilation(), self.rhs_dilation(), self.groups());
        for (name, list) in [("strides", &strides), ("low", &low), ("high", &high), ("lhs_dilation", &spread), ("rhs_dilation", &dilation)]
        {
            check::per_dim(2, name, list, lhs.len() - 2)?;
        }
        let positive = strides.iter().chain(&spread).chain(&dilation).all(|n| *n >= 1) && groups >= 1;
        ensure!(positive, 2, "strides, dilations and groups are positive");
        let (channels, inner) = (lhs[layout.lhs.channel], rhs[layout.rhs.channel]);
        ensure!(
            check::agree(channels, check::known(inner, |c| c.saturating_mul(groups))),
            3,
            "{channels} channels for {groups} groups of {inner}"
        );
        let features = layout.features(|dim| rhs[dim], |a, b| if a == DYNAMIC || b == DYNAMIC { DYNAMIC } else { a.saturating_mul(b) });
        ensure!(features == DYNAMIC || features % groups == 0, 3, "{groups} groups do not divide {features} features");
        check::result_sizes(4, self.op())?;
        elements(5, self.op())
    }
}
