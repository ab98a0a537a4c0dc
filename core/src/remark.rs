//! Remarks: why a pass leaves an op as it is.
//!
//! A reason goes to MLIR's remark engine where the context has one (`--remarks-filter`, `--remark-format`), as a missed optimisation
//! whose category is the pass. Where somebody asked (`--remarks`, or the option `remarks` of the pass) it is a diagnostic, too.

use crate::diagnostic::{Severity, emit_at};
use crate::ir::{Location, Op, string_ref};
use crate::rewrite::NoMatch;
use std::fmt::Display;
use std::iter::successors;
use std::sync::atomic::{AtomicBool, Ordering};
use strata_core_sys::{strata_has_remark_engine, strata_remark_missed};

static ASKED: AtomicBool = AtomicBool::new(false);

/// Makes every pass and every pattern of the process say why it refuses something, as a remark at the op.
pub fn ask_remarks(on: bool) {
    ASKED.store(on, Ordering::Relaxed);
}

/// Whom a pass reports its refusals to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Remarks {
    /// The argument of the pass; empty where patterns are applied outside of one.
    pass: &'static str,
    /// Whether each refusal is a diagnostic, `--remarks` or not.
    asked: bool,
}

impl Remarks {
    /// Those of a pass; `asked` makes each refusal a diagnostic.
    pub const fn of(pass: &'static str, asked: bool) -> Self {
        Self { pass, asked }
    }

    /// What was found at an op; where nothing was, the reason is reported.
    pub fn found<T>(self, op: Op<'_>, found: Result<T, NoMatch>) -> Option<T> {
        found.map_err(|reason| self.missed(op, reason)).ok()
    }

    /// Reports why an op stays as it is.
    pub fn missed(self, op: Op<'_>, reason: impl Display) {
        self.report(op.location(), self.pass, || function(op), reason);
    }

    /// Reports why what stood at a place stayed as it was, where the op is gone.
    pub fn missed_at(self, location: Location<'_>, reason: impl Display) {
        self.report(location, self.pass, String::new, reason);
    }

    /// Reports why a pattern does not match an op.
    pub(crate) fn no_match(self, op: Op<'_>, pattern: &str, reason: impl Display) {
        self.report(op.location(), pattern, || function(op), format_args!("'{pattern}' does not match: {reason}"));
    }

    fn report(self, location: Location<'_>, name: &str, function: impl FnOnce() -> String, reason: impl Display) {
        let asked = self.asked || ASKED.load(Ordering::Relaxed);
        // SAFETY: the location's context is alive.
        let engine = unsafe { strata_has_remark_engine(location.to_raw()) };
        if !asked && !engine {
            return;
        }
        let reason = reason.to_string();
        if engine {
            let (category, function) = (if self.pass.is_empty() { name } else { self.pass }, function());
            let [category, name, function, reason] = [category, name, &function, &reason].map(string_ref);
            // SAFETY: the location and the strings are alive for the call; MLIR copies them.
            unsafe { strata_remark_missed(location.to_raw(), category, name, function, reason) };
        }
        if asked {
            let pass = if self.pass.is_empty() { String::new() } else { format!(" [{}]", self.pass) };
            emit_at(location, Severity::Remark, &format!("{reason}{pass}"), &[]);
        }
    }
}

/// The name of the symbol that an op is or stands in.
fn function(op: Op<'_>) -> String {
    successors(Some(op), |op| op.parent()).find_map(|op| op.str("sym_name")).unwrap_or_default()
}
