//! Kernels that reduce what they read once.

use super::frame::{Frame, UNKNOWN_SIZE};
use super::pointwise::{WIDEST_STRIP, strip};
use crate::schedule::cost::THREADS;
use crate::schedule::cost::lanes::COPIES_FOR_LATENCY;
use crate::schedule::cost::lanes::{is_gather, side_by_side};
use strata_core::ir::{Op, Value};
use strata_dialects::loops::access::{Stride, prefetched_loads, stride};
use strata_dialects::loops::schedule::{KernelSchedule, StageSchedule};
use strata_dialects::loops::view::StageView;
use strata_dialects::loops::view::product;

/// Elements of a tile at most, which stands on the stack: 16 KiB of f32, half of a first-level cache.
const TILE_ELEMENTS: i64 = 4096;

/// Steps by which rows that memory names are fetched ahead. Sums of 50 rows of 64 floats out of a million take two threads of a Zen 4 137 us
/// without, 108 with 4, 85 with 8, 79 with 16 and 81 with 32; of 30 rows of 128 floats out of 100,000 192, 166, 180, 154 and 170.
const STEPS_AHEAD: i64 = 16;

/// Writes the schedule of a kernel with reductions.
pub fn schedule(frame: &Frame<'_, '_>) {
    match frame.vector {
        Some(vector) => {
            fetch_rows_ahead(frame, vector);
            // (What only stores the results waits for nothing.)
            let reductions = || frame.kernel.stages.iter().filter(|stage| !stage.reduce.is_empty());
            if reductions().any(|stage| stage.segments) {
                // A segment is short, and begins wherever it likes: as much of its rows is read at once as of those of a scatter.
                let strip = strip(frame.size(vector) / frame.width_along(vector), 1);
                return frame.write_outer(vector, |dim| if dim == vector { strip } else { 1 });
            }
            let wanted = reductions().map(side_by_side).min().unwrap_or(1);
            let enough = frame.size(vector) >= TURNS_TO_SHARE * wanted * frame.width_along(vector);
            frame.write_outer(vector, |dim| match () {
                () if dim != vector => 1,
                () if enough => wanted,
                () => vectors(frame, vector),
            });
        }
        None => {
            let tile = tile_dim(frame);
            frame.write_own(tile);
            let rows = if tile.is_none() { rows(frame) } else { 1 };
            if rows > 1 {
                KernelSchedule::change(frame.kernel.op, |schedule| {
                    let order = schedule.order.clone().unwrap_or_default();
                    let last = outer(frame);
                    schedule.unroll = Some(order.into_iter().map(|dim| if Some(dim) == last { rows } else { 1 }).collect());
                });
            }
            read_ahead(frame, rows);
        }
    }
}

/// The innermost loop around the rows.
fn outer(frame: &Frame<'_, '_>) -> Option<usize> {
    frame.kernel.outer.iter().copied().rfind(|dim| frame.kernel.static_size(*dim) != Some(1))
}

/// Vectors of a row at most beside which what it waits for counts.
const SHORT_ROW: i64 = 16;

/// Rows that stand side by side, where each of them is reduced with lanes of its own: what a short row waits for (its largest element, its sum, the
/// logarithm of that) others do not. `log_softmax` of 6,511 rows of 43 takes two threads of an Emerald Rapids 253 us row by row and 180 with four of
/// them, `softmax` 192 and 141, `log_softmax` of 1,120 rows of 250 104 and 91; of 512 and 1024 elements `softmax` takes as long.
fn rows(frame: &Frame<'_, '_>) -> i64 {
    let kernel = frame.kernel;
    let Some(outer) = outer(frame).filter(|&dim| frame.size(dim) >= TURNS_TO_SHARE * COPIES_FOR_LATENCY) else { return 1 };
    let plain = |stage: &StageView<'_>| {
        let arg = stage.op.str("reducer").is_some_and(|name| name.starts_with("arg"));
        let moves = stage.scan.is_none() && !stage.is_scatter() && !stage.segments && !stage.is_in_parts();
        moves && !arg && stage.domain.contains(&outer)
    };
    let ops: usize = kernel.stages.iter().map(|stage| stage.op.body(0).ops().len()).sum();
    let reduced = kernel.stages.iter().flat_map(|stage| &stage.reduce).map(|&dim| frame.size(dim)).max().unwrap_or(1);
    let short = reduced <= SHORT_ROW * frame.width;
    if short && ops <= MOST_OPS && kernel.stages.iter().all(plain) { COPIES_FOR_LATENCY } else { 1 }
}

/// Rows that are combined, and that memory names, come from wherever they are: the next ones are asked for, where no cache of a core holds them.
/// Longer rows than a strip come piece by piece, which CPUs follow themselves: 908 rows of 908 floats take a Zen 4 47 us, and 54 if asked for.
fn fetch_rows_ahead(frame: &Frame<'_, '_>, vector: usize) {
    if frame.size(vector) > WIDEST_STRIP * frame.width_along(vector) {
        return;
    }
    for stage in &frame.kernel.stages {
        let far = |load: &Op<'_>| {
            let ty = load.operand(0).ty();
            let bytes = ty.num_elements().zip(ty.element_type()).map(|(count, element)| count.saturating_mul(element.bytes() as i64));
            bytes.is_none_or(|bytes| bytes > frame.target.l2.bytes)
        };
        let row = |load: &Op<'_>| !is_gather(stage, *load, vector);
        let rows = prefetched_loads(stage).iter().any(|load| row(load) && far(load));
        if rows && !stage.is_tile() {
            StageSchedule { prefetch_loads: Some(STEPS_AHEAD), ..StageSchedule::default() }.set(stage.op);
        }
    }
}

/// Largest number of ops in the bodies of which several copies stand side by side.
const MOST_OPS: usize = 32;

/// Blocks of vectors beside which the rest, which goes vector by vector, does not count.
const BLOCKS_TO_A_REST: i64 = 4;

/// Vectors that stand side by side where lanes run along a dim of the results: they share what says where to read, and hide each
/// other's latency.
fn vectors(frame: &Frame<'_, '_>, vector: usize) -> i64 {
    let ops: usize = frame.kernel.stages.iter().map(|stage| stage.op.body(0).ops().len()).sum();
    let block = COPIES_FOR_LATENCY * frame.width;
    let fits = frame.kernel.static_size(vector).is_some_and(|size| size % block == 0 || size >= BLOCKS_TO_A_REST * block);
    if fits && ops <= MOST_OPS { COPIES_FOR_LATENCY } else { 1 }
}

/// Turns of a loop that threads can share: one each.
const TURNS_TO_SHARE: i64 = THREADS;

/// A row that is read more than once comes from memory in its first reading only; meanwhile memory would rest: with the second
/// reading the next row is asked for, or that of as many rows further as stand side by side.
fn read_ahead(frame: &Frame<'_, '_>, beside: i64) {
    let kernel = frame.kernel;
    // (Along a dim of size 1 there is no next row, and memory that is not there takes long to ask for.)
    let Some(outer) = outer(frame) else { return };
    let mut seen = Vec::new();
    let mut asked = Vec::new();
    for stage in &kernel.stages {
        let rows: Vec<_> = (0..stage.op.num_operands()).filter_map(|operand| Some((operand, row(frame, outer, stage, operand)?))).collect();
        let again = rows.iter().find(|(_, tensor)| seen.contains(tensor) && !asked.contains(tensor));
        if let Some(&(operand, tensor)) = again {
            asked.push(tensor);
            StageSchedule::change(stage.op, |schedule| {
                (schedule.prefetch_operand, schedule.prefetch_along) = (Some(operand), Some(outer));
                schedule.prefetch_distance = (beside > 1).then_some(beside);
            });
        }
        seen.extend(rows.into_iter().map(|(_, tensor)| tensor));
    }
}

/// The tensor of an operand that is read row by row from afar.
fn row<'c>(frame: &Frame<'_, 'c>, outer: usize, stage: &StageView<'c>, operand: usize) -> Option<Value<'c>> {
    let (kernel, l2) = (frame.kernel, frame.target.l2.bytes);
    let lanes = stage.schedule().vector?;
    let (tensor, map) = (stage.op.operand(operand), stage.maps[operand]);
    let element = tensor.ty().element_type()?.bytes() as i64;
    let far = tensor.defining_op().is_none() && tensor.ty().num_elements()?.saturating_mul(element) >= l2;
    let rows = stride(map, tensor, lanes) == Stride::One && map.results().iter().any(|expr| expr.uses_dim(outer));
    (far && rows && kernel.static_size(lanes)?.saturating_mul(element) <= frame.target.row_bytes() && !stage.guarded[operand])
        .then_some(tensor)
}

/// The outer dim that moves inside, when a reduction of several operands runs its lanes along what it reduces.
pub fn tile_dim(frame: &Frame<'_, '_>) -> Option<usize> {
    let kernel = frame.kernel;
    if frame.width <= 1 {
        return None;
    }
    let (reductions, maps): (Vec<_>, Vec<_>) = kernel.stages.iter().zip(&frame.own).partition(|(stage, _)| !stage.reduce.is_empty());
    let [(reduction, Some(_))] = reductions.as_slice() else { return None };
    let last = *reduction.parallel().last()?;
    let size = kernel.static_size(last)?;
    let rows = product(kernel.outer.iter().filter(|dim| **dim != last).map(|&dim| kernel.static_size(dim).unwrap_or(UNKNOWN_SIZE)));
    // A single reduction over rows is better off with several accumulators, and with its rows split over threads.
    let whole = !reduction.is_in_parts() && reduction.is_register();
    let worth = whole && reduction.maps.len() > 1 && (rows >= 4 || size <= 256);
    let fits = (2..=TILE_ELEMENTS).contains(&size) && worth;
    let arg = reduction.op.str("reducer").is_some_and(|name| name.starts_with("arg"));
    let holds = |stage: &StageView<'_>| !stage.is_register() || stage.op.num_results() == 1;
    let follow = maps
        .iter()
        .all(|(stage, _)| stage.scan.is_none() && !stage.is_scatter() && stage.parallel() == reduction.parallel() && holds(stage));
    (fits && follow && !arg && kernel.outer.last() == Some(&last)).then_some(last)
}
