//! Normalisations.

use strata_core::ir::{self, ElementType};
use strata_dialects::aten::op;

use crate::onnx::call::{Call, b, d, f, i, is, many, one, s, t, wrapped};
use crate::onnx::error::Eval;
use crate::onnx::table::{Row, row};
use crate::onnx::value::Value;

pub(in crate::onnx) const ROWS: &[Row] = &[
    row("BatchNormalization", batch),
    row("Dropout", dropout),
    row("GroupNormalization", group),
    row("InstanceNormalization", |c| {
        let (x, scale, bias) = (c.tensor(0)?, c.tensor(1)?, c.tensor(2)?);
        let channels = x.ty().shape().get(1).copied().filter(|channels| *channels > 0);
        let channels = channels.ok_or("it is imported of a known number of channels only")?;
        c.op(op::GROUP_NORM, &[t(x), i(channels), t(scale), t(bias), f(c.float("epsilon", 1e-5))]).map(one)
    }),
    row("LRN", local_response),
    row("LayerNormalization", layer),
    row("LpNormalization", |c| {
        let x = c.tensor(0)?;
        let (axis, p) = (c.axis(-1, x.ty().rank())?, c.int("p", 2));
        let norm = c.op(op::LINALG_VECTOR_NORM, &[t(x), s(p), is(&[axis]), b(true)])?;
        let quotient = c.op(op::DIV_TENSOR, &[t(x), t(norm)])?;
        // Where all is zero, so is the result.
        let none = c.op(op::EQ_SCALAR, &[t(norm), s(0)])?;
        c.op(op::WHERE_SELF, &[t(none), t(x), t(quotient)]).map(one)
    }),
    row("MeanVarianceNormalization", |c| {
        let x = c.tensor(0)?;
        let rank = x.ty().rank();
        let axes = c.ints("axes").unwrap_or_else(|| vec![0, 2, 3]);
        let axes = axes.into_iter().map(|axis| wrapped(axis, rank)).collect::<Eval<Vec<_>>>()?;
        let mean = c.op(op::MEAN_DIM, &[t(x), is(&axes), b(true)])?;
        let centred = c.op(op::SUB_TENSOR, &[t(x), t(mean)])?;
        let squares = c.op(op::SQUARE, &[t(centred)])?;
        let variance = c.op(op::MEAN_DIM, &[t(squares), is(&axes), b(true)])?;
        let deviation = c.op(op::SQRT, &[t(variance)])?;
        let below = c.op(op::ADD_SCALAR, &[t(deviation), f(1e-9)])?;
        c.op(op::DIV_TENSOR, &[t(centred), t(below)]).map(one)
    }),
    row("RMSNormalization", rms),
];

/// By the mean and variance of training, or, in training, by those of the batch, which the running ones move to.
fn batch<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (x, scale, bias, mean, variance) = (c.tensor(0)?, c.tensor(1)?, c.tensor(2)?, c.tensor(3)?, c.tensor(4)?);
    let (epsilon, momentum, rank) = (f(c.float("epsilon", 1e-5)), c.float("momentum", 0.9), x.ty().rank());
    if !c.flag("training_mode", false) {
        let inputs = [t(x), t(scale), t(bias), t(mean), t(variance), f(momentum), epsilon];
        return c.op(op::_NATIVE_BATCH_NORM_LEGIT_NO_TRAINING, &inputs).map(one);
    }
    let axes: Vec<_> = (0..rank as i64).filter(|axis| *axis != 1).collect();
    let found = c.ops(op::VAR_MEAN_CORRECTION, &[t(x), is(&axes), s(0), b(false)])?;
    let (batch_variance, batch_mean) = (found[0], found[1]);
    let normal = [t(x), t(scale), t(bias), t(batch_mean), t(batch_variance), f(momentum), epsilon];
    let result = c.op(op::_NATIVE_BATCH_NORM_LEGIT_NO_TRAINING, &normal)?;
    let moved = |c: &mut Call<'_, '_, 'c>, old, new| {
        let old = c.op(op::MUL_SCALAR, &[t(old), f(momentum)])?;
        let new = c.op(op::MUL_SCALAR, &[t(new), f(1.0 - momentum)])?;
        c.op(op::ADD_TENSOR, &[t(old), t(new)])
    };
    let (mean, variance) = (moved(c, mean, batch_mean)?, moved(c, variance, batch_variance)?);
    Ok(many(vec![result, mean, variance]))
}

/// Nothing but in training, where elements are dropped at random.
fn dropout<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let x = c.tensor(0)?;
    let training = c.has(2) && c.known_int(2)? != 0;
    let ratio = if c.has(1) && training { *c.known_floats(1)?.first().ok_or("its ratio is no number")? } else { 0.5 };
    if !training || ratio == 0.0 {
        let mask = c.op(op::ONES_LIKE, &[t(x), d(ElementType::Bool)])?;
        return Ok(many(vec![x, mask]));
    }
    Ok(many(c.ops(op::NATIVE_DROPOUT, &[t(x), f(ratio), b(true)])?))
}

/// Groups of channels, with a scale and bias for each channel, or before version 21 for each group.
fn group<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (x, mut scale, mut bias) = (c.tensor(0)?, c.tensor(1)?, c.tensor(2)?);
    let groups = c.int("num_groups", 1);
    if c.version < 21 {
        let channels = x.ty().shape().get(1).copied().filter(|channels| *channels > 0 && groups > 0 && channels % groups == 0);
        let each = channels.ok_or("its channels are no groups")? / groups;
        scale = c.op(op::REPEAT_INTERLEAVE_SELF_INT, &[t(scale), i(each)])?;
        bias = c.op(op::REPEAT_INTERLEAVE_SELF_INT, &[t(bias), i(each)])?;
    }
    c.op(op::GROUP_NORM, &[t(x), i(groups), t(scale), t(bias), f(c.float("epsilon", 1e-5))]).map(one)
}

/// By the squares of the channels around: `x / (bias + alpha / size * sum)^beta`.
fn local_response<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let x = c.tensor(0)?;
    let (rank, size) = (x.ty().rank(), c.int("size", 1));
    let channels =
        x.ty().shape().get(1).copied().filter(|channels| *channels >= 0).ok_or("it is imported of a known number of channels only")?;
    if !(1..1 << 16).contains(&size) {
        return Err(format!("its size {size} is no number of channels").into());
    }
    let squares = c.op(op::SQUARE, &[t(x)])?;
    let mut pads = vec![0; 2 * rank];
    pads[2 * (rank - 2)] = (size - 1) / 2;
    pads[2 * (rank - 2) + 1] = size / 2;
    let padded = c.op(op::CONSTANT_PAD_ND, &[t(squares), is(&pads), s(0)])?;
    let mut sum = c.slice(padded, 1, 0, channels)?;
    for place in 1..size {
        let next = c.slice(padded, 1, place, place + channels)?;
        sum = c.op(op::ADD_TENSOR, &[t(sum), t(next)])?;
    }
    let scaled = c.op(op::MUL_SCALAR, &[t(sum), f(c.float("alpha", 1e-4) / size as f64)])?;
    let moved = c.op(op::ADD_SCALAR, &[t(scaled), f(c.float("bias", 1.0))])?;
    let below = c.op(op::POW_TENSOR_SCALAR, &[t(moved), f(c.float("beta", 0.75))])?;
    c.op(op::DIV_TENSOR, &[t(x), t(below)]).map(one)
}

/// Over the dimensions from `axis` on; computed in `f32` at least.
fn layer<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (x, scale, bias) = (c.tensor(0)?, c.tensor(1)?, c.optional(2)?);
    let (rank, dtype) = (x.ty().rank(), c.dtype(0)?);
    let axis = c.axis(-1, rank)? as usize;
    let epsilon = c.float("epsilon", 1e-5);
    let normal = x.ty().shape()[axis..].to_vec();
    let plain = |value: ir::Value<'c>| value.ty().shape() == normal;
    if c.node.output.len() < 2 && normal.iter().all(|size| *size >= 0) && plain(scale) && bias.is_none_or(plain) {
        let inputs = [t(x), is(&normal), t(scale), crate::onnx::call::ot(bias), f(epsilon)];
        return c.op(op::NATIVE_LAYER_NORM, &inputs).map(one);
    }
    let wide = if dtype == ElementType::F64 { dtype } else { ElementType::F32 };
    let axes: Vec<_> = (axis as i64..rank as i64).collect();
    let wide_x = c.cast(x, wide)?;
    let found = c.ops(op::VAR_MEAN_CORRECTION, &[t(wide_x), is(&axes), s(0), b(true)])?;
    let (variance, mean) = (found[0], found[1]);
    let moved = c.op(op::ADD_SCALAR, &[t(variance), f(epsilon)])?;
    let inverse = c.op(op::RSQRT, &[t(moved)])?;
    let centred = c.op(op::SUB_TENSOR, &[t(wide_x), t(mean)])?;
    let normal = c.op(op::MUL_TENSOR, &[t(centred), t(inverse)])?;
    let normal = c.cast(normal, dtype)?;
    let mut result = c.op(op::MUL_TENSOR, &[t(normal), t(scale)])?;
    if let Some(bias) = bias {
        result = c.op(op::ADD_TENSOR, &[t(result), t(bias)])?;
    }
    Ok(many(vec![result, mean, inverse]))
}

/// By the root of the mean square.
fn rms<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (x, scale) = (c.tensor(0)?, c.tensor(1)?);
    let (rank, dtype) = (x.ty().rank(), c.dtype(0)?);
    let axes: Vec<_> = (c.axis(-1, rank)?..rank as i64).collect();
    let wide = if dtype == ElementType::F64 { dtype } else { ElementType::F32 };
    let wide_x = c.cast(x, wide)?;
    let squares = c.op(op::SQUARE, &[t(wide_x)])?;
    let mean = c.op(op::MEAN_DIM, &[t(squares), is(&axes), b(true)])?;
    let moved = c.op(op::ADD_SCALAR, &[t(mean), f(c.float("epsilon", 1e-5))])?;
    let inverse = c.op(op::RSQRT, &[t(moved)])?;
    let normal = c.op(op::MUL_TENSOR, &[t(wide_x), t(inverse)])?;
    let normal = c.cast(normal, dtype)?;
    c.op(op::MUL_TENSOR, &[t(normal), t(scale)]).map(one)
}
