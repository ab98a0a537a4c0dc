//! `--loop-to-gpu`: `loop` kernels to upstream's `gpu` level: every kernel becomes a `gpu.func` of one `gpu.module @device`.
//!
//! The program around them stays as it is: `host.launch @k` now launches a kernel of the device, in a grid of blocks whose number is a
//! map of the kernel's symbols (`host.grid`). A scatter needs all threads to be done with what stands before it: such a kernel is two functions,
//! launched one after the other. What combines the pieces of a reduction needs the same, and is the last block's work (`meet`). A kernel that
//! calls functions which the device does not have stays a `loop.kernel`, which the host runs.
//!
//! Bodies of stages, index arithmetic, reducers and the loops of a stage are written by the code that writes them for the CPU; what
//! is said here is which threads stand where, and what they hand each other.

pub(crate) mod attention;
mod device;
mod grid_barrier;
mod kernel;
pub(crate) mod matrix;
pub(crate) mod matrix_attention;
mod stage_to_shared;
mod tf32;
mod tiles;
pub(crate) mod transpose;

pub use device::runs;

use crate::expand_math::expand_math;
use crate::target::MathTarget;
use strata_core::ir::{Builder, Op, OpSpec};
use strata_core::pass::{Pass, PassContext, PassError};
use strata_core::upstream::{complex, gpu};
use strata_dialects::loops::schedule::SCHEDULE;
use strata_dialects::{host, loops};

/// The `gpu.module` of all kernels.
pub const DEVICE: &str = "device";

/// Replaces kernels by functions of the device.
#[derive(Pass)]
#[pass(dependents("arith", "math", "complex", "scf", "vector", "func", "llvm", "gpu", "nvvm"))]
pub struct LoopToGpu {}

impl Pass for LoopToGpu {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        let (kernels, others): (Vec<_>, Vec<_>) = op.find_all(loops::Kernel::NAME).into_iter().partition(|&kernel| device::runs(kernel));
        let mut rewriter = cx.rewriter();
        // The host has no use for a schedule of blocks and threads.
        for kernel in others {
            kernel.walk(&mut |op| {
                rewriter.remove_attr(op, SCHEDULE);
            });
        }
        let ir = op.cx();
        // Also where all kernels stay with the host: the program's memory is the device's.
        rewriter.set_attr(op, gpu::CONTAINER_MODULE, ir.unit());
        if kernels.is_empty() {
            return Ok(());
        }
        let device = Builder::at_end(op.body(0), op.location()).op(OpSpec {
            name: gpu::Module::NAME,
            attrs: &[("sym_name", ir.str_attr(DEVICE))],
            regions: 1,
            ..OpSpec::default()
        });
        device.region(0).append_block(&[], op.location());
        let launches = op.find_all(host::Launch::NAME);
        for kernel in kernels {
            let callee = ir.symbol_attr(&kernel.str("sym_name").unwrap_or_default());
            let before = kernel::emit(device, kernel).map_err(|error| PassError::new(error.to_string()))?;
            rewriter.erase(kernel);
            for &launch in launches.iter().filter(|launch| launch.attr("callee") == Some(callee)) {
                rewriter.go_before(launch);
                for name in &before {
                    let first = rewriter.clone_op(launch, &launch.operands());
                    rewriter.set_attr(first, "callee", ir.symbol_attr(name));
                }
            }
        }
        if !device.find_all(complex::Create::NAME).is_empty() {
            cx.run_pipeline(device, "convert-complex-to-standard")?;
        }
        expand_math(device, &MathTarget::device()).map_err(|error| PassError::new(error.to_string()))
    }
}
