//! Sums of products as `dot`, and sums of a `dot`. See [`super::sums`] for when they fire.

use super::product::{Factor, Tree};
use super::rewriter::{BuildSized, Simplified, SizedRewriter, same_type};
use super::sums::{sum, summed};
use strata_core::ir::{ElementType, Op};
use strata_core::rewrite::NoMatch;
use strata_dialects::prim;

/// Contracted elements below which a product is summed as it stands.
const MIN_CONTRACTED: i64 = 16;

pub(super) fn is_wide(op: Op<'_>) -> bool {
    matches!(op.result(0).ty().element_type(), Some(ElementType::F32 | ElementType::F64))
}

fn position(dims: &[usize], dim: usize) -> i64 {
    dims.iter().position(|&have| have == dim).unwrap_or_default() as i64
}

/// sum_k x_ik * y_kj = dot(x, y).
pub fn sum_of_two_factors<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let dims = summed(op)?;
    if !is_wide(op) {
        return Err("only f32 and f64 products are written as dots".into());
    }
    let whole = op.operand(0);
    let Tree::Node(_, parts) = Tree::of(rewriter, whole) else { return Err("no product".into()) };
    let [Tree::Leaf(lhs), Tree::Leaf(rhs)] = parts.as_ref() else { return Err("more than two factors".into()) };
    let free = |one: &Factor<'c>, other: &Factor<'c>| -> Vec<usize> {
        (0..whole.ty().rank()).filter(|dim| one.dims.contains(dim) && !other.dims.contains(dim)).collect()
    };
    let (left, right) = (free(lhs, rhs), free(rhs, lhs));
    if left.is_empty() || right.is_empty() {
        return Err("one factor has all dimensions of the other".into());
    }
    if left.iter().chain(&right).any(|dim| dims.contains(dim)) {
        return Err("a dimension of one factor alone is summed".into());
    }
    let both: Vec<usize> = (0..whole.ty().rank()).filter(|dim| lhs.dims.contains(dim) && rhs.dims.contains(dim)).collect();
    let (contract, batch): (Vec<usize>, Vec<usize>) = both.into_iter().partition(|dim| dims.contains(dim));
    let shape = whole.ty().shape();
    let size: i64 = contract.iter().map(|&dim| if shape[dim] < 0 { MIN_CONTRACTED } else { shape[dim] }).product();
    if contract.is_empty() || size < MIN_CONTRACTED {
        return Err("too few products for each element".into());
    }
    let cx = rewriter.cx();
    let list = |dims: &[usize], of: &Factor<'c>| cx.i64s_attr(&dims.iter().map(|&dim| position(&of.dims, dim)).collect::<Vec<_>>());
    let attrs = [
        ("lhs_batch", list(&batch, lhs)),
        ("rhs_batch", list(&batch, rhs)),
        ("lhs_contract", list(&contract, lhs)),
        ("rhs_contract", list(&contract, rhs)),
    ];
    // Free dimensions come in the order of their operand.
    let order = |of: &Factor<'c>, free: &[usize]| of.dims.iter().copied().filter(|dim| free.contains(dim)).collect::<Vec<_>>();
    let found = [batch, order(lhs, &left), order(rhs, &right)].concat();
    let sizes: Vec<i64> = found.iter().map(|&dim| shape[dim]).collect();
    let dot = rewriter.value(prim::Dot::NAME, &[lhs.value, rhs.value], op.result(0).ty().with_shape(&sizes), &attrs);
    let wanted: Vec<usize> = (0..shape.len()).filter(|dim| !dims.contains(dim)).collect();
    if wanted == found {
        return Ok(dot);
    }
    let perm: Vec<i64> = wanted.iter().map(|&dim| position(&found, dim)).collect();
    let perm = rewriter.cx().i64s_attr(&perm);
    Ok(rewriter.value(prim::Transpose::NAME, &[dot], op.result(0).ty(), &[("perm", perm)]))
}

/// sum_j dot(x, y)_ij = dot(x, sum_j y).
pub fn sum_of_dot<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let dims = summed(op)?;
    let value = op.operand(0);
    let dot =
        value.defining_op().filter(|dot| dot.isa::<prim::Dot>() && is_wide(op)).ok_or(NoMatch::new("no sum of a dot of f32 or f64"))?;
    if value.uses().len() > 1 {
        return Err("the dot is used elsewhere".into());
    }
    let list = |name: &str| -> Vec<usize> { dot.ints(name).unwrap_or_default().into_iter().map(|dim| dim as usize).collect() };
    let batch = list("lhs_batch").len();
    let mut operands = [dot.operand(0), dot.operand(1)];
    let mut paired = [["lhs_batch", "lhs_contract"].map(list), ["rhs_batch", "rhs_contract"].map(list)];
    let (mut at, mut taken) = (batch, Vec::new());
    for (operand, paired) in operands.iter_mut().zip(&mut paired) {
        let rank = operand.ty().rank();
        let free: Vec<usize> = (0..rank).filter(|dim| !paired.concat().contains(dim)).collect();
        let gone: Vec<usize> = free.iter().enumerate().filter(|(index, _)| dims.contains(&(at + index))).map(|(_, &dim)| dim).collect();
        taken.extend((at..at + free.len()).filter(|dim| dims.contains(dim)));
        at += free.len();
        *operand = sum(rewriter, *operand, &gone);
        for dim in paired.iter_mut().flatten() {
            *dim -= gone.iter().filter(|&gone| gone < dim).count();
        }
    }
    if taken.is_empty() {
        return Err("no free dimension is summed".into());
    }
    let attr = |dims: &[usize]| rewriter.cx().i64s_attr(&dims.iter().map(|&dim| dim as i64).collect::<Vec<_>>());
    let [[lhs_batch, lhs_contract], [rhs_batch, rhs_contract]] = &paired;
    let attrs = [
        ("lhs_batch", attr(lhs_batch)),
        ("rhs_batch", attr(rhs_batch)),
        ("lhs_contract", attr(lhs_contract)),
        ("rhs_contract", attr(rhs_contract)),
    ];
    let shape = value.ty().shape();
    let left: Vec<usize> = (0..shape.len()).filter(|dim| !taken.contains(dim)).collect();
    let ty = value.ty().with_shape(&left.iter().map(|&dim| shape[dim]).collect::<Vec<_>>());
    let dot = rewriter.value(prim::Dot::NAME, &operands, ty, &attrs);
    let rest: Vec<usize> = (0..left.len()).filter(|&at| dims.contains(&left[at])).collect();
    let summed = sum(rewriter, dot, &rest);
    same_type(op, summed)
}

/// dot(x, y) = broadcast(x) * broadcast(y), where the contracted dimensions have one element: it joins what is around it.
pub fn dot_of_one<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let result = op.result(0).ty();
    let list = |name: &str| -> Vec<usize> { op.ints(name).unwrap_or_default().into_iter().map(|dim| dim as usize).collect() };
    let sides = [(op.operand(0), list("lhs_batch"), list("lhs_contract")), (op.operand(1), list("rhs_batch"), list("rhs_contract"))];
    if !result.is_static() || sides.iter().any(|(x, ..)| x.ty().element_type() != result.element_type() || !x.ty().is_static()) {
        return Err("sizes are not known, or products are added in another type".into());
    }
    if sides.iter().any(|(x, _, contract)| contract.iter().any(|&dim| x.ty().shape()[dim] != 1)) {
        return Err("several products are added".into());
    }
    let mut at = sides[0].1.len();
    let factors = sides.map(|(x, batch, contract)| {
        let free: Vec<usize> = (0..x.ty().rank()).filter(|dim| !batch.contains(dim) && !contract.contains(dim)).collect();
        let places: Vec<usize> = (0..batch.len()).chain(at..at + free.len()).collect();
        at += free.len();
        // The place in the result of each dimension that is left, in the order of the operand.
        let mut left: Vec<(usize, usize)> = batch.into_iter().chain(free).zip(places).collect();
        left.sort_unstable();
        let shape: Vec<i64> = left.iter().map(|(dim, _)| x.ty().shape()[*dim]).collect();
        let dense = if contract.is_empty() { x } else { rewriter.reshape(x, x.ty().with_shape(&shape), |dim| (x, left[dim].0)) };
        let mut order: Vec<usize> = (0..left.len()).collect();
        order.sort_by_key(|&dim| left[dim].1);
        let cx = rewriter.cx();
        let numbers = |numbers: &mut dyn Iterator<Item = usize>| cx.i64s_attr(&numbers.map(|number| number as i64).collect::<Vec<_>>());
        let turned = if order.is_sorted() {
            dense
        } else {
            let ty = dense.ty().with_shape(&order.iter().map(|&dim| shape[dim]).collect::<Vec<_>>());
            rewriter.value(prim::Transpose::NAME, &[dense], ty, &[("perm", numbers(&mut order.iter().copied()))])
        };
        let dims = numbers(&mut order.iter().map(|&dim| left[dim].1));
        rewriter.value(prim::Broadcast::NAME, &[turned], result, &[("dims", dims)])
    });
    Ok(rewriter.value(prim::Mul::NAME, &factors, result, &[]))
}
