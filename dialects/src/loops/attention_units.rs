//! Which attention kernels matrix units of CPUs (AMX) take, and what their operands are.

use super::access::{Stride, is_linear, stride};
use super::attention::AttentionView;
use super::roles::{uses, widened_factors, widens_half};
use super::view::{KernelView, StageView};

/// Rows that are taken together: two tiles.
pub const ROWS: i64 = 32;
/// Keys that are taken together: two tiles of scores, and all steps of a tile of weights, which has pairs of them. Columns of values come in as many, and
/// so do the elements that a score is summed over.
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
        let halves = widened_factors(scores.op).is_some_and(|factors| factors.iter().all(widens_half));
        let pairs = moves(scores, keys, view.key) && !moves(scores, keys, row) && halves;
        let along = [queries, keys].iter().all(|&at| stride(scores.maps[at], scores.op.operand(at), depth) == Stride::One);
        let lies =
            along && is_linear(scores.maps[queries], row) && is_linear(scores.maps[keys], view.key) && !scores.guarded.contains(&true);
        let widening = mean.op.body(0).terminator()?.operand(1).defining_op().filter(widens_half)?;
        let values = widening.operand(0);
        let plain = values.defining_op().is_none() && values.owner_block() == Some(mean.op.body(0)) && !mean.guarded[values.index()];
        let values =
            Some(values.index()).filter(|&at| plain && moves(mean, at, view.key) && moves(mean, at, column) && !moves(mean, at, row))?;
        let turns = is_linear(mean.maps[values], view.key) && is_linear(mean.maps[values], column);
        (sizes && pairs && lies && turns).then_some(Self { queries, keys, values, depth })
    }
}
