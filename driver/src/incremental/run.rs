//! Running a pipeline by asking the database.

use super::database::{Database, Group, Pipeline, Source, Unit, groups, locked, parsed, parts, transformed};
use super::program::{Program, join};
use super::report::{Cause, Record, Report};
use std::thread;

/// The program behind the passes, as the plain pipeline prints it, and what had to be redone.
///
/// # Errors
/// What the parser or a pass says. The plain pipeline says the same with locations of the source.
pub fn run(db: &Database, source: Source, pipeline: Pipeline) -> Result<(String, Report), String> {
    let mut program = parsed(db, source).clone()?;
    let mut report = Report::default();
    for (at, (text, on_functions)) in groups(db, pipeline).iter().enumerate() {
        let group = Group::new(db, text.as_str());
        if !on_functions {
            let whole = Unit::new(db, program.text()?);
            let after = transformed(db, whole, group).clone()?;
            report.records.push(record(db, None, whole, at, group));
            program = parts(db, Unit::new(db, after)).clone()?;
            continue;
        }
        ahead(db, &program, group);
        for (name, text) in &mut program.functions {
            let unit = Unit::new(db, text.as_str());
            text.clone_from(transformed(db, unit, group).as_ref()?);
            report.records.push(record(db, Some(name), unit, at, group));
        }
    }
    Ok((program.text()?, report))
}

/// Transforms the functions on all cores; the caller asks for the results.
fn ahead(db: &Database, program: &Program, group: Group<'_>) {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(program.functions.len());
    if threads < 2 {
        return;
    }
    let text = group.text(db);
    thread::scope(|scope| {
        for first in 0..threads {
            let db = db.clone();
            scope.spawn(move || {
                let group = Group::new(&db, text.as_str());
                for (_, text) in program.functions.iter().skip(first).step_by(threads) {
                    // An error is kept as the result, and told by the one who asks for it.
                    let _ = transformed(&db, Unit::new(&db, text.as_str()), group);
                }
            });
        }
    });
}

/// What became of one group on one function, compared with the last time.
fn record(db: &Database, function: Option<&String>, unit: Unit<'_>, at: usize, group: Group<'_>) -> Record {
    let now = (unit.text(db).clone(), group.text(db).clone());
    let before = locked(&db.last).insert((function.cloned().unwrap_or_default(), at), now.clone());
    let cause = match before {
        None => Some(Cause::New),
        Some((_, passes)) if passes != now.1 => Some(Cause::Passes),
        Some((text, _)) if text != now.0 => Some(Cause::Function),
        Some(_) => None,
    };
    Record { function: function.cloned(), passes: now.1, how: db.take_how(unit, group), cause }
}

impl Program {
    /// The module in one text.
    fn text(&self) -> Result<String, String> {
        join(&self.shell, self.functions.iter().map(|(name, text)| (name.as_str(), text.as_str())))
    }
}
