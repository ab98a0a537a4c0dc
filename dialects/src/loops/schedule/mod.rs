//! Schedules: what a kernel's code does beyond what the kernel computes, as data.
//!
//! A schedule is an attribute of a kernel or of a stage, a dictionary of entries from a closed set. Anybody may write one: cost models, the
//! search and a person write the same entries, and whoever makes code reads them here. The types below are the whole set; each entry has
//! its meaning, what it may hold, and its printed name. What a schedule says wrongly is an error at the kernel that names the entry.

mod kinds;
mod legal;
mod nest;

use crate::entry::{Count, Described, Entry, Flag, MAX_COUNT, entries};
use kinds::{DimIndex, Dims, Extents, Index, Lanes, Numbers, Offset, Online};
use strata_core::ir::{Attr, Cx, Op};
use strata_core::rewrite::Rewriter;

pub use legal::makes_once;
pub(super) use legal::refuse;
pub use nest::{LoopKind, NestLoop, nest};

/// The attribute that a schedule is.
pub const SCHEDULE: &str = "schedule";

entries! {
    /// The schedule of a kernel.
    pub struct KernelSchedule of "schedule" {
        /// The reduced dim along which operands of a tile come to shared memory, `step` elements at a time (GPU).
        along: DimIndex,
        /// Cache blocking: elements of each outer loop in a block; 0 for a loop that is not cut.
        block: Extents,
        /// Threads that run the same points of the outer loops together (GPU).
        cooperate: Count,
        /// Loop fission: each stage has the last outer loop for itself, inside of its own loops.
        fission: Flag,
        /// Whether matrix units multiply.
        matrix_units: Flag,
        /// Softmax and what it weighs in one pass over the keys: the online algorithm of flash attention.
        online: Online,
        /// Loop interchange: the outer loops, outermost first. A dim that is left out runs inside of the stages.
        order: Dims,
        /// Index-set splitting: dims whose loops are cut at the borders of guarded accesses and ragged vectors; the pieces test nothing.
        peel: Dims,
        /// The tiled dim along which what follows the last reduction stays a loop, where copies of it would be too long.
        roll: DimIndex,
        /// Elements along `along` that come to shared memory at a time (GPU).
        step: Count,
        /// Threads of a block (GPU).
        threads: Count,
        /// Tiling: elements of each outer loop in a tile. Threads share the tiles.
        tile: Extents,
        /// Transpose in shared memory: the dim along which memory is read, where it is written along another (GPU).
        transpose: DimIndex,
        /// Register tiling: copies of the body along each outer loop.
        unroll: Numbers,
        /// The outer dim that lanes run along, or that a thread takes neighbours of (GPU).
        vector: DimIndex,
        /// Warps of a block along each outer loop (GPU).
        warps: Numbers,
        /// Lanes of a vector, or neighbours of a thread (GPU).
        width: Lanes,
    }
}

entries! {
    /// How keys pass rows where softmax runs online.
    pub struct OnlineSchedule of "schedule" {
        /// Keys between two looks at the largest score.
        block: Count,
        /// Vectors of a row of a register tile of means.
        columns: Count,
        /// Keys of a register tile of scores.
        keys: Count,
        /// Rows of a register tile of means.
        lines: Count,
        /// How far past its own place a row looks: keys beyond have no weight, and are not read.
        reach: Offset,
        /// The outer dim whose rows are taken together.
        row: DimIndex,
        /// Rows that are taken together.
        rows: Count,
        /// Lanes of a vector of rows.
        width: Lanes,
    }
}

entries! {
    /// The schedule of a stage.
    pub struct StageSchedule of "schedule" {
        /// Whether elements that meet combine by atomic instructions (GPU).
        atomic: Flag,
        /// Loop distribution: op numbers of the body at which it is cut into loops of their own.
        distribute: Extents,
        /// Non-temporal stores: results go past the caches.
        non_temporal: Flag,
        /// An outer reduction: lanes run along a dim of the result in memory, so many steps of the reduced dim at a time.
        outer_reduction: Count,
        /// Whether what follows is prefetched while a long sum runs.
        prefetch: Flag,
        /// The dim along which `prefetch_operand` is fetched ahead; the next outer loop where it is left out.
        prefetch_along: DimIndex,
        /// Steps along `prefetch_along` that are fetched ahead.
        prefetch_distance: Count,
        /// Steps of the reduced dim by which what is loaded at computed places is fetched ahead.
        prefetch_loads: Count,
        /// The operand that is fetched ahead of its use.
        prefetch_operand: Index,
        /// Rows of accumulators side by side.
        rows: Count,
        /// Dims of a scatter whose points threads share (GPU).
        share: Dims,
        /// Whether non-temporal stores to places of any alignment are made in pieces of 16 bytes.
        split_stores: Flag,
        /// Strip mining: elements of a strip that goes through all loops of `distribute`.
        strip: Count,
        /// Transpose in registers: the dim along which memory is read, where lanes run along another.
        transpose: DimIndex,
        /// Copies of the body along the stage's own vector dim.
        unroll: Count,
        /// The dim of the stage's own loops that lanes run along, or that a thread takes neighbours of (GPU).
        vector: DimIndex,
        /// Lanes of a vector.
        width: Lanes,
    }
}

/// Implements what schedules of kernels and of stages share: they stand at an op.
macro_rules! at_op {
    ($($name:ident),*) => {$(
        impl $name {
            /// The schedule of an op; all entries are left out where it has none.
            pub fn of(op: Op<'_>) -> Self {
                op.attr(SCHEDULE).map(Self::read).unwrap_or_default()
            }

            /// Gives the op this schedule in the place of its own; none where no entry is given.
            pub fn set(&self, op: Op<'_>) {
                let mut rewriter = Rewriter::before(op);
                if *self == Self::default() {
                    rewriter.remove_attr(op, SCHEDULE);
                } else {
                    rewriter.set_attr(op, SCHEDULE, self.attr(op.cx()));
                }
            }

            /// Changes the schedule of an op.
            pub fn change(op: Op<'_>, change: impl FnOnce(&mut Self)) {
                let mut schedule = Self::of(op);
                change(&mut schedule);
                schedule.set(op);
            }
        }
    )*};
}

at_op!(KernelSchedule, StageSchedule);

/// What is wrong with the schedule of a kernel with so many dims.
pub(super) fn refuse_kernel(attr: Attr<'_>, dims: usize) -> Option<String> {
    KernelSchedule::refuse(attr, dims).or_else(|| {
        let schedule = KernelSchedule::read(attr);
        let online = schedule.online.unwrap_or_default();
        let body = schedule.unroll.unwrap_or_default().into_iter().chain(schedule.width);
        refuse_copies(body).or_else(|| refuse_copies([online.columns, online.keys, online.lines].into_iter().flatten()))
    })
}

/// What is wrong with the schedule of a stage of such a kernel.
pub(super) fn refuse_stage(attr: Attr<'_>, dims: usize) -> Option<String> {
    StageSchedule::refuse(attr, dims).or_else(|| {
        let schedule = StageSchedule::read(attr);
        refuse_copies([schedule.rows, schedule.outer_reduction, schedule.unroll, schedule.width].into_iter().flatten())
    })
}

/// Numbers that multiply: how often a body is written out in all.
fn refuse_copies(numbers: impl Iterator<Item = i64>) -> Option<String> {
    let copies = numbers.fold(1, i64::saturating_mul);
    (copies > MAX_COUNT).then(|| format!("the schedule asks for {copies} copies of the body, and at most {MAX_COUNT} are written out"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_sorted() {
        for known in [KernelSchedule::ENTRIES, OnlineSchedule::ENTRIES, StageSchedule::ENTRIES] {
            assert!(known.is_sorted_by_key(|entry| entry.name));
        }
    }
}
