//! Writes from inside a region to tensors around it: the region gets a copy, which it writes to and gives back, and what it gives is written
//! to the tensor behind it.

use strata_core::ir::{Op, Value};
use strata_dialects::aten::AtenOp;

use super::error::Eval;

/// The tensor that another is a view of, maybe itself, as far as view operators tell.
pub(super) fn base<'c>(mut value: Value<'c>) -> Value<'c> {
    while let Some(of) = value.defining_op().and_then(viewed) {
        value = of;
    }
    value
}

/// What a view operator, or one that writes, gives a view of.
fn viewed<'c>(op: Op<'c>) -> Option<Value<'c>> {
    let view = AtenOp::new(op).ok()?;
    let schema = view.schema();
    let alias = schema.returns.first()?.alias;
    // Those that give lists of views have no alias at the list.
    let arg = schema.args.iter().find(|arg| match (arg.alias, alias) {
        (Some(of), Some(alias)) => of.trim_end_matches('!') == alias.trim_end_matches('!'),
        (Some(_), None) => schema.flags.contains(&"view"),
        (None, _) => false,
    })?;
    view.tensors(arg.name).ok()?.first().copied()
}

/// The first tensor of a chain of views that is defined outside of an op.
fn outer<'c>(mut value: Value<'c>, op: Op<'c>) -> Option<Value<'c>> {
    loop {
        let inside = match (value.defining_op(), value.owner_block()) {
            (Some(def), _) => def.is_inside(op),
            (None, Some(block)) => block.parent_op().is_some_and(|parent| parent == op || parent.is_inside(op)),
            (None, None) => false,
        };
        if !inside {
            return Some(value);
        }
        value = value.defining_op().and_then(viewed)?;
    }
}

/// The tensors around an op that ops inside of it write to.
pub(super) fn written<'c>(op: Op<'c>) -> Eval<Vec<Value<'c>>> {
    let (mut written, mut read) = (Vec::new(), Vec::new());
    op.walk(&mut |inner| {
        if inner == op {
            return;
        }
        read.extend(inner.operands().into_iter().filter(|operand| operand.ty().is_tensor() && outer(*operand, op) == Some(*operand)));
        let Ok(view) = AtenOp::new(inner) else { return };
        for arg in view.schema().args.iter().filter(|arg| arg.alias.is_some_and(|alias| alias.ends_with('!'))) {
            let tensors = view.tensors(arg.name).unwrap_or_default();
            written.extend(tensors.into_iter().filter_map(|tensor| outer(tensor, op)));
        }
    });
    let mut found: Vec<Value<'c>> = Vec::new();
    for value in written {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    for value in &found {
        if read.iter().any(|other| other != value && base(*other) == base(*value)) {
            return Err("a branch or loop that only a call decides about writes to a tensor and reads another view of it".into());
        }
    }
    Ok(found)
}
