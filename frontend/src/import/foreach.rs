//! Calls of operators on lists of tensors: one call for each tensor, of the operator that it is for one.

use strata_core::ir::Value;
use strata_dialects::aten::schema::{Arg, Kind};
use strata_dialects::aten::{self, Operator, Schema, foreach};

use super::{arguments, error::Refusal, node::Importer, scope::Scope, types};
use crate::pt2::{argument::Argument, schema::Node};

/// Imports a call of `each` for each tensor of a call of an operator on lists.
pub(super) fn import<'g, 'c>(
    importer: &mut Importer<'c>,
    scope: &mut Scope<'g, 'c>,
    node: &'g Node,
    (lists, each): (&'static Schema, Operator),
) -> Result<(), Refusal> {
    let (_, given) = arguments::sort(&node.inputs, lists, &[])?;
    let listed = |(arg, value): (&Arg, &Option<&Argument>)| value.and_then(|value| length(arg, value));
    let lengths: Vec<usize> = lists.args.iter().zip(&given).filter_map(listed).collect();
    let count = lengths.first().copied().unwrap_or_default();
    if lengths.iter().any(|length| *length != count) {
        return Err(Refusal::broken(format!("`{}` is given lists of different lengths", lists.name)));
    }
    let outputs = match node.outputs.as_slice() {
        [] => None,
        [Argument::AsTensors(outputs)] if outputs.len() == count => Some(outputs),
        _ => return Err(Refusal::broken(format!("`{}` gives one list of {count} tensors", lists.name))),
    };
    for k in 0..count {
        let taken = lists.args.iter().zip(&given).map(|(arg, value)| value.map(|value| entry(arg, value, k)).transpose());
        let taken = taken.collect::<Result<Vec<Option<Argument>>, _>>()?;
        let mut args = vec![None; each.schema().args.len()];
        for (place, value) in taken.iter().enumerate() {
            args[foreach::place(each.schema(), lists, place)] = value.as_ref();
        }
        let matched = arguments::overload((each.schema(), args));
        let inputs = arguments::inputs(&mut importer.builder, scope, &matched)?;
        let ty = match outputs {
            Some(outputs) => types::tensor(importer.cx, scope.meta(&outputs[k].name)?)?,
            // What changes its tensor gives it back.
            None => changed(scope, &taken)?.ty(),
        };
        let op = aten::build(&mut importer.builder, matched.0, &inputs, &[ty])?;
        if let Some(outputs) = outputs {
            scope.define(&outputs[k].name, op.result(0));
        }
    }
    Ok(())
}

fn changed<'c>(scope: &Scope<'_, 'c>, taken: &[Option<Argument>]) -> Result<Value<'c>, Refusal> {
    match taken.first() {
        Some(Some(tensor)) => scope.tensor(tensor),
        _ => Err(Refusal::broken("it is given no tensors to change")),
    }
}

/// How many entries an argument has, if it has one for each tensor.
fn length(arg: &Arg, value: &Argument) -> Option<usize> {
    match value {
        _ if !arg.ty.list => None,
        Argument::AsTensors(values) => Some(values.len()),
        Argument::AsInts(values) => Some(values.len()),
        Argument::AsFloats(values) => Some(values.len()),
        Argument::AsBools(values) => Some(values.len()),
        Argument::AsValues(values) => Some(values.len()),
        _ => None,
    }
}

/// What the call for tensor `k` is given of an argument.
fn entry(arg: &Arg, value: &Argument, k: usize) -> Result<Argument, Refusal> {
    let found = match value {
        value if !arg.ty.list => Some(value.clone()),
        Argument::AsTensors(values) => values.get(k).cloned().map(Argument::AsTensor),
        Argument::AsInts(values) => values.get(k).copied().map(Argument::AsInt),
        Argument::AsFloats(values) => values.get(k).cloned().map(Argument::AsFloat),
        Argument::AsBools(values) => values.get(k).copied().map(Argument::AsBool),
        Argument::AsValues(values) => values.get(k).cloned(),
        _ => None,
    };
    let kind = if arg.ty.kind == Kind::Tensor { "tensors" } else { "numbers" };
    found.ok_or_else(|| Refusal::unsupported(format!("argument `{}` is no list of {kind}", arg.name)))
}
