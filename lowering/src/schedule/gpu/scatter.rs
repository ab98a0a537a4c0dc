//! Kernels that write at computed indices: threads share the points where that changes nothing, or where elements combine atomically.

use super::wide;
use strata_core::ir::ElementType;
use strata_dialects::loops;
use strata_dialects::loops::schedule::{KernelSchedule, StageSchedule};
use strata_dialects::loops::view::product;
use strata_dialects::loops::view::{KernelView, StageView};
use strata_dialects::target::gpu::{Gpu, THREADS_OF_BLOCK};

/// The schedule, when a kernel ends with a scatter. What a scatter's threads share is said at the scatter. `free` allows sums of
/// floats in any order.
pub fn schedule(kernel: &KernelView<'_>, free: bool, size: &impl Fn(usize) -> i64, gpu: &Gpu) -> Option<KernelSchedule> {
    let scatter = kernel.stages.last().filter(|stage| stage.is_scatter())?;
    let apart: Vec<usize> = scatter.domain.iter().copied().filter(|&dim| is_index(scatter, dim)).collect();
    let points = |dims: &[usize]| product(dims.iter().map(|&dim| size(dim)));
    // Any order is as good, but not the same each time: not where enough threads can keep it.
    let atomic = is_atomic(scatter, free) && points(&apart) < gpu.busy_threads().min(points(&scatter.domain));
    let share = Some(if atomic { scatter.domain.clone() } else { apart });
    StageSchedule { atomic: Some(atomic), share, ..StageSchedule::default() }.set(scatter.op);
    let before = kernel.phases().into_iter().next().filter(|phase| !phase.stages.iter().any(StageView::is_scatter));
    let (vector, width) = before.and_then(|before| wide::neighbours(&before, points(&before.outer), gpu)).unzip();
    Some(KernelSchedule { threads: Some(THREADS_OF_BLOCK), vector, width, ..KernelSchedule::default() })
}

/// Whether what meets at one place may combine in any order, by an instruction.
fn is_atomic(scatter: &StageView<'_>, free: bool) -> bool {
    let element = scatter.op.result(0).ty().element_type();
    let integer = matches!(element, Some(ElementType::I32 | ElementType::I64));
    let float = element.is_some_and(ElementType::is_float);
    match scatter.op.str("kind").as_deref() {
        Some("add") => integer || free && float,
        Some("max" | "min") => integer,
        _ => false,
    }
}

/// Whether points that differ along a dim write to different places: it is one of the indices.
fn is_index(scatter: &StageView<'_>, dim: usize) -> bool {
    let yields = scatter.op.body(0).terminator().map(|op| op.operands()).unwrap_or_default();
    let indices = yields.split_last().map_or(&[][..], |(_, indices)| indices);
    indices.iter().any(|&index| loops::view::is_index(index, dim))
}
