//! Which attention kernels matrix units of CPUs (AMX) take, and what their operands are.

use super::access::{Stride, coefficient, stride};
use super::attention::AttentionView;
use super::roles::uses;
use super::view::{KernelView, StageView};
use strata_core::ir::{ElementType, Value};
use strata_core::upstream::arith;

/// Rows that are taken together: two tiles.
pub const ROWS: i64 = 32;
/// Keys that are taken together, and what columns of values and steps of scores come in: two tiles of rows, or the steps of one of pairs.
pub const TOGETHER: i64 = 32;

/// The operands.
#[derive(Clone, Copy, Debug)]
pub struct AttentionUnits {
    /// The operand of the scores that has the rows.
    pub queries: usize,
    /// The operand of the scores that has the keys.
    pub keys: usize,
    /// The operand of the mean that has the values.
    pub values: usize,
    /// The dim that scores are summed over.
    pub depth: usize,
}

impl AttentionUnits {
    /// Of a kernel with rows along a dim: `bf16` elements, whose sizes are known and fill tiles, and queries and keys that lie along what scores are
    /// summed over.
    pub fn of(kernel: &KernelView<'_>, view: &AttentionView, row: usize, column: usize) -> Option<Self> {
        let (scores, mean) = (&kernel.stages[view.scores?], &kernel.stages[view.mean]);
        let &[depth] = scores.reduce.as_slice() else { return None };
        let size = |dim: usize| kernel.static_size(dim);
        let sizes = size(row)? >= ROWS && size(view.key)? >= TOGETHER && size(depth)? % TOGETHER == 0 && size(column)? % TOGETHER == 0;
        let moves = |stage: &StageView<'_>, at: usize, dim: usize| uses(stage.maps[at], dim);
        let queries = (0..2).find(|&at| scores.maps.len() == 2 && moves(scores, at, row) && !moves(scores, at, view.key))?;
        let keys = 1 - queries;
        let pairs = moves(scores, keys, view.key) && !moves(scores, keys, row) && multiplies_halves(scores);
        let along = [queries, keys].iter().all(|&at| stride(scores.maps[at], scores.op.operand(at), depth) == Stride::One);
        let even =
            |stage: &StageView<'_>, at: usize, dim: usize| stage.maps[at].results().iter().all(|expr| coefficient(*expr, dim).is_some());
        let lies = along && even(scores, queries, row) && even(scores, keys, view.key) && !scores.guarded.contains(&true);
        let values = widened(mean.op.body(0).terminator()?.operand(1))?;
        let plain = values.owner_block() == Some(mean.op.body(0)) && !mean.guarded[values.index()];
        let values =
            Some(values.index()).filter(|&at| plain && moves(mean, at, view.key) && moves(mean, at, column) && !moves(mean, at, row))?;
        let turns = even(mean, values, view.key) && even(mean, values, column);
        (sizes && pairs && lies && turns).then_some(Self { queries, keys, values, depth })
    }
}

/// The `bf16` argument of a body that a value is converted from.
fn widened(value: Value<'_>) -> Option<Value<'_>> {
    let from = value.defining_op().filter(|op| op.isa::<arith::ExtF>())?.operand(0);
    (from.ty().element_type() == Some(ElementType::BF16) && from.defining_op().is_none()).then_some(from)
}

/// Whether a body multiplies its two arguments, which are `bf16`.
fn multiplies_halves(stage: &StageView<'_>) -> bool {
    let product = stage.op.body(0).terminator().and_then(|last| last.operand(0).defining_op()).filter(|op| op.isa::<arith::MulF>());
    let factors = product.and_then(|product| Some([widened(product.operand(0))?, widened(product.operand(1))?]));
    factors.is_some_and(|[one, other]| one != other && [one, other].iter().all(|arg| arg.owner_block() == Some(stage.op.body(0))))
}
