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

pub(crate) mod attention;
mod choice;
mod contraction;
mod cost;
mod distribute;
mod frame;
mod non_temporal;
mod outer_reduction;
mod panels;
mod peel;
mod pointwise;
mod reduction;
mod spread;

pub use choice::{apply, choice, steps};

pub(crate) use contraction::block_rows;

use frame::{Frame, Lanes};
use strata_core::ir::{Attr, Op};
use strata_core::pass::{Pass, PassContext, PassError};
use strata_dialects::loops;
use strata_dialects::loops::schedule::SCHEDULE;
use strata_dialects::loops::view::KernelView;

/// Writes a schedule for the CPU on every kernel.
#[derive(Pass)]
#[pass(dependents("loop"))]
pub struct ScheduleCpu {
    /// Bits of a vector register.
    #[option(default = 512)]
    vector_bits: i64,
    /// Vector registers; 0 for as many as x86-64 has of that width.
    vector_registers: i64,
    /// Stores past the caches wait in the buffers of loads: kernels that fetch rows ahead do without them.
    shared_fill_buffers: bool,
}

/// What schedules depend on.
#[derive(Clone, Copy)]
pub struct Cpu {
    /// Bits of a vector register.
    pub vector_bits: i64,
    /// Vector registers.
    pub vector_registers: i64,
    /// Stores past the caches wait in the buffers of loads.
    pub shared_fill_buffers: bool,
}

impl Pass for ScheduleCpu {
    fn run<'c>(&self, op: Op<'c>, _: &mut PassContext<'c>) -> Result<(), PassError> {
        let vector_registers = registers(self.vector_registers, self.vector_bits);
        let cpu = Cpu { vector_bits: self.vector_bits, vector_registers, shared_fill_buffers: self.shared_fill_buffers };
        for kernel in op.find_all(loops::Kernel::NAME) {
            schedule(kernel, cpu);
        }
        Ok(())
    }
}

/// So many vector registers, if anybody said; or those of x86-64: AVX-512 brought 32, narrower vectors have 16.
pub fn registers(said: i64, vector_bits: i64) -> i64 {
    match said {
        0 if vector_bits >= 512 => 32,
        0 => 16,
        said => said,
    }
}

/// Writes the schedule of one kernel, by its kind, if it has none.
pub fn schedule(op: Op<'_>, cpu: Cpu) {
    schedule_with(op, cpu, Lanes::Cheapest);
}

/// Choices for a kernel whose lanes run elsewhere than the cost model says. The kernel is left with one of them.
pub fn elsewhere(op: Op<'_>, cpu: Cpu) -> Vec<Attr<'_>> {
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
        schedule_with(op, cpu, lanes);
        choice(op)
    };
    places.into_iter().map(one).collect()
}

fn schedule_with(op: Op<'_>, cpu: Cpu, lanes: Lanes) {
    let Some(kernel) = KernelView::new(op).filter(|_| op.attr(SCHEDULE).is_none()) else { return };
    let frame = Frame::new(&kernel, cpu, lanes);
    if attention::is_attention(&kernel) {
        return attention::schedule(&frame);
    }
    if !frame.told && (spread::schedule(&frame) || panels::schedule(&frame)) {
        return non_temporal::schedule(&kernel, cpu);
    }
    if let Some(lanes) = outer_reduction::lanes(&kernel).filter(|_| !frame.told) {
        outer_reduction::schedule(&frame, lanes);
    } else if contraction::is_contraction(&kernel) {
        contraction::schedule(&frame);
    } else if kernel.stages.iter().any(|stage| !stage.reduce.is_empty()) {
        reduction::schedule(&frame);
    } else {
        pointwise::schedule(&frame);
    }
    non_temporal::schedule(&kernel, cpu);
    peel::schedule(&kernel);
    // (The kernel's schedule says by now which loops stand around its stages.)
    KernelView::new(op).iter().for_each(distribute::schedule);
}
