//! Kernels without a reduction.

use super::frame::Frame;
use crate::emit::interleave;
use crate::schedule::cost::THREADS;
use crate::schedule::cost::lanes::{scatters_rows, side_by_side};
use strata_core::ir::{AffineMap, Value};
use strata_dialects::loops::access::{Stride, distance, stride};
use strata_dialects::loops::schedule::{KernelSchedule, StageSchedule};
use strata_dialects::loops::view::{StageView, product};

/// Edges of the tiles in which an operand is read across its rows: runs of memory long enough, and few enough pages at a time; tiles of
/// both sides fit the first-level cache.
const TILE_EDGE: i64 = 64;
/// The same where other loops are shared among threads.
const BLOCK_EDGE: i64 = 128;

/// Writes the schedule of a kernel of maps, scans and scatters.
pub fn schedule(frame: &Frame<'_, '_>) {
    let Some(vector) = frame.vector else {
        frame.write_own(None);
        return write_rows(frame);
    };
    if let Some(along) = transposed(frame, vector).filter(|_| !frame.constrained) {
        return write_turned(frame, vector, along);
    }
    if let Some(along) = interleaved(frame, vector).filter(|_| !frame.constrained) {
        let mut order: Vec<_> = near_last(frame, vector).into_iter().filter(|&dim| dim != along && dim != vector).collect();
        order.extend([vector, along]);
        let unroll: Vec<i64> = order.iter().map(|&dim| if dim == along { frame.size(along) } else { 1 }).collect();
        return frame.write_lanes(&order, vector, &unroll);
    }
    if let Some(again) = read_again(frame, vector).filter(|_| !frame.constrained) {
        let mut order: Vec<_> = frame.order().into_iter().filter(|&dim| dim != again && dim != vector).collect();
        order.extend([vector, again]);
        return frame.write_lanes(&order, vector, &vec![1; order.len()]);
    }
    let in_order = frame.kernel.stages.last().filter(|stage| stage.is_scatter() || stage.scan.is_some());
    let wanted =
        in_order.map(|stage| columns(frame, stage, vector)).or_else(|| frame.kernel.stages.iter().map(side_by_side).min()).unwrap_or(1);
    let enough = frame.size(vector) >= wanted * frame.width_along(vector);
    let order = near_last(frame, vector);
    let copies = |dim: usize, copies: i64| if dim == vector && enough { copies } else { 1 };
    let joined = in_order.map_or_else(|| joined(frame, vector), |_| 1);
    let unroll: Vec<i64> = order.iter().map(|&dim| copies(dim, (wanted / joined).max(1))).collect();
    let width = frame.width_along(vector) * joined;
    let fission = (enough && goes_down_columns(frame, vector)).then_some(true);
    let tile: Option<Vec<i64>> = between_orders(frame, vector, None).map(|tile| order.iter().map(|&dim| tile(dim)).collect());
    let peel = tile.as_ref().and_then(|_| frame.ragged(vector, width));
    let lanes = KernelSchedule { vector: Some(vector), width: Some(width), ..KernelSchedule::default() };
    frame.write(&order, KernelSchedule { fission, tile, peel, unroll: Some(unroll), ..lanes });
}

/// Vectors of a row that stand side by side in what runs in order. A scan down columns keeps the sums of whole rows where half of the registers hold
/// them, so that memory is read from end to end, and rows of other blocks are enough for the threads: 20 MB in rows of 1,080 bytes take a Zen 4
/// 0.5 to 0.9 ms so, and 0.8 to 2.0 in strips of 256 bytes.
fn columns(frame: &Frame<'_, '_>, stage: &StageView<'_>, vector: usize) -> i64 {
    let (least, row) = (side_by_side(stage), frame.size(vector) / frame.width_along(vector));
    let blocks = product(frame.kernel.outer.iter().filter(|dim| **dim != vector).map(|&dim| frame.size(dim)));
    let whole = stage.scan.is_some() && row <= frame.target.vector_registers / 2 && blocks >= 2 * THREADS;
    match whole {
        true => row.max(least),
        false if goes_down_columns(frame, vector) => strip(row, STRIPS_TO_SHARE).max(least),
        false => least,
    }
}

/// Vectors of a strip at most: half of 32 registers.
pub(super) const WIDEST_STRIP: i64 = 16;

/// Strips of columns whose scatters use what memory gives.
const STRIPS_TO_SHARE: i64 = 4;

/// Vectors of a row in a strip of columns that a scatter goes down: as many of each row are read and written one behind the other. Rows are on
/// pages of their own, and no row tells where the next one is: 1,483 rows of 1,483 halves, summed in 343 bags, take a Zen 4 195 us in strips of four
/// vectors, 151 of eight and 122 of sixteen; 2,769 rows of 2,276 floats in 3,200 bags 1.56, 1.10 and 0.79 ms. Strips leave as few vectors
/// over as they can, which go down by themselves. There are so many in a row at least, for as many threads.
pub(super) fn strip(row: i64, strips: i64) -> i64 {
    let most = (row / strips).clamp(1, WIDEST_STRIP);
    (most / 2 + 1..=most).rev().min_by_key(|vectors| row % vectors).unwrap_or(1)
}

/// Bytes of memory that are read, or written, one behind the other in a tile of a large copy: 67 MB in panels of 16 take a Zen 4 11.5 ms with
/// runs of 128 bytes, 5.9 with 512, 4.4 with 1,024 and 5.2 with 2,048.
const RUN: i64 = 1024;

/// The tiles of a large copy that goes through the result in one order and through the operand in another: runs of both are in a tile, so that
/// neither jumps with each line. The tile along each dim, the lanes' and `along` being taken whole.
fn between_orders(frame: &Frame<'_, '_>, vector: usize, along: Option<usize>) -> Option<impl Fn(usize) -> i64> {
    let kernel = frame.kernel;
    let [stage] = kernel.stages.as_slice() else { return None };
    let [operand] = stage.op.operands()[..] else { return None };
    let plain = !stage.is_scatter() && stage.scan.is_none() && stage.spread.is_empty() && !stage.guarded.contains(&true);
    if frame.constrained || !plain || kernel.bytes()? <= frame.target.l2.bytes as u64 {
        return None;
    }
    let bytes = operand.ty().element_type()?.bytes() as i64;
    // What stays in a cache may be read in any order.
    if operand.ty().num_elements()?.saturating_mul(bytes) <= frame.target.l2.bytes {
        return None;
    }
    let loops = || kernel.outer.iter().copied().filter(|&dim| dim != vector && Some(dim) != along && frame.size(dim) > 1);
    let written = stage.result_dims().into_iter().rev().find(|dim| loops().any(|loops| loops == *dim))?;
    let step = |dim: usize| distance(stage.maps[0], operand, dim).map(|step| step.abs() * bytes).filter(|step| *step > 0);
    let (read, run) = loops().filter_map(|dim| Some((dim, step(dim)?))).min_by_key(|(_, step)| *step)?;
    let row = bytes * if stage.result_dims().last() == Some(&vector) { frame.size(vector) } else { 1 };
    let tile = |dim: usize| match dim {
        _ if dim == vector || Some(dim) == along => frame.size(dim),
        _ if dim == written => (RUN / row).clamp(1, frame.size(dim)),
        _ if dim == read => (RUN / run).clamp(1, frame.size(dim)),
        _ => 1,
    };
    let tiles: Vec<i64> = (0..kernel.num_dims()).map(tile).collect();
    (read != written && 2 * row <= RUN && step(written).is_some()).then_some(move |dim: usize| tiles[dim])
}

/// Whether the stages of a scatter have loops of their own, which would go down strips of columns, and store rows that lanes run along.
fn goes_down_columns(frame: &Frame<'_, '_>, vector: usize) -> bool {
    let kernel = frame.kernel;
    let of_rows = |stage: &StageView<'_>| stage.runs_in_memory() && (stage.is_scatter() || stage.result_dims().last() == Some(&vector));
    kernel.outer.last() == Some(&vector)
        && kernel.stages.last().is_some_and(|stage| scatters_rows(stage, vector))
        && kernel.stages.iter().any(|stage| stage.domain.len() > kernel.outer.len())
        && kernel.stages.iter().all(of_rows)
}

/// Bits of a register that AVX-512 narrows by one instruction, whatever it holds.
const NARROWED_BITS: i64 = 512;
/// Vectors behind which the one that is masked in the end does not count: a mask is made lane by lane where memory has none for the type.
const VECTORS_TO_A_MASK: i64 = 32;

/// How many registers of lanes make one of results. Results narrower than what they are computed in would leave stores of parts of a
/// register, and two registers are narrowed to one by the same instructions as one to a half.
fn joined(frame: &Frame<'_, '_>, vector: usize) -> i64 {
    let width = frame.width_along(vector);
    let bits = |stage: &StageView<'_>| {
        stage.op.results()[0].ty().element_type().map_or(frame.target.vector_bits, |element| i64::from(element.bits().max(8)))
    };
    let narrowest = frame.kernel.stages.iter().map(bits).min().unwrap_or(frame.target.vector_bits);
    let joined = (frame.target.vector_bits / (narrowest * width)).max(1);
    let whole = frame.kernel.static_size(vector).is_some_and(|size| size % (joined * width) == 0);
    let pays = whole || frame.size(vector) >= VECTORS_TO_A_MASK * joined * width;
    if frame.target.vector_bits < NARROWED_BITS && width > 1 && pays { joined } else { 1 }
}

/// Several rows of a scatter or scan at once where it has no lanes: scatters share what names the place, and scans wait for different elements.
fn write_rows(frame: &Frame<'_, '_>) {
    let Some(last) = frame.kernel.stages.last().filter(|stage| stage.is_scatter() || stage.scan.is_some()) else { return };
    let order = frame.order();
    if let Some(&rows) = order.last().filter(|&&dim| frame.size(dim) >= side_by_side(last)) {
        let unroll = order.iter().map(|&dim| if dim == rows { side_by_side(last) } else { 1 }).collect();
        frame.write(&order, KernelSchedule { unroll: Some(unroll), ..KernelSchedule::default() });
    }
}

/// Rows that a CPU fetches ahead of their use at once, at most.
const STREAMS: usize = 16;

/// The dim along which more operands stay where they are than a CPU fetches ahead: its loop is the innermost one, and they are read once for all
/// of it. Channels of a picture of 11x12x13x14 that is sampled at 10,626 places, each of them by eight indices, weights and bounds, take a
/// Zen 4 1.3 ms so, and 2.1 with the places innermost; with four of each, in two dims, it takes as long either way.
fn read_again(frame: &Frame<'_, '_>, vector: usize) -> Option<usize> {
    let [stage] = frame.kernel.stages.as_slice() else { return None };
    let maps = !stage.is_scatter() && stage.scan.is_none() && stage.reduce.is_empty() && stage.spread.is_empty();
    let stays = |dim: usize| {
        let reads = stage.op.operands().into_iter().zip(&stage.maps);
        let still = |(operand, map): &(Value<'_>, &AffineMap<'_>)| {
            stride(**map, *operand, dim) == Stride::Zero && stride(**map, *operand, vector) != Stride::Zero
        };
        reads.filter(still).count()
    };
    let other = |dim: &usize| maps && *dim != vector && frame.size(*dim) > 1 && stays(*dim) > STREAMS;
    frame.order().into_iter().filter(other).max_by_key(|&dim| stays(dim))
}

/// The order of the outer loops. Lanes that read across the rows of operands use one element of each line that they touch: the loops along
/// which these operands move least come last, so that the other elements are read while the lines are in the cache.
fn near_last(frame: &Frame<'_, '_>, vector: usize) -> Vec<usize> {
    let mut order = frame.order();
    let [stage] = frame.kernel.stages.as_slice() else { return order };
    if stage.is_scatter() || stage.scan.is_some() {
        return order;
    }
    let across: Vec<_> = stage
        .op
        .operands()
        .into_iter()
        .zip(&stage.maps)
        .filter(|(operand, map)| stride(**map, *operand, vector) == Stride::Other)
        .collect();
    let reach = |dim: usize| across.iter().map(|(operand, map)| distance(**map, *operand, dim).map(i64::abs)).sum::<Option<i64>>();
    if !across.is_empty() && order.iter().all(|&dim| reach(dim).is_some()) {
        order.sort_by_key(|&dim| (dim == vector, std::cmp::Reverse(reach(dim))));
    }
    order
}

/// The outer dim that some operand is contiguous along while lanes run across its rows. A short one is taken whole.
fn transposed(frame: &Frame<'_, '_>, vector: usize) -> Option<usize> {
    let [stage] = frame.kernel.stages.as_slice() else { return None };
    if stage.is_scatter() || stage.scan.is_some() || !frame.fills_register(vector) {
        return None;
    }
    let accesses = || stage.op.operands().into_iter().zip(&stage.maps);
    let across = |dim: usize| {
        dim != vector
            && frame.size(dim) > 1
            && accesses().any(|(operand, map)| next_to(*map, operand, dim) && stride(*map, operand, vector) == Stride::Other)
    };
    frame.kernel.outer.iter().copied().find(|&dim| across(dim))
}

/// Whether an access moves to the next element along a dim, or to the one before.
fn next_to<'c>(map: AffineMap<'c>, operand: Value<'c>, dim: usize) -> bool {
    stride(map, operand, dim) == Stride::One || distance(map, operand, dim) == Some(-1)
}

/// The last dim of the results, where it is so short that lanes along the dim before it store whole rows.
fn interleaved(frame: &Frame<'_, '_>, vector: usize) -> Option<usize> {
    let [stage] = frame.kernel.stages.as_slice() else { return None };
    let dims = stage.result_dims();
    let (&along, before) = dims.split_last()?;
    let short = (2..=interleave::MOST).contains(&frame.kernel.static_size(along)?) && frame.width_along(vector) > 1;
    let elements = stage.op.results().into_iter().map(|result| result.ty().element_type());
    let plain = !stage.is_scatter() && stage.scan.is_none() && stage.spread.is_empty() && stage.reduce.is_empty();
    let lanes = elements.into_iter().all(|element| element.and_then(interleave::moved_as).is_some());
    (short && plain && lanes && before.last() == Some(&vector)).then_some(along)
}

/// As many copies along the operand's own dim as there are lanes, in tiles of both dims, which threads share. What is guarded keeps plain
/// loops, whose borders are treated apart, and small matrices are not worth a tile: threads share the loops around those.
fn write_turned(frame: &Frame<'_, '_>, vector: usize, along: usize) {
    let stage = &frame.kernel.stages[0];
    let inside = |dim: usize| dim == along || dim == vector;
    let mut order: Vec<_> = near_last(frame, vector).into_iter().filter(|&dim| !inside(dim)).collect();
    order.sort_by_key(|&dim| frame.kernel.static_size(dim) == Some(1));
    order.extend([along, vector]);
    let list = |of: &dyn Fn(usize) -> i64| Some(order.iter().map(|&dim| of(dim)).collect());
    let unroll = list(&|dim| if dim == along { frame.width.min(frame.size(along)) } else { 1 });
    let lanes = KernelSchedule { vector: Some(vector), width: Some(frame.width), unroll, ..KernelSchedule::default() };
    let small = frame.size(along).min(TILE_EDGE) * frame.size(vector).min(TILE_EDGE) < TILE_EDGE * TILE_EDGE / 4;
    let shape = if let Some(tile) = between_orders(frame, vector, Some(along)).filter(|_| small) {
        KernelSchedule { tile: list(&tile), peel: frame.ragged(vector, frame.width), ..lanes }
    } else if small || stage.guarded.contains(&true) {
        KernelSchedule { block: list(&|dim| if inside(dim) { BLOCK_EDGE } else { 0 }), ..lanes }
    } else {
        KernelSchedule { tile: list(&|dim| if inside(dim) { TILE_EDGE } else { 1 }), peel: frame.ragged(vector, frame.width), ..lanes }
    };
    frame.write(&order, shape);
    StageSchedule { transpose: Some(along), ..StageSchedule::default() }.set(stage.op);
}
