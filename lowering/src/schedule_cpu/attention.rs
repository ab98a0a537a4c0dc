//! Kernels around a mean weighed by the softmax of scores: rows are taken together so that what is loaded of a key serves all of them,
//! with lanes along the rows for scores, where the largest and the sum then need no lanes of others, and along the values for means.

use super::frame::Frame;
use strata_dialects::loops::attention::{AttentionView, OnlineTiles};
use strata_dialects::loops::mean_reach::reach;
use strata_dialects::loops::schedule::KernelSchedule;
use strata_dialects::loops::view::{KernelView, StageView};

/// Keys of a block: its scores, and the values of its keys, fit the first-level cache.
const BLOCK: i64 = 128;
/// Vectors of rows that are taken together.
const VECTORS: i64 = 2;
/// Rows of a register block of means.
const LINES: i64 = 4;

/// Which dims play which part.
pub struct Dims {
    /// Those of the loops around everything.
    pub outer: Vec<usize>,
    /// The one of them whose rows are taken together.
    pub row: Option<usize>,
    /// The dim of the values that is not among them.
    pub column: Option<usize>,
}

impl Dims {
    /// Of a kernel with this mean.
    pub fn of(kernel: &KernelView<'_>, view: &AttentionView, mean: &StageView<'_>) -> Self {
        let column = view.column.or_else(|| values(mean, view.key));
        let outer: Vec<usize> = kernel.outer.iter().copied().filter(|dim| Some(*dim) != column).collect();
        let row = match view.scores {
            Some(scores) => outer.iter().copied().rfind(|&dim| is_row(&kernel.stages[scores], dim, view.key)),
            None => outer.last().copied(),
        };
        Self { outer, row, column }
    }
}

/// Writes the schedule; the dim of the values moves inside.
pub fn schedule(frame: &Frame<'_, '_>) {
    let kernel = frame.kernel;
    let Some(mean) = kernel.stages.iter().find(|stage| stage.is_attention()) else { return };
    let Ok(Some(view)) = AttentionView::of(kernel) else { return };
    let Dims { outer, row, column } = Dims::of(kernel, &view, mean);
    let width = frame.width;
    let rows = match row.map(|row| kernel.static_size(row)) {
        None => 1,
        Some(None) => VECTORS * width,
        Some(Some(size)) => (1..=VECTORS).rev().map(|vectors| vectors * width).find(|rows| *rows <= size).unwrap_or(1),
    };
    let known = column.is_none_or(|column| kernel.static_size(column).is_some());
    let (rows, width) = if known && width > 1 && rows >= width { (rows, width) } else { (1, 1) };
    let vectors = column.and_then(|column| kernel.static_size(column)).map_or(1, |size| (size.max(1) as u64).div_ceil(width as u64) as i64);
    // Sums of scores may take half of the registers, those of means three quarters if that is a whole row of them.
    let registers = frame.target.vector_registers;
    let (keys, most) = (registers / (2 * VECTORS), registers * 3 / (4 * LINES));
    let columns = if vectors <= most { vectors } else { most * 2 / 3 };
    let reach = row.and_then(|row| reach(kernel, mean, row, view.key));
    let one = |many: i64| if width > 1 { many } else { 1 };
    let stream = OnlineTiles { row, rows, width, block: BLOCK, keys: one(keys), lines: one(LINES), columns: one(columns), reach };
    let mut order = outer;
    // Threads share the first dim; rows are the last choice.
    order.sort_by_key(|&dim| (kernel.static_size(dim) == Some(1), Some(dim) == row));
    frame.write(&order, KernelSchedule { online: Some(stream.entries()), ..KernelSchedule::default() });
}

/// The dim of the values, where no other stage keeps it inside: the last that the score does not depend on.
fn values(mean: &StageView<'_>, key: usize) -> Option<usize> {
    let depends = |dim: usize, at: usize| mean.maps[at].results().iter().any(|expr| expr.uses_dim(dim));
    let among = |dim: usize| (0..mean.maps.len()).filter(|&at| depends(dim, at) && depends(key, at)).count() == 1;
    mean.parallel().into_iter().rfind(|&dim| among(dim))
}

/// Whether scores pair rows along this dim with keys: one operand moves along it and another one along the keys.
fn is_row(scores: &StageView<'_>, dim: usize, key: usize) -> bool {
    let uses = |at: usize, dim: usize| scores.maps[at].results().iter().any(|expr| expr.uses_dim(dim));
    let any = |wanted: [bool; 2]| (0..scores.maps.len()).any(|at| [uses(at, dim), uses(at, key)] == wanted);
    any([true, false]) && any([false, true])
}

/// Whether a kernel is of this kind.
pub fn is_attention(kernel: &KernelView<'_>) -> bool {
    kernel.stages.iter().any(StageView::is_attention)
}
