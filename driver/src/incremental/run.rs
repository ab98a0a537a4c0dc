//! Running a pipeline by asking the database.

use super::places::Places;
use super::program::{Function, Program};
use super::queries::{Form, Group, Pipeline, Source, cleaned, each, groups, is_clean, numbered, parsed, parts, transformed, written};
use crate::database::{Database, Db, Diagnostic, Query, Report, Subject, Unit, ahead, asked};
use std::panic::AssertUnwindSafe;

/// The program behind the passes, as the plain pipeline prints it, what had to be redone, and the diagnostics.
///
/// # Errors
/// What the parser or a pass says. The plain pipeline says the same with locations of the source.
pub fn run(db: &Database, source: Source, pipeline: Pipeline) -> Result<(String, Report), String> {
    db.take_report();
    let located = *source.form(db) == Form::Located;
    let places = if located { numbered(db, source).as_ref()?.places.clone() } else { Places::default() };
    let mut program = match located {
        true => parts(db, Unit::new(db, numbered(db, source).as_ref()?.text.as_str()), true).clone()?,
        false => cleaned_program(db, source)?,
    };
    let mut diagnostics = Vec::new();
    for (at, (text, on_functions)) in (1..).zip(groups(db, pipeline)) {
        if !on_functions {
            let group = Group::new(db, text.as_str(), located);
            let mut whole = program.text(db.registry())?;
            if located && READS_LOCATIONS.iter().any(|pass| text.starts_with(pass)) {
                whole = places.put_back(&whole);
            }
            let subject = Subject { query: Query::Passes, name: None, content: &whole, passes: (at, text) };
            let (cause, unit) = (db.changed(subject), Unit::new(db, whole.as_str()));
            let after = transformed(db, unit, group).as_ref()?;
            diagnostics.extend(after.diagnostics.iter().cloned());
            db.record(asked(Query::Passes, unit, group), subject, cause);
            program = parts(db, Unit::new(db, after.text.as_str()), located).clone()?;
            continue;
        }
        let bodies: Vec<_> = program.functions.iter_mut().filter(|function| function.has_body).collect();
        let units: Vec<_> = bodies.iter().map(|function| (function.name.as_str(), function.unit.as_str())).collect();
        let outcomes = each(db, &units, (at, text), located)?;
        for (function, after) in bodies.into_iter().zip(outcomes) {
            function.unit.clone_from(&after.text);
            diagnostics.extend(after.diagnostics.iter().cloned());
        }
    }
    let diagnostics = diagnostics.into_iter().map(|diagnostic: Diagnostic| diagnostic.at(&|place| places.put_back(place))).collect();
    Ok((places.put_back(&program.text(db.registry())?), Report { diagnostics, ..db.take_report() }))
}

/// Passes whose work follows locations: they see those of the source, and what comes behind them goes by these.
const READS_LOCATIONS: &[&str] = &["outline-regions"];

/// [`run`]; nothing where an input changed meanwhile. The database is taken, since whoever changes an input waits for it.
pub fn run_unless_cancelled(db: Database, source: Source, pipeline: Pipeline) -> Option<Result<(String, Report), String>> {
    // A query that is cancelled has no result; nothing of it is seen.
    salsa::Cancelled::catch(AssertUnwindSafe(|| run(&db, source, pipeline))).ok()
}

/// The functions of a source without locations.
fn cleaned_program(db: &Database, source: Source) -> Result<Program, String> {
    let written = written(db, source).as_ref()?;
    if !is_clean(db, source, written) {
        let changed = written.functions.iter().filter(|Function { name, unit, has_body }| {
            *has_body && db.changed(Subject { query: Query::Passes, name: Some(name), content: unit, passes: (0, "") }).is_some()
        });
        let units: Vec<_> = changed.map(|function| Unit::new(db, function.unit.as_str())).collect();
        let questions: Vec<_> = units.iter().map(|&unit| move |db: &dyn Db| _ = cleaned(db, unit)).collect();
        ahead(db, &questions, || ());
    }
    parsed(db, source).clone()
}
