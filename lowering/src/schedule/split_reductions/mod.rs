//! `--split-reductions`: long reductions become two: partial results of pieces, then their combination.
//!
//! A kernel shares its outermost loop among threads. Where little stands outside of a reduction (a sum of everything, the mean of
//! a few long rows) there is nothing to share; where its rows lie across memory (column sums) it would read one element of each.
//! Both are cured by reducing pieces of the reduced dim, each with a result of its own. A piece has a size that no
//! number of threads changes, so neither does the result; and a sum of sums is more exact than one long sum.
//!
//! ```mlir
//! %0 = loop.stage %x {domain = array<i64: 0>, reduce = array<i64: 0>, reducer = "sum", ...}
//! // becomes
//! %p = loop.stage %x {domain = array<i64: 1, 0>, reduce = array<i64: 0>, chunk = array<i64: 1, 0, 65536>, reducer = "sum", ...}
//! // and, in another kernel,
//! %0 = loop.stage %p {domain = array<i64: 1>, reduce = array<i64: 1>, reducer = "sum", ...}
//! ```
//!
//! On a device blocks share all loops outside, and a row that is not very long is read sooner than another kernel starts: only few and long rows
//! are cut there, and columns while they are not enough for a thread each. What has only the rows left after that, the combination of pieces first, stays
//! in the kernel of the pieces: the last block runs it when all are done.
//!
//! ```mlir
//! loop.kernel {sizes = (s0, s0 floordiv 8192 + 1), ...} {
//!   %p = loop.stage %x {domain = array<i64: 1, 0>, reduce = array<i64: 0>, chunk = array<i64: 1, 0, 8192>, space = "buffer", ...}
//!   %0 = loop.stage %p {domain = array<i64: 1>, reduce = array<i64: 1>, ...}
//!   loop.return %p, %0
//! ```
//!
//! Other stages of the kernel become kernels between and after these. Refused are positions of extrema, scans, scatters,
//! contractions, and kernels that are called twice.

mod cut;
mod plan;

use plan::Machine;
use std::collections::HashMap;
use strata_core::ir::Op;
use strata_core::pass::{Pass, PassContext, PassError};
use strata_dialects::loops;
use strata_dialects::loops::view::KernelView;
use strata_dialects::target::{Gpu, Target};

/// Splits long reductions into pieces.
#[derive(Pass)]
#[pass(dependents("loop"))]
pub struct SplitReductions {
    /// For a device: its blocks share all outer loops, and a kernel more costs more.
    device: bool,
}

impl Pass for SplitReductions {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        let machine = if self.device { Machine::gpu(&Gpu::of(op)?) } else { Machine::cpu(&Target::of(op)?) };
        let calls: Vec<_> =
            op.find_all(loops::Call::NAME).into_iter().filter_map(|call| Some((call, call.attr("callee")?.as_symbol()?))).collect();
        let mut times: HashMap<&str, usize> = HashMap::new();
        calls.iter().for_each(|(_, name)| *times.entry(name).or_default() += 1);
        let kernels = op.body(0).ops().into_iter().filter_map(|op| Some((op.str("sym_name")?, op)));
        let called = kernels.filter_map(|(name, op)| Some((times.get(name.as_str())?, name, op)));
        let (kernels, shared): (Vec<_>, Vec<_>) = called.partition(|(times, ..)| **times == 1);
        shared.iter().for_each(|(.., kernel)| cx.remarks().missed(*kernel, "it is called more than once"));
        let kernels: HashMap<String, Op<'c>> = kernels.into_iter().map(|(_, name, op)| (name, op)).collect();
        let mut rewriter = cx.rewriter();
        for (call, name) in &calls {
            let (call, Some(kernel)) = (*call, kernels.get(name).and_then(|op| KernelView::new(*op))) else { continue };
            if kernel.stages.iter().all(|stage| stage.reduce.is_empty()) {
                continue;
            }
            if let Some(parts) = cx.remarks().found(kernel.op, plan::plan(&kernel, call, &machine)) {
                cut::cut(&kernel, call, &parts, &mut rewriter);
            }
        }
        Ok(())
    }
}
