//! Runs a program in the reference interpreter, on the runtime's tensors.

use std::collections::HashMap;
use std::path::Path;

use strata_core::registry::Registry;
use strata_interp as interp;
use strata_interp::{Lent, Value};
use strata_lowering::loop_to_host::{Program, entry};
use strata_runtime::compiler::NamedTensor;
use strata_runtime::manifest::Target;
use strata_runtime::weights::Weights;
use strata_runtime::{Manifest, Tensor};

use crate::emulate::emulate;
use crate::kernels::{all_called, opened};
use crate::levels::Level;
use crate::run_levels::run_to;
use crate::source_file::{Source, SourceFile};
use crate::tensors::{from_runtime, to_runtime};
use crate::{Error, Options, artefact, options};

/// Interprets a file as it is, or for a CUDA device as it is when compiled for it: the outputs, then the mutations.
pub fn interpret(registry: &'static Registry, path: &Path, options: &Options, inputs: Vec<Tensor>) -> Result<Vec<NamedTensor>, Error> {
    run(registry, path, options, inputs).map_err(|error| error.of(path))
}

fn run(registry: &'static Registry, path: &Path, options: &Options, inputs: Vec<Tensor>) -> Result<Vec<NamedTensor>, Error> {
    if let options::Target::Cuda(_) = options.target {
        return emulate(registry, path, options, inputs);
    }
    let (kernels, context) = (opened(&options.op_library_files)?, registry.pooled_context());
    let source = SourceFile::from(path).read_for(&context, options)?;
    all_called(source.module.op(), &options.op_library_files)?;
    if options.gradient().is_some() {
        // A program is differentiated on the way to `prim`.
        run_to(registry, &source.module, Level::Prim, options, &mut |_| {})?;
    }
    let program = Program::of(entry(source.module.op())?)?;
    let failed = |text: String| Error::Interpreter(text);
    let values = arguments(&program, &inputs)?;
    let parts = parts(&source, program.clone())?;
    let mut table = HashMap::new();
    for part in &parts {
        table.extend(weights(part, &source, path)?);
    }
    let lent = Lent { weights: &|name| table.get(name).cloned(), kernels: kernels.as_ref() };
    let outputs = interp::run(source.module.op(), Some(&program.name), values, lent);
    let outputs = outputs.map_err(|e| failed(e.to_string()))?;
    results(parts.last().unwrap_or(&program), outputs)
}

/// The call's inputs as the interpreter's values.
pub(crate) fn arguments(program: &Program, inputs: &[Tensor]) -> Result<Vec<Value>, Error> {
    let failed = |text: String| Error::Interpreter(text);
    let wanted: Vec<_> = program.arguments.iter().filter(|argument| argument.is_input()).collect();
    if wanted.len() != inputs.len() {
        return Err(failed(format!("the program takes {} inputs, the call has {}", wanted.len(), inputs.len())));
    }
    let mut values = Vec::new();
    for (tensor, argument) in inputs.iter().zip(&wanted) {
        let dense = from_runtime(tensor).map_err(failed)?;
        values.push(if argument.tensor { Value::Tensor(dense) } else { Value::Scalar(dense.at(0)) });
    }
    Ok(values)
}

/// The outputs with their names, then the mutations.
pub(crate) fn results(program: &Program, outputs: interp::Outputs) -> Result<Vec<NamedTensor>, Error> {
    let failed = |text: String| Error::Interpreter(text);
    let named = program.results.iter().filter(|result| result.kind != "mutation").map(|result| result.name.clone());
    let mut results = Vec::new();
    for (name, value) in named.zip(outputs.outputs) {
        results.push(NamedTensor { name, mutation: false, tensor: to_runtime(value).map_err(failed)? });
    }
    for (name, value) in outputs.mutations {
        results.push(NamedTensor { name, mutation: true, tensor: to_runtime(value).map_err(failed)? });
    }
    Ok(results)
}

/// The parts of a program, in order; one that comes again is left to the interpreter's complaint.
fn parts(source: &Source<'_>, first: Program) -> Result<Vec<Program>, Error> {
    let mut parts = vec![first];
    while let Some(next) = parts.last().and_then(|part| part.next.clone()) {
        let Some(function) = source.module.op().lookup_symbol(&next.resume) else { break };
        if parts.iter().any(|part| part.name == next.resume) {
            break;
        }
        parts.push(Program::of(function)?);
    }
    Ok(parts)
}

/// The data of all that is no input, by name.
pub(crate) fn weights(program: &Program, source: &Source<'_>, path: &Path) -> Result<HashMap<String, interp::Tensor>, Error> {
    let failed = |text: String| Error::Interpreter(text);
    let mut manifest = Manifest::new("weights", Target::host());
    let places = artefact::Places::new(source.weights.as_ref(), path);
    for argument in program.arguments.iter().filter(|argument| argument.is_weight()) {
        manifest.weights.push(places.weight(argument)?);
    }
    let opened = Weights::open(&manifest, None).map_err(|e| failed(e.to_string()))?;
    let mut table = HashMap::new();
    for (k, weight) in manifest.weights.iter().enumerate() {
        let tensor = opened.copy(k, weight).map_err(|e| failed(e.to_string()))?;
        table.insert(weight.name.clone(), from_runtime(&tensor).map_err(failed)?);
    }
    Ok(table)
}
