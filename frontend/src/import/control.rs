//! Higher-order operators as structured control flow: `cond`, `while_loop`, `scan`, `associative_scan` and `map`; regions without
//! gradients or automatic casts are their bodies.
//!
//! A loop over rows reads row `i` with `aten.select.int` and collects results with `aten.select_scatter` into a
//! tensor that starts as `aten.empty`.

use strata_core::ir::{Block, Op, OpSpec, Type, Value};
use strata_core::upstream::{arith, scf, tensor};
use strata_dialects::aten::{self, Input, Operator, Size, op};
use strata_dialects::capture::{CustomGradient, Yield, has_cotangent};

use super::{
    autocast,
    error::{ImportError, Refusal},
    node::Importer,
    scope::Scope,
    types,
};
use crate::pt2::{
    argument::{Argument, NamedGraph},
    schema::Node,
};

/// What can go wrong in here: something about this call, or about a node of a nested graph.
pub(super) enum Problem {
    Here(Refusal),
    Inside(ImportError),
}

impl Problem {
    /// Blames the call for what is wrong with itself.
    pub fn blame(self, blame: impl FnOnce(Refusal) -> ImportError) -> ImportError {
        match self {
            Self::Here(refusal) => blame(refusal),
            Self::Inside(error) => error,
        }
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        Self::Here(refusal)
    }
}

impl From<ImportError> for Problem {
    fn from(error: ImportError) -> Self {
        Self::Inside(error)
    }
}

/// Imports the call of a higher-order operator; gives its results.
pub(super) fn import<'c>(importer: &mut Importer<'c>, scope: &Scope<'_, 'c>, node: &Node, name: &str) -> Result<Vec<Value<'c>>, Problem> {
    let args: Vec<_> = node.inputs.iter().map(|input| &input.arg).collect();
    match (name, args.as_slice()) {
        ("cond", [when, Argument::AsGraph(yes), Argument::AsGraph(no), values]) => {
            let operands = operands(importer, scope, values)?;
            cond(importer, scope, node, when, [yes, no], &operands)
        }
        ("while_loop", [Argument::AsGraph(cond), Argument::AsGraph(body), carried, extra]) => {
            let (carried, extra) = (operands(importer, scope, carried)?, operands(importer, scope, extra)?);
            while_loop(importer, scope, node, [cond, body], &carried, &extra)
        }
        ("scan", [Argument::AsGraph(body), init, rows, extra]) => {
            let (init, rows, extra) =
                (operands(importer, scope, init)?, operands(importer, scope, rows)?, operands(importer, scope, extra)?);
            for_rows(importer, scope, node, body, &init, &rows, &extra)
        }
        ("associative_scan", [Argument::AsGraph(body), rows, extra]) => {
            let (rows, extra) = (operands(importer, scope, rows)?, operands(importer, scope, extra)?);
            running(importer, scope, node, body, &rows, &extra)
        }
        ("map_impl", [Argument::AsGraph(body), rows, extra]) => {
            let (rows, extra) = (operands(importer, scope, rows)?, operands(importer, scope, extra)?);
            for_rows(importer, scope, node, body, &[], &rows, &extra)
        }
        ("wrap_with_set_grad_enabled", [Argument::AsBool(enabled), Argument::AsGraph(body), operands @ ..]) => {
            let results = inlined(importer, scope, node, body, operands)?;
            if *enabled {
                Ok(results)
            } else {
                Ok(results.into_iter().map(|result| detached(importer, result)).collect::<Result<_, _>>()?)
            }
        }
        ("wrap_with_autocast", [device, dtype, Argument::AsBool(enabled), _, Argument::AsGraph(body), operands @ ..]) => {
            autocast::region(importer, scope, node, (device, dtype, *enabled), (body, operands))
        }
        ("custom_gradient", [Argument::AsGraph(backward), results, arguments]) => {
            let (results, arguments) = (operands(importer, scope, results)?, operands(importer, scope, arguments)?);
            custom_gradient(importer, backward, &results, &arguments)
        }
        ("cond" | "while_loop" | "scan" | "associative_scan" | "map_impl" | "custom_gradient", _) => {
            Err(Refusal::broken(format!("`{name}` has other arguments than graphs and lists of tensors")).into())
        }
        _ => Err(Refusal::unsupported(format!("the higher-order operator `{name}` is not imported")).into()),
    }
}

/// The body of a region that only says how gradients or casts are made, in the call's place.
pub(super) fn inlined<'c>(
    importer: &mut Importer<'c>,
    scope: &Scope<'_, 'c>,
    node: &Node,
    body: &NamedGraph,
    operands: &[&Argument],
) -> Result<Vec<Value<'c>>, Problem> {
    let inputs = operands.iter().map(|operand| scope.number_or_tensor(&mut importer.builder, operand)).collect::<Result<Vec<_>, _>>()?;
    let outputs = importer.graph(&body.graph, &inputs)?;
    let types = result_types(importer, scope, node)?;
    Ok(importer.fit_all(&outputs, &types)?)
}

/// A tensor that no gradient goes through, as those of a region without gradients.
fn detached<'c>(importer: &mut Importer<'c>, value: Value<'c>) -> Result<Value<'c>, Refusal> {
    let floats = value.ty().is_tensor() && value.ty().element_type().is_some_and(|dtype| dtype.is_float() || dtype.is_complex());
    if !floats {
        return Ok(value);
    }
    let made = aten::build(&mut importer.builder, op::DETACH.schema(), &[Some(Input::Tensor(value))], &[value.ty()]);
    Ok(made.map_err(|error| Refusal::broken(error.to_string()))?.result(0))
}

/// The values that a region is given.
fn operands<'c>(importer: &mut Importer<'c>, scope: &Scope<'_, 'c>, argument: &Argument) -> Result<Vec<Value<'c>>, Refusal> {
    let builder = &mut importer.builder;
    match argument {
        Argument::AsTensors(list) => list.iter().map(|tensor| scope.get(&tensor.name)).collect(),
        Argument::AsInts(list) if list.is_empty() => Ok(Vec::new()),
        Argument::AsSymInts(list) => list.iter().map(|number| scope.number(builder, &Argument::AsSymInt(number.clone()))).collect(),
        Argument::AsValues(list) => list.iter().map(|value| scope.number_or_tensor(builder, value)).collect(),
        other => Err(Refusal::unsupported(format!("a list of tensors is expected, not `{}`", other.tag()))),
    }
}

/// The types that the archive gives to the call's outputs.
fn result_types<'c>(importer: &Importer<'c>, scope: &Scope<'_, 'c>, node: &Node) -> Result<Vec<Type<'c>>, Refusal> {
    let mut result = Vec::new();
    for output in &node.outputs {
        match output {
            Argument::AsTensors(list) => {
                for tensor in list {
                    result.push(types::tensor(importer.cx, scope.meta(&tensor.name)?)?);
                }
            }
            output => result.push(scope.ty(importer.cx, output)?),
        }
    }
    Ok(result)
}

impl<'c> Importer<'c> {
    /// The value as `ty`, which may know more or fewer sizes.
    fn fit(&mut self, value: Value<'c>, ty: Type<'c>) -> Result<Value<'c>, Refusal> {
        let from = value.ty();
        if from == ty {
            return Ok(value);
        }
        let agree = |(a, b): (&i64, &i64)| a == b || *a == strata_core::ir::DYNAMIC || *b == strata_core::ir::DYNAMIC;
        let same = from.is_tensor() && ty.is_tensor() && from.rank() == ty.rank() && from.element() == ty.element();
        if !same || !from.shape().iter().zip(&ty.shape()).all(agree) {
            return Err(Refusal::broken(format!("a value of type {from} stands where {ty} is expected")));
        }
        Ok(tensor::cast(&mut self.builder, value, ty))
    }

    fn fit_all(&mut self, values: &[Value<'c>], types: &[Type<'c>]) -> Result<Vec<Value<'c>>, Refusal> {
        if values.len() != types.len() {
            return Err(Refusal::broken(format!("a nested graph gives {} values where {} are expected", values.len(), types.len())));
        }
        values.iter().zip(types).map(|(value, ty)| self.fit(*value, *ty)).collect()
    }

    /// Imports a nested graph into a block that ends in `terminator` with the graph's outputs as `types`.
    fn body(&mut self, block: Block<'c>, graph: &NamedGraph, inputs: &[Value<'c>], types: &[Type<'c>]) -> Result<(), Problem> {
        self.inside(block, |importer| {
            let outputs = importer.graph(&graph.graph, inputs)?;
            let outputs = importer.fit_all(&outputs, types)?;
            scf::yield_(&mut importer.builder, &outputs);
            Ok(())
        })
    }

    /// Runs `import` with the builder at the end of `block`.
    fn inside<R>(&mut self, block: Block<'c>, import: impl FnOnce(&mut Self) -> R) -> R {
        let location = self.builder.location();
        let outer = std::mem::replace(&mut self.builder, strata_core::rewrite::Rewriter::at_end(block, location));
        let result = import(self);
        self.builder = outer;
        result
    }

    /// A condition as `i1`: a symbolic one, or the element of a tensor.
    fn condition(&mut self, value: Value<'c>) -> Result<Value<'c>, Refusal> {
        let bool = self.cx.int(1);
        if value.ty() == bool {
            return Ok(value);
        }
        if !value.ty().is_tensor() || value.ty().element() != bool || value.ty().num_elements() != Some(1) {
            return Err(Refusal::unsupported(format!("a condition of type {} is no bool", value.ty())));
        }
        Ok(self.builder.value(op::ITEM.name(), &[value], bool, &[]))
    }

    fn structured(&mut self, name: &str, operands: &[Value<'c>], results: &[Type<'c>], regions: usize) -> Op<'c> {
        self.builder.op(OpSpec { name, operands, results, regions, ..OpSpec::default() })
    }
}

fn cond<'c>(
    importer: &mut Importer<'c>,
    scope: &Scope<'_, 'c>,
    node: &Node,
    when: &Argument,
    branches: [&NamedGraph; 2],
    operands: &[Value<'c>],
) -> Result<Vec<Value<'c>>, Problem> {
    let types = result_types(importer, scope, node)?;
    let when = scope.number_or_tensor(&mut importer.builder, when)?;
    let when = importer.condition(when)?;
    let op = importer.structured(scf::If::NAME, &[when], &types, 2);
    for (region, branch) in branches.into_iter().enumerate() {
        let block = importer.builder.add_block(op.region(region), &[]);
        importer.body(block, branch, operands, &types)?;
    }
    Ok(op.results())
}

/// `custom_gradient`: the results, whose gradient is a nested graph of the arguments, the results and their cotangents.
fn custom_gradient<'c>(
    importer: &mut Importer<'c>,
    backward: &NamedGraph,
    results: &[Value<'c>],
    arguments: &[Value<'c>],
) -> Result<Vec<Value<'c>>, Problem> {
    if results.iter().any(|result| !result.ty().is_tensor()) {
        return Err(Refusal::broken("it gives a gradient to what is no tensor").into());
    }
    let cotangents: Vec<_> = arguments.iter().map(|argument| argument.ty()).filter(|ty| has_cotangent(*ty)).collect();
    let (op, block) = CustomGradient::begin(&mut importer.builder, results, arguments);
    importer.inside(block, |importer| {
        let outputs = importer.graph(&backward.graph, &block.args())?;
        let outputs = importer.fit_all(&outputs, &cotangents)?;
        importer.builder.effect(Yield::NAME, &outputs, &[]);
        Ok::<_, Problem>(())
    })?;
    Ok(op.results())
}

fn while_loop<'c>(
    importer: &mut Importer<'c>,
    scope: &Scope<'_, 'c>,
    node: &Node,
    [cond, body]: [&NamedGraph; 2],
    carried: &[Value<'c>],
    extra: &[Value<'c>],
) -> Result<Vec<Value<'c>>, Problem> {
    let types = result_types(importer, scope, node)?;
    let carried = importer.fit_all(carried, &types)?;
    let op = importer.structured(scf::While::NAME, &carried, &types, 2);
    let before = importer.builder.add_block(op.region(0), &types);
    let inputs = [before.args(), extra.to_vec()].concat();
    importer.inside(before, |importer| {
        let outputs = importer.graph(&cond.graph, &inputs)?;
        let [output] = outputs[..] else {
            return Err(Problem::Here(Refusal::broken(format!("the condition gives {} values", outputs.len()))));
        };
        let condition = importer.condition(output)?;
        scf::condition(&mut importer.builder, condition, &before.args());
        Ok(())
    })?;
    let after = importer.builder.add_block(op.region(1), &types);
    let inputs = [after.args(), extra.to_vec()].concat();
    importer.body(after, body, &inputs, &types)?;
    Ok(op.results())
}

/// `scan` (and `map`, which carries nothing): the body sees the carried values, one row of each of `rows`, and
/// `extra`; it gives the next carried values and one row for each further result.
fn for_rows<'c>(
    importer: &mut Importer<'c>,
    scope: &Scope<'_, 'c>,
    node: &Node,
    body: &NamedGraph,
    init: &[Value<'c>],
    rows: &[Value<'c>],
    extra: &[Value<'c>],
) -> Result<Vec<Value<'c>>, Problem> {
    let results = result_types(importer, scope, node)?;
    let Some(first) = rows.first() else {
        return Err(Refusal::broken("a loop over rows has no rows to go over").into());
    };
    if results.len() < init.len() {
        return Err(Refusal::broken(format!("it carries {} values and gives {}", init.len(), results.len())).into());
    }
    let count = dimension(importer, *first, 0)?;
    let mut start = importer.fit_all(init, &results[..init.len()])?;
    let row_types = body_row_types(importer, body, init.len(), &results)?;
    for (place, (ty, row)) in results[init.len()..].iter().zip(&row_types).enumerate() {
        let place = init.len() + place;
        start.push(empty(importer, body, place, *ty, *row, count)?);
    }
    let carried = init.len();
    let inputs = |importer: &mut Importer<'c>, place: Value<'c>, state: &[Value<'c>]| {
        let mut inputs = state[..carried].to_vec();
        for value in rows {
            inputs.push(select(importer, *value, place)?);
        }
        Ok([inputs, extra.to_vec()].concat())
    };
    row_by_row(importer, body, (0, count), &start, (&results, carried), inputs)
}

/// A loop over rows: the body sees `inputs` of the place and of the state; it gives the first `carried` values of the state anew, and one
/// row of each of the others.
fn row_by_row<'c>(
    importer: &mut Importer<'c>,
    body: &NamedGraph,
    (from, count): (i64, Size<'c>),
    start: &[Value<'c>],
    (results, carried): (&[Type<'c>], usize),
    inputs: impl FnOnce(&mut Importer<'c>, Value<'c>, &[Value<'c>]) -> Result<Vec<Value<'c>>, Problem>,
) -> Result<Vec<Value<'c>>, Problem> {
    let bounds = [importer.builder.const_index(from), as_value(importer, count), importer.builder.const_index(1)];
    let op = importer.structured(scf::For::NAME, &[&bounds, start].concat(), results, 1);
    let index = importer.cx.index();
    let block = importer.builder.add_block(op.region(0), &[&[index], results].concat());
    importer.inside(block, |importer| {
        let args = block.args();
        let (place, state) = (args[0], &args[1..]);
        let inputs = inputs(importer, place, state)?;
        let outputs = importer.graph(&body.graph, &inputs)?;
        if outputs.len() != results.len() {
            let why = format!("the body gives {} values where {} are expected", outputs.len(), results.len());
            return Err(Problem::Here(Refusal::broken(why)));
        }
        let mut next = importer.fit_all(&outputs[..carried], &results[..carried])?;
        for (row, whole) in outputs[carried..].iter().zip(&state[carried..]) {
            next.push(collect(importer, *whole, *row, place)?);
        }
        scf::yield_(&mut importer.builder, &next);
        Ok(())
    })?;
    Ok(op.results())
}

/// `associative_scan`: the first row of each of `rows`, then what the body makes of the row before it in the result and the next row.
fn running<'c>(
    importer: &mut Importer<'c>,
    scope: &Scope<'_, 'c>,
    node: &Node,
    body: &NamedGraph,
    rows: &[Value<'c>],
    extra: &[Value<'c>],
) -> Result<Vec<Value<'c>>, Problem> {
    let results = result_types(importer, scope, node)?;
    let Some(first) = rows.first() else {
        return Err(Refusal::broken("a scan has no rows to go over").into());
    };
    let fits = |(whole, row): (&Type<'c>, &Value<'c>)| whole.is_tensor() && whole.rank() == row.ty().rank();
    if results.len() != rows.len() || !results.iter().zip(rows).all(fits) {
        return Err(Refusal::broken("a scan's results do not have the shapes of its operands").into());
    }
    let count = dimension(importer, *first, 0)?;
    // The result begins as the rows themselves: the first one stays.
    let start = importer.fit_all(rows, &results)?;
    let inputs = |importer: &mut Importer<'c>, place: Value<'c>, state: &[Value<'c>]| {
        let one = importer.builder.const_index(1);
        let before = arith::subi(&mut importer.builder, place, one);
        let mut inputs = Vec::new();
        for whole in state {
            inputs.push(select(importer, *whole, before)?);
        }
        for value in rows {
            inputs.push(select(importer, *value, place)?);
        }
        Ok([inputs, extra.to_vec()].concat())
    };
    row_by_row(importer, body, (1, count), &start, (&results, 0), inputs)
}

/// The types of the rows that the body gives, checked against the results that collect them.
fn body_row_types<'c>(importer: &Importer<'c>, body: &NamedGraph, carried: usize, results: &[Type<'c>]) -> Result<Vec<Type<'c>>, Refusal> {
    let scope = Scope::new(&body.graph);
    let rows = body.graph.outputs.iter().skip(carried).map(|output| scope.ty(importer.cx, output)).collect::<Result<Vec<_>, _>>()?;
    let fits = |(row, whole): (&Type<'c>, &Type<'c>)| row.is_tensor() && whole.rank() == row.rank() + 1 && whole.element() == row.element();
    let whole = &results[carried..];
    if rows.len() != whole.len() || !rows.iter().zip(whole).all(fits) {
        return Err(Refusal::broken("the body's rows do not fit the results that collect them"));
    }
    Ok(rows)
}

fn as_value<'c>(importer: &mut Importer<'c>, size: Size<'c>) -> Value<'c> {
    match size {
        Size::Const(value) => importer.builder.const_index(value),
        Size::Value(value) => value,
    }
}

/// A size of a tensor, as a constant where its type knows it.
fn dimension<'c>(importer: &mut Importer<'c>, tensor: Value<'c>, dim: usize) -> Result<Size<'c>, Refusal> {
    let size = tensor.ty().shape().get(dim).copied();
    match size.ok_or_else(|| Refusal::broken("a tensor of rank 0 has no rows"))? {
        strata_core::ir::DYNAMIC => {
            let (cx, index) = (importer.cx, importer.cx.index());
            Ok(Size::Value(importer.builder.value(op::SYM_SIZE_INT.name(), &[tensor], index, &[("dim", cx.i64_attr(dim as i64))])))
        }
        size => Ok(Size::Const(size)),
    }
}

/// A tensor for the rows of a result: `count` of them, the rest of the shape as the body says.
fn empty<'c>(
    importer: &mut Importer<'c>,
    body: &NamedGraph,
    output: usize,
    ty: Type<'c>,
    row: Type<'c>,
    count: Size<'c>,
) -> Result<Value<'c>, Refusal> {
    let declared = match body.graph.outputs.get(output) {
        Some(Argument::AsTensor(tensor)) => Scope::new(&body.graph).meta(&tensor.name)?.sizes.iter().map(types::expr).collect(),
        _ => Vec::new(),
    };
    let mut sizes = vec![count];
    for (dim, size) in row.shape().into_iter().enumerate() {
        sizes.push(match declared.get(dim) {
            _ if size != strata_core::ir::DYNAMIC => Size::Const(size),
            Some(expr) if importer.symbols.covers(expr) => Size::Value(importer.symbols.build(&mut importer.builder, expr)?),
            _ => return Err(Refusal::unsupported(format!("the rows that `{}` gives have a size of their own", body.name))),
        });
    }
    let element = ty.element_type().ok_or_else(|| Refusal::broken(format!("{ty} has no element type")))?;
    let inputs = [Some(Input::Ints(sizes)), Some(Input::DType(element))];
    aten_op(importer, op::EMPTY_MEMORY_FORMAT, &inputs, ty)
}

fn select<'c>(importer: &mut Importer<'c>, tensor: Value<'c>, place: Value<'c>) -> Result<Value<'c>, Refusal> {
    let shape = tensor.ty().shape();
    let row = shape.get(1..).ok_or_else(|| Refusal::broken("a tensor of rank 0 has no rows"))?;
    let ty = tensor.ty().with_shape(row);
    let inputs = [Some(Input::Tensor(tensor)), Some(Input::Int(Size::Const(0))), Some(Input::Int(Size::Value(place)))];
    aten_op(importer, op::SELECT_INT, &inputs, ty)
}

fn collect<'c>(importer: &mut Importer<'c>, whole: Value<'c>, row: Value<'c>, place: Value<'c>) -> Result<Value<'c>, Refusal> {
    let (dim, place) = (Input::Int(Size::Const(0)), Input::Int(Size::Value(place)));
    let inputs = [Some(Input::Tensor(whole)), Some(Input::Tensor(row)), Some(dim), Some(place)];
    aten_op(importer, op::SELECT_SCATTER, &inputs, whole.ty())
}

fn aten_op<'c>(importer: &mut Importer<'c>, operator: Operator, inputs: &[Option<Input<'c>>], ty: Type<'c>) -> Result<Value<'c>, Refusal> {
    Ok(aten::build(&mut importer.builder, operator.schema(), inputs, &[ty])?.result(0))
}
