//! The functional operator for one that writes to its arguments, found by comparing schemas.

use strata_dialects::aten::{
    self, Schema,
    schema::{Arg, Kind},
};

/// What the counterpart's results are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Results {
    /// The new contents of the written arguments.
    Contents,
    /// The operator's own results, then the new contents.
    OwnAndContents,
}

/// A functional operator with the arguments of a mutating one, or without those that it only writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counterpart {
    pub schema: &'static Schema,
    pub results: Results,
}

/// Whether the operator writes to this argument.
pub(super) fn is_written(arg: &Arg) -> bool {
    arg.alias.is_some_and(|alias| alias.contains('!'))
}

/// Finds the counterpart: `add_` has `add`, `X.out` has `X` without `out`, and some `X` have `X_functional`.
pub(super) fn counterpart(schema: &Schema) -> Option<Counterpart> {
    let (dialect, rest) = schema.name.split_once('.')?;
    let (base, overload) = rest.split_once('.').unwrap_or((rest, ""));
    let all: Vec<&Arg> = schema.args.iter().collect();
    let read: Vec<&Arg> = schema.args.iter().filter(|arg| !is_written(arg)).collect();
    let find = |base: &str, wanted: &[&Arg], results| {
        let schema = find(dialect, base, overload, wanted)?;
        Some(Counterpart { schema, results })
    };
    let in_place = match base.strip_prefix("__i") {
        Some(operator) => Some(format!("__{operator}")),
        None => base.strip_suffix('_').map(str::to_owned),
    };
    (in_place.and_then(|base| find(&base, &all, Results::Contents)))
        .or_else(|| find(&format!("{base}_functional"), &all, Results::OwnAndContents))
        .or_else(|| find(base, &read, Results::Contents).filter(|_| schema.has("out")))
}

/// The overload of `base` that takes just these arguments; one of the same overload name comes first.
fn find(dialect: &str, base: &str, overload: &str, wanted: &[&Arg]) -> Option<&'static Schema> {
    let prefix = format!("{dialect}.{base}");
    let fits = |name: &&str| match name.strip_prefix(&prefix) {
        Some(rest) => rest.is_empty() || rest.starts_with('.'),
        None => false,
    };
    let takes = |schema: &&'static Schema| {
        let same = |arg: &&Arg| {
            let twin = schema.arg(arg.name);
            // An in-place operator may bound an argument that is optional elsewhere, never the other way round.
            twin.is_some_and(|twin| twin.ty.kind == arg.ty.kind && twin.ty.list == arg.ty.list && (twin.ty.optional || !arg.ty.optional))
        };
        !schema.is_mutable() && schema.args.len() == wanted.len() && wanted.iter().all(same)
    };
    let mut found: Vec<_> = aten::schema::names().filter(fits).filter_map(aten::schema).filter(takes).collect();
    found.sort_by_key(|schema| schema.name.strip_prefix(&prefix).is_none_or(|rest| rest.trim_start_matches('.') != overload));
    found.first().copied()
}

/// Operators whose functional form gives bools although the in-place form keeps its own element type.
pub(super) fn gives_bool(schema: &Schema) -> bool {
    let base = schema.name.split('.').nth(1).unwrap_or_default();
    matches!(
        base,
        "eq" | "ne"
            | "lt"
            | "le"
            | "gt"
            | "ge"
            | "not_equal"
            | "less"
            | "less_equal"
            | "greater"
            | "greater_equal"
            | "logical_and"
            | "logical_or"
            | "logical_xor"
            | "logical_not"
    )
}

/// The tensor arguments of a schema in the order of its operands.
pub(super) fn tensor_names(schema: &Schema) -> impl Iterator<Item = &'static str> + '_ {
    schema.args.iter().filter(|arg| arg.ty.kind == Kind::Tensor).map(|arg| arg.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(of: &str) -> Option<(&'static str, Results)> {
        counterpart(aten::schema(of).expect(of)).map(|found| (found.schema.name, found.results))
    }

    #[test]
    fn counterparts_are_found_by_schema() {
        assert_eq!(name("aten.add_.Tensor"), Some(("aten.add.Tensor", Results::Contents)));
        assert_eq!(name("aten.relu_"), Some(("aten.relu", Results::Contents)));
        assert_eq!(name("aten.pow_.Tensor"), Some(("aten.pow.Tensor_Tensor", Results::Contents)));
        assert_eq!(name("aten.polygamma_"), Some(("aten.polygamma", Results::Contents)));
        assert_eq!(name("aten.ldexp_"), Some(("aten.ldexp.Tensor", Results::Contents)));
        assert_eq!(name("aten.__iand__.Tensor"), Some(("aten.__and__.Tensor", Results::Contents)));
        assert_eq!(name("aten.add.out"), Some(("aten.add.Tensor", Results::Contents)));
        assert_eq!(name("aten._native_batch_norm_legit"), Some(("aten._native_batch_norm_legit_functional", Results::OwnAndContents)));
        assert_eq!(name("aten._foreach_add_.Scalar"), Some(("aten._foreach_add.Scalar", Results::Contents)));
    }
}
