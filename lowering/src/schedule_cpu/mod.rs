//! `--schedule-cpu`: a first cost model that writes schedules for the CPU.
//!
//! For every kernel it chooses the dim that lanes run along (the outer loops' or each stage's own), the number of lanes, the order
//! of the outer loops, and how far they are unrolled. What all kernels share is in `frame.rs`; each kind of kernel has its own file.
//! A schedule only changes speed: without this pass the same kernels run one element at a time.
//!
//! ```mlir
//! loop.kernel {sym_name = "k", ...} ...
//! // becomes
//! loop.kernel {sym_name = "k", schedule = {order = array<i64: 0, 1>, unroll = array<i64: 8, 2>, vector = 1, width = 16}, ...} ...
//! ```

pub(crate) mod access;
mod contraction;
mod cost;
mod frame;
mod mean;
mod panels;
mod pointwise;
mod reduction;
mod roles;
mod stream;
mod sweep;

pub(crate) use access::Stride;
pub(crate) use roles::{Roles, uses};

use crate::kernel_view::KernelView;
use frame::Frame;
use strata_core::ir::Op;
use strata_core::pass::{Pass, PassContext, PassError};

/// Writes a schedule for the CPU on every kernel.
#[derive(Pass)]
#[pass(dependents("loop"))]
pub struct ScheduleCpu {
    /// Bits of a vector register.
    #[option(default = 512)]
    vector_bits: i64,
}

impl Pass for ScheduleCpu {
    fn run<'c>(&self, op: Op<'c>, _: &mut PassContext<'c>) -> Result<(), PassError> {
        for kernel in op.find_all("loop.kernel") {
            schedule(kernel, self.vector_bits);
        }
        Ok(())
    }
}

/// Writes the schedule of one kernel, by its kind, if it has none.
pub fn schedule(op: Op<'_>, vector_bits: i64) {
    let Some(kernel) = KernelView::new(op).filter(|_| op.attr("schedule").is_none()) else { return };
    let frame = Frame::new(&kernel, vector_bits);
    if mean::is_mean(&kernel) {
        return mean::schedule(&frame);
    }
    if panels::schedule(&frame, vector_bits) {
        return;
    }
    if let Some(lanes) = sweep::lanes(&kernel) {
        sweep::schedule(&frame, lanes);
    } else if contraction::is_contraction(&kernel) {
        contraction::schedule(&frame);
    } else if kernel.stages.iter().any(|stage| !stage.reduce.is_empty()) {
        reduction::schedule(&frame);
    } else {
        pointwise::schedule(&frame);
    }
    stream::schedule(&kernel);
}
