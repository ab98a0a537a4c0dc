//! What a node takes and gives: the tagged union `Argument` of the format.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error, Visitor},
};

use super::{
    dtype::{Layout, MemoryFormat, ScalarType},
    schema::Graph,
};

/// An argument, tagged by its key (`{"as_int": 3}`).
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the tags are the format's")]
pub enum Argument {
    AsNone(bool),
    AsTensor(TensorRef),
    AsTensors(Vec<TensorRef>),
    AsOptionalTensor(OptionalTensor),
    AsOptionalTensors(Vec<OptionalTensor>),
    AsNestedTensors(Vec<Vec<TensorRef>>),
    AsInt(i64),
    AsInts(Vec<i64>),
    AsIntLists(Vec<Vec<i64>>),
    AsFloat(Real),
    AsFloats(Vec<Real>),
    AsBool(bool),
    AsBools(Vec<bool>),
    AsString(String),
    AsStrings(Vec<String>),
    AsComplex(Complex),
    AsScalarType(ScalarType),
    AsDevice(Device),
    AsLayout(Layout),
    AsMemoryFormat(MemoryFormat),
    AsSymInt(Sym<i64>),
    AsSymInts(Vec<Sym<i64>>),
    AsSymFloat(Sym<Real>),
    AsSymFloats(Vec<Sym<Real>>),
    AsSymBool(Sym<bool>),
    AsSymBools(Vec<Sym<bool>>),
    AsGraph(Box<NamedGraph>),
    AsOperator(String),
    AsCustomObj(CustomObject),
    AsStringToArgument(serde_json::Value),
    /// Tensors and numbers in one list. Archives have none; graphs that a compiler in the same process is given do.
    AsValues(Vec<Argument>),
}

/// A tensor by name.
#[derive(Debug, Clone, Deserialize)]
pub struct TensorRef {
    /// The value's name in its graph.
    pub name: String,
}

/// A tensor, or `None`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the tags are the format's")]
pub enum OptionalTensor {
    AsTensor(TensorRef),
    AsNone(bool),
}

/// A number known to the exporter, or the name of one that is not.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[allow(missing_docs, reason = "the tags are the format's")]
pub enum Sym<T> {
    #[serde(rename = "as_name")]
    Name(String),
    #[serde(rename = "as_int", alias = "as_float", alias = "as_bool")]
    Value(T),
}

/// A device.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Device {
    /// `cpu` for example.
    #[serde(rename = "type")]
    pub kind: String,
    /// Which one, when there are several.
    pub index: Option<i64>,
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            Some(index) => write!(f, "{}:{index}", self.kind),
            None => f.write_str(&self.kind),
        }
    }
}

/// A complex number.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Complex {
    /// Real part.
    pub real: Real,
    /// Imaginary part.
    pub imag: Real,
}

/// A nested graph: a branch or a body.
#[derive(Debug, Clone, Deserialize)]
pub struct NamedGraph {
    /// The exporter's name for it.
    pub name: String,
    /// The graph, which sees only its own inputs.
    pub graph: Graph,
}

/// A python or C++ object, which no program here can hold.
#[derive(Debug, Clone, Deserialize)]
pub struct CustomObject {
    /// The value's name in its graph.
    pub name: String,
    /// Its class.
    pub class_fqn: String,
}

/// A float; JSON has no infinities, so the format writes those as text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Real(pub f64);

impl<'de> Deserialize<'de> for Real {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;
        impl Visitor<'_> for Number {
            type Value = Real;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, \"Infinity\", \"-Infinity\" or \"NaN\"")
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Real, E> {
                Ok(Real(value))
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Real, E> {
                Ok(Real(value as f64))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Real, E> {
                Ok(Real(value as f64))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Real, E> {
                match text {
                    "Infinity" => Ok(Real(f64::INFINITY)),
                    "-Infinity" => Ok(Real(f64::NEG_INFINITY)),
                    "NaN" => Ok(Real(f64::NAN)),
                    _ => Err(E::custom(format!("{text:?} is not a number"))),
                }
            }
        }
        deserializer.deserialize_any(Number)
    }
}

impl Argument {
    /// The tag, as the format spells it.
    pub fn tag(&self) -> &'static str {
        match self {
            Self::AsNone(_) => "as_none",
            Self::AsTensor(_) => "as_tensor",
            Self::AsTensors(_) => "as_tensors",
            Self::AsOptionalTensor(_) => "as_optional_tensor",
            Self::AsOptionalTensors(_) => "as_optional_tensors",
            Self::AsNestedTensors(_) => "as_nested_tensors",
            Self::AsInt(_) => "as_int",
            Self::AsInts(_) => "as_ints",
            Self::AsIntLists(_) => "as_int_lists",
            Self::AsFloat(_) => "as_float",
            Self::AsFloats(_) => "as_floats",
            Self::AsBool(_) => "as_bool",
            Self::AsBools(_) => "as_bools",
            Self::AsString(_) => "as_string",
            Self::AsStrings(_) => "as_strings",
            Self::AsComplex(_) => "as_complex",
            Self::AsScalarType(_) => "as_scalar_type",
            Self::AsDevice(_) => "as_device",
            Self::AsLayout(_) => "as_layout",
            Self::AsMemoryFormat(_) => "as_memory_format",
            Self::AsSymInt(_) => "as_sym_int",
            Self::AsSymInts(_) => "as_sym_ints",
            Self::AsSymFloat(_) => "as_sym_float",
            Self::AsSymFloats(_) => "as_sym_floats",
            Self::AsSymBool(_) => "as_sym_bool",
            Self::AsSymBools(_) => "as_sym_bools",
            Self::AsGraph(_) => "as_graph",
            Self::AsOperator(_) => "as_operator",
            Self::AsCustomObj(_) => "as_custom_obj",
            Self::AsStringToArgument(_) => "as_string_to_argument",
            Self::AsValues(_) => "as_values",
        }
    }

    /// Calls `visit` with every value name that the argument mentions.
    pub fn names<'a>(&'a self, visit: &mut impl FnMut(&'a str)) {
        fn sym<'a, T>(sym: &'a Sym<T>, visit: &mut impl FnMut(&'a str)) {
            if let Sym::Name(name) = sym {
                visit(name);
            }
        }
        fn optional<'a>(tensor: &'a OptionalTensor, visit: &mut impl FnMut(&'a str)) {
            if let OptionalTensor::AsTensor(tensor) = tensor {
                visit(&tensor.name);
            }
        }
        match self {
            Self::AsTensor(tensor) => visit(&tensor.name),
            Self::AsTensors(tensors) => tensors.iter().for_each(|tensor| visit(&tensor.name)),
            Self::AsOptionalTensor(tensor) => optional(tensor, visit),
            Self::AsOptionalTensors(tensors) => tensors.iter().for_each(|tensor| optional(tensor, visit)),
            Self::AsNestedTensors(lists) => lists.iter().flatten().for_each(|tensor| visit(&tensor.name)),
            Self::AsSymInt(value) => sym(value, visit),
            Self::AsSymInts(values) => values.iter().for_each(|value| sym(value, visit)),
            Self::AsSymFloat(value) => sym(value, visit),
            Self::AsSymFloats(values) => values.iter().for_each(|value| sym(value, visit)),
            Self::AsSymBool(value) => sym(value, visit),
            Self::AsSymBools(values) => values.iter().for_each(|value| sym(value, visit)),
            Self::AsCustomObj(object) => visit(&object.name),
            Self::AsValues(values) => values.iter().for_each(|value| value.names(visit)),
            _ => {}
        }
    }
}
