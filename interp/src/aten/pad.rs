//! Padding, patches and pixel shuffles.

use super::Arm::{self, Op};
use super::common::add;
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::Scalar;
use crate::tensor::{Tensor, each, try_each};
use crate::value::{Args, InterpError, Results, fail, one};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (_PAD_CIRCULAR, Op(|a| pad(a, "circular"))),
    (_PAD_ENUM, Op(|a| pad(a, ["reflect", "replicate", "circular", "constant"].get(a.int("mode")? as usize).unwrap_or(&"?")))),
    (CHANNEL_SHUFFLE, Op(channel_shuffle)),
    (COL2IM, Op(col2im)),
    (CONSTANT_PAD_ND, Op(|a| { let v = a.opt_scalar("value")?.unwrap_or(Scalar::Int(0)); padded(a.tensor("self")?, &a.ints("pad")?, Edge::Constant(v)) })),
    (IM2COL, Op(im2col)),
    (PAD, Op(|a| pad(a, a.str("mode")?))),
    (PIXEL_SHUFFLE, Op(pixel_shuffle)),
    (PIXEL_UNSHUFFLE, Op(pixel_unshuffle)),
    (REFLECTION_PAD1D, Op(|a| padded(a.tensor("self")?, &a.ints("padding")?, Edge::Reflect))),
    (REFLECTION_PAD1D_BACKWARD, Op(|a| unpadded(a, Edge::Reflect))),
    (REFLECTION_PAD2D, Op(|a| padded(a.tensor("self")?, &a.ints("padding")?, Edge::Reflect))),
    (REFLECTION_PAD2D_BACKWARD, Op(|a| unpadded(a, Edge::Reflect))),
    (REFLECTION_PAD3D, Op(|a| padded(a.tensor("self")?, &a.ints("padding")?, Edge::Reflect))),
    (REFLECTION_PAD3D_BACKWARD, Op(|a| unpadded(a, Edge::Reflect))),
    (REPLICATION_PAD1D, Op(|a| padded(a.tensor("self")?, &a.ints("padding")?, Edge::Replicate))),
    (REPLICATION_PAD1D_BACKWARD, Op(|a| unpadded(a, Edge::Replicate))),
    (REPLICATION_PAD2D, Op(|a| padded(a.tensor("self")?, &a.ints("padding")?, Edge::Replicate))),
    (REPLICATION_PAD2D_BACKWARD, Op(|a| unpadded(a, Edge::Replicate))),
    (REPLICATION_PAD3D, Op(|a| padded(a.tensor("self")?, &a.ints("padding")?, Edge::Replicate))),
    (REPLICATION_PAD3D_BACKWARD, Op(|a| unpadded(a, Edge::Replicate))),
];

/// What lies outside of the tensor.
#[derive(Clone, Copy)]
enum Edge {
    Constant(Scalar),
    Reflect,
    Replicate,
    Circular,
}

impl Edge {
    /// The position inside that a position stands for, or nothing where the constant shows.
    fn inside(self, at: i64, size: i64) -> Option<usize> {
        let p = match self {
            _ if size == 0 => return None,
            _ if (0..size).contains(&at) => at,
            Edge::Constant(_) => return None,
            Edge::Reflect if at < 0 => -at,
            Edge::Reflect => 2 * (size - 1) - at,
            Edge::Replicate => at.clamp(0, size - 1),
            Edge::Circular => at.rem_euclid(size),
        };
        (0..size).contains(&p).then_some(p as usize)
    }
}

/// Padding is listed from the last dimension: low, high, low, high, ...
fn padded_shape(shape: &[usize], pad: &[i64]) -> Result<(Vec<usize>, Vec<i64>), InterpError> {
    let n = pad.len() / 2;
    if pad.len() % 2 == 1 || n > shape.len() {
        return Err(fail(format!("padding {pad:?} does not fit a tensor of rank {}", shape.len())));
    }
    let (mut out, mut low) = (shape.to_vec(), vec![0; shape.len()]);
    for k in 0..n {
        let d = shape.len() - 1 - k;
        low[d] = pad[2 * k];
        let size = (shape[d] as i64).checked_add(pad[2 * k]).and_then(|size| size.checked_add(pad[2 * k + 1]));
        let size = size.ok_or_else(|| fail(format!("the padding {pad:?} is more than can be counted")))?;
        out[d] = usize::try_from(size).map_err(|_| fail("negative padding removes more than there is"))?;
    }
    crate::tensor::numel(&out)?;
    Ok((out, low))
}

fn source(edge: Edge, i: &[usize], low: &[i64], shape: &[usize]) -> Option<Vec<usize>> {
    i.iter().zip(low).zip(shape).map(|((&i, &l), &s)| edge.inside(i as i64 - l, s as i64)).collect()
}

fn padded(x: &Tensor, pad: &[i64], edge: Edge) -> Results {
    let (shape, low) = padded_shape(x.shape(), pad)?;
    let padded = shape.iter().rev().take(pad.len() / 2);
    if matches!(edge, Edge::Reflect | Edge::Replicate) && padded.into_iter().any(|&size| size == 0) {
        return Err(fail("the padding leaves nothing of the tensor"));
    }
    one(Tensor::try_build(x.dtype(), &shape, |i| match (source(edge, i, &low, x.shape()), edge) {
        (Some(j), _) => Ok(x.get(&j)),
        (None, Edge::Constant(v)) => Ok(v),
        _ => Err(fail("the padding is larger than the tensor")),
    })?)
}

fn pad(args: &Args, mode: &str) -> Results {
    let x = args.tensor("self")?;
    let edge = match mode {
        "constant" => Edge::Constant(args.opt_scalar("value")?.unwrap_or(Scalar::Int(0))),
        "reflect" => Edge::Reflect,
        "replicate" => Edge::Replicate,
        "circular" => Edge::Circular,
        other => return Err(fail(format!("padding mode `{other}` is not known"))),
    };
    let pad = args.ints("pad")?;
    if matches!(edge, Edge::Circular) {
        if (0..pad.len()).any(|k| x.shape().iter().rev().nth(k / 2).is_some_and(|&size| pad[k] > size as i64)) {
            return Err(fail("the padding goes around more than once"));
        }
        // What is cropped away does not come round again.
        let crop: Vec<i64> = pad.iter().map(|&p| p.min(0)).collect();
        let (shape, low) = padded_shape(x.shape(), &crop)?;
        let cropped = Tensor::build(x.dtype(), &shape, |i| x.get(&i.iter().zip(&low).map(|(&i, &l)| (i as i64 - l) as usize).collect::<Vec<_>>()))?;
        return padded(&cropped, &pad.iter().map(|&p| p.max(0)).collect::<Vec<_>>(), edge);
    }
    padded(x, &pad, edge)
}

/// The gradient adds up where the padded element came from.
fn unpadded(args: &Args, edge: Edge) -> Results {
    let (grad, x) = (args.tensor("grad_output")?, args.tensor("self")?);
    let (shape, low) = padded_shape(x.shape(), &args.ints("padding")?)?;
    if grad.shape() != shape {
        return Err(fail("the gradient does not have the padded shape"));
    }
    let mut sums = vec![0.0; x.len()];
    each(&shape, |i| {
        if let Some(j) = source(edge, i, &low, x.shape()) {
            sums[x.position(&j)] += grad.f(i);
        }
    });
    one(Tensor::from_floats(x.dtype(), x.shape(), &sums)?)
}

fn channel_shuffle(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let groups = args.int("groups")?.max(1) as usize;
    if x.rank() < 3 || x.shape()[1] % groups != 0 {
        return Err(fail("the groups do not divide the channels"));
    }
    let each = x.shape()[1] / groups;
    one(x.view(x.shape(), |i, s| {
        s.copy_from_slice(i);
        s[1] = (i[1] % groups) * each + i[1] / groups;
    })?)
}

fn pixel_shuffle(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let (f, r) = (args.int("upscale_factor")?.max(1) as usize, x.rank());
    if r < 3 || x.shape()[r - 3] % (f * f) != 0 {
        return Err(fail("the factor does not divide the channels"));
    }
    let mut shape = x.shape().to_vec();
    shape[r - 3] /= f * f;
    shape[r - 2] *= f;
    shape[r - 1] *= f;
    one(x.view(&shape, |i, s| {
        s.copy_from_slice(i);
        s[r - 3] = i[r - 3] * f * f + (i[r - 2] % f) * f + i[r - 1] % f;
        s[r - 2] = i[r - 2] / f;
        s[r - 1] = i[r - 1] / f;
    })?)
}

fn pixel_unshuffle(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let (f, r) = (args.int("downscale_factor")?.max(1) as usize, x.rank());
    if r < 3 || x.shape()[r - 2] % f != 0 || x.shape()[r - 1] % f != 0 {
        return Err(fail("the factor does not divide the image"));
    }
    let mut shape = x.shape().to_vec();
    shape[r - 3] *= f * f;
    shape[r - 2] /= f;
    shape[r - 1] /= f;
    one(x.view(&shape, |i, s| {
        s.copy_from_slice(i);
        let k = i[r - 3] % (f * f);
        s[r - 3] = i[r - 3] / (f * f);
        s[r - 2] = i[r - 2] * f + k / f;
        s[r - 1] = i[r - 1] * f + k % f;
    })?)
}

/// The geometry of 2-d patches.
struct Patches {
    kernel: Vec<usize>,
    dilation: Vec<usize>,
    padding: Vec<usize>,
    stride: Vec<usize>,
    count: [usize; 2],
}

impl Patches {
    fn new(args: &Args, size: &[usize]) -> Result<Patches, InterpError> {
        let (kernel, dilation) = (args.spread("kernel_size", 2)?, args.spread("dilation", 2)?);
        let (padding, stride) = (args.spread("padding", 2)?, args.spread("stride", 2)?);
        let mut count = [0; 2];
        for d in 0..2 {
            let window = dilation[d] * kernel[d].saturating_sub(1) + 1;
            count[d] = (size[d] + 2 * padding[d]).checked_sub(window).filter(|_| stride[d] > 0).ok_or_else(|| fail("the patch is larger than the image"))? / stride[d] + 1;
        }
        Ok(Patches { kernel, dilation, padding, stride, count })
    }

    /// Image coordinates of element `k` of the patches' rows (channel apart) in patch `l`.
    fn pixel(&self, k: usize, l: usize, size: &[usize]) -> Option<[usize; 2]> {
        let (kernel, patch) = ([k / self.kernel[1], k % self.kernel[1]], [l / self.count[1], l % self.count[1]]);
        let mut out = [0; 2];
        for d in 0..2 {
            let p = patch[d] * self.stride[d] + kernel[d] * self.dilation[d];
            out[d] = p.checked_sub(self.padding[d]).filter(|&p| p < size[d])?;
        }
        Some(out)
    }
}

/// Input with a batch dimension; whether one was added.
fn with_batch(x: &Tensor, rank: usize) -> Result<(Tensor, bool), InterpError> {
    match x.rank() {
        r if r == rank => Ok((x.clone(), false)),
        r if r + 1 == rank => Ok((x.unsqueeze(0), true)),
        r => Err(fail(format!("an input of rank {r}"))),
    }
}

fn im2col(args: &Args) -> Results {
    let (x, added) = with_batch(args.tensor("self")?, 4)?;
    let size = x.shape()[2..].to_vec();
    let p = Patches::new(args, &size)?;
    let area = p.kernel[0] * p.kernel[1];
    let shape = [x.shape()[0], x.shape()[1] * area, p.count[0] * p.count[1]];
    let y = Tensor::build(x.dtype(), &shape, |i| p.pixel(i[1] % area, i[2], &size).map_or(Scalar::Int(0), |[r, c]| x.get(&[i[0], i[1] / area, r, c])))?;
    one(if added { y.select(0, 0)? } else { y })
}

fn col2im(args: &Args) -> Results {
    let (x, added) = with_batch(args.tensor("self")?, 3)?;
    let size = args.spread("output_size", 2)?;
    let p = Patches::new(args, &size)?;
    let area = p.kernel[0] * p.kernel[1];
    if area == 0 || x.shape()[1] % area != 0 || x.shape()[2] != p.count[0] * p.count[1] {
        return Err(fail("the patches do not fit the image"));
    }
    let mut y = Tensor::zeros(x.dtype(), &[x.shape()[0], x.shape()[1] / area, size[0], size[1]])?;
    try_each(x.shape(), |i| {
        if let Some([r, c]) = p.pixel(i[1] % area, i[2], &size) {
            let k = y.position(&[i[0], i[1] / area, r, c]);
            y.put(k, add(y.at(k), x.get(i)));
        }
        Ok(())
    })?;
    one(if added { y.select(0, 0)? } else { y })
}
