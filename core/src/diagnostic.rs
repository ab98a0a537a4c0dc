//! Errors, warnings and remarks with notes, through MLIR's diagnostics.

use crate::ir::{Cx, Location, Op, print_into, string_ref};
use mlir_sys::*;
use std::ffi::c_void;
use strata_core_sys::{strata_emit_at, strata_emit_at_op};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    // MLIR writes the op below an error, and one that holds others would be a whole program.
    if severity == Severity::Error && !op.regions().is_empty() {
        return emit_at(op.location(), severity, &format!("'{}' op {message}", op.name()), notes);
    }
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

impl Collected {
    /// Reports it again, at a place in a context; notes are put where they were.
    pub fn emit(&self, cx: Cx<'_>) {
        let place = |text: &str| cx.parse_location(text).unwrap_or_else(|| cx.unknown());
        let notes: Vec<_> = self.notes.iter().map(|note| Note { location: Some(place(&note.location)), message: &note.message }).collect();
        emit_at(place(&self.location), self.severity, &self.message, &notes);
    }
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

/// A diagnostic that was collected: it outlives its context.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Collected {
    /// How bad it is.
    pub severity: Severity,
    /// Where, as `loc(..)` is written.
    pub location: String,
    /// What.
    pub message: String,
    /// Its notes.
    pub notes: Vec<Collected>,
}

/// Runs `call` and gives what is reported meanwhile, warnings and remarks too. None of it is printed.
pub fn collect<R>(cx: Cx<'_>, call: impl FnOnce() -> R) -> (R, Vec<Collected>) {
    let mut found = Vec::new();
    let mut visit = |diagnostic: &View| {
        found.push(diagnostic.collected());
        true
    };
    let result = with_handler(cx, &mut visit, call);
    (result, found)
}

/// Runs `call` and gives the errors that MLIR reports meanwhile, each as `location: message`.
pub fn collect_errors<R>(cx: Cx<'_>, call: impl FnOnce() -> R) -> (R, Vec<String>) {
    let mut errors: Vec<String> = Vec::new();
    let mut visit = |diagnostic: &View| {
        let is_error = diagnostic.severity() == Severity::Error;
        if is_error {
            errors.push(diagnostic.show());
        }
        is_error
    };
    let result = with_handler(cx, &mut visit, call);
    (result, errors)
}

/// Runs `call` while `visit` sees each diagnostic, and says whether others are not to see it.
fn with_handler<R>(cx: Cx<'_>, visit: &mut dyn FnMut(&View) -> bool, call: impl FnOnce() -> R) -> R {
    unsafe extern "C" fn handle(diagnostic: MlirDiagnostic, data: *mut c_void) -> MlirLogicalResult {
        // SAFETY: `data` is the visitor below, alive while the handler is attached; MLIR calls handlers one at a time.
        let visit = unsafe { &mut *data.cast::<&mut dyn FnMut(&View) -> bool>() };
        MlirLogicalResult { value: i8::from(visit(&View { raw: diagnostic })) }
    }
    let mut visit = visit;
    // SAFETY: the context is alive; the handler is detached before the visitor goes.
    unsafe {
        let id = mlirContextAttachDiagnosticHandler(cx.to_raw(), Some(handle), (&raw mut visit).cast(), None);
        let result = call();
        mlirContextDetachDiagnosticHandler(cx.to_raw(), id);
        result
    }
}

/// What a diagnostic is asked for. It is alive as long as its handler runs, and only handlers ask.
struct View {
    raw: MlirDiagnostic,
}

impl View {
    fn severity(&self) -> Severity {
        // SAFETY: see the type.
        match unsafe { mlirDiagnosticGetSeverity(self.raw) } {
            kind if kind == MlirDiagnosticSeverity_MlirDiagnosticError => Severity::Error,
            kind if kind == MlirDiagnosticSeverity_MlirDiagnosticWarning => Severity::Warning,
            _ => Severity::Remark,
        }
    }

    fn message(&self) -> String {
        let mut message = String::new();
        // SAFETY: see the type.
        unsafe { mlirDiagnosticPrint(self.raw, Some(print_into), (&raw mut message).cast()) };
        message
    }

    fn location(&self) -> Location<'_> {
        // SAFETY: see the type.
        unsafe { Location::from_raw(mlirDiagnosticGetLocation(self.raw)) }
    }

    fn notes(&self) -> impl Iterator<Item = View> {
        // SAFETY: see the type; notes live as long as their diagnostic.
        unsafe { (0..mlirDiagnosticGetNumNotes(self.raw)).map(|index| View { raw: mlirDiagnosticGetNote(self.raw, index) }) }
    }

    fn collected(&self) -> Collected {
        let notes = self.notes().map(|note| note.collected()).collect();
        Collected { severity: self.severity(), location: self.location().to_string(), message: self.message(), notes }
    }

    fn show(&self) -> String {
        let mut text = format!("{}: {}", self.location().short(), self.message());
        self.notes().for_each(|note| text.push_str(&format!("\n  note: {}", note.show())));
        text
    }
}
