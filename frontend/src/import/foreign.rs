//! Operators of other libraries that mean one of PyTorch's: programs with them are imported as if they called that one.

use strata_dialects::aten::{self, Operator, Schema, op};

/// An operator of a library.
struct Foreign {
    /// Its name in programs.
    target: &'static str,
    /// The operator that it means.
    meaning: Operator,
    /// Its arguments' names, in the order of that operator's.
    arguments: &'static [&'static str],
}

/// `grouped_mm_fallback` is what models with experts in Hugging Face's transformers call where PyTorch's own operator does not take
/// their types.
const FOREIGN: &[Foreign] =
    &[Foreign { target: "transformers.grouped_mm_fallback.default", meaning: op::_GROUPED_MM, arguments: &["input", "weight", "offs"] }];

/// The schema of a target, and the names that its arguments have in programs where they are not the schema's.
pub(super) fn schema_of(target: &str) -> Option<(&'static Schema, &'static [&'static str])> {
    match FOREIGN.iter().find(|foreign| foreign.target == target) {
        Some(foreign) => Some((foreign.meaning.schema(), foreign.arguments)),
        None => Some((aten::schema_of_target(target)?, &[])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_meaning_is_an_operator_with_as_many_arguments() {
        for foreign in FOREIGN {
            let (schema, names) = schema_of(foreign.target).unwrap_or_else(|| panic!("{} means nothing", foreign.target));
            assert!(names.len() <= schema.args.len(), "{}", foreign.target);
        }
        assert!(schema_of("aten.relu.default").is_some_and(|(_, names)| names.is_empty()));
        assert!(schema_of("transformers.unknown.default").is_none());
    }
}
