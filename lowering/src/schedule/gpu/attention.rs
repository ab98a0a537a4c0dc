//! Kernels around a mean weighed by the softmax of scores: a block of threads has a tile of rows, past which keys online.

use crate::loop_to_gpu::matrix_attention;
use strata_core::ir::ElementType;
use strata_dialects::loops::attention::{AttentionView, OnlineTiles};
use strata_dialects::loops::attention_dims::AttentionDims;
use strata_dialects::loops::mean_reach::reach;
use strata_dialects::loops::schedule::KernelSchedule;
use strata_dialects::loops::view::KernelView;
use strata_dialects::numerics::Numerics;
use strata_dialects::target::Gpu;

/// Threads that share rows, neighbours in a warp.
const THREADS_OF_A_ROW: i64 = 16;
/// Groups of them in a block.
const GROUPS_OF_BLOCK: i64 = 8;
/// Sums that a thread may keep in registers.
const SUMS_OF_THREAD: i64 = 32;
/// Most columns that a thread has.
const COLUMNS_OF_THREAD: i64 = 32;
/// Values, the weights and what scores are made of each have this part of a block's shared memory.
const SHARED_PART: i64 = 3;

/// Warps of a block, where matrix units multiply.
const WARPS_OF_BLOCK: i64 = 4;
/// Most columns of values there.
const MATRIX_COLUMNS: i64 = 128;
/// Length of a step of the dim that scores are summed along, there.
const MATRIX_STEP: i64 = 32;

/// Threads of a block, where each has a row to itself.
const THREADS_OF_ROWS: i64 = 64;

/// The schedule, when a kernel has a mean. The dim of the values moves inside.
pub fn schedule(kernel: &KernelView<'_>, numerics: Numerics, gpu: &Gpu) -> Option<KernelSchedule> {
    let view = AttentionView::of(kernel).ok()??;
    let mean = &kernel.stages[view.mean];
    let dims = AttentionDims::of(kernel, &view, mean);
    let known = dims.column.is_none_or(|column| kernel.static_size(column).is_some());
    let outer = if known { &dims.outer } else { &kernel.outer };
    let mut schedule = KernelSchedule { order: Some(outer.clone()), ..KernelSchedule::default() };
    let by_units = dims.row.filter(|&row| numerics > Numerics::Strict && matrix_attention::values_in_halves(kernel, &view, row).is_some());
    let by_units = by_units.and_then(|row| on_units(kernel, row, view.column?));
    match by_units.or_else(|| online(kernel, &dims, mean.op.result(0).ty().element_type()?, gpu)) {
        Some((online, step)) => {
            let reach = online.row.and_then(|row| reach(kernel, mean, row, view.key));
            (schedule.step, schedule.online) = (Some(step), Some(OnlineTiles { reach, ..online }.entries()));
        }
        // Slow, and right.
        None => schedule.threads = Some(THREADS_OF_ROWS),
    }
    schedule.matrix_units = by_units.map(|_| true);
    Some(schedule)
}

/// The same for matrix units, where a thread has two rows.
fn on_units(kernel: &KernelView<'_>, row: usize, column: usize) -> Option<(OnlineTiles, i64)> {
    let size = kernel.static_size(column)?.max(1);
    let columns = (size as u64).next_multiple_of(matrix_attention::COLUMNS as u64) as i64;
    // So that the values of a block, and the sums of a thread, have room.
    let block = if columns <= MATRIX_COLUMNS / 2 { MATRIX_COLUMNS / 2 } else { MATRIX_COLUMNS / 4 };
    let online = OnlineTiles {
        row: Some(row),
        rows: WARPS_OF_BLOCK * matrix_attention::ROWS,
        width: 1,
        block,
        keys: block / matrix_attention::LANES,
        lines: 2,
        columns: columns / matrix_attention::LANES,
        reach: None,
    };
    (columns <= MATRIX_COLUMNS).then_some((online, MATRIX_STEP))
}

/// How the threads of a block share rows, and the length of a step in which operands come to shared memory; `None` where no row pairs with
/// keys, or where a thread's columns would not fit its registers.
fn online(kernel: &KernelView<'_>, dims: &AttentionDims, element: ElementType, gpu: &Gpu) -> Option<(OnlineTiles, i64)> {
    let size = dims.column.map_or(Some(1), |column| kernel.static_size(column))?.max(1);
    let columns = (size as u64).div_ceil(THREADS_OF_A_ROW as u64) as i64;
    if columns > COLUMNS_OF_THREAD {
        return None;
    }
    let double = element == ElementType::F64;
    let lines = (SUMS_OF_THREAD / columns).clamp(1, if double { 2 } else { 4 });
    let lines = 1 << lines.ilog2();
    let keys = if double { 2 } else { 4 };
    let step = if columns * THREADS_OF_A_ROW * 16 * element.bytes() as i64 <= gpu.shared.bytes_of_block / SHARED_PART { 16 } else { 8 };
    let online = OnlineTiles {
        row: Some(dims.row?),
        rows: lines * GROUPS_OF_BLOCK,
        width: 1,
        block: keys * THREADS_OF_A_ROW,
        keys,
        lines,
        columns,
        reach: None,
    };
    Some((online, step))
}
