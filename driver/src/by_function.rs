//! Layers that are functions, compiled function by function: what an edit did not change comes from the store.
//!
//! A level's passes on functions run through the database on the private functions of a program, each by its own text. The program
//! itself, which only calls them, is worked on in its place: no text is made of it.

use crate::Error;
use crate::compile::run_passes;
use crate::incremental::{self, Database, Form, Pipeline, Report, Source};
use crate::levels::Level;
use crate::options::Options;
use crate::pass_list;
use std::collections::HashMap;
use std::sync::Arc;
use strata_core::ir::{Builder, Context, Module, Op};
use strata_core::pass::PassManager;
use strata_core::registry::Registry;
use strata_core::rewrite::Rewriter;
use strata_core::upstream::func;
use strata_store::Store;

/// So many passes in a row are looked up: to print and read a layer takes longer than fewer passes over it.
const WORTH: usize = 4;

/// Runs the passes that lead to a level from the one before, and says what was redone for which function.
pub(crate) fn run_level<'c>(
    registry: &'static Registry,
    context: &'c Context,
    module: &Module<'c>,
    level: &Level,
    options: &Options,
    store: Option<&Arc<Store>>,
) -> Result<Report, Error> {
    let text = level.text(options);
    let (Some(store), false) = (store, layers(module).is_empty()) else {
        return run_passes(module, level, &text, options).map(|()| Report::default());
    };
    let (mut report, mut plain) = (Report::default(), Vec::new());
    for group in pass_list::split(&text)?.chunk_by(|a, b| on_functions(a) == on_functions(b)) {
        if !on_functions(&group[0]) || group.len() < WORTH {
            plain.extend_from_slice(group);
            continue;
        }
        // They may have taken layers back into the program.
        if !plain.is_empty() {
            run_passes(module, level, &std::mem::take(&mut plain).join(","), options)?;
        }
        match through_database(registry, context, module, group, store) {
            Some(Report { records, said }) => {
                said.into_iter().for_each(|said| said.say(module.cx()));
                report.records.extend(records);
                in_place(module, level, group, options)?;
            }
            None => plain.extend_from_slice(group),
        }
    }
    if !plain.is_empty() {
        run_passes(module, level, &plain.join(","), options)?;
    }
    module.op().check().map_err(|errors| Error::Broken { level: level.name, errors })?;
    Ok(report)
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
fn through_database<'c>(
    registry: &'static Registry,
    context: &'c Context,
    module: &Module<'c>,
    passes: &[String],
    store: &Arc<Store>,
) -> Option<Report> {
    let layers = layers(module);
    let first = layers.first()?;
    let alone = Module::empty_like(module);
    let mut b = Builder::at_end(alone.body(), first.location());
    for &layer in &layers {
        b.clone_op(layer, &[]);
    }
    let db = Database::sharing(registry, store.clone());
    let source = Source::new(&db, "the layers".to_owned(), alone.to_string(), Form::Printed);
    let (text, report) = incremental::run(&db, source, Pipeline::new(&db, passes.to_vec())).ok()?;
    let after = Module::parse(context, &text, "between passes").ok()?;
    let made: HashMap<String, Op<'_>> = after.body().ops().into_iter().filter_map(|op| Some((op.str("sym_name")?, op))).collect();
    let pairs: Option<Vec<_>> = layers.iter().map(|layer| Some((*layer, *made.get(&layer.str("sym_name")?)?))).collect();
    let mut rewriter = Rewriter::before(module.op());
    for (layer, made) in pairs? {
        rewriter.replace_with_copy(layer, made);
    }
    Some(report)
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
