//! The fence between Rust and MLIR: a panic in a callback becomes a diagnostic, and never unwinds into C++.

use crate::diagnostic::{Severity, emit_at, emit_at_op};
use crate::ir::{Location, Op};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Panics caught in this process; a tool that caught one does not exit with success.
static PANICS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// How many fences this thread is inside of.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// Where the last panic inside a fence happened.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
    /// Panics caught on this thread.
    static CAUGHT: Cell<usize> = const { Cell::new(0) };
}

/// Panics caught in this process so far.
pub(crate) fn panics() -> usize {
    PANICS.load(Ordering::Relaxed)
}

/// Whether this thread runs a callback.
#[cfg(debug_assertions)]
pub(crate) fn is_inside() -> bool {
    DEPTH.with(Cell::get) > 0
}

/// Panics caught on this thread so far.
pub(crate) fn panics_here() -> usize {
    CAUGHT.with(Cell::get)
}

/// Runs a callback for an op; a panic is reported at the op and gives `None`.
pub(crate) fn at_op<R>(op: Op<'_>, what: &str, call: impl FnOnce() -> R) -> Option<R> {
    // The op may be gone when the panic is reported, its location stays.
    let (location, name) = (op.location(), op.name());
    fenced(call).map_err(|panic| emit_at(location, Severity::Error, &format!("'{name}' op {what} panicked: {panic}"), &[])).ok()
}

/// Runs a callback for a place; a panic is reported there and gives `None`.
pub(crate) fn at_location<R>(location: Location<'_>, what: &str, call: impl FnOnce() -> R) -> Option<R> {
    fenced(call).map_err(|panic| emit_at(location, Severity::Error, &format!("{what} panicked: {panic}"), &[])).ok()
}

/// Runs a callback that has no place; a panic goes to standard error.
pub(crate) fn quiet<R>(call: impl FnOnce() -> R) -> Option<R> {
    fenced(call).map_err(|panic| eprintln!("error: a callback panicked: {panic}")).ok()
}

fn fenced<R>(call: impl FnOnce() -> R) -> Result<R, String> {
    install_hook();
    crate::erased::clear();
    DEPTH.with(|depth| depth.set(depth.get() + 1));
    let result = catch_unwind(AssertUnwindSafe(call));
    DEPTH.with(|depth| depth.set(depth.get() - 1));
    crate::erased::clear();
    result.map_err(|panic| {
        PANICS.fetch_add(1, Ordering::Relaxed);
        CAUGHT.with(|caught| caught.set(caught.get() + 1));
        let place = PLACE.with(|place| place.take());
        format!("{} ({place})", message(panic.as_ref()))
    })
}

fn message(panic: &(dyn Any + Send)) -> String {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (_, Some(text)) => text.clone(),
        _ => "a panic without a message".to_owned(),
    }
}

/// Inside a fence the diagnostic says it all; outside, the hook that was there before goes on.
fn install_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if DEPTH.with(Cell::get) == 0 {
                return previous(info);
            }
            let place = info.location().map_or_else(String::new, |at| format!("{}:{}", at.file(), at.line()));
            PLACE.with(|cell| cell.replace(place));
        }));
    });
}

/// Reports at the op without a fence, for messages of the framework itself.
pub(crate) fn report(op: Op<'_>, message: &str) {
    emit_at_op(op, Severity::Error, message, &[]);
}
