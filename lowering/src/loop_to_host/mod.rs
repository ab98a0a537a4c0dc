//! `loop` to `host`: tensors become buffers, calls of kernels become launches, the captured entry becomes the compiled one.
//!
//! Destinations are passed: what a kernel computes for an output of the call is written there at once.
//! Loops carry their tensors in buffers that are allocated before the loop and written at the end of each turn.

mod control;
mod convert;
mod custom_call;
mod entry;
mod library;
mod sizes;
mod views;
mod wanted;

pub use crate::error::Error;
pub use entry::{Argument, Program, Returned};
pub(crate) use library::DTYPE_CODES;

use strata_core::ir::Op;
use strata_core::pass::{Pass, PassContext, PassError};
use strata_core::upstream::func;
use strata_dialects::capture;
use strata_dialects::host;

/// Puts the program around the kernels into destination-passing style, on buffers.
#[derive(Pass)]
#[pass(dependents("host", "arith", "scf", "memref"))]
pub struct LoopToHost {}

impl Pass for LoopToHost {
    fn run<'c>(&self, op: Op<'c>, _: &mut PassContext<'c>) -> Result<(), PassError> {
        loop_to_host(op).map_err(|error| PassError::new(error.to_string()))
    }
}

/// The captured entry of a module, else its first function.
pub fn entry(module: Op<'_>) -> Result<Op<'_>, Error> {
    let marked = capture::entry(module).map_err(|error| Error::at(error.second, error.to_string()))?;
    let first = || module.body(0).ops().into_iter().find(|op| op.isa::<func::Func>());
    marked.or_else(first).ok_or_else(|| Error::at(module, "there is no function to compile"))
}

/// The function that computes prepared weights, where there is one.
pub fn prepare(module: Op<'_>) -> Option<Op<'_>> {
    module.body(0).ops().into_iter().find(|op| op.isa::<func::Func>() && op.attr(capture::PREPARE).is_some())
}

/// Rewrites the captured entry as a `func.func` with `host.entry`, and `@prepare` as one with `host.prepare`.
pub fn loop_to_host(module: Op<'_>) -> Result<(), Error> {
    let entry = entry(module)?;
    if let Some(other) = module.body(0).ops().into_iter().find(|op| *op != entry && capture::is_part(*op)) {
        return Err(Error::at(other, "the program has several parts, which are compiled one by one (split-breaks{only=NAME} keeps one)"));
    }
    if let Some(prepare) = prepare(module) {
        convert::convert(module, prepare, &Program::of(prepare)?, host::PREPARE)?;
    }
    convert::convert(module, entry, &Program::of(entry)?, host::ENTRY)
}
