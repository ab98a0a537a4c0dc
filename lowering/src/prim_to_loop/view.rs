//! Views as transformations of index expressions.

use super::Error;
use super::kernel::Kernel;
use super::sizes::{Size, arith, pad_amount};
use super::stage::Stage;
use strata_core::ir::{AffineExpr, DYNAMIC, Op, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_dialects::prim;
use strata_dialects::prim::view::windowed;

/// Ops that only move elements.
const VIEWS: &[&str] = &[
    prim::Broadcast::NAME,
    prim::Concat::NAME,
    prim::DynamicSlice::NAME,
    prim::DynamicUpdate::NAME,
    prim::Pad::NAME,
    prim::Reshape::NAME,
    prim::Reverse::NAME,
    prim::Slice::NAME,
    prim::SlidingWindow::NAME,
    prim::Transpose::NAME,
];

/// Whether an op only moves elements.
pub fn is_view(op: Op<'_>) -> bool {
    VIEWS.contains(&op.name())
}

/// The element of a view: the element of its operand at other indices.
pub fn element<'c>(kernel: &mut Kernel<'c>, stage: &mut Stage<'c>, op: Op<'c>, indices: &[AffineExpr<'c>]) -> Result<Value<'c>, Error> {
    let cx = kernel.cx();
    let source = op.operand(0);
    let ints = |name: &str| op.ints(name).unwrap_or_default();
    let at = match op.name() {
        prim::Broadcast::NAME => {
            let (shape, result) = (source.ty().shape(), op.result(0).ty().shape());
            let repeats = |dim: usize, to: usize| shape[dim] == 1 && result[to] != 1;
            let at = |(dim, &to): (usize, &i64)| if repeats(dim, to as usize) { cx.constant(0) } else { indices[to as usize] };
            ints("dims").iter().enumerate().map(at).collect()
        }
        prim::Transpose::NAME => {
            let mut at = indices.to_vec();
            for (&dim, &index) in ints("perm").iter().zip(indices) {
                at[dim as usize] = index;
            }
            at
        }
        prim::Reverse::NAME => {
            let mut at = indices.to_vec();
            for dim in ints("dims") {
                let size = kernel.size(source, dim as usize)?;
                let last = kernel.size_expr(size) - cx.constant(1);
                at[dim as usize] = last - indices[dim as usize];
            }
            at
        }
        prim::Slice::NAME => {
            let (offsets, strides) = (ints("offsets"), ints("strides"));
            let mut dynamic = 1;
            let mut at = Vec::new();
            for (dim, &index) in indices.iter().enumerate() {
                let offset = if offsets[dim] == DYNAMIC {
                    dynamic += 1;
                    kernel.index_operand(op, dynamic - 1)?
                } else {
                    cx.constant(offsets[dim])
                };
                at.push(index * cx.constant(strides[dim]) + offset);
            }
            at
        }
        prim::DynamicSlice::NAME => {
            let mut at = Vec::new();
            for (dim, &index) in indices.iter().enumerate() {
                at.push(index + kernel.index_operand(op, 1 + dim)?);
            }
            at
        }
        prim::SlidingWindow::NAME => {
            let (strides, dilations) = (ints("strides"), ints("dilations"));
            let rank = source.ty().rank();
            let mut at = indices[..rank].to_vec();
            for (k, dim) in windowed(rank, strides.len(), op.ints("dims")).into_iter().enumerate() {
                at[dim] = indices[dim] * cx.constant(strides[k]) + indices[rank + k] * cx.constant(dilations[k]);
            }
            at
        }
        prim::Reshape::NAME => reshape(kernel, op, indices)?,
        prim::Pad::NAME => return pad(kernel, stage, op, indices),
        prim::Concat::NAME => return concat(kernel, stage, op, indices),
        _ => return update(kernel, stage, op, indices),
    };
    kernel.element(stage, source, &at)
}

/// Row-major reshapes whose dims split, merge or carry over; groups of dims with equal products are matched from the left.
fn reshape<'c>(kernel: &mut Kernel<'c>, op: Op<'c>, indices: &[AffineExpr<'c>]) -> Result<Vec<AffineExpr<'c>>, Error> {
    let cx = kernel.cx();
    let (source, result) = (op.operand(0), op.result(0));
    let (from_rank, to_rank) = (source.ty().rank(), result.ty().rank());
    let from: Vec<_> = (0..from_rank).map(|dim| kernel.size(source, dim)).collect::<Result<_, _>>()?;
    let to: Vec<_> = (0..to_rank).map(|dim| kernel.size(result, dim)).collect::<Result<_, _>>()?;
    let refuse = || Error::at(op, "its dims neither split, merge nor carry over; keep it outside of fusions, where it is free");
    let mut at = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < from_rank || j < to_rank {
        if i < from_rank && from[i] == Size::Static(1) && !(j < to_rank && to[j] == Size::Static(1)) {
            at.push(cx.constant(0));
            i += 1;
            continue;
        }
        if j < to_rank && to[j] == Size::Static(1) && !(i < from_rank && from[i] == Size::Static(1)) {
            j += 1;
            continue;
        }
        if i == from_rank || j == to_rank {
            return Err(refuse());
        }
        if from[i] == to[j] || same_size(from[i], to[j]) {
            at.push(indices[j]);
            (i, j) = (i + 1, j + 1);
            continue;
        }
        // A group: extend the smaller side until the products agree. One dim of each group may be symbolic only when it is outermost.
        let (first_i, first_j) = (i, j);
        let (mut left, mut right) = (static_size(from[i]), static_size(to[j]));
        (i, j) = (i + 1, j + 1);
        while left.is_none() || right.is_none() || left != right {
            match (left, right) {
                (Some(l), Some(r)) if l < r && i < from_rank => {
                    left = static_size(from[i]).map(|size| l * size);
                    i += 1;
                }
                (Some(l), Some(r)) if l > r && j < to_rank => {
                    right = static_size(to[j]).map(|size| r * size);
                    j += 1;
                }
                _ => {
                    // Symbolic: take everything that is left as one group.
                    (i, j) = (from_rank, to_rank);
                    break;
                }
            }
        }
        let mut linear = cx.constant(0);
        for (&size, &index) in to[first_j..j].iter().zip(&indices[first_j..j]) {
            let size = kernel.size_expr(size);
            linear = linear * size + index;
        }
        let mut group = Vec::new();
        for (position, &size) in from[first_i..i].iter().enumerate().rev() {
            if position == 0 {
                group.push(linear);
            } else {
                let size = kernel.size_expr(size);
                group.push(linear.modulo(size));
                linear = linear.floor_div(size);
            }
        }
        at.extend(group.into_iter().rev());
    }
    Ok(at)
}

fn static_size(size: Size<'_>) -> Option<i64> {
    match size {
        Size::Static(size) => Some(size),
        Size::Value(_) => None,
    }
}

/// Whether two symbolic sizes are the same dimension of the same tensor.
fn same_size(lhs: Size<'_>, rhs: Size<'_>) -> bool {
    let (Size::Value(lhs), Size::Value(rhs)) = (lhs, rhs) else { return false };
    let key = |value: Value<'_>| {
        let op = value.defining_op().filter(|op| op.isa::<prim::Dim>())?;
        Some((op.operand(0).to_raw().ptr as usize, op.int("dim")?))
    };
    lhs == rhs || key(lhs).is_some_and(|left| key(rhs) == Some(left))
}

/// Emits `condition` for all dims and reads under it.
fn select_inside<'c>(
    kernel: &mut Kernel<'c>,
    stage: &mut Stage<'c>,
    inside: Option<Value<'c>>,
    source: Value<'c>,
    at: &[AffineExpr<'c>],
    other: Value<'c>,
) -> Result<Value<'c>, Error> {
    let Some(inside) = inside else {
        return kernel.element(stage, source, at);
    };
    let guarded = stage.guard(true);
    let value = kernel.element(stage, source, at)?;
    stage.guarded = guarded;
    Ok(arith::select(&mut stage.b, inside, value, other))
}

/// `0 <= expr < size`, as one unsigned comparison, joined to `so_far`.
pub(super) fn within<'c>(
    kernel: &mut Kernel<'c>,
    stage: &mut Stage<'c>,
    so_far: Option<Value<'c>>,
    expr: AffineExpr<'c>,
    size: AffineExpr<'c>,
) -> Value<'c> {
    let (index, size) = (stage.index(kernel, expr), stage.index(kernel, size));
    let test = arith::cmpi(&mut stage.b, CmpIPredicate::Ult, index, size);
    join(stage, so_far, test)
}

pub(super) fn join<'c>(stage: &mut Stage<'c>, so_far: Option<Value<'c>>, test: Value<'c>) -> Value<'c> {
    match so_far {
        Some(before) => arith::andi(&mut stage.b, before, test),
        None => test,
    }
}

fn pad<'c>(kernel: &mut Kernel<'c>, stage: &mut Stage<'c>, op: Op<'c>, indices: &[AffineExpr<'c>]) -> Result<Value<'c>, Error> {
    let cx = kernel.cx();
    let source = op.operand(0);
    let interior = op.ints("interior").unwrap_or_default();
    let high = op.ints("high").unwrap_or_default();
    let mut inside = None;
    let mut at = Vec::new();
    for (dim, &index) in indices.iter().enumerate() {
        let low = pad_amount(kernel.fusion, op, "low", dim)?;
        let gap = interior.get(dim).copied().unwrap_or(0);
        let low_expr = kernel.size_expr(low);
        let mut shifted = index - low_expr;
        if gap > 0 {
            let step = cx.constant(gap + 1);
            let value = stage.index(kernel, shifted.modulo(step));
            let zero = stage.b.const_index(0);
            let test = arith::cmpi(&mut stage.b, CmpIPredicate::Eq, value, zero);
            inside = Some(join(stage, inside, test));
            shifted = shifted.floor_div(step);
        }
        let crops_only = matches!(low, Size::Static(low) if low <= 0) && high[dim] != DYNAMIC && high[dim] <= 0 && gap == 0;
        if !crops_only {
            let size = kernel.size(source, dim)?;
            let size = kernel.size_expr(size);
            inside = Some(within(kernel, stage, inside, shifted, size));
        }
        at.push(shifted);
    }
    let other = kernel.element(stage, op.operand(1), &[])?;
    select_inside(kernel, stage, inside, source, &at, other)
}

/// The part in which the index lies, by a chain of selections.
fn concat<'c>(kernel: &mut Kernel<'c>, stage: &mut Stage<'c>, op: Op<'c>, indices: &[AffineExpr<'c>]) -> Result<Value<'c>, Error> {
    let dim = op.int("dim").unwrap_or_default() as usize;
    let mut start = Size::Static(0);
    let mut chosen: Option<Value<'c>> = None;
    for operand in op.operands() {
        let size = kernel.size(operand, dim)?;
        let mut at = indices.to_vec();
        at[dim] = indices[dim] - kernel.size_expr(start);
        let (begin, end) = (start, arith(kernel.fusion, arith::AddI::NAME, start, size));
        start = end;
        let only = op.num_operands() == 1;
        let guarded = stage.guard(!only);
        let value = kernel.element(stage, operand, &at)?;
        stage.guarded = guarded;
        chosen = Some(match chosen {
            None => value,
            Some(before) => {
                let (index, begin) = (stage.index(kernel, indices[dim]), kernel.size_expr(begin));
                let begin = stage.index(kernel, begin);
                let test = arith::cmpi(&mut stage.b, CmpIPredicate::Sge, index, begin);
                arith::select(&mut stage.b, test, value, before)
            }
        });
    }
    chosen.ok_or_else(|| Error::at(op, "it has no operands"))
}

/// `dynamic_update`: inside the updated box the update, elsewhere the operand.
fn update<'c>(kernel: &mut Kernel<'c>, stage: &mut Stage<'c>, op: Op<'c>, indices: &[AffineExpr<'c>]) -> Result<Value<'c>, Error> {
    let (source, updates) = (op.operand(0), op.operand(1));
    let mut inside = None;
    let mut at = Vec::new();
    for (dim, &index) in indices.iter().enumerate() {
        let shifted = index - kernel.index_operand(op, 2 + dim)?;
        let size = kernel.size(updates, dim)?;
        let size = kernel.size_expr(size);
        inside = Some(within(kernel, stage, inside, shifted, size));
        at.push(shifted);
    }
    let other = kernel.element(stage, source, indices)?;
    select_inside(kernel, stage, inside, updates, &at, other)
}
