//! `models/model.json` as Rust types: the exported program, its graph, signature and metadata.
//!
//! Field names are the format's own, so that an error's JSON path can be found in the file. A field that PyTorch's own reader needs
//! is needed here too, also one that nothing is made of; only those that later versions added have a default there and here.

use serde::Deserialize;

use super::{
    argument::{Argument, CustomObject, Device, Real, TensorRef},
    dtype::{Layout, ScalarType},
    expr::Expr,
    table::Table,
};

/// The whole program.
#[derive(Debug, Clone, Deserialize)]
#[allow(missing_docs, reason = "the format's own fields")]
pub struct ExportedProgram {
    pub graph_module: GraphModule,
    pub opset_version: Table<i64>,
    pub range_constraints: Table<RangeConstraint>,
    pub schema_version: SchemaVersion,
    #[serde(default)]
    pub verifiers: Vec<String>,
    #[serde(default)]
    pub torch_version: String,
    #[serde(default)]
    pub guards_code: Vec<String>,
}

/// Version of the format.
#[derive(Debug, Clone, Deserialize)]
#[allow(missing_docs, reason = "the format's own fields")]
pub struct SchemaVersion {
    pub major: i64,
    pub minor: i64,
}

/// The range of a symbol; a bound of null is none.
#[derive(Debug, Clone, Deserialize)]
#[allow(missing_docs, reason = "the format's own fields")]
pub struct RangeConstraint {
    #[serde(deserialize_with = "Option::deserialize")]
    pub min_val: Option<i64>,
    #[serde(deserialize_with = "Option::deserialize")]
    pub max_val: Option<i64>,
}

/// The graph with its signature.
#[derive(Debug, Clone, Deserialize)]
#[allow(missing_docs, reason = "the format's own fields")]
pub struct GraphModule {
    pub graph: Graph,
    pub signature: Signature,
    pub module_call_graph: Vec<ModuleCall>,
}

/// A graph: the program's, or a branch or body in it.
#[derive(Debug, Clone, Deserialize)]
#[allow(missing_docs, reason = "the format's own fields")]
pub struct Graph {
    pub inputs: Vec<Argument>,
    pub outputs: Vec<Argument>,
    pub nodes: Vec<Node>,
    pub tensor_values: Table<TensorMeta>,
    pub sym_int_values: Table<SymInt>,
    pub sym_bool_values: Table<SymBool>,
    #[serde(default)]
    pub sym_float_values: Table<SymFloat>,
    #[serde(default)]
    pub custom_obj_values: Table<serde_json::Value>,
    #[serde(default)]
    pub is_single_tensor_return: bool,
}

/// One operator call.
#[derive(Debug, Clone, Deserialize)]
#[allow(missing_docs, reason = "the format's own fields")]
pub struct Node {
    pub target: String,
    pub inputs: Vec<NamedArgument>,
    pub outputs: Vec<Argument>,
    pub metadata: Table<String>,
    #[serde(default)]
    pub name: Option<String>,
}

/// An argument of a call.
#[derive(Debug, Clone, Deserialize)]
#[allow(missing_docs, reason = "the format's own fields")]
pub struct NamedArgument {
    pub name: String,
    pub arg: Argument,
    #[serde(default)]
    pub kind: ArgumentKind,
}

/// How an argument was passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(try_from = "i64")]
#[allow(missing_docs, reason = "the names say it all")]
pub enum ArgumentKind {
    #[default]
    Positional,
    Keyword,
}

impl TryFrom<i64> for ArgumentKind {
    type Error = String;

    fn try_from(number: i64) -> Result<Self, String> {
        match number {
            0 | 1 => Ok(Self::Positional),
            2 => Ok(Self::Keyword),
            _ => Err(format!("{number} is neither 1 (positional) nor 2 (keyword)")),
        }
    }
}

/// What is known of a tensor.
#[derive(Debug, Clone, Deserialize)]
#[allow(missing_docs, reason = "the format's own fields")]
pub struct TensorMeta {
    pub dtype: ScalarType,
    pub sizes: Vec<SymInt>,
    pub strides: Vec<SymInt>,
    pub storage_offset: SymInt,
    pub device: Device,
    pub layout: Layout,
    pub requires_grad: bool,
}

/// A size.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[allow(missing_docs, reason = "the tags are the format's")]
pub enum SymInt {
    #[serde(rename = "as_int")]
    Int(i64),
    #[serde(rename = "as_expr")]
    Expr(SymExpr),
}

/// A symbolic condition.
#[derive(Debug, Clone, Deserialize)]
#[allow(missing_docs, reason = "the tags are the format's")]
pub enum SymBool {
    #[serde(rename = "as_bool")]
    Bool(bool),
    #[serde(rename = "as_expr")]
    Expr(SymExpr),
}

/// A symbolic float.
#[derive(Debug, Clone, Deserialize)]
#[allow(missing_docs, reason = "the tags are the format's")]
pub enum SymFloat {
    #[serde(rename = "as_float")]
    Float(Real),
    #[serde(rename = "as_expr")]
    Expr(SymExpr),
}

/// An expression over symbols; the hint is the value that the exporter saw, which says nothing about other calls.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[allow(missing_docs, reason = "the format's own fields")]
pub struct SymExpr {
    pub expr_str: Expr,
}

/// What the graph's inputs and outputs are for.
#[derive(Debug, Clone, Deserialize)]
#[allow(missing_docs, reason = "the format's own fields")]
pub struct Signature {
    pub input_specs: Vec<InputSpec>,
    pub output_specs: Vec<OutputSpec>,
}

/// What an input is for.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the tags are the format's")]
pub enum InputSpec {
    UserInput {
        arg: Argument,
    },
    Parameter {
        arg: TensorRef,
        parameter_name: String,
        /// The number that every element is, where whoever wrote the graph said so; archives do not.
        #[serde(default)]
        uniform: Option<i64>,
    },
    Buffer {
        arg: TensorRef,
        buffer_name: String,
        persistent: bool,
    },
    TensorConstant {
        arg: TensorRef,
        tensor_constant_name: String,
    },
    ConstantInput {
        name: String,
        value: Constant,
    },
    CustomObj {
        arg: CustomObject,
        custom_obj_name: String,
    },
    Token {
        arg: TensorRef,
    },
}

/// The value that an input had and must have.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the tags are the format's")]
pub enum Constant {
    AsInt(i64),
    AsFloat(Real),
    AsString(String),
    AsBool(bool),
    AsNone(bool),
}

/// What an output is for.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the tags are the format's")]
pub enum OutputSpec {
    UserOutput { arg: Argument },
    LossOutput { arg: TensorRef },
    BufferMutation { arg: TensorRef, buffer_name: String },
    ParameterMutation { arg: TensorRef, parameter_name: String },
    UserInputMutation { arg: TensorRef, user_input_name: String },
    GradientToParameter { arg: TensorRef, parameter_name: String },
    GradientToUserInput { arg: TensorRef, user_input_name: String },
    Token { arg: TensorRef },
}

/// A module of the python program; the first one is the program itself and tells how its inputs nest.
#[derive(Debug, Clone, Deserialize)]
#[allow(missing_docs, reason = "the format's own fields")]
pub struct ModuleCall {
    pub fqn: String,
    pub signature: Option<ModuleCallSignature>,
}

/// How a module's inputs and outputs nest, as the text of tree specs.
#[derive(Debug, Clone, Deserialize)]
#[allow(missing_docs, reason = "the format's own fields")]
pub struct ModuleCallSignature {
    pub inputs: Vec<Argument>,
    pub outputs: Vec<Argument>,
    pub in_spec: String,
    pub out_spec: String,
    #[serde(default)]
    pub forward_arg_names: Option<Vec<String>>,
}
