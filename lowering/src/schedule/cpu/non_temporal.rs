//! Results that no cache will hold are stored past the caches: memory is then written without being read first.
//!
//! Where such stores wait in the buffers that loads wait in (Intel's line fill buffers; AMD has others for them), kernels that fetch rows
//! ahead store through the caches: on a Cascade Lake a softmax of 4096x1024 takes 1.5 ms so, and 1.9 past them; a GELU, which
//! fetches nothing ahead, 2.2 and 2.0.
//!
//! What is aligned to 16 bytes only, as some callers' memory is, is stored in pieces of 16 bytes: at the edges of rows, and throughout
//! where there are no rows (`split_stores`), if the computation leaves the time: on a Zen 3 `x + 1` of 64 MiB takes 3.3 ms so, and 4.5 through
//! the caches; a GELU, which computes longer than memory takes either way, 11.6 and 10.8.

use super::contraction::is_contraction;
use crate::emit::non_temporal::LINE;
use crate::schedule::cost;
use strata_core::ir::Type;
use strata_dialects::loops::schedule::StageSchedule;
use strata_dialects::loops::view::KernelView;
use strata_dialects::target::Target;

/// From which size on results are stored past the caches, in bytes.
struct Limits {
    /// A result that will not be found in a cache when it is next read.
    beyond: i64,
    /// A result of a kernel that waits for memory, where it touches as much as `swept` in all: a cache keeps too little of that to be worth
    /// fetching each line that is written.
    large: i64,
    /// All that such a kernel touches, where it reads more than it writes: what it reads stays in the cache then.
    swept: u64,
    /// All that such a kernel touches elsewhere.
    written: u64,
    /// A result that tiles write, a line each in many places: reading each line first would wait for memory every time.
    scattered: i64,
}

impl Limits {
    /// Parts of the last-level cache, or of a core's own. On a Zen 3 with 32 MiB a softmax of 3584x1024 (28 MiB) takes 0.9 ms past the caches
    /// and 1.2 through them, a layernorm 0.35 and 0.6; a GELU is 5% slower past them. On a Zen 4 with 32 MiB a product of two tensors of 8 MiB
    /// takes as long either way, of 10 MiB 200 us past the caches and 254 through them; `2 x` of 14 MiB 268 and 233, of 20 MiB 379 and 398; 16
    /// MiB that are written alone 302 and 120, 32 MiB 602 and 451, 40 MiB 750 either way.
    fn of(target: &Target) -> Self {
        let last = target.l3.bytes;
        let (swept, written) = ((last - last / 8) as u64, last as u64);
        Self { beyond: last / 2, large: last / 4, swept, written, scattered: 2 * target.l2.bytes }
    }

    /// The least result of a stage that is stored past the caches, where its kernel waits for memory and touches so many bytes in all.
    fn of_light(&self, touched: u64, result: i64) -> i64 {
        let reads_more = touched >= READS_MORE * result as u64;
        if touched >= if reads_more { self.swept } else { self.written } { self.large } else { i64::MAX }
    }
}

/// Bytes that a kernel touches for each byte of a result, at least, where it reads more than it writes.
const READS_MORE: u64 = 3;

/// Cycles in which memory fetches the line that a vector is written to: 64 bytes at a core's 16 GB/s and 4 GHz.
const CYCLES_OF_A_LINE: f64 = 16.0;

/// Rows of so many lines are long: the two at their ends, which other rows have parts of, do not count.
const LONG_ROW: i64 = 64 * LINE;

/// Whether rows of a tensor are whole cache lines, or long. A line that two rows share is written in parts, each of which memory takes by
/// itself: on a Zen 4 19 MB in rows of 80 bytes take 76 ms past the caches, and 0.5 through them.
fn ends_with_lines(ty: Type<'_>) -> bool {
    let shape = ty.shape();
    let Some((&row, rest)) = shape.split_last() else { return true };
    let bytes = row.saturating_mul(ty.element_type().map_or(1, |element| element.bytes() as i64));
    rest.is_empty() || bytes % LINE == 0 || bytes >= LONG_ROW
}

/// Adds `non_temporal` to the schedules of the stages that write large results.
pub fn schedule(kernel: &KernelView<'_>, target: &Target) {
    if target.shared_fill_buffers && kernel.stages.iter().any(|stage| stage.schedule().prefetch_operand.is_some()) {
        return;
    }
    let limits = Limits::of(target);
    let own = kernel.schedule();
    let scattered = kernel.stages.iter().any(|stage| !stage.spread.is_empty());
    let beyond = if scattered { limits.scattered } else { limits.beyond };
    for stage in kernel.stages.iter().filter(|stage| !stage.is_scatter()) {
        let ty = stage.op.result(0).ty();
        let bytes = ty.num_elements().zip(ty.element_type()).map(|(count, element)| count * element.bytes() as i64);
        let buffer = !stage.is_register() && !stage.is_tile();
        let register = own.width.zip(ty.element_type()).map_or(LINE, |(width, element)| width * element.bytes() as i64);
        let schedule = stage.schedule();
        let in_rows = schedule.vector.is_some() || own.vector.is_none();
        // Halves of lines in many places are more than the buffers in which they wait for each other: on a Zen 4 without registers of 64
        // bytes products of 36x512x16x512, whose register blocks store a line of each of six rows, take 6.5 ms so, and 3.1 through the caches.
        let places = schedule.transpose.is_some() || scattered || !in_rows && is_contraction(kernel);
        let half_lines = places && register < LINE;
        // So are registers that begin within a line, behind a border: on a Zen 4 a transposed 2048x2901 with eight zeros around it takes 6.9 ms so,
        // and 2.3 through the caches.
        let across_lines = schedule.transpose.is_some() && stage.guarded.contains(&true);
        if !buffer || half_lines || across_lines || !ends_with_lines(ty) || schedule.outer_reduction.is_some() {
            continue;
        }
        let light = cost::body_cycles(kernel, stage, &target.cycles) < CYCLES_OF_A_LINE;
        let touched = kernel.bytes().filter(|_| light && !scattered && !is_contraction(kernel));
        if bytes.is_some_and(|bytes| bytes >= touched.map_or(beyond, |touched| limits.of_light(touched, bytes))) {
            let split_stores = (!in_rows && light).then_some(true);
            StageSchedule { non_temporal: Some(true), split_stores, ..schedule }.set(stage.op);
        }
    }
}
