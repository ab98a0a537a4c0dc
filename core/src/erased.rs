//! In debug builds: which ops a pattern has erased, so that a later use is a panic with a name instead of a crash.
//!
//! The list holds for one run of one callback on one thread. An op made at an erased op's address takes it off the list, and
//! whatever may make many ops (parsing, cloning a region, running a pipeline) empties it: it may miss a use, never invent one.

#[cfg(debug_assertions)]
mod list {
    use mlir_sys::MlirOperation;
    use std::cell::{Cell, RefCell};
    use std::collections::HashMap;

    thread_local! {
        static ERASED: RefCell<HashMap<usize, String>> = RefCell::default();
        /// Whether the list holds anything; read at every access to an op.
        static ANY: Cell<bool> = const { Cell::new(false) };
    }

    /// Forgets everything: a callback begins or ends, or ops were made that nobody told us of.
    pub(crate) fn clear() {
        if ANY.replace(false) {
            ERASED.with(|erased| erased.borrow_mut().clear());
        }
    }

    /// The op (of that name) is about to be erased.
    pub(crate) fn add(op: MlirOperation, name: &str) {
        if !crate::guard::is_inside() {
            return;
        }
        ANY.set(true);
        ERASED.with(|erased| erased.borrow_mut().insert(op.ptr as usize, name.to_owned()));
    }

    /// An op was made at this address.
    pub(crate) fn remove(op: MlirOperation) {
        if ANY.get() {
            ERASED.with(|erased| erased.borrow_mut().remove(&(op.ptr as usize)));
        }
    }

    /// Panics when the op was erased.
    pub(crate) fn check(op: MlirOperation) {
        if ANY.get() {
            let name = ERASED.with(|erased| erased.borrow().get(&(op.ptr as usize)).cloned());
            assert!(name.is_none(), "an op '{}' is used after it was erased or replaced", name.unwrap_or_default());
        }
    }
}

#[cfg(not(debug_assertions))]
mod list {
    use mlir_sys::MlirOperation;

    pub(crate) fn clear() {}
    pub(crate) fn add(_op: MlirOperation, _name: &str) {}
    pub(crate) fn remove(_op: MlirOperation) {}
    pub(crate) fn check(_op: MlirOperation) {}
}

pub(crate) use list::{add, check, clear, remove};
