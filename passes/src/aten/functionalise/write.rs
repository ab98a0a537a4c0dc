//! A mutating op becomes its functional counterpart, and what it wrote becomes the new content of its arguments.

use strata_core::ir::{Attr, Cx, Op, OpSpec, Type, Value};
use strata_core::rewrite::Rewriter;
use strata_dialects::aten::{
    AtenOp, Operator, Schema,
    dtype::{Numeric, Weight, result_type},
    op,
    schema::DefaultValue,
};

use super::{
    Refusal,
    alias::Aliases,
    counterpart::{Counterpart, Results, counterpart, gives_bool, is_written},
    storage,
};

/// Replaces a mutating op.
pub(super) fn make_functional<'c>(
    op: Op<'c>,
    schema: &'static Schema,
    aliases: &mut Aliases<'c>,
    rewriter: &mut Rewriter<'c>,
) -> Result<(), Refusal> {
    match schema.operator() {
        // It is a view by all that it does; its schema only warns that the view can be written through.
        op::prims::AS_STRIDED | op::AS_STRIDED_ => return storage::give_storage(op, schema, op::AS_STRIDED, aliases, rewriter),
        op::prims::COPY_TO => return copy_to(op, aliases, rewriter),
        op::REQUIRES_GRAD_ => return hand_back(op, rewriter),
        _ => {}
    }
    let no_counterpart = || format!("writes to its arguments, and PyTorch has no functional form of `{}`", schema.name);
    let found = counterpart(schema).ok_or_else(no_counterpart)?;
    if schema.has("inplace_view") {
        return reshape_in_place(op, found.schema, aliases, rewriter);
    }
    let view = AtenOp::new(op).map_err(|error| error.to_string())?;
    let mut written = Vec::new();
    for arg in schema.args.iter().filter(|arg| is_written(arg)) {
        written.extend(view.tensors(arg.name).map_err(|error| error.to_string())?);
    }
    aliases.refresh_operands(op, rewriter);
    let own: Vec<_> = match found.results {
        Results::OwnAndContents => op.result_types(),
        Results::Contents => Vec::new(),
    };
    let contents: Vec<_> = written.iter().map(|value| computed_type(op, found.schema, value.ty())).collect();
    let new = rebuild(op, schema, &found, &[own.clone(), contents].concat(), rewriter)?;
    let results = new.results();
    let (own, contents) = results.split_at(own.len());
    for (value, content) in written.iter().zip(contents) {
        let content = converted(rewriter, *content, value.ty());
        aliases.write(*value, content, rewriter)?;
    }
    replace_results(op, schema, &written, own, rewriter)
}

/// The results of the replaced op: those that are a written argument become that argument.
fn replace_results<'c>(
    op: Op<'c>,
    schema: &Schema,
    written: &[Value<'c>],
    own: &[Value<'c>],
    rewriter: &mut Rewriter<'c>,
) -> Result<(), Refusal> {
    let aliases_written = schema.returns.iter().all(|returned| returned.alias.is_some_and(|alias| alias.contains('!')));
    let replacements = if own.len() == op.num_results() && !aliases_written { own } else { written };
    if op.num_results() > replacements.len() {
        return Err("gives more results than it writes arguments".to_owned());
    }
    for (result, value) in op.results().into_iter().zip(replacements) {
        if result.ty() != value.ty() {
            return Err(format!("gives {} for an argument of type {}", result.ty(), value.ty()));
        }
    }
    rewriter.replace(op, &replacements[..op.num_results()]);
    Ok(())
}

/// The counterpart with the op's operands and attributes, in its own order and under its own names.
fn rebuild<'c>(
    op: Op<'c>,
    from: &'static Schema,
    to: &Counterpart,
    results: &[Type<'c>],
    rewriter: &mut Rewriter<'c>,
) -> Result<Op<'c>, Refusal> {
    let view = AtenOp::new(op).map_err(|error| error.to_string())?;
    let (mut operands, mut segments, mut tensors) = (Vec::new(), Vec::new(), 0);
    let args = || to.schema.args.iter().zip(&to.args);
    for (_, name) in args().filter(|(arg, _)| arg.ty.is_tensor()) {
        let values = view.tensors(name).map_err(|error| error.to_string())?;
        segments.push(values.len() as i64);
        operands.extend(values);
    }
    for arg in from.tensor_args() {
        tensors += view.tensors(arg.name).map_err(|error| error.to_string())?.len();
    }
    let symbols = &op.operands()[tensors..];
    let numbers: Vec<_> = args().filter(|(arg, _)| !arg.ty.is_tensor()).collect();
    let own_order = from.args.iter().filter(|arg| !arg.ty.is_tensor()).map(|arg| arg.name);
    if !symbols.is_empty() && !numbers.iter().map(|(_, name)| **name).eq(own_order) {
        return Err(format!("its symbolic arguments have another order in `{}`", to.schema.name));
    }
    operands.extend(symbols);
    let cx = op.cx();
    let mut attrs: Vec<(&str, Attr<'c>)> = Vec::new();
    for (arg, name) in numbers {
        match (op.attr(name), from.arg(name).map(|own| &own.default)) {
            (Some(attr), _) => attrs.push((arg.name, attr)),
            // What the op left to its own default must not fall to another one.
            (None, Some(Some(default))) if arg.default.as_ref() != Some(default) => attrs.push((arg.name, spelled(cx, default))),
            _ => {}
        }
    }
    if to.schema.has_segments() {
        attrs.push(("segments", cx.i64s_attr(&segments)));
    }
    attrs.extend(op.attr("absent").map(|absent| ("absent", absent)));
    // A factory makes what the `out` tensor is.
    if let (Some(_), None, Some(made)) = (to.schema.arg("dtype"), from.arg("dtype"), results.last()) {
        attrs.push(("dtype", cx.type_attr(made.element())));
    }
    Ok(rewriter.op(OpSpec { name: to.schema.name, operands: &operands, results, attrs: &attrs, ..OpSpec::default() }))
}

/// A default as the attribute that says it.
fn spelled<'c>(cx: Cx<'c>, default: &DefaultValue) -> Attr<'c> {
    match default {
        DefaultValue::None => cx.unit(),
        DefaultValue::Bool(value) => cx.bool_attr(*value),
        DefaultValue::Int(value) => cx.i64_attr(*value),
        DefaultValue::Float(value) => cx.f64_attr(*value),
        DefaultValue::Str(text) => cx.str_attr(text),
        DefaultValue::Ints(list) => cx.i64s_attr(list),
    }
}

/// The type that the functional operator gives where the in-place one stores a `wanted`.
fn computed_type<'c>(op: Op<'c>, to: &Schema, wanted: Type<'c>) -> Type<'c> {
    let cx = op.cx();
    if gives_bool(to) {
        return wanted.with_element(cx.int(1));
    }
    let Some(element) = wanted.element_type().filter(|_| to.has("pointwise")) else { return wanted };
    let weight = |ty: Type<'_>| if ty.rank() == 0 { Weight::ZeroDim } else { Weight::Dimensioned };
    let operands: Vec<_> =
        op.operand_types().into_iter().filter(|ty| ty.is_tensor()).filter_map(|ty| Some((ty.element_type()?, weight(ty)))).collect();
    match result_type(&operands) {
        // PyTorch refuses to store a result of a higher category; such an operator did not promote its operands.
        promoted if promoted.category() == element.category() => wanted.with_element(cx.element(promoted)),
        _ => wanted,
    }
}

/// The value with the element type that is stored.
fn converted<'c>(rewriter: &mut Rewriter<'c>, value: Value<'c>, ty: Type<'c>) -> Value<'c> {
    if value.ty() == ty || value.ty().shape() != ty.shape() {
        return value;
    }
    let dtype = rewriter.cx().type_attr(ty.element());
    rewriter.value(op::_TO_COPY.name(), &[value], ty, &[("dtype", dtype)])
}

/// `transpose_` and its like change how a tensor is looked at: the result is a view, and PyTorch's graphs use it from
/// here on. `resize_` to other sizes gives a tensor of its own, with the elements in the order in which they lie.
fn reshape_in_place<'c>(op: Op<'c>, to: &'static Schema, aliases: &mut Aliases<'c>, rewriter: &mut Rewriter<'c>) -> Result<(), Refusal> {
    let resizes = matches!(to.operator(), op::RESIZE | op::RESIZE_AS);
    if resizes && op.result_types() == [op.operand(0).ty()] {
        return hand_back(op, rewriter);
    }
    match to.operator() {
        operator @ (op::RESIZE | op::RESIZE_AS) => {
            let source = op.operand(0);
            aliases.refresh_operands(op, rewriter);
            let lies = storage::as_it_lies(aliases, source, rewriter)?;
            rewriter.set_operand(op, 0, lies);
            let new = clone_as(op, operator, rewriter);
            rewriter.replace_with_op(op, new);
            Ok(())
        }
        operator => rename_view(op, operator, aliases, rewriter),
    }
}

/// The same op under another name, as a view of its first operand.
fn rename_view<'c>(op: Op<'c>, operator: Operator, aliases: &mut Aliases<'c>, rewriter: &mut Rewriter<'c>) -> Result<(), Refusal> {
    let source = op.operand(0);
    aliases.refresh_operands(op, rewriter);
    let new = clone_as(op, operator, rewriter);
    rewriter.replace_with_op(op, new);
    aliases.add_view(source, operator, new);
    Ok(())
}

fn clone_as<'c>(op: Op<'c>, operator: Operator, rewriter: &mut Rewriter<'c>) -> Op<'c> {
    let attrs = op.attrs();
    let attrs: Vec<(&str, Attr<'c>)> = attrs.iter().map(|(name, attr)| (name.as_str(), *attr)).collect();
    let (operands, results) = (op.operands(), op.result_types());
    rewriter.op(OpSpec { name: operator.name(), operands: &operands, results: &results, attrs: &attrs, ..OpSpec::default() })
}

/// An op that changes nothing that a program can compute.
fn hand_back<'c>(op: Op<'c>, rewriter: &mut Rewriter<'c>) -> Result<(), Refusal> {
    let source = op.operand(0);
    rewriter.replace(op, &[source]);
    Ok(())
}

/// `prims.copy_to %a, %b`: all of `%a` becomes `%b`.
fn copy_to<'c>(op: Op<'c>, aliases: &mut Aliases<'c>, rewriter: &mut Rewriter<'c>) -> Result<(), Refusal> {
    let target = op.operand(0);
    let (current, source) = (aliases.current(target, rewriter), aliases.current(op.operand(1), rewriter));
    let content = rewriter.value(op::COPY.name(), &[current, source], target.ty(), &[]);
    aliases.write(target, content, rewriter)?;
    rewriter.replace(op, &[target]);
    Ok(())
}
