//! Convolutions of any number of spatial dimensions, their transposes and gradients.

use super::Arm::{self, Op};
use super::common::{add, mul};
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::Scalar;
use crate::tensor::{Tensor, each};
use crate::value::{Args, InterpError, Results, Value, fail, one};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (_CONVOLUTION, Op(convolution)),
    (_CONVOLUTION_MODE, Op(|a| conv(a, a.tensor("weight")?.rank().saturating_sub(2)))),
    (CONV1D, Op(|a| conv(a, 1))),
    (CONV1D_PADDING, Op(|a| conv(a, 1))),
    (CONV2D, Op(|a| conv(a, 2))),
    (CONV2D_PADDING, Op(|a| conv(a, 2))),
    (CONV3D, Op(|a| conv(a, 3))),
    (CONV3D_PADDING, Op(|a| conv(a, 3))),
    (CONV_TRANSPOSE1D, Op(|a| transposed(a, 1))),
    (CONV_TRANSPOSE2D_INPUT, Op(|a| transposed(a, 2))),
    (CONV_TRANSPOSE3D_INPUT, Op(|a| transposed(a, 3))),
    (CONVOLUTION, Op(convolution)),
    (CONVOLUTION_BACKWARD, Op(backward)),
];

/// The geometry of a convolution over `n` spatial dimensions.
#[derive(Clone)]
struct Geometry {
    stride: Vec<usize>,
    /// Padding before and after.
    low: Vec<usize>,
    high: Vec<usize>,
    dilation: Vec<usize>,
    groups: usize,
}

impl Geometry {
    /// Calls `f(output, weight, input)` with flat positions for every product of the convolution
    /// of `input` (N, C, ..) by `weight` (O, C / groups, ..) to `output` (N, O, ..).
    fn products(&self, input: &[usize], weight: &[usize], output: &[usize], mut f: impl FnMut(usize, usize, usize)) -> Result<(), InterpError> {
        let n = self.stride.len();
        let (channels, outputs) = (weight[1], output[1] / self.groups.max(1));
        if input[1] != channels * self.groups || weight[0] != outputs * self.groups || self.groups == 0 {
            return Err(fail(format!("{} groups do not divide input {input:?} and weight {weight:?}", self.groups)));
        }
        let position = |index: &[usize], shape: &[usize]| index.iter().zip(shape).fold(0, |k, (i, s)| k * s + i);
        let mut point = vec![0; n];
        each(output, |o| {
            let group = o[1] / outputs;
            let out = position(o, output);
            each(&weight[1..], |k| {
                for d in 0..n {
                    let at = o[2 + d] * self.stride[d] + k[1 + d] * self.dilation[d];
                    if at < self.low[d] || at - self.low[d] >= input[2 + d] {
                        return;
                    }
                    point[d] = at - self.low[d];
                }
                let x = position(&point, &input[2..]) + (o[0] * input[1] + group * channels + k[0]) * input[2..].iter().product::<usize>();
                let w = o[1] * weight[1..].iter().product::<usize>() + position(k, &weight[1..]);
                f(out, w, x);
            });
        });
        Ok(())
    }

    fn output(&self, input: &[usize], weight: &[usize]) -> Result<Vec<usize>, InterpError> {
        let mut shape = vec![input[0], weight[0]];
        for d in 0..self.stride.len() {
            let padded = input[2 + d] + self.low[d] + self.high[d];
            let window = self.dilation[d] * weight[2 + d].saturating_sub(1) + 1;
            if self.stride[d] == 0 || window > padded {
                return Err(fail(format!("a window of {window} with stride {} does not fit {padded} elements", self.stride[d])));
            }
            shape.push((padded - window) / self.stride[d] + 1);
        }
        Ok(shape)
    }
}

/// Sums of products as (target, left, right) positions, in f64 where the type is real.
fn accumulate(
    target: &[usize],
    like: &Tensor,
    left: &Tensor,
    right: &Tensor,
    start: impl Fn(usize) -> Scalar,
    visit: impl FnOnce(&mut dyn FnMut(usize, usize, usize)) -> Result<(), InterpError>,
) -> Result<Tensor, InterpError> {
    let n = crate::tensor::numel(target)?;
    if like.dtype().is_float() {
        let (l, r) = (left.floats(), right.floats());
        let mut sums: Vec<f64> = (0..n).map(|k| start(k).float()).collect();
        visit(&mut |t, a, b| sums[t] += l[a] * r[b])?;
        return Tensor::from_floats(like.dtype(), target, &sums);
    }
    let mut sums: Vec<Scalar> = (0..n).map(start).collect();
    visit(&mut |t, a, b| sums[t] = add(sums[t], mul(left.at(a), right.at(b))))?;
    Tensor::from_scalars(like.dtype(), target, sums)
}

/// A bias element for a flat output position.
fn bias_at<'a>(bias: Option<&'a Tensor>, shape: &[usize]) -> impl Fn(usize) -> Scalar + 'a {
    let (inner, channels) = (shape[2..].iter().product::<usize>().max(1), shape[1].max(1));
    move |k| bias.and_then(|b| if b.is_empty() { None } else { Some(b.at(k / inner % channels % b.len())) }).unwrap_or(Scalar::Int(0))
}

/// The input with its padding written out.
fn padded(x: &Tensor, g: &Geometry) -> Result<Tensor, InterpError> {
    let mut shape = x.shape().to_vec();
    for d in 0..g.low.len() {
        shape[2 + d] += g.low[d] + g.high[d];
    }
    Tensor::build(x.dtype(), &shape, |i| {
        let mut at = i.to_vec();
        for d in 0..g.low.len() {
            match i[2 + d].checked_sub(g.low[d]).filter(|&p| p < x.shape()[2 + d]) {
                Some(p) => at[2 + d] = p,
                None => return x.dtype().cast(Scalar::Int(0)),
            }
        }
        x.get(&at)
    })
}

fn forward(x: &Tensor, w: &Tensor, bias: Option<&Tensor>, g: &Geometry) -> Result<Tensor, InterpError> {
    let shape = g.output(x.shape(), w.shape())?;
    // The zeros of the padding are elements: a weight that is NaN or infinite makes them NaN.
    let x = padded(x, g)?;
    let inner = Geometry { low: vec![0; g.low.len()], high: vec![0; g.high.len()], ..g.clone() };
    accumulate(&shape, &x, w, &x, bias_at(bias, &shape), |f| inner.products(x.shape(), w.shape(), &shape, f))
}

/// The transpose: what a convolution reads, this writes.
fn transpose(x: &Tensor, w: &Tensor, bias: Option<&Tensor>, g: &Geometry, output_padding: &[usize]) -> Result<Tensor, InterpError> {
    let mut shape = vec![x.shape()[0], w.shape()[1] * g.groups];
    for (d, extra) in output_padding.iter().enumerate().take(g.stride.len()) {
        let full = (x.shape()[2 + d].max(1) - 1) * g.stride[d] + g.dilation[d] * w.shape()[2 + d].saturating_sub(1) + extra + 1;
        shape.push(full.checked_sub(g.low[d] + g.high[d]).ok_or_else(|| fail("the padding exceeds the output"))?);
    }
    accumulate(&shape, x, w, x, bias_at(bias, &shape), |f| g.products(&shape, w.shape(), x.shape(), |small, k, large| f(large, k, small)))
}

/// Input and weight with a batch dimension; whether one was added.
fn batched(x: &Tensor, w: &Tensor, n: usize) -> Result<(Tensor, bool), InterpError> {
    if w.rank() != n + 2 {
        return Err(fail(format!("a weight of rank {} for {n} spatial dimensions", w.rank())));
    }
    match x.rank() {
        r if r == n + 2 => Ok((x.clone(), false)),
        r if r == n + 1 => Ok((x.unsqueeze(0), true)),
        r => Err(fail(format!("an input of rank {r} for {n} spatial dimensions"))),
    }
}

fn unbatched(y: Tensor, added: bool) -> Results {
    if added { one(y.select(0, 0)?) } else { one(y) }
}

fn conv(args: &Args, n: usize) -> Results {
    let w = args.tensor("weight")?;
    let (x, added) = batched(args.tensor("input")?, w, n)?;
    let (stride, dilation, groups) = (args.spread("stride", n)?, args.spread("dilation", n)?, args.int("groups")?.max(0) as usize);
    let (low, high) = match args.opt("padding") {
        Some(Value::Str(mode)) => match mode.as_str() {
            "valid" => (vec![0; n], vec![0; n]),
            "same" => {
                let total: Vec<usize> = (0..n).map(|d| dilation[d] * w.shape()[2 + d].saturating_sub(1)).collect();
                (total.iter().map(|t| t / 2).collect(), total.iter().map(|t| t - t / 2).collect())
            }
            other => return Err(fail(format!("padding `{other}` is not known"))),
        },
        _ => {
            let p = args.spread("padding", n)?;
            (p.clone(), p)
        }
    };
    unbatched(forward(&x, w, args.opt_tensor("bias")?, &Geometry { stride, low, high, dilation, groups })?, added)
}

fn geometry(args: &Args, n: usize) -> Result<Geometry, InterpError> {
    let padding = args.spread("padding", n)?;
    Ok(Geometry { stride: args.spread("stride", n)?, low: padding.clone(), high: padding, dilation: args.spread("dilation", n)?, groups: args.int("groups")?.max(0) as usize })
}

fn transposed(args: &Args, n: usize) -> Results {
    let w = args.tensor("weight")?;
    let (x, added) = batched(args.tensor("input")?, w, n)?;
    unbatched(transpose(&x, w, args.opt_tensor("bias")?, &geometry(args, n)?, &args.spread("output_padding", n)?)?, added)
}

fn convolution(args: &Args) -> Results {
    let w = args.tensor("weight")?;
    let n = w.rank().saturating_sub(2);
    let (x, added) = batched(args.tensor("input")?, w, n)?;
    let (g, bias) = (geometry(args, n)?, args.opt_tensor("bias")?);
    unbatched(if args.flag("transposed")? { transpose(&x, w, bias, &g, &args.spread("output_padding", n)?)? } else { forward(&x, w, bias, &g)? }, added)
}

/// Gradients to input, weight and bias, from the same products as the forward.
fn backward(args: &Args) -> Results {
    let (grad, x, w) = (args.tensor("grad_output")?, args.tensor("input")?, args.tensor("weight")?);
    let n = w.rank().saturating_sub(2);
    let ((x, _), (grad, added)) = (batched(x, w, n)?, batched(grad, w, n)?);
    let g = geometry(args, n)?;
    let swap = args.flag("transposed")?;
    let mask: Vec<bool> = args.scalars("output_mask")?.into_iter().map(Scalar::truthy).collect();
    let [to_input, to_weight, to_bias] = mask[..] else { return Err(fail("output_mask needs three entries")) };
    // Of a transposed convolution, the output is what the convolution reads.
    let zero = |_: usize| Scalar::Int(0);
    let (large, small) = if swap { (&grad, &x) } else { (&x, &grad) };
    let mut out = vec![Value::None, Value::None, Value::None];
    if to_input {
        let result = accumulate(x.shape(), &x, w, &grad, zero, |f| g.products(large.shape(), w.shape(), small.shape(), |s, k, l| if swap { f(s, k, l) } else { f(l, k, s) }))?;
        out[0] = Value::Tensor(if added { result.select(0, 0)? } else { result });
    }
    if to_weight {
        out[1] = accumulate(w.shape(), w, large, small, zero, |f| g.products(large.shape(), w.shape(), small.shape(), |s, k, l| f(k, l, s)))?.into();
    }
    if to_bias {
        let dims: Vec<usize> = (0..grad.rank()).filter(|&d| d != 1).collect();
        out[2] = super::reduce::reduce(&grad, &dims, false, grad.dtype(), |v| Ok(super::reduce::total(v)))?.into();
    }
    Ok(out)
}
