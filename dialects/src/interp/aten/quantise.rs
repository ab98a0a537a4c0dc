//! Affine quantisation, element by element: which scale and which zero point an element has, and the rounding of each step.

use super::Arm::{self, Op};
use crate::interp::dtype::{DType, Scalar};
use crate::interp::tensor::Tensor;
use crate::interp::value::{Args, InterpError, Results, fail, many, one};

/// Quantising, and back.
#[rustfmt::skip]
pub const ARMS: &[(&str, Arm)] = &[
    ("aten.fake_quantize_per_channel_affine", Op(|a| fake(a, true, false))),
    ("aten.fake_quantize_per_channel_affine_cachemask", Op(|a| fake(a, true, true))),
    ("aten.fake_quantize_per_tensor_affine", Op(|a| fake(a, false, false))),
    ("aten.fake_quantize_per_tensor_affine.tensor_qparams", Op(|a| fake(a, false, false))),
    ("aten.fake_quantize_per_tensor_affine_cachemask", Op(|a| fake(a, false, true))),
    ("quantized_decomposed.dequantize_per_channel", Op(dequantize)),
    ("quantized_decomposed.dequantize_per_channel_group", Op(dequantize)),
    ("quantized_decomposed.dequantize_per_tensor", Op(dequantize)),
    ("quantized_decomposed.dequantize_per_tensor.tensor", Op(dequantize)),
    ("quantized_decomposed.dequantize_per_tensor.tensor2", Op(dequantize)),
    ("quantized_decomposed.dequantize_per_token", Op(dequantize)),
    ("quantized_decomposed.fake_quant_per_channel", Op(|a| fake(a, true, false))),
    ("quantized_decomposed.quantize_per_channel", Op(|a| quantize(a, false))),
    ("quantized_decomposed.quantize_per_channel_group", Op(|a| quantize(a, true))),
    ("quantized_decomposed.quantize_per_tensor", Op(|a| quantize(a, false))),
    ("quantized_decomposed.quantize_per_tensor.tensor", Op(|a| quantize(a, false))),
    ("quantized_decomposed.quantize_per_tensor.tensor2", Op(|a| quantize(a, false))),
    ("quantized_decomposed.quantize_per_token", Op(|a| quantize(a, true))),
    ("torchao.dequantize_affine", Op(dequantize)),
    ("torchao.quantize_affine", Op(|a| quantize(a, false))),
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
    crate::interp::tensor::each(shape, |index| {
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
    let whole = if unsigned { (0.0, 2f64.powi(bits) - 1.0) } else { (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1) - 1.0) };
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
    let half = matches!(x.dtype(), DType::F16 | DType::Bf16);
    // Scales of a row or a block leave halves what they are.
    let kept = half && (moved_first || args.opt("block_size").is_some()) && matches!(scale.dtype, DType::F16 | DType::Bf16);
    let working = match scale.dtype {
        DType::F64 => DType::F64,
        _ if kept || half && moved_first => x.dtype(),
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
