//! The operators that are imported: one row for each, in the files of their families.

use super::call::Call;
use super::error::Eval;
use super::operators as families;
use super::value::Value;

/// The page of the book that lists them.
pub(super) const PAGE: &str = "docs/src/reference/onnx.md";

/// Imports one call.
pub(super) type Build = for<'a, 'p, 'c> fn(&mut Call<'a, 'p, 'c>) -> Eval<Vec<Value<'c>>>;

/// An operator.
pub(super) struct Row {
    /// Its name; with its domain where that is not ONNX's own.
    pub name: &'static str,
    /// What it becomes.
    pub build: Build,
}

/// A row.
pub(super) const fn row(name: &'static str, build: Build) -> Row {
    Row { name, build }
}

/// All families; rows are sorted in each.
const FAMILIES: &[&[Row]] = &[
    families::activation::ROWS,
    families::arithmetic::ROWS,
    families::attention::ROWS,
    families::control::ROWS,
    families::conv::ROWS,
    families::index::ROWS,
    families::linear::ROWS,
    families::loss::ROWS,
    families::norm::ROWS,
    families::pad::ROWS,
    families::pool::ROWS,
    families::quantise::ROWS,
    families::random::ROWS,
    families::reduce::ROWS,
    families::resize::ROWS,
    families::rnn::ROWS,
    families::sequence::ROWS,
    families::shape::ROWS,
    families::signal::ROWS,
    families::spatial::ROWS,
    families::training::ROWS,
];

/// The row of an operator.
pub(super) fn find(domain: &str, operator: &str) -> Option<&'static Row> {
    let name = if domain.is_empty() { operator.to_owned() } else { format!("{domain}.{operator}") };
    FAMILIES.iter().find_map(|rows| rows.binary_search_by_key(&name.as_str(), |row| row.name).ok().map(|place| &rows[place]))
}

/// The names of all operators that are imported, sorted.
pub fn supported() -> Vec<&'static str> {
    let mut names: Vec<_> = FAMILIES.iter().flat_map(|rows| rows.iter().map(|row| row.name)).collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_each_operator_has_one() {
        for rows in FAMILIES {
            for pair in rows.windows(2) {
                assert!(pair[0].name < pair[1].name, "{} stands before {}", pair[0].name, pair[1].name);
            }
        }
        let names = supported();
        for pair in names.windows(2) {
            assert!(pair[0] != pair[1], "{} has two rows", pair[0]);
        }
    }
}
