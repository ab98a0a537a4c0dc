//! `torch.nn.functional.linear_cross_entropy` in chunks, which PyTorch exports as operators of its Python code.
//!
//! A program has the layer and the loss that they stand for. What chunks are for, less memory, is for the compiler to find.

use strata_core::ir::{Builder, ElementType, Type, Value};
use strata_dialects::aten::{self, Input, Operator, Size, op};

use super::{
    error::Refusal,
    node::Importer,
    python::needed,
    scope::{Scope, constant},
};
use crate::pt2::{
    argument::{Argument, OptionalTensor},
    schema::Node,
};

/// Gives the loss, and gradients that PyTorch computes with it.
const REDUCED: &str = "torch.ops.torch_nn._linear_cross_entropy_batch_chunked.default";
const NOT_REDUCED: &str = "torch.ops.torch_nn._linear_cross_entropy_batch_chunked_no_reduction.default";

/// Imports such a call; says whether it was one.
pub(super) fn import<'g, 'c>(importer: &mut Importer<'c>, scope: &mut Scope<'g, 'c>, node: &'g Node) -> Result<bool, Refusal> {
    let reduced = match node.target.as_str() {
        REDUCED => true,
        NOT_REDUCED => false,
        _ => return Ok(false),
    };
    let [Argument::AsTensor(output), gradients @ ..] = node.outputs.as_slice() else {
        return Err(Refusal::broken("the first result is the loss"));
    };
    if gradients.iter().any(|gradient| is_used(scope, gradient)) {
        return Err(Refusal::unsupported("its gradients are used, and only the loss is imported"));
    }
    let tensor = |name, place| optional(scope, needed(node, name, place)?);
    let given = |name, place| tensor(name, place)?.ok_or_else(|| Refusal::broken(format!("argument `{name}` is no tensor")));
    let (input, layer, target) = (given("input", 0)?, given("linear_weight", 1)?, given("target", 2)?);
    let (bias, weight) = (tensor("linear_bias", 3)?, tensor("weight", 4)?);
    // Only the operator that reduces has a reduction and smoothing.
    let reduction = if reduced { reduction(needed(node, "reduction", 5)?)? } else { 0 };
    let ignored = integer(scope, needed(node, "ignore_index", if reduced { 6 } else { 5 })?)?;
    let smoothing = if reduced { scope.scalar(needed(node, "label_smoothing", 7)?)? } else { None };

    let builder = &mut importer.builder;
    let result = scope.ty(builder.cx(), &node.outputs[0])?;
    // Chunks of halves have their logits in f32.
    let halves = [ElementType::F16, ElementType::BF16].map(Some).contains(&result.element_type());
    let element = if halves { builder.cx().element(ElementType::F32) } else { result.element() };
    let mut widened = |value: Value<'c>| if halves && is_float(value) { cast(builder, value, element) } else { Ok(value) };
    let (input, layer, target) = (widened(input)?, widened(layer)?, widened(target)?);
    let (bias, weight) = (bias.map(&mut widened).transpose()?, weight.map(&mut widened).transpose()?);
    let ([rows, _], [classes, _]) = (&*input.ty().shape(), &*layer.ty().shape()) else {
        return Err(Refusal::broken("the input and the layer's weight have two dims"));
    };
    let logits = builder.cx().tensor(&[*rows, *classes], element);
    let logits = call(builder, op::LINEAR, &[Some(Input::Tensor(input)), Some(Input::Tensor(layer)), bias.map(Input::Tensor)], logits)?;
    let arguments = [
        Some(Input::Tensor(logits)),
        Some(Input::Tensor(target)),
        weight.map(Input::Tensor),
        Some(Input::Int(Size::Const(reduction))),
        Some(Input::Int(ignored)),
        smoothing.map(Input::Scalar),
    ];
    let loss = call(builder, op::CROSS_ENTROPY_LOSS, &arguments, result.with_element(element))?;
    let loss = if halves { cast(builder, loss, result.element())? } else { loss };
    scope.define(&output.name, loss);
    Ok(true)
}

/// Whether anything in the graph has a result as an argument.
fn is_used(scope: &Scope<'_, '_>, result: &Argument) -> bool {
    let mut names = Vec::new();
    result.names(&mut |name| names.push(name));
    let mut used = false;
    let inputs = scope.graph.nodes.iter().flat_map(|node| &node.inputs).map(|input| &input.arg);
    inputs.chain(&scope.graph.outputs).for_each(|argument| argument.names(&mut |name| used |= names.contains(&name)));
    used
}

fn optional<'c>(scope: &Scope<'_, 'c>, argument: &Argument) -> Result<Option<Value<'c>>, Refusal> {
    match argument {
        Argument::AsNone(_) | Argument::AsOptionalTensor(OptionalTensor::AsNone(_)) => Ok(None),
        Argument::AsOptionalTensor(OptionalTensor::AsTensor(tensor)) => scope.get(&tensor.name).map(Some),
        tensor => scope.tensor(tensor).map(Some),
    }
}

/// `at::Reduction`'s number of a reduction.
fn reduction(argument: &Argument) -> Result<i64, Refusal> {
    match argument {
        Argument::AsString(text) if text == "none" => Ok(0),
        Argument::AsString(text) if text == "mean" => Ok(1),
        Argument::AsString(text) if text == "sum" => Ok(2),
        _ => Err(Refusal::broken("argument `reduction` is none of `none`, `mean` and `sum`")),
    }
}

fn integer<'c>(scope: &Scope<'_, 'c>, argument: &Argument) -> Result<Size<'c>, Refusal> {
    match argument {
        Argument::AsInt(value) => constant(*value).map(Size::Const),
        Argument::AsSymInt(sym) => scope.size(sym),
        other => Err(Refusal::broken(format!("an integer is expected, not `{}`", other.tag()))),
    }
}

fn is_float(value: Value<'_>) -> bool {
    value.ty().element_type().is_some_and(ElementType::is_float)
}

fn cast<'c>(builder: &mut Builder<'c>, value: Value<'c>, element: Type<'c>) -> Result<Value<'c>, Refusal> {
    let dtype = element.element_type().ok_or_else(|| Refusal::broken("a loss is a tensor of numbers"))?;
    call(builder, op::TO_DTYPE, &[Some(Input::Tensor(value)), Some(Input::DType(dtype))], value.ty().with_element(element))
}

fn call<'c>(builder: &mut Builder<'c>, operator: Operator, inputs: &[Option<Input<'c>>], ty: Type<'c>) -> Result<Value<'c>, Refusal> {
    Ok(aten::build(builder, operator.schema(), inputs, &[ty])?.result(0))
}
