//! A pool of contexts: making one and loading its dialects takes longer than compiling a small program.

use crate::crash;
use crate::ir::Context;
use crate::pass::manager_pool;
use std::ops::Deref;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How often a context is used: it never frees the types and attributes that it has made.
const USES: usize = 256;

/// Contexts that nobody uses at the moment.
#[derive(Default)]
pub(crate) struct ContextPool {
    idle: Mutex<Vec<Entry>>,
}

struct Entry {
    context: Context,
    uses: usize,
    /// Crashes of the parser before it was handed out.
    crashes: usize,
}

// SAFETY: a context belongs to no thread; an idle one is used by none, and one that was handed out only by its holder's.
unsafe impl Send for Entry {}

/// A context of a pool, which goes back when it is dropped.
pub struct PooledContext {
    pool: &'static ContextPool,
    entry: Option<Entry>,
}

impl ContextPool {
    /// An empty pool.
    pub const fn new() -> Self {
        Self { idle: Mutex::new(Vec::new()) }
    }

    /// A context that nobody else uses: one that was given back, or a new one.
    pub fn take(&'static self, new: impl FnOnce() -> Context) -> PooledContext {
        let idle = self.idle().pop();
        let mut entry = idle.unwrap_or_else(|| Entry::new(new()));
        entry.crashes = crash::count();
        PooledContext { pool: self, entry: Some(entry) }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Entry>> {
        // A push or a pop is done or it is not.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn new(context: Context) -> Self {
        manager_pool::begin((&context).into());
        Self { context, uses: 0, crashes: 0 }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        manager_pool::end((&self.context).into());
    }
}

impl Deref for PooledContext {
    type Target = Context;

    fn deref(&self) -> &Context {
        match &self.entry {
            Some(entry) => &entry.context,
            None => unreachable!("it is given back when it is dropped"),
        }
    }
}

impl Drop for PooledContext {
    fn drop(&mut self) {
        let Some(mut entry) = self.entry.take() else { return };
        entry.uses += 1;
        // After a crash of the parser its locks may be taken and what it holds half made.
        if crash::count() != entry.crashes {
            return std::mem::forget(entry);
        }
        // Nobody knows what a panic left behind.
        if entry.uses < USES && !std::thread::panicking() {
            self.pool.idle().push(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Module;

    static POOL: ContextPool = ContextPool::new();

    #[test]
    fn a_context_comes_back_until_it_is_worn_out() {
        fn address(taken: &PooledContext) -> usize {
            taken.to_raw().ptr as usize
        }
        let (first, second) = (POOL.take(Context::new), POOL.take(Context::new));
        let (a, b) = (address(&first), address(&second));
        assert_ne!(a, b, "two at once are two");
        drop(first);
        let again = std::thread::spawn(|| {
            let context = POOL.take(Context::new);
            assert!(Module::parse(&context, "module {}", "test").is_ok());
            address(&context)
        });
        assert_eq!(again.join().expect("it parses"), a, "another thread gets what this one gave back");
        drop(second);
        let idle = |pool: &ContextPool| pool.idle().len();
        assert_eq!(idle(&POOL), 2);
        for _ in 0..2 * USES {
            drop(POOL.take(Context::new));
        }
        assert!(idle(&POOL) <= 2, "worn-out contexts are not kept");
    }

    #[test]
    fn a_panic_keeps_its_context() {
        static OTHER: ContextPool = ContextPool::new();
        let panicked = std::thread::spawn(|| {
            let _context = OTHER.take(Context::new);
            panic!("on purpose");
        });
        assert!(panicked.join().is_err());
        assert!(OTHER.idle().is_empty());
    }
}
