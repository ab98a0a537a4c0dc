//! Collects what MLIR reports while a piece of work runs, so that an error can carry it.

use mlir_sys::*;
use std::ffi::c_void;
use std::sync::Mutex;
use strata_core::ir::Cx;

/// Runs `work` and gives its result with the diagnostics reported meanwhile, one per line.
pub(super) fn collect<R>(cx: Cx<'_>, work: impl FnOnce() -> R) -> (R, String) {
    let messages = Mutex::new(String::new());
    // SAFETY: the handler is detached below, before `messages` goes; `work` must not unwind past it, and if it
    // does the process is about to report that panic while no MLIR code runs in this context.
    let handler = unsafe {
        mlirContextAttachDiagnosticHandler(cx.to_raw(), Some(report), (&raw const messages).cast_mut().cast(), None)
    };
    let result = work();
    // SAFETY: the handler was attached to this context above.
    unsafe { mlirContextDetachDiagnosticHandler(cx.to_raw(), handler) };
    (result, messages.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
}

unsafe extern "C" fn report(diagnostic: MlirDiagnostic, user: *mut c_void) -> MlirLogicalResult {
    // SAFETY: `user` is the mutex of `collect`, which outlives the attachment.
    let messages = unsafe { &*user.cast::<Mutex<String>>() };
    let mut messages = messages.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let out: *mut String = &raw mut *messages;
    // SAFETY: the diagnostic is alive for this call and `append` gets the string locked above.
    unsafe {
        mlirLocationPrint(mlirDiagnosticGetLocation(diagnostic), Some(append), out.cast());
        (*out).push_str(": ");
        mlirDiagnosticPrint(diagnostic, Some(append), out.cast());
        (*out).push('\n');
    }
    MlirLogicalResult { value: 1 }
}

/// MLIR's string callback with a `String` behind it.
pub(super) unsafe extern "C" fn append(text: MlirStringRef, user: *mut c_void) {
    // SAFETY: the caller passes a `String` that nothing else uses meanwhile, MLIR passes a valid string.
    let (out, bytes) = unsafe { (&mut *user.cast::<String>(), std::slice::from_raw_parts(text.data.cast(), text.length)) };
    out.push_str(&String::from_utf8_lossy(bytes));
}
