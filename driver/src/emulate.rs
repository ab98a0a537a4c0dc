//! Compiles a program for a CUDA device and runs it without one: the host program in the interpreter, its kernels as the device would.

use std::path::Path;

use strata_dialects::interp::{self, Signature};
use strata_lowering::loop_to_host::{Program, entry};
use strata_runtime::Tensor;
use strata_runtime::compiler::NamedTensor;

use crate::compile::{context, read, run_to};
use crate::interpret::{arguments, results, weights};
use crate::{Error, Options};

/// The level above which the program's signature is read.
const HOST: &str = "host";

/// Runs a file at the level `gpu`: the outputs, then the mutations.
pub fn emulate(path: &Path, options: &Options, inputs: Vec<Tensor>) -> Result<Vec<NamedTensor>, Error> {
    let context = context();
    let source = read(path, &context)?;
    let module = source.module.op();
    let program = Program::of(entry(module)?)?;
    if program.next.is_some() {
        return Err(Error::EmulatedPart);
    }
    let values = arguments(&program, &inputs)?;
    let table = weights(&program, &source, path)?;
    // Writes to buffers become results on the way down.
    let (mut signature, mut below) = (None, false);
    run_to(&source.module, "gpu", options, &mut |level| {
        below |= level.name == HOST;
        if !below {
            signature = Signature::of(module).ok();
        }
    })?;
    let signature = signature.ok_or(Error::NoEntry)?;
    let outputs = interp::run_host(module, &signature, values, &|name| table.get(name).cloned());
    results(&program, outputs.map_err(|error| Error::Interpreter(error.to_string()))?)
}
