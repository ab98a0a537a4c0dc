//! `--schedule-gpu`: a first cost model that writes schedules for a GPU.
//!
//! - Kernels whose stages all run over the outer loops alone: each thread has a point (`threads` of a block), or `width` neighbours along
//!   the dim `vector`, which it loads and stores 16 bytes at a time.
//! - Kernels with loops inside that threads can take turns in (rows that are reduced, then mapped): `threads` of a block share a
//!   point of the outer loops, and take `unroll` neighbours along `vector` in a stage whose rows allow it.
//!   Columns that are enough are a thread's each.
//! - Pieces of a reduction with their combination: a cooperative block at each piece, one of which combines them (so that the pass changes
//!   the size of blocks only).
//! - Maps that read across rows (transposes): a block has a `tile` of the result, and brings its operand through shared memory, whose rows
//!   lie along the dim `transpose`.
//! - Contractions: a block has a `tile` of the outer loops, a thread `unroll` points of it along each; the operands come through shared
//!   memory in steps (`step`) of the reduced dim `along`.
//! - Means weighed by a softmax (attention): a block has a tile of `rows`, past which keys `stream` in blocks; a thread has `lines` by `keys`
//!   scores and `lines` by `columns` means. Those of halves are matrix `units`' work, unless `numerics` is strict.
//! - Contractions of f16 or bf16, unless `numerics` is strict: `warps` along each outer dim share the tile, and matrix units make the products
//!   (exact, but added up in an order of their own). Those of f32 only where `numerics` is fast: the units see ten bits of a fraction.
//! - Writes at computed indices: threads `share` the dims that are indices themselves, or all where elements may combine in any order
//!   (`atomic`: integers, and sums of floats unless `numerics` is strict).
//!
//! How many threads and blocks keep the device busy follows from its description (`target.gpu`).
//!
//! A schedule changes speed, and the order of sums where numerics allow that: without this pass each thread runs all stages at a point of its own.
//!
//! ```mlir
//! loop.kernel {sym_name = "k", ...} ...
//! // becomes
//! loop.kernel {sym_name = "k", schedule = {cooperate = 128, threads = 128}, ...} ...
//! ```

mod attention;
mod contraction;
mod scatter;
mod transpose;
mod wide;

use strata_core::ir::Op;
use strata_core::pass::{Pass, PassContext, PassError};
use strata_dialects::loops;
use strata_dialects::loops::access::{Stride, stride};
use strata_dialects::loops::schedule::{KernelSchedule, SCHEDULE};
use strata_dialects::loops::view::product;
use strata_dialects::loops::view::{KernelView, StageView};
use strata_dialects::numerics::Numerics;
use strata_dialects::target::Gpu;
use strata_dialects::target::gpu::{THREADS_OF_BLOCK, WARP};

/// Writes a schedule for a GPU on every kernel.
#[derive(Pass)]
#[pass(dependents("loop"))]
pub struct ScheduleGpu {
    /// strict, ulp or fast.
    #[option(default = "ulp")]
    numerics: String,
}

impl Pass for ScheduleGpu {
    fn run<'c>(&self, op: Op<'c>, _: &mut PassContext<'c>) -> Result<(), PassError> {
        let (numerics, gpu) = (Numerics::of(&self.numerics)?, Gpu::of(op)?);
        op.find_all(loops::Kernel::NAME).into_iter().for_each(|kernel| schedule(kernel, numerics, &gpu));
        Ok(())
    }
}

/// A size that is not known while compiling is taken for this one.
const UNKNOWN_SIZE: i64 = 1024;
/// Dims shorter than this, half a warp, are not worth a tile.
const SHORTEST_DIM: i64 = WARP / 2;

/// Writes the schedule of one kernel, if it has none.
fn schedule(op: Op<'_>, numerics: Numerics, gpu: &Gpu) {
    // Sums need not keep an order.
    let free = numerics > Numerics::Strict;
    let Some(kernel) = KernelView::new(op).filter(|_| op.attr(SCHEDULE).is_none()) else { return };
    let size = |dim: usize| kernel.static_size(dim).unwrap_or(UNKNOWN_SIZE);
    let of_its_kind = attention::schedule(&kernel, numerics, gpu)
        .or_else(|| contraction::schedule(&kernel, &size, numerics, gpu))
        .or_else(|| transpose::schedule(&kernel, &size))
        .or_else(|| scatter::schedule(&kernel, free, &size, gpu));
    if let Some(schedule) = of_its_kind {
        return schedule.set(op);
    }
    if kernel.meeting().is_some() {
        let own = kernel.phases().iter().map(|phase| turns_of_threads(phase, &size)).max().unwrap_or(1);
        return cooperative(own).set(op);
    }
    let points = product(kernel.outer.iter().map(|&dim| size(dim)));
    let own = most_turns(&kernel, &size);
    let shared =
        kernel.stages.iter().all(|stage| can_share(&kernel, stage, free, &size)) && own > 1 && (points < gpu.busy_threads() || own >= WARP);
    let columns = points >= gpu.spread_threads() && kernel.stages.iter().any(|stage| reads_across(&kernel, stage));
    let schedule = if shared && !columns {
        cooperative(turns_of_threads(&kernel, &size))
    } else {
        let neighbours = wide::neighbours(&kernel, points, gpu);
        let points = points / neighbours.map_or(1, |(_, width)| width);
        // A kernel of one point is one thread's.
        let threads = (points.max(1) as u64).next_power_of_two().clamp(WARP as u64, THREADS_OF_BLOCK as u64) as i64;
        let (vector, width) = neighbours.unzip();
        KernelSchedule { threads: Some(threads), vector, width, ..KernelSchedule::default() }
    };
    schedule.set(op);
}

/// A cooperative block, whose threads take so many turns.
fn cooperative(turns: i64) -> KernelSchedule {
    let threads = (turns.max(1) as u64).next_power_of_two().clamp(WARP as u64, THREADS_OF_BLOCK as u64) as i64;
    KernelSchedule { cooperate: Some(threads), threads: Some(threads), ..KernelSchedule::default() }
}

/// The turns that there are for a cooperative block, whose threads take neighbours where they can; says so in the stages.
fn turns_of_threads(kernel: &KernelView<'_>, size: &impl Fn(usize) -> i64) -> i64 {
    most_turns(kernel, size) / wide::turns(kernel, size)
}

/// The turns of the longest of all stages.
fn most_turns(kernel: &KernelView<'_>, size: &impl Fn(usize) -> i64) -> i64 {
    kernel.stages.iter().map(|stage| turns(kernel, stage, size)).max().unwrap_or(1)
}

/// Whether threads may share a stage's own loops: what one finds the others need in no order, or, in a scan, in one that may be put together
/// from parts (if it is long: a stretch of it takes many steps).
fn can_share(kernel: &KernelView<'_>, stage: &StageView<'_>, free: bool, size: &impl Fn(usize) -> i64) -> bool {
    let parts = || {
        let element = stage.op.result(0).ty().element_type();
        let exact = matches!(stage.op.str("reducer").as_deref(), Some("max" | "min" | "maxnum" | "and" | "or" | "xor"));
        free || exact || element.is_some_and(|element| !element.is_float() && !element.is_complex())
    };
    (stage.scan.is_none() || parts() && turns(kernel, stage, size) >= WARP) && !stage.is_scatter() && !stage.is_tile()
}

/// Whether threads that take turns would read across rows, and threads with a point each along them: sums of columns.
fn reads_across(kernel: &KernelView<'_>, stage: &StageView<'_>) -> bool {
    let (Some(own), Some(&last)) = (kernel.own_dim(stage), kernel.outer.last()) else { return false };
    let strides = |operand: usize| [own, last].map(|dim| stride(stage.maps[operand], stage.op.operand(operand), dim));
    (0..stage.maps.len()).any(|operand| strides(operand) == [Stride::Other, Stride::One])
}

/// How many turns there are to share in the longest of a stage's own loops.
fn turns(kernel: &KernelView<'_>, stage: &StageView<'_>, size: &impl Fn(usize) -> i64) -> i64 {
    stage
        .domain
        .iter()
        .filter(|dim| !kernel.outer.contains(dim))
        .map(|&dim| kernel.length(stage, dim).unwrap_or_else(|| size(dim)))
        .max()
        .unwrap_or(1)
}
