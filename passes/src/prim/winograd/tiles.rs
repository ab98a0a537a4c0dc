//! Images that end where tiles do, and matrices along the dims of tiles.

use super::matrices::{TILE, Transform};
use super::{NUMBERS, UNDER};
use crate::prim::channels_last::order::transpose;
use crate::prim::zero::zero;
use strata_core::ir::{Builder, Value};
use strata_dialects::prim;

/// An image with zeros behind its end, so that it has these sizes along two dims.
pub fn grown<'c>(b: &mut Builder<'c>, x: Value<'c>, dims: [usize; 2], sizes: [i64; 2]) -> Value<'c> {
    let mut shape = x.ty().shape();
    let mut more = vec![0; shape.len()];
    for (dim, size) in dims.into_iter().zip(sizes) {
        more[dim] = size - shape[dim];
        shape[dim] = size;
    }
    if more.iter().all(|&n| n == 0) {
        return x;
    }
    let (ty, cx) = (x.ty().with_shape(&shape), b.cx());
    // The padding of the convolution grows, where there is one.
    let padding = x.defining_op().filter(|pad| pad.isa::<prim::Pad>() && pad.num_operands() == 2 && is_zero(pad.operand(1)));
    if let Some(pad) = padding
        && let Some(before) = pad.ints("high").filter(|high| high.iter().all(|&n| n >= 0))
    {
        let high: Vec<i64> = before.iter().zip(&more).map(|(before, more)| before + more).collect();
        let mut attrs: Vec<_> = ["low", "interior"].into_iter().filter_map(|name| Some((name, pad.attr(name)?))).collect();
        attrs.push(("high", cx.i64s_attr(&high)));
        return b.value(prim::Pad::NAME, &pad.operands(), ty, &attrs);
    }
    let zero = zero(b, x.ty().element());
    let none = cx.i64s_attr(&vec![0; shape.len()]);
    b.value(prim::Pad::NAME, &[x, zero], ty, &[("low", none), ("high", cx.i64s_attr(&more)), ("interior", none)])
}

/// Whether a value is a constant zero.
fn is_zero(value: Value<'_>) -> bool {
    let bytes = value.defining_op().filter(|op| op.isa::<prim::Constant>()).and_then(|op| op.attr("value")?.as_dense());
    bytes.is_some_and(|(bytes, _)| bytes.iter().all(|&byte| byte == 0))
}

/// The elements under each of so many tiles of a channels-last image that ends with the last one, transformed: `[tiles, points, channels]`.
pub fn input_tiles<'c>(b: &mut Builder<'c>, x: Value<'c>, [rows, columns]: [i64; 2], transform: &Transform) -> Value<'c> {
    let (cx, shape, step) = (b.cx(), x.ty().shape(), TILE as i64);
    let (images, channels) = (shape[0], shape[3]);
    let attrs = [
        ("sizes", cx.i64s_attr(&[UNDER, UNDER])),
        ("strides", cx.i64s_attr(&[step, step])),
        ("dilations", cx.i64s_attr(&[1, 1])),
        ("dims", cx.i64s_attr(&[1, 2])),
    ];
    let x = b.value(prim::SlidingWindow::NAME, &[x], x.ty().with_shape(&[images, rows, columns, channels, UNDER, UNDER]), &attrs);
    let x = transpose(b, x, &[0, 1, 2, 4, 5, 3]);
    let x = transform_tiles(b, x, [3, 4], &transform.input, UNDER);
    b.value(prim::Reshape::NAME, &[x], x.ty().with_shape(&[images * rows * columns, NUMBERS, channels]), &[])
}

/// A matrix of so many rows along two dims.
pub fn transform_tiles<'c>(b: &mut Builder<'c>, x: Value<'c>, dims: [usize; 2], matrix: &[f64], rows: i64) -> Value<'c> {
    let mut shape = x.ty().shape();
    dims.iter().for_each(|&dim| shape[dim] = rows);
    let attrs = [("dims", b.cx().i64s_attr(&dims.map(|dim| dim as i64))), ("matrix", b.cx().f64s_attr(matrix))];
    b.value(prim::LinearTransform::NAME, &[x], x.ty().with_shape(&shape), &attrs)
}
