//! Whether a schedule fits its kernel: what it names is there, and its lists have a number for each loop.

use super::{KernelSchedule, StageSchedule};
use crate::loops::access::prefetched_loads;
use crate::loops::view::{KernelView, StageView};
use strata_core::ir::Op;

/// Why the schedule of a kernel, or of one of its stages, does not fit it.
pub(in crate::loops) fn refuse(kernel: Op<'_>) -> Option<String> {
    // A kernel without stages has no loops.
    let kernel = KernelView::new(kernel)?;
    refuse_kernel(&kernel, &kernel.schedule()).or_else(|| kernel.stages.iter().find_map(|stage| refuse_stage(stage, &stage.schedule())))
}

fn refuse_kernel(kernel: &KernelView<'_>, schedule: &KernelSchedule) -> Option<String> {
    // A view takes an order as its own where all stages can stand inside of these loops.
    if let Some(order) = schedule.order.as_ref().filter(|order| **order != kernel.outer) {
        return Some(format!("the schedule's 'order' is {order:?}, and the loops around all stages are of {:?}", kernel.outer));
    }
    let numbers = |list: &Option<Vec<i64>>| list.as_ref().map(Vec::len);
    let by_loop = [("block", &schedule.block), ("tile", &schedule.tile), ("unroll", &schedule.unroll), ("warps", &schedule.warps)];
    for (name, list) in by_loop {
        if let Some(count) = numbers(list).filter(|&count| count != kernel.outer.len()) {
            return Some(format!("the schedule's '{name}' has {count} numbers for {} outer loops", kernel.outer.len()));
        }
    }
    // Parts of a kernel that wait for each other have outer loops of their own.
    let mut outer = kernel.outer.clone();
    outer.extend(kernel.phases().into_iter().flat_map(|phase| phase.outer));
    let row = schedule.online.as_ref().and_then(|online| online.row);
    let single = [("online' 'row", row), ("roll", schedule.roll), ("transpose", schedule.transpose), ("vector", schedule.vector)];
    let peeled = schedule.peel.iter().flatten().map(|&dim| ("peel", Some(dim)));
    let mut named = single.into_iter().chain(peeled).filter_map(|(name, dim)| Some((name, dim?)));
    named
        .find(|(_, dim)| !outer.contains(dim))
        .map(|(name, dim)| format!("the schedule's '{name}' is dim {dim}, of which there is no outer loop"))
        .or_else(|| refuse_parts(kernel, schedule))
        .or_else(|| refuse_in_place(kernel, schedule))
        .or_else(|| refuse_fission(kernel, schedule))
}

/// Each piece and each segment of a reduction has a loop of its own.
fn refuse_parts(kernel: &KernelView<'_>, schedule: &KernelSchedule) -> Option<String> {
    let copies = |dim: usize| {
        let level = kernel.outer.iter().position(|&outer| outer == dim);
        level.and_then(|level| schedule.unroll.as_ref()?.get(level).copied()).unwrap_or(1)
    };
    let beside = |dim: &usize| schedule.vector == Some(*dim) || copies(*dim) > 1;
    let found = kernel.stages.iter().flat_map(StageView::parts_of).find(beside);
    found.map(|dim| format!("the schedule has lanes or copies along dim {dim}, at each point of which another part is reduced"))
}

/// A loop that each stage has for itself leaves nothing in registers, neither for the next stage nor for the next turn of the stage's loops.
fn refuse_fission(kernel: &KernelView<'_>, schedule: &KernelSchedule) -> Option<String> {
    if schedule.fission != Some(true) {
        return None;
    }
    let own_lanes = |stage: &StageView<'_>| {
        let own = stage.schedule();
        own.vector.is_some() || own.transpose.is_some() || own.distribute.is_some()
    };
    let cut = schedule.tile.is_some() || schedule.block.is_some() || schedule.peel.is_some() || schedule.online.is_some();
    let reason = if kernel.outer.is_empty() {
        "the schedule has 'fission', and there is no outer loop"
    } else if !kernel.stages.iter().all(StageView::runs_in_memory) {
        "the schedule has 'fission', and a stage that is no map or scatter in memory"
    } else if cut || kernel.stages.iter().any(own_lanes) {
        "the schedule has 'fission' beside 'tile', 'block', 'peel' or 'online', or a stage's 'vector', 'transpose' or 'distribute'"
    } else {
        return None;
    };
    Some(reason.to_owned())
}

/// What is written over what was read is made once.
fn refuse_in_place(kernel: &KernelView<'_>, schedule: &KernelSchedule) -> Option<String> {
    let in_place = kernel.in_place().iter().any(Option::is_some);
    let twice = schedule.transpose.is_some() || !makes_once(kernel);
    (in_place && twice).then(|| "the schedule has 'transpose' and makes points twice, and a result lies in an argument".to_owned())
}

/// Whether no point of a kernel is made twice. The last ones of transposed vectors begin earlier, so that they are whole, where the copies
/// of their loop do not end where the dim and its tiles do.
pub fn makes_once(kernel: &KernelView<'_>) -> bool {
    let own = kernel.schedule();
    let fills = |dim: usize| {
        let level = own.order.as_ref().unwrap_or(&kernel.outer).iter().position(|&at| at == dim);
        let of = |list: &Option<Vec<i64>>| Some(list.as_ref()?.get(level?).copied()?.max(1));
        let copies = of(&own.unroll).unwrap_or(1);
        let cut = of(&own.tile).or_else(|| of(&own.block));
        kernel.static_size(dim).is_some_and(|size| size % copies == 0 && cut.is_none_or(|cut| cut >= size || cut % copies == 0))
    };
    kernel.stages.iter().filter_map(|stage| stage.schedule().transpose).all(fills)
}

fn refuse_stage(stage: &StageView<'_>, schedule: &StageSchedule) -> Option<String> {
    let dims = [("prefetch_along", schedule.prefetch_along), ("vector", schedule.vector)];
    let shared = schedule.share.iter().flatten().map(|&dim| ("share", Some(dim)));
    let mut named = dims.into_iter().chain(shared).filter_map(|(name, dim)| Some((name, dim?)));
    if let Some((name, dim)) = named.find(|(_, dim)| !stage.domain.contains(dim)) {
        return Some(format!("the schedule's '{name}' is dim {dim}, over which the stage does not run"));
    }
    let operands = stage.op.num_operands();
    if let Some(operand) = schedule.prefetch_operand.filter(|&operand| operand >= operands) {
        return Some(format!("the schedule's 'prefetch_operand' is operand {operand} of {operands}"));
    }
    if !stage.is_scatter() && (schedule.atomic.is_some() || schedule.share.is_some()) {
        return Some("the schedule's 'atomic' and 'share' are of a scatter".to_owned());
    }
    if stage.reduce.is_empty() && schedule.outer_reduction.is_some() {
        return Some("the schedule has 'outer_reduction', and the stage reduces nothing".to_owned());
    }
    if schedule.prefetch_loads.is_some() && (stage.reduce.len() != 1 || prefetched_loads(stage).is_empty()) {
        return Some("the schedule has 'prefetch_loads', and the stage reduces no dim of what it loads at computed places".to_owned());
    }
    let ascends = |cuts: &Vec<i64>| cuts.windows(2).all(|pair| pair[0] < pair[1]);
    schedule
        .distribute
        .as_ref()
        .filter(|cuts| !ascends(cuts))
        .map(|cuts| format!("the schedule's 'distribute' cuts at {cuts:?}, which do not ascend"))
}
