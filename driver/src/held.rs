//! A database for the life of a process: programs are compiled in it one after the other, or several at once.

#![allow(missing_docs, reason = "salsa writes methods for the fields, whose meaning is said at the fields")]

use crate::Error;
use crate::compile::compile_with;
use crate::database::{Database, Db, How, KEPT, Query, Report, Subject, asked, locked, stored};
use crate::options::Options;
use crate::source_file::SourceFile;
use salsa::Setter;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};
use strata_core::registry::Registry;
use strata_runtime::{Artefact, cpu};
use strata_store::{Kind, Store, content_hash, program_parts, source_hash};

/// The database of a process.
pub struct Held {
    state: Mutex<State>,
}

struct State {
    db: Database,
    /// What was compiled last, the latest behind the others.
    programs: Vec<Program>,
    /// Compilations that run.
    running: usize,
}

/// A program to compile.
#[salsa::input]
struct Program {
    /// Its file, or its name where it has a text.
    #[returns(ref)]
    path: PathBuf,
    /// Its text, where it never was on disk.
    #[returns(ref)]
    text: Option<String>,
    /// The file as it stands on disk.
    stamp: Option<Stamp>,
    #[returns(ref)]
    options: Options,
}

/// A file as it stands on disk: another content has another stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    changed: SystemTime,
    bytes: u64,
    inode: u64,
}

/// Clocks of file systems tick that slowly at most: a file that was written in the present tick may be written again in it.
const TICK: Duration = Duration::from_millis(20);

impl Stamp {
    /// Nothing for a file that is not there, or that was written just now.
    fn of(path: &Path) -> Option<Stamp> {
        let meta = std::fs::metadata(path).ok()?;
        let changed = meta.modified().ok()?;
        let settled = changed.elapsed().is_ok_and(|age| age > TICK);
        settled.then_some(Stamp { changed, bytes: meta.len(), inode: meta.ino() })
    }
}

impl Program {
    fn file(self, db: &dyn Db) -> SourceFile<'_> {
        SourceFile { path: self.path(db), text: self.text(db).as_deref() }
    }

    /// Whether it is the program of a file, or of a name, with these options.
    fn is(self, db: &dyn Db, file: SourceFile<'_>, options: &Options) -> bool {
        self.path(db) == file.path && self.text(db).is_some() == file.text.is_some() && self.options(db) == options
    }

    /// Whether it stands as it did.
    fn stands(self, db: &dyn Db, file: SourceFile<'_>, stamp: Option<Stamp>) -> bool {
        match file.text {
            Some(text) => self.text(db).as_deref() == Some(text),
            None => stamp.is_some() && *self.stamp(db) == stamp,
        }
    }
}

/// The hash of a program: a file that was written again as it was is the same.
#[salsa::tracked(returns(ref))]
fn source(db: &dyn Db, program: Program) -> Option<String> {
    let SourceFile { path, text } = program.file(db);
    // Read, so that the hash is made again when the file is another.
    program.stamp(db);
    match text {
        Some(text) => {
            let kind = path.extension().unwrap_or_default().to_string_lossy();
            Some(format!("{kind} {}", content_hash(text.as_bytes())))
        }
        None => source_hash(path).ok(),
    }
}

/// A compiled program.
#[salsa::tracked(no_eq, returns(ref), lru = 32)]
fn image(db: &dyn Db, program: Program) -> Result<Arc<Artefact>, Arc<Error>> {
    let (file, options) = (program.file(db), program.options(db));
    let make = || compile_with(db, file, options, None);
    let made = match (source(db, program), serde_json::to_string(options)) {
        (Some(source), Ok(options)) => {
            let parts = || program_parts(source, &cpu::machine(), &options, &db.registry().build());
            let read = |data: Vec<u8>| {
                let artefact = Artefact::from_bytes(&data).ok()?;
                let current = |store: &Arc<Store>| store.holds(artefact.manifest.tuned.iter().map(|tuned| (&*tuned.key, &*tuned.entry)));
                db.store().is_some_and(current).then(|| artefact.of_source(file.path))
            };
            stored(db, (Kind::Artefact, parts), read, make, Artefact::to_bytes)
        }
        // What cannot be read is told by who compiles it.
        _ => make().map(|artefact| (artefact, How::Computed)),
    };
    db.note(asked(Query::Image, program, program), made.as_ref().map_or(How::Computed, |(_, how)| *how));
    Ok(Arc::new(made.map_err(Arc::new)?.0))
}

impl Held {
    /// An empty database.
    pub fn new(registry: &'static Registry) -> Held {
        Held { state: Mutex::new(State { db: Database::new(registry, None), programs: Vec::new(), running: 0 }) }
    }

    /// A compiled program, and where it and its parts came from: from this process, from the store or from the compiler.
    ///
    /// # Errors
    /// Why it does not compile.
    pub fn compile<'a>(
        &self,
        file: impl Into<SourceFile<'a>>,
        options: &Options,
        store: Option<&Arc<Store>>,
    ) -> Result<(Arc<Artefact>, Report), Arc<Error>> {
        let file = file.into();
        // The handle goes before the note that it is there.
        let (_running, db, program) = self.begin(file, options, store);
        let db = &db;
        let (source, options) = (source(db, program).as_deref().unwrap_or_default(), serde_json::to_string(options).unwrap_or_default());
        let subject = Subject { query: Query::Image, name: None, content: source, passes: (0, &options) };
        let cause = db.changed(subject);
        let artefact = image(db, program).clone()?;
        db.record(asked(Query::Image, program, program), subject, cause);
        Ok((artefact, db.take_report()))
    }

    /// A handle of the database, and the program in it. While nobody else compiles, the program takes the place of the one before it
    /// under its name, or of the one that was compiled longest ago.
    fn begin(&self, file: SourceFile<'_>, options: &Options, store: Option<&Arc<Store>>) -> (Running<'_>, Database, Program) {
        let stamp = if file.text.is_some() { None } else { Stamp::of(file.path) };
        let mut state = locked(&self.state);
        let State { db, programs, running } = &mut *state;
        let known = programs.iter().position(|program| program.is(db, file, options));
        let place = known.or((programs.len() >= KEPT).then_some(0)).map(|at| programs.remove(at));
        let text = || file.text.map(str::to_owned);
        let program = match place {
            Some(program) if known.is_some() && program.stands(db, file, stamp) => program,
            // Others are cancelled when an input changes.
            Some(program) if *running == 0 => {
                // What is set counts as changed, whatever it is set to.
                if program.text(db).as_deref() != file.text {
                    program.set_text(db).to(text());
                }
                program.set_stamp(db).to(stamp);
                if known.is_none() {
                    program.set_path(db).to(file.path.to_owned());
                    program.set_options(db).to(options.clone());
                }
                program
            }
            _ => Program::new(db, file.path.to_owned(), text(), stamp, options.clone()),
        };
        programs.push(program);
        *running += 1;
        let db = db.about(&file.path.display().to_string(), store.cloned());
        (Running(self), db, program)
    }
}

/// A compilation that runs.
struct Running<'h>(&'h Held);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        locked(&self.0.state).running -= 1;
    }
}
