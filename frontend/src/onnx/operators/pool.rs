//! Pooling.

use strata_core::ir::{self, ElementType};
use strata_dialects::aten::{Input, Operator, Scalar, op};

use super::shape::{arange, product};
use super::window::Window;
use crate::onnx::call::{Call, b, d, f, i, is, known_shape, many, one, s, t, text};
use crate::onnx::error::Eval;
use crate::onnx::table::{Row, row};
use crate::onnx::value::{Num, Value};

pub(in crate::onnx) const ROWS: &[Row] = &[
    row("AveragePool", average),
    row("GlobalAveragePool", |c| global(c, op::MEAN_DIM)),
    row("GlobalLpPool", |c| {
        let (x, p) = (c.tensor(0)?, c.int("p", 2));
        let size = power(c, x, p)?;
        let axes: Vec<_> = (2..x.ty().rank() as i64).collect();
        let sum = c.op(op::SUM_DIM_INTLIST, &[t(size), is(&axes), b(true)])?;
        root(c, sum, p).map(one)
    }),
    row("GlobalMaxPool", |c| global(c, op::AMAX)),
    row("LpPool", |c| {
        let (x, p) = (c.tensor(0)?, c.int("p", 2));
        let window = window(c, x)?.completed(x)?;
        let size = power(c, x, p)?;
        let sum = sums(c, size, &window)?;
        root(c, sum, p).map(one)
    }),
    row("MaxPool", max),
    row("MaxUnpool", unpool),
];

fn window<'c>(c: &Call<'_, '_, 'c>, x: ir::Value<'c>) -> Eval<Window> {
    Window::of(c, x, c.ints("kernel_shape").ok_or("it has no kernel_shape")?)
}

/// One result over all spatial dimensions.
fn global<'c>(c: &mut Call<'_, '_, 'c>, operator: Operator) -> Eval<Vec<Value<'c>>> {
    let x = c.tensor(0)?;
    let axes: Vec<_> = (2..x.ty().rank() as i64).collect();
    if axes.is_empty() {
        return Ok(one(x));
    }
    c.op(operator, &[t(x), is(&axes), b(true)]).map(one)
}

fn power<'c>(c: &mut Call<'_, '_, 'c>, x: ir::Value<'c>, p: i64) -> Eval<ir::Value<'c>> {
    let size = c.op(op::ABS, &[t(x)])?;
    if p == 1 { Ok(size) } else { c.op(op::POW_TENSOR_SCALAR, &[t(size), s(p)]) }
}

fn root<'c>(c: &mut Call<'_, '_, 'c>, x: ir::Value<'c>, p: i64) -> Eval<ir::Value<'c>> {
    match p {
        1 => Ok(x),
        2 => c.op(op::SQRT, &[t(x)]),
        p => c.op(op::POW_TENSOR_SCALAR, &[t(x), f(1.0 / p as f64)]),
    }
}

/// The sum under each window; padding counts as zero.
fn sums<'c>(c: &mut Call<'_, '_, 'c>, x: ir::Value<'c>, window: &Window) -> Eval<ir::Value<'c>> {
    let rank = window.kernel.len();
    let dtype = x.ty().element_type().ok_or("it has no element type")?;
    let padded = c.op(op::CONSTANT_PAD_ND, &[t(x), is(&window.flat_pads()), s(0)])?;
    // Each channel by itself is a convolution with ones.
    let sizes = c.sizes(padded);
    let planes = product(c, &sizes[..2]);
    let flat: Vec<_> = [planes, Num::Int(1)].into_iter().chain(sizes[2..].iter().copied()).collect();
    let flat = c.reshape(padded, &flat)?;
    let shape: Vec<_> = [1, 1].into_iter().chain(window.kernel.iter().copied()).collect();
    let ones = c.op(op::ONES, &[is(&shape), d(dtype)])?;
    let (none, strides, dilations) = (|| is(&vec![0; rank]), is(&window.strides), is(&window.dilations));
    let sum = c.op(op::CONVOLUTION, &[t(flat), t(ones), Some(Input::None), strides, none(), dilations, b(false), none(), i(1)])?;
    let shape: Vec<_> = sizes[..2].iter().copied().chain(c.sizes(sum)[2..].iter().copied()).collect();
    c.reshape(sum, &shape)
}

fn average<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let x = c.tensor(0)?;
    let window = window(c, x)?;
    let include = c.flag("count_include_pad", false);
    let rank = window.kernel.len();
    let operator = [op::AVG_POOL1D, op::AVG_POOL2D, op::AVG_POOL3D].get(rank.wrapping_sub(1)).copied();
    let small = window.symmetric() && (0..rank).all(|dim| 2 * window.pads[dim][0] <= window.kernel[dim]);
    if let Some(operator) = operator.filter(|_| small && !window.ceil && window.dilations.iter().all(|step| *step == 1)) {
        let (kernel, strides, padding) = (is(&window.kernel), is(&window.strides), is(&window.padding()));
        return c.op(operator, &[t(x), kernel, strides, padding, b(false), b(include)]).map(one);
    }
    let whole = window.completed(x)?;
    let sum = sums(c, x, &whole)?;
    // What counts is what is there, and the padding if it is asked for, but not what ceil_mode adds.
    let shape = known_shape(x).ok_or("padding on one side is averaged over sizes that only a call knows")?;
    let sizes: Vec<_> = [1, 1].into_iter().chain(shape[2..].iter().copied()).collect();
    let mut counted = c.op(op::ONES, &[is(&sizes), d(c.dtype(0)?)])?;
    let mut rest = whole.clone();
    if include {
        counted = c.op(op::CONSTANT_PAD_ND, &[t(counted), is(&window.flat_pads()), s(1)])?;
        for (pads, used) in rest.pads.iter_mut().zip(&window.pads) {
            *pads = [0, pads[1] - used[1]];
        }
    }
    let counts = sums(c, counted, &rest)?;
    c.op(op::DIV_TENSOR, &[t(sum), t(counts)]).map(one)
}

fn max<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let x = c.tensor(0)?;
    let dtype = c.dtype(0)?;
    let window = window(c, x)?;
    let rank = window.kernel.len();
    let operators = [op::MAX_POOL1D_WITH_INDICES, op::MAX_POOL2D_WITH_INDICES, op::MAX_POOL3D_WITH_INDICES];
    let operator = *operators.get(rank.wrapping_sub(1)).ok_or("it has none of 1, 2 and 3 spatial dimensions")?;
    let small = window.symmetric() && (0..rank).all(|dim| 2 * window.pads[dim][0] <= window.kernel[dim]);
    let direct = small && !window.ceil && dtype.is_float();
    let (kernel, strides, dilations) = (is(&window.kernel), is(&window.strides), is(&window.dilations));
    let (results, pads) = if direct {
        (c.ops(operator, &[t(x), kernel, strides, is(&window.padding()), dilations])?, vec![[0, 0]; rank])
    } else {
        let whole = window.completed(x)?;
        let lowest = match dtype {
            ElementType::I8 => Scalar::Int(-128),
            ElementType::U8 => Scalar::Int(0),
            dtype if dtype.is_float() => Scalar::Float(f64::NEG_INFINITY),
            other => return Err(format!("tensors of {other} are not pooled").into()),
        };
        let padded = c.op(op::CONSTANT_PAD_ND, &[t(x), is(&whole.flat_pads()), Some(Input::Scalar(lowest))])?;
        let padded = if dtype.is_float() { padded } else { c.cast(padded, ElementType::F32)? };
        let mut results = c.ops(operator, &[t(padded), kernel, strides, is(&vec![0; rank]), dilations])?;
        results[0] = c.cast(results[0], dtype)?;
        (results, whole.pads)
    };
    if c.node.output.len() < 2 {
        return Ok(one(results[0]));
    }
    let places = flat_places(c, x, results[1], &pads, c.int("storage_order", 0) != 0)?;
    Ok(many(vec![results[0], places]))
}

/// Places in planes that were padded, as places in the whole tensor.
fn flat_places<'c>(
    c: &mut Call<'_, '_, 'c>,
    x: ir::Value<'c>,
    places: ir::Value<'c>,
    pads: &[[i64; 2]],
    columns: bool,
) -> Eval<ir::Value<'c>> {
    let shape = known_shape(x).ok_or("the places of largest elements are imported of known sizes only")?;
    let (sizes, rank) = (&shape[2..], pads.len());
    // The index along each dimension, last first.
    let (mut rest, mut indices) = (places, vec![places; rank]);
    for dim in (0..rank).rev() {
        let padded = sizes[dim] + pads[dim][0] + pads[dim][1];
        let index = c.op(op::REMAINDER_SCALAR, &[t(rest), s(padded)])?;
        indices[dim] = c.op(op::SUB_SCALAR, &[t(index), s(pads[dim][0])])?;
        rest = c.op(op::DIV_SCALAR_MODE, &[t(rest), s(padded), text("floor")])?;
    }
    let order: Vec<usize> = if columns { (0..rank).rev().collect() } else { (0..rank).collect() };
    let mut flat = indices[order[0]];
    for dim in &order[1..] {
        let scaled = c.op(op::MUL_SCALAR, &[t(flat), s(sizes[*dim])])?;
        flat = c.op(op::ADD_TENSOR, &[t(scaled), t(indices[*dim])])?;
    }
    let planes = arange(c, Num::Int(shape[0] * shape[1]), ElementType::I64)?;
    let first = c.op(op::MUL_SCALAR, &[t(planes), s(sizes.iter().product())])?;
    let sizes: Vec<_> = shape[..2].iter().copied().chain(vec![1; rank]).collect();
    let first = c.op(op::RESHAPE, &[t(first), is(&sizes)])?;
    c.op(op::ADD_TENSOR, &[t(first), t(flat)])
}

/// Elements at the places that pooling took them from, zeros elsewhere.
fn unpool<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (x, places) = (c.tensor(0)?, c.tensor(1)?);
    let window = window(c, x)?;
    let shape = known_shape(x).ok_or("it is imported of known sizes only")?;
    let spatial = (0..window.kernel.len()).map(|dim| {
        (shape[dim + 2] - 1)
            .saturating_mul(window.strides[dim])
            .saturating_add(window.kernel[dim] - window.pads[dim][0] - window.pads[dim][1])
    });
    let sizes: Vec<i64> = shape[..2].iter().copied().chain(spatial).collect();
    let count = crate::types::checked_count(&sizes).ok_or("its sizes are no sizes")?;
    let zeros = c.op(op::ZEROS, &[is(&[count]), d(c.dtype(0)?)])?;
    let (flat, places) = (c.op(op::RESHAPE, &[t(x), is(&[-1])])?, c.op(op::RESHAPE, &[t(places), is(&[-1])])?);
    let filled = c.op(op::SCATTER_SRC, &[t(zeros), i(0), t(places), t(flat)])?;
    let result = c.op(op::RESHAPE, &[t(filled), is(&sizes)])?;
    if !c.has(2) {
        return Ok(one(result));
    }
    let wanted = c.known_ints(2)?;
    if wanted.len() != sizes.len() {
        return Err("its output shape has another number of dimensions".into());
    }
    let pads: Vec<_> = (0..sizes.len()).rev().flat_map(|dim| [0, wanted[dim].saturating_sub(sizes[dim])]).collect();
    c.op(op::CONSTANT_PAD_ND, &[t(result), is(&pads), s(0)]).map(one)
}
