//! The rewrite: `@prepare` grows by what is hoisted, and the entry takes the results as weights.

use std::collections::{HashMap, HashSet};

use super::signature::{Signature, prepared};
use strata_core::ir::{Builder, Op, OpSpec, Type, Value};
use strata_core::pass::PassError;
use strata_core::upstream::func;
use strata_dialects::capture;

/// Moves the computation of `values` from the entry into the module's `@prepare`.
pub(super) fn hoist<'c>(module: Op<'c>, entry: Op<'c>, values: &[Value<'c>]) -> Result<(), PassError> {
    let function = find_or_make(module, entry);
    let terminator = function.body(0).terminator().ok_or_else(|| PassError::new("@prepare does not end in a return"))?;
    let (mut outer, mut inner) = (Signature::of(entry), Signature::of(function));
    let mut copies = weights(&outer, entry, function, terminator);
    let mut b = Builder::before(terminator);
    for op in needed(entry, values) {
        let operands: Option<Vec<_>> = op.operands().iter().map(|operand| copies.get(operand).copied()).collect();
        let operands = operands.ok_or_else(|| PassError::new("an operand of what is hoisted is no weight"))?;
        let copy = b.clone_op(op, &operands);
        copies.extend(op.results().into_iter().zip(copy.results()));
    }
    let mut returned = terminator.operands();
    let mut fresh_name = outer.fresh_names();
    for &value in values {
        let name = fresh_name(returned.len());
        let argument = entry.body(0).add_arg(value.ty(), entry.location());
        outer.arguments.push(prepared(entry, &name));
        inner.results.push(prepared(entry, &name));
        returned.push(copies[&value]);
        value.replace_all_uses_with(argument);
    }
    terminator.set_operands(&returned);
    sweep(entry);
    drop_unused(&mut outer, &mut inner, entry, terminator);
    sweep(function);
    let types = |values: Vec<Value<'c>>| values.into_iter().map(Value::ty).collect::<Vec<Type<'c>>>();
    let results = types(entry.body(0).terminator().map(Op::operands).unwrap_or_default());
    outer.write(&types(entry.body(0).args()), &results);
    inner.write(&types(function.body(0).args()), &types(terminator.operands()));
    Ok(())
}

/// The module's `@prepare`: a function of all weights of the entry, in their order.
fn find_or_make<'c>(module: Op<'c>, entry: Op<'c>) -> Op<'c> {
    if let Some(found) = module.body(0).ops().into_iter().find(|op| op.attr(capture::PREPARE).is_some()) {
        return found;
    }
    let cx = module.cx();
    let signature = Signature::of(entry);
    let weights: Vec<_> = entry.body(0).args().into_iter().enumerate().filter(|(at, _)| signature.kind(*at) != "input").collect();
    let types: Vec<_> = weights.iter().map(|(_, weight)| weight.ty()).collect();
    let attributes: Vec<_> = weights.iter().map(|(at, _)| signature.arguments[*at]).collect();
    let mut name = "prepare".to_owned();
    while module.lookup_symbol(&name).is_some() {
        name.push('_');
    }
    let function = Builder::after(entry).op(OpSpec {
        name: func::Func::NAME,
        attrs: &[
            ("sym_name", cx.str_attr(&name)),
            ("function_type", cx.type_attr(cx.function(&types, &[]))),
            ("arg_attrs", cx.array_attr(&attributes)),
            (capture::PREPARE, cx.unit()),
        ],
        regions: 1,
        ..OpSpec::default()
    });
    let block = function.region(0).append_block(&types, entry.location());
    func::ret(&mut Builder::at_end(block, entry.location()), &[]);
    function
}

/// What each weight of the entry is inside of `@prepare`: an argument, or for what is prepared already a result.
fn weights<'c>(signature: &Signature<'c>, entry: Op<'c>, function: Op<'c>, terminator: Op<'c>) -> HashMap<Value<'c>, Value<'c>> {
    let (mut arguments, mut results) = (function.body(0).args().into_iter(), terminator.operands().into_iter());
    let mut found = HashMap::new();
    for (at, argument) in entry.body(0).args().into_iter().enumerate() {
        let inside = match signature.kind(at).as_str() {
            "input" => None,
            "prepared" => results.next(),
            _ => arguments.next(),
        };
        found.extend(inside.map(|inside| (argument, inside)));
    }
    found
}

/// The ops that compute some values, in the order of the program.
pub(super) fn needed<'c>(entry: Op<'c>, values: &[Value<'c>]) -> Vec<Op<'c>> {
    let mut needed = HashSet::new();
    let mut rest = values.to_vec();
    while let Some(value) = rest.pop() {
        if let Some(op) = value.defining_op().filter(|op| needed.insert(*op)) {
            rest.extend(op.operands());
        }
    }
    entry.body(0).ops().into_iter().filter(|op| needed.contains(op)).collect()
}

/// Erases what nobody needs.
pub(super) fn sweep(function: Op<'_>) {
    for op in function.body(0).ops().into_iter().rev().filter(|op| op.is_dead()) {
        op.erase();
    }
}

/// A prepared value of an earlier run that now only goes into another one is no longer handed over.
fn drop_unused<'c>(outer: &mut Signature<'c>, inner: &mut Signature<'c>, entry: Op<'c>, terminator: Op<'c>) {
    let block = entry.body(0);
    let prepared: Vec<_> = (0..outer.arguments.len()).filter(|&at| outer.kind(at) == "prepared").collect();
    let mut returned = terminator.operands();
    for (result, &at) in prepared.iter().enumerate().rev() {
        if block.arg(at).is_unused() {
            block.erase_arg(at);
            outer.arguments.remove(at);
            inner.results.remove(result);
            returned.remove(result);
        }
    }
    terminator.set_operands(&returned);
}
