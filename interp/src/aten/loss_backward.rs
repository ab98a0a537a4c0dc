//! Gradients of losses, softmax and normalisation layers.

use super::Arm::{self, Op};
use super::loss::{gradient, mean_share};
use super::norm::per_channel;
use super::reduce::{groups, reduce, total};
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::{DType, Scalar};
use crate::tensor::Tensor;
use crate::value::{Args, InterpError, Results, Value, fail, one};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (_FUSED_RMS_NORM_BACKWARD, Op(rms_norm_backward)),
    (_LOG_SOFTMAX_BACKWARD_DATA, Op(|a| softmax_backward(a, true))),
    (_SOFTMAX_BACKWARD_DATA, Op(|a| softmax_backward(a, false))),
    (BATCH_NORM_BACKWARD, Op(|a| batch_norm_backward(a, "update", "save_var"))),
    (BINARY_CROSS_ENTROPY_BACKWARD, Op(bce_backward)),
    (HUBER_LOSS_BACKWARD, Op(|a| { let d = a.float("delta")?; gradient(a, |x, y| (x - y).clamp(-d, d)) })),
    (MSE_LOSS_BACKWARD, Op(|a| gradient(a, |x, y| 2.0 * (x - y)))),
    (MULTI_MARGIN_LOSS_BACKWARD, Op(multi_margin_backward)),
    (MULTILABEL_MARGIN_LOSS_BACKWARD, Op(multilabel_margin_backward)),
    (NATIVE_BATCH_NORM_BACKWARD, Op(|a| batch_norm_backward(a, "train", "save_invstd"))),
    (NATIVE_GROUP_NORM_BACKWARD, Op(group_norm_backward)),
    (NATIVE_LAYER_NORM_BACKWARD, Op(layer_norm_backward)),
    (NLL_LOSS2D_BACKWARD, Op(nll_backward)),
    (NLL_LOSS_BACKWARD, Op(nll_backward)),
    (SMOOTH_L1_LOSS_BACKWARD, Op(|a| { let b = a.float("beta")?; gradient(a, |x, y| if (x - y).abs() < b { (x - y) / b } else { (x - y).signum() }) })),
    (SOFT_MARGIN_LOSS_BACKWARD, Op(|a| gradient(a, |x, y| { let z = (-y * x).exp(); -y * z / (z + 1.0) }))),
];

/// From the output: `g - exp(y) sum(g)` of the logarithm, `y (g - sum(g y))` otherwise.
fn softmax_backward(args: &Args, log: bool) -> Results {
    let (g, y) = (args.tensor("grad_output")?, args.tensor("output")?);
    let dtype = args.dtype("input_dtype")?.unwrap_or(g.dtype());
    let dim = args.dim("dim", g.rank())?;
    let mut out = vec![0.0; g.len()];
    for group in groups(g.shape(), &[dim], true)?.1 {
        let sum: f64 = group.iter().map(|&k| g.at(k).float() * if log { 1.0 } else { y.at(k).float() }).sum();
        for k in group {
            let (g, y) = (g.at(k).float(), y.at(k).float());
            out[k] = if log { g - y.exp() * sum } else { y * (g - sum) };
        }
    }
    one(Tensor::from_floats(dtype, g.shape(), &out)?)
}

fn bce_backward(args: &Args) -> Results {
    let (g, x, t) = (args.tensor("grad_output")?, args.tensor("self")?, args.tensor("target")?);
    let share = mean_share(args, x.len())?;
    let ones = Tensor::scalar(x.dtype(), Scalar::Int(1));
    let w = args.opt_tensor("weight")?.unwrap_or(&ones);
    one(super::common::evaluate(x.dtype(), x.dtype(), &[g.into(), x.into(), t.into(), w.into()], |v| {
        let (g, x, t, w) = (v[0].float(), v[1].float(), v[2].float(), v[3].float());
        Ok(Scalar::Float(g * share * w * (x - t) / ((1.0 - x) * x).max(1e-12)))
    })?)
}

fn nll_backward(args: &Args) -> Results {
    let (g, x, target) = (args.tensor("grad_output")?, args.tensor("self")?, args.tensor("target")?);
    let (weight, ignored) = (args.opt_tensor("weight")?, args.int("ignore_index")? as i128);
    let dim = usize::from(x.rank() > 1);
    let code = args.int("reduction")?;
    let share = if code == 1 { 1.0 / args.tensor("total_weight")?.item()?.float() } else { 1.0 };
    let target = if target.rank() + 1 == x.rank() { target.unsqueeze(dim) } else { target.reshape(&[target.len()])? };
    one(Tensor::build(x.dtype(), x.shape(), |i| {
        let mut row = i.to_vec();
        row[dim] = 0;
        let t = target.get(&row).int();
        if t == ignored || t != i[dim] as i128 {
            return Scalar::Float(0.0);
        }
        let g = if g.rank() == 0 { g.at(0) } else { g.at(target.position(&row)) };
        Scalar::Float(-g.float() * share * weight.map_or(1.0, |w| w.at(i[dim]).float()))
    })?)
}

/// Rows of samples: (rows, width).
fn rows(x: &Tensor) -> (usize, usize) {
    let width = x.shape().last().copied().unwrap_or(1);
    (x.len() / width.max(1), width)
}

fn row_gradient(g: &Tensor, r: usize) -> f64 {
    if g.len() == 1 { g.at(0).float() } else { g.at(r).float() }
}

fn multi_margin_backward(args: &Args) -> Results {
    let (g, x, target) = (args.tensor("grad_output")?, args.tensor("self")?, args.tensor("target")?);
    let (p, margin, weight) = (args.float("p")?, args.float("margin")?, args.opt_tensor("weight")?);
    let (n, width) = rows(x);
    let share = mean_share(args, n)?;
    let mut out = vec![0.0; x.len()];
    for r in 0..n {
        let y = super::view::wrap_index(target.at(r).int() as i64, width)?;
        let w = weight.map_or(1.0, |w| w.at(y).float());
        for c in (0..width).filter(|&c| c != y) {
            let z = margin - x.at(r * width + y).float() + x.at(r * width + c).float();
            if z > 0.0 {
                let d = row_gradient(g, r) * share * w * p * z.powf(p - 1.0) / width as f64;
                out[r * width + c] += d;
                out[r * width + y] -= d;
            }
        }
    }
    one(Tensor::from_floats(x.dtype(), x.shape(), &out)?)
}

fn multilabel_margin_backward(args: &Args) -> Results {
    let (g, x, target) = (args.tensor("grad_output")?, args.tensor("self")?, args.tensor("target")?);
    let is_target = args.tensor("is_target")?;
    let (n, width) = rows(x);
    let share = mean_share(args, n)?;
    let mut out = vec![0.0; x.len()];
    for r in 0..n {
        let at = |c: usize| r * width + c;
        for l in (0..width).map(|c| target.at(at(c)).int()).take_while(|&t| t >= 0) {
            let l = super::view::wrap_index(l as i64, width)?;
            for c in (0..width).filter(|&c| !is_target.at(at(c)).truthy()) {
                if 1.0 - x.at(at(l)).float() + x.at(at(c)).float() > 0.0 {
                    let d = row_gradient(g, r) * share / width as f64;
                    out[at(c)] += d;
                    out[at(l)] -= d;
                }
            }
        }
    }
    one(Tensor::from_floats(x.dtype(), x.shape(), &out)?)
}

/// What a normalisation's gradient needs: everything broadcast to the input's shape.
struct Normal<'a> {
    grad: &'a Tensor,
    x: &'a Tensor,
    mean: Tensor,
    rstd: Tensor,
    weight: Option<Tensor>,
}

impl Normal<'_> {
    fn normalized(&self, k: usize) -> f64 {
        (self.x.at(k).float() - self.mean.at(k).float()) * self.rstd.at(k).float()
    }

    fn weighted(&self, k: usize) -> f64 {
        self.grad.at(k).float() * self.weight.as_ref().map_or(1.0, |w| w.at(k).float())
    }

    /// The input's gradient where statistics came from the groups over `dims`, or were constants.
    fn to_input(&self, dims: &[usize], constant: bool) -> Result<Tensor, InterpError> {
        let mut out = vec![0.0; self.x.len()];
        for group in groups(self.x.shape(), dims, true)?.1 {
            let n = group.len() as f64;
            let (mut sum, mut dot) = (0.0, 0.0);
            for &k in &group {
                sum += self.weighted(k);
                dot += self.weighted(k) * self.normalized(k);
            }
            for k in group {
                let centred = if constant { self.weighted(k) } else { self.weighted(k) - sum / n - self.normalized(k) * dot / n };
                out[k] = centred * self.rstd.at(k).float();
            }
        }
        Tensor::from_floats(self.x.dtype(), self.x.shape(), &out)
    }

    /// Sums over `dims` of the gradient times the normalised input, and of the gradient.
    fn to_affine(&self, dims: &[usize], dtype: DType) -> Result<(Tensor, Tensor), InterpError> {
        let scaled = Tensor::from_floats(DType::F64, self.x.shape(), &(0..self.x.len()).map(|k| self.grad.at(k).float() * self.normalized(k)).collect::<Vec<_>>())?;
        let sum = |t: &Tensor| reduce(t, dims, false, dtype, |v| Ok(total(v)));
        Ok((sum(&scaled)?, sum(&self.grad.cast(DType::F64))?))
    }
}

/// The three results, absent ones left out by the mask.
fn masked(args: &Args, input: impl FnOnce() -> Result<Tensor, InterpError>, affine: impl FnOnce() -> Result<(Tensor, Tensor), InterpError>) -> Results {
    let mask: Vec<bool> = args.scalars("output_mask")?.into_iter().map(Scalar::truthy).collect();
    let [to_x, to_w, to_b] = mask[..] else { return Err(fail("output_mask needs three entries")) };
    let (w, b) = if to_w || to_b { affine().map(|(w, b)| (Some(w), Some(b)))? } else { (None, None) };
    let pick = |on: bool, t: Option<Tensor>| t.filter(|_| on).map_or(Value::None, Value::Tensor);
    Ok(vec![if to_x { Value::Tensor(input()?) } else { Value::None }, pick(to_w, w), pick(to_b, b)])
}

fn layer_norm_backward(args: &Args) -> Results {
    let x = args.tensor("input")?;
    let shape = args.sizes("normalized_shape")?;
    let lead = x.rank().checked_sub(shape.len()).ok_or_else(|| fail("more normalised dimensions than the input has"))?;
    let wide = |t: &Tensor| t.expand(x.shape());
    let weight = args.opt_tensor("weight")?;
    let n = Normal { grad: args.tensor("grad_out")?, x, mean: wide(args.tensor("mean")?)?, rstd: wide(args.tensor("rstd")?)?, weight: weight.map(wide).transpose()? };
    let dtype = weight.map_or(x.dtype(), Tensor::dtype);
    masked(args, || n.to_input(&(lead..x.rank()).collect::<Vec<_>>(), false), || n.to_affine(&(0..lead).collect::<Vec<_>>(), dtype))
}

/// Of `x r w` with the reciprocal r of the root mean square: `r (g w - n mean(g w n))` for the normalised n, and the sum of `g n`.
fn rms_norm_backward(args: &Args) -> Results {
    let x = args.tensor("input")?;
    let lead = x.rank().checked_sub(args.sizes("normalized_shape")?.len()).ok_or_else(|| fail("more normalised dimensions than the input has"))?;
    let wide = |t: &Tensor| t.expand(x.shape());
    let weight = args.opt_tensor("weight")?;
    let zero = Tensor::zeros(DType::F64, x.shape())?;
    let n = Normal { grad: args.tensor("grad_out")?, x, mean: zero, rstd: wide(args.tensor("rstd")?)?, weight: weight.map(wide).transpose()? };
    let mut out = vec![0.0; x.len()];
    for group in groups(x.shape(), &(lead..x.rank()).collect::<Vec<_>>(), true)?.1 {
        let tilt = group.iter().map(|&k| n.weighted(k) * n.normalized(k)).sum::<f64>() / group.len() as f64;
        group.into_iter().for_each(|k| out[k] = (n.weighted(k) - n.normalized(k) * tilt) * n.rstd.at(k).float());
    }
    let (to_w, _) = n.to_affine(&(0..lead).collect::<Vec<_>>(), weight.map_or(x.dtype(), Tensor::dtype))?;
    let results = [Tensor::from_floats(x.dtype(), x.shape(), &out)?, to_w];
    let mask = args.scalars("output_mask")?;
    Ok(results.into_iter().zip(mask).map(|(t, on)| if on.truthy() { Value::Tensor(t) } else { Value::None }).collect())
}

fn group_norm_backward(args: &Args) -> Results {
    let x = args.tensor("input")?;
    let (groups, c) = (args.int("group")?.max(1) as usize, args.int("C")?.max(0) as usize);
    let rows = args.int("N")?.max(0) as usize;
    let shape = [rows, groups, c / groups, x.len() / (rows * c).max(1)];
    let grouped = x.reshape(&shape)?;
    let grad = args.tensor("grad_out")?.reshape(&shape)?;
    let per_group = |name: &str| args.tensor(name)?.reshape(&[rows, groups, 1, 1])?.expand(&shape);
    let weight = args.opt_tensor("weight")?;
    let wide = weight.map(|w| w.reshape(&[1, groups, c / groups, 1])?.expand(&shape)).transpose()?;
    let n = Normal { grad: &grad, x: &grouped, mean: per_group("mean")?, rstd: per_group("rstd")?, weight: wide };
    let dtype = weight.map_or(x.dtype(), Tensor::dtype);
    masked(args, || n.to_input(&[2, 3], false)?.reshape(x.shape()), || {
        let (w, b) = n.to_affine(&[0, 3], dtype)?;
        Ok((w.reshape(&[c])?, b.reshape(&[c])?))
    })
}

/// Overloads call the flag, and the saved reciprocal of the deviation, by different names.
fn batch_norm_backward(args: &Args, train: &str, rstd: &str) -> Results {
    let x = args.tensor("input")?;
    let train = args.flag(train)?;
    let eps = args.float("eps")?;
    let wide = |t: &Tensor| per_channel(t, x.rank())?.expand(x.shape());
    let (mean, rstd) = if train {
        (wide(args.tensor("save_mean")?)?, wide(args.tensor(rstd)?)?)
    } else {
        let variance = args.tensor("running_var")?;
        (wide(args.tensor("running_mean")?)?, wide(&variance.map(DType::F64, |v| Scalar::Float(1.0 / (v.float() + eps).sqrt())))?)
    };
    let weight = args.opt_tensor("weight")?;
    let n = Normal { grad: args.tensor("grad_out")?, x, mean, rstd, weight: weight.map(wide).transpose()? };
    let dims: Vec<usize> = (0..x.rank()).filter(|&d| d != 1).collect();
    let dtype = weight.map_or(x.dtype(), Tensor::dtype);
    masked(args, || n.to_input(&dims, !train), || n.to_affine(&dims, dtype))
}
