//! Running a pipeline by asking the database.

use super::database::{Database, Group, Pipeline, Source, Unit, cleaned, groups, is_clean, locked, parsed, parts, transformed, written};
use super::program::{Function, Program};
use super::report::{Cause, Record, Report};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The program behind the passes, as the plain pipeline prints it, and what had to be redone.
///
/// # Errors
/// What the parser or a pass says. The plain pipeline says the same with locations of the source.
pub fn run(db: &Database, source: Source, pipeline: Pipeline) -> Result<(String, Report), String> {
    let written = written(db, source).as_ref()?;
    if !is_clean(db, source, written) {
        let causes = causes(db, written, 0, "");
        ahead(db, written, &causes, &|db, unit| _ = cleaned(db, unit));
    }
    let mut program = parsed(db, source).clone()?;
    let mut report = Report::default();
    for (at, (text, on_functions)) in (1..).zip(groups(db, pipeline)) {
        let (group, passes) = (Group::new(db, text.as_str()), || text.clone());
        if !on_functions {
            let whole = Unit::new(db, program.text()?);
            let after = transformed(db, whole, group).clone()?;
            let cause = cause(db, "", at, whole.text(db), text);
            report.records.push(Record { function: None, passes: passes(), how: db.take_how(whole, group), cause });
            program = parts(db, Unit::new(db, after)).clone()?;
            continue;
        }
        let causes = causes(db, &program, at, text);
        ahead(db, &program, &causes, &|db, unit| _ = transformed(db, unit, Group::new(db, text.as_str())));
        for (Function { name, unit: text, .. }, cause) in program.functions.iter_mut().zip(causes).filter(|(function, _)| function.has_body)
        {
            let unit = Unit::new(db, text.as_str());
            text.clone_from(transformed(db, unit, group).as_ref()?);
            report.records.push(Record { function: Some(name.clone()), passes: passes(), how: db.take_how(unit, group), cause });
        }
    }
    Ok((program.text()?, report))
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
                while let Some(function) = changed.get(next.fetch_add(1, Ordering::Relaxed)) {
                    ask(&db, Unit::new(&db, function.unit.as_str()));
                }
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
