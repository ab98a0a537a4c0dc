//! Kernels that read beyond the ends of their operands, padded copies and pooling: their loops treat borders apart, so that the inside
//! tests nothing.

use super::access::coefficient;
use super::frame::set;
use crate::kernel_view::{KernelView, StageView};
use strata_core::ir::{AffineKind, Attr};

/// Bodies of more ops are not worth several copies.
const SHORT: usize = 48;
/// Dims that are treated so: each makes three loops of one.
const DIMS: usize = 2;

/// Adds `inside` to the schedule of a kernel whose outer loops are plain.
pub fn schedule(kernel: &KernelView<'_>) {
    let Some(entries) = kernel.op.attr("schedule").and_then(Attr::as_dict) else { return };
    let shaped = entries.iter().any(|(name, _)| matches!(name.as_str(), "tile" | "block" | "inside"));
    let plain = |stage: &StageView<'_>| !stage.is_scatter() && stage.scan.is_none() && stage.schedule("turn").is_none();
    let ops: usize = kernel.stages.iter().map(|stage| stage.op.body(0).ops().len()).sum();
    if shaped || ops > SHORT || !kernel.stages.iter().all(plain) {
        return;
    }
    let order = kernel.schedule_list("order").unwrap_or_default();
    let leaves =
        |dim: &i64| kernel.static_size(*dim as usize).is_some() && kernel.stages.iter().any(|stage| may_leave(stage, *dim as usize));
    // The innermost dims are those in whose loops the time goes.
    let mut dims: Vec<i64> = order.into_iter().rev().filter(leaves).take(DIMS).collect();
    dims.sort_unstable();
    if dims.is_empty() {
        return;
    }
    set(kernel.op, "inside", kernel.op.cx().i64s_attr(&dims));
}

/// Whether a guarded access of a stage moves along a dim, and not just with it.
fn may_leave(stage: &StageView<'_>, dim: usize) -> bool {
    let guarded = stage.maps.iter().zip(&stage.guarded).filter(|(_, guarded)| **guarded);
    guarded
        .flat_map(|(map, _)| map.results())
        .any(|expr| expr.kind() != AffineKind::Dim(dim) && coefficient(expr, dim).is_some_and(|by| by > 0))
}
