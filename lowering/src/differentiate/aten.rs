//! Gradients of PyTorch's operators where its convention is another than the derivative of their decomposition.

use strata_dialects::aten::op::*;

use super::rule::Row;
use super::rule::Rule::{self, Zero};

/// Rows of a table: `/// formula` and `OPERATOR => rule;`.
macro_rules! rows {
    ($($(#[doc = $doc:literal])+ $operator:ident => $rule:expr;)*) => {
        pub(super) const ROWS: &[Row] = &[$(Row { name: $operator.name(), doc: concat!($($doc, "\n"),+), rule: $rule }),*];
    };
}

rows! {
    /// None: that is what it is for. PyTorch: `detach`.
    DETACH => Zero;
    /// 0 outside, `g` inside; 0 at 0. PyTorch: `threshold_backward`.
    ELU => Rule::Operator(ELU_BACKWARD);
}
