//! Kernels that read beyond the ends of their operands, padded copies and pooling: their loops treat borders apart, so that the inside
//! tests nothing.

use strata_core::ir::{AffineKind, Op};
use strata_dialects::loops::access::coefficient;
use strata_dialects::loops::schedule::KernelSchedule;
use strata_dialects::loops::view::{KernelView, StageView};

/// Bodies of more ops are not worth several copies,
const MOST_OPS: usize = 48;
/// unless they are so short for each operand that may be left: of a concatenation a copy has what reads one piece.
const MOST_OPS_OF_OPERAND: usize = 16;
/// Dims that are treated so: each makes three loops of one.
const PEELED_DIMS: usize = 2;

/// Adds `peel` to the schedule of a kernel whose outer loops are plain.
pub fn schedule(kernel: &KernelView<'_>) {
    let own = kernel.schedule();
    let shaped = own.tile.is_some() || own.peel.is_some();
    let plain = |stage: &StageView<'_>| !stage.is_scatter() && stage.scan.is_none();
    // Indices are counted along: they cost the inside of a loop nothing.
    let counts = |op: &Op<'_>| !op.result_types().iter().any(|ty| ty.is_index());
    let ops: usize = kernel.stages.iter().map(|stage| stage.op.body(0).ops().iter().filter(|op| counts(op)).count()).sum();
    let guarded = kernel.stages.iter().flat_map(|stage| &stage.guarded).filter(|guarded| **guarded).count();
    if shaped || ops > MOST_OPS.max(guarded * MOST_OPS_OF_OPERAND) || !kernel.stages.iter().all(plain) {
        return;
    }
    // A dim that all copies of one block cover has no loop.
    let (order, unroll) = (own.order.clone().unwrap_or_default(), own.unroll.clone().unwrap_or_default());
    let covered =
        |dim: usize| order.iter().zip(&unroll).any(|(&at, &copies)| at == dim && copies > 1 && kernel.static_size(dim) == Some(copies));
    let leaves =
        |dim: &usize| !covered(*dim) && kernel.static_size(*dim).is_some() && kernel.stages.iter().any(|stage| may_leave(stage, *dim));
    // The innermost dims are those in whose loops the time goes.
    let mut dims: Vec<usize> = own.order.unwrap_or_default().into_iter().rev().filter(leaves).take(PEELED_DIMS).collect();
    dims.sort_unstable();
    if dims.is_empty() {
        return;
    }
    KernelSchedule::change(kernel.op, |schedule| schedule.peel = Some(dims));
}

/// Whether a guarded access of a stage moves along a dim, and not just with it.
fn may_leave(stage: &StageView<'_>, dim: usize) -> bool {
    let guarded = stage.maps.iter().zip(&stage.guarded).filter(|(_, guarded)| **guarded);
    guarded
        .flat_map(|(map, _)| map.results())
        .any(|expr| expr.kind() != AffineKind::Dim(dim) && coefficient(expr, dim).is_some_and(|by| by != 0))
}
