//! From a file to an artefact.

use crate::Error;
use crate::artefact::{self, Notes};
use crate::autotune;
use crate::database::{Database, Db, Report};
use crate::device;
use crate::layers;
use crate::levels::Level;
use crate::options::{self, Mode, Numerics, Options};
use crate::pipelines::{optional_passes, pipelines};
use crate::ptx_kernels;
use crate::run_levels::{check_level, run_pipeline, run_to};
use crate::sample_inputs::usual_sizes;
use crate::source_file::{Source, SourceFile};
use crate::units::{self, Code, HostNotes, Rest};
use crate::warm_up::warmed;
use std::sync::Arc;
use std::time::Instant;
use strata_core::ir::{Cx, Module};
use strata_core::registry::Registry;
use strata_core::rewrite::Rewriter;
use strata_core::upstream::func;
use strata_dialects::capture;
use strata_dialects::loops;
use strata_dialects::loops::schedule::SCHEDULE;
use strata_dialects::prim;
use strata_dialects::target::TARGET;
use strata_dialects::target::gpu::{GPU, Gpu};
use strata_lowering::codegen::{self, Emitted, LinkedImage, Target};
use strata_lowering::loop_to_host::{Program, entry};
use strata_lowering::schedule::slow::{Slow, slow};
use strata_lowering::target::{self, MathTarget};
use strata_lowering::train_step::Settings;
use strata_runtime::manifest::{DeviceCode, StageTime};
use strata_runtime::op_library::OpLibrary;
use strata_runtime::origin::Origin;
use strata_runtime::{Artefact, limits};
use strata_store::Store;

/// The level at which the program's signature is read.
const SIGNATURE: Level = Level::PrimFused;

/// The last level at which weights are prepared: panels of those that kernels read.
const PREPARED: Level = Level::LoopScheduled;

/// Runs a stage and notes its time.
fn time<T>(notes: &mut Notes, name: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    notes.timings.push(StageTime { name: name.to_owned(), micros: start.elapsed().as_micros() as u64 });
    result
}

/// Compiles a file for a CUDA device and gives the PTX of its kernels; nothing when it has none.
pub fn ptx<'a>(registry: &'static Registry, file: impl Into<SourceFile<'a>>, options: &Options) -> Result<String, Error> {
    let file = file.into();
    if options.target == options::Target::Cpu {
        return Err(Error::NoDevice);
    }
    let context = registry.pooled_context();
    let source = file.read_for(&context, options)?;
    run_to(registry, &source.module, Level::Gpu, options, &mut |_| {}).map_err(|error| error.of(file.path))?;
    let modules = device::modules(registry, &source.module, options)?;
    match modules.as_slice() {
        [] => Ok(String::new()),
        [one] => Ok(one.ptx.clone()),
        _ => Err(Error::OneDevice),
    }
}

/// Compiles a file to a level and gives the text.
pub fn lower<'a>(registry: &'static Registry, file: impl Into<SourceFile<'a>>, to: &str, options: &Options) -> Result<String, Error> {
    let file = file.into();
    has_backward(file, options)?;
    let given = target(registry, options)?;
    let context = registry.pooled_context();
    let source = file.read_for(&context, options)?;
    settle(&source.module, given, options)?;
    run_to(registry, &source.module, to.parse()?, options, &mut |_| {}).map_err(|error| error.of(file.path))?;
    Ok(source.module.to_string())
}

/// The stages of a file's kernels that run one element at a time on the CPU although they take long.
pub fn explain_slow<'a>(registry: &'static Registry, file: impl Into<SourceFile<'a>>, options: &Options) -> Result<Vec<Slow>, Error> {
    let file = file.into();
    let given = target(registry, options)?;
    let context = registry.pooled_context();
    let source = file.read_for(&context, options)?;
    settle(&source.module, given, options)?;
    run_to(registry, &source.module, Level::LoopScheduled, options, &mut |_| {}).map_err(|error| error.of(file.path))?;
    Ok(slow(source.module.op(), &Target::of(source.module.op())?))
}

/// Compiles a file for the target: code of the CPU, which starts a device's kernels where there is one. With a store, what is in it is
/// taken from there.
pub fn compile<'a>(
    registry: &'static Registry,
    file: impl Into<SourceFile<'a>>,
    options: &Options,
    store: Option<&Arc<Store>>,
) -> Result<Artefact, Error> {
    compile_explained(registry, file, options, store).map(|(artefact, _)| artefact)
}

/// [`compile`], with where each result came from.
pub fn compile_explained<'a>(
    registry: &'static Registry,
    file: impl Into<SourceFile<'a>>,
    options: &Options,
    store: Option<&Arc<Store>>,
) -> Result<(Artefact, Report), Error> {
    let db = Database::new(registry, store.cloned());
    let artefact = compile_with(&db, file.into(), options, None)?;
    Ok((artefact, db.take_report()))
}

/// An exported program has a backward where one is asked for; of a text it is not known.
fn has_backward(file: SourceFile<'_>, options: &Options) -> Result<(), Error> {
    let useless = options.rematerialise.is_some() && options.gradient().is_none() && file.is_exported();
    if useless { Err(Error::NoBackward { path: file.path.to_owned() }) } else { Ok(()) }
}

/// What a device gets of a module at the level `gpu`.
pub(crate) type OnDevice<'a> = &'a mut dyn FnMut(&Module<'_>) -> Result<DeviceCode, Error>;

/// Compiles a file. Who emulates a device makes that device's code.
pub(crate) fn compile_with(
    db: &dyn Db,
    file: SourceFile<'_>,
    options: &Options,
    emulated: Option<OnDevice<'_>>,
) -> Result<Artefact, Error> {
    if options.autotune_budget.is_some() && options.mode != Mode::MaxAutotune {
        return Err(Error::BudgetUnused);
    }
    has_backward(file, options)?;
    let mut emulated = emulated;
    let device = emulated.is_some() || options.target != options::Target::Cpu;
    let mut make = |module: &Module<'_>| match &mut emulated {
        Some(make) => make(module),
        None => device::code(db.registry(), module, options),
    };
    let on_device: Option<OnDevice<'_>> = if device { Some(&mut make) } else { None };
    let target = target(db.registry(), options)?;
    warmed(db.registry(), &target, || compile_for(db, file, target.clone(), options, on_device).map_err(|error| error.of(file.path)))
}

fn compile_for(
    db: &dyn Db,
    file: SourceFile<'_>,
    given: Target,
    options: &Options,
    on_device: Option<OnDevice<'_>>,
) -> Result<Artefact, Error> {
    let mut notes = Notes::default();
    let mut options = options.clone();
    let context = time(&mut notes, "context", || db.registry().pooled_context());
    let Source { module, weights, format } = time(&mut notes, "import", || file.read_for(&context, &options))?;
    let target = settle(&module, given, &options)?;
    ptx_kernels::choose(&module, &options)?;
    check_level(module.op())?;
    if options.part.is_empty() {
        options.part = entry(module.op())?.str("sym_name").unwrap_or_default();
    }
    let options = &options;
    let (top, levels) = pipelines(options.target).into_iter().partition::<Vec<_>, _>(|pipeline| pipeline.level == Level::Capture);
    top.into_iter().try_for_each(|pipeline| run_pipeline(db.registry(), &module, pipeline, options))?;
    notes.level(Level::Capture, module.op());
    let code = Code { target, options: code_options(options) };
    let mut program = None;
    let levels = levels.into_iter().filter(|pipeline| !matches!(pipeline.level, Level::Cpu | Level::Nvvm));
    let (levels, rest): (Vec<_>, Vec<_>) = match on_device {
        // What becomes of the program around its kernels is known where that is known.
        None => levels.partition(|pipeline| pipeline.level != Level::Host),
        Some(_) => (levels.collect(), Vec::new()),
    };
    let scheduled = on_device.is_none() && options.sizes.is_none() && is_scheduled(&module);
    for pipeline in levels {
        let level = pipeline.level;
        if !scheduled {
            time(&mut notes, level.name(), || layers::run_pipeline(db, &context, &module, pipeline, options))?;
        }
        if level == PREPARED && options.mode == Mode::MaxAutotune && on_device.is_none() {
            notes.tuned = time(&mut notes, "autotune", || autotune::tune(&module, options, db, &code))?;
        }
        notes.level(level, module.op());
        // Writes to buffers have become results and weights are prepared, and the next level forgets which integers have no sign.
        if level == SIGNATURE {
            program = Some(Program::of(entry(module.op())?)?);
            notes.sample = usual_sizes(entry(module.op())?);
        }
        if let Some(program) = program.as_mut().filter(|_| level == PREPARED) {
            program.prepare(&Program::of(entry(module.op())?)?);
        }
    }
    let program = program.ok_or(Error::NoEntry)?;
    let device = on_device.map(|make| time(&mut notes, "device code", || make(&module))).transpose()?;
    let passes = rest.iter().map(|pipeline| pipeline.text(db.registry(), options)).collect::<Vec<_>>().join(",");
    let mut stages = Notes::default();
    let mut run = |module: &Module<'_>| {
        for pipeline in &rest {
            time(&mut stages, pipeline.level.name(), || run_pipeline(db.registry(), module, pipeline, options))?;
            stages.level(pipeline.level, module.op());
        }
        Ok(HostNotes { arena: stages.arena, levels: stages.levels.clone(), ..HostNotes::default() })
    };
    let objects = time(&mut notes, "code", || units::objects(db, &module, &code, Rest { passes, run: &mut run }))?;
    notes.messages = objects.notes.messages;
    notes.levels.extend(objects.notes.levels);
    notes.arena = notes.arena.or(objects.notes.arena);
    notes.timings.extend(stages.timings.into_iter().map(|stage| StageTime { name: format!("code: {}", stage.name), ..stage }));
    // Of all threads together, so they may be more than the time of the stage they are part of.
    let timings = objects.timings;
    let parts = [("code: translate", timings.translate), ("code: llvm-passes", timings.optimise), ("code: object", timings.generate)];
    for (name, time) in parts {
        notes.timings.push(StageTime { name: name.to_owned(), micros: time.as_micros() as u64 });
    }
    let bytes: Vec<_> = objects.bytes.iter().map(Vec::as_slice).collect();
    let image = time(&mut notes, "link", || codegen::link_as(&bytes, &objects.aliases))?;
    let op_libraries = called_libraries(&image, options)?;
    let mut artefact = artefact::build(&program, weights.as_ref(), file.path, image, &code.target, notes)?;
    artefact.manifest.device = device;
    artefact.manifest.op_libraries = op_libraries;
    artefact.manifest.origin = Some(match file.text {
        // What never was on disk is no file here that has its name by chance.
        Some(_) => Origin { file: file.path.display().to_string(), format },
        None => Origin::of(file.path, format),
    });
    Ok(artefact)
}

/// The libraries of the user whose kernels an image calls, of those that are given.
fn called_libraries(image: &LinkedImage, options: &Options) -> Result<Vec<OpLibrary>, Error> {
    let mut called = Vec::new();
    for (file, symbol) in image.imports.iter().filter_map(|(name, _)| capture::kernel_of(name)) {
        let given = options.op_libraries.iter().find(|library| library.file == file);
        let given = given.ok_or_else(|| Error::NoOpLibrary { file: file.to_owned(), symbol: symbol.to_owned() })?;
        if !called.contains(given) {
            called.push(given.clone());
        }
    }
    called.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(called)
}

/// Whether a program stands at the level of scheduled kernels already: what leads there has nothing to do.
fn is_scheduled(module: &Module<'_>) -> bool {
    let ops = module.body().ops();
    let (kernels, others): (Vec<_>, Vec<_>) = ops.into_iter().partition(|op| op.isa::<loops::Kernel>());
    let whole = others.iter().filter(|op| op.attr(capture::ENTRY).is_some()).count() == 1;
    let mut lowered = true;
    others.iter().for_each(|op| {
        op.walk(&mut |op| {
            // Views of memory stay what they are.
            lowered &= op.dialect() != "aten" && (op.dialect() != "prim" || op.isa::<prim::Reshape>()) && !op.isa::<func::Call>();
        })
    });
    whole && lowered && !kernels.is_empty() && kernels.iter().all(|kernel| kernel.attr(SCHEDULE).is_some())
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
    let context = registry.pooled_context();
    let source = file.read_for(&context, options)?;
    let target = settle(&source.module, given, options)?;
    run_to(registry, &source.module, Level::Cpu, options, &mut |_| {}).map_err(|error| error.of(file.path))?;
    let module = source.module.op();
    codegen::lower_to_llvm(module, &MathTarget::of(&target))?;
    Ok(codegen::emit(module, &target, &codegen::Options { contract: code_options(options).contract, ..emit.clone() })?)
}

/// The CPU that is compiled for. Every compilation begins here, so that names of passes are looked at here, too.
pub(crate) fn target(registry: &'static Registry, options: &Options) -> Result<Target, Error> {
    let known = optional_passes(registry, options.target);
    if let Some(name) = options.skip.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(Error::UnknownSkip { name: name.clone(), target: options.target.into(), known: known.join(", ") });
    }
    options.train.as_deref().map(str::parse::<Settings>).transpose()?;
    let target = target::or_host(&options.cpu)?;
    let entries = options.cpu_entries();
    Ok(if entries.is_empty() { target } else { target.with_entries((&*registry.pooled_context()).into(), entries)? })
}

/// The GPU that kernels are made for, if any: of several architectures the oldest, since the newer ones run the same schedules.
fn gpu(cx: Cx<'_>, options: &Options) -> Result<Option<Gpu>, Error> {
    let options::Target::Cuda(devices) = options.target else { return Ok(None) };
    devices.iter().next().map(|oldest| gpu_named(cx, options, oldest.name())).transpose()
}

/// A GPU by its architecture, with the entries of the options.
pub fn gpu_named(cx: Cx<'_>, options: &Options, architecture: &str) -> Result<Gpu, Error> {
    let gpu = target::gpu(architecture)?;
    Ok(if options.target_entries.is_empty() { gpu } else { gpu.with_entries(cx, &options.target_entries)? })
}

/// The target of the options as an MLIR dictionary, the GPU's where kernels are made for one; with `measure`, with the bandwidths of the CPU at
/// hand as they are measured now.
pub fn describe_target(registry: &'static Registry, options: &Options, measure: bool) -> Result<String, Error> {
    let context = registry.pooled_context();
    if let Some(gpu) = gpu((&*context).into(), options)? {
        return Ok(gpu.attr((&*context).into()).to_string());
    }
    let mut target = target(registry, options)?;
    if measure {
        // A quarter of a cache, so that nothing else that is there matters; of memory eight times the largest.
        let measured = |bytes: i64| (limits::bandwidth(bytes as u64) / 1e8).round() / 10.0;
        for cache in [&mut target.l1, &mut target.l2, &mut target.l3] {
            cache.gigabytes_per_second = measured(cache.bytes / 4).max(0.1);
        }
        target.memory_gigabytes_per_second = measured(target.l3.bytes.saturating_mul(8)).max(0.1);
    }
    Ok(target.attr((&*context).into()).to_string())
}

/// The target of a program, which is written at it, with the GPU of its kernels: as the program says, or the one that is given.
pub(crate) fn settle(module: &Module<'_>, given: Target, options: &Options) -> Result<Target, Error> {
    if let Some(gpu) = gpu(module.cx(), options)? {
        let written = Gpu::written(module.op())?;
        if written.is_some() && !options.target_entries.is_empty() {
            return Err(Error::TwoTargets { attribute: GPU });
        }
        written.unwrap_or(gpu).write(&mut Rewriter::before(module.op()), module.op());
    }
    let written = Target::written(module.op())?;
    if written.is_some() && !(options.cpu.is_empty() && options.cpu_entries().is_empty()) {
        return Err(Error::TwoTargets { attribute: TARGET });
    }
    let target = written.unwrap_or(given);
    target.write(&mut Rewriter::before(module.op()), module.op());
    Ok(target)
}

fn code_options(options: &Options) -> codegen::Options {
    codegen::Options { contract: options.numerics != Numerics::Strict, ..codegen::Options::default() }
}
