//! The database: its inputs and its queries.

#![allow(missing_docs, reason = "salsa writes methods for the fields, whose meaning is said at the fields")]

use super::places::{self, Numbered};
use super::program::{self, Program};
use super::report::How;
use super::said::{Outcome, Said};
use crate::pass_list;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use strata_core::diagnostic::collect;
use strata_core::ir::Module;
use strata_core::pass::PassManager;
use strata_core::registry::Registry;
use strata_store::{Kind, Lookup, Parts, Store};

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

/// A module by its content: one function with what it refers to, or a whole program.
#[salsa::interned(debug)]
pub(super) struct Unit<'db> {
    #[returns(ref)]
    pub text: String,
}

/// Passes that run without looking left or right: all on one function, or one on the module.
#[salsa::interned(debug)]
pub(super) struct Group<'db> {
    #[returns(ref)]
    pub text: String,
    /// Whether the result is to have locations.
    pub located: bool,
}

/// What the queries need beside their arguments.
#[salsa::db]
pub(super) trait Db: salsa::Database {
    /// What the passes are taken from.
    fn registry(&self) -> &'static Registry;
    fn store(&self) -> Option<&Store>;
    /// Notes that a query did its work, and where the result came from.
    fn note(&self, unit: Unit<'_>, group: Group<'_>, how: How);
    /// Notes that MLIR ran so many passes.
    fn note_passes(&self, count: u64);
}

/// Results of passes, kept for the life of a process and by the store for others.
#[salsa::db]
#[derive(Clone)]
pub struct Database {
    storage: salsa::Storage<Self>,
    registry: &'static Registry,
    store: Option<Arc<Store>>,
    worked: Worked,
    passes: Arc<AtomicU64>,
    pub(super) last: Last,
}

/// Queries that were executed since they were last asked for, by the ids of their arguments.
type Worked = Arc<Mutex<HashMap<(salsa::Id, salsa::Id), How>>>;
/// What each function was at each step when it last ran: its text, and the passes'.
type Last = Arc<Mutex<HashMap<String, HashMap<usize, (String, String)>>>>;

#[salsa::db]
impl salsa::Database for Database {}

#[salsa::db]
impl Db for Database {
    fn registry(&self) -> &'static Registry {
        self.registry
    }

    fn store(&self) -> Option<&Store> {
        self.store.as_deref()
    }

    fn note(&self, unit: Unit<'_>, group: Group<'_>, how: How) {
        locked(&self.worked).insert(ids(unit, group), how);
    }

    fn note_passes(&self, count: u64) {
        self.passes.fetch_add(count, Ordering::Relaxed);
    }
}

impl Database {
    /// An empty database in front of a store.
    pub fn new(registry: &'static Registry, store: Option<Store>) -> Database {
        let (worked, passes, last) = (Worked::default(), Arc::default(), Last::default());
        Database { storage: salsa::Storage::default(), registry, store: store.map(Arc::new), worked, passes, last }
    }

    /// An empty database in front of a store that others use, too.
    pub fn sharing(registry: &'static Registry, store: Arc<Store>) -> Database {
        Database { store: Some(store), ..Database::new(registry, None) }
    }

    /// Passes that MLIR ran for this database so far, each on each op that it ran on, as MLIR's own instrumentation counts them.
    pub fn passes_run(&self) -> u64 {
        self.passes.load(Ordering::Relaxed)
    }

    /// What was worked on before a run is no work of that run.
    pub(super) fn forget_work(&self) {
        locked(&self.worked).clear();
    }

    /// How the result of a query came about since it was last asked: from memory, if it did not run.
    pub(super) fn take_how(&self, unit: Unit<'_>, group: Group<'_>) -> How {
        locked(&self.worked).remove(&ids(unit, group)).unwrap_or(How::Memory)
    }
}

fn ids(unit: Unit<'_>, group: Group<'_>) -> (salsa::Id, salsa::Id) {
    (salsa::plumbing::AsId::as_id(&unit), salsa::plumbing::AsId::as_id(&group))
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind our locks is whole between any two statements.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
    let context = db.registry().lend();
    Module::parse(&context, unit.text(db), "a function").map(|module| module.to_string()).map_err(|error| error.to_string())
}

/// The functions of a module between two groups.
#[salsa::tracked(returns(ref))]
pub(super) fn parts<'db>(db: &'db dyn Db, module: Unit<'db>, located: bool) -> Result<Program, String> {
    program::split(db.registry(), module.text(db), "between passes", located)
}

/// A unit behind a group of passes.
#[salsa::tracked(returns(ref))]
pub(super) fn transformed<'db>(db: &'db dyn Db, unit: Unit<'db>, group: Group<'db>) -> Result<Outcome, String> {
    let (text, passes) = (unit.text(db), group.text(db));
    let printed = if *group.located(db) { "with locations" } else { "without locations" };
    let parts = || {
        let parts = Parts::new().with("build", db.registry().build()).with("passes", passes).with("printed", printed);
        parts.with_content("unit", text.as_bytes())
    };
    if let Some(store) = db.store()
        && let Lookup::Hit(entry) = store.get(&parts().key(Kind::Group))
        && let Some(outcome) = Outcome::from_bytes(entry.data)
    {
        db.note(unit, group, How::Disk);
        return Ok(outcome);
    }
    db.note(unit, group, How::Computed);
    let (outcome, count) = apply(db.registry(), text, passes, *group.located(db));
    db.note_passes(count);
    let outcome = outcome?;
    if let Some(store) = db.store() {
        // A store that takes nothing costs the next process time, not this one its result.
        let _ = store.put(Kind::Group, &parts(), &outcome.to_bytes());
    }
    Ok(outcome)
}

/// Runs passes on the text of a module; also says how many ran.
fn apply(registry: &'static Registry, text: &str, passes: &str, located: bool) -> (Result<Outcome, String>, u64) {
    let context = registry.lend();
    let prepared = Module::parse(&context, text, "a part of the program").map_err(|error| error.to_string()).and_then(|module| {
        let manager = PassManager::parse(module.cx(), "builtin.module", passes).map_err(|error| error.to_string())?;
        // As `rs-opt` does, and compilations in development builds.
        Ok((module, manager.verify_each(located || cfg!(debug_assertions))))
    });
    let (module, manager) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return (Err(error), 0),
    };
    let ((result, count), said) = collect(module.cx(), || manager.run_counted(module.op()));
    let outcome = |()| Outcome { text: program::print(&module, located), said: said.into_iter().map(Said::from).collect() };
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
