//! Kernels with a stage that yields the elements of a whole tile at once: the tile stands in registers, lanes run along the last dim
//! beside it, and threads share the tiles.

use super::frame::Frame;
use crate::schedule::cost::THREADS;
use strata_dialects::loops::schedule::KernelSchedule;
use strata_dialects::loops::view::product;

/// Tiles of the outer loops that threads can share: one each.
const TILES_TO_SHARE: i64 = THREADS;

/// Writes the schedule, when the kernel is of this kind.
pub fn schedule(frame: &Frame<'_, '_>) -> bool {
    let kernel = frame.kernel;
    let Some(stage) = kernel.stages.iter().find(|stage| !stage.spread.is_empty()) else { return false };
    let lanes = kernel.stages.last().and_then(|last| last.result_dims().last().copied());
    let inside = |dim: &usize| stage.spread.contains(dim);
    let Some(lanes) = lanes.filter(|lanes| !inside(lanes) && kernel.outer.contains(lanes)) else { return false };
    if frame.width < 2 || !stage.spread.iter().all(|dim| kernel.outer.contains(dim)) {
        return false;
    }
    let width = frame.width_along(lanes);
    let mut order: Vec<usize> = kernel.outer.iter().copied().filter(|dim| *dim != lanes && !inside(dim)).collect();
    let around = product(order.iter().map(|&dim| frame.size(dim)));
    let row = order.last().copied().filter(|&row| around / frame.size(row).max(1) >= TILES_TO_SHARE);
    order.push(lanes);
    order.extend(&stage.spread);
    // Few tiles are shared by their lanes as well.
    let pieces = (TILES_TO_SHARE / around.max(1)).max(1);
    let vectors = (frame.size(lanes) + width * pieces - 1) / (width * pieces);
    let tile = |dim: usize| match dim {
        _ if inside(&dim) || Some(dim) == row => frame.size(dim).max(1),
        _ if dim == lanes => vectors.max(1) * width,
        _ => 1,
    };
    let list = |of: &dyn Fn(usize) -> i64| Some(order.iter().map(|&dim| of(dim)).collect());
    let unroll = list(&|dim| if inside(&dim) { frame.size(dim).max(1) } else { 1 });
    let lanes = KernelSchedule { vector: Some(lanes), width: Some(width), ..KernelSchedule::default() };
    frame.write(&order, KernelSchedule { tile: list(&tile), unroll, ..lanes });
    true
}
