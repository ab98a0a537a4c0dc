//! Regions of automatic casts, `with torch.autocast("cpu", dtype)` inside of a program: their operators are cast for as PyTorch casts for them.

use strata_core::ir::{Op, Value};
use strata_dialects::aten::autocast::{self, Policy};
use strata_dialects::aten::dtype::DType;
use strata_dialects::aten::{self, AtenOp, Input, op};

use super::control::{Problem, inlined};
use super::{error::Refusal, node::Importer, scope::Scope, types};
use crate::pt2::{
    argument::{Argument, NamedGraph},
    schema::Node,
};

/// The body of a region in the call's place: its operators compute in `dtype` where it is on, and as they stand where it is off.
pub(super) fn region<'c>(
    importer: &mut Importer<'c>,
    scope: &Scope<'_, 'c>,
    node: &Node,
    (device, dtype, enabled): (&Argument, &Argument, bool),
    (body, operands): (&NamedGraph, &[&Argument]),
) -> Result<Vec<Value<'c>>, Problem> {
    let lower = match (enabled, device, dtype) {
        (false, ..) => None,
        (_, Argument::AsString(device), _) if device != "cpu" => {
            return Err(
                Refusal::unsupported(format!("automatic casts of `{device}` are not imported; export the program for the CPU")).into()
            );
        }
        (_, _, Argument::AsScalarType(dtype)) => match types::element(*dtype)? {
            lower @ (DType::BF16 | DType::F16) => Some(lower),
            other => return Err(Refusal::broken(format!("automatic casts are to bf16 or f16, not to {other}")).into()),
        },
        (_, _, Argument::AsNone(_)) => Some(DType::BF16),
        (_, _, other) => return Err(Refusal::broken(format!("the type of automatic casts is `{}`", other.tag())).into()),
    };
    let around = std::mem::replace(&mut importer.autocast, lower);
    let results = inlined(importer, scope, node, body, operands);
    importer.autocast = around;
    results
}

/// Casts the operands of an operator of such a region, in front of it.
pub(super) fn cast<'c>(importer: &mut Importer<'c>, operator: Op<'c>) -> Result<(), Refusal> {
    let Some(lower) = importer.autocast else { return Ok(()) };
    let broken = |error: aten::AtenError| Refusal::broken(error.to_string());
    let view = AtenOp::new(operator).map_err(broken)?;
    let Some(policy) = autocast::policy(&view) else { return Ok(()) };
    if policy == Policy::Inside {
        let name = view.schema().name;
        return Err(Refusal::unsupported(format!(
            "`{name}` is cast inside of itself under autocast; write it with the operators that it is made of"
        )));
    }
    let element = |value: &Value<'c>| value.ty().element_type().filter(|_| value.ty().is_tensor());
    let all: Vec<_> = operator.operands().iter().filter_map(element).collect();
    importer.builder.go_before(operator);
    for (at, operand) in operator.operands().into_iter().enumerate() {
        let Some(to) = element(&operand).and_then(|from| autocast::cast(policy, from, lower, &all)) else { continue };
        let ty = operand.ty().cx().tensor(&operand.ty().shape(), importer.cx.element(to));
        let inputs = [Some(Input::Tensor(operand)), Some(Input::DType(to))];
        let made = aten::build(&mut importer.builder, op::_TO_COPY.schema(), &inputs, &[ty]).map_err(broken)?.result(0);
        importer.builder.set_operand(operator, at, made);
    }
    importer.builder.go_after(operator);
    Ok(())
}
