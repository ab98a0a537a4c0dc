//! How accesses move along the dims of a kernel.

use super::roles::uses;
use super::view::{StageView, is_index};
use crate::loops;
use std::collections::HashSet;
use strata_core::ir::{AffineExpr, AffineKind, AffineMap, DYNAMIC, Op, Value};

/// How an access moves when one dim moves by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stride {
    /// Not at all.
    Zero,
    /// To the next element.
    One,
    /// Somewhere else.
    Other,
}

/// How an access moves along a dim.
pub fn stride(map: AffineMap<'_>, operand: Value<'_>, dim: usize) -> Stride {
    let shape = operand.ty().shape();
    let mut total = Stride::Zero;
    let mut inner = Some(1i64);
    for (expr, &size) in map.results().into_iter().zip(&shape).rev() {
        let step = coefficient(expr, dim);
        total = match (step, total, inner) {
            (Some(0), _, _) => total,
            (Some(1), Stride::Zero, Some(1)) => Stride::One,
            _ => Stride::Other,
        };
        inner = if size == DYNAMIC { None } else { inner.map(|inner| inner.saturating_mul(size)) };
    }
    total
}

/// By how many elements an access moves when one dim moves by one, where that is one number and known.
pub fn distance(map: AffineMap<'_>, operand: Value<'_>, dim: usize) -> Option<i64> {
    let (mut total, mut inner) = (0, Some(1i64));
    for (expr, &size) in map.results().into_iter().zip(&operand.ty().shape()).rev() {
        total += match coefficient(expr, dim)? {
            0 => 0,
            step => step * inner?,
        };
        inner = inner.filter(|_| size != DYNAMIC).and_then(|inner| inner.checked_mul(size));
    }
    Some(total)
}

/// The factor of a dim in an expression, when the expression is linear in it.
pub fn coefficient(expr: AffineExpr<'_>, dim: usize) -> Option<i64> {
    if !expr.uses_dim(dim) {
        return Some(0);
    }
    match expr.kind() {
        AffineKind::Dim(_) => Some(1),
        AffineKind::Add(lhs, rhs) => Some(coefficient(lhs, dim)? + coefficient(rhs, dim)?),
        AffineKind::Mul(lhs, rhs) => match (lhs.as_constant(), rhs.as_constant()) {
            (Some(factor), _) => Some(factor * coefficient(rhs, dim)?),
            (_, Some(factor)) => Some(factor * coefficient(lhs, dim)?),
            _ => None,
        },
        _ => None,
    }
}

/// Whether an access moves by the same distance everywhere along a dim.
pub fn is_linear(map: AffineMap<'_>, dim: usize) -> bool {
    map.results().iter().all(|expr| coefficient(*expr, dim).is_some())
}

/// What an expression is where all dims are 0, when it is linear and that is a number.
fn constant(expr: AffineExpr<'_>) -> Option<i64> {
    match expr.kind() {
        AffineKind::Dim(_) => Some(0),
        AffineKind::Add(lhs, rhs) => Some(constant(lhs)? + constant(rhs)?),
        AffineKind::Mul(lhs, rhs) => Some(constant(lhs)? * constant(rhs)?),
        _ => expr.as_constant(),
    }
}

/// The share of a stage's points, from 0 to 1, at which an access lies inside of its operand. An index counts where it is a dim of the result, of
/// known size, plus or minus a number; any other one is taken to lie inside.
pub fn share_inside(stage: &StageView<'_>, operand: usize) -> f64 {
    let (dims, result) = (stage.result_dims(), stage.op.result(0).ty().shape());
    let extents = stage.op.operand(operand).ty().shape();
    let share = |expr: AffineExpr<'_>, extent: i64| {
        let (&dim, &size) = dims.iter().zip(&result).find(|(dim, _)| expr.uses_dim(**dim))?;
        if stage.domain.iter().any(|&other| other != dim && expr.uses_dim(other)) {
            return None;
        }
        let (by, first) = (coefficient(expr, dim)?, constant(expr)?);
        if by.abs() != 1 || size <= 0 || extent < 0 {
            return None;
        }
        let [low, high] = if by > 0 { [-first, extent - first] } else { [first - extent + 1, first + 1] };
        let inside = (high.min(size) - low.max(0)).max(0);
        Some(inside as f64 / size as f64)
    };
    stage.maps[operand].results().into_iter().zip(extents).map(|(expr, extent)| share(expr, extent).unwrap_or(1.0)).product()
}

/// Values of a stage's body that differ between points along a dim.
pub fn varying<'c>(stage: &StageView<'c>, dim: usize) -> HashSet<Value<'c>> {
    let block = stage.op.body(0);
    let moves = |at: usize| stage.maps.get(at).is_none_or(|map| uses(*map, dim));
    let mut varying: HashSet<_> = block.args().into_iter().enumerate().filter(|(at, _)| moves(*at)).map(|(_, arg)| arg).collect();
    for op in block.ops() {
        if op.results().iter().any(|result| is_index(*result, dim)) || op.operands().iter().any(|operand| varying.contains(operand)) {
            varying.extend(op.results());
        }
    }
    varying
}

/// Loads of a body at places that differ along the one dim that a stage reduces, and that may be computed before it gets there: nothing on the way
/// to them fails, or is loaded at a computed place itself.
pub fn prefetched_loads<'c>(stage: &StageView<'c>) -> Vec<Op<'c>> {
    let &[dim] = stage.reduce.as_slice() else { return Vec::new() };
    let moving = varying(stage, dim);
    let moves = |load: &Op<'c>| load.operands()[1..].iter().any(|index| moving.contains(index));
    let early = |load: &Op<'c>| load.operands()[1..].iter().all(|index| is_speculatable(stage, *index));
    let loads = stage.op.body(0).ops().into_iter().filter(|op| op.isa::<loops::Load>());
    loads.filter(|load| moves(load) && early(load)).collect()
}

/// Whether a value of a body may be computed at a point that the stage does not come to.
fn is_speculatable<'c>(stage: &StageView<'c>, value: Value<'c>) -> bool {
    let Some(op) = value.defining_op().filter(|op| op.parent() == Some(stage.op)) else { return true };
    op.is_speculatable() && op.operands().into_iter().all(|operand| is_speculatable(stage, operand))
}
