//! `--schedule-cpu`: a first cost model that writes schedules for the CPU.
//!
//! For every kernel it chooses the dim that lanes run along (the outer loops' or each stage's own), the number of lanes, the order
//! of the outer loops, and how far they are unrolled. What all kernels share is in `frame.rs`; each kind of kernel has its own file.
//! A schedule changes speed, and the order of sums where numerics allow that: without this pass the same kernels run one element at a time.
//!
//! ```mlir
//! loop.kernel {sym_name = "k", ...} ...
//! // becomes
//! loop.kernel {sym_name = "k", schedule = {order = array<i64: 0, 1>, unroll = array<i64: 8, 2>, vector = 1, width = 16}, ...} ...
//! ```

mod attention;
mod choice;
mod contraction;
mod distribute;
mod frame;
mod matrix_units;
mod non_temporal;
mod outer_reduction;
mod panels;
mod peel;
mod pointwise;
mod reduction;
mod spread;
mod windows;

pub use choice::{apply, choice, steps};

use frame::{Frame, Lanes};
use strata_core::ir::{Attr, Op};
use strata_core::pass::{Pass, PassContext, PassError};
use strata_dialects::loops;
use strata_dialects::loops::schedule::SCHEDULE;
use strata_dialects::loops::view::KernelView;
use strata_dialects::target::Target;

/// Writes a schedule for the CPU on every kernel.
#[derive(Pass)]
#[pass(dependents("loop"))]
pub struct ScheduleCpu;

impl Pass for ScheduleCpu {
    fn run<'c>(&self, op: Op<'c>, _: &mut PassContext<'c>) -> Result<(), PassError> {
        let target = Target::of(op)?;
        for kernel in op.find_all(loops::Kernel::NAME) {
            schedule(kernel, &target);
        }
        Ok(())
    }
}

/// Writes the schedule of one kernel, by its kind, if it has none.
pub fn schedule(op: Op<'_>, target: &Target) {
    schedule_with(op, target, Lanes::Cheapest);
}

/// Choices for a kernel whose lanes run elsewhere than the cost model says. The kernel is left with one of them.
pub fn elsewhere<'c>(op: Op<'c>, target: &Target) -> Vec<Attr<'c>> {
    // Kernels with schedules of their own kind have lanes where their form puts them.
    if KernelView::new(op).is_none_or(|kernel| kernel.tiles().is_some() || attention::is_attention(&kernel)) {
        return Vec::new();
    }
    choice::clear(op);
    let Some(kernel) = KernelView::new(op) else { return Vec::new() };
    let places = kernel.outer.iter().filter(|dim| kernel.static_size(**dim) != Some(1)).map(|&dim| Lanes::Outer(dim));
    let places: Vec<_> = places.chain([Lanes::Own]).collect();
    let one = |lanes: Lanes| {
        choice::clear(op);
        schedule_with(op, target, lanes);
        choice(op)
    };
    places.into_iter().map(one).collect()
}

fn schedule_with(op: Op<'_>, target: &Target, lanes: Lanes) {
    let Some(kernel) = KernelView::new(op).filter(|_| op.attr(SCHEDULE).is_none()) else { return };
    let frame = Frame::new(&kernel, target, lanes);
    if attention::is_attention(&kernel) {
        return attention::schedule(&frame);
    }
    if !frame.constrained && (spread::schedule(&frame) || panels::schedule(&frame) || windows::schedule(&frame)) {
        return non_temporal::schedule(&kernel, target);
    }
    if let Some(lanes) = outer_reduction::lanes(&kernel).filter(|_| !frame.constrained) {
        outer_reduction::schedule(&frame, lanes);
    } else if contraction::is_contraction(&kernel) {
        contraction::schedule(&frame);
    } else if kernel.stages.iter().any(|stage| !stage.reduce.is_empty()) {
        reduction::schedule(&frame);
    } else {
        pointwise::schedule(&frame);
    }
    non_temporal::schedule(&kernel, target);
    peel::schedule(&kernel);
    // (The kernel's schedule says by now which loops stand around its stages.)
    KernelView::new(op).iter().for_each(|kernel| distribute::schedule(kernel, &target.cycles));
}
