//! A call of an operator: its attributes and inputs, and short names for the arguments of `aten` operators.

use strata_core::ir::{self, DYNAMIC, ElementType};
use strata_dialects::aten::{Input, Operator, Scalar, Size, op};

use super::error::{Eval, Stop};
use super::importer::{Importer, Scope};
use super::proto::{Attribute, Graph, Node};
use super::value::{Num, Value};
pub(super) use crate::args::{Arg, b, d, f, i, is, ot, s, t, text, ts};

/// A size.
pub(super) fn n<'c>(value: Num<'c>) -> Arg<'c> {
    Some(Input::Int(size(value)))
}

/// Sizes.
pub(super) fn ns<'c>(values: &[Num<'c>]) -> Arg<'c> {
    Some(Input::Ints(values.iter().map(|value| size(*value)).collect()))
}

fn size<'c>(value: Num<'c>) -> Size<'c> {
    match value {
        Num::Int(value) => Size::Const(value),
        Num::Value(value) => Size::Value(value),
    }
}

/// A node with the values of its inputs.
pub(super) struct Call<'a, 'p, 'c> {
    pub importer: &'a mut Importer<'p, 'c>,
    pub node: &'p Node,
    pub scope: &'a Scope<'a, 'p, 'c>,
    pub inputs: Vec<Value<'c>>,
    /// The version of its domain's operators.
    pub version: i64,
}

impl<'p, 'c> Call<'_, 'p, 'c> {
    // Attributes.

    /// An attribute; one that refers to an attribute of the function around it is that one.
    pub fn attr(&self, name: &str) -> Option<&'p Attribute> {
        let attr = self.node.attribute.iter().find(|attr| attr.name == name)?;
        if attr.ref_attr_name.is_empty() { Some(attr) } else { self.scope.attrs.get(attr.ref_attr_name.as_str()).copied() }
    }

    /// An integer.
    pub fn int(&self, name: &str, default: i64) -> i64 {
        self.attr(name).map_or(default, |attr| attr.i)
    }

    /// A truth value.
    pub fn flag(&self, name: &str, default: bool) -> bool {
        self.int(name, i64::from(default)) != 0
    }

    /// A float.
    pub fn float(&self, name: &str, default: f32) -> f64 {
        self.attr(name).map_or(default, |attr| attr.f).into()
    }

    /// Integers.
    pub fn ints(&self, name: &str) -> Option<Vec<i64>> {
        self.attr(name).map(|attr| attr.ints.clone())
    }

    /// A text.
    pub fn text<'t>(&self, name: &str, default: &'t str) -> Eval<&'t str>
    where
        'p: 't,
    {
        let Some(attr) = self.attr(name) else { return Ok(default) };
        std::str::from_utf8(&attr.s).map_err(|_| Stop::Here(format!("its attribute `{name}` is not UTF-8")))
    }

    /// A graph.
    pub fn graph(&self, name: &str) -> Eval<&'p Graph> {
        self.attr(name).and_then(|attr| attr.g.as_ref()).ok_or_else(|| format!("it has no graph `{name}`").into())
    }

    // Inputs.

    /// An input; [`Value::Absent`] where it is left out.
    pub fn input(&self, place: usize) -> Value<'c> {
        self.inputs.get(place).cloned().unwrap_or(Value::Absent)
    }

    /// Whether an input is given.
    pub fn has(&self, place: usize) -> bool {
        !matches!(self.inputs.get(place), None | Some(Value::Absent))
    }

    /// An input as a tensor.
    pub fn tensor(&mut self, place: usize) -> Eval<ir::Value<'c>> {
        let input = self.input(place);
        self.importer.tensor(&input).map_err(|stop| match stop {
            Stop::Here(why) => Stop::Here(format!("input {place}: {why}")),
            stop => stop,
        })
    }

    /// An input as a tensor, if it is given.
    pub fn optional(&mut self, place: usize) -> Eval<Option<ir::Value<'c>>> {
        if self.has(place) { self.tensor(place).map(Some) } else { Ok(None) }
    }

    /// All inputs as tensors.
    pub fn tensors(&mut self) -> Eval<Vec<ir::Value<'c>>> {
        (0..self.inputs.len()).map(|place| self.tensor(place)).collect()
    }

    /// The element type of an input.
    pub fn dtype(&self, place: usize) -> Eval<ElementType> {
        self.input(place).dtype().ok_or_else(|| format!("input {place} is no tensor").into())
    }

    /// The number of dimensions of an input.
    pub fn rank(&self, place: usize) -> Eval<usize> {
        self.input(place).shape().map(|shape| shape.len()).ok_or_else(|| format!("input {place} is no tensor").into())
    }

    /// An input that must be known at import time, as integers.
    pub fn known_ints(&mut self, place: usize) -> Eval<Vec<i64>> {
        let input = self.input(place);
        let known = self.importer.known(&input).and_then(|known| known.ints());
        known.ok_or_else(|| unknown(&format!("its input {place}")).into())
    }

    /// An input of one number that must be known at import time.
    pub fn known_int(&mut self, place: usize) -> Eval<i64> {
        match self.known_ints(place)?[..] {
            [value] => Ok(value),
            ref values => Err(format!("its input {place} is {} numbers and not one", values.len()).into()),
        }
    }

    /// An input of floats that must be known at import time.
    pub fn known_floats(&mut self, place: usize) -> Eval<Vec<f64>> {
        let input = self.input(place);
        let known = self.importer.floats(&input);
        known.ok_or_else(|| unknown(&format!("its input {place}")).into())
    }

    /// An input of integers: known ones, or numbers of a call.
    pub fn numbers(&mut self, place: usize) -> Eval<Vec<Num<'c>>> {
        let input = self.input(place);
        self.importer.numbers(&input)
    }

    /// Axes: an attribute in older versions, an input in newer ones; counted from the front.
    pub fn axes(&mut self, place: usize, rank: usize) -> Eval<Option<Vec<i64>>> {
        let axes = match self.ints("axes") {
            Some(axes) => axes,
            None if self.has(place) => self.known_ints(place)?,
            None => return Ok(None),
        };
        axes.into_iter().map(|axis| wrapped(axis, rank)).collect::<Eval<Vec<_>>>().map(Some)
    }

    /// The attribute `axis`, counted from the front.
    pub fn axis(&self, default: i64, rank: usize) -> Eval<i64> {
        wrapped(self.int("axis", default), rank)
    }

    // Ops.

    /// Makes an op with one result.
    pub fn op(&mut self, operator: Operator, inputs: &[Arg<'c>]) -> Eval<ir::Value<'c>> {
        self.importer.op(operator, inputs)
    }

    /// Makes an op.
    pub fn ops(&mut self, operator: Operator, inputs: &[Arg<'c>]) -> Eval<Vec<ir::Value<'c>>> {
        self.importer.ops(operator, inputs)
    }

    /// A tensor in another element type.
    pub fn cast(&mut self, value: ir::Value<'c>, dtype: ElementType) -> Eval<ir::Value<'c>> {
        if value.ty().element_type() == Some(dtype) { Ok(value) } else { self.op(op::TO_DTYPE, &[t(value), d(dtype)]) }
    }

    /// A tensor with other sizes.
    pub fn reshape(&mut self, value: ir::Value<'c>, sizes: &[Num<'c>]) -> Eval<ir::Value<'c>> {
        self.op(op::RESHAPE, &[t(value), ns(sizes)])
    }

    /// The sizes of a tensor.
    pub fn sizes(&mut self, value: ir::Value<'c>) -> Vec<Num<'c>> {
        (0..value.ty().rank()).map(|dim| self.importer.size_of(value, dim)).collect()
    }

    /// A tensor of rank 0 with this number, of a float's or integer's type.
    pub fn number(&mut self, value: f64, dtype: ElementType) -> Eval<ir::Value<'c>> {
        let scalar = if dtype.is_float() { Scalar::Float(value) } else { Scalar::Int(value as i64) };
        self.op(op::SCALAR_TENSOR, &[Some(Input::Scalar(scalar)), d(dtype)])
    }

    /// A part of a tensor along a dimension, with known bounds.
    pub fn slice(&mut self, value: ir::Value<'c>, dim: i64, start: i64, end: i64) -> Eval<ir::Value<'c>> {
        self.op(op::SLICE_TENSOR, &[t(value), i(dim), i(start), i(end)])
    }
}

/// What must be known at import time and is not; tools that have a call give its elements then, by these words.
pub(super) fn unknown(what: &str) -> String {
    format!(
        "{what} must be known when the model is imported, and depends on a call; give elements of the call, with --signature='i64[2]={{0 1}}'"
    )
}

/// An axis counted from the front.
pub(super) fn wrapped(axis: i64, rank: usize) -> Eval<i64> {
    let rank = rank as i64;
    let wrapped = if axis < 0 { axis.saturating_add(rank) } else { axis };
    if (0..rank).contains(&wrapped) { Ok(wrapped) } else { Err(format!("axis {axis} is none of a tensor of {rank} dimensions").into()) }
}

/// One result.
pub(super) fn one<'c>(value: ir::Value<'c>) -> Vec<Value<'c>> {
    vec![Value::Tensor(value)]
}

/// Several results.
pub(super) fn many(values: Vec<ir::Value<'_>>) -> Vec<Value<'_>> {
    values.into_iter().map(Value::Tensor).collect()
}

/// The static sizes of a tensor, where all are known.
pub(super) fn known_shape(value: ir::Value<'_>) -> Option<Vec<i64>> {
    Some(value.ty().shape()).filter(|shape| shape.iter().all(|size| *size != DYNAMIC))
}
