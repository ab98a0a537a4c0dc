//! `torch.nn.functional.linear_cross_entropy` in chunks, which PyTorch exports as operators of its Python code.
//!
//! A program has the layer and the loss that they stand for. What chunks are for, less memory, is for the compiler to find.

use strata_core::ir::{Builder, ElementType, Type, Value};
use strata_dialects::aten::{self, Input, Operator, Size, op};

use super::{arguments, error::Refusal, node::Importer, python::needed, scope::Scope};
use crate::pt2::{argument::Argument, schema::Node};

/// Gives the loss, and gradients that PyTorch computes with it. The other one gives the loss of each row alone.
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
    // Only the operator that reduces has a reduction and smoothing.
    let given = |name, place| needed(node, name, place).map(Some);
    let (reduction, smoothing) =
        if reduced { (reduction(needed(node, "reduction", 5)?)?, given("label_smoothing", 7)?) } else { (0, None) };
    let ignored = given("ignore_index", if reduced { 6 } else { 5 })?;
    let layer = (op::LINEAR.schema(), vec![given("input", 0)?, given("linear_weight", 1)?, given("linear_bias", 3)?]);
    let loss = (op::CROSS_ENTROPY_LOSS.schema(), vec![None, given("target", 2)?, given("weight", 4)?, None, ignored, smoothing]);

    let builder = &mut importer.builder;
    let (mut layer, mut loss) = (arguments::inputs(builder, scope, &layer)?, arguments::inputs(builder, scope, &loss)?);
    let result = scope.ty(builder.cx(), &node.outputs[0])?;
    // Chunks of halves have their logits in f32.
    let halves = [ElementType::F16, ElementType::BF16].map(Some).contains(&result.element_type());
    let element = if halves { builder.cx().element(ElementType::F32) } else { result.element() };
    for input in layer.iter_mut().chain(&mut loss) {
        if let Some(Input::Tensor(value)) = input
            && halves
            && value.ty().element_type().is_some_and(ElementType::is_float)
        {
            *value = cast(builder, *value, element)?;
        }
    }
    let [rows, classes] = [0, 1].map(|at| match &layer[at] {
        Some(Input::Tensor(matrix)) if matrix.ty().rank() == 2 => Ok(matrix.ty().shape()[0]),
        _ => Err(Refusal::broken("the input and the layer's weight have two dims")),
    });
    let logits = builder.cx().tensor(&[rows?, classes?], element);
    loss[0] = Some(Input::Tensor(call(builder, op::LINEAR, &layer, logits)?));
    loss[3] = Some(Input::Int(Size::Const(reduction)));
    let loss = call(builder, op::CROSS_ENTROPY_LOSS, &loss, result.with_element(element))?;
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

/// `at::Reduction`'s number of a reduction.
fn reduction(argument: &Argument) -> Result<i64, Refusal> {
    match argument {
        Argument::AsString(text) if text == "none" => Ok(0),
        Argument::AsString(text) if text == "mean" => Ok(1),
        Argument::AsString(text) if text == "sum" => Ok(2),
        _ => Err(Refusal::broken("argument `reduction` is none of `none`, `mean` and `sum`")),
    }
}

fn cast<'c>(builder: &mut Builder<'c>, value: Value<'c>, element: Type<'c>) -> Result<Value<'c>, Refusal> {
    let dtype = element.element_type().ok_or_else(|| Refusal::broken("a loss is a tensor of numbers"))?;
    call(builder, op::TO_DTYPE, &[Some(Input::Tensor(value)), Some(Input::DType(dtype))], value.ty().with_element(element))
}

fn call<'c>(builder: &mut Builder<'c>, operator: Operator, inputs: &[Option<Input<'c>>], ty: Type<'c>) -> Result<Value<'c>, Refusal> {
    Ok(aten::build(builder, operator.schema(), inputs, &[ty])?.result(0))
}
