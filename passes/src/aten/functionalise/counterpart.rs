//! The functional operator for one that writes to its arguments, found by comparing schemas.

use strata_dialects::aten::{self, Schema, schema::Arg};

/// What the counterpart's results are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Results {
    /// The new contents of the written arguments.
    Contents,
    /// The operator's own results, then the new contents.
    OwnAndContents,
}

/// A functional operator with the arguments of a mutating one, or without those that it only writes.
#[derive(Clone, Debug)]
pub(super) struct Counterpart {
    pub schema: &'static Schema,
    pub results: Results,
    /// For each of its arguments, the name of the mutating operator's argument.
    pub args: Vec<&'static str>,
}

/// Whether the operator writes to this argument.
pub(super) fn is_written(arg: &Arg) -> bool {
    arg.alias.is_some_and(|alias| alias.contains('!'))
}

/// Finds the counterpart: `add_` has `add`, `X.out` has `X` without `out`, and some `X` or `X_` have `X_functional`.
pub(super) fn counterpart(schema: &'static Schema) -> Option<Counterpart> {
    let (dialect, rest) = schema.name.split_once('.')?;
    let (base, overload) = rest.split_once('.').unwrap_or((rest, ""));
    let all: Vec<&'static Arg> = schema.args.iter().collect();
    let read: Vec<&'static Arg> = schema.args.iter().filter(|arg| !is_written(arg)).collect();
    // A factory has options where its `out` form has a tensor.
    let options = if schema.has("out") { TENSOR_OPTIONS } else { &[] };
    let find = |base: &str, wanted: &[&'static Arg], results| {
        let (schema, args) = find(dialect, base, overload, (wanted, options))?;
        Some(Counterpart { schema, results, args })
    };
    let in_place = match base.strip_prefix("__i") {
        Some(operator) => Some(format!("__{operator}")),
        None => base.strip_suffix('_').map(str::to_owned),
    };
    let contents = |base: &str| find(base, &all, Results::Contents);
    (in_place.and_then(|base| contents(&base).or_else(|| contents(&format!("{base}_functional")))))
        .or_else(|| find(&format!("{base}_functional"), &all, Results::OwnAndContents))
        .or_else(|| find(base, &read, Results::Contents).filter(|_| schema.has("out")))
}

/// The overload of `base` that takes just these arguments, with their names in its order; it may have these options besides.
/// One whose arguments have the same names comes first, then one of the same overload name.
fn find(
    dialect: &str,
    base: &str,
    overload: &str,
    (wanted, options): (&[&'static Arg], &[&str]),
) -> Option<(&'static Schema, Vec<&'static str>)> {
    let prefix = format!("{dialect}.{base}");
    let overload_of = |name: &str| name.strip_prefix(&prefix).map(|rest| rest.trim_start_matches('.').to_owned());
    let option = |own: &Arg| own.kwarg_only && options.contains(&own.name) && !wanted.iter().any(|arg| arg.name == own.name);
    let own_args = |schema: &'static Schema| schema.args.iter().filter(|own| !option(own)).collect::<Vec<_>>();
    let family =
        aten::schema::names().filter(|name| matches!(name.strip_prefix(&prefix), Some(rest) if rest.is_empty() || rest.starts_with('.')));
    let mut found = Vec::new();
    for schema in family.filter_map(aten::schema).filter(|schema| !schema.is_mutable()) {
        let args = own_args(schema);
        if args.len() != wanted.len() {
            continue;
        }
        // A mutating operator may demand an argument that is optional elsewhere, never the other way round.
        let fits = |own: &Arg, arg: &Arg| own.ty.kind == arg.ty.kind && own.ty.list == arg.ty.list && (own.ty.optional || !arg.ty.optional);
        let named = |own: &Arg| wanted.iter().find(|arg| arg.name == own.name && fits(own, arg)).map(|arg| arg.name);
        let by_name: Option<Vec<_>> = args.iter().map(|own| named(own)).collect();
        let in_order = || args.iter().zip(wanted).map(|(own, arg)| fits(own, arg).then_some(arg.name)).collect::<Option<Vec<_>>>();
        let rank = (schema.args.len(), by_name.is_none(), overload_of(schema.name).as_deref() != Some(overload));
        if let Some(args) = by_name.or_else(in_order) {
            found.push((rank, schema, args));
        }
    }
    found.sort_by_key(|(rank, ..)| *rank);
    found.into_iter().next().map(|(_, schema, args)| (schema, args))
}

/// The arguments of a factory that say what kind of tensor it makes.
const TENSOR_OPTIONS: &[&str] = &["device", "dtype", "layout", "pin_memory"];

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
        assert_eq!(name("aten.dropout_"), Some(("aten.dropout", Results::Contents)));
        assert_eq!(name("aten.__iand__.Tensor"), Some(("aten.__and__.Tensor", Results::Contents)));
        assert_eq!(name("aten.arange.start_out"), Some(("aten.arange.start_step", Results::Contents)));
        assert_eq!(name("aten.add.out"), Some(("aten.add.Tensor", Results::Contents)));
        assert_eq!(name("aten._native_batch_norm_legit"), Some(("aten._native_batch_norm_legit_functional", Results::OwnAndContents)));
        assert_eq!(name("aten._foreach_add_.Scalar"), Some(("aten._foreach_add.Scalar", Results::Contents)));
    }
}
