//! Runs the passes of levels on a module.

use crate::Error;
use crate::levels::{LEVELS, Level, all_levels, road};
use crate::options::{self, Dynamic, Options};
use strata_core::ir::{Module, Op};
use strata_core::pass::PassManager;
use strata_core::upstream::func;
use strata_dialects::host;
use strata_lowering::loop_to_host::{Program, entry};

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
pub(crate) fn check_level(module: Op<'_>) -> Result<(), Error> {
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
