//! How long a kernel takes with its schedule, predicted: a few numbers of the machine, and what one vector of each stage costs.
//!
//! The time is that of the arithmetic or of the memory, whichever is longer, on the threads that share the work. It need not be right,
//! only tell a long kernel from a short one: `bench/benches/kernels.rs` compares it with what is measured.

pub mod lanes;

use std::collections::HashSet;

use crate::cycles::arithmetic;
use strata_core::ir::{AffineKind, AffineMap, Op};
use strata_core::upstream::arith;
use strata_dialects::loops;
use strata_dialects::loops::access::{Stride, stride};
use strata_dialects::loops::roles::uses;
use strata_dialects::loops::view::{KernelView, StageView};
use strata_dialects::target::{Cycles, Target};

/// Threads that schedules reckon with. They must not depend on how many a machine has: results are then the same with any number.
pub const THREADS: i64 = 16;

/// Work that is worth waking the other threads, in times of waking one.
const WORTH_WAKING: f64 = 2.5;
/// Sums of a register tile of scores or means, which hide each other's latency.
const ATTENTION_SUMS: f64 = 8.0;

/// Seconds of a launch of a scheduled kernel on so many threads; nothing when its sizes are symbolic.
pub fn seconds(kernel: &KernelView<'_>, target: &Target, threads: usize) -> Option<f64> {
    let all = threads.max(1) as f64;
    let bytes = kernel.bytes()? as f64;
    let cycles = kernel.stages.iter().map(|stage| cycles(kernel, stage, target)).sum::<Option<f64>>()?;
    let parts = parts(kernel)? as f64;
    let (launch, wake) = (1e-9 * target.launch_nanoseconds, 1e-9 * target.thread_wake_nanoseconds);
    let shared = cycles > WORTH_WAKING * wake * 1e9 * target.gigahertz && parts > 1.0;
    let threads = if shared { parts / (parts / all).ceil() } else { 1.0 };
    let arithmetic = cycles / (1e9 * target.gigahertz) / threads;
    let memory = bytes / bandwidth(target, bytes) * if shared { 1.0 } else { all };
    Some(arithmetic.max(memory) + launch + if shared { wake } else { 0.0 })
}

/// Bytes in a second that all cores together move, where a kernel touches so many bytes: of a cache that holds twice as many, or of memory.
fn bandwidth(target: &Target, bytes: f64) -> f64 {
    let levels = [(target.l2.bytes, &target.l2), (target.l3.bytes / 2, &target.l3)];
    let level = levels.into_iter().find(|(most, _)| bytes <= *most as f64);
    1e9 * level.map_or(target.memory_gigabytes_per_second, |(_, level)| level.gigabytes_per_second)
}

/// Parts of a kernel that threads can share.
fn parts(kernel: &KernelView<'_>) -> Option<i64> {
    let tiles = kernel.tiles();
    let along = |(level, dim): (usize, &usize)| {
        let size = kernel.static_size(*dim)?;
        Some(tiles.as_ref().map_or(size, |tiles| (size + tiles[level] - 1) / tiles[level]))
    };
    let shared = if tiles.is_some() { kernel.outer.len() } else { kernel.outer.len().min(1) };
    kernel.outer[..shared].iter().enumerate().map(along).product()
}

/// Where the lanes of a stage run, and how many there are.
pub(crate) fn vectors(kernel: &KernelView<'_>, stage: &StageView<'_>) -> (Option<usize>, f64) {
    let of = |vector: Option<usize>, width: Option<i64>| {
        let dim = vector.filter(|dim| stage.domain.contains(dim))?;
        Some((Some(dim), width? as f64))
    };
    let (own, outer) = (stage.schedule(), kernel.schedule());
    let online = outer.online.and_then(|online| online.width).unwrap_or(1);
    of(own.vector, own.width).or_else(|| of(outer.vector, outer.width)).unwrap_or((None, online as f64))
}

/// Cycles of one thread for all points of a stage.
fn cycles(kernel: &KernelView<'_>, stage: &StageView<'_>, target: &Target) -> Option<f64> {
    let table = &target.cycles;
    let counted = stage.domain.iter().filter(|dim| stage.shared_by() != Some(**dim));
    let points = counted.map(|&dim| Some(kernel.static_size(dim)? as f64)).product::<Option<f64>>()?;
    let (dim, width) = vectors(kernel, stage);
    let used = match dim.and_then(|dim| kernel.static_size(dim)) {
        Some(size) => size as f64 / (size as f64 / width).ceil(),
        None => width,
    };
    let vectors = points / used.max(1.0);
    let turns = dim.map_or(1, |dim| target.turns(width as i64 * lanes::lane_bits(kernel, dim))) as f64;
    let body = body(kernel, stage, (dim, width), table);
    // Scores and means read their operands once for a block of rows.
    let (schedule, streams) = (stage.schedule(), kernel.schedule().online.is_some());
    let operands = stage.op.operands().into_iter().zip(&stage.maps);
    let loads: f64 = operands
        .filter(|(operand, _)| !kept(operand.defining_op()))
        .map(|(operand, map)| {
            let along = dim.map_or(Stride::Zero, |dim| stride(*map, operand, dim));
            let transposed = schedule.transpose.is_some() || dim.is_some_and(|dim| in_panels(*map, dim));
            let one = match along {
                Stride::Other if streams => 0.5,
                Stride::Other if transposed => 1.0,
                Stride::Other => width,
                _ => 0.5,
            };
            // Copies of the body along other dims share what they read.
            one / copies(kernel, |dim| !uses(*map, dim))
        })
        .sum();
    let reduces = !stage.reduce.is_empty();
    let own = schedule.unroll.unwrap_or(1).max(schedule.rows.unwrap_or(1)) as f64;
    let mut vector = body + loads;
    if reduces {
        let chains = if streams { ATTENTION_SUMS } else { copies(kernel, |_| true) * own };
        // A product and its sum are one instruction, and loads run beside it.
        let fused = stage.op.body(0).ops().iter().any(|op| op.isa::<arith::MulF>());
        vector = (turns * (if fused { body } else { body + 0.5 }).max(loads)).max(table.latency / chains);
    } else if !stage.is_register() {
        let last = stage.result_dims().last().copied();
        let store = if dim.is_none() || last == dim { 0.5 } else { width };
        vector = turns * (vector + stage.op.num_results() as f64 * store);
    }
    let inner_lanes = dim.is_some_and(|dim| stage.reduce.contains(&dim));
    let results = if reduces && inner_lanes {
        points / stage.reduce.iter().map(|&dim| kernel.static_size(dim).unwrap_or(1) as f64).product::<f64>()
    } else {
        0.0
    };
    Some(vectors * vector + results * table.across)
}

/// Cycles of a scheduled stage's body for one vector.
pub(crate) fn body_cycles<'c>(kernel: &KernelView<'c>, stage: &StageView<'c>, table: &Cycles) -> f64 {
    body(kernel, stage, vectors(kernel, stage), table)
}

/// Cycles of a stage's body for one vector. What is the same for all points inside the outer loops is computed outside.
fn body<'c>(kernel: &KernelView<'c>, stage: &StageView<'c>, (lanes, width): (Option<usize>, f64), table: &Cycles) -> f64 {
    let cycles = |op: Op<'_>| match lanes {
        Some(dim) if op.isa::<loops::Load>() && !lanes::is_gather(stage, op, dim) => COMPUTED_LOAD,
        _ => arithmetic(op, width, table),
    };
    let ops = stage.op.body(0).ops();
    ops.into_iter().zip(varying(kernel, stage, lanes)).filter(|(_, varies)| *varies).map(|(op, _)| cycles(op)).sum()
}

/// Which ops of a stage's body differ between the points inside the outer loops, those that lanes run along among them.
pub(crate) fn varying<'c>(kernel: &KernelView<'c>, stage: &StageView<'c>, lanes: Option<usize>) -> Vec<bool> {
    let block = stage.op.body(0);
    let inner: Vec<usize> = stage.domain.iter().copied().filter(|dim| Some(*dim) == lanes || !kernel.outer.contains(dim)).collect();
    let inner = if inner.is_empty() { stage.domain.clone() } else { inner };
    let moves = |at: usize| stage.maps.get(at).is_none_or(|map| inner.iter().any(|&dim| uses(*map, dim)));
    let mut varying: HashSet<_> = block.args().into_iter().enumerate().filter(|(at, _)| moves(*at)).map(|(_, arg)| arg).collect();
    let varies = |op: Op<'c>| {
        let varies = op.dialect() == "loop" || op.operands().iter().any(|operand| varying.contains(operand));
        if varies {
            varying.extend(op.results());
        }
        varies
    };
    block.ops().into_iter().map(varies).collect()
}

/// Cycles of a load of a vector, or of one element, from a computed place: an address, its check against the size, and half a cycle as for
/// other loads.
const COMPUTED_LOAD: f64 = 1.5;

/// Whether an access goes through panels of a dim: `dim mod p` is its last index.
pub(crate) fn in_panels(map: AffineMap<'_>, dim: usize) -> bool {
    map.results().last().is_some_and(|last| matches!(last.kind(), AffineKind::Mod(_, _)) && last.uses_dim(dim))
}

/// Whether a value never goes through memory.
pub(crate) fn kept(of: Option<Op<'_>>) -> bool {
    of.is_some_and(|op| op.str("space").as_deref() == Some("register"))
}

/// Copies of the body along outer dims of which this holds.
fn copies(kernel: &KernelView<'_>, of: impl Fn(usize) -> bool) -> f64 {
    let unroll = kernel.schedule().unroll.unwrap_or_default();
    kernel.outer.iter().zip(unroll).filter(|(dim, _)| of(**dim)).map(|(_, copies)| copies.max(1) as f64).product()
}
