//! An operator as a value: one row of the schema tables.

use std::fmt;

use strata_core::ir::Op;

use super::schema::{self, Schema};

/// An operator of PyTorch or of its libraries, by its full name; all of them are constants of [`super::op`].
///
/// Operators compare and sort as their names do, and a constant is a pattern: `match Operator::of(op) { Some(op::RELU) => .. }`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Operator(pub(super) &'static str);

impl Operator {
    /// All operators, sorted by name.
    pub fn all() -> impl Iterator<Item = Operator> {
        schema::names().map(Operator)
    }

    /// The operator of this name (`aten.add.Tensor`, `aten.relu`), if PyTorch has it.
    pub fn named(name: &str) -> Option<Operator> {
        schema::schema(name).map(Schema::operator)
    }

    /// The operator that an op is, if it is one.
    pub fn of(op: Op<'_>) -> Option<Operator> {
        Operator::named(op.name())
    }

    /// `aten.add.Tensor`; overload `default` is left out (`aten.relu`).
    pub const fn name(self) -> &'static str {
        self.0
    }

    /// The arguments and returns.
    pub fn schema(self) -> &'static Schema {
        schema::schema(self.0).expect("made from a row of the table")
    }

    /// Whether an op is this operator.
    pub fn is(self, op: Op<'_>) -> bool {
        op.name() == self.0
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::op::{self, prims};
    use super::*;

    #[test]
    fn constants_are_the_rows_of_the_tables() {
        assert_eq!(op::ADD_TENSOR.schema().name, "aten.add.Tensor");
        assert_eq!(Operator::named("prims.iota"), Some(prims::IOTA));
        assert_eq!(Operator::named("aten.no_such_operator"), None);
        assert!(op::ADD_TENSOR < op::RELU && op::RELU < prims::IOTA);
    }
}
