//! Calls of operators of extensions that are built on PyTorch's stable ABI: `torch_ops/` says what their kernels are called with.
//!
//! What `register_fake` of an extension computes stands in the program: the sizes and element types of its results.

use strata_core::ir::{OpSpec, Value};
use strata_dialects::aten::schema::{Arg, DefaultValue, Kind};
use strata_dialects::aten::{self, Input, Scalar, Size, op};
use strata_dialects::capture;

use super::arguments;
use super::{error::Refusal, node::Importer, scope::Scope, types};
use crate::library::TorchOp;
use crate::pt2::{argument::Argument, schema::NamedArgument};

/// A call of an operator; gives what it returns. What it writes to are its arguments, or `written` by name.
pub(super) fn call<'g, 'c>(
    importer: &mut Importer<'c>,
    scope: &Scope<'g, 'c>,
    operator: &TorchOp,
    (inputs, written): (&'g [NamedArgument], &[(&str, Value<'c>)]),
    outputs: &[&'g Argument],
) -> Result<Vec<Value<'c>>, Refusal> {
    let schema = operator.schema;
    if let Some(returned) = schema.returns.iter().find(|returned| !returned.ty.is_tensor() || returned.ty.list || returned.alias.is_some())
    {
        let what = if returned.alias.is_some() { "an argument" } else { "what is no tensor" };
        return Err(unsupported(format!("it returns {what}")));
    }
    if schema.returns.len() > outputs.len() {
        let why = format!("`{}` returns {} values, and the node has {}", operator.symbol, schema.returns.len(), outputs.len());
        return Err(Refusal::broken(why));
    }
    // A functionalised call says by further names what is written to.
    let inputs = inputs.iter().filter(|input| !input.name.starts_with('_') || schema.position(&input.name).is_some());
    let matched = arguments::sort(inputs, schema, &[])?;
    let inputs = arguments::inputs(&mut importer.builder, scope, &matched)?;
    let (mut operands, mut changed) = (Vec::new(), Vec::new());
    for (arg, input) in schema.args.iter().zip(inputs) {
        let given = written.iter().find(|(name, _)| *name == arg.name).map(|(_, value)| Input::Tensor(*value));
        let input = given.or(input).map_or_else(|| default(arg), Ok)?;
        match input {
            Input::Tensor(value) if arg.is_written() && !arg.ty.optional => changed.push(value),
            _ if arg.is_written() => return Err(unsupported(format!("it writes to `{}`, which is no plain tensor", arg.name))),
            input => argument(importer, arg, input, &mut operands)?,
        }
    }
    for output in &outputs[..schema.returns.len()] {
        operands.push(begin(importer, scope, output)?);
    }
    operands.extend(&changed);
    let results: Vec<_> = operands[operands.len() - schema.returns.len() - changed.len()..].iter().map(|value| value.ty()).collect();
    let cx = importer.cx;
    let attrs = [("library", cx.str_attr(&operator.library)), ("symbol", cx.str_attr(&operator.symbol))];
    let spec = OpSpec { name: capture::CustomCall::NAME, operands: &operands, results: &results, attrs: &attrs, ..OpSpec::default() };
    let mut results = importer.builder.op(spec).results();
    for (argument, value) in changed.iter().zip(results.split_off(schema.returns.len())) {
        let inputs = [Some(Input::Tensor(*argument)), Some(Input::Tensor(value))];
        aten::build(&mut importer.builder, op::COPY_.schema(), &inputs, &[argument.ty()])?;
    }
    Ok(results)
}

fn unsupported(why: String) -> Refusal {
    Refusal { why, help: "register the operator with --operators=FILE, as a function whose body calls its kernel" }
}

/// The operands of an argument: a list begins with how many there are, and what may be absent with whether it is there.
fn argument<'c>(importer: &mut Importer<'c>, arg: &Arg, input: Input<'c>, operands: &mut Vec<Value<'c>>) -> Result<(), Refusal> {
    let wrong = || unsupported(format!("its argument `{}` is none of Tensor, int, float, bool, and lists and options of them", arg.name));
    if arg.ty.optional {
        operands.push(importer.builder.const_index(i64::from(input != Input::None)));
        if input == Input::None {
            return Ok(());
        }
    }
    let scalar = |input| match input {
        Input::Scalar(scalar) => Ok(vec![scalar]),
        Input::Int(size) => Ok(vec![of_size(size)]),
        Input::Ints(list) => Ok(list.into_iter().map(of_size).collect()),
        Input::Floats(list) => Ok(list.into_iter().map(Scalar::Float).collect()),
        Input::Bools(list) => Ok(list.into_iter().map(Scalar::Bool).collect()),
        _ => Err(wrong()),
    };
    let values = match (arg.ty.kind, input) {
        (Kind::Tensor, Input::Tensor(value)) => vec![value],
        (Kind::Tensor, Input::Tensors(values)) => values,
        (Kind::Int | Kind::SymInt | Kind::Float | Kind::Bool, input) => {
            let numbers = scalar(input)?.into_iter().map(|scalar| number(importer, arg.ty.kind, scalar).ok_or_else(wrong));
            numbers.collect::<Result<_, _>>()?
        }
        _ => return Err(wrong()),
    };
    if arg.ty.list {
        operands.push(importer.builder.const_index(values.len() as i64));
    }
    operands.extend(values);
    Ok(())
}

fn of_size(size: Size<'_>) -> Scalar<'_> {
    match size {
        Size::Const(value) => Scalar::Int(value),
        Size::Value(value) => Scalar::Value(value),
    }
}

/// A number as a kernel takes it, where it is one of this kind.
fn number<'c>(importer: &mut Importer<'c>, kind: Kind, scalar: Scalar<'c>) -> Option<Value<'c>> {
    let (cx, builder) = (importer.cx, &mut importer.builder);
    let value = match (kind, scalar) {
        (Kind::Int | Kind::SymInt, Scalar::Int(value)) => builder.const_index(value),
        (Kind::Float, Scalar::Float(value)) => builder.const_float(cx.f64(), value),
        (Kind::Float, Scalar::Int(value)) => builder.const_float(cx.f64(), value as f64),
        (Kind::Bool, Scalar::Bool(value)) => builder.const_int(cx.int(1), i64::from(value)),
        (_, Scalar::Value(value)) => value,
        _ => return None,
    };
    let wanted = match kind {
        Kind::Float => cx.f64(),
        Kind::Bool => cx.int(1),
        _ => cx.index(),
    };
    (value.ty() == wanted).then_some(value)
}

/// The value of an argument that the program leaves out.
fn default<'c>(arg: &Arg) -> Result<Input<'c>, Refusal> {
    let count = usize::from(arg.ty.len.unwrap_or(1));
    match &arg.default {
        Some(DefaultValue::None) => Ok(Input::None),
        Some(DefaultValue::Int(value)) if arg.ty.list => Ok(Input::Ints(vec![Size::Const(*value); count])),
        Some(DefaultValue::Ints(list)) => Ok(Input::Ints(list.iter().map(|value| Size::Const(*value)).collect())),
        Some(DefaultValue::Int(value)) => Ok(Input::Scalar(Scalar::Int(*value))),
        Some(DefaultValue::Float(value)) if !arg.ty.list => Ok(Input::Scalar(Scalar::Float(*value))),
        Some(DefaultValue::Bool(value)) if !arg.ty.list => Ok(Input::Scalar(Scalar::Bool(*value))),
        Some(_) => {
            let why = format!("the default of its argument `{}` is not read", arg.name);
            Err(Refusal { why, help: "give the argument in the program" })
        }
        None => Err(Refusal::broken(format!("its argument `{}` is not given, and has no default", arg.name))),
    }
}

/// What a result begins as: a tensor of the sizes that the program declares.
fn begin<'c>(importer: &mut Importer<'c>, scope: &Scope<'_, 'c>, output: &Argument) -> Result<Value<'c>, Refusal> {
    let Argument::AsTensor(tensor) = output else {
        return Err(Refusal::broken(format!("it returns a tensor where the node has a value of kind `{}`", output.tag())));
    };
    let ty = scope.ty(importer.cx, output)?;
    let mut sizes = Vec::new();
    for size in &scope.meta(&tensor.name)?.sizes {
        let expr = types::expr(size);
        sizes.push(match types::known(size) {
            Some(size) => Size::Const(size),
            None if importer.symbols.covers(&expr) => Size::Value(importer.symbols.build(&mut importer.builder, &expr)?),
            None => {
                let why = format!("the size `{expr}` of `{}` is known by its kernel alone", tensor.name);
                return Err(Refusal { why, help: "let it return a tensor whose sizes follow from those of its arguments" });
            }
        });
    }
    let element = ty.element_type().ok_or_else(|| Refusal::broken(format!("{ty} has no element type")))?;
    let inputs = [Some(Input::Ints(sizes)), Some(Input::DType(element))];
    Ok(aten::build(&mut importer.builder, op::EMPTY_MEMORY_FORMAT.schema(), &inputs, &[ty])?.result(0))
}
