//! Arithmetic on the weights of a layer that is a function moves to its calls, where it is arithmetic on the program's weights.

use super::Cone;
use super::prepare::{needed, sweep};
use super::signature::{Signature, prepared};
use std::collections::HashMap;
use strata_core::ir::{Attr, Op, OpSpec, Type, Value};
use strata_core::remark::Remarks;
use strata_core::rewrite::Rewriter;
use strata_core::upstream::func;

/// Moves it for all private functions of a module that are called in the program itself.
pub(super) fn lift<'c>(module: Op<'c>, entry: Op<'c>, rewriter: &mut Rewriter<'c>) {
    let private = |op: &Op<'c>| op.isa::<func::Func>() && op.str("sym_visibility").as_deref() == Some("private");
    for function in module.body(0).ops().into_iter().filter(private) {
        let Some(users) = function.symbol_users(module) else { continue };
        let called = users.iter().all(|user| user.isa::<func::Call>() && user.parent() == Some(entry));
        if !users.is_empty() && called && function.region(0).entry().is_some() {
            let (values, mut fresh_name) =
                (Cone::of(function).frontier(function, Remarks::default()), Signature::of(function).fresh_names());
            move_to_calls(function, &users, &values, &mut |number| prepared(function, &fresh_name(number)), rewriter);
        }
    }
}

/// What each of a function's calls is to compute in its place, as more arguments; `mark` are the attributes of a new argument by its number.
pub(crate) fn move_to_calls<'c>(
    function: Op<'c>,
    calls: &[Op<'c>],
    values: &[Value<'c>],
    mark: &mut dyn FnMut(usize) -> Attr<'c>,
    rewriter: &mut Rewriter<'c>,
) {
    if values.is_empty() {
        return;
    }
    let ops = needed(function, values);
    for &call in calls {
        rewriter.go_before(call);
        let mut known: HashMap<Value<'c>, Value<'c>> = function.body(0).args().into_iter().zip(call.operands()).collect();
        for &op in &ops {
            let operands: Vec<_> = op.operands().into_iter().map(|operand| known.get(&operand).copied().unwrap_or(operand)).collect();
            let copy = rewriter.clone_op(op, &operands);
            known.extend(op.results().into_iter().zip(copy.results()));
        }
        let operands: Vec<_> = call.operands().into_iter().chain(values.iter().map(|value| known[value])).collect();
        let attrs = call.attrs();
        let attrs: Vec<_> = attrs.iter().map(|(name, attr)| (name.as_str(), *attr)).collect();
        let spec = OpSpec { name: call.name(), operands: &operands, results: &call.result_types(), attrs: &attrs, ..OpSpec::default() };
        let new = rewriter.op(spec);
        rewriter.replace_with_op(call, new);
    }
    let mut signature = Signature::of(function);
    for (number, &value) in values.iter().enumerate() {
        let argument = function.body(0).add_arg(value.ty(), function.location());
        signature.arguments.push(mark(number));
        rewriter.replace_uses(value, argument);
    }
    sweep(function, rewriter);
    let types = |values: Vec<Value<'c>>| values.into_iter().map(Value::ty).collect::<Vec<Type<'c>>>();
    let results = types(function.body(0).terminator().map(Op::operands).unwrap_or_default());
    signature.write(rewriter, &types(function.body(0).args()), &results);
}
