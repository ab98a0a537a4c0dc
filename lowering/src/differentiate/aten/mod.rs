//! Gradients of PyTorch's operators where its convention is another than the derivative of their decomposition: at ties, at 0, at a
//! border, where a large number times 0 would come of it, or where its formula does less work. Formulas are those of `derivatives.yaml` and `FunctionsManual.cpp`.

mod activation;
mod masked;
mod matrix;
mod norm;
mod select;

use strata_dialects::prim_builder::{Scalar, Tensor};

use super::rule::{At, Cotangents, Row};

/// Rows of a table: `/// formula` and `OPERATOR => rule;`.
macro_rules! rows {
    ($($(#[doc = $doc:literal])+ $operator:ident => $rule:expr;)*) => {
        pub(super) const ROWS: &[Row] = &[$(Row { name: $operator.name(), doc: concat!($($doc, "\n"),+), rule: $rule }),*];
    };
}
use rows;

/// All rows, by what is particular of them.
pub(super) static ROWS: &[&[Row]] = &[activation::ROWS, masked::ROWS, matrix::ROWS, norm::ROWS, select::ROWS];

fn zero(x: Tensor<'_>) -> Tensor<'_> {
    x.number(Scalar::Int(0))
}

/// The cotangent of `self`, of the cotangent of the result and of `self`.
fn by_self<'c>(at: &At<'c>, formula: impl FnOnce(Tensor<'c>, Tensor<'c>) -> Tensor<'c>) -> Cotangents<'c> {
    at.named(&[("self", Some(formula(at.wide_g(), at.wide("self"))))])
}
