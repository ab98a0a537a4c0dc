//! `rs-opt --op-coverage`: which of PyTorch's operators are compiled, and which the reference interpreter knows.

use std::collections::HashSet;
use std::fmt::Write as _;

use strata_core::registry::Registry;
use strata_dialects::aten::{Operator, foreach};
use strata_lowering::aten_to_prim;

use crate::levels::Level;
use crate::run_levels::run_to;
use crate::{Error, Options, SourceFile};

/// What is known of one operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Coverage {
    /// The operator.
    pub operator: Operator,
    /// It has a decomposition to `prim`, so it is compiled.
    pub compiled: bool,
    /// The interpreter has an arm of its own.
    pub interpreted: bool,
}

/// All operators that do not change their arguments, sorted by name. Those that do become these when the program is
/// made functional.
pub fn op_coverage() -> Vec<Coverage> {
    let row = |operator| Coverage {
        operator,
        compiled: aten_to_prim::has_rule(foreach::of_each(operator).unwrap_or(operator)),
        interpreted: strata_interp::aten::find(operator).is_some(),
    };
    Operator::all().filter(|operator| !operator.schema().is_mutable()).map(row).collect()
}

/// The operators whose name contains `part`, a line each, and the counts.
pub fn coverage_table(part: &str) -> String {
    table(op_coverage().into_iter().filter(|row| row.operator.name().contains(part)).collect())
}

/// [`coverage_table`] of the operators that a program has at the level `aten`.
pub fn coverage_of<'a>(registry: &'static Registry, file: impl Into<SourceFile<'a>>, part: &str) -> Result<String, Error> {
    let file = file.into();
    let context = registry.pooled_context();
    let source = file.read(&context)?;
    run_to(registry, &source.module, Level::Aten, &Options::default(), &mut |_| {}).map_err(|error| error.of(file.path))?;
    let mut found = HashSet::new();
    source.module.op().walk(&mut |op| _ = found.insert(op.name().to_owned()));
    Ok(table(op_coverage().into_iter().filter(|row| row.operator.name().contains(part) && found.contains(row.operator.name())).collect()))
}

fn table(rows: Vec<Coverage>) -> String {
    let mut table = String::new();
    for row in &rows {
        let compiled = if row.compiled { "compiled" } else { "missing" };
        let interpreted = if row.interpreted { "interpreted" } else { "" };
        let _ = writeln!(table, "{:<56} {compiled:<9} {interpreted}", row.operator.name());
    }
    let count = |test: fn(&&Coverage) -> bool| rows.iter().filter(test).count();
    let _ = writeln!(table, "compiled {} of {}", count(|row| row.compiled), rows.len());
    let _ = writeln!(table, "interpreted {} of {}", count(|row| row.interpreted), rows.len());
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_operators_are_counted() {
        let table = coverage_table("aten.relu");
        assert!(table.contains("aten.relu ") && table.contains("compiled") && table.contains("interpreted"), "{table}");
        assert!(!table.contains("relu_ "), "in-place operators are made functional first: {table}");
        assert!(op_coverage().iter().filter(|row| row.compiled).count() > 800);
    }
}
