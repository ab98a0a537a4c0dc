//! One graph while it is imported: the names that have values, and how an argument becomes a value.

use std::collections::HashMap;

use strata_core::ir::{Builder, Cx, Type, Value};
use strata_dialects::aten::{Scalar, Size, view::SYMBOLIC};

use super::{error::Refusal, types};
use crate::pt2::{
    argument::{Argument, Sym},
    schema::{Graph, TensorMeta},
};

/// The names of one graph; a nested graph has a scope of its own.
pub(super) struct Scope<'g, 'c> {
    pub graph: &'g Graph,
    values: HashMap<&'g str, Value<'c>>,
}

impl<'g, 'c> Scope<'g, 'c> {
    pub fn new(graph: &'g Graph) -> Self {
        Self { graph, values: HashMap::new() }
    }

    pub fn define(&mut self, name: &'g str, value: Value<'c>) {
        self.values.insert(name, value);
    }

    /// Binds a graph input, or a node's output, to a value.
    pub fn bind(&mut self, argument: &'g Argument, value: Value<'c>) -> Result<(), Refusal> {
        match argument {
            Argument::AsTensor(tensor) => self.define(&tensor.name, value),
            Argument::AsSymInt(Sym::Name(name)) | Argument::AsSymFloat(Sym::Name(name)) | Argument::AsSymBool(Sym::Name(name)) => {
                self.define(name, value);
            }
            other => return Err(Refusal::unsupported(format!("a value of kind `{}` cannot be bound here", other.tag()))),
        }
        Ok(())
    }

    pub fn get(&self, name: &str) -> Result<Value<'c>, Refusal> {
        self.values.get(name).copied().ok_or_else(|| Refusal::broken(format!("`{name}` has no value here")))
    }

    /// What the archive says of a tensor.
    pub fn meta(&self, name: &str) -> Result<&'g TensorMeta, Refusal> {
        self.graph.tensor_values.get(name).ok_or_else(|| Refusal::broken(format!("tensor `{name}` is not described")))
    }

    /// The type of a node's output or a graph's input.
    pub fn ty(&self, cx: Cx<'c>, argument: &Argument) -> Result<Type<'c>, Refusal> {
        match argument {
            Argument::AsTensor(tensor) => types::tensor(cx, self.meta(&tensor.name)?),
            Argument::AsSymInt(_) => Ok(cx.index()),
            Argument::AsSymFloat(_) => Ok(cx.f64()),
            Argument::AsSymBool(_) => Ok(cx.int(1)),
            other => Err(Refusal::unsupported(format!("a value of kind `{}` has no type in the IR", other.tag()))),
        }
    }

    /// The tensor of an argument.
    pub fn tensor(&self, argument: &Argument) -> Result<Value<'c>, Refusal> {
        match argument {
            Argument::AsTensor(tensor) => self.get(&tensor.name),
            other => Err(Refusal::unsupported(format!("a tensor is expected, not `{}`", other.tag()))),
        }
    }

    /// A symbolic integer, or the constant in its place.
    pub fn size(&self, sym: &Sym<i64>) -> Result<Size<'c>, Refusal> {
        match sym {
            Sym::Name(name) => self.get(name).map(Size::Value),
            Sym::Value(value) => constant(*value).map(Size::Const),
        }
    }

    /// A python number.
    pub fn scalar(&self, argument: &Argument) -> Result<Option<Scalar<'c>>, Refusal> {
        Ok(Some(match argument {
            Argument::AsInt(value) | Argument::AsSymInt(Sym::Value(value)) => Scalar::Int(constant(*value)?),
            Argument::AsFloat(value) | Argument::AsSymFloat(Sym::Value(value)) => Scalar::Float(value.0),
            Argument::AsBool(value) | Argument::AsSymBool(Sym::Value(value)) => Scalar::Bool(*value),
            Argument::AsSymInt(Sym::Name(name)) | Argument::AsSymFloat(Sym::Name(name)) | Argument::AsSymBool(Sym::Name(name)) => {
                Scalar::Value(self.get(name)?)
            }
            Argument::AsComplex(value) => Scalar::Complex(value.real.0, value.imag.0),
            _ => return Ok(None),
        }))
    }

    /// A python number as a value, constants included.
    pub fn number(&self, builder: &mut Builder<'c>, argument: &Argument) -> Result<Value<'c>, Refusal> {
        let cx = builder.cx();
        match self.scalar(argument)? {
            Some(Scalar::Int(value)) => Ok(builder.const_index(value)),
            Some(Scalar::Float(value)) => Ok(builder.const_float(cx.f64(), value)),
            Some(Scalar::Bool(value)) => Ok(builder.const_int(cx.int(1), i64::from(value))),
            Some(Scalar::Value(value)) => Ok(value),
            Some(Scalar::Complex(..)) | None => Err(Refusal::unsupported(format!("a number is expected, not `{}`", argument.tag()))),
        }
    }
}

/// A constant that cannot be mistaken for the mark of a symbolic one.
pub(super) fn constant(value: i64) -> Result<i64, Refusal> {
    match value {
        SYMBOLIC => Err(Refusal::unsupported(format!("the integer {value} stands for symbolic values and cannot be a constant"))),
        value => Ok(value),
    }
}

impl<'c> Scope<'_, 'c> {
    /// An output: a tensor, or a number.
    pub fn number_or_tensor(&self, builder: &mut Builder<'c>, argument: &Argument) -> Result<Value<'c>, Refusal> {
        match argument {
            Argument::AsTensor(_) => self.tensor(argument),
            number => self.number(builder, number),
        }
    }
}
