//! A program behind passes, function by function: the inputs and the queries.

#![allow(missing_docs, reason = "salsa writes methods for the fields, whose meaning stands at the fields")]

use super::outcome::Outcome;
use super::places::{self, Numbered};
use super::program::{self, Program};
use crate::database::{Database, Db, Diagnostic, How, KEPT, Query, Subject, Unit, ahead, asked, stored};
use crate::pass_list;
use strata_core::diagnostic::collect;
use strata_core::ir::Module;
use strata_core::pass::PassManager;
use strata_core::registry::Registry;
use strata_store::{Kind, Parts};

/// The text of a program.
#[salsa::input(debug)]
pub struct Source {
    /// What it is called in messages.
    #[returns(ref)]
    pub name: String,
    /// All of it.
    #[returns(ref)]
    pub text: String,
    /// Who wrote it.
    pub form: Form,
}

/// How the text of a source is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// Somebody wrote it: names, comments and white space mean nothing. Locations are forgotten.
    Written,
    /// MLIR printed it, without locations.
    Printed,
    /// MLIR printed it with locations, and they are wanted in the result.
    Located,
}

/// The passes to run.
#[salsa::input(debug)]
pub struct Pipeline {
    /// One pass each, with its nesting, in order.
    #[returns(ref)]
    pub passes: Vec<String>,
}

/// Passes that run without looking left or right: all on one function, or one on the module.
#[salsa::interned(debug, revisions = KEPT)]
pub(crate) struct Group<'db> {
    #[returns(ref)]
    pub text: String,
    /// Whether the result is to have locations.
    pub located: bool,
}

/// The groups of a pipeline, in order: their texts, and whether they run on functions.
#[salsa::tracked(returns(ref))]
pub(super) fn groups(db: &dyn Db, pipeline: Pipeline) -> Vec<(String, bool)> {
    let mut groups: Vec<(String, bool)> = Vec::new();
    for pass in pipeline.passes(db) {
        let on_functions = pass.starts_with("func.func(");
        match groups.last_mut() {
            Some((text, true)) if on_functions => *text = format!("{text},{pass}"),
            _ => groups.push((pass.clone(), on_functions)),
        }
    }
    groups
}

/// The functions of a source as they are written, and what is around them.
#[salsa::tracked(returns(ref))]
pub(super) fn written(db: &dyn Db, source: Source) -> Result<Program, String> {
    program::split(db.registry(), source.text(db), source.name(db), false)
}

/// A source with numbers in the place of locations.
#[salsa::tracked(returns(ref))]
pub(super) fn numbered(db: &dyn Db, source: Source) -> Result<Numbered, String> {
    places::number(db.registry(), source.text(db), source.name(db))
}

/// The functions of a source, and what is around them.
#[salsa::tracked(returns(ref))]
pub(super) fn parsed(db: &dyn Db, source: Source) -> Result<Program, String> {
    let mut program = written(db, source).clone()?;
    if is_clean(db, source, &program) {
        return Ok(program);
    }
    for function in &mut program.functions {
        match cleaned(db, Unit::new(db, function.unit.as_str())) {
            Ok(text) => function.unit.clone_from(text),
            // The parser says what is wrong, and where in the whole text.
            Err(_) => return program::split_parsed(db.registry(), source.text(db), source.name(db), false),
        }
    }
    Ok(program)
}

/// Whether the units of a program are as MLIR prints them.
pub(super) fn is_clean(db: &dyn Db, source: Source, program: &Program) -> bool {
    *source.form(db) != Form::Written || !program.plain
}

/// A unit as MLIR prints it: a comment, a name, a location or white space makes no other unit.
#[salsa::tracked(returns(ref))]
pub(super) fn cleaned<'db>(db: &'db dyn Db, unit: Unit<'db>) -> Result<String, String> {
    let context = db.registry().pooled_context();
    Module::parse(&context, unit.text(db), "a function").map(|module| module.to_string()).map_err(|error| error.to_string())
}

/// The functions of a module between two groups.
#[salsa::tracked(returns(ref))]
pub(super) fn parts<'db>(db: &'db dyn Db, module: Unit<'db>, located: bool) -> Result<Program, String> {
    program::split(db.registry(), module.text(db), "between passes", located)
}

/// A unit behind a group of passes.
#[salsa::tracked(returns(ref))]
pub(crate) fn transformed<'db>(db: &'db dyn Db, unit: Unit<'db>, group: Group<'db>) -> Result<Outcome, String> {
    let (text, passes) = (unit.text(db), group.text(db));
    let printed = if *group.located(db) { "with locations" } else { "without locations" };
    let parts = || {
        let parts = Parts::new().with("build", db.registry().build()).with("passes", passes).with("printed", printed);
        parts.with_content("unit", text.as_bytes())
    };
    let make = || {
        let (outcome, count) = apply(db.registry(), text, passes, *group.located(db));
        db.note_passes(count);
        outcome
    };
    let made = stored(db, (Kind::Group, parts), Outcome::from_bytes, make, Outcome::to_bytes);
    db.note(asked(Query::Passes, unit, group), made.as_ref().map_or(How::Computed, |(_, how)| *how));
    made.map(|(outcome, _)| outcome)
}

/// Functions by their names and units behind a group of passes: what changed on all cores.
///
/// # Errors
/// What the first of them says that fails.
pub(crate) fn each<'db>(
    db: &'db dyn Db,
    functions: &[(&str, &str)],
    passes: (usize, &str),
    located: bool,
) -> Result<Vec<&'db Outcome>, String> {
    let group = Group::new(db, passes.1, located);
    let subject = |&(name, unit)| Subject { query: Query::Passes, name: Some(name), content: unit, passes };
    let asked_for: Vec<_> = functions.iter().map(|function| (db.changed(subject(function)), Unit::new(db, function.1))).collect();
    let changed = asked_for.iter().filter(|(cause, _)| cause.is_some());
    let questions: Vec<_> = changed.map(|&(_, unit)| move |db: &dyn Db| _ = transformed(db, unit, group)).collect();
    ahead(db, &questions, || ());
    let mut outcomes = Vec::new();
    for (function, (cause, unit)) in functions.iter().zip(asked_for) {
        outcomes.push(transformed(db, unit, group).as_ref()?);
        db.record(asked(Query::Passes, unit, group), subject(function), cause);
    }
    Ok(outcomes)
}

/// Runs passes on the text of a module; also says how many ran.
fn apply(registry: &'static Registry, text: &str, passes: &str, located: bool) -> (Result<Outcome, String>, u64) {
    let context = registry.pooled_context();
    let prepared = Module::parse(&context, text, "a part of the program").map_err(|error| error.to_string()).and_then(|module| {
        let manager = PassManager::parse(module.cx(), "builtin.module", passes).map_err(|error| error.to_string())?;
        // As `rs-opt` does, and compilations in development builds.
        Ok((module, manager.verify_each(located || cfg!(debug_assertions))))
    });
    let (module, manager) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return (Err(error), 0),
    };
    let ((result, count), diagnostics) = collect(module.cx(), || manager.run_counted(module.op()));
    let outcome =
        |()| Outcome { text: program::print(&module, located), diagnostics: diagnostics.into_iter().map(Diagnostic::from).collect() };
    (result.map(outcome).map_err(|error| error.to_string()), count)
}

impl Pipeline {
    /// A pipeline of a textual one.
    ///
    /// # Errors
    /// When the text is no pipeline.
    pub fn parse(db: &Database, text: &str) -> Result<Pipeline, pass_list::PassListError> {
        Ok(Pipeline::new(db, pass_list::split(text)?))
    }
}
