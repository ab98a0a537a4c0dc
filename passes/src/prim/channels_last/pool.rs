//! Windows that are reduced over an image whose rows are short: lanes along rows would be empty, lanes along channels are not.

use super::order::{Ordered, Orders};
use super::sink;
use strata_core::ir::{Builder, Op};
use strata_dialects::prim;
use strata_dialects::prim::view::windowed;
use strata_dialects::target::Target;

/// Elements of a window that pay, for each vector of a row of results, for bringing the image into the other order and back. On two threads of a
/// Zen 4, poolings of 16 to 1,562 channels by windows of 2 to 5 by 2 to 5: 35 with shorter rows take 0.15 to 1.6 of the time in the plain order, 0.7 in
/// the mean, most of those above 1 having fewer than 50 channels; 15 with longer rows 0.4 to 2.1.
const TAPS_PER_VECTOR: i64 = 4;

/// A pooling in the plain order, or the padding of one, with channels last.
pub fn rewrite<'c>(b: &mut Builder<'c>, orders: &mut Orders<'c>, op: Op<'c>, target: &Target) -> Option<Ordered<'c>> {
    let window = if op.isa::<prim::Pad>() { only_user(op)? } else { op };
    if !window.isa::<prim::SlidingWindow>() || !has_short_rows(window, target) {
        return None;
    }
    let rank = op.operand(0).ty().rank();
    let channels = rank - window.ints("sizes")?.len() - 1;
    if orders.of(op.operand(0)).is_some_and(|known| known.perm.last() == Some(&channels)) {
        return None;
    }
    let perm: Vec<usize> = (0..channels).chain(channels + 1..rank).chain([channels]).collect();
    orders.for_one(b, op.operand(0), &perm, |b, orders| sink::rewrite(b, orders, op, true))
}

fn only_user(op: Op<'_>) -> Option<Op<'_>> {
    let [one] = op.result(0).uses()[..] else { return None };
    Some(one.op)
}

/// Whether windows are reduced, channels fill a vector, and results of a row fill few.
fn has_short_rows(window: Op<'_>, target: &Target) -> bool {
    let (x, y, sizes) = (window.operand(0).ty(), window.result(0).ty(), window.ints("sizes").unwrap_or_default());
    let (rank, count) = (x.rank(), sizes.len());
    let plain = x.is_static() && rank > count && windowed(rank, count, window.ints("dims")).into_iter().eq(rank - count..rank);
    let reduces = |user: Op<'_>| user.isa::<prim::Reduce>() || user.isa::<prim::ArgReduce>();
    if !plain || !window.result(0).uses().into_iter().all(|each| reduces(each.op)) {
        return false;
    }
    let lanes = x.element_type().map_or(1, |element| target.lanes(element.bits()));
    let (channels, row, taps) = (x.shape()[rank - count - 1], y.shape()[rank - 1], sizes.iter().product::<i64>());
    channels >= lanes && TAPS_PER_VECTOR * row <= lanes * taps
}
