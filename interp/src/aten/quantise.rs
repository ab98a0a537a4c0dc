//! Affine quantisation, element by element: which scale and which zero point an element has, and the rounding of each step.

use super::Arm::{self, Op};
use super::float8::largest;
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::{DType, Scalar};
use crate::tensor::Tensor;
use crate::value::{Args, InterpError, Results, fail, many, one};

/// Quantising, and back.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (FAKE_QUANTIZE_PER_CHANNEL_AFFINE, Op(|a| fake(a, true, false))),
    (FAKE_QUANTIZE_PER_CHANNEL_AFFINE_CACHEMASK, Op(|a| fake(a, true, true))),
    (FAKE_QUANTIZE_PER_CHANNEL_AFFINE_CACHEMASK_BACKWARD, Op(gradient)),
    (FAKE_QUANTIZE_PER_TENSOR_AFFINE, Op(|a| fake(a, false, false))),
    (FAKE_QUANTIZE_PER_TENSOR_AFFINE_TENSOR_QPARAMS, Op(|a| fake(a, false, false))),
    (FAKE_QUANTIZE_PER_TENSOR_AFFINE_CACHEMASK, Op(|a| fake(a, false, true))),
    (FAKE_QUANTIZE_PER_TENSOR_AFFINE_CACHEMASK_BACKWARD, Op(gradient)),
    (quantized_decomposed::_CHOOSE_QPARAMS_PER_TOKEN_ASYMMETRIC_IMPL, Op(choose_asymmetric_rows)),
    (quantized_decomposed::CHOOSE_QPARAMS_TENSOR, Op(choose)),
    (quantized_decomposed::CHOOSE_QPARAMS_PER_TOKEN, Op(choose_rows)),
    (quantized_decomposed::CHOOSE_QPARAMS_PER_TOKEN_ASYMMETRIC, Op(choose_asymmetric_rows)),
    (quantized_decomposed::CHOOSE_QPARAMS_SYMMETRIC_TENSOR, Op(choose_symmetric)),
    (quantized_decomposed::DEQUANTIZE_PER_CHANNEL, Op(dequantize)),
    (quantized_decomposed::DEQUANTIZE_PER_CHANNEL_GROUP, Op(dequantize)),
    (quantized_decomposed::DEQUANTIZE_PER_TENSOR, Op(dequantize)),
    (quantized_decomposed::DEQUANTIZE_PER_TENSOR_TENSOR, Op(dequantize)),
    (quantized_decomposed::DEQUANTIZE_PER_TENSOR_TENSOR2, Op(dequantize)),
    (quantized_decomposed::DEQUANTIZE_PER_TOKEN, Op(dequantize)),
    (quantized_decomposed::FAKE_QUANT_PER_CHANNEL, Op(|a| fake(a, true, false))),
    (quantized_decomposed::QUANTIZE_PER_CHANNEL, Op(|a| quantize(a, false))),
    (quantized_decomposed::QUANTIZE_PER_CHANNEL_GROUP, Op(|a| quantize(a, true))),
    (quantized_decomposed::QUANTIZE_PER_TENSOR, Op(|a| quantize(a, false))),
    (quantized_decomposed::QUANTIZE_PER_TENSOR_TENSOR, Op(|a| quantize(a, false))),
    (quantized_decomposed::QUANTIZE_PER_TENSOR_TENSOR2, Op(|a| quantize(a, false))),
    (quantized_decomposed::QUANTIZE_PER_TOKEN, Op(|a| quantize(a, true))),
    (torchao::CHOOSE_QPARAMS_AFFINE, Op(choose_blocks)),
    (torchao::DEQUANTIZE_AFFINE, Op(dequantize)),
    (torchao::QUANTIZE_AFFINE, Op(|a| quantize(a, false))),
];

/// A scale or zero point for each element of a shape.
struct PerElement {
    values: Vec<f64>,
    dtype: DType,
}

/// Which of the numbers an element has: all elements the one, or those of an index, a row, a group of a row, a block.
fn per_element(args: &Args, names: &[&str], shape: &[usize]) -> Result<Option<PerElement>, InterpError> {
    let Some(name) = names.iter().find(|name| args.opt(name).is_some()) else { return Ok(None) };
    let Ok(given) = args.tensor(name) else {
        let number = args.scalar(name)?.float();
        return Ok(Some(PerElement { values: vec![number; shape.iter().product()], dtype: DType::F32 }));
    };
    if given.is_empty() {
        return Ok(None);
    }
    let axis = args.opt_int("axis")?;
    let blocks = args.opt_ints("block_size")?;
    let last = shape.last().copied().unwrap_or(1).max(1);
    let group = args.opt_int("group_size")?.map(|size| (size.max(1) as usize).min(last));
    let mut values = Vec::new();
    let mut at = 0;
    crate::tensor::each(shape, |index| {
        let place = match (axis, &blocks, group) {
            (Some(axis), ..) => index[if axis < 0 { axis + shape.len() as i64 } else { axis } as usize],
            (_, Some(blocks), _) => {
                let number = |place: usize, ((&index, &size), &block): ((&usize, &usize), &i64)| {
                    let block = (block.max(1) as usize).min(size.max(1));
                    place * (size / block) + index / block
                };
                index.iter().zip(shape).zip(blocks).fold(0, number)
            }
            (_, _, Some(group)) => at / group,
            _ if given.len() == 1 => 0,
            _ => at / last,
        };
        at += 1;
        values.push(if place < given.len() { given.at(place).float() } else { f64::NAN });
    });
    Ok(Some(PerElement { values, dtype: if given.dtype().is_float() { given.dtype() } else { DType::F32 } }))
}

/// The number that is nearest in a type.
fn rounded(dtype: DType, x: f64) -> f64 {
    dtype.cast(Scalar::Float(x)).float()
}

fn bounds(args: &Args, dtype: DType) -> Result<(f64, f64), InterpError> {
    let bits = 8 * dtype.size() as i32;
    let unsigned = matches!(dtype, DType::U8 | DType::U16 | DType::U32);
    let whole = if dtype.is_float8() { (-largest(dtype), largest(dtype)) } else if unsigned { (0.0, 2f64.powi(bits) - 1.0) } else { (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1) - 1.0) };
    let bound = |name: &str, whole: f64| -> Result<f64, InterpError> {
        match args.opt(name) {
            None => Ok(whole),
            Some(value) => match value.tensor() {
                Ok(tensor) => Ok(tensor.item()?.float()),
                Err(_) => Ok(args.scalar(name)?.float()),
            },
        }
    };
    Ok((bound("quant_min", whole.0)?, bound("quant_max", whole.1)?))
}

const SCALES: &[&str] = &["scales", "scale"];
const ZEROS: &[&str] = &["zero_points", "zero_point"];

/// `clamp(round(x / scale) + zero)`, with the zero point inside of the rounding where `moved_first`.
fn quantize(args: &Args, moved_first: bool) -> Results {
    let x = args.tensor("input")?;
    let dtype = args.dtype("dtype").ok().flatten().or(args.dtype("output_dtype").ok().flatten()).ok_or_else(|| fail("no element type"))?;
    let scale = per_element(args, SCALES, x.shape())?.ok_or_else(|| fail("no scale"))?;
    let zero = per_element(args, ZEROS, x.shape())?;
    let (low, high) = bounds(args, dtype)?;
    // Scales of a channel, a row or a block promote with the elements; the one of a tensor is a number.
    let half = |dtype| matches!(dtype, DType::F16 | DType::Bf16);
    let working = match scale.dtype {
        DType::F64 => DType::F64,
        own if own == x.dtype() && half(own) => own,
        _ => DType::F32,
    };
    let whole = args.tensor("scale").is_err() || args.opt("block_size").is_none() && args.opt("scales").is_none();
    let values = (0..x.len()).map(|k| {
        let inverse = if whole { rounded(DType::F32, 1.0 / scale.values[k]) } else { rounded(scale.dtype, 1.0 / scale.values[k]) };
        let working = if whole { DType::F32 } else { working };
        let scaled = rounded(working, x.at(k).float() * rounded(working, inverse));
        let zero = zero.as_ref().map_or(0.0, |zero| zero.values[k]);
        let number = if moved_first { rounded(working, scaled + zero).round_ties_even() } else { rounded(working, scaled.round_ties_even() + zero) };
        Scalar::Float(number.max(low).min(high))
    });
    one(Tensor::from_scalars(DType::F64, x.shape(), values.collect::<Vec<_>>())?.cast(dtype))
}

/// `(x - zero) * scale`.
fn dequantize(args: &Args) -> Results {
    let x = args.tensor("input")?;
    let asked = args.dtype("out_dtype").ok().flatten().or(args.dtype("output_dtype").ok().flatten());
    let dtype = asked.unwrap_or(DType::F32);
    let scale = per_element(args, SCALES, x.shape())?.ok_or_else(|| fail("no scale"))?;
    let zero = per_element(args, ZEROS, x.shape())?;
    let working = if scale.dtype == DType::F64 { DType::F64 } else { DType::F32 };
    let values = (0..x.len()).map(|k| {
        let moved = rounded(dtype, x.at(k).float() - zero.as_ref().map_or(0.0, |zero| zero.values[k]));
        Scalar::Float(rounded(working, moved * scale.values[k]))
    });
    one(Tensor::from_scalars(DType::F64, x.shape(), values.collect::<Vec<_>>())?.cast(dtype))
}

/// There and back, and which numbers were in the range. The zero point of a channel takes part in the rounding.
fn fake(args: &Args, channels: bool, mask: bool) -> Results {
    let x = args.tensor("self").or_else(|_| args.tensor("input"))?;
    let (low, high) = bounds(args, DType::I8)?;
    let scale = per_element(args, SCALES, x.shape())?.ok_or_else(|| fail("no scale"))?;
    let zero = per_element(args, ZEROS, x.shape())?.ok_or_else(|| fail("no zero point"))?;
    let working = if x.dtype() == DType::F64 { DType::F64 } else { DType::F32 };
    let number = |k: usize| {
        let inverse = rounded(DType::F32, 1.0 / rounded(DType::F32, scale.values[k]));
        let scaled = rounded(working, x.at(k).float() * inverse);
        if channels { rounded(working, scaled + zero.values[k]).round_ties_even() } else { scaled.round_ties_even() + zero.values[k] }
    };
    let back = (0..x.len()).map(|k| Scalar::Float(rounded(working, (number(k).max(low).min(high) - zero.values[k]) * rounded(DType::F32, scale.values[k]))));
    let back = Tensor::from_scalars(DType::F64, x.shape(), back.collect::<Vec<_>>())?.cast(x.dtype());
    if !mask {
        return one(back);
    }
    let inside = (0..x.len()).map(|k| Scalar::Bool((low..=high).contains(&number(k))));
    many([back, Tensor::from_scalars(DType::Bool, x.shape(), inside.collect::<Vec<_>>())?])
}

/// The gradient of numbers that were in the range.
fn gradient(args: &Args) -> Results {
    let (grad, mask) = (args.tensor("grad")?, args.tensor("mask")?.expand(args.tensor("grad")?.shape())?);
    let kept = (0..grad.len()).map(|k| if mask.at(k).truthy() { grad.at(k) } else { Scalar::Float(0.0) });
    one(Tensor::from_scalars(grad.dtype(), grad.shape(), kept.collect::<Vec<_>>())?)
}

/// The least and the largest of some numbers, and 0.
fn extremes(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    numbers.fold((0.0, 0.0), |(least, most), x| (x.min(least), x.max(most)))
}

fn single(dtype: DType, x: f64) -> Result<Tensor, InterpError> {
    Tensor::from_floats(dtype, &[1], &[x])
}

/// The zero point is what 0 becomes.
fn choose(args: &Args) -> Results {
    let (least, most) = extremes(args.tensor("input")?.floats().into_iter());
    let (low, high) = (args.int("quant_min")? as f64, args.int("quant_max")? as f64);
    let scale = rounded(DType::F32, rounded(DType::F32, most - least) / (high - low)).max(rounded(DType::F32, args.float("eps")?));
    let zero = (low - rounded(DType::F32, least / scale).round_ties_even()).max(low).min(high);
    many([single(DType::F64, scale)?, single(DType::I64, zero)?])
}

fn choose_symmetric(args: &Args) -> Results {
    let (least, most) = extremes(args.tensor("input")?.floats().into_iter());
    let half = (args.int("quant_max")? - args.int("quant_min")?) as f64 / 2.0;
    let scale = rounded(DType::F32, most.max(-least) / half).max(rounded(DType::F32, args.float("eps")?));
    let zero = if args.dtype("dtype")? == Some(DType::U8) { 128.0 } else { 0.0 };
    many([single(DType::F64, scale)?, single(DType::I64, zero)?])
}

/// A number for each row, from the row.
fn by_row(x: &Tensor, dtype: DType, f: impl Fn(&[f64]) -> f64) -> Result<Tensor, InterpError> {
    let last = x.shape().last().copied().unwrap_or(1);
    let mut shape = x.shape().to_vec();
    if let Some(last) = shape.last_mut() {
        *last = 1;
    }
    let numbers: Vec<f64> = x.floats().chunks(last.max(1)).map(f).collect();
    Tensor::from_floats(dtype, &shape, &numbers)
}

fn choose_rows(args: &Args) -> Results {
    let x = args.tensor("input")?;
    let dtype = x.dtype();
    let scale = |row: &[f64]| rounded(dtype, rounded(dtype, row.iter().fold(1e-5, |most: f64, x| most.max(x.abs()))) / 127.0);
    many([by_row(x, dtype, scale)?, by_row(x, dtype, |_| 0.0)?])
}

fn choose_asymmetric_rows(args: &Args) -> Results {
    let x = args.tensor("input")?;
    let near = |x: f64| rounded(args.tensor("input").map_or(DType::F32, Tensor::dtype), x);
    let both = |row: &[f64]| {
        let (least, most) = extremes(row.iter().copied());
        let scale = near(near(near(most - least) / 255.0).max(f64::from(f32::EPSILON)));
        let (least, most) = (near(least / scale), near(most / scale));
        let zero = if near(near(least - 128.0) + near(most + 127.0)) > 0.0 { near(-128.0 - least) } else { near(127.0 - most) };
        (scale, zero.clamp(-128.0, 127.0).round_ties_even())
    };
    many([by_row(x, DType::F64, |row| both(row).0)?, by_row(x, DType::I64, |row| both(row).1)?])
}

fn choose_blocks(args: &Args) -> Results {
    let x = args.tensor("input")?;
    let dtype = x.dtype();
    let blocks = args.ints("block_size")?;
    let target = args.dtype("target_dtype")?.ok_or_else(|| fail("no element type"))?;
    let (low, high) = bounds(args, target)?;
    let normal = match dtype {
        DType::F16 => 2f64.powi(-14),
        DType::F64 => f64::MIN_POSITIVE,
        _ => f64::from(f32::MIN_POSITIVE),
    };
    let eps = args.opt_float("eps")?.unwrap_or(normal);
    let counts: Vec<usize> = x.shape().iter().zip(&blocks).map(|(size, block)| size / (*block).max(1) as usize).collect();
    let near = |x: f64| rounded(dtype, x);
    let mapping = args.str("mapping_type")?;
    let both = |place: &[usize]| {
        let inside: Vec<usize> = blocks.iter().map(|block| *block as usize).collect();
        let mut numbers = Vec::new();
        crate::tensor::each(&inside, |k| {
            let at: Vec<usize> = place.iter().zip(k).zip(&inside).map(|((p, k), block)| p * block + k).collect();
            numbers.push(x.f(&at));
        });
        let (least, most) = extremes(numbers.into_iter());
        match mapping {
            "ASYMMETRIC" => {
                let scale = near(near(most - least) / (high - low)).max(eps);
                (scale, near(low - near(least / scale).round_ties_even()).max(low).min(high))
            }
            "SYMMETRIC" => (near(most.max(-least) / ((high - low) / 2.0)).max(eps), ((high + low + 1.0) / 2.0).trunc()),
            _ => (near(least / low).max(near(most / high)).max(eps), ((high + low + 1.0) / 2.0).trunc()),
        }
    };
    let kept: Vec<usize> = match args.flag("keepdim")? {
        true => counts.clone(),
        // A dimension that is one block, or part of one, is gone; one of blocks of one element stays.
        false => {
            let whole = x.shape().iter().zip(&blocks).map(|(size, block)| *block as usize == *size && *block != 1);
            counts.iter().zip(whole).filter(|(_, whole)| !whole).map(|(count, _)| *count).collect()
        }
    };
    let given = |name: &str| args.dtype(name).ok().flatten();
    let zeros = given("zero_point_dtype").unwrap_or(if mapping == "ASYMMETRIC" { DType::I32 } else { dtype });
    let scale = Tensor::build(given("scale_dtype").unwrap_or(dtype), &counts, |i| Scalar::Float(both(i).0))?;
    let zero = Tensor::build(zeros, &counts, |i| Scalar::Float(both(i).1))?;
    many([scale.reshape(&kept)?, zero.reshape(&kept)?])
}
