//! Making an `aten` op from a schema and its arguments: the inverse of [`super::view`].

use strata_core::ir::{Attr, Builder, Cx, Op, OpSpec, Type, Value};

use super::dtype::{self, DType};
use super::schema::{Arg, DefaultValue, Schema};
use super::view::{AtenError, SYMBOLIC, Scalar, Size};

/// The value of one argument.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names are the schema's types")]
pub enum Input<'c> {
    None,
    Tensor(Value<'c>),
    Tensors(Vec<Value<'c>>),
    OptTensors(Vec<Option<Value<'c>>>),
    Int(Size<'c>),
    Ints(Vec<Size<'c>>),
    Floats(Vec<f64>),
    Bools(Vec<bool>),
    Scalar(Scalar<'c>),
    /// A string; also `Device`, `Layout` and `MemoryFormat`.
    Str(String),
    DType(DType),
}

/// Makes the op of `schema`. `inputs` are in schema order; what is missing at the end or `Option::None` takes the default.
pub fn build<'c>(
    builder: &mut Builder<'c>,
    schema: &'static Schema,
    inputs: &[Option<Input<'c>>],
    results: &[Type<'c>],
) -> Result<Op<'c>, AtenError> {
    let cx = builder.cx();
    let mut parts = Parts::default();
    for (position, arg) in schema.args.iter().enumerate() {
        let input = inputs.get(position).and_then(Option::as_ref);
        if arg.ty.is_tensor() {
            parts.tensors(schema, arg, input)?;
        } else {
            parts.attribute(cx, schema, arg, input)?;
        }
    }
    if schema.has_segments() {
        parts.attrs.push(("segments", cx.i64s_attr(&parts.segments)));
    }
    if !parts.absent.is_empty() {
        parts.attrs.push(("absent", cx.i64s_attr(&parts.absent)));
    }
    parts.operands.extend(parts.symbols);
    Ok(builder.op(OpSpec { name: schema.name, operands: &parts.operands, results, attrs: &parts.attrs, ..OpSpec::default() }))
}

#[derive(Default)]
struct Parts<'c> {
    operands: Vec<Value<'c>>,
    symbols: Vec<Value<'c>>,
    segments: Vec<i64>,
    absent: Vec<i64>,
    attrs: Vec<(&'static str, Attr<'c>)>,
}

impl<'c> Parts<'c> {
    fn tensors(&mut self, schema: &'static Schema, arg: &'static Arg, input: Option<&Input<'c>>) -> Result<(), AtenError> {
        let before = self.operands.len();
        match input {
            Some(Input::Tensor(value)) => self.operands.push(*value),
            Some(Input::Tensors(values)) => self.operands.extend(values),
            Some(Input::OptTensors(values)) => {
                self.operands.extend(values.iter().flatten());
                self.absent = (0..).zip(values).filter(|(_, v)| v.is_none()).map(|(i, _)| i).collect();
            }
            None | Some(Input::None) if arg.ty.optional || arg.ty.list => {}
            None => return Err(AtenError::Missing { op: schema.name, arg: arg.name }),
            Some(_) => return Err(AtenError::Type { op: schema.name, arg: arg.name, wanted: "a tensor" }),
        }
        self.segments.push((self.operands.len() - before) as i64);
        Ok(())
    }

    fn attribute(&mut self, cx: Cx<'c>, schema: &'static Schema, arg: &'static Arg, input: Option<&Input<'c>>) -> Result<(), AtenError> {
        let Some(input) = input else {
            let optional = arg.default.is_some() || arg.ty.optional;
            return if optional { Ok(()) } else { Err(AtenError::Missing { op: schema.name, arg: arg.name }) };
        };
        if !is_default(arg, input) {
            let attr = self.encode(cx, input);
            let attr = attr.ok_or(AtenError::Type { op: schema.name, arg: arg.name, wanted: "a number, list, string or type" })?;
            self.attrs.push((arg.name, attr));
        }
        Ok(())
    }

    fn encode(&mut self, cx: Cx<'c>, input: &Input<'c>) -> Option<Attr<'c>> {
        Some(match input {
            Input::None => cx.unit(),
            Input::Int(size) => cx.i64_attr(self.size(*size)),
            Input::Ints(sizes) => cx.i64s_attr(&sizes.iter().map(|s| self.size(*s)).collect::<Vec<_>>()),
            Input::Floats(list) => cx.f64s_attr(list),
            Input::Bools(list) => cx.bools_attr(list),
            Input::Scalar(Scalar::Int(value)) => cx.i64_attr(*value),
            Input::Scalar(Scalar::Float(value)) => cx.f64_attr(*value),
            Input::Scalar(Scalar::Bool(value)) => cx.bool_attr(*value),
            Input::Scalar(Scalar::Complex(real, imag)) => cx.f64s_attr(&[*real, *imag]),
            Input::Scalar(Scalar::Value(value)) => cx.i64_attr(self.size(Size::Value(*value))),
            Input::Str(text) => cx.str_attr(text),
            Input::DType(dtype) => cx.type_attr(cx.element(*dtype)),
            Input::Tensor(_) | Input::Tensors(_) | Input::OptTensors(_) => return None,
        })
    }

    fn size(&mut self, size: Size<'c>) -> i64 {
        match size {
            Size::Const(value) => value,
            Size::Value(value) => {
                self.symbols.push(value);
                SYMBOLIC
            }
        }
    }
}

/// Whether the argument may be left out because the schema's default says the same.
fn is_default(arg: &Arg, input: &Input<'_>) -> bool {
    match (input, &arg.default) {
        (Input::None, default) => matches!(default, None | Some(DefaultValue::None)),
        (Input::Int(Size::Const(v)) | Input::Scalar(Scalar::Int(v)), Some(DefaultValue::Int(d))) => v == d,
        (Input::Scalar(Scalar::Float(v)), Some(DefaultValue::Float(d))) => v.to_bits() == d.to_bits(),
        (Input::Scalar(Scalar::Bool(v)), Some(DefaultValue::Bool(d))) => v == d,
        (Input::Str(v), Some(DefaultValue::Str(d))) => v == d,
        (Input::Ints(v), Some(DefaultValue::Ints(d))) => v.len() == d.len() && v.iter().zip(d).all(|(v, d)| *v == Size::Const(*d)),
        (Input::DType(v), Some(DefaultValue::Int(d))) => dtype::of_aten_code(*d) == Some(*v),
        _ => false,
    }
}
