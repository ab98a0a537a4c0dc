//! The database: what was computed, kept for the life of a process, with the store on disk behind it.
//!
//! ```text
//!  program ----------------------> image       compile.rs
//!     function -> passes -> text               incremental/
//!     kernel -> measured schedule              autotune/
//!     kernel -> object                         units.rs
//! ```
//!
//! Each arrow is a salsa query. A query looks in three places, one after the other: what this process knows, the store, and the work
//! itself. Functions and kernels are known by their content (they are interned), so an edit elsewhere costs them nothing, undoing an
//! edit costs nothing, and equal ones are one. What the last [`KEPT`] edited programs did not ask for is forgotten.
//!
//! This module knows no query. Each is defined where its work is, over [`Db`].

mod diagnostic;
mod report;

pub use diagnostic::Diagnostic;
pub(crate) use diagnostic::inside;
pub use report::{Cause, How, Query, Record, Report};

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use strata_core::registry::Registry;
use strata_store::{Kind, Lookup, Parts, Store};

/// Programs whose results a process keeps: some tens of megabytes where they are networks.
pub(crate) const KEPT: usize = 32;

/// A module by its content: a function or a kernel with what it refers to, or a whole program.
#[allow(missing_docs, reason = "salsa writes methods for the fields, whose meaning stands at the fields")]
#[salsa::interned(debug, revisions = KEPT)]
pub(crate) struct Unit<'db> {
    /// As MLIR prints it.
    #[returns(ref)]
    pub text: String,
}

/// A question that was asked: the query, and the ids of its arguments.
pub(crate) type Asked = (Query, salsa::Id, salsa::Id);

/// The question of a query about one thing, in one way.
pub(crate) fn asked(query: Query, what: impl salsa::plumbing::AsId, way: impl salsa::plumbing::AsId) -> Asked {
    (query, what.as_id(), way.as_id())
}

/// What queries need beside their arguments.
#[salsa::db]
pub(crate) trait Db: salsa::Database {
    /// What dialects and passes are taken from.
    fn registry(&self) -> &'static Registry;
    /// What is on disk.
    fn store(&self) -> Option<&Arc<Store>>;
    /// Notes that a query did its work, and where the result came from.
    fn note(&self, asked: Asked, how: How);
    /// Notes that MLIR ran so many passes.
    fn note_passes(&self, count: u64);
    /// Notes that something is asked for, and says what changed since the same was asked for last.
    fn changed(&self, subject: Subject<'_>) -> Option<Cause>;
    /// Puts into the report how the answer to a question came about: from memory, where no query did its work for it.
    fn record(&self, asked: Asked, subject: Subject<'_>, cause: Option<Cause>) -> How;
    /// The same database, for a thread.
    fn for_thread(&self) -> Database;
}

/// Of what a result is, and what it follows from.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub query: Query,
    /// The function or the kernel; nothing for the module or the program.
    pub name: Option<&'a str>,
    /// Its content.
    pub content: &'a str,
    /// The passes, where it is about passes, and where they stand in the pipeline.
    pub passes: (usize, &'a str),
}

/// Results of queries, kept for the life of a process and by the store for others. A clone is another handle of the same.
#[salsa::db]
#[derive(Clone)]
pub struct Database {
    storage: salsa::Storage<Self>,
    registry: &'static Registry,
    store: Option<Arc<Store>>,
    log: Arc<Mutex<Log>>,
    passes: Arc<AtomicU64>,
    seen: Arc<Mutex<Seen>>,
    /// The program that this handle works on.
    program: Arc<str>,
}

/// What a handle and its clones did since it was asked last.
#[derive(Default)]
struct Log {
    /// Queries that did their work.
    worked: HashMap<Asked, How>,
    report: Report,
}

/// What each function and kernel of a program was when it was last asked for: hashes of its content and of the passes.
type Seen = HashMap<(Arc<str>, String, Query, usize), (u64, u64)>;

#[salsa::db]
impl salsa::Database for Database {}

#[salsa::db]
impl Db for Database {
    fn registry(&self) -> &'static Registry {
        self.registry
    }

    fn store(&self) -> Option<&Arc<Store>> {
        self.store.as_ref()
    }

    fn note(&self, asked: Asked, how: How) {
        locked(&self.log).worked.insert(asked, how);
    }

    fn note_passes(&self, count: u64) {
        self.passes.fetch_add(count, Ordering::Relaxed);
    }

    fn changed(&self, Subject { query, name, content, passes: (step, passes) }: Subject<'_>) -> Option<Cause> {
        let key = (self.program.clone(), name.unwrap_or_default().to_owned(), query, step);
        let now = (hash(content), hash(passes));
        match locked(&self.seen).insert(key, now) {
            None => Some(Cause::New),
            Some((_, before)) if before != now.1 => Some(Cause::Passes),
            Some((before, _)) if before != now.0 => Some(Cause::Content),
            Some(_) => None,
        }
    }

    fn record(&self, asked: Asked, Subject { query, name, passes, .. }: Subject<'_>, cause: Option<Cause>) -> How {
        let (name, passes) = (name.map(str::to_owned), passes.1.to_owned());
        let mut log = locked(&self.log);
        let how = log.worked.remove(&asked).unwrap_or(How::Memory);
        log.report.records.push(Record { query, name, passes, how, cause });
        how
    }

    fn for_thread(&self) -> Database {
        self.clone()
    }
}

impl Database {
    /// An empty database in front of a store.
    pub fn new(registry: &'static Registry, store: Option<Arc<Store>>) -> Database {
        let (storage, log, passes, seen) = Default::default();
        Database { storage, registry, store, log, passes, seen, program: Arc::from("") }
    }

    /// A handle with a report of its own, for work on the program of this name.
    pub(crate) fn about(&self, program: &str, store: Option<Arc<Store>>) -> Database {
        Database { log: Arc::default(), program: Arc::from(program), store, ..self.clone() }
    }

    /// Passes that MLIR ran for this database so far, each on each op that it ran on, as MLIR's own instrumentation counts them.
    pub fn passes_run(&self) -> u64 {
        self.passes.load(Ordering::Relaxed)
    }

    /// What was done since this was called last.
    pub fn take_report(&self) -> Report {
        let mut log = locked(&self.log);
        log.worked.clear();
        std::mem::take(&mut log.report)
    }
}

/// A result from the store, or made now and put there; `parts` is what it follows from.
pub(crate) fn stored<T, E>(
    db: &dyn Db,
    (kind, parts): (Kind, impl FnOnce() -> Parts),
    read: impl FnOnce(Vec<u8>) -> Option<T>,
    make: impl FnOnce() -> Result<T, E>,
    write: impl FnOnce(&T) -> Vec<u8>,
) -> Result<(T, How), E> {
    let Some(store) = db.store() else { return make().map(|made| (made, How::Computed)) };
    let parts = parts();
    if let Lookup::Hit(entry) = store.get(&parts.key(kind))
        && let Some(found) = read(entry.data)
    {
        return Ok((found, How::Disk));
    }
    let made = make()?;
    // A store that takes nothing costs the next process time, not this one its result.
    let _ = store.put(kind, &parts, &write(&made));
    Ok((made, How::Computed))
}

/// Asks questions ahead, on all cores: who asks them again has the answers. Other cores begin while this one does something else.
pub(crate) fn ahead<R>(db: &dyn Db, questions: &[impl Fn(&dyn Db) + Sync], meanwhile: impl FnOnce() -> R) -> R {
    let next = AtomicUsize::new(0);
    let work = |db: &dyn Db| {
        while let Some(ask) = questions.get(next.fetch_add(1, Ordering::Relaxed)) {
            ask(db);
        }
    };
    // This thread works, too: a thread starts in about the time that a small kernel takes.
    let others = thread::available_parallelism().map_or(1, usize::from).min(questions.len()).saturating_sub(1);
    thread::scope(|scope| {
        for _ in 0..others {
            let (db, work) = (db.for_thread(), &work);
            // When an input changes the caller's next question ends it, too.
            scope.spawn(move || _ = salsa::Cancelled::catch(AssertUnwindSafe(|| work(&db))));
        }
        let result = meanwhile();
        work(db);
        result
    })
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind our locks is whole between any two statements.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
