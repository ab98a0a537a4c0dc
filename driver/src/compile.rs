//! From a file to an artefact.

use crate::Error;
use crate::artefact::{self, Notes};
use crate::autotune;
use crate::by_function;
use crate::device;
use crate::incremental::Report;
use crate::levels::{LEVELS, Level, all_levels, road};
use crate::options::{self, Dynamic, Mode, Numerics, Options};
use crate::sample_inputs::usual_sizes;
use crate::source_file::{Source, SourceFile};
use crate::units::{self, Make};
use crate::warm_up::warmed;
use std::sync::Arc;
use std::time::Instant;
use strata_core::ir::{Module, Op};
use strata_core::pass::PassManager;
use strata_core::registry::Registry;
use strata_core::rewrite::Rewriter;
use strata_core::upstream::func;
use strata_dialects::host;
use strata_lowering::codegen::{self, Emitted, Target};
use strata_lowering::loop_to_cpu::messages;
use strata_lowering::loop_to_host::{Program, entry};
use strata_lowering::target::{self, MathTarget};
use strata_runtime::manifest::{DeviceCode, StageTime};
use strata_runtime::{Artefact, limits};
use strata_store::Store;

/// The level at which the program's signature is read.
const SIGNATURE: &str = "prim-fused";

/// The last level at which weights are prepared: panels of those that kernels read.
const PREPARED: &str = "loop-scheduled";

/// Runs a stage and notes its time.
fn time<T>(notes: &mut Notes, name: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    notes.timings.push(StageTime { name: name.to_owned(), micros: start.elapsed().as_micros() as u64 });
    result
}

/// Runs the passes that lead to a level from the one before.
pub(crate) fn run_level(module: &Module<'_>, level: &Level, options: &Options) -> Result<(), Error> {
    run_passes(module, level, &level.text(options), options)
}

pub(crate) fn run_passes(module: &Module<'_>, level: &Level, text: &str, options: &Options) -> Result<(), Error> {
    if text.is_empty() {
        return if level.name == LEVELS[0].name { check_sizes(module.op(), options) } else { Ok(()) };
    }
    let failed = |source| Error::Level { level: level.name, source };
    // Development builds look behind every pass, released ones at every level.
    let manager = PassManager::parse(module.cx(), "builtin.module", text).map_err(failed)?;
    manager.verify_each(options.verify || cfg!(debug_assertions)).run(module.op()).map_err(failed)?;
    module.op().check().map_err(|errors| Error::Broken { level: level.name, errors })?;
    if level.name == LEVELS[0].name { check_sizes(module.op(), options) } else { Ok(()) }
}

/// With `dynamic` off every size of an input is known by now.
fn check_sizes(module: Op<'_>, options: &Options) -> Result<(), Error> {
    if options.dynamic != Dynamic::Off {
        return Ok(());
    }
    let program = Program::of(entry(module)?)?;
    let symbolic = program.arguments.into_iter().find(|argument| argument.shape.contains(&None));
    symbolic.map_or(Ok(()), |argument| Err(Error::Symbolic { name: argument.name }))
}

/// A program is compiled from the levels at which its entry has a signature.
fn check_level(module: Op<'_>) -> Result<(), Error> {
    let is_entry = |op: &Op<'_>| op.isa::<func::Func>() && op.attr(host::ENTRY).is_some();
    if module.attr(host::MESSAGES).is_none() && !module.body(0).ops().iter().any(is_entry) {
        return Ok(());
    }
    let names: Vec<_> = LEVELS.iter().map(|level| level.name).take_while(|name| *name != "host").collect();
    Err(Error::Lowered { known: names.join(", ") })
}

/// Runs the levels of the target's road down to the one of this name; `after` looks at each.
pub(crate) fn run_to(module: &Module<'_>, to: &str, options: &Options, after: &mut dyn FnMut(&Level)) -> Result<(), Error> {
    let road = road(options.target);
    let known = || road.iter().map(|level| level.name).collect::<Vec<_>>().join(", ");
    if !road.iter().any(|level| level.name == to) {
        let elsewhere = all_levels().any(|level| level.name == to);
        return Err(match (elsewhere, options.target) {
            (true, options::Target::Cpu) => Error::LevelOfDevice { name: to.to_owned() },
            (true, options::Target::Cuda(_)) => Error::LevelOfCpu { name: to.to_owned() },
            (false, _) => Error::UnknownLevel { name: to.to_owned(), known: known() },
        });
    }
    check_level(module.op())?;
    for level in &road {
        run_level(module, level, options)?;
        after(level);
        if level.name == to {
            break;
        }
    }
    Ok(())
}

/// Compiles a file for a CUDA device and gives the PTX of its kernels; nothing when it has none.
pub fn ptx<'a>(registry: &'static Registry, file: impl Into<SourceFile<'a>>, options: &Options) -> Result<String, Error> {
    let file = file.into();
    if options.target == options::Target::Cpu {
        return Err(Error::NoDevice);
    }
    let context = registry.lend();
    let source = file.read(&context)?;
    run_to(&source.module, "gpu", options, &mut |_| {}).map_err(|error| error.of(file.path))?;
    let modules = device::modules(&source.module, options)?;
    match modules.as_slice() {
        [] => Ok(String::new()),
        [one] => Ok(one.ptx.clone()),
        _ => Err(Error::OneDevice),
    }
}

/// Compiles a file to a level and gives the text.
pub fn lower<'a>(registry: &'static Registry, file: impl Into<SourceFile<'a>>, to: &str, options: &Options) -> Result<String, Error> {
    let file = file.into();
    let given = target(registry, options)?;
    let context = registry.lend();
    let source = file.read(&context)?;
    settle(&source.module, given, options)?;
    run_to(&source.module, to, options, &mut |_| {}).map_err(|error| error.of(file.path))?;
    Ok(source.module.to_string())
}

/// Compiles a file for the target: code of the CPU, which starts a device's kernels where there is one. With a store, functions and pieces of code that are in it are taken from there.
pub fn compile<'a>(
    registry: &'static Registry,
    file: impl Into<SourceFile<'a>>,
    options: &Options,
    store: Option<&Arc<Store>>,
) -> Result<Artefact, Error> {
    compile_explained(registry, file, options, store).map(|(artefact, _)| artefact)
}

/// [`compile`], with what was redone for which function.
pub fn compile_explained<'a>(
    registry: &'static Registry,
    file: impl Into<SourceFile<'a>>,
    options: &Options,
    store: Option<&Arc<Store>>,
) -> Result<(Artefact, Report), Error> {
    let file = file.into();
    match options.target {
        options::Target::Cpu => compile_with(registry, file, options, store, None),
        options::Target::Cuda(_) => compile_with(registry, file, options, store, Some(&mut |module| device::code(module, options))),
    }
}

/// What a device gets of a module at the level `gpu`.
pub(crate) type OnDevice<'a> = &'a mut dyn FnMut(&Module<'_>) -> Result<DeviceCode, Error>;

/// [`compile_explained`], with somebody who makes the device's code where the target is one.
pub(crate) fn compile_with(
    registry: &'static Registry,
    file: SourceFile<'_>,
    options: &Options,
    store: Option<&Arc<Store>>,
    on_device: Option<OnDevice<'_>>,
) -> Result<(Artefact, Report), Error> {
    if options.autotune_budget.is_some() && options.mode != Mode::MaxAutotune {
        return Err(Error::BudgetUnused);
    }
    let target = target(registry, options)?;
    warmed(registry, &target, || {
        compile_for(registry, file, target.clone(), options, store, on_device).map_err(|error| error.of(file.path))
    })
}

fn compile_for(
    registry: &'static Registry,
    file: SourceFile<'_>,
    given: Target,
    options: &Options,
    store: Option<&Arc<Store>>,
    on_device: Option<OnDevice<'_>>,
) -> Result<(Artefact, Report), Error> {
    let mut notes = Notes::default();
    let mut options = options.clone();
    let context = time(&mut notes, "context", || registry.lend());
    let Source { module, weights } = time(&mut notes, "import", || file.read(&context))?;
    let target = &settle(&module, given, &options)?;
    check_level(module.op())?;
    if options.part.is_empty() {
        options.part = entry(module.op())?.str("sym_name").unwrap_or_default();
    }
    let options = &options;
    run_level(&module, &LEVELS[0], options)?;
    notes.level(LEVELS[0].name, module.op());
    let emit = code_options(options);
    let make = Make { registry, target, options: &emit, store: store.map(Arc::as_ref) };
    let (mut program, mut redone) = (None, Report::default());
    for level in road(options.target).into_iter().skip(1).take_while(|level| !matches!(level.name, "cpu" | "nvvm")) {
        let report = time(&mut notes, level.name, || by_function::run_level(registry, &context, &module, level, options, store))?;
        redone.records.extend(report.records);
        if level.name == PREPARED && options.mode == Mode::MaxAutotune && on_device.is_none() {
            notes.tuned = time(&mut notes, "autotune", || autotune::tune(&module, options, make))?;
        }
        notes.level(level.name, module.op());
        // Writes to buffers have become results and weights are prepared, and the next level forgets which integers have no sign.
        if level.name == SIGNATURE {
            program = Some(Program::of(entry(module.op())?)?);
            notes.sample = usual_sizes(entry(module.op())?);
        }
        if let Some(program) = program.as_mut().filter(|_| level.name == PREPARED) {
            program.prepare(&Program::of(entry(module.op())?)?);
        }
    }
    let program = program.ok_or(Error::NoEntry)?;
    let device = on_device.map(|make| time(&mut notes, "device code", || make(&module))).transpose()?;
    let objects = time(&mut notes, "code", || units::objects(&module, make))?;
    notes.messages = messages(module.op());
    // Of all threads together, so they may be more than the time of the stage they are part of.
    let timings = objects.timings;
    let parts = [("code: translate", timings.translate), ("code: llvm-passes", timings.optimise), ("code: object", timings.generate)];
    for (name, time) in parts {
        notes.timings.push(StageTime { name: name.to_owned(), micros: time.as_micros() as u64 });
    }
    let bytes: Vec<_> = objects.bytes.iter().map(Vec::as_slice).collect();
    let image = time(&mut notes, "link", || codegen::link_as(&bytes, &objects.aliases))?;
    let mut artefact = artefact::build(&program, weights.as_ref(), file.path, image, target, notes)?;
    artefact.manifest.device = device;
    Ok((artefact, redone))
}

/// Compiles a file for the CPU in one piece: its object, and LLVM IR or assembly where they are asked for.
pub fn emit<'a>(
    registry: &'static Registry,
    file: impl Into<SourceFile<'a>>,
    options: &Options,
    emit: &codegen::Options,
) -> Result<Emitted, Error> {
    let file = file.into();
    let given = target(registry, options)?;
    let context = registry.lend();
    let source = file.read(&context)?;
    let target = settle(&source.module, given, options)?;
    run_to(&source.module, "cpu", options, &mut |_| {}).map_err(|error| error.of(file.path))?;
    let module = source.module.op();
    codegen::lower_to_llvm(module, &MathTarget::of(&target))?;
    Ok(codegen::emit(module, &target, &codegen::Options { contract: code_options(options).contract, ..emit.clone() })?)
}

/// The CPU that is compiled for. Every compilation begins here, so that names of passes are looked at here, too.
pub(crate) fn target(registry: &'static Registry, options: &Options) -> Result<Target, Error> {
    let known = Level::optional_passes();
    if let Some(name) = options.skip.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(Error::UnknownSkip { name: name.clone(), known: known.join(", ") });
    }
    let target = target::or_host(&options.cpu)?;
    Ok(if options.target_entries.is_empty() { target } else { target.with_entries((&*registry.lend()).into(), &options.target_entries)? })
}

/// The target of the options as an MLIR dictionary; with `measure`, with the bandwidths of the machine at hand as they are measured now.
pub fn describe_target(registry: &'static Registry, options: &Options, measure: bool) -> Result<String, Error> {
    let mut target = target(registry, options)?;
    if measure {
        // A quarter of a cache, so that nothing else that is there matters; of memory eight times the largest.
        let measured = |bytes: i64| (limits::bandwidth(bytes as u64) / 1e8).round() / 10.0;
        for cache in [&mut target.l1, &mut target.l2, &mut target.l3] {
            cache.gigabytes_per_second = measured(cache.bytes / 4).max(0.1);
        }
        target.memory_gigabytes_per_second = measured(target.l3.bytes.saturating_mul(8)).max(0.1);
    }
    Ok(target.attr((&*registry.lend()).into()).to_string())
}

/// The target of a program, which is written at it: as the program says, or the one that is given.
pub(crate) fn settle(module: &Module<'_>, given: Target, options: &Options) -> Result<Target, Error> {
    let written = Target::written(module.op())?;
    if written.is_some() && !(options.cpu.is_empty() && options.target_entries.is_empty()) {
        return Err(Error::TwoTargets);
    }
    let target = written.unwrap_or(given);
    target.write(&mut Rewriter::before(module.op()), module.op());
    Ok(target)
}

fn code_options(options: &Options) -> codegen::Options {
    codegen::Options { contract: options.numerics != Numerics::Bitwise, ..codegen::Options::default() }
}
