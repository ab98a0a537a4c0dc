//! Sampling at computed places, and bags of embeddings.

use super::Arm::{self, Op};
use super::reduce::p_norm;
use super::resize::cubic;
use super::view::wrap_index;
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::{DType, Scalar};
use crate::tensor::{Tensor, each};
use crate::value::{Args, InterpError, Results, Value, fail, many, one};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (_EMBEDDING_BAG, Op(embedding_bag)),
    (_EMBEDDING_BAG_BACKWARD, Op(embedding_bag_backward)),
    (_EMBEDDING_BAG_DENSE_BACKWARD, Op(embedding_bag_backward)),
    (_EMBEDDING_BAG_FORWARD_ONLY, Op(embedding_bag)),
    (_EMBEDDING_BAG_PER_SAMPLE_WEIGHTS_BACKWARD, Op(embedding_bag_weights)),
    (EMBEDDING_BAG, Op(embedding_bag)),
    (EMBEDDING_BAG_PADDING_IDX, Op(padded_bag)),
    (EMBEDDING_RENORM, Op(embedding_renorm)),
    (GRID_SAMPLER, Op(sample)),
    (GRID_SAMPLER_2D, Op(sample)),
    (GRID_SAMPLER_2D_BACKWARD, Op(sample_backward)),
    (GRID_SAMPLER_3D, Op(sample)),
    (GRID_SAMPLER_3D_BACKWARD, Op(sample_backward)),
];

/// How places outside of the image and between pixels are read.
struct Sampler {
    /// 0 linear, 1 nearest, 2 cubic.
    mode: i64,
    /// 0 zeros, 1 border, 2 reflection.
    padding: i64,
    align: bool,
}

/// One input position along a dimension with its weight and the weight's slope by the grid coordinate.
#[derive(Clone, Copy)]
struct Tap {
    at: Option<usize>,
    weight: f64,
    slope: f64,
}

impl Sampler {
    fn new(args: &Args) -> Result<Sampler, InterpError> {
        Ok(Sampler { mode: args.int("interpolation_mode")?, padding: args.int("padding_mode")?, align: args.flag("align_corners")? })
    }

    /// From -1..1 to pixels, and the scale.
    fn pixel(&self, x: f64, n: usize) -> (f64, f64) {
        let n = n as f64;
        if self.align { ((x + 1.0) / 2.0 * (n - 1.0), (n - 1.0) / 2.0) } else { (((x + 1.0) * n - 1.0) / 2.0, n / 2.0) }
    }

    /// The padded coordinate and its slope.
    fn inside(&self, x: f64, n: usize) -> (f64, f64) {
        let last = n as f64 - 1.0;
        let clip = |x: f64| if x.is_nan() || x <= 0.0 { (0.0, 0.0) } else if x >= last { (last, 0.0) } else { (x, 1.0) };
        match self.padding {
            1 => clip(x),
            2 => {
                let (low, span) = if self.align { (0.0, last) } else { (-0.5, n as f64) };
                if span == 0.0 {
                    return (0.0, 0.0);
                }
                let (mut t, mut slope) = (x - low, 1.0);
                if t < 0.0 {
                    (t, slope) = (-t, -slope);
                }
                let flips = (t / span).floor();
                let rest = t % span;
                let (y, s) = if flips as i64 % 2 == 0 { (rest + low, slope) } else { (span - rest + low, -slope) };
                let (y, c) = clip(y);
                (y, s * c)
            }
            _ => (x, 1.0),
        }
    }

    fn taps(&self, x: f64, n: usize) -> Vec<Tap> {
        let inside = |p: f64| (p >= 0.0 && p < n as f64).then_some(p as usize);
        let (raw, scale) = self.pixel(x, n);
        if self.mode == 2 {
            // Cubic taps are padded one by one.
            let low = raw.floor();
            return (-1..3)
                .map(|k| {
                    let p = low + k as f64;
                    let d = raw - p;
                    let (q, _) = self.inside(p, n);
                    let h = 1e-6;
                    Tap { at: inside(q.round_ties_even()), weight: cubic(d, -0.75), slope: scale * (cubic(d + h, -0.75) - cubic(d - h, -0.75)) / (2.0 * h) }
                })
                .collect();
        }
        let (p, s) = self.inside(raw, n);
        if self.mode == 1 {
            return vec![Tap { at: inside(p.round_ties_even()), weight: 1.0, slope: 0.0 }];
        }
        let low = p.floor();
        let t = p - low;
        vec![Tap { at: inside(low), weight: 1.0 - t, slope: -s * scale }, Tap { at: inside(low + 1.0), weight: t, slope: s * scale }]
    }
}

/// Calls `f(output index without the channel, taps of each spatial dimension)`.
fn places(x: &Tensor, grid: &Tensor, s: &Sampler, mut f: impl FnMut(&[usize], &[Vec<Tap>])) -> Result<(), InterpError> {
    let k = x.rank().saturating_sub(2);
    if k == 0 || grid.rank() != x.rank() || grid.shape()[x.rank() - 1] != k || grid.shape()[0] != x.shape()[0] {
        return Err(fail("grid and image do not match"));
    }
    each(&grid.shape()[..k + 1], |i| {
        // The grid lists coordinates from the last dimension to the first.
        let taps: Vec<Vec<Tap>> = (0..k).map(|d| s.taps(grid.f(&[i, &[k - 1 - d]].concat()), x.shape()[2 + d])).collect();
        f(i, &taps);
    });
    Ok(())
}

/// Products of taps: calls `f(position, weight, slopes by each dimension)`; positions outside are `None`.
fn products(taps: &[Vec<Tap>], mut f: impl FnMut(Option<Vec<usize>>, f64, &[f64])) {
    let counts: Vec<usize> = taps.iter().map(Vec::len).collect();
    each(&counts, |c| {
        let chosen: Vec<Tap> = c.iter().zip(taps).map(|(&k, t)| t[k]).collect();
        let weight = chosen.iter().map(|t| t.weight).product();
        let slopes: Vec<f64> = (0..chosen.len()).map(|d| chosen.iter().enumerate().map(|(e, t)| if e == d { t.slope } else { t.weight }).product()).collect();
        f(chosen.iter().map(|t| t.at).collect(), weight, &slopes);
    });
}

fn sample(args: &Args) -> Results {
    let (x, grid) = (args.tensor("input")?, args.tensor("grid")?);
    let s = Sampler::new(args)?;
    let k = x.rank().saturating_sub(2);
    let shape = [&x.shape()[..2.min(x.rank())], &grid.shape()[1..(k + 1).min(grid.rank())]].concat();
    let mut out = Tensor::zeros(DType::F64, &shape)?;
    places(x, grid, &s, |i, taps| {
        for c in 0..x.shape()[1] {
            let mut sum = 0.0;
            products(taps, |at, w, _| {
                if let Some(at) = at {
                    sum += w * x.f(&[&[i[0], c], &at[..]].concat());
                }
            });
            out.set(&[&[i[0], c], &i[1..]].concat(), Scalar::Float(sum));
        }
    })?;
    one(out.cast(x.dtype()))
}

fn sample_backward(args: &Args) -> Results {
    let (grad, x, grid) = (args.tensor("grad_output")?, args.tensor("input")?, args.tensor("grid")?);
    let s = Sampler::new(args)?;
    let k = x.rank().saturating_sub(2);
    let (mut to_x, mut to_grid) = (vec![0.0; x.len()], Tensor::zeros(DType::F64, grid.shape())?);
    places(x, grid, &s, |i, taps| {
        let mut slopes_sum = vec![0.0; k];
        for c in 0..x.shape()[1] {
            let g = grad.f(&[&[i[0], c], &i[1..]].concat());
            products(taps, |at, w, slopes| {
                if let Some(at) = at {
                    let p = x.position(&[&[i[0], c], &at[..]].concat());
                    to_x[p] += w * g;
                    (0..k).for_each(|d| slopes_sum[d] += slopes[d] * g * x.at(p).float());
                }
            });
        }
        (0..k).for_each(|d| to_grid.set(&[i, &[k - 1 - d]].concat(), Scalar::Float(slopes_sum[d])));
    })?;
    let mask: Vec<bool> = args.scalars("output_mask")?.into_iter().map(Scalar::truthy).collect();
    let first = if mask.first() == Some(&false) { Value::None } else { Tensor::from_floats(x.dtype(), x.shape(), &to_x)?.into() };
    Ok(vec![first, Value::Tensor(to_grid.cast(grid.dtype()))])
}

/// Rows of a table whose norm is too large are scaled down, where they are looked up.
fn embedding_renorm(args: &Args) -> Results {
    let mut table = args.tensor("self")?.clone();
    let (most, p) = (args.float("max_norm")?, args.float("norm_type")?);
    let width = table.shape().get(1).copied().unwrap_or(1);
    let mut rows: Vec<usize> = args.tensor("indices")?.ints().into_iter().map(|v| wrap_index(v as i64, table.shape()[0])).collect::<Result<_, _>>()?;
    rows.sort_unstable();
    rows.dedup();
    for r in rows {
        let norm = p_norm((0..width).map(|c| table.at(r * width + c).float().abs()), p);
        if norm > most {
            for c in 0..width {
                let v = table.at(r * width + c).float() * most / (norm + 1e-7);
                table.put(r * width + c, Scalar::Float(v));
            }
        }
    }
    one(table)
}

/// The bags: for each one, positions into the flat indices.
fn bags(args: &Args, indices: &Tensor) -> Result<Vec<std::ops::Range<usize>>, InterpError> {
    if indices.rank() == 2 {
        let w = indices.shape()[1];
        return Ok((0..indices.shape()[0]).map(|b| b * w..(b + 1) * w).collect());
    }
    let starts: Vec<usize> = args.tensor("offsets")?.ints().into_iter().filter_map(|v| usize::try_from(v).ok()).collect();
    let n = starts.len();
    let sound = n == args.tensor("offsets")?.len() && starts.first().is_none_or(|&first| first == 0) && starts.is_sorted();
    if !sound || starts.last().is_some_and(|&last| last > indices.len()) {
        return Err(fail(format!("offsets begin at 0, never go back, and are at most the number of indices, {}", indices.len())));
    }
    let count = if args.flag("include_last_offset")? { n.saturating_sub(1) } else { n };
    let end = |b: usize| starts.get(b + 1).copied().unwrap_or(indices.len()).min(indices.len());
    Ok((0..count).map(|b| starts[b].min(end(b))..end(b)).collect())
}

/// The overload whose padding row may be counted from the end; the others know -1 as none.
fn padded_bag(args: &Args) -> Results {
    let rows = args.tensor("weight")?.shape().first().copied().unwrap_or(0);
    match args.opt_int("padding_idx")? {
        Some(p) => embedding_bag(&args.clone().with("padding_idx", Value::int(wrap_index(p, rows)? as i64))),
        None => embedding_bag(args),
    }
}

/// Sums (0), means (1) or maxima (2) of the rows of each bag; then what the gradient needs.
fn embedding_bag(args: &Args) -> Results {
    let (table, indices) = (args.tensor("weight")?, args.tensor("indices")?);
    let (mode, scales) = (args.int("mode")?, args.opt_tensor("per_sample_weights")?);
    let rows = table.shape()[0];
    let padding = args.opt_int("padding_idx")?;
    let width = table.shape()[1];
    let bags = bags(args, indices)?;
    let inside = |v: i128| usize::try_from(v).ok().filter(|&v| v < rows).ok_or_else(|| fail(format!("index {v} is out of bounds for {rows} rows")));
    let at: Vec<usize> = indices.ints().into_iter().map(inside).collect::<Result<_, _>>()?;
    let mut out = vec![0.0; bags.len() * width];
    let (mut owner, mut sizes, mut best) = (vec![0i64; at.len()], Vec::new(), vec![0i64; if mode == 2 { bags.len() * width } else { 0 }]);
    for (b, range) in bags.iter().enumerate() {
        let used: Vec<usize> = range.clone().filter(|&k| Some(at[k] as i64) != padding).collect();
        range.clone().for_each(|k| owner[k] = b as i64);
        sizes.push(used.len() as i64);
        for c in 0..width {
            let v = |k: usize| table.at(at[k] * width + c).float() * scales.map_or(1.0, |s| s.at(k).float());
            out[b * width + c] = match mode {
                2 => {
                    let top = used.iter().copied().reduce(|a, k| if v(k) > v(a) { k } else { a });
                    best[b * width + c] = top.map_or(-1, |k| at[k] as i64);
                    top.map_or(0.0, v)
                }
                1 if used.is_empty() => 0.0,
                1 => used.iter().map(|&k| v(k)).sum::<f64>() / used.len() as f64,
                _ => used.iter().map(|&k| v(k)).sum(),
            };
        }
    }
    let owners = Tensor::from_ints(&[owner.len()], &owner)?;
    let sizes = Tensor::from_ints(&[sizes.len()], &sizes)?;
    let best = if mode == 2 { Tensor::from_ints(&[bags.len(), width], &best)? } else { Tensor::zeros(DType::I64, &[bags.len()])? };
    many([Tensor::from_floats(table.dtype(), &[bags.len(), width], &out)?, owners, sizes, best])
}

fn embedding_bag_backward(args: &Args) -> Results {
    let (grad, indices) = (args.tensor("grad")?, args.tensor("indices")?);
    let (owner, sizes, best) = (args.tensor("offset2bag")?, args.tensor("bag_size")?, args.tensor("maximum_indices")?);
    let (mode, scales) = (args.int("mode")?, args.opt_tensor("per_sample_weights")?);
    let rows = usize::try_from(args.int("num_weights")?).map_err(|_| fail("a negative size"))?;
    let width = grad.shape().last().copied().unwrap_or(1);
    let padding = args.opt_int("padding_idx")?.unwrap_or(-1);
    let by_use = args.flag("scale_grad_by_freq")?;
    let mut sums = vec![0.0; rows * width];
    if mode == 2 {
        for b in 0..grad.len() / width.max(1) {
            for c in 0..width {
                let r = best.at(b * width + c).int();
                if r >= 0 {
                    sums[wrap_index(r as i64, rows)? * width + c] += grad.at(b * width + c).float();
                }
            }
        }
        return one(Tensor::from_floats(grad.dtype(), &[rows, width], &sums)?);
    }
    for k in 0..indices.len() {
        let r = indices.at(k).int() as i64;
        if r == padding {
            continue;
        }
        let b = wrap_index(owner.at(k).int() as i64, grad.shape()[0])?;
        let uses = if by_use { indices.scalars().filter(|i| i.int() as i64 == r).count() as f64 } else { 1.0 };
        let scale = scales.map_or(1.0, |s| s.at(k).float()) / uses / if mode == 1 { sizes.at(b).float().max(1.0) } else { 1.0 };
        let r = wrap_index(r, rows)?;
        for c in 0..width {
            sums[r * width + c] += grad.at(b * width + c).float() * scale;
        }
    }
    one(Tensor::from_floats(grad.dtype(), &[rows, width], &sums)?)
}

/// The gradient of each weight of a sum: the product of its bag's gradient with its row.
fn embedding_bag_weights(args: &Args) -> Results {
    let (grad, table, indices) = (args.tensor("grad")?, args.tensor("weight")?, args.tensor("indices")?);
    let (width, padding) = (table.shape()[1], args.opt_int("padding_idx")?.unwrap_or(-1));
    let mut out = vec![0.0; indices.len()];
    for (b, range) in bags(args, indices)?.into_iter().enumerate() {
        for k in range.filter(|&k| indices.at(k).int() as i64 != padding) {
            let r = wrap_index(indices.at(k).int() as i64, table.shape()[0])?;
            out[k] = (0..width).map(|c| grad.at(b * width + c).float() * table.at(r * width + c).float()).sum();
        }
    }
    one(Tensor::from_floats(grad.dtype(), &[indices.len()], &out)?)
}
