//! A convolution that stays in the plain order, with lanes along rows: its padding is written out, so that its kernel tests nothing.

use super::conv::{Padding, is_plain};
use super::order::Ordered;
use strata_core::ir::{Builder, DYNAMIC, Op};
use strata_dialects::prim;
use strata_dialects::target::Target;

/// Whether an op is a convolution in the plain order that keeps channels apart, with one feature for each group of them.
fn is_depthwise(op: Op<'_>) -> bool {
    is_plain(op) && op.int("groups") == op.operand(1).ty().shape().first().copied()
}

/// Whether it is depthwise, and rows of its result fill half of a vector at least and are read from near elements of a row.
pub fn has_long_rows(op: Op<'_>, target: &Target) -> bool {
    let last = |name: &str| op.ints(name).and_then(|all| all.last().copied());
    let row = op.result(0).ty().shape().last().copied().unwrap_or_default();
    let lanes = op.result(0).ty().element_type().map_or(1, |element| target.lanes(element.bits()));
    let near = last("strides").is_some_and(|stride| stride <= 2) && last("lhs_dilation") == Some(1);
    is_depthwise(op) && near && (row == DYNAMIC || 2 * row >= lanes)
}

/// A convolution in the plain order with its padding written out, where it has any.
pub fn rewrite<'c>(b: &mut Builder<'c>, op: Op<'c>) -> Option<Ordered<'c>> {
    if !is_plain(op) {
        return None;
    }
    let (rank, cx) = (op.operand(0).ty().rank(), b.cx());
    let x = Padding::of(op).write_out(b, op.operand(0), 2);
    if x == op.operand(0) {
        return None;
    }
    let (none, one) = (cx.i64s_attr(&vec![0; rank - 2]), cx.i64s_attr(&vec![1; rank - 2]));
    let attrs = [
        ("strides", op.attr("strides")?),
        ("low", none),
        ("high", none),
        ("lhs_dilation", one),
        ("rhs_dilation", op.attr("rhs_dilation")?),
        ("groups", op.attr("groups")?),
    ];
    Some(Ordered { value: b.value(prim::Conv::NAME, &[x, op.operand(1)], op.result(0).ty(), &attrs), perm: (0..rank).collect() })
}
