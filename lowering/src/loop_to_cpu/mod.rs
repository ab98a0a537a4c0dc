//! `loop` and `host` to code for the CPU: every kernel becomes a function of `scf` loops over vectors and pointers, the host
//! program the native entry.
//!
//! What is special about a kernel is said in its stages and its schedule; nothing here knows an operator of a level above.

mod emitter;
mod error;
mod host;
mod lanes;
mod launch;
mod memory;
mod nest;
mod reducer;
mod stages;

pub use emitter::INDEX_OUT_OF_BOUNDS;
pub use error::Error;
pub use host::Messages;

use strata_core::ir::Module;

/// Replaces the host program by `strata_entry` and every `loop.kernel` by a private function; gives the texts of the status codes.
pub fn loop_to_cpu(module: &Module<'_>) -> Result<Messages, Error> {
    let messages = host::lower(module)?;
    for kernel in module.op().find_all("loop.kernel") {
        emitter::emit(kernel)?;
    }
    host::declare_imports(module);
    Ok(messages)
}
