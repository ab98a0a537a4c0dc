//! Maps that read across rows: both sides are touched in the order of their memory, with a tile of shared memory between.

use super::SHORTEST_DIM;
use crate::loop_to_gpu::transpose::across;
use strata_dialects::loops::schedule::KernelSchedule;
use strata_dialects::loops::view::{KernelView, StageView};
use strata_dialects::target::gpu::WARP;

/// Rows and columns of a tile: a warp has a row, so that both sides are touched in whole lines.
const TILE_SIDE: i64 = WARP;
/// Points of a thread.
const POINTS_OF_THREAD: i64 = 4;

/// The schedule, when one stage of a kernel of maps reads across rows.
pub fn schedule(kernel: &KernelView<'_>, size: &impl Fn(usize) -> i64) -> Option<KernelSchedule> {
    let last = *kernel.outer.last()?;
    let plain = |stage: &StageView<'_>| {
        let map = stage.parallel().len() == stage.domain.len() && stage.spread.is_empty() && !stage.is_tile();
        map && stage.domain.len() == kernel.outer.len() && stage.result_dims().last() == Some(&last)
    };
    if !kernel.stages.iter().all(plain) || size(last) < SHORTEST_DIM {
        return None;
    }
    let along = kernel.outer.iter().copied().find(|&dim| {
        let reading = kernel.stages.iter().filter(|stage| !across(stage, dim, last).is_empty()).count();
        dim != last && size(dim) >= SHORTEST_DIM && reading == 1
    })?;
    let of = |dim: usize| match dim {
        _ if dim == last => (TILE_SIDE, 1),
        _ if dim == along => (TILE_SIDE, POINTS_OF_THREAD),
        _ => (1, 1),
    };
    let (tile, unroll): (Vec<i64>, Vec<i64>) = kernel.outer.iter().map(|&dim| of(dim)).unzip();
    Some(KernelSchedule { tile: Some(tile), transpose: Some(along), unroll: Some(unroll), ..KernelSchedule::default() })
}
