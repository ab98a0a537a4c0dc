//! A call's arguments in the order and with the types of the operator's schema.
//!
//! A python number that stands where the schema has a tensor selects the overload with a `Scalar` there, as the
//! number takes part in type promotion only by its category. Where PyTorch has no such overload the number becomes
//! a tensor of rank 0 whose element type promotes the same way.

use strata_core::ir::{Builder, ElementType, Value};
use strata_dialects::aten::{
    self, Input, Operator, Scalar, Schema, Size,
    dtype::{Category, Numeric},
    op,
    schema::{Arg, DefaultValue, Kind},
};

use super::{
    error::Refusal,
    scope::{Scope, constant},
    types,
};
use crate::pt2::{
    argument::{Argument, Complex, OptionalTensor, Real},
    schema::{ArgumentKind, NamedArgument},
};

/// A schema with one argument per parameter, absent ones as `None`.
pub(super) type Matched<'g> = (&'static Schema, Vec<Option<&'g Argument>>);

/// Sorts a call's arguments into the schema's order; `names` are what the first ones are called where that is not as in the schema.
pub(super) fn sort<'g>(
    inputs: impl IntoIterator<Item = &'g NamedArgument>,
    schema: &'static Schema,
    names: &[&str],
) -> Result<Matched<'g>, Refusal> {
    let mut sorted = vec![None; schema.args.len()];
    let mut next = 0;
    for input in inputs {
        let position = match (input.name.as_str(), input.kind) {
            ("", ArgumentKind::Positional) => Some(next),
            (name, _) => names.iter().position(|known| *known == name).or_else(|| schema.position(name)),
        };
        let slot = position.and_then(|position| sorted.get_mut(position));
        let slot = slot.ok_or_else(|| Refusal::broken(format!("`{}` has no argument `{}`", schema.name, input.name)))?;
        if slot.replace(&input.arg).is_some() {
            return Err(Refusal::broken(format!("argument `{}` is given twice", input.name)));
        }
        next = position.map_or(next, |position| position + 1);
    }
    Ok((schema, sorted))
}

/// Chooses the overload that takes python numbers where they were given.
pub(super) fn overload(matched: Matched<'_>) -> Matched<'_> {
    let (schema, args) = with_complex_tensors(matched);
    let given: Vec<_> = schema.args.iter().zip(&args).enumerate().filter(|(_, (arg, value))| is_number(arg, **value)).collect();
    let [(place, (arg, value))] = given[..] else { return (schema, args) };
    if matches!(value, Some(Argument::AsComplex(_))) {
        return (schema, args); // it becomes a tensor
    }
    let (base, overload) = match schema.name.match_indices('.').nth(1) {
        Some((dot, _)) => (&schema.name[..dot], &schema.name[dot + 1..]),
        None => (schema.name, "Tensor"),
    };
    let scalar = |base: &str| aten::schema(&format!("{base}.{}", overload.replacen("Tensor", "Scalar", 1)));
    if arg.name == "other"
        && let Some(other) = scalar(base).filter(|other| same_but(schema, other, place))
    {
        return (other, args);
    }
    // A number on the left: `2 + x` is `x + 2`, and `1 - x` is `rsub(x, 1)`; with `alpha` only the latter holds.
    let plain = args.iter().skip(2).all(Option::is_none);
    let other = match schema.operator() {
        op::ADD_TENSOR if plain => op::ADD_SCALAR,
        op::MUL_TENSOR if plain => op::MUL_SCALAR,
        op::SUB_TENSOR => op::RSUB_SCALAR,
        _ => return (schema, args),
    };
    if other.schema().args.len() != args.len() || arg.name != "self" {
        return (schema, args);
    }
    let mut swapped = args;
    swapped.swap(0, 1);
    (other.schema(), swapped)
}

/// A complex number promotes like a tensor of its type: where there is an overload with a tensor in its place, that takes it as
/// one of rank 0.
fn with_complex_tensors((schema, args): Matched<'_>) -> Matched<'_> {
    let complex = |(arg, value): (&Arg, &Option<&Argument>)| arg.ty.kind == Kind::Scalar && matches!(value, Some(Argument::AsComplex(_)));
    let Some(place) = schema.args.iter().zip(&args).position(complex) else { return (schema, args) };
    let base = schema.name.match_indices('.').nth(1).map_or(schema.name, |(dot, _)| &schema.name[..dot]);
    let overloads = aten::schema::names().filter(|name| name.strip_prefix(base).is_some_and(|rest| rest.starts_with('.')));
    let tensor = |other: &&'static Schema| same_but(other, schema, place) && other.args[place].ty.is_tensor();
    match overloads.filter_map(aten::schema).find(tensor) {
        Some(other) => (other, args),
        None => (schema, args),
    }
}

fn is_number(arg: &Arg, value: Option<&Argument>) -> bool {
    use Argument::{AsBool, AsComplex, AsFloat, AsInt, AsSymBool, AsSymFloat, AsSymInt};
    let real = matches!(value, Some(AsInt(_) | AsFloat(_) | AsBool(_) | AsSymInt(_) | AsSymFloat(_) | AsSymBool(_)));
    let number = real || matches!(value, Some(AsComplex(_)));
    arg.ty.is_tensor() && !arg.ty.list && number
}

/// Whether two schemas differ only in that `place` is a `Scalar` in the second one.
fn same_but(schema: &Schema, other: &Schema, place: usize) -> bool {
    let same = |(index, (a, b)): (usize, (&Arg, &Arg))| {
        a.name == b.name && if index == place { b.ty.kind == Kind::Scalar } else { a.ty.kind == b.ty.kind && a.default == b.default }
    };
    schema.args.len() == other.args.len() && schema.args.iter().zip(&other.args).enumerate().all(same)
}

/// The arguments as the op builder takes them.
pub(super) fn inputs<'c>(
    builder: &mut Builder<'c>,
    scope: &Scope<'_, 'c>,
    (schema, args): &Matched<'_>,
) -> Result<Vec<Option<Input<'c>>>, Refusal> {
    let mut inputs = Vec::with_capacity(args.len());
    for (arg, value) in schema.args.iter().zip(args) {
        inputs.push(match value {
            None => None,
            Some(value) if is_number(arg, Some(value)) => Some(Input::Tensor(number_tensor(builder, scope, args, value)?)),
            Some(value) => Some(input(scope, arg, value)?),
        });
    }
    Ok(inputs)
}

/// One argument as its parameter's type.
fn input<'c>(scope: &Scope<'_, 'c>, arg: &Arg, value: &Argument) -> Result<Input<'c>, Refusal> {
    let wrong = || Refusal::unsupported(format!("argument `{}` cannot be given as `{}`", arg.name, value.tag()));
    let size = |sym| scope.size(sym);
    let known = |value: &i64| constant(*value).map(Size::Const);
    let float = |real: &Real| real.0;
    if let Argument::AsNone(_) = value {
        let optional = arg.ty.optional || arg.default == Some(DefaultValue::None);
        return if optional { Ok(Input::None) } else { Err(wrong()) };
    }
    Ok(match (arg.ty.kind, arg.ty.list, value) {
        (Kind::Tensor, false, Argument::AsTensor(_)) => Input::Tensor(scope.tensor(value)?),
        (Kind::Tensor, false, Argument::AsOptionalTensor(tensor)) => match tensor {
            OptionalTensor::AsTensor(tensor) => Input::Tensor(scope.get(&tensor.name)?),
            OptionalTensor::AsNone(_) => Input::None,
        },
        (Kind::Tensor, true, Argument::AsTensors(tensors)) => {
            let values = tensors.iter().map(|tensor| scope.get(&tensor.name)).collect::<Result<Vec<_>, _>>()?;
            match arg.ty.optional_elements {
                true => Input::OptTensors(values.into_iter().map(Some).collect()),
                false => Input::Tensors(values),
            }
        }
        (Kind::Tensor, true, Argument::AsOptionalTensors(tensors)) if arg.ty.optional_elements => {
            let tensor = |tensor: &OptionalTensor| match tensor {
                OptionalTensor::AsTensor(tensor) => scope.get(&tensor.name).map(Some),
                OptionalTensor::AsNone(_) => Ok(None),
            };
            Input::OptTensors(tensors.iter().map(tensor).collect::<Result<_, _>>()?)
        }
        (Kind::Int | Kind::SymInt, false, Argument::AsInt(value)) => Input::Int(known(value)?),
        (Kind::Int | Kind::SymInt, false, Argument::AsSymInt(sym)) => Input::Int(size(sym)?),
        (Kind::Int | Kind::SymInt, true, Argument::AsInts(values)) => Input::Ints(values.iter().map(known).collect::<Result<_, _>>()?),
        (Kind::Int | Kind::SymInt, true, Argument::AsSymInts(values)) => Input::Ints(values.iter().map(size).collect::<Result<_, _>>()?),
        (Kind::Int | Kind::SymInt, true, Argument::AsInt(value)) => Input::Ints(vec![known(value)?]),
        (Kind::Int | Kind::SymInt, true, Argument::AsSymInt(sym)) => Input::Ints(vec![size(sym)?]),
        (Kind::Float, false, Argument::AsInt(value)) => Input::Scalar(Scalar::Float(*value as f64)),
        (Kind::Float | Kind::Scalar, true, Argument::AsFloats(values)) => Input::Floats(values.iter().map(float).collect()),
        (Kind::Float, true, Argument::AsInts(values)) => Input::Floats(values.iter().map(|value| *value as f64).collect()),
        (Kind::Scalar, true, Argument::AsInts(values)) => Input::Ints(values.iter().map(known).collect::<Result<_, _>>()?),
        (Kind::Bool, true, Argument::AsBools(values)) => Input::Bools(values.clone()),
        (Kind::Float | Kind::Scalar | Kind::Bool, false, _) => Input::Scalar(scope.scalar(value)?.ok_or_else(wrong)?),
        (Kind::Str, false, Argument::AsString(text)) => Input::Str(text.clone()),
        (Kind::ScalarType, false, Argument::AsScalarType(dtype)) => Input::DType(types::element(*dtype)?),
        (Kind::Device, false, Argument::AsDevice(device)) => Input::Str(device.to_string()),
        (Kind::Device, false, Argument::AsString(device)) => Input::Str(device.clone()),
        (Kind::Layout, false, Argument::AsLayout(layout)) => Input::Str(layout.name().to_owned()),
        (Kind::MemoryFormat, false, Argument::AsMemoryFormat(format)) => Input::Str(format.name().to_owned()),
        _ => return Err(wrong()),
    })
}

/// A number as a tensor of rank 0 that promotes like the number: it has the other tensors' element type, or the
/// default type of its own category when that is higher.
fn number_tensor<'c>(
    builder: &mut Builder<'c>,
    scope: &Scope<'_, 'c>,
    args: &[Option<&Argument>],
    value: &Argument,
) -> Result<Value<'c>, Refusal> {
    if let Argument::AsComplex(number) = value {
        return complex_tensor(builder, scope, args, number);
    }
    let scalar = scope.scalar(value)?.ok_or_else(|| Refusal::unsupported("a number is expected"))?;
    let mut dtype = match scalar {
        Scalar::Float(_) => ElementType::F32,
        Scalar::Bool(_) => ElementType::Bool,
        Scalar::Complex(..) => ElementType::C64,
        Scalar::Int(_) => ElementType::I64,
        Scalar::Value(value) if value.ty().is_index() => ElementType::I64,
        Scalar::Value(value) if value.ty().element_type() == Some(ElementType::Bool) => ElementType::Bool,
        Scalar::Value(_) => ElementType::F32,
    };
    for other in element_types(scope, args)? {
        if other.category() >= dtype.category() {
            dtype = other;
        }
    }
    if dtype.category() == Category::Bool && !matches!(scalar, Scalar::Bool(_)) {
        dtype = ElementType::I64;
    }
    scalar_tensor(builder, scalar, dtype)
}

/// A complex number as a tensor of rank 0, in the precision of the other tensors.
fn complex_tensor<'c>(
    builder: &mut Builder<'c>,
    scope: &Scope<'_, 'c>,
    args: &[Option<&Argument>],
    number: &Complex,
) -> Result<Value<'c>, Refusal> {
    let double = element_types(scope, args)?.iter().any(|dtype| matches!(dtype, ElementType::F64 | ElementType::C128));
    let (part, whole) = if double { (ElementType::F64, ElementType::C128) } else { (ElementType::F32, ElementType::C64) };
    let real = scalar_tensor(builder, Scalar::Float(number.real.0), part)?;
    let imag = scalar_tensor(builder, Scalar::Float(number.imag.0), part)?;
    rank_zero(builder, op::COMPLEX, &[Some(Input::Tensor(real)), Some(Input::Tensor(imag))], whole)
}

/// The element types of a call's tensor arguments.
fn element_types(scope: &Scope<'_, '_>, args: &[Option<&Argument>]) -> Result<Vec<ElementType>, Refusal> {
    let tensors = args.iter().flatten().filter_map(|argument| match argument {
        Argument::AsTensor(tensor) => Some(tensor),
        _ => None,
    });
    tensors.map(|tensor| types::element(scope.meta(&tensor.name)?.dtype)).collect()
}

fn scalar_tensor<'c>(builder: &mut Builder<'c>, scalar: Scalar<'c>, dtype: ElementType) -> Result<Value<'c>, Refusal> {
    rank_zero(builder, op::SCALAR_TENSOR, &[Some(Input::Scalar(scalar)), Some(Input::DType(dtype))], dtype)
}

fn rank_zero<'c>(
    builder: &mut Builder<'c>,
    operator: Operator,
    inputs: &[Option<Input<'c>>],
    dtype: ElementType,
) -> Result<Value<'c>, Refusal> {
    let ty = builder.cx().tensor(&[], builder.cx().element(dtype));
    Ok(aten::build(builder, operator.schema(), inputs, &[ty])?.result(0))
}
