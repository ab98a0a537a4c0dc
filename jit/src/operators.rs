//! Calls of operators: recorded with inferred types, and made into a module when the record is complete.

use std::panic::Location;
use std::sync::Arc;

use strata_core::ir::{Context, Cx, DYNAMIC, Module, Type, Value};
use strata_core::registry::load_dialect;
use strata_core::rewrite::Rewriter;
use strata_core::upstream::arith;
use strata_dialects::aten::schema::{Arg, Kind, Schema};
use strata_dialects::aten::{self, Operator, Scalar as AtenScalar, Size as AtenSize};
use strata_dialects::capture;
use strata_driver::{element_type, standard};
use strata_frontend::{Input as EntryInput, InputKind, Output, function};
use strata_lowering::aten_to_prim::infer;
use strata_runtime::guards::{Guard, LEAST, Size as Assumed};

use crate::argument::{Argument, Scalar};
use crate::graph::{Arithmetic, Graph, Input, Number, Source, Trace, Traced, Ty};
use crate::tensor::{Failure, Inner, Tensor};

/// Calls any operator inside of a traced closure. Arguments stand in the order of its schema; [`Argument::Default`], and what is left
/// out at the end, have the schema's defaults.
///
/// ```
/// use strata::{Argument, Tensor, call, jit, op};
///
/// let f = jit(|x: &Tensor| call(op::SOFTMAX_INT, &[x.into(), 0.into()]).remove(0));
/// assert_eq!(f.call(&Tensor::new(&[1.0f32, 1.0], &[2])?)?.to_vec::<f32>()?, [0.5, 0.5]);
/// # Ok::<(), strata::Error>(())
/// ```
#[track_caller]
pub fn call(operator: Operator, arguments: &[Argument]) -> Vec<Tensor> {
    let place = Location::caller();
    let failed = |why: String| {
        let failed = Tensor::failed(place, format!("`{operator}`: {why}"));
        vec![failed; operator.schema().returns.len().max(1)]
    };
    let tensors = arguments.iter().flat_map(|argument| match argument {
        Argument::Tensor(tensor) => vec![tensor],
        Argument::Tensors(tensors) => tensors.iter().collect(),
        Argument::OptionalTensors(tensors) => tensors.iter().flatten().collect(),
        _ => Vec::new(),
    });
    let tensors: Vec<_> = tensors.collect();
    // The first error is the one that is told.
    if let Some(failure) = tensors.iter().find(|tensor| matches!(tensor.0, Inner::Failed(_))) {
        return vec![(*failure).clone(); operator.schema().returns.len().max(1)];
    }
    let Some(trace) = tensors.iter().find_map(|tensor| tensor.record()).cloned() else {
        return failed("none of its tensors is one of a traced closure; call operators inside of `jit`, on its arguments".to_owned());
    };
    match record(&trace, operator, arguments, place) {
        Ok(values) => values.into_iter().map(|value| Tensor(Inner::Traced(Traced::new(trace.clone(), value)))).collect(),
        Err(why) => {
            let why = format!("`{operator}`: {why}");
            let failure = Arc::new(Failure { place, why, trace: Arc::downgrade(&trace) });
            vec![Tensor(Inner::Failed(failure)); operator.schema().returns.len().max(1)]
        }
    }
}

/// The same, of an operator that gives one tensor.
#[track_caller]
pub(crate) fn call_one(operator: Operator, arguments: &[Argument]) -> Tensor {
    let mut results = call(operator, arguments);
    if results.is_empty() { Tensor::failed(Location::caller(), format!("`{operator}` gives no tensor")) } else { results.swap_remove(0) }
}

fn record(trace: &Arc<Trace>, operator: Operator, arguments: &[Argument], place: &'static Location<'static>) -> Result<Vec<usize>, String> {
    let schema = operator.schema();
    if arguments.len() > schema.args.len() {
        return Err(format!("it takes {} arguments, {} are given", schema.args.len(), arguments.len()));
    }
    if schema.is_mutable() {
        return Err("it writes to an argument, and tensors are values; call the form that gives a new tensor".to_owned());
    }
    let inputs = schema.args.iter().zip(arguments).map(|(arg, argument)| input(trace, arg, argument)).collect::<Result<Vec<_>, _>>()?;
    let types = inferred(&trace.lock(), schema, &inputs)?;
    if types.contains(&Ty::Index) {
        return Err("it gives a number that only a call knows; keep it a tensor".to_owned());
    }
    Ok(trace.push(Source::Operator(operator, inputs), types, place).collect())
}

/// An argument as the record has it.
fn input(trace: &Arc<Trace>, arg: &Arg, argument: &Argument) -> Result<Input, String> {
    let of = |why: String| format!("argument `{}`: {why}", arg.name);
    let value = |tensor: &Tensor| trace.value_of(tensor).map_err(of);
    Ok(match argument {
        Argument::Default => Input::Default,
        Argument::None => Input::None,
        Argument::Tensor(tensor) => Input::Tensor(value(tensor)?),
        Argument::Tensors(tensors) => Input::Tensors(tensors.iter().map(value).collect::<Result<_, _>>()?),
        Argument::OptionalTensors(tensors) => {
            Input::OptionalTensors(tensors.iter().map(|tensor| tensor.as_ref().map(value).transpose()).collect::<Result<_, _>>()?)
        }
        // An integer may stand for a number of any type.
        Argument::Size(size) if matches!(arg.ty.kind, Kind::Scalar | Kind::Float) => match (size.known(), arg.ty.kind) {
            (Some(value), Kind::Scalar) => Input::Scalar(Scalar::Int(value)),
            (Some(value), _) => Input::Scalar(Scalar::Float(value as f64)),
            (None, _) => return Err(of("a symbolic size is no number here".to_owned())),
        },
        Argument::Size(size) if arg.ty.list => Input::Sizes(vec![trace.number(size).map_err(of)?; usize::from(arg.ty.len.unwrap_or(1))]),
        Argument::Size(size) => Input::Size(trace.number(size).map_err(of)?),
        Argument::Sizes(sizes) => Input::Sizes(sizes.0.iter().map(|size| trace.number(size).map_err(of)).collect::<Result<_, _>>()?),
        Argument::Scalar(scalar) => Input::Scalar(*scalar),
        Argument::Floats(values) => Input::Floats(values.clone()),
        Argument::Text(text) => Input::Text(text.clone()),
        Argument::DType(dtype) => Input::DType(*dtype),
    })
}

/// Loads what a record needs.
fn load(context: &Context) {
    for dialect in ["func", "arith", "scf", "tensor", "capture", "prim"] {
        load_dialect(context, dialect);
    }
    for dialect in aten::OPERATORS {
        load_dialect(context, dialect.name);
    }
}

fn type_of<'c>(cx: Cx<'c>, ty: &Ty) -> Type<'c> {
    match ty {
        Ty::Tensor(dtype, sizes) => cx.tensor(sizes, cx.element(element_type(*dtype))),
        Ty::Index => cx.index(),
    }
}

/// The types of a call's results, by the operator's decomposition.
fn inferred(graph: &Graph, schema: &'static Schema, inputs: &[Input]) -> Result<Vec<Ty>, String> {
    let context = standard().pooled_context();
    load(&context);
    let cx: Cx<'_> = (&*context).into();
    let module = Module::new(cx);
    // Only the values that it reads.
    let mut used = Vec::new();
    inputs.iter().for_each(|input| values(input, &mut |value| used.push(value)));
    let types: Vec<_> = used.iter().map(|value| type_of(cx, &graph.types[*value])).collect();
    let (_, block) = function::begin(cx, module.body(), &types);
    let mut builder = Rewriter::at_end(block, cx.unknown());
    let arguments = block.args();
    let known = |value: usize| used.iter().position(|used| *used == value).map(|place| arguments[place]);
    let inputs = inputs.iter().map(|input| given(input, &known)).collect::<Option<Vec<_>>>().ok_or("a value is not known")?;
    let op = aten::build(&mut builder, schema, &inputs, &[]).map_err(|error| error.to_string())?;
    let types = infer(op).map_err(|reason| reason.to_string())?;
    let ty = |ty: &Type<'_>| match ty.element_type() {
        Some(element) if ty.is_tensor() => Ok(Ty::Tensor(strata_driver::dtype(element), ty.shape())),
        _ if ty.is_index() => Ok(Ty::Index),
        _ => Err("it gives a number that only a call knows; keep it a tensor".to_owned()),
    };
    types.iter().map(ty).collect()
}

fn values(input: &Input, see: &mut impl FnMut(usize)) {
    let number = |number: &Number, see: &mut dyn FnMut(usize)| {
        if let Number::Value(value) = number {
            see(*value);
        }
    };
    match input {
        Input::Tensor(value) => see(*value),
        Input::Tensors(values) => values.iter().for_each(|value| see(*value)),
        Input::OptionalTensors(values) => values.iter().flatten().for_each(|value| see(*value)),
        Input::Size(size) => number(size, see),
        Input::Sizes(sizes) => sizes.iter().for_each(|size| number(size, see)),
        _ => {}
    }
}

/// An argument as the op takes it; nothing where it reads a value that is not there.
fn given<'c>(input: &Input, known: &impl Fn(usize) -> Option<Value<'c>>) -> Option<Option<aten::Input<'c>>> {
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
        Input::Floats(values) => aten::Input::Floats(values.clone()),
        Input::Text(text) => aten::Input::Str(text.clone()),
        Input::DType(dtype) => aten::Input::DType(element_type(*dtype)),
    }))
}

/// The name of the weight of a place.
pub(crate) fn weight_name(place: usize) -> String {
    format!("weight_{place}")
}

/// The tensors that the nodes from `from` on read of those before.
pub(crate) fn read_of_before(graph: &Graph, from: usize, outputs: &[usize]) -> Vec<usize> {
    let made = graph.nodes[..from].iter().filter(|node| matches!(node.source, Source::Operator(..)));
    let made: Vec<_> = made.flat_map(|node| node.first..node.first + node.count).collect();
    let mut read = Vec::new();
    let mut see = |value: usize| {
        if made.contains(&value) && !read.contains(&value) {
            read.push(value);
        }
    };
    for node in &graph.nodes[from..] {
        if let Source::Operator(_, inputs) = &node.source {
            inputs.iter().for_each(|input| values(input, &mut see));
        }
    }
    outputs.iter().for_each(|value| see(*value));
    read.retain(|value| matches!(graph.types[*value], Ty::Tensor(..)));
    read
}

/// The nodes of a record from `from` on as text of the capture and aten levels, with these values as results; `read` are tensors of before.
pub(crate) fn text(graph: &Graph, from: usize, read: &[usize], outputs: &[usize]) -> Result<String, String> {
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
    for (place, node) in graph.nodes.iter().enumerate() {
        // Sizes are computed where they are read.
        if place < from && matches!(node.source, Source::Operator(..)) {
            continue;
        }
        builder.set_location(cx.file_location(node.place.file(), node.place.line(), node.place.column()));
        let known = |value: usize| values[value];
        match &node.source {
            Source::Operator(operator, inputs) => {
                let inputs = inputs.iter().map(|input| given(input, &known)).collect::<Option<Vec<_>>>().ok_or("a value is not known")?;
                let types: Vec<_> = graph.types[node.first..][..node.count].iter().map(|ty| type_of(cx, ty)).collect();
                let op = aten::build(&mut builder, operator.schema(), &inputs, &types).map_err(|error| error.to_string())?;
                for (place, result) in op.results().into_iter().enumerate() {
                    values[node.first + place] = Some(result);
                }
            }
            Source::Arithmetic(on, a, b) => {
                let mut number = |number: &Number| match number {
                    Number::Known(size) => Some(builder.const_index(*size)),
                    Number::Value(value) => values[*value],
                };
                let (Some(a), Some(b)) = (number(a), number(b)) else {
                    if place < from {
                        continue;
                    }
                    return Err(
                        "a size of a tensor that was made before a break is read behind it; read it off the tensor again".to_owned()
                    );
                };
                let name = match on {
                    Arithmetic::Add => arith::AddI::NAME,
                    Arithmetic::Sub => arith::SubI::NAME,
                    Arithmetic::Mul => arith::MulI::NAME,
                    Arithmetic::FloorDiv => arith::FloorDivSI::NAME,
                };
                values[node.first] = Some(builder.value(name, &[a, b], cx.index(), &[]));
            }
        }
    }
    let input = |place: &usize| EntryInput { name: format!("in_{place}"), kind: InputKind::Input };
    let mut described: Vec<_> = taken.iter().map(input).collect();
    for (place, (_, weight)) in graph.weights.iter().enumerate() {
        let kind = if weight.dtype().is_floating() { InputKind::Parameter } else { InputKind::Constant };
        described.push(EntryInput { name: weight_name(place), kind });
    }
    let results = outputs.iter().map(|value| Some((values[*value]?, Output::Value))).collect::<Option<Vec<_>>>();
    function::finish(&mut builder, function, block, &described, &results.ok_or("a result is not known")?);
    if !module.op().verify() {
        return Err(format!("the record does not verify: {module}"));
    }
    Ok(module.op().to_text_with_locations())
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
