//! Layers that are functions, compiled function by function: what an edit did not change is known or comes from the store.
//!
//! A level's passes on functions run through the database on the private functions of a program, each by its own text. The program
//! itself, which only calls them, is worked on in its place: no text is made of it.

use crate::Error;
use crate::database::Db;
use crate::incremental::{each, unit};
use crate::levels::Level;
use crate::options::Options;
use crate::pass_list::Nest;
use crate::pipelines::Pipeline;
use crate::run_levels::run_passes;
use std::collections::HashMap;
use strata_core::ir::{Context, Module, Op};
use strata_core::pass::PassManager;
use strata_core::rewrite::Rewriter;
use strata_core::upstream::func;

/// So many passes in a row are looked up: to print and read a layer takes longer than fewer passes over it.
const WORTH: usize = 4;

/// More groups of passes than any pipeline has.
const GROUPS: usize = 64;

/// A pass: where it runs, and its text.
type Pass = (Nest, String);

/// Passes as one textual pipeline.
fn joined(passes: &[Pass]) -> String {
    passes.iter().map(|(on, pass)| on.around(pass)).collect::<Vec<_>>().join(",")
}

/// Runs the passes that lead to a level from the one before.
pub(crate) fn run_pipeline<'c>(
    db: &dyn Db,
    context: &'c Context,
    module: &Module<'c>,
    pipeline: &Pipeline,
    options: &Options,
) -> Result<(), Error> {
    let (level, passes) = (pipeline.level, pipeline.passes(db.registry(), options));
    if layers(module).is_empty() {
        return run_passes(module, level, &joined(&passes), options);
    }
    let mut plain = Vec::new();
    for (at, group) in passes.chunk_by(|a, b| a.0 == b.0).enumerate() {
        if group[0].0 != Nest::Functions || group.len() < WORTH {
            plain.extend_from_slice(group);
            continue;
        }
        // They may have taken layers back into the program.
        if !plain.is_empty() {
            run_passes(module, level, &joined(&std::mem::take(&mut plain)), options)?;
        }
        // A function is at one place in the pipeline once.
        let place = GROUPS * level as usize + at;
        match through_database(db, context, module, (place, &joined(group))) {
            Some(()) => in_place(module, level, group, options)?,
            None => plain.extend_from_slice(group),
        }
    }
    run_passes(module, level, &joined(&plain), options)?;
    module.op().check().map_err(|errors| Error::Broken { level, errors })
}

/// The functions that are layers.
fn layers<'c>(module: &Module<'c>) -> Vec<Op<'c>> {
    let private = |op: &Op<'_>| op.isa::<func::Func>() && op.str("sym_visibility").as_deref() == Some("private");
    module.body().ops().into_iter().filter(private).collect()
}

/// Replaces the layers by what passes make of them. Nothing where there are none, or where that fails: the passes then say why in
/// their place, with the locations of the source.
fn through_database<'c>(db: &dyn Db, context: &'c Context, module: &Module<'c>, passes: (usize, &str)) -> Option<()> {
    let layers = layers(module);
    layers.first()?;
    let symbols: HashMap<String, Op<'_>> = module.body().ops().into_iter().filter_map(|op| Some((op.str("sym_name")?, op))).collect();
    let named = |layer: &Op<'_>| layer.str("sym_name").unwrap_or_default();
    let units: Vec<_> = layers.iter().map(|layer| (named(layer), unit(module, *layer, &symbols).to_string())).collect();
    let units: Vec<_> = units.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let outcomes = each(db, &units, passes, false).ok()?;
    let after: Option<Vec<_>> = outcomes.iter().map(|outcome| Module::parse(context, &outcome.text, "between passes").ok()).collect();
    let after = after?;
    let of = |layer: &Op<'_>, after: &Module<'c>| after.body().ops().into_iter().find(|op| op.str("sym_name") == layer.str("sym_name"));
    let pairs: Option<Vec<_>> = layers.iter().zip(&after).map(|(layer, after)| Some((*layer, of(layer, after)?))).collect();
    let mut rewriter = Rewriter::before(module.op());
    for (layer, made) in pairs? {
        rewriter.replace_with_copy(layer, made);
    }
    outcomes.iter().flat_map(|outcome| outcome.diagnostics.iter().cloned()).for_each(|said| said.say(module.cx()));
    Some(())
}

/// Runs passes on the functions that are no layers.
fn in_place(module: &Module<'_>, level: Level, passes: &[Pass], options: &Options) -> Result<(), Error> {
    let text = passes.iter().map(|(_, pass)| pass.as_str()).collect::<Vec<_>>().join(",");
    let layers = layers(module);
    let failed = |source| Error::Level { level, source };
    for function in module.body().ops().into_iter().filter(|op| op.isa::<func::Func>() && !layers.contains(op)) {
        let manager = PassManager::parse(module.cx(), func::Func::NAME, &text).map_err(failed)?;
        manager.verify_each(options.verify || cfg!(debug_assertions)).run(function).map_err(failed)?;
    }
    Ok(())
}
