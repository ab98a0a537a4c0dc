//! Diagnostics of passes: kept with their result, and reported again when the result is used.

use serde::{Deserialize, Serialize};
use std::fmt;
use strata_core::diagnostic::{Collected, Severity};
use strata_core::ir::Cx;

/// A warning or a remark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Whether it is a warning; else a remark.
    pub warning: bool,
    /// Where, as `loc(..)` is written.
    pub location: String,
    /// What.
    pub message: String,
    /// The notes that came with it.
    pub notes: Vec<Diagnostic>,
}

impl From<Collected> for Diagnostic {
    fn from(Collected { severity, location, message, notes }: Collected) -> Diagnostic {
        Diagnostic { warning: severity == Severity::Warning, location, message, notes: notes.into_iter().map(Diagnostic::from).collect() }
    }
}

impl Diagnostic {
    /// Reports it again through MLIR's diagnostics.
    pub fn say(self, cx: Cx<'_>) {
        self.collected().emit(cx);
    }

    fn collected(self) -> Collected {
        let severity = if self.warning { Severity::Warning } else { Severity::Remark };
        let notes = self.notes.into_iter().map(Diagnostic::collected).collect();
        Collected { severity, location: self.location, message: self.message, notes }
    }

    /// The same at other places.
    pub(crate) fn at(self, place: &impl Fn(&str) -> String) -> Diagnostic {
        let notes = self.notes.into_iter().map(|note| note.at(place)).collect();
        Diagnostic { location: place(&self.location), notes, ..self }
    }
}

/// As MLIR's driver prints it: `file.mlir:3:5: remark: what`.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", short(&self.location), if self.warning { "warning" } else { "remark" }, self.message)?;
        self.notes.iter().try_for_each(|note| write!(f, "\n{}: note: {}", short(&note.location), note.message))
    }
}

/// What is in the brackets of `loc(..)`.
pub(crate) fn inside(text: &str) -> &str {
    text.strip_prefix("loc(").and_then(|rest| rest.strip_suffix(')')).unwrap_or(text)
}

/// A place without what only MLIR needs around it.
fn short(location: &str) -> String {
    let inner = inside(location);
    match inner.strip_prefix('"').and_then(|rest| rest.split_once("\":")) {
        Some((file, place)) if !place.contains(['"', '(']) => format!("{file}:{place}"),
        _ => inner.to_owned(),
    }
}
