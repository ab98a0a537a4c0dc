//! One call of the program: an `aten` op by its schema, or what the call means without one.

use std::rc::Rc;

use strata_core::ir::{Cx, Op, Type, Value};
use strata_core::rewrite::Rewriter;
use strata_dialects::aten::dtype::DType;
use strata_dialects::aten::{self, AtenOp, Schema, infer, schema::Kind};
use strata_dialects::capture;

use super::{
    arguments, autocast, control, copies,
    error::{ImportError, Refusal},
    foreach, foreign, linear_cross_entropy,
    location::{location, name, place},
    python, registered,
    scope::Scope,
    storage,
    symbols::Symbols,
};
use crate::library::Library;
use crate::pt2::{
    argument::Argument,
    schema::{Graph, Node},
};

/// What all graphs of a program share while they are imported.
pub(super) struct Importer<'c> {
    pub cx: Cx<'c>,
    pub builder: Rewriter<'c>,
    pub symbols: Symbols<'c>,
    /// The context takes ops that no dialect registers.
    pub lenient: bool,
    /// The program writes to tensors or addresses their storages, so that copies must be told from views.
    pub aliasing: bool,
    /// The program addresses storages, so that their orders must be known.
    pub storages: bool,
    /// Operators that the user registers.
    pub library: Option<Rc<Library<'c>>>,
    /// The type of automatic casts, in a region of these.
    pub autocast: Option<DType>,
}

impl<'c> Importer<'c> {
    /// Imports a graph's nodes at the builder's place; its inputs are `values`. Gives its outputs.
    pub fn graph(&mut self, graph: &Graph, values: &[Value<'c>]) -> Result<Vec<Value<'c>>, ImportError> {
        let mut scope = Scope::new(graph);
        let whole = |refusal: Refusal| refusal.entry("a nested graph");
        if graph.inputs.len() != values.len() {
            return Err(whole(Refusal::broken(format!("it has {} inputs and is given {}", graph.inputs.len(), values.len()))));
        }
        for (input, value) in graph.inputs.iter().zip(values) {
            scope.bind(input, *value).map_err(whole)?;
        }
        self.nodes(&mut scope)?;
        graph.outputs.iter().map(|output| scope.number_or_tensor(&mut self.builder, output).map_err(whole)).collect()
    }

    /// Imports all nodes of a scope.
    pub fn nodes<'g>(&mut self, scope: &mut Scope<'g, 'c>) -> Result<(), ImportError> {
        for node in &scope.graph.nodes {
            self.builder.set_location(location(self.cx, node));
            self.node(scope, node)?;
        }
        Ok(())
    }

    fn node<'g>(&mut self, scope: &mut Scope<'g, 'c>, node: &'g Node) -> Result<(), ImportError> {
        let blame = |Refusal { why, help }: Refusal| ImportError::Node {
            node: name(node).to_owned(),
            target: node.target.clone(),
            place: place(node),
            why,
            help,
        };
        if node.target == "torch.ops.higher_order.auto_functionalized_v2" {
            return registered::functionalised(self, scope, node).map_err(blame);
        }
        if let Some(name) = node.target.strip_prefix("torch.ops.higher_order.") {
            let results = control::import(self, scope, node, name).map_err(|problem| problem.blame(blame))?;
            return bind(scope, &node.outputs, &results).map_err(blame);
        }
        if python::import(self, scope, node).map_err(blame)? || linear_cross_entropy::import(self, scope, node).map_err(blame)? {
            return Ok(());
        }
        self.operator(scope, node).map_err(blame)
    }

    /// A call of an operator that PyTorch describes by a schema.
    fn operator<'g>(&mut self, scope: &mut Scope<'g, 'c>, node: &'g Node) -> Result<(), Refusal> {
        let target = node.target.strip_prefix("torch.ops.").unwrap_or(&node.target);
        let Some((schema, names)) = foreign::schema_of(target) else {
            return registered::import(self, scope, node, target);
        };
        // A number that is given to nobody, such as a `size` that nobody reads. Tensors have a name even then.
        let gives_nothing = node.outputs.iter().all(|output| matches!(output, Argument::AsNone(_)));
        let numbers = !schema.returns.is_empty() && schema.returns.iter().all(|returned| returned.ty.kind != Kind::Tensor);
        if gives_nothing && numbers && !schema.is_mutable() {
            return Ok(());
        }
        if let Some(each) = aten::foreach::of_each(schema.operator()) {
            return foreach::import(self, scope, node, (schema, each));
        }
        let matched = arguments::overload(arguments::sort(&node.inputs, schema, names)?);
        if !self.lenient && !self.cx.is_registered(matched.0.name) {
            return Err(Refusal::unsupported(format!("`{}` is not an op of the aten level", matched.0.name)));
        }
        let mut inputs = arguments::inputs(&mut self.builder, scope, &matched)?;
        storage::fill_offset(self, scope, matched.0, node, &mut inputs)?;
        let (results, bound) = results(self.cx, scope, schema, node)?;
        let op = aten::build(&mut self.builder, matched.0, &inputs, &results)?;
        autocast::cast(self, op)?;
        for (bound, value) in bound.iter().zip(op.results()) {
            if let Bound::Name(name) = bound {
                declared(op, name, value.ty())?;
            }
        }
        if self.aliasing && copies::copies(scope, node) {
            self.builder.set_attr(op, capture::COPIES, self.cx.unit());
        }
        if self.storages {
            storage::note(&mut self.builder, scope, node, op);
        }
        for (argument, value) in bound.into_iter().zip(op.results()) {
            if let Bound::Name(name) = argument {
                scope.define(name, value);
            }
        }
        Ok(())
    }
}

/// Refuses a result's declared element type where ATen gives another.
fn declared(op: Op<'_>, name: &str, ty: Type<'_>) -> Result<(), Refusal> {
    let wanted = AtenOp::new(op).ok().and_then(|view| infer::results(&view));
    match (wanted, ty.element_type().filter(|_| ty.is_tensor())) {
        (Some(wanted), Some(dtype)) if !wanted.is(dtype) => {
            Err(Refusal::broken(format!("`tensor_values.{name}.dtype` says {dtype}, and ATen gives {wanted} for these arguments")))
        }
        _ => Ok(()),
    }
}

/// Where a result goes.
enum Bound<'g> {
    Name(&'g str),
    /// The call gives `None` here; the result of type `none` only keeps the place.
    Nothing,
}

/// The types of an operator's results, lists flattened, and the names they get.
fn results<'g, 'c>(
    cx: Cx<'c>,
    scope: &Scope<'g, 'c>,
    schema: &'static Schema,
    node: &'g Node,
) -> Result<(Vec<Type<'c>>, Vec<Bound<'g>>), Refusal> {
    if schema.returns.len() != node.outputs.len() {
        let why = format!("`{}` returns {} values, and the node has {}", schema.name, schema.returns.len(), node.outputs.len());
        return Err(Refusal::broken(why));
    }
    let (mut types, mut bound) = (Vec::new(), Vec::new());
    for (returned, output) in schema.returns.iter().zip(&node.outputs) {
        let tensor = returned.ty.kind == Kind::Tensor;
        match output {
            Argument::AsTensor(value) if tensor && !returned.ty.list => {
                types.push(scope.ty(cx, output)?);
                bound.push(Bound::Name(&value.name));
            }
            Argument::AsNone(_) if tensor && !returned.ty.list => {
                types.push(cx.parse_type("none").ok_or_else(|| Refusal::broken("MLIR has no type `none`"))?);
                bound.push(Bound::Nothing);
            }
            Argument::AsTensors(values) if tensor && returned.ty.list => {
                for value in values {
                    types.push(super::types::tensor(cx, scope.meta(&value.name)?)?);
                    bound.push(Bound::Name(&value.name));
                }
            }
            Argument::AsSymInt(_) | Argument::AsSymFloat(_) | Argument::AsSymBool(_) if !tensor => {
                types.push(scope.ty(cx, output)?);
                let mut name = None;
                output.names(&mut |found| name = Some(found));
                bound.push(name.map_or(Bound::Nothing, Bound::Name));
            }
            other => return Err(Refusal::broken(format!("`{}` does not return a value of kind `{}`", schema.name, other.tag()))),
        }
    }
    Ok((types, bound))
}

/// Gives names to the results of a call whose outputs may be a flat list or one list of tensors.
fn bind<'g, 'c>(scope: &mut Scope<'g, 'c>, outputs: &'g [Argument], values: &[Value<'c>]) -> Result<(), Refusal> {
    let count = outputs.iter().map(|output| if let Argument::AsTensors(list) = output { list.len() } else { 1 }).sum::<usize>();
    if count != values.len() {
        return Err(Refusal::broken(format!("the call gives {} values, and the node has {count}", values.len())));
    }
    let mut values = values.iter().copied();
    for output in outputs {
        match output {
            Argument::AsTensors(list) => list.iter().zip(&mut values).for_each(|(tensor, value)| scope.define(&tensor.name, value)),
            Argument::AsNone(_) => drop(values.next()),
            output => {
                if let Some(value) = values.next() {
                    scope.bind(output, value)?;
                }
            }
        }
    }
    Ok(())
}
