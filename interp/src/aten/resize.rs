//! Resampling of images by interpolation.

use super::Arm::{self, Op};
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::{DType, Scalar};
use crate::tensor::{Tensor, each};
use crate::value::{Args, InterpError, Results, fail, one};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (_UPSAMPLE_BICUBIC2D_AA, Op(|a| resize(a, 2, Filter::SmoothCubic))),
    (_UPSAMPLE_BICUBIC2D_AA_VEC, Op(|a| resize(a, 2, Filter::SmoothCubic))),
    (_UPSAMPLE_BICUBIC2D_AA_BACKWARD, Op(|a| backward(a, 2, Filter::SmoothCubic))),
    (_UPSAMPLE_BILINEAR2D_AA, Op(|a| resize(a, 2, Filter::SmoothLinear))),
    (_UPSAMPLE_BILINEAR2D_AA_VEC, Op(|a| resize(a, 2, Filter::SmoothLinear))),
    (_UPSAMPLE_BILINEAR2D_AA_BACKWARD, Op(|a| backward(a, 2, Filter::SmoothLinear))),
    (_UPSAMPLE_LANCZOS2D_AA, Op(|a| resize(a, 2, Filter::Lanczos))),
    (_UPSAMPLE_LANCZOS2D_AA_VEC, Op(|a| resize(a, 2, Filter::Lanczos))),
    (_UPSAMPLE_LANCZOS2D_AA_BACKWARD, Op(|a| backward(a, 2, Filter::Lanczos))),
    (_UPSAMPLE_NEAREST_EXACT1D, Op(|a| resize(a, 1, Filter::NearestExact))),
    (_UPSAMPLE_NEAREST_EXACT1D_VEC, Op(|a| resize(a, 1, Filter::NearestExact))),
    (_UPSAMPLE_NEAREST_EXACT1D_BACKWARD, Op(|a| backward(a, 1, Filter::NearestExact))),
    (_UPSAMPLE_NEAREST_EXACT2D, Op(|a| resize(a, 2, Filter::NearestExact))),
    (_UPSAMPLE_NEAREST_EXACT2D_VEC, Op(|a| resize(a, 2, Filter::NearestExact))),
    (_UPSAMPLE_NEAREST_EXACT2D_BACKWARD, Op(|a| backward(a, 2, Filter::NearestExact))),
    (_UPSAMPLE_NEAREST_EXACT3D, Op(|a| resize(a, 3, Filter::NearestExact))),
    (_UPSAMPLE_NEAREST_EXACT3D_VEC, Op(|a| resize(a, 3, Filter::NearestExact))),
    (_UPSAMPLE_NEAREST_EXACT3D_BACKWARD, Op(|a| backward(a, 3, Filter::NearestExact))),
    (UPSAMPLE_BICUBIC2D, Op(|a| resize(a, 2, Filter::Cubic))),
    (UPSAMPLE_BICUBIC2D_VEC, Op(|a| resize(a, 2, Filter::Cubic))),
    (UPSAMPLE_BICUBIC2D_BACKWARD, Op(|a| backward(a, 2, Filter::Cubic))),
    (UPSAMPLE_BILINEAR2D, Op(|a| resize(a, 2, Filter::Linear))),
    (UPSAMPLE_BILINEAR2D_VEC, Op(|a| resize(a, 2, Filter::Linear))),
    (UPSAMPLE_BILINEAR2D_BACKWARD, Op(|a| backward(a, 2, Filter::Linear))),
    (UPSAMPLE_LINEAR1D, Op(|a| resize(a, 1, Filter::Linear))),
    (UPSAMPLE_LINEAR1D_VEC, Op(|a| resize(a, 1, Filter::Linear))),
    (UPSAMPLE_LINEAR1D_BACKWARD, Op(|a| backward(a, 1, Filter::Linear))),
    (UPSAMPLE_NEAREST1D, Op(|a| resize(a, 1, Filter::Nearest))),
    (UPSAMPLE_NEAREST1D_VEC, Op(|a| resize(a, 1, Filter::Nearest))),
    (UPSAMPLE_NEAREST1D_BACKWARD, Op(|a| backward(a, 1, Filter::Nearest))),
    (UPSAMPLE_NEAREST2D, Op(|a| resize(a, 2, Filter::Nearest))),
    (UPSAMPLE_NEAREST2D_VEC, Op(|a| resize(a, 2, Filter::Nearest))),
    (UPSAMPLE_NEAREST2D_BACKWARD, Op(|a| backward(a, 2, Filter::Nearest))),
    (UPSAMPLE_NEAREST3D, Op(|a| resize(a, 3, Filter::Nearest))),
    (UPSAMPLE_NEAREST3D_VEC, Op(|a| resize(a, 3, Filter::Nearest))),
    (UPSAMPLE_NEAREST3D_BACKWARD, Op(|a| backward(a, 3, Filter::Nearest))),
    (UPSAMPLE_TRILINEAR3D, Op(|a| resize(a, 3, Filter::Linear))),
    (UPSAMPLE_TRILINEAR3D_VEC, Op(|a| resize(a, 3, Filter::Linear))),
    (UPSAMPLE_TRILINEAR3D_BACKWARD, Op(|a| backward(a, 3, Filter::Linear))),
];

/// How an output element depends on input elements along one dimension.
#[derive(Clone, Copy, PartialEq)]
enum Filter {
    Nearest,
    NearestExact,
    Linear,
    Cubic,
    SmoothLinear,
    SmoothCubic,
    Lanczos,
}

/// Keys' cubic kernel with parameter `a`.
pub fn cubic(x: f64, a: f64) -> f64 {
    let x = x.abs();
    match x {
        x if x <= 1.0 => ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0,
        x if x < 2.0 => ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a,
        _ => 0.0,
    }
}

fn sinc(x: f64) -> f64 {
    let angle = std::f64::consts::PI * x;
    if x == 0.0 { 1.0 } else { angle.sin() / angle }
}

impl Filter {
    /// Input positions and weights of one output position.
    fn taps(self, at: usize, input: usize, output: usize, align: bool, scale: Option<f64>) -> Vec<(usize, f64)> {
        let n = input as i64;
        let inside = |p: i64| p.clamp(0, n - 1) as usize;
        // Pixels are areas unless corners are aligned.
        let ratio = match scale {
            Some(s) if s > 0.0 && !align => 1.0 / s,
            _ if align => if output > 1 { (n - 1) as f64 / (output - 1) as f64 } else { 0.0 },
            _ => n as f64 / output as f64,
        };
        let center = if align { at as f64 * ratio } else { (at as f64 + 0.5) * ratio - 0.5 };
        match self {
            Filter::Nearest => vec![(inside((at as f32 * ratio as f32).floor() as i64), 1.0)],
            Filter::NearestExact => vec![(inside(((at as f32 + 0.5) * ratio as f32).floor() as i64), 1.0)],
            Filter::Linear => {
                let center = center.max(0.0);
                let low = (center.floor() as i64).min(n - 1);
                let t = center - low as f64;
                vec![(inside(low), 1.0 - t), (inside(low + 1), t)]
            }
            Filter::Cubic => {
                let low = center.floor();
                (-1..3).map(|k| (inside(low as i64 + k), cubic(center - low - k as f64, -0.75))).collect()
            }
            Filter::SmoothLinear | Filter::SmoothCubic | Filter::Lanczos => {
                // The kernel widens with the shrinking, so that every input element counts.
                let radius = match self {
                    Filter::SmoothLinear => 1.0,
                    Filter::SmoothCubic => 2.0,
                    _ => 3.0,
                };
                let (support, stretch) = (radius * ratio.max(1.0), ratio.max(1.0));
                let middle = ratio * (at as f64 + 0.5);
                let (from, to) = (((middle - support + 0.5) as i64).max(0), ((middle + support + 0.5) as i64).min(n));
                let weight = |p: i64| {
                    let x = (p as f64 - middle + 0.5) / stretch;
                    match self {
                        Filter::SmoothLinear => (1.0 - x.abs()).max(0.0),
                        Filter::SmoothCubic => cubic(x, -0.5),
                        _ if x.abs() < 3.0 => sinc(x) * sinc(x / 3.0),
                        _ => 0.0,
                    }
                };
                let sum: f64 = (from..to).map(weight).sum();
                (from..to).map(|p| (p as usize, weight(p) / sum)).collect()
            }
        }
    }
}

/// The taps of every output position of every resized dimension.
type Taps = Vec<Vec<Vec<(usize, f64)>>>;

fn taps(args: &Args, filter: Filter, input: &[usize], output: &[usize]) -> Result<Taps, InterpError> {
    let n = input.len();
    if input.contains(&0) {
        return Err(fail("an empty image"));
    }
    let align = args.flag("align_corners")?;
    let names: &[&str] = if n == 1 { &["scales"] } else { &["scales_d", "scales_h", "scales_w"][3 - n..] };
    let factors = args.opt_floats("scale_factors")?;
    (0..n)
        .map(|d| {
            let scale = match &factors {
                Some(f) => f.get(d).copied(),
                None => args.opt_float(names[d])?,
            };
            Ok((0..output[d]).map(|at| filter.taps(at, input[d], output[d], align, scale)).collect())
        })
        .collect()
}

fn output_size(args: &Args, input: &[usize]) -> Result<Vec<usize>, InterpError> {
    if args.opt("output_size").is_some() {
        return args.spread("output_size", input.len());
    }
    let factors = args.opt_floats("scale_factors")?.ok_or_else(|| fail("neither a size nor factors"))?;
    if factors.len() != input.len() {
        return Err(fail("one factor for each dimension"));
    }
    Ok(input.iter().zip(factors).map(|(&n, f)| (n as f64 * f) as usize).collect())
}

/// Calls `f(output index, input index, weight)` for all products of taps.
fn weighted(lead: &[usize], output: &[usize], taps: &Taps, mut f: impl FnMut(&[usize], &[usize], f64)) {
    let shape = [lead, output].concat();
    let k = lead.len();
    each(&shape, |o| {
        let lists: Vec<&Vec<(usize, f64)>> = (0..taps.len()).map(|d| &taps[d][o[k + d]]).collect();
        let counts: Vec<usize> = lists.iter().map(|l| l.len()).collect();
        let mut source = o.to_vec();
        each(&counts, |c| {
            let mut w = 1.0;
            for d in 0..c.len() {
                source[k + d] = lists[d][c[d]].0;
                w *= lists[d][c[d]].1;
            }
            f(o, &source, w);
        });
    });
}

/// Images of bytes are resized along the width and then along the height; between them they are bytes, halves rounded up.
fn bytes(x: &Tensor, output: &[usize], taps: &Taps) -> Result<Tensor, InterpError> {
    let pass = |x: &Tensor, dim: usize| {
        let mut shape = x.shape().to_vec();
        shape[dim] = output[dim - 2];
        // Weights are numbers of 16 bits, in as small a unit as the largest one allows.
        let most = taps[dim - 2].iter().flatten().map(|(_, w)| *w).fold(0.0, f64::max);
        let unit = if (most * 32768.0 + 0.5).floor() >= 32768.0 { 16384.0 } else { 32768.0 };
        Tensor::build(DType::U8, &shape, |i| {
            let mut at = i.to_vec();
            let sum: f64 = taps[dim - 2][i[dim]]
                .iter()
                .map(|(k, w)| {
                    at[dim] = *k;
                    (w * unit).round() * x.f(&at)
                })
                .sum();
            Scalar::Float((sum / unit + 0.5).floor().clamp(0.0, 255.0))
        })
    };
    pass(&pass(x, 3)?, 2)
}

fn resize(args: &Args, n: usize, filter: Filter) -> Results {
    let x = args.tensor(if args.opt("input").is_some() { "input" } else { "self" })?;
    if x.rank() != n + 2 {
        return Err(fail(format!("an image of rank {}", x.rank())));
    }
    let (lead, input) = x.shape().split_at(2);
    let output = output_size(args, input)?;
    let taps = taps(args, filter, input, &output)?;
    if n == 2 && x.dtype() == DType::U8 && matches!(filter, Filter::Linear | Filter::Cubic) {
        return one(bytes(x, &output, &taps)?);
    }
    let mut out = Tensor::zeros(crate::DType::F64, &[lead, &output].concat())?;
    weighted(lead, &output, &taps, |o, i, w| {
        let k = out.position(o);
        out.put(k, Scalar::Float(out.at(k).float() + w * x.f(i)));
    });
    let whole = x.dtype().is_integral() && filter != Filter::Nearest && filter != Filter::NearestExact;
    one(if whole { out.map(x.dtype(), |v| Scalar::Float(v.float().round().clamp(x.dtype().int_range().0 as f64, x.dtype().int_range().1 as f64))) } else { out.cast(x.dtype()) })
}

fn backward(args: &Args, n: usize, filter: Filter) -> Results {
    let grad = args.tensor("grad_output")?;
    let shape = args.shape("input_size")?;
    if shape.len() != n + 2 || grad.rank() != n + 2 {
        return Err(fail("an image of another rank"));
    }
    let taps = taps(args, filter, &shape[2..], &grad.shape()[2..])?;
    let mut sums = vec![0.0; crate::tensor::numel(&shape)?];
    let position = |i: &[usize]| i.iter().zip(&shape).fold(0, |k, (i, s)| k * s + i);
    weighted(&shape[..2], &grad.shape()[2..], &taps, |o, i, w| sums[position(i)] += w * grad.f(o));
    one(Tensor::from_floats(grad.dtype(), &shape, &sums)?)
}
