//! Scaled dot-product attention.

use super::Arm::{self, Op};
use super::matmul::matmul;
use super::reduce::log_sum_exp;
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::{DType, Scalar};
use crate::tensor::Tensor;
use crate::value::{Args, InterpError, Results, fail, many, one};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (_SCALED_DOT_PRODUCT_ATTENTION_MATH, Op(|a| { let (y, _, weights) = attention(a)?; many([y, weights]) })),
    (_SCALED_DOT_PRODUCT_FLASH_ATTENTION_FOR_CPU, Op(flash)),
    (_SCALED_DOT_PRODUCT_FLASH_ATTENTION_FOR_CPU_BACKWARD, Op(gradients)),
    (SCALED_DOT_PRODUCT_ATTENTION, Op(|a| one(attention(a)?.0))),
];

/// `softmax(q k^T * scale + mask) v`, the logarithm of the softmax's sums, and the softmax.
fn attention(args: &Args) -> Result<(Tensor, Tensor, Tensor), InterpError> {
    let (q, k, v) = (args.tensor("query")?, args.tensor("key")?, args.tensor("value")?);
    if q.rank() < 2 || k.rank() < 2 || v.rank() < 2 {
        return Err(fail("attention needs matrices"));
    }
    let dropped = args.float("dropout_p")?;
    let width = q.shape()[q.rank() - 1];
    let scale = args.opt_float("scale")?.unwrap_or(1.0 / (width as f64).sqrt());
    let wide = |t: &Tensor| t.cast(DType::F64);
    let (keys, values) = (shared(args, wide(k))?, shared(args, wide(v))?);
    let scores = matmul(&wide(q), &keys.transpose(keys.rank() - 2, keys.rank() - 1)?)?;
    let mask = args.opt_tensor("attn_mask")?.map(|m| m.expand(scores.shape())).transpose()?;
    let causal = args.flag("is_causal")?;
    let r = scores.rank();
    let scores = Tensor::build(DType::F64, scores.shape(), |i| {
        let s = scores.f(i) * scale;
        let masked = match &mask {
            Some(m) if m.dtype() == DType::Bool => if m.get(i).truthy() { s } else { f64::NEG_INFINITY },
            Some(m) => s + m.f(i),
            None => s,
        };
        Scalar::Float(if causal && i[r - 1] > i[r - 2] { f64::NEG_INFINITY } else { masked })
    })?;
    let line = |f: fn(&[f64]) -> f64| super::reduce::reduce(&scores, &[r - 1], true, DType::F64, |v| Ok(Scalar::Float(f(&v.iter().map(|v| v.float()).collect::<Vec<_>>()))));
    let (tops, sums) = (line(|v| v.iter().copied().fold(f64::NEG_INFINITY, f64::max))?, line(log_sum_exp)?);
    let shifted = line(|v| {
        let top = v.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        v.iter().map(|v| (v - top).exp()).sum()
    })?;
    let weights = Tensor::build(DType::F64, scores.shape(), |i| {
        let mut row = i.to_vec();
        row[r - 1] = 0;
        let top = tops.f(&row);
        // A row that is masked out everywhere attends to nothing.
        Scalar::Float(if top == f64::NEG_INFINITY { 0.0 } else { (scores.f(i) - top).exp() / shifted.f(&row) })
    })?;
    let given = args.opt_tensor("dropout_mask")?.map(|m| m.expand(weights.shape())).transpose()?;
    let weights = match given {
        _ if dropped == 0.0 => weights,
        Some(kept) => Tensor::build(DType::F64, weights.shape(), |i| Scalar::Float(if kept.get(i).truthy() { weights.f(i) / (1.0 - dropped) } else { 0.0 }))?,
        None => super::random::thinned(args, &weights, dropped)?,
    };
    let product = matmul(&weights, &values)?.cast(q.dtype());
    Ok((product, sums.reshape(&sums.shape()[..r - 1])?, weights.cast(q.dtype())))
}

/// How many query heads one head of this key or value serves. The fused operators have no argument that allows more than one.
fn served(args: &Args, t: &Tensor) -> Result<usize, InterpError> {
    let q = args.tensor("query")?;
    let allowed = args.opt_scalar("enable_gqa")?.is_none_or(Scalar::truthy);
    Ok(if allowed && q.rank() >= 3 && t.rank() >= 3 { q.shape()[q.rank() - 3] / t.shape()[t.rank() - 3].max(1) } else { 1 })
}

/// Key or value with each head once for every query head that it serves.
fn shared(args: &Args, t: Tensor) -> Result<Tensor, InterpError> {
    let each = served(args, &t)?;
    if each <= 1 {
        return Ok(t);
    }
    let (d, mut shape) = (t.rank() - 3, t.shape().to_vec());
    shape[d] *= each;
    t.view(&shape, |i, s| {
        s.copy_from_slice(i);
        s[d] = i[d] / each;
    })
}

/// The gradient of a key or value `t` from that of its shared form.
fn gathered(args: &Args, t: &Tensor, gradient: Tensor) -> Result<Tensor, InterpError> {
    let each = served(args, t)?;
    if each <= 1 {
        return Ok(gradient);
    }
    Tensor::build(gradient.dtype(), t.shape(), |i| {
        let (d, mut at) = (i.len() - 3, i.to_vec());
        let part = (0..each).map(|k| {
            at[d] = i[d] * each + k;
            gradient.f(&at)
        });
        Scalar::Float(part.sum())
    })
}

/// Gradients of query, key and value, from the sums that define them.
fn gradients(args: &Args) -> Results {
    if args.float("dropout_p")? != 0.0 {
        return Err(fail("dropout draws random numbers"));
    }
    let wide = |name: &str| Ok::<_, InterpError>(args.tensor(name)?.cast(DType::F64));
    let (q, k, v, grad, out, sums) = (wide("query")?, wide("key")?, wide("value")?, wide("grad_out")?, wide("out")?, wide("logsumexp")?);
    let r = q.rank();
    if r < 2 || k.rank() != r || v.rank() != r {
        return Err(fail("attention needs matrices"));
    }
    let (keys, values) = (shared(args, k.clone())?, shared(args, v.clone())?);
    let flip = |t: &Tensor| t.transpose(r - 2, r - 1);
    let scale = args.opt_float("scale")?.unwrap_or(1.0 / (q.shape()[r - 1] as f64).sqrt());
    let scores = matmul(&q, &flip(&keys)?)?;
    let mask = args.opt_tensor("attn_mask")?.map(|m| m.expand(scores.shape())).transpose()?;
    let causal = args.flag("is_causal")?;
    let weights = Tensor::build(DType::F64, scores.shape(), |i| {
        let masked = match &mask {
            Some(m) if m.dtype() == DType::Bool => if m.get(i).truthy() { 0.0 } else { f64::NEG_INFINITY },
            Some(m) => m.f(i),
            None => 0.0,
        };
        let hidden = masked == f64::NEG_INFINITY || (causal && i[r - 1] > i[r - 2]);
        Scalar::Float(if hidden { 0.0 } else { (scores.f(i) * scale + masked - sums.f(&i[..r - 1])).exp() })
    })?;
    let (to_weights, width) = (matmul(&grad, &flip(&values)?)?, out.shape()[r - 1]);
    let slope = Tensor::build(DType::F64, scores.shape(), |i| {
        let mut at = i.to_vec();
        let mean: f64 = (0..width).map(|e| { at[r - 1] = e; grad.f(&at) * out.f(&at) }).sum();
        Scalar::Float(weights.f(i) * (to_weights.f(i) - mean) * scale)
    })?;
    let dtype = args.tensor("query")?.dtype();
    let to_key = gathered(args, &k, matmul(&flip(&slope)?, &q)?)?;
    let to_value = gathered(args, &v, matmul(&flip(&weights)?, &grad)?)?;
    many([matmul(&slope, &keys)?.cast(dtype), to_key.cast(dtype), to_value.cast(dtype)])
}

fn flash(args: &Args) -> Results {
    let (out, sums, _) = attention(args)?;
    let dtype = super::common::opmath(out.dtype());
    many([out, sums.cast(dtype)])
}
