//! What passes said while they ran: kept with their result, and said again when the result is used.

use super::places::inside;
use serde::{Deserialize, Serialize};
use std::fmt;
use strata_core::diagnostic::{Collected, Severity};
use strata_core::ir::Cx;

/// A warning or a remark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// Whether it is a warning; else a remark.
    pub warning: bool,
    /// Where, as `loc(..)` is written.
    pub location: String,
    /// What.
    pub message: String,
    /// What was said with it.
    pub notes: Vec<Said>,
}

impl From<Collected> for Said {
    fn from(Collected { severity, location, message, notes }: Collected) -> Said {
        Said { warning: severity == Severity::Warning, location, message, notes: notes.into_iter().map(Said::from).collect() }
    }
}

impl Said {
    /// Says it again through MLIR's diagnostics.
    pub fn say(self, cx: Cx<'_>) {
        self.collected().emit(cx);
    }

    fn collected(self) -> Collected {
        let severity = if self.warning { Severity::Warning } else { Severity::Remark };
        let notes = self.notes.into_iter().map(Said::collected).collect();
        Collected { severity, location: self.location, message: self.message, notes }
    }

    /// The same at other places.
    pub(super) fn at(self, place: &impl Fn(&str) -> String) -> Said {
        let notes = self.notes.into_iter().map(|note| note.at(place)).collect();
        Said { location: place(&self.location), notes, ..self }
    }
}

/// As MLIR's driver prints it: `file.mlir:3:5: remark: what`.
impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", short(&self.location), if self.warning { "warning" } else { "remark" }, self.message)?;
        self.notes.iter().try_for_each(|note| write!(f, "\n{}: note: {}", short(&note.location), note.message))
    }
}

/// A place without what only MLIR needs around it.
fn short(location: &str) -> String {
    let inner = inside(location);
    match inner.strip_prefix('"').and_then(|rest| rest.split_once("\":")) {
        Some((file, place)) if !place.contains(['"', '(']) => format!("{file}:{place}"),
        _ => inner.to_owned(),
    }
}

/// What a group of passes made of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    pub text: String,
    pub said: Vec<Said>,
}

impl Outcome {
    /// For the store: what was said in a line, then the text.
    pub fn to_bytes(&self) -> Vec<u8> {
        let said = serde_json::to_string(&self.said).unwrap_or_else(|_| "[]".to_owned());
        format!("{said}\n{}", self.text).into_bytes()
    }

    /// What the store had; nothing where that is no outcome.
    pub fn from_bytes(bytes: Vec<u8>) -> Option<Outcome> {
        let whole = String::from_utf8(bytes).ok()?;
        let (said, text) = whole.split_once('\n')?;
        Some(Outcome { said: serde_json::from_str(said).ok()?, text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_comes_back_from_its_bytes() {
        let note = Said { warning: false, location: "loc(unknown)".into(), message: "a \"note\"\nof two lines".into(), notes: vec![] };
        let said = Said { warning: true, location: "loc(\"f\":1:2)".into(), message: "é".into(), notes: vec![note] };
        let outcome = Outcome { text: "module {\n}\n".into(), said: vec![said] };
        assert_eq!(Outcome::from_bytes(outcome.to_bytes()), Some(outcome));
        assert_eq!(Outcome::from_bytes(b"module {}".to_vec()), None);
    }
}
