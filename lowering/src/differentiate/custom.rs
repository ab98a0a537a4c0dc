//! Gradients of the user's own operators.

use strata_core::ir::Value;
use strata_dialects::capture;

use super::rule::Rule::Custom;
use super::rule::{At, Cotangents, Row};

pub(super) const ROWS: &[Row] = &[
    Row {
        name: capture::CustomCall::NAME,
        doc: "None: a kernel does not say its gradient. The function that calls it names one by `capture.backward`.",
        rule: Custom(|at| {
            let symbol = at.word("symbol");
            at.refuse(format!(
                "the kernel `{symbol}` has none; register one by `attributes {{capture.backward = @\"..\"}}` at the function that calls it, \
                 or take it out with `detach()`"
            ))
        }),
    },
    Row {
        name: capture::CustomGradient::NAME,
        doc: "What the registered function gives for the arguments, the results and their cotangents. PyTorch: `register_autograd`.",
        rule: Custom(registered),
    },
];

fn registered<'c>(at: &At<'c>) -> Cotangents<'c> {
    let Some(op) = capture::CustomGradient::cast(at.op) else { return at.refuse("it is no gradient of a user's") };
    let (values, arguments) = op.parts();
    let cotangents = (0..values.len()).map(|result| at.cotangent_or_zero(result).value());
    let given: Vec<_> = arguments.iter().copied().chain(at.op.results()).chain(cotangents).collect();
    let copy = at.prim.build(|builder| builder.clone_op(at.op, &at.op.operands()));
    let block = copy.body(0);
    at.prim.set_before(copy);
    let given: Vec<_> = given.into_iter().zip(block.args()).map(|(value, taken)| typed(at, value, taken)).collect();
    let yielded = at.prim.build(|builder| builder.inline_body_before(block, copy, &given));
    if let Some(end) = copy.block().and_then(|block| block.terminator()) {
        at.prim.set_before(end);
    }
    at.prim.erase(copy);
    let mut yielded = yielded.into_iter().map(|value| at.prim.tensor(value));
    let of = |argument: &Value<'c>| if capture::has_cotangent(argument.ty()) { yielded.next() } else { None };
    let mut all = vec![None; values.len()];
    all.extend(arguments.iter().map(of));
    all
}

/// A value in the type of what stands for it.
fn typed<'c>(at: &At<'c>, value: Value<'c>, taken: Value<'c>) -> Value<'c> {
    if value.ty() == taken.ty() || !value.ty().is_tensor() { value } else { at.prim.retype(at.prim.tensor(value), taken.ty()) }
}
