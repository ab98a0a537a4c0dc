//! Pieces of a reduction across memory: the loop over the reduced dim stands outside of the one that memory is contiguous along.

use super::frame::Frame;
use strata_dialects::loops::access::{Stride, stride};
use strata_dialects::loops::schedule::{KernelSchedule, StageSchedule};
use strata_dialects::loops::view::KernelView;

/// Steps of the reduced dim that are added up before their sum goes to memory.
const STEPS_IN_REGISTERS: i64 = 8;

/// The dim of the results that lanes run along, if the kernel is one chunked reduction that reads memory along that dim.
pub fn lanes(kernel: &KernelView<'_>) -> Option<usize> {
    let [stage] = kernel.stages.as_slice() else { return None };
    let chunk = stage.chunk?;
    let last = stage.parallel().last().copied().filter(|&dim| dim != chunk.by)?;
    let moving = |dim: usize| {
        let accesses = stage.op.operands().into_iter().zip(&stage.maps);
        accesses.map(move |(operand, map)| stride(*map, operand, dim)).filter(|stride| *stride != Stride::Zero)
    };
    let along = moving(last).next().is_some() && moving(last).all(|stride| stride == Stride::One);
    (along && stage.reduce.iter().all(|&dim| moving(dim).all(|stride| stride == Stride::Other))).then_some(last)
}

/// Writes the schedule.
pub fn schedule(frame: &Frame<'_, '_>, lanes: usize) {
    let stage = &frame.kernel.stages[0];
    let width = frame.width_along(lanes);
    let order: Vec<_> = frame.kernel.outer.iter().copied().filter(|&dim| dim != lanes).collect();
    frame.write(&order, KernelSchedule::default());
    StageSchedule { vector: Some(lanes), width: Some(width), outer_reduction: Some(STEPS_IN_REGISTERS), ..StageSchedule::default() }
        .set(stage.op);
}
