//! Quantised tensors: `real = (stored - zero point) * scale`.

use strata_core::ir::{self, ElementType};
use strata_dialects::aten::{Input, Scalar, op};

use crate::onnx::call::{Call, d, f, i, is, many, one, s, t, wrapped};
use crate::onnx::dtype;
use crate::onnx::error::Eval;
use crate::onnx::table::{Row, row};
use crate::onnx::value::Value;

pub(in crate::onnx) const ROWS: &[Row] =
    &[row("DequantizeLinear", dequantise), row("DynamicQuantizeLinear", dynamic), row("QuantizeLinear", quantise)];

/// A scale or zero point of one input, so that it broadcasts with the tensor: one number, one for each place along an axis, or one for
/// each block there.
fn along<'c>(c: &mut Call<'_, '_, 'c>, place: usize, rank: usize, axis: i64, block: i64) -> Eval<ir::Value<'c>> {
    let value = c.tensor(place)?;
    match value.ty().rank() {
        1 if block == 0 && value.ty().num_elements() != Some(1) => {
            let axis = wrapped(axis, rank)?;
            let sizes: Vec<_> = (0..rank as i64).map(|dim| if dim == axis { -1 } else { 1 }).collect();
            c.op(op::RESHAPE, &[t(value), is(&sizes)])
        }
        _ if block > 0 => {
            let axis = wrapped(axis, rank)?;
            c.op(op::REPEAT_INTERLEAVE_SELF_INT, &[t(value), i(block), i(axis)])
        }
        _ => Ok(value),
    }
}

/// A blocked scale is as long as the tensor, whose last block may be a part.
fn cut<'c>(c: &mut Call<'_, '_, 'c>, value: ir::Value<'c>, x: ir::Value<'c>, axis: i64, block: i64) -> Eval<ir::Value<'c>> {
    if block == 0 {
        return Ok(value);
    }
    let axis = wrapped(axis, x.ty().rank())?;
    match x.ty().shape()[axis as usize] {
        size @ 0.. => c.slice(value, axis, 0, size),
        _ => Ok(value),
    }
}

/// The zero points of one input as floats, so that they broadcast with the tensor; none where they are left out, or are known to be 0.
fn zero_points<'c>(c: &mut Call<'_, '_, 'c>, place: usize, x: ir::Value<'c>, axis: i64, block: i64) -> Eval<Option<ir::Value<'c>>> {
    if !c.has(place) {
        return Ok(None);
    }
    // What the model brings is known, however many there are.
    let brought =
        if let Value::Data(data) = c.input(place) { Some(data).filter(|data| data.is_known()).and_then(|data| data.ints()) } else { None };
    let numbers = brought.or_else(|| c.known_ints(place).ok()).unwrap_or_default();
    // There are as many as scales, which stand before them.
    let as_many = c.tensor(place - 1)?.ty().num_elements() == Some(numbers.len() as i64);
    match numbers.first().filter(|first| as_many && numbers.iter().all(|number| number == *first)) {
        Some(0) => return Ok(None),
        Some(&number) => return c.number(number as f64, ElementType::F32).map(Some),
        None => {}
    }
    let zero = along(c, place, x.ty().rank(), axis, block)?;
    let zero = cut(c, zero, x, axis, block)?;
    c.cast(zero, ElementType::F32).map(Some)
}

/// An input less its zero point, in a type that is wide enough; a zero point of rank 1 belongs to `axis`.
pub(super) fn centred<'c>(c: &mut Call<'_, '_, 'c>, place: usize, zero: usize, to: ElementType, axis: i64) -> Eval<ir::Value<'c>> {
    let x = c.tensor(place)?;
    let rank = x.ty().rank();
    let x = c.cast(x, to)?;
    if !c.has(zero) {
        return Ok(x);
    }
    let zero = along(c, zero, rank.max(1), axis, 0)?;
    let zero = c.cast(zero, to)?;
    c.op(op::SUB_TENSOR, &[t(x), t(zero)])
}

/// A sum of products as a quantised result: times the scales of its factors, by its own scale, plus its zero point.
pub(super) fn rescaled<'c>(
    c: &mut Call<'_, '_, 'c>,
    sum: ir::Value<'c>,
    factors: [(usize, usize, i64); 2],
    scale: usize,
    zero: usize,
) -> Eval<ir::Value<'c>> {
    let mut real = c.cast(sum, ElementType::F32)?;
    let mut factor = None;
    for (place, rank, axis) in factors {
        let next = along(c, place, rank, axis, 0)?;
        let next = c.cast(next, ElementType::F32)?;
        factor = Some(match factor {
            None => next,
            Some(factor) => c.op(op::MUL_TENSOR, &[t(factor), t(next)])?,
        });
    }
    let own = c.tensor(scale)?;
    let own = c.cast(own, ElementType::F32)?;
    let factor = c.op(op::DIV_TENSOR, &[t(factor.ok_or("it has no scales")?), t(own)])?;
    real = c.op(op::MUL_TENSOR, &[t(real), t(factor)])?;
    let zero = c.tensor(zero)?;
    let to = zero.ty().element_type().ok_or("a zero point has no element type")?;
    stored(c, real, Some(zero), to)
}

/// The ends of an integer type.
fn ends(dtype: ElementType) -> Eval<(i64, i64)> {
    Ok(match dtype {
        ElementType::I8 => (-128, 127),
        ElementType::U8 => (0, 255),
        ElementType::I16 => (-32768, 32767),
        ElementType::U16 => (0, 65535),
        ElementType::I32 => (i32::MIN.into(), i32::MAX.into()),
        other => return Err(format!("{other} is no type of quantised tensors here").into()),
    })
}

/// A multiple of the scale, rounded to even, plus the zero point, as far as the type reaches.
fn stored<'c>(c: &mut Call<'_, '_, 'c>, multiple: ir::Value<'c>, zero: Option<ir::Value<'c>>, to: ElementType) -> Eval<ir::Value<'c>> {
    let (low, high) = ends(to)?;
    let mut rounded = c.op(op::ROUND, &[t(multiple)])?;
    if let Some(zero) = zero {
        let zero = c.cast(zero, ElementType::F32)?;
        rounded = c.op(op::ADD_TENSOR, &[t(rounded), t(zero)])?;
    }
    let clamped = c.op(op::CLAMP, &[t(rounded), f(low as f64), f(high as f64)])?;
    c.cast(clamped, to)
}

fn quantise<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let x = c.tensor(0)?;
    let (rank, axis, block) = (x.ty().rank(), c.int("axis", 1), c.int("block_size", 0));
    let to = match (c.has(2), c.int("output_dtype", 0)) {
        (true, _) => c.dtype(2)?,
        (false, 0) => ElementType::U8,
        (false, number) => dtype::element(number)?,
    };
    ends(to)?;
    let scale = along(c, 1, rank, axis, block)?;
    let scale = cut(c, scale, x, axis, block)?;
    // A precision may be asked for; that of the scale is the default.
    let precision = match c.int("precision", 0) {
        0 => scale.ty().element_type().unwrap_or(ElementType::F32),
        number => dtype::element(number)?,
    };
    let (x, scale) = (c.cast(x, precision)?, c.cast(scale, precision)?);
    let multiple = c.op(op::DIV_TENSOR, &[t(x), t(scale)])?;
    let multiple = c.cast(multiple, ElementType::F32)?;
    let zero = zero_points(c, 2, multiple, axis, block)?;
    stored(c, multiple, zero, to).map(one)
}

fn dequantise<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let x = c.tensor(0)?;
    let (rank, axis, block) = (x.ty().rank(), c.int("axis", 1), c.int("block_size", 0));
    ends(c.dtype(0)?)?;
    let scale = along(c, 1, rank, axis, block)?;
    let scale = cut(c, scale, x, axis, block)?;
    let to = match c.int("output_dtype", 0) {
        0 => scale.ty().element_type().unwrap_or(ElementType::F32),
        number => dtype::element(number)?,
    };
    // Differences of whole numbers are exact in `f32` up to 2^24; those of 32 bits have no zero point.
    let mut real = c.cast(x, ElementType::F32)?;
    if let Some(zero) = zero_points(c, 2, x, axis, block)? {
        real = c.op(op::SUB_TENSOR, &[t(real), t(zero)])?;
    }
    let scale = c.cast(scale, ElementType::F32)?;
    let real = c.op(op::MUL_TENSOR, &[t(real), t(scale)])?;
    c.cast(real, to).map(one)
}

/// Scale and zero point of what a call brings, so that 0 is a value.
fn dynamic<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let x = c.tensor(0)?;
    let axes: Vec<_> = (0..x.ty().rank() as i64).collect();
    let ends = |c: &mut Call<'_, '_, 'c>, operator, clamp: [Option<Input<'c>>; 2]| {
        let end = c.op(operator, &[t(x), is(&axes)])?;
        let [low, high] = clamp;
        c.op(op::CLAMP, &[t(end), low, high])
    };
    let zero = || Some(Input::Scalar(Scalar::Float(0.0)));
    let low = ends(c, op::AMIN, [Some(Input::None), zero()])?;
    let high = ends(c, op::AMAX, [zero(), Some(Input::None)])?;
    let range = c.op(op::SUB_TENSOR, &[t(high), t(low)])?;
    let scale = c.op(op::DIV_SCALAR, &[t(range), f(255.0)])?;
    // Of zeros alone the scale would be 0.
    let none = c.op(op::EQ_SCALAR, &[t(scale), s(0)])?;
    let unit = c.op(op::SCALAR_TENSOR, &[f(1.0), d(ElementType::F32)])?;
    let scale = c.op(op::WHERE_SELF, &[t(none), t(unit), t(scale)])?;
    let below = c.op(op::DIV_TENSOR, &[t(low), t(scale)])?;
    let place = c.op(op::NEG, &[t(below)])?;
    let place = stored(c, place, None, ElementType::U8)?;
    let multiple = c.op(op::DIV_TENSOR, &[t(x), t(scale)])?;
    let result = stored(c, multiple, Some(place), ElementType::U8)?;
    Ok(many(vec![result, scale, place]))
}
