//! Imports the nodes of a graph in their order: each becomes ops of `aten`, or values of the import.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use strata_core::ir::{self, Block, Cx, ElementType};
use strata_core::rewrite::Rewriter;
use strata_dialects::aten::{Input, Operator, Scalar, Size, op};

use super::call::{Arg, Call, d, i};
use super::data::{self, Data};
use super::error::{Eval, OnnxError, Stop};
use super::file::File;
use super::proto::{Attribute, Function, Graph, Model, Node, OperatorSet};
use super::value::{Known, Num, Value};
use super::{fold, table};
use crate::library::{self, Library};
use crate::operators::{Constant, Operators, emit};
use crate::types;

/// Ops of a model; those of loops that are unrolled count each time.
const MAX_OPS: u64 = 1 << 18;
/// Nodes of a model, those of loops that are unrolled and of functions each time.
const MAX_NODES: u64 = 1 << 18;
/// Functions and graphs in each other.
const MAX_DEPTH: u32 = 64;
/// Elements of a tensor that is known at import time element by element.
pub(super) const MAX_KNOWN: usize = 1 << 10;
/// The versions of ONNX's own operators that are read.
const VERSIONS: std::ops::RangeInclusive<i64> = 7..=28;

/// The versions of operators, by domain.
pub(super) type Versions<'p> = HashMap<&'p str, i64>;

/// What the import of a model shares.
pub(super) struct Importer<'p, 'c> {
    pub cx: Cx<'c>,
    pub builder: Rewriter<'c>,
    pub operators: &'p dyn Operators,
    /// Operators that the user registers.
    pub library: Option<&'p Library<'c>>,
    pub model: &'p Model,
    pub file: &'p File,
    /// The entry's block, whose arguments the weights become when they are first read.
    pub entry: Block<'c>,
    /// Weights in the order of their arguments, and the place of the first of these.
    pub weights: Vec<Rc<Data>>,
    pub first_weight: usize,
    /// Elements of inputs that the signature says, and those inputs whose elements were asked for.
    pub offered: HashMap<usize, Rc<Data>>,
    pub pinned: BTreeSet<usize>,
    known_weights: HashMap<*const Data, ir::Value<'c>>,
    ops: u64,
    nodes: u64,
    depth: u32,
}

/// The names that nodes see.
pub(super) struct Scope<'s, 'p, 'c> {
    pub values: HashMap<&'p str, Value<'c>>,
    /// The graph around this one, whose names are seen too.
    pub outer: Option<&'s Scope<'s, 'p, 'c>>,
    /// The attributes of the function around here.
    pub attrs: &'s HashMap<&'p str, &'p Attribute>,
    pub versions: &'s Versions<'p>,
}

impl<'c> Scope<'_, '_, 'c> {
    pub fn get(&self, name: &str) -> Option<&Value<'c>> {
        self.values.get(name).or_else(|| self.outer?.get(name))
    }
}

/// The versions that a model or function says.
pub(super) fn versions(imports: &[OperatorSet]) -> Result<Versions<'_>, OnnxError> {
    let mut versions = HashMap::new();
    for import in imports {
        let domain = domain(&import.domain);
        if domain.is_empty() && !VERSIONS.contains(&import.version) {
            let why = format!(
                "operators of version {} are not read, those of {} to {} are; convert the model with onnx.version_converter",
                import.version,
                VERSIONS.start(),
                VERSIONS.end()
            );
            return Err(OnnxError::part("opset_import", why));
        }
        versions.insert(domain, import.version);
    }
    Ok(versions)
}

/// ONNX's own domain has two names.
pub(super) fn domain(name: &str) -> &str {
    if name == "ai.onnx" { "" } else { name }
}

impl<'p, 'c> Importer<'p, 'c> {
    pub fn new(
        builder: Rewriter<'c>,
        entry: Block<'c>,
        (file, model): (&'p File, &'p Model),
        known: (&'p dyn Operators, Option<&'p Library<'c>>),
    ) -> Self {
        let first_weight = entry.args().len();
        Self {
            cx: builder.cx(),
            builder,
            operators: known.0,
            library: known.1,
            model,
            file,
            entry,
            weights: Vec::new(),
            first_weight,
            offered: HashMap::new(),
            pinned: BTreeSet::new(),
            known_weights: HashMap::new(),
            ops: 0,
            nodes: 0,
            depth: 0,
        }
    }

    // Graphs.

    /// Imports a graph in a scope that knows its inputs; gives its outputs.
    pub fn graph(&mut self, graph: &'p Graph, scope: &mut Scope<'_, 'p, 'c>) -> Eval<Vec<Value<'c>>> {
        self.nested(|importer| {
            importer.initializers(graph, scope)?;
            importer.nodes(&graph.node, scope)?;
            let output = |output: &super::proto::ValueInfo| {
                let found = scope.get(&output.name).cloned();
                found.ok_or_else(|| Stop::Here(format!("no node makes the output `{}` of graph `{}`", output.name, graph.name)))
            };
            graph.output.iter().map(output).collect()
        })
    }

    fn nested<T>(&mut self, body: impl FnOnce(&mut Self) -> Eval<T>) -> Eval<T> {
        if self.depth >= MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} graphs and functions stand in each other").into());
        }
        self.depth += 1;
        let result = body(self);
        self.depth -= 1;
        result
    }

    /// Tensors that a graph brings.
    fn initializers(&mut self, graph: &'p Graph, scope: &mut Scope<'_, 'p, 'c>) -> Result<(), OnnxError> {
        let about = |name: &str, why| OnnxError::part(format!("initializer `{name}`"), why);
        for tensor in &graph.initializer {
            let data = Data::read(self.file, tensor).map_err(|why| about(&tensor.name, why))?;
            scope.values.insert(&tensor.name, Value::Data(Rc::new(data)));
        }
        for sparse in &graph.sparse_initializer {
            let name = sparse.values.as_ref().map_or("", |values| values.name.as_str());
            let data = Data::read_sparse(self.file, sparse).map_err(|why| about(name, why))?;
            scope.values.insert(name, Value::Data(Rc::new(data)));
        }
        Ok(())
    }

    fn nodes(&mut self, nodes: &'p [Node], scope: &mut Scope<'_, 'p, 'c>) -> Result<(), OnnxError> {
        for node in nodes {
            let outer = self.builder.location();
            let location = self.cx.name_location(name(node), self.cx.unknown());
            self.builder.set_location(location);
            let outputs = self.node(node, scope).map_err(|stop| match stop {
                Stop::Refused(error) => error,
                Stop::Here(why) => OnnxError::Node { node: name(node).to_owned(), operator: operator(node), why },
            })?;
            self.builder.set_location(outer);
            for (name, value) in node.output.iter().zip(outputs).filter(|(name, _)| !name.is_empty()) {
                scope.values.insert(name, value);
            }
        }
        Ok(())
    }

    fn node(&mut self, node: &'p Node, scope: &Scope<'_, 'p, 'c>) -> Eval<Vec<Value<'c>>> {
        self.nodes += 1;
        if self.nodes > MAX_NODES || self.ops > MAX_OPS {
            return Err(format!("the model has more than {MAX_NODES} nodes or {MAX_OPS} operators when its loops are unrolled").into());
        }
        let input = |name: &String| match name.as_str() {
            "" => Ok(Value::Absent),
            name => scope.get(name).cloned().ok_or_else(|| Stop::Here(format!("its input `{name}` is made by no node before it"))),
        };
        let inputs = node.input.iter().map(input).collect::<Eval<Vec<_>>>()?;
        if let Some(function) = self.function(node) {
            return self.call_function(function, node, inputs, scope);
        }
        if let Some(function) = self.library.and_then(|library| library.find(&operator(node))) {
            return self.registered(function, node, &inputs);
        }
        let domain = domain(&node.domain);
        let version = scope.versions.get(domain).copied();
        let version = version.ok_or_else(|| format!("the model does not say which version of the domain `{}` it uses", node.domain))?;
        let row = table::find(domain, &node.op_type).ok_or_else(|| {
            format!("this operator is not imported, those of {} are; define it by others, as a function of the model or in a file of --operators", table::PAGE)
        })?;
        let mut call = Call { importer: self, node, scope, inputs, version };
        if let Some(value) = fold::folded(&mut call)? {
            return Ok(value);
        }
        let outputs = (row.build)(&mut call)?;
        let wanted = node.output.iter().rposition(|name| !name.is_empty()).map_or(0, |last| last + 1);
        if wanted > outputs.len() {
            return Err(format!("its output {} is not computed, only {} are", wanted - 1, outputs.len()).into());
        }
        Ok(outputs)
    }

    fn function(&self, node: &Node) -> Option<&'p Function> {
        let is = |function: &&Function| {
            domain(&function.domain) == domain(&node.domain) && function.name == node.op_type && function.overload == node.overload
        };
        self.model.functions.iter().find(is)
    }

    /// Imports the body of a registered operator, whose tensors are the node's inputs in order, and whose numbers are its attributes.
    fn registered(&mut self, function: ir::Op<'c>, node: &'p Node, inputs: &[Value<'c>]) -> Eval<Vec<Value<'c>>> {
        let Some(known) = self.library else { return Err("no operators are registered".into()) };
        let (mut args, mut next) = (Vec::new(), inputs.iter());
        for parameter in library::parameters(function) {
            if parameter.ty.is_tensor() {
                let input = next.next().ok_or("it has fewer inputs than its registered function takes")?;
                args.push(self.tensor(input)?);
                continue;
            }
            let name = parameter.name.ok_or("a number of its registered function has no `capture.name`")?;
            let attr = node.attribute.iter().find(|attr| attr.name == name);
            let attr = attr.ok_or_else(|| format!("it has no attribute `{name}`, which its registered function takes"))?;
            args.push(match parameter.ty {
                ty if ty.is_index() => self.builder.const_index(attr.i),
                ty if ty == self.cx.f64() => self.builder.const_float(ty, attr.f.into()),
                ty => self.builder.const_int(ty, attr.i),
            });
        }
        if next.next().is_some() {
            return Err("it has more inputs than its registered function takes".into());
        }
        Ok(library::inline(known, &mut self.builder, function, &args)?.into_iter().map(Value::Tensor).collect())
    }

    /// Imports the body of a function in the place of a call.
    fn call_function(
        &mut self,
        function: &'p Function,
        node: &'p Node,
        inputs: Vec<Value<'c>>,
        scope: &Scope<'_, 'p, 'c>,
    ) -> Eval<Vec<Value<'c>>> {
        if inputs.len() > function.input.len() {
            return Err(format!("{} inputs are given to a function of {}", inputs.len(), function.input.len()).into());
        }
        let mut attrs: HashMap<&str, &Attribute> = function.attribute_proto.iter().map(|attr| (attr.name.as_str(), attr)).collect();
        for attr in &node.attribute {
            match attr.ref_attr_name.as_str() {
                "" => drop(attrs.insert(&attr.name, attr)),
                outer => drop(scope.attrs.get(outer).map(|value| attrs.insert(&attr.name, value))),
            }
        }
        let versions = versions(&function.opset_import)?;
        let inputs = inputs.into_iter().chain(std::iter::repeat(Value::Absent));
        let values = function.input.iter().map(String::as_str).zip(inputs).collect();
        let mut inner = Scope { values, outer: None, attrs: &attrs, versions: &versions };
        self.nested(|importer| {
            importer.nodes(&function.node, &mut inner)?;
            let output = |name: &String| {
                let found = inner.get(name).cloned();
                found.ok_or_else(|| Stop::Here(format!("no node of function `{}` makes its output `{name}`", function.name)))
            };
            function.output.iter().map(output).collect()
        })
    }

    // Ops.

    /// Makes the op of an operator; its types are inferred.
    pub fn ops(&mut self, operator: Operator, inputs: &[Arg<'c>]) -> Eval<Vec<ir::Value<'c>>> {
        self.ops += 1;
        Ok(emit(&mut self.builder, self.operators, operator.schema(), inputs)?.results())
    }

    /// The same, of an operator with one result.
    pub fn op(&mut self, operator: Operator, inputs: &[Arg<'c>]) -> Eval<ir::Value<'c>> {
        let results = self.ops(operator, inputs)?;
        results.into_iter().next().ok_or_else(|| format!("`{operator}` gives nothing").into())
    }

    // Values.

    /// A value as a tensor of the program.
    pub fn tensor(&mut self, value: &Value<'c>) -> Eval<ir::Value<'c>> {
        match value {
            Value::Tensor(tensor) => Ok(*tensor),
            Value::Data(data) => self.data(data),
            Value::Known(known) => self.known_tensor(known),
            other => Err(format!("a tensor is wanted, and {} is given", other.kind()).into()),
        }
    }

    /// A tensor of the model: one element is written out, more are a weight.
    fn data(&mut self, data: &Rc<Data>) -> Eval<ir::Value<'c>> {
        if let Some(scalar) = scalar(data) {
            let sizes = data.shape.iter().map(|size| Size::Const(*size)).collect();
            return self.op(op::FULL, &[Some(Input::Ints(sizes)), Some(Input::Scalar(scalar)), d(data.dtype)]);
        }
        if data.count() == 0 {
            return self
                .op(op::FULL, &[Some(Input::Ints(data.shape.iter().map(|size| Size::Const(*size)).collect())), zero(), d(data.dtype)]);
        }
        if let Some(value) = self.known_weights.get(&Rc::as_ptr(data)) {
            return Ok(*value);
        }
        let ty = types::spelled(self.cx, &data.dtype.to_string(), &data.shape)?;
        let value = self.entry.add_arg(ty, self.cx.unknown());
        self.weights.push(Rc::clone(data));
        self.known_weights.insert(Rc::as_ptr(data), value);
        Ok(value)
    }

    fn known_tensor(&mut self, known: &Known<'c>) -> Eval<ir::Value<'c>> {
        if let Some(items) = known.ints() {
            let bytes = data::int_bytes(known.dtype, &items).ok_or_else(|| format!("{items:?} do not fit into {}", known.dtype))?;
            return self.data(&Rc::new(Data::inline("", known.dtype, &known.shape, bytes)));
        }
        let mut parts = Vec::new();
        for item in &known.items {
            let scalar = match item {
                Num::Int(value) => Scalar::Int(*value),
                Num::Value(value) => Scalar::Value(*value),
            };
            parts.push(self.op(op::SCALAR_TENSOR, &[Some(Input::Scalar(scalar)), d(known.dtype)])?);
        }
        if known.shape.is_empty() {
            return Ok(parts.remove(0));
        }
        let stacked = self.op(op::STACK, &[Some(Input::Tensors(parts))])?;
        let sizes = known.shape.iter().map(|size| Size::Const(*size)).collect();
        self.op(op::RESHAPE, &[Some(Input::Tensor(stacked)), Some(Input::Ints(sizes))])
    }

    /// The elements of a small tensor of integers or bool, where they are known at import time.
    pub fn known(&mut self, value: &Value<'c>) -> Option<Rc<Known<'c>>> {
        let of_ints = |dtype, shape: &[i64], items: Vec<i64>| {
            Rc::new(Known { dtype, shape: shape.to_vec(), items: items.into_iter().map(Num::Int).collect() })
        };
        match value {
            Value::Known(known) => Some(Rc::clone(known)),
            Value::Data(data) if data.is_known() && data.count() <= MAX_KNOWN => Some(of_ints(data.dtype, &data.shape, data.ints()?)),
            Value::Tensor(tensor) => {
                let constant = self.constant(*tensor)?;
                Some(of_ints(constant.dtype, &constant.shape, data::ints(constant.dtype, &constant.bytes)?))
            }
            _ => None,
        }
    }

    /// The elements of a small tensor of floats, where they are known.
    pub fn floats(&mut self, value: &Value<'c>) -> Option<Vec<f64>> {
        match value {
            Value::Data(data) if data.is_known() && data.count() <= MAX_KNOWN => data.floats(),
            Value::Tensor(tensor) => {
                let constant = self.constant(*tensor)?;
                data::floats(constant.dtype, &constant.bytes)
            }
            _ => None,
        }
    }

    /// The elements of a tensor of the program that depends on no input.
    fn constant(&mut self, tensor: ir::Value<'c>) -> Option<Constant> {
        if !tensor.ty().num_elements().is_some_and(|count| (0..=MAX_KNOWN as i64).contains(&count)) {
            return None;
        }
        let (entry, first, weights, offered) = (self.entry, self.first_weight, &self.weights, &self.offered);
        let asked = RefCell::new(BTreeSet::new());
        let argument = |value: ir::Value<'c>| {
            let place = Some(value.index()).filter(|_| value.owner_block() == Some(entry))?;
            if let Some(data) = offered.get(&place) {
                asked.borrow_mut().insert(place);
                return Some(data.constant());
            }
            Some(weights.get(place.checked_sub(first)?).filter(|data| data.is_known())?.constant())
        };
        let (constant, steps) = crate::fold::constant(self.operators, &argument, tensor);
        self.ops = self.ops.saturating_add(steps);
        if constant.is_some() {
            self.pinned.extend(asked.into_inner());
        }
        constant
    }

    /// A size of a tensor: known, or read at a call.
    pub fn size_of(&mut self, tensor: ir::Value<'c>, dim: usize) -> Num<'c> {
        match tensor.ty().shape().get(dim) {
            Some(size) if *size != ir::DYNAMIC => Num::Int(*size),
            _ => {
                let (index, place) = (self.cx.index(), self.cx.i64_attr(dim as i64));
                Num::Value(self.builder.value(op::SYM_SIZE_INT.name(), &[tensor], index, &[("dim", place)]))
            }
        }
    }

    /// All sizes of a value.
    pub fn sizes_of(&mut self, value: &Value<'c>) -> Eval<Vec<Num<'c>>> {
        Ok(match value {
            Value::Tensor(tensor) => (0..tensor.ty().rank()).map(|dim| self.size_of(*tensor, dim)).collect(),
            other => {
                let shape = other.shape().ok_or_else(|| format!("a tensor is wanted, and {} is given", other.kind()))?;
                shape.into_iter().map(Num::Int).collect()
            }
        })
    }

    /// The elements of a tensor of integers as numbers: known ones, sizes, or elements that are read at a call.
    pub fn numbers(&mut self, value: &Value<'c>) -> Eval<Vec<Num<'c>>> {
        if let Some(known) = self.known(value) {
            return Ok(known.items.clone());
        }
        let tensor = self.tensor(value)?;
        let ty = tensor.ty();
        let count = ty.num_elements().filter(|count| (0..=64).contains(count));
        let count = count.ok_or("a list of numbers comes in a tensor whose length only a call knows")?;
        let integers = ty.element_type().is_some_and(|dtype| dtype.is_integer() || dtype == ElementType::Bool);
        if !integers {
            return Err(format!("integers are wanted, and a tensor of type {ty} is given").into());
        }
        let flat = self.op(op::RESHAPE, &[Some(Input::Tensor(tensor)), Some(Input::Ints(vec![Size::Const(count)]))])?;
        let mut numbers = Vec::new();
        for place in 0..count {
            let element = self.op(op::SELECT_INT, &[Some(Input::Tensor(flat)), i(0), i(place)])?;
            numbers.push(Num::Value(self.op(op::ITEM, &[Some(Input::Tensor(element))])?));
        }
        Ok(numbers)
    }

    /// A condition, where it is known.
    pub fn truth(&mut self, value: &Value<'c>) -> Option<bool> {
        match self.known(value)?.ints()?[..] {
            [value] => Some(value != 0),
            _ => None,
        }
    }

    /// A condition as an `i1`.
    pub fn condition(&mut self, value: &Value<'c>) -> Eval<ir::Value<'c>> {
        let bool = self.cx.int(1);
        if let Value::Known(known) = value
            && let [item] = known.items[..]
        {
            match item {
                Num::Int(value) => return Ok(self.builder.const_int(bool, i64::from(value != 0))),
                Num::Value(value) if value.ty() == bool => return Ok(value),
                Num::Value(_) => {}
            }
        }
        let tensor = self.tensor(value)?;
        if tensor.ty().element_type() != Some(ElementType::Bool) || tensor.ty().num_elements() != Some(1) {
            return Err(format!("a condition of type {} is no bool", tensor.ty()).into());
        }
        self.op(op::ITEM, &[Some(Input::Tensor(tensor))])
    }

    /// A tensor in a type that knows more or fewer of its sizes.
    pub fn retyped(&mut self, value: ir::Value<'c>, ty: ir::Type<'c>) -> Eval<ir::Value<'c>> {
        let op = strata_dialects::aten::build(&mut self.builder, op::ALIAS.schema(), &[Some(Input::Tensor(value))], &[ty]);
        Ok(op.map_err(|error| error.to_string())?.result(0))
    }
}

fn zero<'c>() -> Arg<'c> {
    Some(Input::Scalar(Scalar::Int(0)))
}

/// The number of a tensor of one element, where an attribute can hold it.
fn scalar<'c>(data: &Data) -> Option<Scalar<'c>> {
    if data.count() != 1 || !data.is_known() {
        return None;
    }
    if let Some(values) = data.ints() {
        let value = *values.first()?;
        // The least integer has another meaning in the IR.
        return Some(if data.dtype == ElementType::Bool { Scalar::Bool(value != 0) } else { Scalar::Int(value) })
            .filter(|_| value != i64::MIN);
    }
    Some(Scalar::Float(*data.floats()?.first()?))
}

/// What a node is called in messages.
fn name(node: &Node) -> &str {
    if node.name.is_empty() { node.output.iter().find(|name| !name.is_empty()).map_or("", String::as_str) } else { &node.name }
}

fn operator(node: &Node) -> String {
    if domain(&node.domain).is_empty() { node.op_type.clone() } else { format!("{}.{}", node.domain, node.op_type) }
}
