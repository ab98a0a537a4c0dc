//! `loop` and `host` to code for the CPU: every kernel becomes a function of `scf` loops over vectors and pointers, the host
//! program the native entry.
//!
//! What is special about a kernel is said in its stages and its schedule; nothing here knows an operator of a level above.

pub mod device;
mod host;
mod kernel;
mod launch;
mod table;

pub use crate::emit::{Error, INDEX_OUT_OF_BOUNDS};
pub use launch::launch_facts;

use strata_core::ir::{Attr, Op};
use strata_core::pass::{Pass, PassContext, PassError};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::gpu;
use strata_dialects::host::MESSAGES;
use strata_dialects::loops;

/// Replaces the host program by the native entry and every kernel by vector loops.
#[derive(Pass)]
#[pass(dependents("arith", "math", "complex", "scf", "cf", "vector", "func", "llvm"))]
pub struct LoopToCpu {
    /// Programs of more launches than this keep them in tables.
    #[option(default = 64)]
    long: i64,
}

impl Pass for LoopToCpu {
    fn run<'c>(&self, op: Op<'c>, _: &mut PassContext<'c>) -> Result<(), PassError> {
        loop_to_cpu(op, self.long.max(0) as usize).map_err(|error| PassError::new(error.to_string()))
    }
}

/// Replaces the host program by `strata_entry` and every `loop.kernel` by a private function. Programs of more than `long` launches
/// keep them in tables.
pub fn loop_to_cpu(module: Op<'_>, long: usize) -> Result<(), Error> {
    lower_program(module, long)?;
    kernels_to_cpu(module)
}

/// Replaces the host program alone: its kernels become declarations, for [`kernels_to_cpu`] to compile apart.
pub fn program_to_cpu(module: Op<'_>) -> Result<(), Error> {
    lower_program(module, table::LONG)?;
    let mut rewriter = Rewriter::before(module);
    [loops::Kernel::NAME, gpu::Module::NAME].into_iter().flat_map(|name| module.find_all(name)).for_each(|op| rewriter.erase(op));
    rewriter.remove_attr(module, gpu::CONTAINER_MODULE);
    host::declare_imports(module);
    Ok(())
}

/// Replaces every `loop.kernel` by a function of its name, and one by which threads run a range of it.
pub fn kernels_to_cpu(module: Op<'_>) -> Result<(), Error> {
    module.find_all(loops::Kernel::NAME).into_iter().try_for_each(kernel::emit)?;
    host::declare_imports(module);
    Ok(())
}

/// The functions that [`kernels_to_cpu`] makes of a kernel.
pub fn functions_of(kernel: &str) -> [String; 2] {
    [kernel.to_owned(), launch::task_name(kernel)]
}

fn lower_program(module: Op<'_>, long: usize) -> Result<(), Error> {
    let messages = host::lower(module, long)?;
    let cx = module.cx();
    let texts: Vec<_> = messages.iter().map(|text| cx.str_attr(text)).collect();
    Rewriter::before(module).set_attr(module, MESSAGES, cx.array_attr(&texts));
    Ok(())
}

/// The texts of the entry's status codes, as [`loop_to_cpu`] left them.
pub fn messages(module: Op<'_>) -> Vec<String> {
    let texts = module.attr(MESSAGES).and_then(Attr::as_array).unwrap_or_default();
    texts.into_iter().filter_map(Attr::as_str).collect()
}
