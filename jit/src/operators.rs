//! Calls of operators: recorded with inferred types.

use std::panic::Location;
use std::sync::Arc;

use strata_core::ir::{Cx, Module, Type};
use strata_core::rewrite::Rewriter;
use strata_dialects::aten::schema::{Arg, Kind, Schema};
use strata_dialects::aten::{self, Operator};
use strata_driver::standard;
use strata_frontend::function;
use strata_lowering::aten_to_prim::infer;

use crate::argument::{Argument, Scalar};
use crate::graph::{Graph, Input, Number, Source, Trace, Traced, Ty};
use crate::host_scalar::Origin;
use crate::program::{given, load, type_of, values};
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

pub(crate) fn record(
    trace: &Arc<Trace>,
    operator: Operator,
    arguments: &[Argument],
    place: &'static Location<'static>,
) -> Result<Vec<usize>, String> {
    let schema = operator.schema();
    if arguments.len() > schema.args.len() {
        return Err(format!("it takes {} arguments, {} are given", schema.args.len(), arguments.len()));
    }
    if schema.is_mutable() {
        return Err(
            "it writes to an argument, and tensors are values; call the form that gives a new tensor, in `State::update` for a state"
                .to_owned(),
        );
    }
    let inputs =
        schema.args.iter().zip(arguments).map(|(arg, argument)| input(trace, arg, argument, place)).collect::<Result<Vec<_>, _>>()?;
    let types = inferred(&trace.lock(), schema, &inputs);
    if types.is_err() {
        // It may take the numbers of this call.
        inputs.iter().for_each(|input| values(input, &mut |value| trace.needs(value)));
    }
    let types = types?;
    if types.iter().any(|ty| !matches!(ty, Ty::Tensor(..))) {
        return Err("it gives a number that only a call knows; keep it a tensor".to_owned());
    }
    Ok(trace.push(Source::Operator(operator, inputs), types, place).collect())
}

/// An argument as the record has it.
fn input(trace: &Arc<Trace>, arg: &Arg, argument: &Argument, place: &'static Location<'static>) -> Result<Input, String> {
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
            (None, _) => match trace.number(size).map_err(of)? {
                Number::Value(value) => Input::Number(value),
                Number::Known(value) => Input::Scalar(Scalar::Int(value)),
            },
        },
        Argument::Size(size) if arg.ty.list => Input::Sizes(vec![trace.number(size).map_err(of)?; usize::from(arg.ty.len.unwrap_or(1))]),
        Argument::Size(size) => Input::Size(trace.number(size).map_err(of)?),
        Argument::Sizes(sizes) => Input::Sizes(sizes.0.iter().map(|size| trace.number(size).map_err(of)).collect::<Result<_, _>>()?),
        Argument::Scalar(number) => match &number.origin {
            Origin::Input(traced) => Input::Number(trace.value_of_number(traced).map_err(of)?),
            Origin::Known | Origin::Item(..) => Input::Scalar(match (number.value_at(place), arg.ty.kind) {
                (Scalar::Int(value), Kind::Float) => Scalar::Float(value as f64),
                (value, _) => value,
            }),
        },
        Argument::Floats(values) => Input::Floats(values.clone()),
        Argument::Text(text) => Input::Text(text.clone()),
        Argument::DType(dtype) => Input::DType(*dtype),
    })
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
