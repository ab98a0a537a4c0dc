//! `loop` to `host`: tensors become buffers, calls of kernels become launches, the captured entry becomes the compiled one.
//!
//! Destinations are passed: what a kernel computes for an output of the call is written there at once.
//! Loops carry their tensors in buffers that are allocated before the loop and written at the end of each turn.

mod control;
mod convert;
mod entry;

pub use crate::error::Error;
pub use entry::{Argument, Program, Returned};

use strata_core::ir::Module;

/// Rewrites the captured entry as a `func.func` with `host.entry`; says what its arguments and results are.
pub fn loop_to_host(module: &Module<'_>) -> Result<Program, Error> {
    let entry = module
        .body()
        .ops()
        .into_iter()
        .find(|op| op.is("func.func") && op.attr("capture.entry").is_some())
        .or_else(|| module.body().ops().into_iter().find(|op| op.is("func.func")))
        .ok_or_else(|| Error::at(module.op(), "there is no function to compile"))?;
    let program = Program::of(entry)?;
    convert::convert(module, entry, &program)?;
    Ok(program)
}
