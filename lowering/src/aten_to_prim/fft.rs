//! Fourier transforms, by the runtime library along one dimension after the other.

use strata_dialects::aten::dtype::{DType, Numeric};
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Size, Tensor, product};

use super::args::Args;
use super::rule::Precision::Exact;
use super::rule::{Rule, one};

pub(super) const RULES: &[Rule] = &[
    one(_FFT_C2C, Exact, |a| {
        let x = a.tensor("self");
        let dims = a.dims("dim", x.rank());
        numbered(a, turns(x, &dims, a.bool("forward")), x, &dims)
    }),
    one(_FFT_C2R, Exact, |a| c2r(a, |y, dims| numbered(a, y, y, dims))),
    one(_FFT_R2C, Exact, |a| {
        let x = a.tensor("self");
        numbered(a, prims_r2c(a), x, &a.dims("dim", x.rank()))
    }),
    one(FFT_FFT, Exact, |a| whole(a, true)),
    one(FFT_FFT2, Exact, |a| complex_transform(a, &many_dims(a), true)),
    one(FFT_FFTN, Exact, |a| complex_transform(a, &many_dims(a), true)),
    one(FFT_FFTSHIFT, Exact, |a| shifted(a, |n| n / 2)),
    one(FFT_HFFT, Exact, |a| to_real(a, &one_dim(a), true)),
    one(FFT_HFFT2, Exact, |a| to_real(a, &many_dims(a), true)),
    one(FFT_HFFTN, Exact, |a| to_real(a, &many_dims(a), true)),
    one(FFT_IFFT, Exact, |a| whole(a, false)),
    one(FFT_IFFT2, Exact, |a| complex_transform(a, &many_dims(a), false)),
    one(FFT_IFFTN, Exact, |a| complex_transform(a, &many_dims(a), false)),
    one(FFT_IFFTSHIFT, Exact, |a| shifted(a, |n| (n + 1) / 2)),
    one(FFT_IHFFT, Exact, |a| from_real(a, &one_dim(a), false)),
    one(FFT_IHFFT2, Exact, |a| from_real(a, &many_dims(a), false)),
    one(FFT_IHFFTN, Exact, |a| from_real(a, &many_dims(a), false)),
    one(FFT_IRFFT, Exact, |a| to_real(a, &one_dim(a), false)),
    one(FFT_IRFFT2, Exact, |a| to_real(a, &many_dims(a), false)),
    one(FFT_IRFFTN, Exact, |a| to_real(a, &many_dims(a), false)),
    one(FFT_RFFT, Exact, |a| from_real(a, &one_dim(a), true)),
    one(FFT_RFFT2, Exact, |a| from_real(a, &many_dims(a), true)),
    one(FFT_RFFTN, Exact, |a| from_real(a, &many_dims(a), true)),
    one(prims::FFT_C2C, Exact, |a| turns(a.tensor("self"), &a.dims("dim", a.raw("self").rank()), a.bool("forward"))),
    one(prims::FFT_C2R, Exact, |a| c2r(a, |y, _| y)),
    one(prims::FFT_R2C, Exact, prims_r2c),
];

/// A dimension to transform and, where given, the length to cut or pad it to (for a real result: that of the result).
type Axis<'c> = (usize, Option<Size<'c>>);

fn one_dim<'c>(a: &Args<'c>) -> Vec<Axis<'c>> {
    vec![(a.dim("dim", a.raw("self").rank()), a.opt_size("n"))]
}

fn many_dims<'c>(a: &Args<'c>) -> Vec<Axis<'c>> {
    let (rank, sizes, dims) = (a.raw("self").rank(), a.sizes("s"), a.ints("dim"));
    let dims: Vec<usize> = match (dims.is_empty(), sizes.is_empty()) {
        (false, _) => dims.into_iter().map(|d| a.wrap(d, rank)).collect(),
        // No dims asked for is not all dims.
        (true, true) if a.given("dim") || a.given("s") => Vec::new(),
        (true, true) => (0..rank).collect(),
        (true, false) => (rank.saturating_sub(sizes.len())..rank).collect(),
    };
    let length = |i: usize| sizes.get(i).copied().filter(|s| s.known() != Some(-1));
    dims.into_iter().enumerate().map(|(i, d)| (d, length(i))).collect()
}

/// The type that transforms compute in.
fn working(x: Tensor<'_>) -> Tensor<'_> {
    if x.dtype().is_complex() { x } else { x.convert(x.dtype().to_float().compute()) }
}

fn complex(x: Tensor<'_>) -> Tensor<'_> {
    if x.dtype().is_complex() { x } else { x.convert(x.dtype().to_complex()) }
}

/// Cuts or pads a dimension with zeros.
fn resized<'c>(x: Tensor<'c>, dim: usize, length: Option<Size<'c>>) -> Tensor<'c> {
    match length {
        Some(n) if !n.same(x.size(dim)) => x.pad_dim(dim, Scalar::Int(0), 0, n - x.size(dim)),
        _ => x,
    }
}

/// A library function of lines along a dimension.
fn along<'c>(name: &str, options: &[&str], x: Tensor<'c>, dim: usize, new: &[Size<'c>]) -> Tensor<'c> {
    let Some(last) = x.rank().checked_sub(1) else {
        x.prim().fail("a 0-d tensor has no transform");
        return x;
    };
    x.prim().library(name, options, &[x.move_dim(dim, last)], new)[0].move_dim(last, dim)
}

/// The unscaled transform of a complex tensor along a dimension.
pub(super) fn turn(x: Tensor<'_>, dim: usize, forward: bool) -> Tensor<'_> {
    along("fft", if forward { &[] } else { &["inverse"] }, x, dim, &[])
}

/// The transform along several dimensions, the last one first, as PyTorch does: the order shows in the last bits.
fn turns<'c>(x: Tensor<'c>, dims: &[usize], forward: bool) -> Tensor<'c> {
    let mut dims = dims.to_vec();
    dims.sort_unstable();
    dims.into_iter().rev().fold(x, |x, d| turn(x, d, forward))
}

fn places(axes: &[Axis<'_>]) -> Vec<usize> {
    axes.iter().map(|(d, _)| *d).collect()
}

/// The unscaled forward transform of a real tensor, without its redundant half.
pub(super) fn half_turn(x: Tensor<'_>, dim: usize) -> Tensor<'_> {
    along("rfft", &[], x, dim, &[x.size(dim) / 2 + 1])
}

/// The unscaled inverse of [`half_turn`] with a result of length n.
pub(super) fn half_return<'c>(x: Tensor<'c>, dim: usize, n: Size<'c>) -> Tensor<'c> {
    along("irfft", &[], resized(x, dim, Some(n / 2 + 1)), dim, &[n])
}

/// The scale that a number stands for, by the sizes of the signal: none, one by the root, one by the size.
fn numbered<'c>(a: &Args<'c>, y: Tensor<'c>, signal: Tensor<'c>, dims: &[usize]) -> Tensor<'c> {
    let total = count(dims.iter().map(|d| signal.size(*d)));
    match a.int("normalization") {
        0 => y,
        1 => divided(y, total, true),
        _ => divided(y, total, false),
    }
}

fn scaled<'c>(a: &Args<'c>, x: Tensor<'c>, count: Size<'c>, forward: bool) -> Tensor<'c> {
    match (a.str("norm").as_str(), forward) {
        ("ortho", _) => divided(x, count, true),
        ("forward", true) | ("" | "backward", false) => divided(x, count, false),
        _ => x,
    }
}

fn divided<'c>(x: Tensor<'c>, by: Size<'c>, root: bool) -> Tensor<'c> {
    // PyTorch multiplies by the reciprocal.
    let divisor = x.prim().size_tensor(DType::F64, by);
    let divisor = if root { divisor.sqrt() } else { divisor };
    let scale = divisor.reciprocal().convert(x.dtype().real_part());
    if x.dtype().is_complex() { (x.real() * scale).complex(x.imag() * scale) } else { x * scale }
}

fn count<'c>(sizes: impl Iterator<Item = Size<'c>>) -> Size<'c> {
    product(&sizes.collect::<Vec<_>>())
}

fn complex_transform<'c>(a: &Args<'c>, axes: &[Axis<'c>], forward: bool) -> Tensor<'c> {
    let x = axes.iter().fold(complex(working(a.raw("self"))), |x, (d, n)| resized(x, *d, *n));
    let total = count(axes.iter().map(|(d, _)| x.size(*d)));
    scaled(a, turns(x, &places(axes), forward), total, forward)
}

/// The transform along one dimension. That of real numbers is computed in half, the rest being its conjugate, as PyTorch does: it
/// shows in the last bits.
fn whole<'c>(a: &Args<'c>, forward: bool) -> Tensor<'c> {
    let axes = one_dim(a);
    let (dim, length) = axes[0];
    if a.raw("self").dtype().is_complex() {
        return complex_transform(a, &axes, forward);
    }
    let n = length.unwrap_or_else(|| a.raw("self").size(dim));
    let half = from_real(a, &axes, forward);
    let rest = n - half.size(dim);
    let other = half.slice(dim, 1, rest, 1).reverse(&[dim]);
    a.prim.concat(&[half, other.real().complex(-other.imag())], dim)
}

/// Real to complex: the last axis is halved. The inverse Hermitian transform is the conjugate, and scaled after the last axis and
/// after the others, as PyTorch does: it shows in the last bits.
fn from_real<'c>(a: &Args<'c>, axes: &[Axis<'c>], forward: bool) -> Tensor<'c> {
    let x = axes.iter().fold(working(a.raw("self")), |x, (d, n)| resized(x, *d, *n));
    let Some(((last, _), rest)) = axes.split_last() else { return complex(x) };
    let (half, line, others) = (half_turn(x, *last), x.size(*last), count(rest.iter().map(|(d, _)| x.size(*d))));
    if forward {
        return scaled(a, turns(half, &places(rest), true), others * line, true);
    }
    let half = scaled(a, half.real().complex(-half.imag()), line, false);
    if rest.is_empty() { half } else { scaled(a, turns(half, &places(rest), false), others, false) }
}

/// Complex to real: the last axis is half of the result's. The Hermitian transform is that of the conjugate. Scaled as
/// [`from_real`] is.
fn to_real<'c>(a: &Args<'c>, axes: &[Axis<'c>], forward: bool) -> Tensor<'c> {
    let x = complex(working(a.raw("self")));
    let Some(((last, n), rest)) = axes.split_last() else { return x.real() };
    let n = n.unwrap_or((x.size(*last) - 1) * 2);
    let x = rest.iter().fold(x, |x, (d, n)| resized(x, *d, *n));
    let others = count(rest.iter().map(|(d, _)| x.size(*d)));
    let x = if rest.is_empty() { x } else { scaled(a, turns(x, &places(rest), forward), others, forward) };
    let x = if forward { x.real().complex(-x.imag()) } else { x };
    scaled(a, half_return(x, *last, n), n, forward)
}

/// Rotates dimensions by a part of their size.
fn shifted<'c>(a: &Args<'c>, by: fn(Size<'c>) -> Size<'c>) -> Tensor<'c> {
    let x = a.raw("self");
    a.dims_or_all("dim", x.rank()).into_iter().fold(x, |x, d| super::assemble::roll_dim(x, d, by(x.size(d))))
}

fn prims_r2c<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let dims = a.dims("dim", x.rank());
    let Some((last, rest)) = dims.split_last() else { return complex(x) };
    if a.bool("onesided") {
        return turns(half_turn(x, *last), rest, true);
    }
    turns(complex(x), &dims, true)
}

/// The transform of half a spectrum to real numbers: `scale` is of what was transformed and along which dimensions.
fn c2r<'c>(a: &Args<'c>, scale: impl Fn(Tensor<'c>, &[usize]) -> Tensor<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let dims = a.dims("dim", x.rank());
    let Some((last, rest)) = dims.split_last() else { return x.real() };
    let x = if rest.is_empty() { x } else { scale(turns(x, rest, false), rest) };
    scale(half_return(x, *last, a.size("last_dim_size")), &[*last])
}
