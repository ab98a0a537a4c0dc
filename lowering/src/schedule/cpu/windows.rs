//! Sums of products under a window that slides along rows, with the same weights for all of a row: depthwise convolutions of images whose
//! rows lie in memory.
//!
//! Lanes run along a row. A weight is broadcast once for a block of rows of the result, a few vectors of each.

use super::frame::Frame;
use super::panels::{block, slides};
use crate::schedule::cost::lanes::COPIES_FOR_LATENCY;
use strata_core::ir::AffineMap;
use strata_dialects::loops::access::coefficient;
use strata_dialects::loops::view::StageView;

/// Vectors of a row beside each other: they share the loads of the weights.
const VECTORS: i64 = 2;
/// So many are taken at once where they are all of a row, so that none is left over: 464 channels of 20x20 under a window of 7x7 take two threads
/// of a Zen 4 159 us by three vectors of 8, 169 by two.
const WHOLE_ROW: i64 = 3;
/// Rows of the result that share a weight at least, where there are as many.
const ROWS: i64 = 4;
/// Sums side by side: CPUs begin two multiply-adds in a cycle, and each one ends after four.
const SUMS: i64 = 2 * COPIES_FOR_LATENCY;

/// Writes the schedule, when the kernel is of this kind.
pub fn schedule(frame: &Frame<'_, '_>) -> bool {
    let Some((lanes, row)) = find(frame) else { return false };
    let (size, width) = (frame.size(lanes), frame.width_along(lanes));
    let whole = (size as u64).div_ceil(width as u64) as i64;
    let vectors = if whole <= WHOLE_ROW { whole.max(1) } else { VECTORS };
    let rows = row.map_or(1, |row| block(frame.size(row), (SUMS / vectors).max(ROWS), true));
    let mut order = frame.kernel.outer.clone();
    // Threads share the first loop.
    order.sort_by_key(|&dim| (dim == lanes, frame.kernel.static_size(dim) == Some(1)));
    let copies = |&dim: &usize| match dim {
        _ if dim == lanes => vectors,
        _ if Some(dim) == row => rows,
        _ => 1,
    };
    frame.write_lanes(&order, lanes, &order.iter().map(copies).collect::<Vec<_>>());
    true
}

/// The dim of lanes, and that of rows which share weights, when the kernel is of this kind.
fn find(frame: &Frame<'_, '_>) -> Option<(usize, Option<usize>)> {
    let kernel = frame.kernel;
    let lanes = *kernel.outer.last()?;
    let mut reductions = kernel.stages.iter().filter(|stage| !stage.reduce.is_empty());
    let stage = reductions.next().filter(|stage| stage.maps.len() == 2 && !stage.guarded.contains(&true))?;
    let stores_rows = |stage: &StageView<'_>| !stage.reduce.is_empty() || stage.result_dims().last() == Some(&lanes);
    let plain = |stage: &StageView<'_>| stage.scan.is_none() && !stage.is_scatter() && !stage.is_tile() && stores_rows(stage);
    let sums = stage.op.str("reducer").as_deref() == Some("sum") && reductions.next().is_none();
    if !sums || frame.width < 2 || !kernel.stages.iter().all(plain) {
        return None;
    }
    let (image, weights) = (stage.maps[0], stage.maps[1]);
    let uses = |map: AffineMap<'_>, dim: usize| map.results().iter().any(|expr| expr.uses_dim(dim));
    let several = |dim: &usize| kernel.static_size(*dim) != Some(1);
    let (last, others) = image.results().split_last().map(|(last, others)| (*last, others.to_vec()))?;
    // Every other element of a row is two loads and a shuffle; farther ones are loaded one by one.
    let near = matches!(coefficient(last, lanes), Some(1 | 2)) && !others.iter().any(|expr| expr.uses_dim(lanes));
    let window = near && !uses(weights, lanes) && stage.reduce.iter().any(|&inner| slides(stage, lanes, inner));
    // Where several features read the same image, vectors of it are better kept for all of them.
    let features = kernel.outer.iter().any(|dim| several(dim) && uses(weights, *dim) && !uses(image, *dim));
    let row = kernel.outer.iter().copied().rfind(|dim| *dim != lanes && several(dim) && uses(image, *dim) && !uses(weights, *dim));
    (window && !features && frame.width_along(lanes) > 1).then_some((lanes, row))
}
