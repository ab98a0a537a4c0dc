//! How many neighbours in a row a thread takes, so that it loads and stores 16 bytes at a time.

use crate::emit::WIDE;
use strata_core::ir::{AffineExpr, AffineKind, DYNAMIC, Value};
use strata_dialects::loops;
use strata_dialects::loops::schedule::{SCHEDULE, StageSchedule};
use strata_dialects::loops::view::{KernelView, StageView};
use strata_dialects::target::Gpu;
use strata_dialects::target::gpu::WARP;

/// Most neighbours of a thread: more would want too many registers.
const MOST_NEIGHBOURS: i64 = 8;

/// The outer dim along which a thread has neighbours, and how many, where each thread has points to itself and there are enough.
pub fn neighbours(kernel: &KernelView<'_>, points: i64, gpu: &Gpu) -> Option<(usize, i64)> {
    let dim = *kernel.outer.last()?;
    let known = kernel.outer.iter().all(|&dim| kernel.static_size(dim).is_some());
    let width = kernel.stages.iter().try_fold(MOST_NEIGHBOURS, |least, stage| Some(least.min(width(stage, dim)?)))?;
    let stored = kernel.stages.last().is_some_and(|stage| stage.result_dims().last() == Some(&dim));
    (stored && width > 1 && (!known || points / width >= gpu.busy_threads())).then_some((dim, width))
}

/// Says in each stage whose own loop threads share how many neighbours they take; gives the most.
pub fn turns(kernel: &KernelView<'_>, size: &impl Fn(usize) -> i64) -> i64 {
    let mut most = 1;
    for stage in &kernel.stages {
        let (Some(dim), None) = (kernel.own_dim(stage), stage.op.attr(SCHEDULE)) else { continue };
        let width = width(stage, dim).unwrap_or(1);
        let long = kernel.length(stage, dim).unwrap_or_else(|| size(dim));
        if width > 1 && long >= width * WARP {
            StageSchedule { unroll: Some(width), vector: Some(dim), ..StageSchedule::default() }.set(stage.op);
            most = most.max(width);
        }
    }
    most
}

/// How many neighbours along a dim fill 16 bytes of what a stage moves; `None` where taking them together does not pay: no access goes
/// along the dim, or one does in another way than by rows that begin at multiples of what is taken.
fn width(stage: &StageView<'_>, dim: usize) -> Option<i64> {
    let scans = stage.scan.is_some_and(|scanned| scanned != dim);
    let plain = !scans && !stage.is_scatter() && !stage.is_tile() && !stage.is_attention() && stage.spread.is_empty();
    let mut computed = false;
    stage.op.walk(&mut |op| computed |= op.isa::<loops::Load>());
    if !plain || computed || stage.parts_of().contains(&dim) {
        return None;
    }
    let cx = stage.op.cx();
    let (mut width, mut moves, mut rows) = (MOST_NEIGHBOURS, false, false);
    let place: Vec<_> = stage.result_dims().into_iter().map(|dim| cx.dim(dim)).collect();
    let reads = stage.op.operands().into_iter().zip(&stage.maps).enumerate();
    let reads = reads.map(|(number, (operand, map))| (operand, map.results(), stage.guarded[number]));
    let writes = stage.op.results().into_iter().map(|result| (result, place.clone(), false));
    for (tensor, exprs, guarded) in reads.chain(writes).filter(|(tensor, ..)| !in_registers(*tensor)) {
        moves = true;
        if exprs.iter().any(|expr| expr.uses_dim(dim)) {
            let each = in_rows(tensor, &exprs, dim).filter(|_| !guarded)?;
            (width, rows) = (width.min(each), true);
        }
    }
    // What moves nothing at all is content with any number.
    (rows || !moves).then_some(width)
}

/// How many elements of a tensor fill 16 bytes, if its rows lie along the dim and begin at multiples of them.
fn in_rows(tensor: Value<'_>, exprs: &[AffineExpr<'_>], dim: usize) -> Option<i64> {
    let element = tensor.ty().element_type().filter(|element| !element.is_complex())?;
    let (last, others) = exprs.split_last()?;
    let each = (WIDE / element.bytes() as i64).clamp(1, MOST_NEIGHBOURS);
    let along = last.kind() == AffineKind::Dim(dim) && !others.iter().any(|expr| expr.uses_dim(dim));
    // (The kernel asks about a length that is not known.)
    let whole = tensor.ty().shape().last().is_none_or(|&extent| extent == DYNAMIC || others.is_empty() || extent % each == 0);
    (along && whole).then_some(each)
}

/// Whether a value of a stage stays in registers.
fn in_registers(value: Value<'_>) -> bool {
    value.defining_op().is_some_and(|op| StageView::new(op).is_register())
}
