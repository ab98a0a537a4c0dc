//! Runs the passes of levels on a module.

use crate::Error;
use crate::levels::{Level, list};
use crate::options::{self, Dynamic, Options};
use crate::pipelines::{Pipeline, pipelines};
use strata_core::ir::{Module, Op};
use strata_core::pass::PassManager;
use strata_core::registry::Registry;
use strata_core::upstream::func;
use strata_dialects::host;
use strata_lowering::loop_to_host::{Program, entry};

/// Runs the passes that lead to a level from the one before.
pub(crate) fn run_pipeline(registry: &Registry, module: &Module<'_>, pipeline: &Pipeline, options: &Options) -> Result<(), Error> {
    run_passes(module, pipeline.level, &pipeline.text(registry, options), options)
}

/// Runs passes, or some of them, that lead to a level.
pub(crate) fn run_passes(module: &Module<'_>, level: Level, text: &str, options: &Options) -> Result<(), Error> {
    if !text.is_empty() {
        let failed = |source| Error::Level { level, source };
        // Development builds look behind every pass, released ones at every level.
        let manager = PassManager::parse(module.cx(), "builtin.module", text).map_err(failed)?;
        manager.verify_each(options.verify || cfg!(debug_assertions)).run(module.op()).map_err(failed)?;
        module.op().check().map_err(|errors| Error::Broken { level, errors })?;
    }
    if level == Level::Capture { check_sizes(module.op(), options) } else { Ok(()) }
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
pub(crate) fn check_level(module: Op<'_>) -> Result<(), Error> {
    let is_entry = |op: &Op<'_>| op.isa::<func::Func>() && op.attr(host::ENTRY).is_some();
    if module.attr(host::MESSAGES).is_none() && !module.body(0).ops().iter().any(is_entry) {
        return Ok(());
    }
    Err(Error::Lowered { known: list(Level::ALL.into_iter().filter(|level| *level < Level::Host)) })
}

/// Runs the target's pipelines down to a level; `after` looks at each.
pub(crate) fn run_to(
    registry: &Registry,
    module: &Module<'_>,
    to: Level,
    options: &Options,
    after: &mut dyn FnMut(Level),
) -> Result<(), Error> {
    let pipelines = pipelines(options.target);
    let Some(last) = pipelines.iter().position(|pipeline| pipeline.level == to) else {
        return Err(match options.target {
            options::Target::Cpu => Error::LevelOfDevice { level: to },
            options::Target::Cuda(_) => Error::LevelOfCpu { level: to },
        });
    };
    check_level(module.op())?;
    for pipeline in &pipelines[..=last] {
        run_pipeline(registry, module, pipeline, options)?;
        after(pipeline.level);
    }
    Ok(())
}
