//! Floats of 8 bits beside scales: products of matrices, and torchao's quantisation.

use super::Arm::{self, Op};
use super::common::{Kind, add, elementwise, mul, quotient};
use super::matmul::matmul;
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::{DType, Scalar};
use crate::tensor::{Tensor, each};
use crate::value::{Args, InterpError, Results, fail, one};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (_SCALED_MM, Op(|a| scaled_mm(a, a.tensor("scale_a")?, a.tensor("scale_b")?))),
    (_SCALED_MM_V2, Op(scaled_mm_v2)),
    (torchao::CHOOSE_SCALE_FLOAT8, Op(choose_scale)),
    (torchao::DEQUANTIZE_AFFINE_FLOAT8_NON_DECOMPOSED, Op(dequantize)),
    (torchao::QUANTIZE_AFFINE_FLOAT8_NON_DECOMPOSED, Op(quantize)),
];

/// The product of the scaled matrices, the bias, and the scale of the result where a type of 8 bits is asked for.
fn scaled_mm(args: &Args, rows: &Tensor, columns: &Tensor) -> Results {
    let x = args.tensor("self")?;
    let asked = args.dtype("out_dtype")?;
    let scaled = |x: &Tensor, scale: &Tensor| {
        let scale = if scale.len() == 1 { scale.reshape(&[])? } else { scale.clone() };
        elementwise(Kind::Same, &[(&x.cast(DType::F64)).into(), (&scale.cast(DType::F64)).into()], |v| Ok(mul(v[0], v[1])))
    };
    let mut product = matmul(&scaled(x, rows)?, &scaled(args.tensor("mat2")?, columns)?)?;
    if let Some(bias) = args.opt_tensor("bias")? {
        product = elementwise(Kind::Same, &[(&product).into(), (&bias.cast(DType::F64)).into()], |v| Ok(add(v[0], v[1])))?;
    }
    if asked.is_some_and(DType::is_float8)
        && args.opt("scale_result").is_some()
        && let Some(scale) = args.opt_tensor("scale_result")?
    {
        product = product.map(DType::F64, |v| scale.item().map_or(v, |scale| quotient(v, scale)));
    }
    one(product.cast(asked.unwrap_or(x.dtype())))
}

fn scaled_mm_v2(args: &Args) -> Results {
    let only = |recipe: &str, scale: &str| -> Result<Tensor, InterpError> {
        match (&args.ints(recipe)?[..], &args.tensors(scale)?[..]) {
            ([0 | 1], [scale]) => Ok((*scale).clone()),
            _ => Err(fail("scales of blocks")),
        }
    };
    scaled_mm(args, &only("recipe_a", "scale_a")?, &only("recipe_b", "scale_b")?)
}

/// The largest finite number of a type.
pub(super) fn largest(dtype: DType) -> f64 {
    if dtype == DType::F8E4M3FN { 448.0 } else { 57344.0 }
}

/// The scale of the block that an element is in.
fn at(scale: &Tensor, shape: &[usize], index: &[usize]) -> f64 {
    if scale.len() == 1 {
        return scale.at(0).float();
    }
    let lead = shape.len() - scale.rank();
    let place: Vec<usize> = scale.shape().iter().enumerate().map(|(d, count)| index[lead + d] / (shape[lead + d] / count).max(1)).collect();
    scale.f(&place)
}

fn quantize(args: &Args) -> Results {
    let (x, scale) = (args.tensor("tensor")?, args.tensor("scale")?);
    let to = args.dtype("float8_dtype")?.ok_or_else(|| fail("no element type"))?;
    let most = largest(to);
    let number = |i: &[usize]| {
        let scaled = DType::F32.round(x.f(i) / at(scale, x.shape(), i));
        Scalar::Float(if scaled.is_nan() { scaled } else { scaled.clamp(-most, most) })
    };
    one(Tensor::build(to, x.shape(), number)?)
}

fn dequantize(args: &Args) -> Results {
    let (x, scale) = (args.tensor("tensor")?, args.tensor("scale")?);
    let to = args.dtype("output_dtype")?.unwrap_or(DType::F32);
    one(Tensor::build(to, x.shape(), |i| Scalar::Float(DType::F32.round(x.f(i) * at(scale, x.shape(), i))))?)
}

/// The largest element of each block is to be the largest number.
fn choose_scale(args: &Args) -> Results {
    let (x, blocks) = (args.tensor("tensor")?, args.sizes("block_size")?);
    let most = largest(args.dtype("float8_dtype")?.unwrap_or(DType::F8E4M3FN));
    let (low, high) = (args.opt_float("hp_value_lb")?, args.opt_float("hp_value_ub")?);
    let counts: Vec<usize> = x.shape().iter().zip(&blocks).map(|(size, block)| size / (*block).max(1)).collect();
    let scale = Tensor::build(x.dtype(), &counts, |place| {
        let mut size: f64 = 0.0;
        each(&blocks, |k| {
            let at: Vec<usize> = place.iter().zip(k).zip(&blocks).map(|((p, k), block)| p * block + k).collect();
            let element = x.f(&at).abs();
            size = if element.is_nan() || element > size { element } else { size };
        });
        let size = low.map_or(size, |low| size.max(low));
        Scalar::Float(high.map_or(size, |high| size.min(high)) / most)
    })?;
    one(scale.cast(DType::F32))
}
