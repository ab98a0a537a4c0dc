//! Kernels that reduce products of operands of which each is used for many results: what is loaded is reused from registers.

use super::frame::Frame;
use super::reduction::tile_dim;
use crate::kernel_view::{KernelView, StageView};

/// Rows that a contraction keeps in registers.
const ROWS: i64 = 8;

/// Whether some operand of the kernel's first reduction is used again along an outer dim along which another one moves.
pub fn is_contraction(kernel: &KernelView<'_>) -> bool {
    let stage = kernel.stages.iter().find(|stage| !stage.reduce.is_empty());
    stage.is_some_and(|stage| kernel.outer.iter().any(|&dim| reused(stage, dim)))
}

/// Writes the schedule of a contraction.
pub fn schedule(frame: &Frame<'_, '_>) {
    match frame.vector {
        Some(vector) => frame.write_outer(vector, |dim| unroll(frame, vector, dim)),
        None => frame.write_own(tile_dim(frame)),
    }
}

/// Which operands move along a dim.
fn moves(stage: &StageView<'_>, dim: usize) -> Vec<bool> {
    stage.maps.iter().map(|map| map.results().iter().any(|expr| expr.uses_dim(dim))).collect()
}

/// Reuse along a dim needs an operand that does not move with it, and one that does.
fn reused(stage: &StageView<'_>, dim: usize) -> bool {
    let moves = moves(stage, dim);
    moves.contains(&true) && moves.contains(&false)
}

/// Copies of the body along an outer dim: a contraction reuses what it loads for several rows and vectors.
fn unroll(frame: &Frame<'_, '_>, vector: usize, dim: usize) -> i64 {
    let kernel = frame.kernel;
    let Some(stage) = kernel.stages.iter().find(|stage| !stage.reduce.is_empty()) else { return 1 };
    if !reused(stage, vector) {
        return 1;
    }
    if dim == vector {
        return if frame.size(dim) >= 2 * frame.width_along(vector) { 2 } else { 1 };
    }
    // One dim of rows: the last one before the lanes whose operands differ from those of the lanes.
    let fits =
        |row: usize| row != vector && reused(stage, row) && moves(stage, row) != moves(stage, vector) && kernel.static_size(row) != Some(1);
    let rows = kernel.outer.iter().copied().rfind(|&row| fits(row));
    if rows == Some(dim) { frame.size(dim).min(ROWS) } else { 1 }
}
