//! The record of a closure as a module of the capture and aten levels.

use std::panic::Location;

use strata_core::ir::{Block, Context, Cx, DYNAMIC, Module, OpSpec, Type, Value};
use strata_core::registry::load_dialect;
use strata_core::rewrite::Rewriter;
use strata_core::upstream::{arith, scf, tensor};
use strata_dialects::aten::{self, Input as AtenInput, Operator, Scalar as AtenScalar, Size as AtenSize, op};
use strata_dialects::capture;
use strata_driver::{element_type, standard};
use strata_frontend::{Input as EntryInput, InputKind, Output, function};
use strata_runtime::guards::{Guard, LEAST, Size as Assumed};

use crate::argument::Scalar;
use crate::graph::{Arithmetic, Body, Graph, Input, Node, Number, Source, Ty};

/// Loads what a record needs.
pub(crate) fn load(context: &Context) {
    for dialect in ["func", "arith", "scf", "tensor", "capture", "prim"] {
        load_dialect(context, dialect);
    }
    for dialect in aten::OPERATORS {
        load_dialect(context, dialect.name);
    }
}

pub(crate) fn type_of<'c>(cx: Cx<'c>, ty: &Ty) -> Type<'c> {
    match ty {
        Ty::Tensor(dtype, sizes) => cx.tensor(sizes, cx.element(element_type(*dtype))),
        Ty::Index => cx.index(),
        Ty::Float => cx.f64(),
    }
}

pub(crate) fn values(input: &Input, see: &mut impl FnMut(usize)) {
    let number = |number: &Number, see: &mut dyn FnMut(usize)| {
        if let Number::Value(value) = number {
            see(*value);
        }
    };
    match input {
        Input::Tensor(value) | Input::Number(value) => see(*value),
        Input::Tensors(values) => values.iter().for_each(|value| see(*value)),
        Input::OptionalTensors(values) => values.iter().flatten().for_each(|value| see(*value)),
        Input::Size(size) => number(size, see),
        Input::Sizes(sizes) => sizes.iter().for_each(|size| number(size, see)),
        _ => {}
    }
}

/// An argument as the op takes it; nothing where it reads a value that is not there.
pub(crate) fn given<'c>(input: &Input, known: &impl Fn(usize) -> Option<Value<'c>>) -> Option<Option<aten::Input<'c>>> {
    let size = |number: &Number| match number {
        Number::Known(size) => Some(AtenSize::Const(*size)),
        Number::Value(value) => known(*value).map(AtenSize::Value),
    };
    Some(Some(match input {
        Input::Default => return Some(None),
        Input::None => aten::Input::None,
        Input::Tensor(value) => aten::Input::Tensor(known(*value)?),
        Input::Tensors(values) => aten::Input::Tensors(values.iter().map(|value| known(*value)).collect::<Option<_>>()?),
        Input::OptionalTensors(values) => {
            let value = |value: &Option<usize>| value.map_or(Some(None), |value| known(value).map(Some));
            aten::Input::OptTensors(values.iter().map(value).collect::<Option<_>>()?)
        }
        Input::Size(number) => aten::Input::Int(size(number)?),
        Input::Sizes(sizes) => aten::Input::Ints(sizes.iter().map(size).collect::<Option<_>>()?),
        Input::Scalar(Scalar::Int(value)) => aten::Input::Scalar(AtenScalar::Int(*value)),
        Input::Scalar(Scalar::Float(value)) => aten::Input::Scalar(AtenScalar::Float(*value)),
        Input::Scalar(Scalar::Bool(value)) => aten::Input::Scalar(AtenScalar::Bool(*value)),
        Input::Number(value) => aten::Input::Scalar(AtenScalar::Value(known(*value)?)),
        Input::Floats(values) => aten::Input::Floats(values.clone()),
        Input::Text(text) => aten::Input::Str(text.clone()),
        Input::DType(dtype) => aten::Input::DType(element_type(*dtype)),
    }))
}

fn input_name(place: usize) -> String {
    format!("in_{place}")
}

/// The name of the weight of a place.
pub(crate) fn weight_name(place: usize) -> String {
    format!("weight_{place}")
}

/// The tensors that the nodes from `from` on read of those before.
pub(crate) fn read_of_before(graph: &Graph, from: usize, outputs: &[usize]) -> Vec<usize> {
    let made = graph.nodes[..from].iter().filter(|node| !matches!(node.source, Source::Arithmetic(..)));
    let made: Vec<_> = made.flat_map(|node| node.first..node.first + node.count).collect();
    let mut read = Vec::new();
    let mut see = |value: usize| {
        if made.contains(&value) && !read.contains(&value) {
            read.push(value);
        }
    };
    graph.nodes[from..].iter().for_each(|node| reads(node, &mut see));
    outputs.iter().for_each(|value| see(*value));
    read.retain(|value| matches!(graph.types[*value], Ty::Tensor(..)));
    read
}

/// The values that a node reads, and the nodes of its bodies.
fn reads(node: &Node, see: &mut dyn FnMut(usize)) {
    if let Source::Operator(_, inputs) = &node.source {
        inputs.iter().for_each(|input| values(input, &mut |value| see(value)));
    }
    node.source.starts().iter().for_each(|value| see(*value));
    for body in node.source.bodies() {
        body.nodes.iter().for_each(|node| reads(node, see));
        body.gives.iter().for_each(|value| see(*value));
    }
}

/// The nodes of a record from `from` on as text of the capture and aten levels, with these values as results; `read` are tensors of before.
/// The last results are new values of the inputs `changes`.
pub(crate) fn text(graph: &Graph, from: usize, read: &[usize], outputs: &[usize], changes: &[usize]) -> Result<String, String> {
    let context = standard().pooled_context();
    load(&context);
    let cx: Cx<'_> = (&*context).into();
    let module = Module::new(cx);
    let inputs = 0..graph.inputs.len();
    let taken: Vec<usize> = inputs.chain(read.iter().copied()).collect();
    let places: Vec<usize> = taken.iter().copied().chain(graph.weights.iter().map(|(value, _)| *value)).collect();
    let types: Vec<_> = places.iter().map(|value| type_of(cx, &graph.types[*value])).collect();
    let (function, block) = function::begin(cx, module.body(), &types);
    let mut builder = Rewriter::at_end(block, cx.unknown());
    let mut values: Vec<Option<Value<'_>>> = vec![None; graph.types.len()];
    for (value, argument) in places.iter().zip(block.args()) {
        values[*value] = Some(argument);
    }
    symbols(&mut builder, graph, &mut values);
    read.iter().filter_map(|value| Some((*value, values[*value]?))).for_each(|(value, tensor)| sizes_of(&mut builder, value, tensor));
    let mut program = Program { graph, builder, values };
    // Sizes are computed where they are read.
    program.nodes(&graph.nodes, from)?;
    let Program { mut builder, values, .. } = program;
    let input = |place: &usize| EntryInput { name: input_name(*place), kind: InputKind::Input };
    let mut described: Vec<_> = taken.iter().map(input).collect();
    for (place, (_, weight)) in graph.weights.iter().enumerate() {
        let kind = if weight.dtype().is_floating() { InputKind::Parameter } else { InputKind::Constant };
        described.push(EntryInput { name: weight_name(place), kind });
    }
    let new = changes.iter().map(|input| Output::Mutation { name: input_name(*input) });
    let kinds = std::iter::repeat_n(Output::Value, outputs.len().saturating_sub(changes.len())).chain(new);
    let results = outputs.iter().zip(kinds).map(|(value, kind)| Some((values[*value]?, kind))).collect::<Option<Vec<_>>>();
    function::finish(&mut builder, function, block, &described, &results.ok_or("a result is not known")?);
    if !module.op().verify() {
        return Err(format!("the record does not verify: {module}"));
    }
    Ok(module.op().to_text_with_locations())
}

/// A module that is being made.
struct Program<'g, 'c> {
    graph: &'g Graph,
    builder: Rewriter<'c>,
    /// What the record's values are, of those that are made.
    values: Vec<Option<Value<'c>>>,
}

impl<'c> Program<'_, 'c> {
    /// Makes the ops of nodes. Of those before `from` only arithmetic is made, where what it reads is there.
    fn nodes(&mut self, nodes: &[Node], from: usize) -> Result<(), String> {
        for (place, node) in nodes.iter().enumerate() {
            if place < from && !matches!(node.source, Source::Arithmetic(..)) {
                continue;
            }
            let cx = self.builder.cx();
            self.builder.set_location(cx.file_location(node.place.file(), node.place.line(), node.place.column()));
            let types: Vec<_> = self.graph.types[node.first..][..node.count].iter().map(|ty| type_of(cx, ty)).collect();
            let results = match &node.source {
                Source::Operator(operator, inputs) => {
                    let known = |value: usize| self.values[value];
                    let inputs = inputs.iter().map(|input| given(input, &known)).collect::<Option<Vec<_>>>();
                    self.operator(*operator, &inputs.ok_or("a value is not known")?, &types)?
                }
                Source::Arithmetic(on, a, b) => match (self.number(a), self.number(b)) {
                    (Some(a), Some(b)) => vec![self.arithmetic(*on, a, b)],
                    _ if place < from => continue,
                    _ => {
                        let why = "a size of a tensor that was made before a break is read behind it; read it off the tensor again";
                        return Err(why.to_owned());
                    }
                },
                Source::If { when, branches } => self.branch(*when, branches, &types)?,
                Source::While { start, test, step } => self.repeat(start, test, step, &types)?,
                Source::For { counts, start, body } => self.rows((counts, node.place), start, body, &types)?,
            };
            for (place, result) in results.into_iter().enumerate() {
                self.values[node.first + place] = Some(result);
            }
        }
        Ok(())
    }

    fn operator(&mut self, operator: Operator, inputs: &[Option<AtenInput<'c>>], types: &[Type<'c>]) -> Result<Vec<Value<'c>>, String> {
        let op = aten::build(&mut self.builder, operator.schema(), inputs, types).map_err(|error| error.to_string())?;
        Ok(op.results())
    }

    fn number(&mut self, number: &Number) -> Option<Value<'c>> {
        match number {
            Number::Known(size) => Some(self.builder.const_index(*size)),
            Number::Value(value) => self.values[*value],
        }
    }

    fn arithmetic(&mut self, on: Arithmetic, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        let name = match on {
            Arithmetic::Add => arith::AddI::NAME,
            Arithmetic::Sub => arith::SubI::NAME,
            Arithmetic::Mul => arith::MulI::NAME,
            Arithmetic::FloorDiv => arith::FloorDivSI::NAME,
        };
        self.builder.value(name, &[a, b], a.ty(), &[])
    }

    /// Values in types that may know fewer of their sizes.
    fn fitted(&mut self, values: &[usize], types: &[Type<'c>]) -> Result<Vec<Value<'c>>, String> {
        let mut fitted = Vec::new();
        for (value, ty) in values.iter().zip(types) {
            let value = self.values[*value].ok_or("a value is not known")?;
            fitted.push(if value.ty() == *ty { value } else { tensor::cast(&mut self.builder, value, *ty) });
        }
        Ok(fitted)
    }

    /// The one element of a tensor of bools.
    fn truth(&mut self, value: usize) -> Result<Value<'c>, String> {
        let tensor = self.values[value].ok_or("a value is not known")?;
        let bool = self.builder.cx().int(1);
        Ok(self.operator(op::ITEM, &[Some(AtenInput::Tensor(tensor))], &[bool])?.remove(0))
    }

    /// The nodes of a body in a block, which ends as `end` says.
    fn body(&mut self, body: &Body, block: Block<'c>, end: impl FnOnce(&mut Self) -> Result<(), String>) -> Result<(), String> {
        let (around, location) = (self.builder.insertion_block(), self.builder.location());
        self.builder.set_at_end(block);
        for (value, argument) in body.arguments.clone().zip(block.args()) {
            self.values[value] = Some(argument);
        }
        self.nodes(&body.nodes, 0)?;
        self.builder.set_location(location);
        end(self)?;
        if let Some(around) = around {
            self.builder.set_at_end(around);
        }
        Ok(())
    }

    fn branch(&mut self, when: usize, branches: &[Body; 2], types: &[Type<'c>]) -> Result<Vec<Value<'c>>, String> {
        let when = self.truth(when)?;
        let (op, blocks) = scf::branches(&mut self.builder, when, types);
        for (body, block) in branches.iter().zip(blocks) {
            self.body(body, block, |program| {
                let values = program.fitted(&body.gives, types)?;
                scf::yield_(&mut program.builder, &values);
                Ok(())
            })?;
        }
        Ok(op.results())
    }

    fn repeat(&mut self, start: &[usize], test: &Body, step: &Body, types: &[Type<'c>]) -> Result<Vec<Value<'c>>, String> {
        let operands = self.fitted(start, types)?;
        let op = self.builder.op(OpSpec { name: scf::While::NAME, operands: &operands, results: types, regions: 2, ..OpSpec::default() });
        let block = self.builder.add_block(op.region(0), types);
        self.body(test, block, |program| {
            let holds = program.truth(test.gives[0])?;
            scf::condition(&mut program.builder, holds, &block.args());
            Ok(())
        })?;
        let block = self.builder.add_block(op.region(1), types);
        self.body(step, block, |program| {
            let next = program.fitted(&step.gives, types)?;
            scf::yield_(&mut program.builder, &next);
            Ok(())
        })?;
        Ok(op.results())
    }

    /// A loop over rows; what it gives at each step is collected in tensors that start empty.
    fn rows(
        &mut self,
        (counts, place): (&[Number], &Location<'_>),
        start: &[usize],
        body: &Body,
        types: &[Type<'c>],
    ) -> Result<Vec<Value<'c>>, String> {
        let index = self.builder.cx().index();
        let counts = counts.iter().map(|count| self.number(count)).collect::<Option<Vec<_>>>().ok_or("a size is not known")?;
        for other in &counts[1..] {
            let same = arith::cmpi(&mut self.builder, arith::CmpIPredicate::Eq, counts[0], *other);
            let text = self.builder.cx().str_attr(&format!("{place}: `scan`: its tensors have {{0}} rows and {{1}}"));
            self.builder.effect(capture::Guard::NAME, &[same, counts[0], *other], &[("text", text)]);
        }
        let carried = start.len();
        let mut operands = vec![self.builder.const_index(0), counts[0], self.builder.const_index(1)];
        operands.extend(self.fitted(start, types)?);
        operands.extend(self.collectors(body, &operands[3..], counts[0], &types[carried..])?);
        let op = self.builder.op(OpSpec { name: scf::For::NAME, operands: &operands, results: types, regions: 1, ..OpSpec::default() });
        let block = self.builder.add_block(op.region(0), &[&[index], types].concat());
        self.body(body, block, |program| {
            let mut next = program.fitted(&body.gives, &types[..carried])?;
            for (row, whole) in body.gives[carried..].iter().zip(&block.args()[1 + carried..]) {
                let row = program.values[*row].ok_or("a value is not known")?;
                let place = AtenInput::Int(AtenSize::Value(block.arg(0)));
                let inputs = [AtenInput::Tensor(*whole), AtenInput::Tensor(row), AtenInput::Int(AtenSize::Const(0)), place];
                next.extend(program.operator(op::SELECT_SCATTER, &inputs.map(Some), &[whole.ty()])?);
            }
            scf::yield_(&mut program.builder, &next);
            Ok(())
        })?;
        Ok(op.results())
    }

    /// Empty tensors for the rows of all steps. Sizes of a row that only a call knows are those of a first step's, of which nothing else is
    /// used.
    fn collectors(&mut self, body: &Body, start: &[Value<'c>], count: Value<'c>, types: &[Type<'c>]) -> Result<Vec<Value<'c>>, String> {
        let rows = &body.gives[start.len()..];
        if types.iter().any(|ty| ty.shape()[1..].contains(&DYNAMIC)) {
            let first = self.builder.const_index(0);
            for (value, given) in body.arguments.clone().zip([&[first], start].concat()) {
                self.values[value] = Some(given);
            }
            self.nodes(&body.nodes, 0)?;
        }
        let mut collectors = Vec::new();
        for (row, ty) in rows.iter().zip(types) {
            let shape = ty.shape();
            let mut sizes = vec![if shape[0] == DYNAMIC { AtenSize::Value(count) } else { AtenSize::Const(shape[0]) }];
            for (dim, size) in shape[1..].iter().enumerate() {
                if *size != DYNAMIC {
                    sizes.push(AtenSize::Const(*size));
                    continue;
                }
                let row = self.values[*row].ok_or("a value is not known")?;
                let inputs = [AtenInput::Tensor(row), AtenInput::Int(AtenSize::Const(dim as i64))];
                let index = self.builder.cx().index();
                sizes.push(AtenSize::Value(self.operator(op::SYM_SIZE_INT, &inputs.map(Some), &[index])?.remove(0)));
            }
            let element = ty.element_type().ok_or("a row has no element type")?;
            let inputs = [Some(AtenInput::Ints(sizes)), Some(AtenInput::DType(element))];
            collectors.extend(self.operator(op::EMPTY_MEMORY_FORMAT, &inputs, &[*ty])?);
        }
        Ok(collectors)
    }
}

/// The sizes of a tensor of before that only a call knows.
fn sizes_of<'c>(builder: &mut Rewriter<'c>, value: usize, tensor: Value<'c>) {
    let cx = builder.cx();
    let dims = tensor.ty().shape().into_iter().enumerate().filter(|(_, size)| *size == DYNAMIC);
    for (dim, _) in dims {
        let attrs = [
            ("dim", cx.i64_attr(dim as i64)),
            ("symbol", cx.str_attr(&format!("t{value}_{dim}"))),
            ("min", cx.i64_attr(0)),
            ("max", cx.i64_attr(i64::MAX)),
        ];
        builder.value(capture::Dim::NAME, &[tensor], cx.index(), &attrs);
    }
}

/// The sizes of the call, and which of them are equal.
fn symbols<'c>(builder: &mut Rewriter<'c>, graph: &Graph, values: &mut [Option<Value<'c>>]) {
    let cx = builder.cx();
    let inputs = graph.inputs.iter().enumerate();
    let sizes = |guard: &Guard| if let Guard::Tensor { sizes, .. } = guard { sizes.clone() } else { Vec::new() };
    for (place, guard) in inputs {
        let Some(argument) = values[place] else { continue };
        let (mut operands, mut shape, mut repeated) = (vec![argument], Vec::new(), false);
        for (dim, size) in sizes(guard).into_iter().enumerate() {
            let symbol = match size {
                Assumed::Fixed(size) => {
                    shape.push(cx.constant(size));
                    continue;
                }
                Assumed::Symbol(symbol) => symbol,
            };
            repeated |= values[graph.symbols[symbol]].is_some();
            let value = values[graph.symbols[symbol]].unwrap_or_else(|| {
                let attrs = [
                    ("dim", cx.i64_attr(dim as i64)),
                    ("symbol", cx.str_attr(&format!("s{symbol}"))),
                    ("min", cx.i64_attr(LEAST)),
                    ("max", cx.i64_attr(i64::MAX)),
                ];
                builder.value(capture::Dim::NAME, &[argument], cx.index(), &attrs)
            });
            values[graph.symbols[symbol]] = Some(value);
            let position = operands.iter().skip(1).position(|known| *known == value).unwrap_or_else(|| {
                operands.push(value);
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
