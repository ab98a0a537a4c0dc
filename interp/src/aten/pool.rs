//! Pooling and its gradients, over any number of trailing dimensions.

use super::Arm::{self, Op};
use super::common::add;
use super::reduce::{extreme_index, total};
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::{DType, Scalar};
use crate::tensor::{Tensor, each, try_each};
use crate::value::{Args, InterpError, Results, fail, many, one};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (_ADAPTIVE_AVG_POOL2D, Op(|a| adaptive_avg(a, 2))),
    (_ADAPTIVE_AVG_POOL2D_BACKWARD, Op(|a| adaptive_avg_backward(a, 2))),
    (_ADAPTIVE_AVG_POOL3D, Op(|a| adaptive_avg(a, 3))),
    (_ADAPTIVE_AVG_POOL3D_BACKWARD, Op(|a| adaptive_avg_backward(a, 3))),
    (ADAPTIVE_AVG_POOL1D, Op(|a| adaptive_avg(a, 1))),
    (ADAPTIVE_AVG_POOL2D, Op(|a| adaptive_avg(a, 2))),
    (ADAPTIVE_AVG_POOL3D, Op(|a| adaptive_avg(a, 3))),
    (ADAPTIVE_MAX_POOL1D, Op(|a| adaptive_max(a, 1))),
    (ADAPTIVE_MAX_POOL2D, Op(|a| adaptive_max(a, 2))),
    (ADAPTIVE_MAX_POOL2D_BACKWARD, Op(|a| max_backward(a, 2))),
    (ADAPTIVE_MAX_POOL3D, Op(|a| adaptive_max(a, 3))),
    (ADAPTIVE_MAX_POOL3D_BACKWARD, Op(|a| max_backward(a, 3))),
    (AVG_POOL1D, Op(|a| avg(a, 1))),
    (AVG_POOL2D, Op(|a| avg(a, 2))),
    (AVG_POOL2D_BACKWARD, Op(|a| avg_backward(a, 2))),
    (AVG_POOL3D, Op(|a| avg(a, 3))),
    (AVG_POOL3D_BACKWARD, Op(|a| avg_backward(a, 3))),
    (MAX_POOL1D, Op(|a| one(max(a, 1)?.0))),
    (MAX_POOL1D_WITH_INDICES, Op(|a| { let (v, i) = max(a, 1)?; many([v, i]) })),
    (MAX_POOL2D, Op(|a| one(max(a, 2)?.0))),
    (MAX_POOL2D_WITH_INDICES, Op(|a| { let (v, i) = max(a, 2)?; many([v, i]) })),
    (MAX_POOL2D_WITH_INDICES_BACKWARD, Op(|a| max_backward(a, 2))),
    (MAX_POOL3D, Op(|a| one(max(a, 3)?.0))),
    (MAX_POOL3D_WITH_INDICES, Op(|a| { let (v, i) = max(a, 3)?; many([v, i]) })),
    (MAX_POOL3D_WITH_INDICES_BACKWARD, Op(|a| max_backward(a, 3))),
    (MAX_UNPOOL2D, Op(|a| unpool(a, 2))),
    (MAX_UNPOOL3D, Op(|a| unpool(a, 3))),
];

/// One window: the positions it covers inside the input, and how many it covers with padding.
struct Window {
    inside: Vec<usize>,
    padded: usize,
}

struct Sliding {
    kernel: Vec<usize>,
    stride: Vec<usize>,
    padding: Vec<usize>,
    dilation: Vec<usize>,
    ceil: bool,
}

impl Sliding {
    fn new(args: &Args, n: usize) -> Result<Sliding, InterpError> {
        let kernel = args.spread("kernel_size", n)?;
        let stride = if args.opt_ints("stride")?.is_none_or(|s| s.is_empty()) { kernel.clone() } else { args.spread("stride", n)? };
        let dilation = if args.opt("dilation").is_some() { args.spread("dilation", n)? } else { vec![1; n] };
        if kernel.contains(&0) || stride.contains(&0) || dilation.contains(&0) {
            return Err(fail("a window, stride or dilation of zero"));
        }
        Ok(Sliding { kernel, stride, padding: args.spread("padding", n)?, dilation, ceil: args.flag("ceil_mode")? })
    }

    /// In ceil mode the last window must still start inside the input or its left padding.
    fn outputs(&self, size: &[usize]) -> Result<Vec<usize>, InterpError> {
        (0..size.len())
            .map(|d| {
                let (padded, window) = (size[d] + 2 * self.padding[d], self.dilation[d] * (self.kernel[d] - 1) + 1);
                let room = padded.checked_sub(window);
                if self.ceil {
                    let room = padded as i64 - window as i64 + self.stride[d] as i64 - 1;
                    let n = room.div_euclid(self.stride[d] as i64) + 1;
                    let n = if (n - 1) * self.stride[d] as i64 >= (size[d] + self.padding[d]) as i64 { n - 1 } else { n };
                    return usize::try_from(n).map_err(|_| fail("the window is larger than the input"));
                }
                room.map(|r| r / self.stride[d] + 1).ok_or_else(|| fail("the window is larger than the input"))
            })
            .collect()
    }

    fn window(&self, at: &[usize], size: &[usize]) -> Window {
        let n = size.len();
        let mut inside = Vec::new();
        each(&self.kernel, |k| {
            let mut position = 0;
            for d in 0..n {
                let p = at[d] * self.stride[d] + k[d] * self.dilation[d];
                if p < self.padding[d] || p - self.padding[d] >= size[d] {
                    return;
                }
                position = position * size[d] + p - self.padding[d];
            }
            inside.push(position);
        });
        // The part of the window inside the padded input.
        let padded = (0..n).map(|d| (at[d] * self.stride[d] + self.kernel[d]).min(size[d] + 2 * self.padding[d]).saturating_sub(at[d] * self.stride[d])).product();
        Window { inside, padded }
    }
}

fn adaptive_window(at: &[usize], size: &[usize], out: &[usize]) -> Window {
    let start: Vec<usize> = (0..size.len()).map(|d| at[d] * size[d] / out[d]).collect();
    let length: Vec<usize> = (0..size.len()).map(|d| ((at[d] + 1) * size[d]).div_ceil(out[d]) - start[d]).collect();
    let mut inside = Vec::new();
    each(&length, |k| inside.push((0..size.len()).fold(0, |p, d| p * size[d] + start[d] + k[d])));
    Window { padded: inside.len(), inside }
}

/// Splits a shape into planes and the trailing `n` dimensions.
fn planes(x: &Tensor, n: usize) -> Result<(Vec<usize>, Vec<usize>), InterpError> {
    if x.rank() < n + 1 {
        return Err(fail(format!("an input of rank {} for pooling over {n} dimensions", x.rank())));
    }
    let (lead, size) = x.shape().split_at(x.rank() - n);
    Ok((lead.to_vec(), size.to_vec()))
}

/// Calls `f(plane offset in the input, window)` for every output element.
fn pooled(x: &Tensor, n: usize, outputs: &[usize], window: impl Fn(&[usize], &[usize]) -> Window, mut f: impl FnMut(usize, &Window) -> Result<(), InterpError>) -> Result<Vec<usize>, InterpError> {
    let (lead, size) = planes(x, n)?;
    let area: usize = size.iter().product();
    let mut plane = 0;
    try_each(&lead, |_| {
        try_each(outputs, |o| f(plane * area, &window(o, &size)))?;
        plane += 1;
        Ok(())
    })?;
    Ok([lead, outputs.to_vec()].concat())
}

fn max_of(x: &Tensor, n: usize, outputs: &[usize], window: impl Fn(&[usize], &[usize]) -> Window) -> Result<(Tensor, Tensor), InterpError> {
    let (mut values, mut indices) = (Vec::new(), Vec::new());
    let shape = pooled(x, n, outputs, window, |base, w| {
        let elements: Vec<Scalar> = w.inside.iter().map(|&k| x.at(base + k)).collect();
        let k = extreme_index(&elements, true)?;
        values.push(elements[k]);
        indices.push(Scalar::Int(w.inside[k] as i128));
        Ok(())
    })?;
    Ok((Tensor::from_scalars(x.dtype(), &shape, values)?, Tensor::from_scalars(DType::I64, &shape, indices)?))
}

fn max(args: &Args, n: usize) -> Result<(Tensor, Tensor), InterpError> {
    let x = args.tensor("self")?;
    let s = Sliding::new(args, n)?;
    max_of(x, n, &s.outputs(&planes(x, n)?.1)?, |o, size| s.window(o, size))
}

/// Output sizes of adaptive pooling; an absent one keeps the input's.
fn adaptive_sizes(args: &Args, size: &[usize]) -> Result<Vec<usize>, InterpError> {
    let given = args.ints("output_size")?;
    Ok((0..size.len()).map(|d| given.get(d.min(given.len().max(1) - 1)).map_or(size[d], |&v| v.max(0) as usize)).collect())
}

fn adaptive_max(args: &Args, n: usize) -> Results {
    let x = args.tensor("self")?;
    let out = adaptive_sizes(args, &planes(x, n)?.1)?;
    let (v, i) = max_of(x, n, &out, |o, size| adaptive_window(o, size, &out))?;
    many([v, i])
}

fn adaptive_avg(args: &Args, n: usize) -> Results {
    let x = args.tensor("self")?;
    let out = adaptive_sizes(args, &planes(x, n)?.1)?;
    let mut values = Vec::new();
    let shape = pooled(x, n, &out, |o, size| adaptive_window(o, size, &out), |base, w| {
        let elements: Vec<Scalar> = w.inside.iter().map(|&k| x.at(base + k)).collect();
        values.push(Scalar::Float(total(&elements).float() / elements.len() as f64));
        Ok(())
    })?;
    one(Tensor::from_scalars(x.dtype(), &shape, values)?)
}

/// What an average divides by.
fn divisor(args: &Args) -> Result<impl Fn(&Window) -> f64 + use<>, InterpError> {
    let fixed = args.opt_int("divisor_override")?;
    let include = args.flag("count_include_pad")?;
    Ok(move |w: &Window| match fixed {
        Some(v) => v as f64,
        None => (if include { w.padded } else { w.inside.len() }) as f64,
    })
}

fn avg(args: &Args, n: usize) -> Results {
    let x = args.tensor("self")?;
    let (s, divisor) = (Sliding::new(args, n)?, divisor(args)?);
    let mut values = Vec::new();
    let shape = pooled(x, n, &s.outputs(&planes(x, n)?.1)?, |o, size| s.window(o, size), |base, w| {
        let elements: Vec<Scalar> = w.inside.iter().map(|&k| x.at(base + k)).collect();
        let sum = total(&elements);
        values.push(match x.dtype().is_integral() {
            true => Scalar::Int(sum.int() / divisor(w) as i128),
            false if elements.is_empty() => Scalar::Float(0.0),
            false => Scalar::Float(sum.float() / divisor(w)),
        });
        Ok(())
    })?;
    one(Tensor::from_scalars(x.dtype(), &shape, values)?)
}

/// Spreads each output's gradient over its window.
fn spread(grad: &Tensor, x: &Tensor, n: usize, window: impl Fn(&[usize], &[usize]) -> Window, divisor: impl Fn(&Window) -> f64) -> Results {
    let outputs = planes(grad, n)?.1;
    let mut sums = vec![0.0; x.len()];
    let mut k = 0;
    pooled(x, n, &outputs, window, |base, w| {
        let share = grad.at(k).float() / divisor(w);
        w.inside.iter().for_each(|&p| sums[base + p] += share);
        k += 1;
        Ok(())
    })?;
    one(Tensor::from_floats(x.dtype(), x.shape(), &sums)?)
}

fn avg_backward(args: &Args, n: usize) -> Results {
    let s = Sliding::new(args, n)?;
    spread(args.tensor("grad_output")?, args.tensor("self")?, n, |o, size| s.window(o, size), divisor(args)?)
}

fn adaptive_avg_backward(args: &Args, n: usize) -> Results {
    let (grad, x) = (args.tensor("grad_output")?, args.tensor("self")?);
    let out = planes(grad, n)?.1;
    spread(grad, x, n, |o, size| adaptive_window(o, size, &out), |w| w.padded as f64)
}

/// Adds `values` at indices within each plane of a tensor of zeros.
fn placed(values: &Tensor, indices: &Tensor, shape: &[usize], n: usize, accumulate: bool) -> Results {
    let area: usize = shape[shape.len() - n..].iter().product();
    let count: usize = planes(values, n)?.1.iter().product();
    let mut out = vec![Scalar::Int(0); crate::tensor::numel(shape)?];
    for k in 0..values.len() {
        let at = usize::try_from(indices.at(k).int()).ok().filter(|&i| i < area).ok_or_else(|| fail("a pooling index is out of bounds"))?;
        let slot = &mut out[k / count * area + at];
        *slot = if accumulate { add(*slot, values.at(k)) } else { values.at(k) };
    }
    one(Tensor::from_scalars(values.dtype(), shape, out)?)
}

fn max_backward(args: &Args, n: usize) -> Results {
    placed(args.tensor("grad_output")?, args.tensor("indices")?, args.tensor("self")?.shape(), n, true)
}

fn unpool(args: &Args, n: usize) -> Results {
    let x = args.tensor("self")?;
    let shape = [planes(x, n)?.0, args.spread("output_size", n)?].concat();
    placed(x, args.tensor("indices")?, &shape, n, false)
}
