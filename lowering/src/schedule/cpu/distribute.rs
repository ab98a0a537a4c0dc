//! Bodies of many functions are cut into parts of about one function each, which run strip by strip (`distribute`).
//!
//! On a Zen 3 a chain of 30 statements takes 0.6 of the time so, with half the code: copies of the body side by side, which hide the
//! latency of short chains, are not needed, or fewer of them.

use super::frame::UNKNOWN_SIZE;
use crate::cycles::arithmetic;
use crate::emit::distribute::{is_repeated, parts};
use crate::schedule::cost;
use std::collections::HashMap;
use strata_core::ir::Value;
use strata_core::upstream::math;
use strata_dialects::loops::schedule::{KernelSchedule, StageSchedule};
use strata_dialects::loops::view::{KernelView, StageView};
use strata_dialects::target::Cycles;

/// Cycles for a vector of the longest chain in a body, from which on it is cut: what stands beside it hides the latency of shorter ones.
const CHAIN_CYCLES: f64 = 30.0;
/// Cycles of a part, for each value that it leaves to others.
const CYCLES_PER_VALUE: f64 = 5.0;
/// Parts of a body: LLVM takes time with the square of the number of loops.
const MOST_PARTS: f64 = 64.0;
/// Vectors of a strip: few enough for the core's own cache, and many for the start of each loop.
const STRIP_VECTORS: i64 = 32;
/// Functions that are so short that enough of their turns are in flight.
const SHORT_FUNCTIONS: &[&str] = &[
    math::AbsF::NAME,
    math::Ceil::NAME,
    math::CopySign::NAME,
    math::Cos::NAME,
    math::Exp::NAME,
    math::Exp2::NAME,
    math::Floor::NAME,
    math::Sin::NAME,
];
/// Vectors from which on turns can run beside each other.
const LEAST_VECTORS: i64 = 4;

/// Adds `distribute` and `strip` to the schedules of the stages with long bodies, in the place of copies of these.
pub fn schedule(kernel: &KernelView<'_>, cycles: &Cycles) {
    let own = kernel.schedule();
    let outer = own.vector.zip(own.width);
    let plain = own.tile.is_none() && own.block.is_none() && own.peel.is_none() && own.online.is_none();
    let unroll = own.unroll.unwrap_or_default();
    match (outer, kernel.stages.as_slice()) {
        (Some((dim, width)), [stage]) if plain => {
            let innermost = kernel.outer.last().is_some_and(|&last| last == dim) && stage.domain.len() == kernel.outer.len();
            let alone = unroll.iter().rev().skip(1).all(|&copies| copies == 1);
            if innermost && alone && distribute(kernel, stage, (dim, width), cycles) {
                let last = unroll.len() - 1;
                let copies = (0..=last).map(|level| if level == last { copies(stage) } else { 1 });
                let copies = copies.collect();
                KernelSchedule::change(kernel.op, |schedule| schedule.unroll = Some(copies));
            }
        }
        (None, stages) if plain && unroll.iter().all(|&copies| copies == 1) => {
            for stage in stages {
                let own = stage.schedule();
                let lanes = own.vector.zip(own.width).filter(|_| own.rows.is_none() && own.non_temporal.is_none());
                if lanes.is_some_and(|lanes| distribute(kernel, stage, lanes, cycles)) {
                    StageSchedule::change(stage.op, |schedule| schedule.unroll = Some(copies(stage)));
                }
            }
        }
        _ => {}
    }
}

/// Cuts the body of a stage, if that is worth it.
fn distribute(kernel: &KernelView<'_>, stage: &StageView<'_>, (dim, width): (usize, i64), cycles: &Cycles) -> bool {
    let own = stage.schedule();
    let size = kernel.length(stage, dim).unwrap_or(UNKNOWN_SIZE * width);
    if width <= 1 || size < LEAST_VECTORS * width || own.transpose.is_some() || own.outer_reduction.is_some() {
        return false;
    }
    let cuts = cuts(kernel, stage, (dim, width as f64), cycles);
    if parts(stage, &cuts).is_none() {
        return false;
    }
    StageSchedule::change(stage.op, |schedule| (schedule.distribute, schedule.strip) = (Some(cuts), Some(STRIP_VECTORS * width)));
    true
}

/// Copies of each part that are worth writing.
fn copies(stage: &StageView<'_>) -> i64 {
    let functions = stage.op.body(0).ops().into_iter().filter(|op| op.dialect() == "math");
    if functions.map(|op| op.name()).all(|name| SHORT_FUNCTIONS.contains(&name)) { 1 } else { 2 }
}

/// Where a body is cut: a part is the longer, the more values it leaves.
fn cuts(kernel: &KernelView<'_>, stage: &StageView<'_>, (dim, width): (usize, f64), table: &Cycles) -> Vec<i64> {
    let ops = stage.op.body(0).ops();
    let varying = cost::varying(kernel, stage, Some(dim));
    // What is the same in all turns of the loop is computed in front of it.
    let cycles = ops.iter().zip(varying).map(|(&op, varies)| if varies { arithmetic(op, width, table) } else { 0.0 });
    let cycles: Vec<f64> = cycles.collect();
    let mut chains: HashMap<Value<'_>, f64> = HashMap::new();
    for (op, cycles) in ops.iter().zip(&cycles) {
        let before = op.operands().iter().filter_map(|operand| chains.get(operand).copied()).fold(0.0, f64::max);
        chains.extend(op.results().into_iter().map(|result| (result, before + cycles)));
    }
    if chains.into_values().fold(0.0, f64::max) < CHAIN_CYCLES {
        return Vec::new();
    }
    let mut left: f64 = cycles.iter().sum();
    let long_enough = CYCLES_PER_VALUE.max(left / MOST_PARTS);
    // The last op that uses each value, and the last function of it: those of one value share work.
    let (mut last, mut functions) = (HashMap::new(), HashMap::new());
    for (at, op) in ops.iter().enumerate() {
        for operand in op.operands() {
            last.insert(operand, at);
            if op.dialect() == "math" {
                functions.insert(operand, at);
            }
        }
    }
    let is_function = |at: usize| ops.get(at).is_some_and(|op| op.dialect() == "math");
    let (mut cuts, mut best) = (Vec::new(), None);
    let (mut part, mut live, mut together) = (0.0, Vec::new(), 0);
    for (at, &op) in ops.iter().enumerate() {
        live.retain(|&used| used > at);
        if is_function(at) {
            together = op.operands().iter().filter_map(|operand| functions.get(operand).copied()).fold(together, usize::max);
        }
        if !is_repeated(op) {
            live.extend(op.results().iter().filter_map(|result| last.get(result).copied()));
        }
        part += cycles[at];
        left -= cycles[at];
        let enough = part >= long_enough * live.len().max(1) as f64 && left >= CYCLES_PER_VALUE && together <= at;
        if enough && best.is_none_or(|(fewest, _, _)| live.len() < fewest) {
            best = Some((live.len(), at, part));
        }
        // Where the fewest values cross, between this function and the next one.
        if is_function(at + 1)
            && let Some((_, cut, cycles)) = best.take()
        {
            cuts.push(cut as i64 + 1);
            part -= cycles;
        }
    }
    cuts
}
