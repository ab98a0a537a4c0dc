//! A convolution that stays in the plain order, with lanes along rows: its padding is written out, so that its kernel tests nothing.
//! Where its window moves by two, columns of the same phase are written side by side, so that its kernel reads neighbours:
//! `y[i] = sum of x[2 i + k] w[k]` becomes the sum over both phases `p` of `x[p][i + k'] w[2 k' + p]`.

use super::conv::{Padding, is_plain};
use super::order::{Ordered, transpose};
use strata_core::ir::{Builder, DYNAMIC, Op, Value};
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

/// A convolution in the plain order with its padding written out, and its phases apart; none where it has neither.
pub fn rewrite<'c>(b: &mut Builder<'c>, op: Op<'c>) -> Option<Ordered<'c>> {
    if !is_plain(op) {
        return None;
    }
    let (mut x, mut w) = (op.operand(0), op.operand(1));
    let (rank, cx) = (x.ty().rank(), b.cx());
    let mut strides = op.ints("strides")?;
    let mut padding = Padding::of(op);
    let two = has_two_phases(op);
    if two {
        // The last column of an odd row has no neighbour of the other phase.
        let last = rank - 3;
        padding.high[last] += (x.ty().shape()[rank - 1] + padding.low[last] + padding.high[last]) % 2;
        strides[last] = 1;
    }
    x = padding.write_out(b, x, 2);
    if two {
        let taps = w.ty().shape()[rank - 1];
        let to_even = Padding { low: vec![0], high: vec![taps % 2], gaps: vec![0] };
        w = to_even.write_out(b, w, rank - 1);
        (x, w) = (phases_apart(b, x), phases_apart(b, w));
    }
    if x == op.operand(0) {
        return None;
    }
    let (none, one) = (cx.i64s_attr(&vec![0; rank - 2]), cx.i64s_attr(&vec![1; rank - 2]));
    let attrs = [
        ("strides", cx.i64s_attr(&strides)),
        ("low", none),
        ("high", none),
        ("lhs_dilation", one),
        ("rhs_dilation", op.attr("rhs_dilation")?),
        ("groups", op.attr("groups")?),
    ];
    Some(Ordered { value: b.value(prim::Conv::NAME, &[x, w], op.result(0).ty(), &attrs), perm: (0..rank).collect() })
}

/// Whether the window moves by two along rows of known sizes, and its results are as many when rows and window become even.
fn has_two_phases(op: Op<'_>) -> bool {
    let last = |name: &str| op.ints(name).and_then(|all| all.last().copied());
    let (x, w, y) = (op.operand(0).ty(), op.operand(1).ty().shape(), op.result(0).ty());
    let by_two = last("strides") == Some(2) && last("rhs_dilation") == Some(1) && last("lhs_dilation") == Some(1);
    let (Some(low), Some(high), Some(&row), Some(&taps)) = (last("low"), last("high"), x.shape().last(), w.last()) else { return false };
    if !by_two || taps < 2 || !x.is_static() || !y.is_static() {
        return false;
    }
    y.shape().last() == Some(&((row + low + high + 1) / 2 - (taps + 1) / 2 + 1))
}

/// `[n, c, .., 2 w]` as `[n, 2 c, .., w]`: behind the even columns of a channel stand its odd ones.
fn phases_apart<'c>(b: &mut Builder<'c>, x: Value<'c>) -> Value<'c> {
    let shape = x.ty().shape();
    let (last, rank) = (shape.len() - 1, shape.len());
    let pairs = [&shape[..last], &[shape[last] / 2, 2]].concat();
    let pairs = b.value(prim::Reshape::NAME, &[x], x.ty().with_shape(&pairs), &[]);
    let apart = transpose(b, pairs, &[&[0, 1, rank], (2..rank).collect::<Vec<_>>().as_slice()].concat());
    let channels = [&[shape[0], 2 * shape[1]], &shape[2..last], &[shape[last] / 2]].concat();
    b.value(prim::Reshape::NAME, &[apart], x.ty().with_shape(&channels), &[])
}
