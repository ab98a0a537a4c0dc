//! A pool of pass managers for each context of a pool: reading a pipeline and collecting its patterns takes longer
//! than running it on a small program.

use crate::ir::Cx;
use mlir_sys::{MlirPassManager, mlirPassManagerDestroy, mlirPassManagerEnableVerifier};
use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// How many a context keeps: those of a few pipelines.
const MAX_IDLE: usize = 32;

/// The idle pass managers of each context that [`begin`] named, by its address.
static IDLE: LazyLock<Mutex<HashMap<usize, Vec<Entry>>>> = LazyLock::new(Mutex::default);

/// MLIR's pass manager, and the passes that it has run, once somebody asked it to count.
pub(super) struct Manager {
    pub raw: MlirPassManager,
    pub count: Option<Arc<AtomicU64>>,
}

impl Manager {
    /// To which passes that run add.
    pub fn counter(&mut self) -> Arc<AtomicU64> {
        let count = self.count.get_or_insert_with(|| {
            let count = Arc::new(AtomicU64::new(0));
            // SAFETY: the pass manager is alive, and gone before its count is; threads add to it atomically.
            unsafe { strata_core_sys::strata_count_passes(self.raw, count.as_ptr()) };
            count
        });
        count.clone()
    }
}

struct Entry {
    anchor: String,
    text: String,
    manager: Manager,
}

// SAFETY: a pass manager belongs to no thread, and one that is idle is used by none.
unsafe impl Send for Entry {}

impl Drop for Manager {
    fn drop(&mut self) {
        // SAFETY: it is owned, and its context is alive: whoever runs it borrows the context, and `end` comes before the context goes.
        unsafe { mlirPassManagerDestroy(self.raw) }
    }
}

fn idle() -> MutexGuard<'static, HashMap<usize, Vec<Entry>>> {
    // A push or a removal is done or it is not.
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn address(cx: Cx<'_>) -> usize {
    cx.to_raw().ptr as usize
}

/// From now on the context keeps its pass managers.
pub(crate) fn begin(cx: Cx<'_>) {
    idle().entry(address(cx)).or_default();
}

/// The context is about to go, and its pass managers go with it.
pub(crate) fn end(cx: Cx<'_>) {
    let gone = idle().remove(&address(cx));
    drop(gone);
}

/// A pass manager that was given back, as good as a new one.
pub(super) fn take(cx: Cx<'_>, anchor: &str, text: &str) -> Option<Manager> {
    let mut idle = idle();
    let entries = idle.get_mut(&address(cx))?;
    let at = entries.iter().rposition(|entry| entry.text == text && entry.anchor == anchor)?;
    let manager = entries.remove(at).manager;
    drop(idle);
    // SAFETY: the pass manager is alive and the caller's.
    unsafe { mlirPassManagerEnableVerifier(manager.raw, true) };
    Some(manager)
}

/// Takes a pass manager over, which is kept where its context keeps any.
pub(super) fn give(cx: Cx<'_>, anchor: String, text: String, manager: Manager) {
    let given = Entry { anchor, text, manager };
    let mut idle = idle();
    let gone = match idle.get_mut(&address(cx)) {
        None => Some(given),
        Some(entries) => {
            entries.push(given);
            (entries.len() > MAX_IDLE).then(|| entries.remove(0))
        }
    };
    drop(idle);
    drop(gone);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Context, Module};
    use crate::pass::{PassManager, run_pipeline};
    use crate::registry::Registry;

    fn idle_managers(cx: &Context) -> Option<usize> {
        idle().get(&address(cx.into())).map(Vec::len)
    }

    #[test]
    fn a_pooled_context_keeps_what_ran_well() {
        let cx = Registry::new().with_upstream().with_upstream_passes().leak().pooled_context();
        let module = Module::parse(&cx, "module { func.func @f() { return } }", "test").expect("it parses");
        for _ in 0..2 {
            run_pipeline(module.op(), "cse").expect("it runs");
            assert_eq!(idle_managers(&cx), Some(1), "the second run used the first one's");
        }
        for _ in 0..2 {
            let manager = PassManager::parse((&*cx).into(), "builtin.module", "cse").expect("it is a pipeline");
            let (result, count) = manager.run_counted(module.op());
            assert!(result.is_ok() && count == 1, "passes of one run, not of those before");
            assert_eq!(idle_managers(&cx), Some(1));
        }
        run_pipeline(module.op(), "canonicalize,cse").expect("it runs");
        assert_eq!(idle_managers(&cx), Some(2), "another pipeline is another");
        run_pipeline(module.op(), "canonicalize{nonsense}").expect_err("no such option");
        let manager = take((&*cx).into(), "builtin.module", "cse").expect("it is kept");
        assert_eq!(idle_managers(&cx), Some(1), "it is used by one at a time");
        give((&*cx).into(), "builtin.module".to_owned(), "cse".to_owned(), manager);
        for at in 0..2 * MAX_IDLE {
            run_pipeline(module.op(), &vec!["cse"; at + 2].join(",")).expect("it runs");
        }
        assert_eq!(idle_managers(&cx), Some(MAX_IDLE), "no more than that");
    }

    #[test]
    fn other_contexts_keep_nothing() {
        let cx = Registry::new().with_upstream().with_upstream_passes().context();
        let module = Module::parse(&cx, "module {}", "test").expect("it parses");
        run_pipeline(module.op(), "cse").expect("it runs");
        assert_eq!(idle_managers(&cx), None);
    }
}
