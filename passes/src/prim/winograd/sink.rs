//! What follows a convolution moves to its tiles.
//!
//! The tiles' results are `[n, rows / 4, 4, columns / 4, 4, features]`: the convolution's result by a free reshape, and a slice where the
//! last tiles reach beyond. Pointwise ops, as long as each is the only reader of the one before, do their work before that: their other
//! operands are taken apart likewise.

use super::matrices::TILE;
use crate::prim::again::again;
use crate::prim::fusion::class::{is_pointwise, sole_reader};
use crate::prim::zero::zero;
use strata_core::ir::{Builder, Op, Type, Value};
use strata_core::rewrite::Rewriter;
use strata_dialects::prim;

/// Replaces a convolution by its tiles, and moves the pointwise ops that follow.
pub fn follow<'c>(conv: Op<'c>, mut tiles: Value<'c>, b: &mut Rewriter<'c>) {
    let shape = conv.result(0).ty().shape();
    let (mut last, mut before) = (conv, Vec::new());
    while let Some(next) = sole_reader(last.result(0)).filter(|next| next.block() == conv.block() && is_pointwise(*next)) {
        b.go_before(next);
        let moved = |operand: Value<'c>| if operand == last.result(0) { tiles } else { apart(b, operand, tiles.ty()) };
        let operands: Vec<_> = next.operands().into_iter().map(moved).collect();
        tiles = again(b, next, &operands, next.result(0).ty().with_shape(&tiles.ty().shape()), &[]);
        before.push(std::mem::replace(&mut last, next));
    }
    b.go_before(last);
    let whole = together(b, tiles, &shape);
    b.replace(last, &[whole]);
    before.into_iter().rev().for_each(|op| b.erase(op));
}

/// A tensor of the convolution's shape in the shape of tiles.
fn apart<'c>(b: &mut Builder<'c>, x: Value<'c>, tiles: Type<'c>) -> Value<'c> {
    // What repeats along space repeats along tiles.
    const PLACES: [i64; 4] = [0, 1, 3, 5];
    let cx = b.cx();
    let ty = cx.tensor(&tiles.shape(), x.ty().element());
    if let Some(repeat) = x.defining_op().filter(|op| op.isa::<prim::Broadcast>() && op.num_operands() == 1)
        && let (Some(dims), source) = (repeat.ints("dims"), repeat.operand(0))
        && dims.iter().zip(source.ty().shape()).all(|(dim, size)| size == 1 || matches!(dim, 0 | 3))
    {
        let dims: Vec<i64> = dims.iter().map(|&dim| PLACES[dim as usize]).collect();
        return b.value(prim::Broadcast::NAME, &[source], ty, &[("dims", cx.i64s_attr(&dims))]);
    }
    let (shape, grown) = (x.ty().shape(), whole_shape(tiles));
    let x = if shape == grown {
        x
    } else {
        let zero = zero(b, x.ty().element());
        let high: Vec<i64> = grown.iter().zip(&shape).map(|(grown, size)| grown - size).collect();
        let none = cx.i64s_attr(&[0; 4]);
        b.value(prim::Pad::NAME, &[x, zero], x.ty().with_shape(&grown), &[("low", none), ("high", cx.i64s_attr(&high)), ("interior", none)])
    };
    b.value(prim::Reshape::NAME, &[x], ty, &[])
}

/// Tiles in the convolution's shape.
fn together<'c>(b: &mut Builder<'c>, tiles: Value<'c>, shape: &[i64]) -> Value<'c> {
    let grown = whole_shape(tiles.ty());
    let x = b.value(prim::Reshape::NAME, &[tiles], tiles.ty().with_shape(&grown), &[]);
    if grown == shape {
        return x;
    }
    let cx = b.cx();
    let attrs = [("offsets", cx.i64s_attr(&[0; 4])), ("sizes", cx.i64s_attr(shape)), ("strides", cx.i64s_attr(&[1; 4]))];
    b.value(prim::Slice::NAME, &[x], tiles.ty().with_shape(shape), &attrs)
}

/// `[n, rows, columns, features]` of all tiles.
fn whole_shape(tiles: Type<'_>) -> Vec<i64> {
    let shape = tiles.shape();
    vec![shape[0], shape[1] * TILE as i64, shape[3] * TILE as i64, shape[5]]
}
