//! Sums of many small dots as one, over all that they contract. See [`super::sums`] for when it fires.

use super::dots;
use super::rewriter::{Simplified, SizedRewriter};
use strata_core::ir::{Attr, Op, Type, Value};
use strata_core::rewrite::NoMatch;
use strata_dialects::loops::view::product;
use strata_dialects::prim;

/// Fewer dots than this are summed as they stand.
const MANY: usize = 4;

/// x_1 · y_1 + x_2 · y_2 + .. = [x_1 x_2 ..] · [y_1; y_2; ..].
pub fn sum_of_dots<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    if !dots::is_wide(op) {
        return Err("only f32 and f64 are summed in another order".into());
    }
    if op.result(0).uses().iter().any(|used| used.op.isa::<prim::Add>() && used.op.block() == op.block()) {
        return Err("the sum goes on".into());
    }
    let terms = terms(op);
    let found = terms.iter().find_map(|term| Small::of(*term));
    let first = found.ok_or_else(|| NoMatch::new("no term is a dot of few products, whose operands are smaller than it is"))?;
    let (dots, others): (Vec<_>, Vec<_>) = terms.into_iter().partition(|term| Small::of(*term).is_some_and(|dot| dot.kind == first.kind));
    let dots: Vec<_> = dots.into_iter().filter_map(Small::of).collect();
    if dots.len() < MANY {
        return Err("its dots of one kind are few".into());
    }
    let mut joined = |operand: usize, dim: i64| {
        let parts: Vec<_> = dots.iter().map(|dot| dot.op.operand(operand)).collect();
        let mut shape = parts[0].ty().shape();
        shape[dim as usize] = parts.iter().map(|part| part.ty().shape()[dim as usize]).sum();
        let dim = rewriter.cx().i64_attr(dim);
        rewriter.value(prim::Concat::NAME, &parts, parts[0].ty().with_shape(&shape), &[("dim", dim)])
    };
    let (lhs, rhs) = (joined(0, first.contract.0), joined(1, first.contract.1));
    let attrs = first.op.attrs();
    let attrs: Vec<(&str, Attr<'c>)> = attrs.iter().map(|(name, attr)| (name.as_str(), *attr)).collect();
    let sum = rewriter.value(prim::Dot::NAME, &[lhs, rhs], op.result(0).ty(), &attrs);
    Ok(others.into_iter().fold(sum, |sum, term| rewriter.value(prim::Add::NAME, &[sum, term], op.result(0).ty(), &[])))
}

/// The terms of a sum in order. A sum that others read is a term.
fn terms(root: Op<'_>) -> Vec<Value<'_>> {
    let (mut terms, mut open) = (Vec::new(), vec![root.operand(1), root.operand(0)]);
    while let Some(value) = open.pop() {
        match value.defining_op() {
            Some(sum) if sum.isa::<prim::Add>() && sum.block() == root.block() && value.uses().len() == 1 => {
                open.extend([sum.operand(1), sum.operand(0)]);
            }
            _ => terms.push(value),
        }
    }
    terms
}

/// A dot that only the sum reads, over one dimension so small that its operands together are smaller than its result.
struct Small<'c> {
    op: Op<'c>,
    /// The contracted dimension of lhs and of rhs.
    contract: (i64, i64),
    /// What dots of one sum have in common: their attributes and, but for the contracted dimension, the types of their operands.
    kind: (Vec<(String, Attr<'c>)>, Type<'c>, Type<'c>),
}

impl<'c> Small<'c> {
    fn of(value: Value<'c>) -> Option<Small<'c>> {
        let op = value.defining_op().filter(|op| op.isa::<prim::Dot>() && value.uses().len() == 1)?;
        let only = |name: &str| op.ints(name).filter(|dims| dims.len() == 1).map(|dims| dims[0]);
        let contract = (only("lhs_contract")?, only("rhs_contract")?);
        let (lhs, rhs) = (op.operand(0).ty(), op.operand(1).ty());
        let elements = |ty: Type<'_>| ty.is_static().then(|| product(ty.shape()));
        if elements(lhs)?.checked_add(elements(rhs)?)? > elements(value.ty())? {
            return None;
        }
        let without = |ty: Type<'c>, dim: i64| {
            let mut shape = ty.shape();
            shape[dim as usize] = 0;
            ty.with_shape(&shape)
        };
        Some(Small { op, contract, kind: (op.attrs(), without(lhs, contract.0), without(rhs, contract.1)) })
    }
}
