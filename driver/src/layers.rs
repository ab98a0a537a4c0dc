//! Layers that are functions, compiled function by function: what an edit did not change is known or comes from the store.
//!
//! A level's passes on functions run through the database on the private functions of a program, each by its own text. The program
//! itself, which only calls them, is worked on in its place: no text is made of it.

use crate::Error;
use crate::database::Db;
use crate::incremental::{each, unit};
use crate::levels::Level;
use crate::options::Options;
use crate::pass_list;
use crate::run_levels::run_passes;
use std::collections::HashMap;
use strata_core::ir::{Builder, Context, Module, Op};
use strata_core::pass::PassManager;
use strata_core::upstream::func;

/// So many passes in a row are looked up: to print and read a layer takes longer than fewer passes over it.
const WORTH: usize = 4;

/// Runs the passes that lead to a level from the one before.
pub(crate) fn run_level<'c>(db: &dyn Db, context: &'c Context, module: &Module<'c>, level: &Level, options: &Options) -> Result<(), Error> {
    let text = level.text(options);
    if layers(module).is_empty() {
        return run_passes(module, level, &text, options);
    }
    let (mut step, mut plain) = (0, Vec::new());
    for group in pass_list::split(&text)?.chunk_by(|a, b| on_functions(a) == on_functions(b)) {
        step += 1;
        if !on_functions(&group[0]) || group.len() < WORTH {
            plain.extend_from_slice(group);
            continue;
        }
        // They may have taken layers back into the program.
        if !plain.is_empty() {
            run_passes(module, level, &std::mem::take(&mut plain).join(","), options)?;
        }
        match through_database(db, context, module, (step, &group.join(","))) {
            Some(()) => in_place(module, level, group, options)?,
            None => plain.extend_from_slice(group),
        }
    }
    if !plain.is_empty() {
        run_passes(module, level, &plain.join(","), options)?;
    }
    module.op().check().map_err(|errors| Error::Broken { level: level.name, errors })
}

fn on_functions(pass: &str) -> bool {
    pass.starts_with("func.func(")
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
    for (layer, made) in pairs? {
        Builder::before(layer).clone_op(made, &[]);
        layer.erase();
    }
    outcomes.iter().flat_map(|outcome| outcome.said.iter().cloned()).for_each(|said| said.say(module.cx()));
    Some(())
}

/// Runs passes on the functions that are no layers.
fn in_place(module: &Module<'_>, level: &Level, passes: &[String], options: &Options) -> Result<(), Error> {
    let inner = |pass: &String| pass.strip_prefix("func.func(").and_then(|rest| rest.strip_suffix(')')).unwrap_or(pass).to_owned();
    let text = passes.iter().map(inner).collect::<Vec<_>>().join(",");
    let layers = layers(module);
    let failed = |source| Error::Level { level: level.name, source };
    for function in module.body().ops().into_iter().filter(|op| op.isa::<func::Func>() && !layers.contains(op)) {
        let manager = PassManager::parse(module.cx(), func::Func::NAME, &text).map_err(failed)?;
        manager.verify_each(options.verify || cfg!(debug_assertions)).run(function).map_err(failed)?;
    }
    Ok(())
}
