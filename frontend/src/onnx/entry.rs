//! The entry function: arguments for the inputs of a model, results for its outputs, sizes with names as symbols.

use std::collections::HashMap;
use std::rc::Rc;

use strata_core::ir::{self, Cx, DYNAMIC, Module, Type};
use strata_core::rewrite::Rewriter;
use strata_dialects::aten::op;
use strata_dialects::capture;

use super::call::t;
use super::data::{self, Data};
use super::dtype;
use super::error::{Eval, OnnxError};
use super::file::File;
use super::importer::{Importer, Scope, versions};
use super::proto::{Graph, Kind, Model, OperatorSet, Size, ValueInfo};
use super::value::Value;
use crate::function;
use crate::import::{ENTRY, Imported, Input, InputKind, Output, Weights};
use crate::library::Library;
use crate::operators::Operators;
use crate::signature::{Leaf, Signature};
use crate::types;

/// A size of an input.
#[derive(Debug, Clone, PartialEq)]
enum Dim {
    Known(i64),
    /// The size of this symbol.
    Symbol(String),
}

/// An input: its name, element type, and sizes.
struct Declared<'p> {
    name: &'p str,
    dtype: ir::ElementType,
    dims: Vec<Dim>,
}

/// Builds the module of a model.
pub(super) fn build<'c>(
    (file, model): (&File, &Model),
    signature: Option<&Signature>,
    known: (&dyn Operators, Option<&Library<'c>>),
    cx: Cx<'c>,
) -> Result<Imported<'c>, OnnxError> {
    let graph = model.graph.as_ref().ok_or_else(|| OnnxError::part("model", "it has no graph"))?;
    let versions = versions(&model.opset_import)?;
    let declared = declared(graph, signature)?;
    let ty = |input: &Declared<'_>| {
        let sizes: Vec<_> = input.dims.iter().map(|dim| if let Dim::Known(size) = dim { *size } else { DYNAMIC }).collect();
        types::spelled(cx, &input.dtype.to_string(), &sizes).map_err(|why| about(input.name, why))
    };
    let arguments: Vec<Type<'c>> = declared.iter().map(ty).collect::<Result<_, _>>()?;
    let module = Module::new(cx);
    let (function, block) = function::begin(cx, module.body(), &arguments);
    let mut builder = Rewriter::at_end(block, cx.unknown());
    bind_sizes(&mut builder, &declared, &block.args());
    let mut importer = Importer::new(builder, block, (file, model), known);
    importer.offered = offered(&declared, signature);
    let attrs = HashMap::new();
    let values = declared.iter().zip(block.args()).map(|(input, value)| (input.name, Value::Tensor(value))).collect();
    let mut scope = Scope { values, outer: None, attrs: &attrs, versions: &versions };
    let outputs = importer.graph(graph, &mut scope).map_err(|stop| stop.about(|| format!("graph `{}`", graph.name)))?;
    let mut results = Vec::new();
    for (output, value) in graph.output.iter().zip(&outputs) {
        flattened(&mut importer, value, &mut results).map_err(|stop| stop.about(|| format!("output `{}`", output.name)))?;
    }
    guards(&mut importer, &declared).map_err(|stop| stop.about(|| "--signature".to_owned()))?;
    let inputs = declared.iter().map(|input| Input { name: input.name.to_owned(), kind: InputKind::Input });
    let (weights, table) = weights(&importer);
    let inputs: Vec<_> = inputs.chain(weights).collect();
    let outputs: Vec<_> = results.iter().map(|_| Output::Value).collect();
    function::finish(&mut importer.builder, function, block, &inputs, &results.into_iter().map(|value| (value, Output::Value)).collect());
    Ok(Imported { module, entry: ENTRY.to_owned(), inputs, outputs, weights: Some(Weights { table }), format: format(model) })
}

/// The format of a model, in words.
fn format(model: &Model) -> String {
    let domain = |set: &OperatorSet| if set.domain.is_empty() { "ai.onnx".to_owned() } else { set.domain.clone() };
    let sets: Vec<_> = model.opset_import.iter().map(|set| format!("{} {}", domain(set), set.version)).collect();
    let by = [model.producer_name.as_str(), &model.producer_version].join(" ");
    let by = if by.trim().is_empty() { String::new() } else { format!(", by {}", by.trim()) };
    format!("ONNX IR {}, operators {}{by}", model.ir_version, sets.join(", "))
}

fn about(input: &str, why: impl Into<String>) -> OnnxError {
    OnnxError::part(format!("input `{input}`"), why)
}

/// The inputs of a call: not those that have a value in the model.
fn declared<'p>(graph: &'p Graph, signature: Option<&Signature>) -> Result<Vec<Declared<'p>>, OnnxError> {
    let brought = |info: &&ValueInfo| !graph.initializer.iter().any(|tensor| tensor.name == info.name);
    let inputs: Vec<_> = graph.input.iter().filter(brought).collect();
    if let Some(signature) = signature
        && signature.0.len() != inputs.len()
    {
        let why = format!("the signature has {} leaves, and the model takes {} inputs", signature.0.len(), inputs.len());
        return Err(OnnxError::part("--signature", why));
    }
    let mut declared = Vec::new();
    for (place, info) in inputs.into_iter().enumerate() {
        let leaf = signature.map(|signature| &signature.0[place]);
        declared.push(declare(info, leaf).map_err(|why| about(&info.name, why))?);
    }
    Ok(declared)
}

fn declare<'p>(info: &'p ValueInfo, leaf: Option<&Leaf>) -> Result<Declared<'p>, String> {
    let tensor = match info.ty.as_ref().and_then(|ty| ty.kind.as_ref()) {
        Some(Kind::Tensor(tensor)) => tensor,
        Some(Kind::Sequence(_)) => return Err("a call has no way to bring a sequence; make its tensors inputs of their own".to_owned()),
        Some(Kind::Optional(_)) => return Err("a call has no way to bring an optional value; make a tensor of it".to_owned()),
        Some(Kind::Map(_)) => return Err("a call has no way to bring a map; make its values inputs of their own".to_owned()),
        Some(Kind::Sparse(_)) => return Err("a call has no way to bring a sparse tensor; make it dense".to_owned()),
        None => return Err("it has no type".to_owned()),
    };
    let dtype = dtype::element(tensor.elem_type.into())?;
    let own = |dim: usize| Dim::Symbol(format!("{}_{dim}", info.name));
    let mut dims = tensor.shape.as_ref().map(|shape| {
        let dim = |(place, dim): (usize, &super::proto::Dim)| match &dim.size {
            Some(Size::Value(size)) if *size >= 0 => Dim::Known(*size),
            Some(Size::Param(name)) if !name.is_empty() => Dim::Symbol(name.clone()),
            _ => own(place),
        };
        shape.dim.iter().enumerate().map(dim).collect::<Vec<_>>()
    });
    if let Some(leaf) = leaf {
        let Leaf::Tensor(spelling, sizes) = &without_elements(leaf) else { return Err(format!("the signature gives {leaf} for a tensor")) };
        if *spelling != dtype.to_string() {
            return Err(format!("the signature gives {spelling}, and the model takes {dtype}"));
        }
        let mut old = dims.unwrap_or_else(|| (0..sizes.len()).map(own).collect());
        if old.len() != sizes.len() {
            return Err(format!("the signature gives {leaf}, and the model takes {} dimensions", old.len()));
        }
        for (dim, size) in old.iter_mut().zip(sizes) {
            match (&dim, size) {
                (Dim::Known(known), Some(size)) if known != size => {
                    return Err(format!("the signature gives {leaf}, where the model takes the size {known}"));
                }
                (_, Some(size)) => *dim = Dim::Known(*size),
                (_, None) => {}
            }
        }
        dims = Some(old);
    }
    let dims = dims.ok_or_else(|| {
        format!("the model does not say how many dimensions it has; give the types of a call, with --signature='{dtype}[1x3x224x224]'")
    })?;
    Ok(Declared { name: &info.name, dtype, dims })
}

/// A leaf as its type.
fn without_elements(leaf: &Leaf) -> Leaf {
    match leaf {
        Leaf::Elements(dtype, sizes, _) => Leaf::Tensor(dtype.clone(), sizes.iter().map(|size| Some(*size)).collect()),
        leaf => leaf.clone(),
    }
}

/// The elements that a signature says, by the place of their input.
fn offered(declared: &[Declared<'_>], signature: Option<&Signature>) -> HashMap<usize, Rc<Data>> {
    let leaves = signature.map(|signature| signature.0.as_slice()).unwrap_or_default();
    let mut found = HashMap::new();
    for (place, (input, leaf)) in declared.iter().zip(leaves).enumerate() {
        if let Leaf::Elements(_, sizes, elements) = leaf
            && let Some(bytes) = data::number_bytes(input.dtype, elements)
        {
            found.insert(place, Rc::new(Data::inline("", input.dtype, sizes, bytes)));
        }
    }
    found
}

/// The conditions on a call that inputs have the elements which the model was imported for.
fn guards<'c>(importer: &mut Importer<'_, 'c>, declared: &[Declared<'_>]) -> Eval<()> {
    for place in std::mem::take(&mut importer.pinned) {
        let Some(data) = importer.offered.get(&place).map(Rc::clone) else { continue };
        let (name, argument) = (declared[place].name, importer.entry.arg(place));
        let wanted = importer.tensor(&Value::Data(data))?;
        let same = importer.op(op::EQ_TENSOR, &[t(argument), t(wanted)])?;
        let all = importer.op(op::ALL, &[t(same)])?;
        let holds = importer.op(op::ITEM, &[t(all)])?;
        let text = importer.cx.str_attr(&format!("{name} has the elements that the model was imported for"));
        importer.builder.effect(capture::Guard::NAME, &[holds], &[("text", text)]);
    }
    Ok(())
}

/// The symbols of the sizes: the first size of a name is the symbol, and all others are checked to equal it.
fn bind_sizes<'c>(builder: &mut Rewriter<'c>, declared: &[Declared<'_>], arguments: &[ir::Value<'c>]) {
    let cx = builder.cx();
    let mut symbols: HashMap<&str, ir::Value<'c>> = HashMap::new();
    for (input, argument) in declared.iter().zip(arguments) {
        let (mut operands, mut shape, mut repeated) = (vec![*argument], Vec::new(), false);
        for (place, dim) in input.dims.iter().enumerate() {
            let name = match dim {
                Dim::Known(size) => {
                    shape.push(cx.constant(*size));
                    continue;
                }
                Dim::Symbol(name) => name.as_str(),
            };
            let symbol = symbols.get(name).copied();
            repeated |= symbol.is_some();
            let symbol = symbol.unwrap_or_else(|| {
                let attrs = [
                    ("dim", cx.i64_attr(place as i64)),
                    ("symbol", cx.str_attr(name)),
                    ("min", cx.i64_attr(0)),
                    ("max", cx.i64_attr(i64::MAX)),
                ];
                builder.value(capture::Dim::NAME, &[*argument], cx.index(), &attrs)
            });
            symbols.insert(name, symbol);
            let position = operands.iter().skip(1).position(|known| *known == symbol).unwrap_or_else(|| {
                operands.push(symbol);
                operands.len() - 2
            });
            shape.push(cx.symbol(position));
        }
        if repeated {
            let shape = cx.map_attr(cx.map(0, operands.len() - 1, &shape));
            builder.effect(capture::BindDims::NAME, &operands, &[("shape", shape)]);
        }
    }
}

/// The tensors of an output.
fn flattened<'c>(importer: &mut Importer<'_, 'c>, value: &Value<'c>, results: &mut Vec<ir::Value<'c>>) -> Eval<()> {
    match value {
        Value::Sequence(items) => items.iter().try_for_each(|item| flattened(importer, item, results)),
        Value::Absent => Err("it holds nothing, and a call gives tensors only".into()),
        value => {
            results.push(importer.tensor(value)?);
            Ok(())
        }
    }
}

/// The arguments that are weights, and where their elements lie.
fn weights(importer: &Importer<'_, '_>) -> (Vec<Input>, Vec<(String, crate::import::Stored)>) {
    let mut names = std::collections::HashSet::new();
    let (mut inputs, mut table) = (Vec::new(), Vec::new());
    for (place, data) in importer.weights.iter().enumerate() {
        let mut name = if data.name.is_empty() { format!("constant_{place}") } else { data.name.clone() };
        while !names.insert(name.clone()) {
            name = format!("{name}_{place}");
        }
        let kind = if data.dtype.is_float() && !data.name.is_empty() { InputKind::Parameter } else { InputKind::Constant };
        inputs.push(Input { name: name.clone(), kind });
        table.push((name, data.stored()));
    }
    (inputs, table)
}
