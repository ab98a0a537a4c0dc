//! Values of tensors that depend on no input: the operators that make them are evaluated at import time.

use std::collections::HashMap;

use strata_core::ir;
use strata_dialects::aten::AtenOp;

use crate::operators::{Constant, Operators};

/// Elements of a tensor that is computed at import time.
const MAX_ELEMENTS: i64 = 1 << 12;
/// Ops that are computed for one value.
const MAX_OPS: usize = 1 << 10;

/// The value of a tensor that depends on no input, where `weight` knows the values of arguments; and how many values were computed.
pub(crate) fn constant<'c>(
    operators: &dyn Operators,
    weight: &dyn Fn(ir::Value<'c>) -> Option<Constant>,
    value: ir::Value<'c>,
) -> (Option<Constant>, u64) {
    let mut known = HashMap::new();
    let found = of_value(operators, weight, value, &mut known);
    (found, known.len() as u64)
}

fn of_value<'c>(
    operators: &dyn Operators,
    weight: &dyn Fn(ir::Value<'c>) -> Option<Constant>,
    value: ir::Value<'c>,
    known: &mut HashMap<ir::Value<'c>, Constant>,
) -> Option<Constant> {
    if let Some(constant) = known.get(&value) {
        return Some(constant.clone());
    }
    if known.len() > MAX_OPS || is_written(value) {
        return None;
    }
    if value.ty().is_tensor() && !value.ty().num_elements().is_some_and(|count| (0..=MAX_ELEMENTS).contains(&count)) {
        return None;
    }
    let constant = match value.defining_op() {
        None => weight(value)?,
        Some(op) => {
            let schema = AtenOp::new(op).ok()?.schema();
            if schema.is_mutable() || schema.has("nondeterministic_seeded") {
                return None;
            }
            let operands: Option<Vec<_>> = op.operands().into_iter().map(|operand| of_value(operators, weight, operand, known)).collect();
            operators.evaluate(op, &operands?).ok()?.into_iter().nth(value.index())?
        }
    };
    known.insert(value, constant.clone());
    Some(constant)
}

/// Whether a value is computed from one of others, as far as a search of bounded length tells.
pub(crate) fn depends_on<'c>(value: ir::Value<'c>, others: &[ir::Value<'c>]) -> bool {
    if others.is_empty() {
        return false;
    }
    let (mut todo, mut seen) = (vec![value], std::collections::HashSet::new());
    while let Some(value) = todo.pop() {
        if others.contains(&value) || seen.len() > MAX_OPS {
            return true;
        }
        if seen.insert(value) {
            todo.extend(value.defining_op().map(|op| op.operands()).unwrap_or_default());
        }
    }
    false
}

/// Whether an op writes to a tensor, or to a view of it.
pub(crate) fn is_written(value: ir::Value<'_>) -> bool {
    let (mut views, mut seen) = (vec![value], 0);
    while let Some(view) = views.pop() {
        seen += 1;
        for using in view.uses() {
            let Ok(op) = AtenOp::new(using.op) else { continue };
            if op.schema().is_mutable() || seen > MAX_OPS {
                return true;
            }
            if op.schema().returns.iter().any(|returned| returned.alias.is_some()) {
                views.extend(using.op.results());
            }
        }
    }
    false
}
