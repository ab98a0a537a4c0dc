//! Kernels around a mean weighed by the softmax of scores: rows are taken together so that what is loaded of a key serves all of them,
//! with lanes along the rows for scores, where the largest and the sum then need no lanes of others, and along the values for means.

use super::frame::Frame;
use strata_dialects::loops::access::{Stride, stride};
use strata_dialects::loops::attention::{AttentionView, OnlineTiles};
use strata_dialects::loops::attention_dims::AttentionDims;
use strata_dialects::loops::attention_units::AttentionUnits;
use strata_dialects::loops::has_matrix_units;
use strata_dialects::loops::mean_reach::reach;
use strata_dialects::loops::register_block::UNIT_STEPS;
use strata_dialects::loops::schedule::KernelSchedule;
use strata_dialects::loops::view::{KernelView, StageView};

/// Keys of a block: its scores, and the values of its keys, fit the first-level cache.
const KEYS_OF_A_BLOCK: i64 = 128;
/// Vectors of rows that are taken together.
const VECTORS_OF_ROWS: i64 = 2;
/// Rows of a register block of means.
const ROWS_OF_MEANS: i64 = 4;

/// Writes the schedule; the dim of the values moves inside.
pub fn schedule(frame: &Frame<'_, '_>) {
    let kernel = frame.kernel;
    let Some(mean) = kernel.stages.iter().find(|stage| stage.is_attention()) else { return };
    let Ok(Some(view)) = AttentionView::of(kernel) else { return };
    let AttentionDims { outer, row, column } = AttentionDims::of(kernel, &view, mean);
    let width = frame.width;
    let rows = match row.map(|row| kernel.static_size(row)) {
        None => 1,
        Some(None) => VECTORS_OF_ROWS * width,
        Some(Some(size)) => (1..=VECTORS_OF_ROWS).rev().map(|vectors| vectors * width).find(|rows| *rows <= size).unwrap_or(1),
    };
    let units = by_units(frame, &view, row, column);
    let known = column.is_none_or(|column| kernel.static_size(column).is_some());
    let (rows, width) = if known && width > 1 && rows >= width { (rows, width) } else { (1, 1) };
    let vectors = column.and_then(|column| kernel.static_size(column)).map_or(1, |size| (size.max(1) as u64).div_ceil(width as u64) as i64);
    // Sums of scores may take half of the registers, those of means three quarters if that is a whole row of them.
    let registers = frame.target.vector_registers;
    let (keys, most) = (registers / (2 * (rows / width).max(1)), registers * 3 / (4 * ROWS_OF_MEANS));
    let columns = if vectors <= most { vectors } else { most * 2 / 3 };
    let reach = row.and_then(|row| reach(kernel, mean, row, view.key));
    let one = |many: i64| if width > 1 { many } else { 1 };
    let online =
        OnlineTiles { row, rows, width, block: KEYS_OF_A_BLOCK, keys: one(keys), lines: one(ROWS_OF_MEANS), columns: one(columns), reach };
    let mut order = outer;
    // Threads share the first dim; rows are the last choice.
    order.sort_by_key(|&dim| (kernel.static_size(dim) == Some(1), Some(dim) == row));
    let matrix_units = units.then_some(true);
    frame.write(&order, KernelSchedule { matrix_units, online: Some(online.entries()), ..KernelSchedule::default() });
}

/// Whether matrix units multiply, where `--pair-halves` says that they may: values have been copied for them.
fn by_units(frame: &Frame<'_, '_>, view: &AttentionView, row: Option<usize>, column: Option<usize>) -> bool {
    let scores = view.scores.map(|scores| frame.kernel.stages[scores].op);
    let has = scores.is_some_and(|scores| has_matrix_units(frame.target, scores)) && frame.width == UNIT_STEPS;
    let units = row.zip(column).and_then(|(row, column)| AttentionUnits::of(frame.kernel, view, row, column));
    let mean = &frame.kernel.stages[view.mean];
    has && units.is_some_and(|units| stride(mean.maps[units.values], mean.op.operand(units.values), view.key) == Stride::One)
}

/// Whether a kernel is of this kind.
pub fn is_attention(kernel: &KernelView<'_>) -> bool {
    kernel.stages.iter().any(StageView::is_attention)
}
