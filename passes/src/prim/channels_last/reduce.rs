//! Reductions over space and the channels of a group, as group normalisation has them, with the channels last.
//!
//! Elements of a group are short pieces of memory, one in each row of channels. Whole rows are reduced over space first, and of what is left,
//! one element for each channel, the channels of a group.

use strata_core::ir::{Attr, Builder, Op, OpSpec, Value};
use strata_dialects::loops::view::product;
use strata_dialects::prim;

/// Elements from which on a piece fills vectors by itself.
const LONG_PIECE: i64 = 64;
/// Rows from which on what is left of them is small beside them.
const MANY_ROWS: i64 = 64;

/// The reduction of `value` over these dims, as one over the dims outside of the last kept one and one over those inside; nothing where one
/// will do as well. Halves are rounded once, so that they have no second reduction.
pub fn in_parts<'c>(b: &mut Builder<'c>, op: Op<'c>, value: Value<'c>, dims: &[i64]) -> Option<Value<'c>> {
    let shape = value.ty().shape();
    let kept = (0..shape.len()).rfind(|&dim| shape[dim] != 1 && !dims.contains(&(dim as i64)))? as i64;
    let (outside, inside): (Vec<i64>, Vec<i64>) = dims.iter().partition(|&&dim| dim < kept);
    let size = |dims: &[i64]| product(dims.iter().map(|&dim| shape[dim as usize]));
    let wide = value.ty().element_type().is_some_and(|element| element.bits() >= 32);
    let pays = wide && value.ty().is_static() && (2..LONG_PIECE).contains(&size(&inside)) && size(&outside) >= MANY_ROWS;
    if !pays {
        return None;
    }
    let rows = reduced(b, op, value, &outside);
    let behind: Vec<i64> = inside.iter().map(|dim| dim - outside.len() as i64).collect();
    Some(reduced(b, op, rows, &behind))
}

/// The reduction of another value over other dims.
fn reduced<'c>(b: &mut Builder<'c>, op: Op<'c>, value: Value<'c>, dims: &[i64]) -> Value<'c> {
    let shape = value.ty().shape();
    let kept: Vec<i64> = (0..shape.len()).filter(|&dim| !dims.contains(&(dim as i64))).map(|dim| shape[dim]).collect();
    let old = op.attrs();
    let attrs: Vec<(&str, Attr<'c>)> =
        old.iter().map(|(name, attr)| (name.as_str(), if name == "dims" { b.cx().i64s_attr(dims) } else { *attr })).collect();
    let results = [op.result(0).ty().with_shape(&kept)];
    b.op(OpSpec { name: prim::Reduce::NAME, operands: &[value], results: &results, attrs: &attrs, ..OpSpec::default() }).result(0)
}
