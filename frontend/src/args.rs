//! Short names for the arguments of `aten` operators, for the importers that call them.

use strata_core::ir::{self, ElementType};
use strata_dialects::aten::{Input, Scalar, Size};

/// An argument of an `aten` operator; `None` is its default.
pub(crate) type Arg<'c> = Option<Input<'c>>;

/// A tensor.
pub(crate) fn t<'c>(value: ir::Value<'c>) -> Arg<'c> {
    Some(Input::Tensor(value))
}

/// A tensor that may be left out.
pub(crate) fn ot<'c>(value: Option<ir::Value<'c>>) -> Arg<'c> {
    Some(value.map_or(Input::None, Input::Tensor))
}

/// Tensors.
pub(crate) fn ts<'c>(values: &[ir::Value<'c>]) -> Arg<'c> {
    Some(Input::Tensors(values.to_vec()))
}

/// An integer.
pub(crate) fn i<'c>(value: i64) -> Arg<'c> {
    Some(Input::Int(Size::Const(value)))
}

/// Integers.
pub(crate) fn is<'c>(values: &[i64]) -> Arg<'c> {
    Some(Input::Ints(values.iter().map(|value| Size::Const(*value)).collect()))
}

/// A float.
pub(crate) fn f<'c>(value: f64) -> Arg<'c> {
    Some(Input::Scalar(Scalar::Float(value)))
}

/// A number as an integer.
pub(crate) fn s<'c>(value: i64) -> Arg<'c> {
    Some(Input::Scalar(Scalar::Int(value)))
}

/// A truth value.
pub(crate) fn b<'c>(value: bool) -> Arg<'c> {
    Some(Input::Scalar(Scalar::Bool(value)))
}

/// An element type.
pub(crate) fn d<'c>(dtype: ElementType) -> Arg<'c> {
    Some(Input::DType(dtype))
}

/// A text.
pub(crate) fn text<'c>(text: &str) -> Arg<'c> {
    Some(Input::Str(text.to_owned()))
}
