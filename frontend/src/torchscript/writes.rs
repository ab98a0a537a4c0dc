//! Writes from inside a region to tensors around it: the region gets a copy, which it writes to and gives back, and what it gives is written
//! to the tensor behind it.

use strata_core::ir::{Block, Op, Region, Value};
use strata_dialects::aten::{AtenOp, Input, op, storage};

use super::control::inside;
use super::error::Eval;
use super::evaluate::Evaluator;
use super::value;

/// The tensor that another is a view of, maybe itself, as far as view operators tell.
pub(super) fn base<'c>(mut value: Value<'c>) -> Value<'c> {
    while let Some((of, _)) = value.defining_op().and_then(viewed) {
        value = of;
    }
    value
}

/// A tensor and those that it is a view of, the nearest first.
pub(super) fn chain<'c>(mut value: Value<'c>) -> Vec<Value<'c>> {
    let mut chain = vec![value];
    while let Some((of, _)) = value.defining_op().and_then(viewed) {
        chain.push(of);
        value = of;
    }
    chain
}

/// The tensor that another is, through operators that write in place.
pub(super) fn itself<'c>(mut value: Value<'c>) -> Value<'c> {
    while let Some((of, true)) = value.defining_op().and_then(viewed) {
        value = of;
    }
    value
}

/// What a view operator, or one that writes, gives a view of; and whether it gives what it wrote to.
fn viewed<'c>(op: Op<'c>) -> Option<(Value<'c>, bool)> {
    let view = AtenOp::new(op).ok()?;
    let schema = view.schema();
    let alias = schema.returns.first()?.alias;
    let written = schema.args.iter().find(|arg| arg.alias.is_some_and(|of| of.ends_with('!') && Some(of) == alias));
    if let Some(arg) = written {
        return Some((view.tensors(arg.name).ok()?.first().copied()?, true));
    }
    storage::shares(op, schema).then(|| (op.operand(0), false)).filter(|(of, _)| of.ty().is_tensor())
}

/// The first tensor of a chain of views that is defined outside of an op.
pub(super) fn outer<'c>(mut value: Value<'c>, op: Op<'c>) -> Option<Value<'c>> {
    loop {
        let inside = match (value.defining_op(), value.owner_block()) {
            (Some(def), _) => def.is_inside(op),
            (None, Some(block)) => block.parent_op().is_some_and(|parent| parent == op || parent.is_inside(op)),
            (None, None) => false,
        };
        if !inside {
            return Some(value);
        }
        value = value.defining_op().and_then(viewed)?.0;
    }
}

/// A tensor around an op that the op writes to.
#[derive(Debug, Clone)]
pub(super) struct Written<'c> {
    /// The tensor.
    pub tensor: Value<'c>,
    /// Views of it around the op that the op reads or writes to.
    views: Vec<Value<'c>>,
}

/// The tensors around an op that ops inside of it write to; `given` are what its regions give.
pub(super) fn written<'c>(op: Op<'c>, given: &[Value<'c>]) -> Vec<Written<'c>> {
    let (mut written, mut met) = (Vec::new(), Vec::new());
    let mut meet = |value: Value<'c>| {
        if value.ty().is_tensor() && outer(value, op) == Some(value) && !met.contains(&value) {
            met.push(value);
        }
    };
    given.iter().for_each(|value| meet(*value));
    op.walk(&mut |inner| {
        if inner == op {
            return;
        }
        inner.operands().into_iter().for_each(&mut meet);
        let Ok(view) = AtenOp::new(inner) else { return };
        for arg in view.schema().args.iter().filter(|arg| arg.alias.is_some_and(|alias| alias.ends_with('!'))) {
            let tensors = view.tensors(arg.name).unwrap_or_default();
            written.extend(tensors.into_iter().filter_map(|tensor| outer(tensor, op)));
        }
    });
    let mut found: Vec<Written<'c>> = Vec::new();
    for value in written {
        let whole = base(value);
        if found.iter().any(|known| base(known.tensor) == whole) {
            continue;
        }
        // Where one name is used only, the tensor of that name is copied, not all of what it is a view of.
        let views: Vec<_> = met.iter().copied().filter(|other| base(*other) == whole).collect();
        found.push(match views.as_slice() {
            [one] => Written { tensor: *one, views: Vec::new() },
            _ => Written { tensor: whole, views: views.into_iter().filter(|view| *view != whole).collect() },
        });
    }
    found
}

/// Names of one tensor around a region, and those that the region uses in their place.
pub(super) type Instead<'c> = Vec<(Value<'c>, Value<'c>)>;

/// A copy of a tensor at the beginning of a region, which reads and writes the copy from now on.
pub(super) fn copy_into<'c>(
    eval: &mut Evaluator<'_, 'c>,
    written: &Written<'c>,
    region: Region<'c>,
    block: Block<'c>,
) -> Eval<Instead<'c>> {
    let first = block.first_op();
    inside(eval, block, |eval| {
        if let Some(first) = first {
            eval.builder.go_before(first);
        }
        let copy = eval.build(op::CLONE.schema(), &[Some(Input::Tensor(written.tensor))])?;
        let value::Value::Tensor(copy) = copy else { return Err("it is no tensor".into()) };
        Ok(instead(eval, written, copy, region))
    })
}

/// Has a region use another tensor in the place of one around it, and views of that in the place of the one's; these are made here.
pub(super) fn instead<'c>(eval: &mut Evaluator<'_, 'c>, written: &Written<'c>, copy: Value<'c>, region: Region<'c>) -> Instead<'c> {
    let mut names = vec![(written.tensor, copy)];
    for view in &written.views {
        let made = viewed_again(eval, *view, &mut names);
        names.push((*view, made));
    }
    for (value, instead) in &names {
        use_instead(eval, *value, *instead, region);
    }
    names
}

/// A view of a tensor as a view of the one that stands in its place.
fn viewed_again<'c>(eval: &mut Evaluator<'_, 'c>, view: Value<'c>, names: &mut Instead<'c>) -> Value<'c> {
    if let Some((_, instead)) = names.iter().find(|(value, _)| *value == view) {
        return *instead;
    }
    let Some((op, (of, is_of))) = view.defining_op().and_then(|op| Some((op, viewed(op)?))) else { return view };
    let of_again = viewed_again(eval, of, names);
    if is_of {
        return of_again;
    }
    let operands: Vec<_> = op.operands().into_iter().map(|operand| if operand == of { of_again } else { operand }).collect();
    eval.builder.clone_op(op, &operands).result(view.index())
}

/// Has a region use another value, but for the op that makes that of it.
fn use_instead<'c>(eval: &mut Evaluator<'_, 'c>, value: Value<'c>, instead: Value<'c>, region: Region<'c>) {
    let maker = instead.defining_op();
    let within = |op: Op<'c>| {
        let mut block = op.block();
        while let Some(at) = block {
            if at.parent_region() == Some(region) {
                return true;
            }
            block = at.parent_op().and_then(Op::block);
        }
        false
    };
    eval.builder.replace_uses_if(value, instead, |using| Some(using.op) != maker && within(using.op));
}

/// Writes what regions give back to the tensors that they wrote to.
pub(super) fn write_back<'c>(eval: &mut Evaluator<'_, 'c>, written: &[Written<'c>], results: &[Value<'c>]) -> Eval<()> {
    for (written, result) in written.iter().zip(results) {
        eval.build(op::COPY_.schema(), &[Some(Input::Tensor(written.tensor)), Some(Input::Tensor(*result))])?;
    }
    Ok(())
}
