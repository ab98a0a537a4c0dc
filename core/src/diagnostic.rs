//! Errors, warnings and remarks with notes, through MLIR's diagnostics.

use crate::ir::{Cx, Location, Op, print_into, string_ref};
use mlir_sys::*;
use std::ffi::c_void;
use strata_core_sys::{strata_emit_at, strata_emit_at_op};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The input or the pass is wrong.
    Error = 0,
    /// Suspicious.
    Warning = 1,
    /// Worth knowing.
    Remark = 2,
}

/// A further message below a diagnostic, at a place of its own.
pub struct Note<'a, 'c> {
    /// Where; the diagnostic's own place when not given.
    pub location: Option<Location<'c>>,
    /// What.
    pub message: &'a str,
}

fn with_notes(notes: &[Note<'_, '_>], emit: impl FnOnce(isize, *const MlirLocation, *const MlirStringRef)) {
    let null = MlirLocation { ptr: std::ptr::null() };
    let locations: Vec<_> = notes.iter().map(|note| note.location.map_or(null, Location::to_raw)).collect();
    let messages: Vec<_> = notes.iter().map(|note| string_ref(note.message)).collect();
    emit(notes.len() as isize, locations.as_ptr(), messages.as_ptr());
}

/// Reports at an op; an error carries MLIR's `'x.y' op` prefix.
pub fn emit_at_op(op: Op<'_>, severity: Severity, message: &str, notes: &[Note<'_, '_>]) {
    with_notes(notes, |count, locations, messages| {
        // SAFETY: all handles and strings are alive for the call.
        unsafe { strata_emit_at_op(op.to_raw(), severity as i32, string_ref(message), count, locations, messages) }
    });
}

/// Reports at a place.
pub fn emit_at(location: Location<'_>, severity: Severity, message: &str, notes: &[Note<'_, '_>]) {
    with_notes(notes, |count, locations, messages| {
        // SAFETY: all handles and strings are alive for the call.
        unsafe { strata_emit_at(location.to_raw(), severity as i32, string_ref(message), count, locations, messages) }
    });
}

impl Op<'_> {
    /// Reports a warning at the op.
    pub fn warning(self, message: &str) {
        emit_at_op(self, Severity::Warning, message, &[]);
    }

    /// Reports a remark at the op.
    pub fn remark(self, message: &str) {
        emit_at_op(self, Severity::Remark, message, &[]);
    }
}

/// Runs `call` and gives the errors that MLIR reports meanwhile, each as `location: message`.
pub fn collect_errors<R>(cx: Cx<'_>, call: impl FnOnce() -> R) -> (R, Vec<String>) {
    unsafe extern "C" fn handle(diagnostic: MlirDiagnostic, data: *mut c_void) -> MlirLogicalResult {
        // SAFETY: `data` is the list below, alive while the handler is attached; MLIR calls handlers one at a time.
        unsafe {
            let is_error = mlirDiagnosticGetSeverity(diagnostic) == MlirDiagnosticSeverity_MlirDiagnosticError;
            if is_error {
                (*data.cast::<Vec<String>>()).push(show(diagnostic));
            }
            MlirLogicalResult { value: i8::from(is_error) }
        }
    }
    let mut errors: Vec<String> = Vec::new();
    // SAFETY: the context is alive; the handler is detached before `errors` goes.
    unsafe {
        let id = mlirContextAttachDiagnosticHandler(cx.to_raw(), Some(handle), (&raw mut errors).cast(), None);
        let result = call();
        mlirContextDetachDiagnosticHandler(cx.to_raw(), id);
        (result, errors)
    }
}

/// # Safety
/// The diagnostic must be alive.
unsafe fn show(diagnostic: MlirDiagnostic) -> String {
    // SAFETY: the diagnostic is alive, and its notes are as many as MLIR says.
    unsafe {
        let mut message = String::new();
        mlirDiagnosticPrint(diagnostic, Some(print_into), (&raw mut message).cast());
        let location = Location::from_raw(mlirDiagnosticGetLocation(diagnostic));
        let mut text = format!("{}: {message}", location.short());
        for index in 0..mlirDiagnosticGetNumNotes(diagnostic) {
            text.push_str(&format!("\n  note: {}", show(mlirDiagnosticGetNote(diagnostic, index))));
        }
        text
    }
}
