//! What a group of passes made of a unit, and its form in the store.

use crate::database::Diagnostic;

/// What a group of passes made of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub text: String,
    pub diagnostics: Vec<Diagnostic>,
}

impl Outcome {
    /// For the store: the diagnostics in a line, then the text.
    pub fn to_bytes(&self) -> Vec<u8> {
        let diagnostics = serde_json::to_string(&self.diagnostics).unwrap_or_else(|_| "[]".to_owned());
        format!("{diagnostics}\n{}", self.text).into_bytes()
    }

    /// What the store had; nothing where that is no outcome.
    pub fn from_bytes(bytes: Vec<u8>) -> Option<Outcome> {
        let whole = String::from_utf8(bytes).ok()?;
        let (diagnostics, text) = whole.split_once('\n')?;
        Some(Outcome { diagnostics: serde_json::from_str(diagnostics).ok()?, text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_comes_back_from_its_bytes() {
        let note =
            Diagnostic { warning: false, location: "loc(unknown)".into(), message: "a \"note\"\nof two lines".into(), notes: vec![] };
        let diagnostic = Diagnostic { warning: true, location: "loc(\"f\":1:2)".into(), message: "é".into(), notes: vec![note] };
        let outcome = Outcome { text: "module {\n}\n".into(), diagnostics: vec![diagnostic] };
        assert_eq!(Outcome::from_bytes(outcome.to_bytes()), Some(outcome));
        assert_eq!(Outcome::from_bytes(b"module {}".to_vec()), None);
    }
}
