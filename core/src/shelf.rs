//! Contexts that are used again: making one and loading its dialects takes longer than compiling a small program.

use crate::crash;
use crate::ir::Context;
use crate::pass::kept;
use std::ops::Deref;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How often a context is used: what types and attributes it has met it never forgets.
const USES: usize = 256;

/// Contexts that nobody uses at the moment.
#[derive(Default)]
pub(crate) struct Shelf {
    kept: Mutex<Vec<Kept>>,
}

struct Kept {
    context: Context,
    uses: usize,
    /// Crashes of the parser before it was lent.
    crashes: usize,
}

// SAFETY: a context belongs to no thread; one that is on the shelf is used by none, and one that is lent only by the borrower's.
unsafe impl Send for Kept {}

/// A context for as long as it is needed; it goes back to its shelf.
pub struct Lent {
    shelf: &'static Shelf,
    kept: Option<Kept>,
}

impl Shelf {
    /// An empty shelf.
    pub const fn new() -> Self {
        Self { kept: Mutex::new(Vec::new()) }
    }

    /// A context that nobody else uses: one that was given back, or a new one.
    pub fn lend(&'static self, make: impl FnOnce() -> Context) -> Lent {
        let kept = self.kept().pop();
        let mut kept = kept.unwrap_or_else(|| Kept::new(make()));
        kept.crashes = crash::count();
        Lent { shelf: self, kept: Some(kept) }
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Kept>> {
        // A push or a pop is done or it is not.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn new(context: Context) -> Self {
        kept::begin((&context).into());
        Self { context, uses: 0, crashes: 0 }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        kept::end((&self.context).into());
    }
}

impl Deref for Lent {
    type Target = Context;

    fn deref(&self) -> &Context {
        match &self.kept {
            Some(kept) => &kept.context,
            None => unreachable!("it is given back when it is dropped"),
        }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let Some(mut kept) = self.kept.take() else { return };
        kept.uses += 1;
        // After a crash of the parser its locks may be taken and what it holds half made.
        if crash::count() != kept.crashes {
            return std::mem::forget(kept);
        }
        // Nobody knows what a panic left behind.
        if kept.uses < USES && !std::thread::panicking() {
            self.shelf.kept().push(kept);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Module;

    static SHELF: Shelf = Shelf::new();

    #[test]
    fn a_context_comes_back_until_it_is_worn_out() {
        fn address(lent: &Lent) -> usize {
            lent.to_raw().ptr as usize
        }
        let (first, second) = (SHELF.lend(Context::new), SHELF.lend(Context::new));
        let (a, b) = (address(&first), address(&second));
        assert_ne!(a, b, "two at once are two");
        drop(first);
        let again = std::thread::spawn(|| {
            let lent = SHELF.lend(Context::new);
            assert!(Module::parse(&lent, "module {}", "test").is_ok());
            address(&lent)
        });
        assert_eq!(again.join().expect("it parses"), a, "another thread gets what this one gave back");
        drop(second);
        let kept = |shelf: &Shelf| shelf.kept().len();
        assert_eq!(kept(&SHELF), 2);
        for _ in 0..2 * USES {
            drop(SHELF.lend(Context::new));
        }
        assert!(kept(&SHELF) <= 2, "worn-out contexts are not kept");
    }

    #[test]
    fn a_panic_keeps_its_context() {
        static OTHER: Shelf = Shelf::new();
        let panicked = std::thread::spawn(|| {
            let _lent = OTHER.lend(Context::new);
            panic!("on purpose");
        });
        assert!(panicked.join().is_err());
        assert!(OTHER.kept().is_empty());
    }
}
