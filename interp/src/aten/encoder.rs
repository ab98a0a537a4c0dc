//! Attention with its projections, and a layer of a transformer's encoder.

use super::Arm::{self, Op};
use super::activation::exact_gelu;
use super::common::{Kind, add, elementwise};
use super::matmul::{linear, matmul};
use super::norm::normalised_rows;
use super::reduce::reduce;
use crate::dtype::{DType, Scalar};
use crate::tensor::Tensor;
use crate::value::{Args, InterpError, Results, Value, fail, one};
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (_NATIVE_MULTI_HEAD_ATTENTION, Op(multi_head)),
    (_TRANSFORMER_ENCODER_LAYER_FWD, Op(layer)),
];

fn multi_head(args: &Args) -> Results {
    let inputs = [args.tensor("query")?, args.tensor("key")?, args.tensor("value")?];
    let dtype = inputs[0].dtype();
    let (output, weights) = attention(args, inputs.map(|x| x.cast(DType::F64)), args.int("num_head")?)?;
    let weights = if !args.flag("need_weights")? {
        Value::None
    } else if args.flag("average_attn_weights")? {
        let heads = weights.shape()[1] as f64;
        let mean = |v: &[Scalar]| Ok(Scalar::Float(v.iter().map(|v| v.float()).sum::<f64>() / heads));
        Value::Tensor(reduce(&weights, &[1], false, DType::F64, mean)?.cast(dtype))
    } else {
        Value::Tensor(weights.cast(dtype))
    };
    Ok(vec![Value::Tensor(output.cast(dtype)), weights])
}

/// The projected output, and the weights `[batch, head, query, key]`, all in f64.
fn attention(args: &Args, inputs: [Tensor; 3], heads: i64) -> Result<(Tensor, Tensor), InterpError> {
    let (weight, bias) = (wide(args, "qkv_weight")?, wide(args, "qkv_bias")?);
    let (width, heads) = (weight.shape()[0] / 3, heads.max(1) as usize);
    if inputs.iter().any(|x| x.rank() != 3) {
        return Err(fail("attention of inputs that are no batch of sequences"));
    }
    let each = width / heads;
    let part = |k: usize| {
        let x = linear(&inputs[k], &weight.slice(0, k * width, width, 1)?, Some(&bias.slice(0, k * width, width, 1)?))?;
        x.reshape(&[x.shape()[0], x.shape()[1], heads, each])?.transpose(1, 2)
    };
    let (query, key, value) = (part(0)?, part(1)?, part(2)?);
    let scores = matmul(&query, &key.transpose(2, 3)?)?;
    let mask = match args.opt_tensor("mask")? {
        Some(mask) if args.opt_scalar("mask_type")? == Some(Scalar::Int(1)) => Some(mask.unsqueeze(1).unsqueeze(1).expand(scores.shape())?),
        Some(mask) => Some(mask.expand(scores.shape())?),
        None => None,
    };
    let hidden = |i: &[usize]| mask.as_ref().is_some_and(|mask| mask.get(i).truthy());
    let keys = scores.shape()[3];
    let weights = Tensor::build(DType::F64, scores.shape(), |i| {
        if hidden(i) {
            // Where all keys are hidden there is nothing to divide by.
            let mut at = i.to_vec();
            let all = (0..keys).all(|k| { at[3] = k; hidden(&at) });
            return Scalar::Float(if all { f64::NAN } else { 0.0 });
        }
        let (mut at, own) = (i.to_vec(), scores.f(i));
        let sum: f64 = (0..keys).map(|k| { at[3] = k; if hidden(&at) { 0.0 } else { ((scores.f(&at) - own) / (each as f64).sqrt()).exp() } }).sum();
        Scalar::Float(1.0 / sum)
    })?;
    let context = matmul(&weights, &value)?.transpose(1, 2)?;
    let merged = context.reshape(&[context.shape()[0], context.shape()[1], width])?;
    Ok((linear(&merged, &wide(args, "proj_weight")?, Some(&wide(args, "proj_bias")?))?, weights))
}

fn layer(args: &Args) -> Results {
    let source = wide(args, "src")?;
    let eps = args.float("eps")?;
    let norm = |x: &Tensor, k: u8| normalised_rows(x, eps, &wide(args, &format!("norm_weight_{k}"))?, &wide(args, &format!("norm_bias_{k}"))?);
    let sum = |x: &Tensor, y: &Tensor| elementwise(Kind::Same, &[x.into(), y.into()], |v| Ok(add(v[0], v[1])));
    let heads = args.int("num_heads")?;
    let attended = |x: &Tensor| Ok::<_, InterpError>(attention(args, [x.clone(), x.clone(), x.clone()], heads)?.0);
    let gelu = args.flag("use_gelu")?;
    let fed_forward = |x: &Tensor| {
        let inner = linear(x, &wide(args, "ffn_weight_1")?, Some(&wide(args, "ffn_bias_1")?))?;
        let inner = inner.map(DType::F64, |v| Scalar::Float(if gelu { exact_gelu(v.float()) } else { v.float().max(0.0) }));
        linear(&inner, &wide(args, "ffn_weight_2")?, Some(&wide(args, "ffn_bias_2")?))
    };
    let result = if args.flag("norm_first")? {
        let x = sum(&source, &attended(&norm(&source, 1)?)?)?;
        sum(&x, &fed_forward(&norm(&x, 2)?)?)?
    } else {
        let x = norm(&sum(&source, &attended(&source)?)?, 1)?;
        norm(&sum(&x, &fed_forward(&x)?)?, 2)?
    };
    one(result.cast(args.tensor("src")?.dtype()))
}

fn wide(args: &Args, name: &str) -> Result<Tensor, InterpError> {
    Ok(args.tensor(name)?.cast(DType::F64))
}
