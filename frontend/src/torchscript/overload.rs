//! Which overload a call means: the text names the operator only.
//!
//! As in TorchScript's own compiler, an overload that takes the values as they are comes before one that takes them converted: an int
//! for a float, one number for a list of them, a tensor's element for a number.

use strata_core::ir;
use strata_dialects::aten::dtype::{self, DType};
use strata_dialects::aten::schema::{Arg, DefaultValue, Kind};
use strata_dialects::aten::{self, Input, Scalar, Schema, Size, op};

use super::error::Eval;
use super::evaluate::Evaluator;
use super::value::Value;
use crate::operators::emit;

/// Arguments by place and by name.
pub(super) type Given<'c> = (Vec<Value<'c>>, Vec<(String, Value<'c>)>);

/// How freely values are converted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ease {
    AsTheyAre,
    Converted,
}

/// The overloads of an operator, the one without a name first.
fn overloads(library: &str, name: &str) -> Vec<&'static Schema> {
    let full = format!("{library}.{name}");
    let dotted = format!("{full}.");
    let named = aten::schema::names().filter(|known| *known == full || known.starts_with(&dotted));
    named.filter_map(aten::schema).filter(|schema| !schema.has("out")).collect()
}

/// The overload that a call means, with one value for each of its arguments.
pub(super) fn resolve<'c>(library: &str, name: &str, given: &Given<'c>) -> Option<(&'static Schema, Vec<Option<Value<'c>>>)> {
    let candidates: Vec<_> = overloads(library, name).into_iter().filter_map(|schema| Some((schema, sorted(schema, given)?))).collect();
    [Ease::AsTheyAre, Ease::Converted].into_iter().find_map(|ease| {
        let fits = |(schema, args): &&(&'static Schema, Vec<Option<Value<'c>>>)| {
            schema.args.iter().zip(args).all(|(arg, value)| match value {
                Some(value) => accepts(arg, value, ease),
                None => arg.default.is_some() || arg.ty.optional,
            })
        };
        candidates.iter().find(fits).cloned()
    })
}

/// Whether there is an operator of this name.
pub(super) fn is_known(library: &str, name: &str) -> bool {
    !overloads(library, name).is_empty()
}

fn sorted<'c>(schema: &Schema, (args, named): &Given<'c>) -> Option<Vec<Option<Value<'c>>>> {
    let mut sorted = vec![None; schema.args.len()];
    if args.len() > schema.args.iter().filter(|arg| !arg.kwarg_only).count() {
        return None;
    }
    for (slot, value) in sorted.iter_mut().zip(args) {
        *slot = Some(value.clone());
    }
    for (name, value) in named {
        let slot = &mut sorted[schema.position(name)?];
        if slot.replace(value.clone()).is_some() {
            return None;
        }
    }
    Some(sorted)
}

fn accepts(arg: &Arg, value: &Value<'_>, ease: Ease) -> bool {
    let easy = ease == Ease::Converted;
    if matches!(value, Value::None) {
        return arg.ty.optional || arg.default == Some(DefaultValue::None);
    }
    if arg.ty.list {
        let item = |item: &Value<'_>| match item {
            Value::None => arg.ty.optional_elements,
            item => accepts_one(arg.ty.kind, item, ease),
        };
        return match value.items() {
            Some(items) => items.iter().all(item),
            None => easy && arg.ty.len.is_some() && item(value),
        };
    }
    accepts_one(arg.ty.kind, value, ease)
}

fn accepts_one(kind: Kind, value: &Value<'_>, ease: Ease) -> bool {
    let easy = ease == Ease::Converted;
    let number = |wanted: fn(&ir::Type<'_>) -> bool| matches!(value, Value::Number(number) if wanted(&number.ty()));
    let is_index = |ty: &ir::Type<'_>| ty.is_index();
    let is_bool = |ty: &ir::Type<'_>| *ty == ty.cx().int(1);
    let is_float = |ty: &ir::Type<'_>| *ty == ty.cx().f64();
    match kind {
        Kind::Tensor => {
            matches!(value, Value::Tensor(_))
                || easy && matches!(value, Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Number(_))
        }
        Kind::Int | Kind::SymInt => matches!(value, Value::Int(_)) || number(is_index) || easy && matches!(value, Value::Tensor(_)),
        Kind::Float => {
            matches!(value, Value::Float(_))
                || number(is_float)
                || easy && (matches!(value, Value::Int(_) | Value::Tensor(_)) || number(is_index))
        }
        Kind::Bool => matches!(value, Value::Bool(_)) || number(is_bool) || easy && matches!(value, Value::Tensor(_)),
        Kind::Scalar => {
            let known = matches!(value, Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Complex(..) | Value::Number(_));
            known || easy && matches!(value, Value::Tensor(_))
        }
        Kind::Str => matches!(value, Value::Str(_)),
        Kind::ScalarType | Kind::Layout | Kind::MemoryFormat => matches!(value, Value::Int(_)),
        Kind::Device => matches!(value, Value::Device(_) | Value::Str(_)),
        Kind::Generator | Kind::Other => false,
    }
}

impl<'c> Evaluator<'_, 'c> {
    /// The arguments of an operator as its op takes them.
    pub fn inputs(&mut self, schema: &'static Schema, args: &[Option<Value<'c>>]) -> Eval<Vec<Option<Input<'c>>>> {
        let mut inputs = Vec::with_capacity(args.len());
        for (arg, value) in schema.args.iter().zip(args) {
            inputs.push(match value {
                None => None,
                Some(value) => Some(self.input(arg, value, args)?),
            });
        }
        Ok(inputs)
    }

    fn input(&mut self, arg: &Arg, value: &Value<'c>, args: &[Option<Value<'c>>]) -> Eval<Input<'c>> {
        if matches!(value, Value::None) {
            return Ok(Input::None);
        }
        if arg.ty.list {
            let items = value.items().unwrap_or_else(|| vec![value.clone()]);
            return self.list_input(arg, &items);
        }
        Ok(match (arg.ty.kind, value) {
            (Kind::Tensor, Value::Tensor(tensor)) => Input::Tensor(self.facts.shaped(*tensor)),
            (Kind::Tensor, number) => {
                let dtypes: Vec<_> =
                    args.iter().flatten().filter_map(|arg| if let Value::Tensor(t) = arg { t.ty().element_type() } else { None }).collect();
                Input::Tensor(self.number_tensor(number, &dtypes)?)
            }
            (Kind::Int | Kind::SymInt, value) => Input::Int(self.size(value)?),
            (Kind::Float, value) => match self.number_of(value, "float")? {
                Value::Float(value) => Input::Scalar(Scalar::Float(value)),
                Value::Number(value) => Input::Scalar(Scalar::Value(value)),
                other => return Err(format!("{} is no float", other.kind()).into()),
            },
            (Kind::Bool, value) => match self.number_of(value, "bool")? {
                Value::Bool(value) => Input::Scalar(Scalar::Bool(value)),
                Value::Number(value) => Input::Scalar(Scalar::Value(value)),
                other => return Err(format!("{} is no bool", other.kind()).into()),
            },
            (Kind::Scalar, value) => Input::Scalar(self.scalar(value)?),
            (Kind::Str, Value::Str(text)) => Input::Str(text.to_string()),
            (Kind::Device, Value::Device(text) | Value::Str(text)) => Input::Str(text.to_string()),
            (Kind::ScalarType, Value::Int(code)) => Input::DType(element(*code)?),
            (Kind::Layout, Value::Int(0)) => Input::Str("strided".to_owned()),
            (Kind::MemoryFormat, Value::Int(code)) => Input::Str(memory_format(*code)?.to_owned()),
            (_, other) => return Err(format!("argument `{}` is {}", arg.name, other.kind()).into()),
        })
    }

    fn list_input(&mut self, arg: &Arg, items: &[Value<'c>]) -> Eval<Input<'c>> {
        let tensor = |item: &Value<'c>| match item {
            Value::Tensor(tensor) => Ok(Some(self.facts.shaped(*tensor))),
            Value::None => Ok(None),
            other => Err(format!("{} stands in a list of tensors", other.kind())),
        };
        Ok(match arg.ty.kind {
            Kind::Tensor if arg.ty.optional_elements => Input::OptTensors(items.iter().map(tensor).collect::<Result<_, _>>()?),
            Kind::Tensor => Input::Tensors(items.iter().filter_map(|item| tensor(item).transpose()).collect::<Result<_, _>>()?),
            Kind::Int | Kind::SymInt => Input::Ints(items.iter().map(|item| self.size(item)).collect::<Eval<_>>()?),
            Kind::Float | Kind::Scalar => {
                let float = |item| match self.number_of(item, "float")? {
                    Value::Float(value) => Ok(value),
                    _ => Err("a list holds floats that only a call knows".into()),
                };
                Input::Floats(items.iter().map(float).collect::<Eval<_>>()?)
            }
            Kind::Bool => {
                let bool = |item: &Value<'c>| {
                    if let Value::Bool(value) = item { Ok(*value) } else { Err("a list holds bools that only a call knows".to_owned()) }
                };
                Input::Bools(items.iter().map(bool).collect::<Result<_, _>>()?)
            }
            _ => return Err(format!("argument `{}` is a list of something else", arg.name).into()),
        })
    }

    /// A size or another integer.
    pub fn size(&mut self, value: &Value<'c>) -> Eval<Size<'c>> {
        match self.number_of(value, "int")? {
            Value::Int(i64::MIN) => Err("the least integer has another meaning in the IR".into()),
            Value::Int(value) => Ok(Size::Const(value)),
            Value::Number(value) => Ok(Size::Value(value)),
            other => Err(format!("{} is no int", other.kind()).into()),
        }
    }

    /// A number of any type.
    pub fn scalar(&mut self, value: &Value<'c>) -> Eval<Scalar<'c>> {
        Ok(match value {
            Value::Int(i64::MIN) => return Err("the least integer has another meaning in the IR".into()),
            Value::Int(value) => Scalar::Int(*value),
            Value::Float(value) => Scalar::Float(*value),
            Value::Bool(value) => Scalar::Bool(*value),
            Value::Complex(real, imag) => Scalar::Complex(*real, *imag),
            Value::Number(value) => Scalar::Value(*value),
            Value::Tensor(tensor) => {
                let kind = match tensor.ty().element_type() {
                    Some(dtype) if dtype.is_float() => "float",
                    Some(DType::Bool) => "bool",
                    _ => "int",
                };
                let number = self.number_of(value, kind)?;
                return self.scalar(&number);
            }
            other => return Err(format!("{} is no number", other.kind()).into()),
        })
    }

    /// A number as a tensor of rank 0 that promotes like the number beside tensors of these types.
    fn number_tensor(&mut self, value: &Value<'c>, others: &[DType]) -> Eval<ir::Value<'c>> {
        use strata_dialects::aten::dtype::Numeric;
        let scalar = self.scalar(value)?;
        let mut dtype = number_dtype(value);
        for other in others {
            if other.category() >= dtype.category() {
                dtype = *other;
            }
        }
        match self.build(op::SCALAR_TENSOR.schema(), &[Some(Input::Scalar(scalar)), Some(Input::DType(dtype))])? {
            Value::Tensor(tensor) => Ok(tensor),
            other => Err(format!("{} is no tensor", other.kind()).into()),
        }
    }

    /// Makes the op of a schema; its types are inferred.
    pub fn build(&mut self, schema: &'static Schema, inputs: &[Option<Input<'c>>]) -> Eval<Value<'c>> {
        self.ops += 1;
        self.accessed(schema, inputs)?;
        let op = emit(&mut self.builder, self.operators, schema, inputs)?;
        self.note_layout(op);
        let mut results =
            op.results().into_iter().map(|value| if value.ty().is_tensor() { Value::Tensor(value) } else { Value::Number(value) });
        let mut returned = Vec::new();
        for value in &schema.returns {
            returned.push(if value.ty.list { self.list(results.by_ref().collect()) } else { results.next().unwrap_or(Value::None) });
        }
        Ok(if returned.len() == 1 {
            returned.remove(0)
        } else if returned.is_empty() {
            Value::None
        } else {
            self.tuple(returned)
        })
    }
}

impl<'c> Evaluator<'_, 'c> {
    /// A tensor in a type that knows fewer of its sizes.
    pub fn retyped(&mut self, value: ir::Value<'c>, ty: ir::Type<'c>) -> Eval<ir::Value<'c>> {
        let op = aten::build(&mut self.builder, op::ALIAS.schema(), &[Some(Input::Tensor(value))], &[ty]);
        Ok(op.map_err(|error| error.to_string())?.result(0))
    }
}

/// The element type of a number of Python's.
pub(super) fn number_dtype(value: &Value<'_>) -> DType {
    match value {
        Value::Bool(_) => DType::Bool,
        Value::Float(_) => DType::F32,
        Value::Complex(..) => DType::C64,
        Value::Number(value) if value.ty() == value.cx().int(1) => DType::Bool,
        Value::Number(value) if value.ty() == value.cx().f64() => DType::F32,
        _ => DType::I64,
    }
}

/// The element type of a code of ATen's.
pub(super) fn element(code: i64) -> Result<DType, String> {
    dtype::of_aten_code(code).ok_or_else(|| format!("element type {code} has no counterpart in the IR"))
}

/// The code of an element type, as the text has it.
pub(super) fn code(dtype: DType) -> Option<i64> {
    (0..64).find(|code| dtype::of_aten_code(*code) == Some(dtype))
}

fn memory_format(code: i64) -> Result<&'static str, String> {
    Ok(match code {
        0 => "contiguous_format",
        1 => "preserve_format",
        2 => "channels_last",
        3 => "channels_last_3d",
        _ => return Err(format!("{code} is no memory format")),
    })
}
