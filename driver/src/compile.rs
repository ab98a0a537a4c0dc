//! From a file to an artefact.

use crate::artefact::{self, Notes};
use crate::levels::{LEVELS, Level};
use crate::options::{Dynamic, Numerics, Options};
use crate::{Error, registry};
use std::path::Path;
use std::time::Instant;
use strata_core::ir::{Context, Module};
use strata_core::pass::PassManager;
use strata_core::registry::{Registry, load_dialect};
use strata_frontend::Weights;
use strata_lowering::codegen::{self, Target};
use strata_lowering::loop_to_cpu::messages;
use strata_lowering::loop_to_host::{Program, entry};
use strata_runtime::Artefact;
use strata_runtime::manifest::StageTime;

/// The level at which the program's signature is read.
const SIGNATURE: &str = "prim-fused";

/// A program with its code, for those who want more than the artefact.
pub struct Compiled {
    /// To be loaded and run.
    pub artefact: Artefact,
    /// The relocatable object.
    pub object: Vec<u8>,
    /// LLVM IR, when it was asked for.
    pub ir: Option<String>,
    /// Assembly, when it was asked for.
    pub assembly: Option<String>,
}

/// A program before any pass: its module, and where its weights are.
pub(crate) struct Source<'c> {
    pub module: Module<'c>,
    pub weights: Option<Weights>,
}

/// A context with everything in it; dialects are loaded as they are met.
pub(crate) fn context() -> Context {
    thread_local! {
        static REGISTRY: Registry = registry::registry().with_upstream_passes().with_passes(&registry::passes());
    }
    REGISTRY.with(Registry::context)
}

/// Reads a `.pt2` or `.mlir` file.
pub(crate) fn read<'c>(path: &Path, context: &'c Context) -> Result<Source<'c>, Error> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("pt2") => {
            for dialect in ["aten", "capture", "prims"] {
                load_dialect(context, dialect);
            }
            let imported = strata_frontend::import(path, context)?;
            Ok(Source { module: imported.module, weights: Some(imported.weights) })
        }
        Some("mlir") => {
            let text = std::fs::read_to_string(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
            let module = Module::parse(context, &text, &path.display().to_string())?;
            Ok(Source { module, weights: None })
        }
        _ => Err(Error::Kind { path: path.to_owned() }),
    }
}

/// Runs a stage and notes its time.
fn time<T>(notes: &mut Notes, name: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    notes.timings.push(StageTime { name: name.to_owned(), micros: start.elapsed().as_micros() as u64 });
    result
}

/// Runs the passes that lead to a level from the one before.
pub(crate) fn run_level(module: &Module<'_>, level: &Level, options: &Options) -> Result<(), Error> {
    let text = level.text(options);
    if text.is_empty() {
        return Ok(());
    }
    let failed = |source| Error::Level { level: level.name, source };
    let manager =
        PassManager::parse(module.cx(), "builtin.module", &text).map_err(failed)?.verify_each(options.verify || level.name == "prim");
    manager.run(module.op()).map_err(failed)
}

/// Compiles a file to a level and gives the text.
pub fn lower(path: &Path, to: &str, options: &Options) -> Result<String, Error> {
    let target = Level::named(to).ok_or_else(|| Error::UnknownLevel {
        name: to.to_owned(),
        known: LEVELS.iter().map(|level| level.name).collect::<Vec<_>>().join(", "),
    })?;
    let context = context();
    let source = read(path, &context)?;
    for level in LEVELS {
        run_level(&source.module, level, options)?;
        if level.name == target.name {
            break;
        }
    }
    Ok(source.module.to_string())
}

/// Compiles a file for the CPU.
pub fn compile(path: &Path, options: &Options, emit: &codegen::Options) -> Result<Compiled, Error> {
    let mut notes = Notes::default();
    let target = if options.cpu.is_empty() { Target::host() } else { Target::named(&options.cpu) };
    let options = &Options { vector_bits: options.vector_bits.or(Some(target.vector_bits())), ..options.clone() };
    let context = time(&mut notes, "context", context);
    let source = time(&mut notes, "import", || read(path, &context))?;
    let module = source.module.op();
    notes.level(LEVELS[0].name, module);
    let mut program = None;
    for level in &LEVELS[1..] {
        time(&mut notes, level.name, || run_level(&source.module, level, options))?;
        notes.level(level.name, module);
        // Writes to buffers have become results and weights are prepared, and the next level forgets which integers have no sign.
        if level.name == SIGNATURE {
            program = Some(Program::of(entry(module)?)?);
        }
    }
    let program = program.ok_or(Error::NoEntry)?;
    let symbolic = program.arguments.iter().find(|argument| argument.shape.contains(&None));
    if let Some(argument) = symbolic.filter(|_| options.dynamic == Dynamic::Off) {
        return Err(Error::Symbolic { name: argument.name.clone() });
    }
    notes.messages = messages(module);
    time(&mut notes, "llvm", || codegen::lower_to_llvm(module, &target.math()))?;
    notes.level("llvm", module);
    let emit = codegen::Options { contract: options.numerics != Numerics::Bitwise, ..emit.clone() };
    let emitted = codegen::emit(module, &target, &emit)?;
    let parts = [("translate", emitted.timings.translate), ("llvm-passes", emitted.timings.optimise), ("object", emitted.timings.generate)];
    for (name, time) in parts {
        notes.timings.push(StageTime { name: name.to_owned(), micros: time.as_micros() as u64 });
    }
    let image = time(&mut notes, "link", || codegen::link(&emitted.object))?;
    let artefact = artefact::build(&program, source.weights.as_ref(), path, image, &target, notes)?;
    Ok(Compiled { artefact, object: emitted.object, ir: emitted.ir, assembly: emitted.assembly })
}
