//! How far past its own number a row of an attention looks: causal masks.

use crate::kernel_view::StageView;
use strata_core::ir::{Op, Value};

/// The largest `key - row` at which the mean's scores are other than `-inf`, where the body says so by a comparison of both.
pub fn reach(mean: &StageView<'_>, row: usize, key: usize) -> Option<i64> {
    let score = mean.op.body(0).ops().last()?.operand(0);
    let select = score.defining_op().filter(|op| op.is("arith.select"))?;
    let lowest = |at: usize| select.operand(at).defining_op()?.attr("value")?.as_float().filter(|number| *number == f64::NEG_INFINITY);
    let seen = lowest(2).map(|_| true).or_else(|| lowest(1).map(|_| false))?;
    bound(select.operand(0), seen, (row, key), DEPTH)
}

/// Conditions within conditions at most.
const DEPTH: usize = 4;

/// A bound on `key - row` wherever a condition has this truth.
fn bound(condition: Value<'_>, truth: bool, dims: (usize, usize), depth: usize) -> Option<i64> {
    let op = condition.defining_op()?;
    let parts = || [0, 1].map(|at| bound(op.operand(at), truth, dims, depth.checked_sub(1)?));
    match (op.name(), truth) {
        ("arith.andi", true) | ("arith.ori", false) => parts().into_iter().flatten().min(),
        ("arith.cmpi", _) => comparison(op, truth, dims),
        _ => None,
    }
}

/// `key + a <= row + b` bounds `key - row` by `b - a`.
fn comparison(op: Op<'_>, truth: bool, (row, key): (usize, usize)) -> Option<i64> {
    // Signed: slt, sle, sgt, sge. What is false holds the other way about.
    let (less, equal) = match op.int("predicate")? {
        2 => (true, false),
        3 => (true, true),
        4 => (false, false),
        5 => (false, true),
        _ => return None,
    };
    let (less, equal) = if truth { (less, equal) } else { (!less, !equal) };
    let (low, high) = if less { (0, 1) } else { (1, 0) };
    let ((key_at, before), (row_at, after)) = (place(op.operand(low))?, place(op.operand(high))?);
    let difference = after.checked_sub(before)?.checked_sub(i64::from(!equal))?;
    (key_at == key && row_at == row).then_some(difference)
}

/// A dim's index and what is added to it.
fn place(value: Value<'_>) -> Option<(usize, i64)> {
    let op = value.defining_op()?;
    let constant = |at: usize| op.operand(at).defining_op()?.int("value");
    match op.name() {
        "loop.index" => Some((usize::try_from(op.int("dim")?).ok()?, 0)),
        "arith.index_cast" => place(op.operand(0)),
        "arith.addi" => {
            let (at, added) = constant(1).map(|added| (0, added)).or_else(|| constant(0).map(|added| (1, added)))?;
            place(op.operand(at)).and_then(|(dim, before)| Some((dim, before.checked_add(added)?)))
        }
        "arith.subi" => {
            let (dim, before) = place(op.operand(0))?;
            Some((dim, before.checked_sub(constant(1)?)?))
        }
        _ => None,
    }
}
