//! Sums of products: generalised matrix products and convolutions.

use strata_core::prelude::*;

use super::check::{self, Checked};
use super::types::*;

/// The sum over the contracted dimensions of the products of elements; dimensions of the result are the batch, the
/// free dimensions of lhs, the free dimensions of rhs, each in the order of its operand (the batch in that of `lhs_batch`).
/// Halves accumulate in `f32`, rounded once.
///
/// C1: the lists name different dimensions; batch lists have one length, contracted lists too. C2: sizes of paired
/// dimensions agree. C3: the result's sizes are those above. C4: element types agree.
#[op("prim.dot", effects(Pure), verify)]
pub struct Dot {
    lhs: Operand<AnyTensor>,
    rhs: Operand<AnyTensor>,
    result: Result<AnyTensor>,
    lhs_batch: Attr<I64s>,
    rhs_batch: Attr<I64s>,
    lhs_contract: Attr<I64s>,
    rhs_contract: Attr<I64s>,
}

impl Verify for Dot<'_> {
    fn verify(self) -> Checked {
        let (lhs, rhs) = (self.lhs().ty().shape(), self.rhs().ty().shape());
        let (lb, rb) = (self.lhs_batch(), self.rhs_batch());
        let left = check::dims(1, "lhs_batch and lhs_contract", &[lb.clone(), self.lhs_contract()].concat(), lhs.len())?;
        let right = check::dims(1, "rhs_batch and rhs_contract", &[rb.clone(), self.rhs_contract()].concat(), rhs.len())?;
        ensure!(lb.len() == rb.len() && left.len() == right.len(), 1, "the lists of lhs and rhs differ in length");
        for (l, r) in left.iter().zip(&right) {
            ensure!(check::agree(lhs[*l], rhs[*r]), 2, "dimension {l} of lhs has size {}, dimension {r} of rhs {}", lhs[*l], rhs[*r]);
        }
        let batch = left[..lb.len()].iter().map(|d| lhs[*d]).collect::<Vec<_>>();
        let wanted = [batch, check::without(&lhs, &left), check::without(&rhs, &right)].concat();
        check::result_shape(3, self.result().ty(), &wanted)?;
        check::same_elements(4, self.lhs().ty(), self.rhs().ty())?;
        check::same_elements(4, self.lhs().ty(), self.result().ty())
    }
}

/// Convolution (a correlation: the kernel is not reversed) of `lhs` (batch, channels, space..) with `rhs` (features,
/// channels of a group, window..); the result is (batch, features, space..). `low` and `high` pad (or crop) space with zeros,
/// `lhs_dilation - 1` zeros stand between elements, `rhs_dilation` spreads the window. Feature group g sees channel group g.
///
/// C1: lhs and rhs have one rank of at least 3. C2: one entry per spatial dimension; strides, dilations and groups are
/// positive. C3: groups times the channels of rhs are the channels of lhs, and groups divide the features. C4: the result's sizes are
/// `((n - 1) * lhs_dilation + 1 + low + high - (w - 1) * rhs_dilation - 1) / strides + 1`. C5: element types agree.
#[op("prim.conv", effects(Pure), verify)]
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
}

impl Verify for Conv<'_> {
    fn verify(self) -> Checked {
        let (lhs, rhs) = (self.lhs().ty().shape(), self.rhs().ty().shape());
        ensure!(lhs.len() >= 3 && lhs.len() == rhs.len(), 1, "a convolution of ranks {} and {}", lhs.len(), rhs.len());
        let (strides, low, high) = (self.strides(), self.low(), self.high());
        let (spread, dilation, groups) = (self.lhs_dilation(), self.rhs_dilation(), self.groups());
        for (name, list) in [("strides", &strides), ("low", &low), ("high", &high), ("lhs_dilation", &spread), ("rhs_dilation", &dilation)]
        {
            check::per_dim(2, name, list, lhs.len() - 2)?;
        }
        let positive = strides.iter().chain(&spread).chain(&dilation).all(|n| *n >= 1) && groups >= 1;
        ensure!(positive, 2, "strides, dilations and groups are positive");
        ensure!(check::agree(lhs[1], check::known(rhs[1], |c| c * groups)), 3, "{} channels for {groups} groups of {}", lhs[1], rhs[1]);
        ensure!(rhs[0] == DYNAMIC || rhs[0] % groups == 0, 3, "{groups} groups do not divide {} features", rhs[0]);
        let mut wanted = vec![lhs[0], rhs[0]];
        for k in 0..strides.len() {
            let (n, w) = (lhs[k + 2], rhs[k + 2]);
            let size = |n: i64| ((n - 1) * spread[k] + low[k] + high[k] - (w - 1) * dilation[k]).div_euclid(strides[k]) + 1;
            wanted.push(if w == DYNAMIC { DYNAMIC } else { check::known(n, |n| size(n).max(0)) });
        }
        check::result_shape(4, self.result().ty(), &wanted)?;
        check::same_elements(5, self.lhs().ty(), self.rhs().ty())?;
        check::same_elements(5, self.lhs().ty(), self.result().ty())
    }
}
