//! How far past its own number a row of an attention looks: causal masks.

use crate::loops;
use crate::loops::ranges::range;
use crate::loops::view::{KernelView, StageView};
use strata_core::ir::{ElementType, Op, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};

/// The condition on which a mean's scores are other than `-inf`, and the truth that it has then.
pub fn condition<'c>(mean: &StageView<'c>) -> Option<(Value<'c>, bool)> {
    let score = mean.op.body(0).ops().last()?.operand(0);
    let select = score.defining_op().filter(|op| op.isa::<arith::Select>())?;
    let lowest = |at: usize| select.operand(at).defining_op()?.attr("value")?.as_float().filter(|number| *number == f64::NEG_INFINITY);
    let truth = lowest(2).map(|_| true).or_else(|| lowest(1).map(|_| false))?;
    Some((select.operand(0), truth))
}

/// The largest `key - row` at which the mean's scores are other than `-inf`, where the body says so by a comparison of both.
pub fn reach(kernel: &KernelView<'_>, mean: &StageView<'_>, row: usize, key: usize) -> Option<i64> {
    let (condition, truth) = condition(mean)?;
    bound(kernel, condition, truth, (row, key), DEPTH)
}

/// Conditions within conditions at most.
const DEPTH: usize = 4;

/// A bound on `key - row` wherever a condition has this truth.
fn bound(kernel: &KernelView<'_>, condition: Value<'_>, truth: bool, dims: (usize, usize), depth: usize) -> Option<i64> {
    let op = condition.defining_op()?;
    let parts = || [0, 1].map(|at| bound(kernel, op.operand(at), truth, dims, depth.checked_sub(1)?));
    match (op.name(), truth) {
        (arith::AndI::NAME, true) | (arith::OrI::NAME, false) => parts().into_iter().flatten().min(),
        (arith::CmpI::NAME, _) => comparison(kernel, op, truth, dims),
        _ => None,
    }
}

/// `key + a <= row + b` bounds `key - row` by `b - a`.
fn comparison(kernel: &KernelView<'_>, op: Op<'_>, truth: bool, (row, key): (usize, usize)) -> Option<i64> {
    let (less, equal) = match CmpIPredicate::of(op)? {
        CmpIPredicate::Slt => (true, false),
        CmpIPredicate::Sle => (true, true),
        CmpIPredicate::Sgt => (false, false),
        CmpIPredicate::Sge => (false, true),
        _ => return None,
    };
    // What is false holds the other way about.
    let (less, equal) = if truth { (less, equal) } else { (!less, !equal) };
    let (low, high) = if less { (0, 1) } else { (1, 0) };
    let ((key_at, before), (row_at, after)) = (place(kernel, op.operand(low))?, place(kernel, op.operand(high))?);
    (key_at == key && row_at == row).then_some(after - before - i64::from(!equal))
}

/// A dim's index and what is added to it, where neither wraps around: 64 bits hold any index and a constant of 32.
fn place(kernel: &KernelView<'_>, value: Value<'_>) -> Option<(usize, i64)> {
    let op = value.defining_op()?;
    let wide = value.ty().is_index() || value.ty().element_type() == Some(ElementType::I64);
    if !wide && range(kernel, value).is_none() {
        return None;
    }
    let constant = |at: usize| op.operand(at).defining_op()?.int("value").filter(|number| i32::try_from(*number).is_ok());
    match op.name() {
        loops::Index::NAME => Some((usize::try_from(op.int("dim")?).ok()?, 0)),
        arith::IndexCast::NAME => place(kernel, op.operand(0)),
        arith::AddI::NAME => {
            let (at, added) = constant(1).map(|added| (0, added)).or_else(|| constant(0).map(|added| (1, added)))?;
            place(kernel, op.operand(at)).map(|(dim, before)| (dim, before + added))
        }
        arith::SubI::NAME => place(kernel, op.operand(0)).and_then(|(dim, before)| Some((dim, before - constant(1)?))),
        _ => None,
    }
}
