//! Running a pipeline by asking the database.

use super::database::{
    Database, Db, Form, Group, Pipeline, Source, Unit, cleaned, groups, is_clean, locked, numbered, parsed, parts, transformed, written,
};
use super::places::Places;
use super::program::{Function, Program};
use super::report::{Cause, Record, Report};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The program behind the passes, as the plain pipeline prints it, and what had to be redone and was said.
///
/// # Errors
/// What the parser or a pass says. The plain pipeline says the same with locations of the source.
pub fn run(db: &Database, source: Source, pipeline: Pipeline) -> Result<(String, Report), String> {
    db.forget_work();
    let located = *source.form(db) == Form::Located;
    let places = if located { numbered(db, source).as_ref()?.places.clone() } else { Places::default() };
    let mut program = match located {
        true => parts(db, Unit::new(db, numbered(db, source).as_ref()?.text.as_str()), true).clone()?,
        false => cleaned_program(db, source)?,
    };
    let mut report = Report::default();
    for (at, (text, on_functions)) in (1..).zip(groups(db, pipeline)) {
        let (group, passes) = (Group::new(db, text.as_str(), located), || text.clone());
        if !on_functions {
            let mut whole = program.text(db.registry())?;
            if located && READS_LOCATIONS.iter().any(|pass| text.starts_with(pass)) {
                whole = places.put_back(&whole);
            }
            let whole = Unit::new(db, whole);
            let after = transformed(db, whole, group).as_ref()?;
            report.said.extend(after.said.iter().cloned());
            let cause = cause(db, "", at, whole.text(db), text);
            report.records.push(Record { function: None, passes: passes(), how: db.take_how(whole, group), cause });
            program = parts(db, Unit::new(db, after.text.as_str()), located).clone()?;
            continue;
        }
        let causes = causes(db, &program, at, text);
        ahead(db, &program, &causes, &|db, unit| _ = transformed(db, unit, Group::new(db, text.as_str(), located)));
        for (Function { name, unit: text, .. }, cause) in program.functions.iter_mut().zip(causes).filter(|(function, _)| function.has_body)
        {
            let unit = Unit::new(db, text.as_str());
            let after = transformed(db, unit, group).as_ref()?;
            text.clone_from(&after.text);
            report.said.extend(after.said.iter().cloned());
            report.records.push(Record { function: Some(name.clone()), passes: passes(), how: db.take_how(unit, group), cause });
        }
    }
    report.said = report.said.into_iter().map(|said| said.at(&|place| places.put_back(place))).collect();
    Ok((places.put_back(&program.text(db.registry())?), report))
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
        let causes = causes(db, written, 0, "");
        ahead(db, written, &causes, &|db, unit| _ = cleaned(db, unit));
    }
    parsed(db, source).clone()
}

/// Asks a query for the functions that something has changed for, on all cores; the caller asks again, for the results. An error is
/// kept as the result.
fn ahead(db: &Database, program: &Program, causes: &[Option<Cause>], ask: &(dyn Fn(&Database, Unit<'_>) + Sync)) {
    let changed = program.functions.iter().zip(causes).filter(|(function, cause)| function.has_body && cause.is_some());
    let changed: Vec<_> = changed.map(|(function, _)| function).collect();
    let threads = thread::available_parallelism().map_or(1, usize::from).min(changed.len());
    // A thread for one function would only be another to wait for.
    if threads < 2 {
        return;
    }
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..threads {
            let (db, changed, next) = (db.clone(), &changed, &next);
            scope.spawn(move || {
                let work = || {
                    while let Some(function) = changed.get(next.fetch_add(1, Ordering::Relaxed)) {
                        ask(&db, Unit::new(&db, function.unit.as_str()));
                    }
                };
                // When an input changes the caller's next question ends it, too.
                _ = salsa::Cancelled::catch(AssertUnwindSafe(work));
            });
        }
    });
}

/// What changed for each function since step `at` last ran.
fn causes(db: &Database, program: &Program, at: usize, passes: &str) -> Vec<Option<Cause>> {
    program.functions.iter().map(|function| cause(db, &function.name, at, &function.unit, passes)).collect()
}

/// What changed for one function, or for the module, which has no name.
fn cause(db: &Database, name: &str, at: usize, unit: &str, passes: &str) -> Option<Cause> {
    let mut last = locked(&db.last);
    let steps = last.entry(name.to_owned()).or_default();
    let cause = match steps.get(&at) {
        None => Cause::New,
        Some((_, before)) if before != passes => Cause::Passes,
        Some((before, _)) if before != unit => Cause::Function,
        Some(_) => return None,
    };
    steps.insert(at, (unit.to_owned(), passes.to_owned()));
    Some(cause)
}
