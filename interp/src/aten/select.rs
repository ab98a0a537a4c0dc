//! Pointwise operators of three operands: choosing, clamping, blending.

use super::Arm::{self, Op};
use super::common::{Kind, Operand, add, elementwise, maximum, minimum, mul, operand, quotient, result_type, sub};
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::{DType, Scalar};
use crate::tensor::{Tensor, broadcast_shape};
use crate::value::{Args, Results, Value, fail, one};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (ADDCDIV, Op(|a| blend(a, quotient))),
    (ADDCMUL, Op(|a| blend(a, mul))),
    (CLAMP, Op(|a| clamp(a, "min", "max"))),
    (CLAMP_TENSOR, Op(|a| clamp(a, "min", "max"))),
    (CLAMP_MAX, Op(|a| clamp(a, "", "max"))),
    (CLAMP_MAX_TENSOR, Op(|a| clamp(a, "", "max"))),
    (CLAMP_MIN, Op(|a| clamp(a, "min", ""))),
    (CLAMP_MIN_TENSOR, Op(|a| clamp(a, "min", ""))),
    (CLIP, Op(|a| clamp(a, "min", "max"))),
    (CLIP_TENSOR, Op(|a| clamp(a, "min", "max"))),
    (LERP_SCALAR, Op(lerp)),
    (LERP_TENSOR, Op(lerp)),
    (MASKED_FILL_SCALAR, Op(masked_fill)),
    (MASKED_FILL_TENSOR, Op(masked_fill)),
    (MASKED_SCATTER, Op(masked_scatter)),
    (MASKED_SCATTER_BACKWARD, Op(masked_scatter_backward)),
    (MASKED_SELECT, Op(masked_select)),
    (NATIVE_DROPOUT_BACKWARD, Op(native_dropout_backward)),
    (TRIL, Op(|a| triangle(a, false))),
    (TRIU, Op(|a| triangle(a, true))),
    (WHERE, Op(|a| super::index::nonzero_list(a, "condition"))),
    (WHERE_SCALAR, Op(choose)),
    (WHERE_SCALAROTHER, Op(choose)),
    (WHERE_SCALARSELF, Op(choose)),
    (WHERE_SELF, Op(choose)),
];

/// `self + value * f(tensor1, tensor2)`.
fn blend(args: &Args, f: fn(Scalar, Scalar) -> Scalar) -> Results {
    let value = args.opt_scalar("value")?.unwrap_or(Scalar::Int(1));
    let operands = [operand(args, "self")?, operand(args, "tensor1")?, operand(args, "tensor2")?];
    one(elementwise(Kind::Same, &operands, |v| Ok(add(v[0], mul(value, f(v[1], v[2])))))?)
}

/// The upper bound wins over the lower one; NaN propagates.
fn clamp(args: &Args, low: &str, high: &str) -> Results {
    let mut operands = vec![operand(args, "self")?];
    let has_low = args.opt(low).is_some();
    for name in [low, high] {
        if args.opt(name).is_some() {
            operands.push(operand(args, name)?);
        }
    }
    if operands.len() == 1 {
        return Err(fail("neither a lower nor an upper bound"));
    }
    one(elementwise(Kind::Same, &operands, |v| {
        let mut x = v[0];
        for (k, &bound) in v[1..].iter().enumerate() {
            x = if k == 0 && has_low { maximum(x, bound) } else { minimum(x, bound) };
        }
        Ok(x)
    })?)
}

/// `start + weight * (end - start)`, from the nearer end.
fn lerp(args: &Args) -> Results {
    let weight = operand(args, "weight")?;
    let operands = [operand(args, "self")?, operand(args, "end")?, weight];
    let dtype = result_type(&operands[..2]);
    one(elementwise(Kind::Same, &operands, |v| {
        let d = sub(v[1], v[0]);
        let near = super::reduce::magnitude(v[2]) < 0.5;
        Ok(if near { add(v[0], mul(v[2], d)) } else { sub(v[1], mul(d, sub(Scalar::Int(1), v[2]))) })
    })?
    .cast(dtype))
}

fn masked_fill(args: &Args) -> Results {
    let (x, mask) = (args.tensor("self")?, args.tensor("mask")?);
    let value = args.scalar("value")?;
    one(super::common::evaluate(x.dtype(), x.dtype(), &[x.into(), (&mask.cast(DType::Bool).cast(x.dtype())).into()], |v| Ok(if v[1].truthy() { value } else { v[0] }))?)
}

fn choose(args: &Args) -> Results {
    let condition = args.tensor("condition")?;
    let (a, b) = (operand(args, "self")?, operand(args, "other")?);
    let dtype = result_type(&[a, b]);
    let shape = |o: &Operand| if let Operand::Tensor(t) = o { t.shape().to_vec() } else { Vec::new() };
    let shape = broadcast_shape(&[condition.shape(), &shape(&a), &shape(&b)])?;
    let wide = |o: Operand| match o {
        Operand::Tensor(t) => t.cast(dtype).expand(&shape),
        Operand::Number(v) => Tensor::full(dtype, &shape, v),
    };
    let (condition, a, b) = (condition.expand(&shape)?, wide(a)?, wide(b)?);
    one(Tensor::from_scalars(dtype, &shape, (0..a.len()).map(|k| if condition.at(k).truthy() { a.at(k) } else { b.at(k) }))?)
}

fn masked_select(args: &Args) -> Results {
    let (x, mask) = (args.tensor("self")?, args.tensor("mask")?);
    let shape = broadcast_shape(&[x.shape(), mask.shape()])?;
    let (x, mask) = (x.expand(&shape)?, mask.expand(&shape)?);
    let chosen: Vec<usize> = (0..x.len()).filter(|&k| mask.at(k).truthy()).collect();
    one(x.pick(&[chosen.len()], &chosen))
}

fn masked_scatter(args: &Args) -> Results {
    let (x, mask, source) = (args.tensor("self")?, args.tensor("mask")?, args.tensor("source")?);
    let shape = broadcast_shape(&[x.shape(), mask.shape()])?;
    let (mut x, mask) = (x.expand(&shape)?, mask.expand(&shape)?);
    let chosen: Vec<usize> = (0..x.len()).filter(|&k| mask.at(k).truthy()).collect();
    if chosen.len() > source.len() {
        return Err(fail("the source has fewer elements than the mask selects"));
    }
    for (n, &k) in chosen.iter().enumerate() {
        x.put(k, source.at(n));
    }
    one(x)
}

fn masked_scatter_backward(args: &Args) -> Results {
    let (grad, mask) = (args.tensor("grad_output")?, args.tensor("mask")?);
    let mask = mask.expand(grad.shape())?;
    let chosen: Vec<Scalar> = (0..grad.len()).filter(|&k| mask.at(k).truthy()).map(|k| grad.at(k)).collect();
    let shape = args.shape("sizes")?;
    let n = crate::tensor::numel(&shape)?;
    one(Tensor::from_scalars(grad.dtype(), &shape, chosen.into_iter().chain(std::iter::repeat(Scalar::Int(0))).take(n))?)
}

fn native_dropout_backward(args: &Args) -> Results {
    let scale = Scalar::Float(args.float("scale")?);
    let (grad, mask) = (args.tensor("grad_output")?, args.tensor("mask")?);
    Ok(vec![Value::Tensor(super::common::evaluate(grad.dtype(), grad.dtype(), &[grad.into(), mask.into()], |v| Ok(mul(mul(v[0], v[1]), scale)))?)])
}

fn triangle(args: &Args, upper: bool) -> Results {
    let x = args.tensor("self")?;
    let diagonal = args.int("diagonal")?;
    let r = x.rank();
    if r < 2 {
        return Err(fail("a triangle needs a matrix"));
    }
    one(Tensor::build(x.dtype(), x.shape(), |i| {
        let d = i[r - 1] as i64 - i[r - 2] as i64;
        if if upper { d >= diagonal } else { d <= diagonal } { x.get(i) } else { Scalar::Int(0) }
    })?)
}

