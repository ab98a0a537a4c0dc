//! Discrete Fourier transforms, from the sum that defines them.

use std::f64::consts::PI;

use num_complex::Complex64;

use super::Arm::{self, Op};
use super::scan::lines;
use super::view::rolled;
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::{DType, Scalar};
use crate::tensor::Tensor;
use crate::value::{Args, InterpError, Results, fail, one, wrap_dims};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (_FFT_C2C, Op(|a| native(a, |x, d, a| complex_to_complex(x, d, a.flag("forward")?)))),
    (_FFT_C2R, Op(|a| native(a, |x, d, a| half_to_real(x, d, a.int("last_dim_size")?.max(0) as usize)))),
    (_FFT_R2C, Op(|a| native(a, |x, d, a| real_to_half(x, d, a.flag("onesided")?)))),
    (FFT_FFT, Op(|a| single(a, Kind::Complex, true))),
    (FFT_FFT2, Op(|a| several(a, Kind::Complex, true))),
    (FFT_FFTN, Op(|a| several(a, Kind::Complex, true))),
    (FFT_FFTSHIFT, Op(|a| shift(a, true))),
    (FFT_HFFT, Op(|a| single(a, Kind::ToReal, true))),
    (FFT_HFFT2, Op(|a| several(a, Kind::ToReal, true))),
    (FFT_HFFTN, Op(|a| several(a, Kind::ToReal, true))),
    (FFT_IFFT, Op(|a| single(a, Kind::Complex, false))),
    (FFT_IFFT2, Op(|a| several(a, Kind::Complex, false))),
    (FFT_IFFTN, Op(|a| several(a, Kind::Complex, false))),
    (FFT_IFFTSHIFT, Op(|a| shift(a, false))),
    (FFT_IHFFT, Op(|a| single(a, Kind::FromReal, false))),
    (FFT_IHFFT2, Op(|a| several(a, Kind::FromReal, false))),
    (FFT_IHFFTN, Op(|a| several(a, Kind::FromReal, false))),
    (FFT_IRFFT, Op(|a| single(a, Kind::ToReal, false))),
    (FFT_IRFFT2, Op(|a| several(a, Kind::ToReal, false))),
    (FFT_IRFFTN, Op(|a| several(a, Kind::ToReal, false))),
    (FFT_RFFT, Op(|a| single(a, Kind::FromReal, true))),
    (FFT_RFFT2, Op(|a| several(a, Kind::FromReal, true))),
    (FFT_RFFTN, Op(|a| several(a, Kind::FromReal, true))),
];

/// Whether a transform takes or gives real numbers; then only half of the spectrum is kept.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Complex,
    FromReal,
    ToReal,
}

/// The unscaled transform of one line.
pub fn dft(v: &[Complex64], forward: bool) -> Vec<Complex64> {
    let n = v.len();
    let sign = if forward { -2.0 } else { 2.0 };
    (0..n)
        .map(|k| v.iter().enumerate().map(|(j, x)| x * Complex64::from_polar(1.0, sign * PI * ((j * k) % n) as f64 / n as f64)).sum())
        .collect()
}

fn along(x: &Tensor, dim: usize, dtype: DType, f: impl Fn(Vec<Complex64>) -> Vec<Complex64>) -> Result<Tensor, InterpError> {
    lines(x, dim, dtype, |v| Ok(f(v.iter().map(|v| v.complex()).collect()).into_iter().map(Scalar::Complex).collect()))
}

fn complex_to_complex(x: &Tensor, dims: &[usize], forward: bool) -> Result<Tensor, InterpError> {
    let mut y = x.cast(DType::C128);
    for &d in dims {
        y = along(&y, d, DType::C128, |v| dft(&v, forward))?;
    }
    Ok(y)
}

/// The last dimension is transformed first, from real numbers; half of it is kept.
fn real_to_half(x: &Tensor, dims: &[usize], onesided: bool) -> Result<Tensor, InterpError> {
    let (&last, rest) = dims.split_last().ok_or_else(|| fail("no dimension to transform"))?;
    let half = along(&x.cast(DType::C128), last, DType::C128, |v| {
        let mut out = dft(&v, true);
        if onesided {
            out.truncate(v.len() / 2 + 1);
        }
        out
    })?;
    complex_to_complex(&half, rest, true)
}

/// The last dimension is transformed last, to `n` real numbers.
fn half_to_real(x: &Tensor, dims: &[usize], n: usize) -> Result<Tensor, InterpError> {
    let (&last, rest) = dims.split_last().ok_or_else(|| fail("no dimension to transform"))?;
    let y = complex_to_complex(x, rest, false)?;
    along(&y, last, DType::F64, |v| hermitian(&v, n, false))
}

/// The transform of the spectrum of length `n` whose first half is given.
pub fn hermitian(v: &[Complex64], n: usize, forward: bool) -> Vec<Complex64> {
    let at = |k: usize| v.get(k).copied().unwrap_or_default();
    let full: Vec<Complex64> = (0..n)
        .map(|k| match k {
            0 => Complex64::new(at(0).re, 0.0),
            k if 2 * k < n => at(k),
            k if 2 * k == n => Complex64::new(at(k).re, 0.0),
            k => at(n - k).conj(),
        })
        .collect();
    dft(&full, forward)
}

/// What a sum of `n` terms is scaled by. The inverse is scaled by default.
fn scale(norm: Option<&str>, n: usize, forward: bool) -> Result<f64, InterpError> {
    let n = n as f64;
    Ok(match (norm.unwrap_or("backward"), forward) {
        ("ortho", _) => 1.0 / n.sqrt(),
        ("backward", true) | ("forward", false) => 1.0,
        ("backward", false) | ("forward", true) => 1.0 / n,
        (other, _) => return Err(fail(format!("the normalisation `{other}` is not known"))),
    })
}

/// Cuts or fills a dimension with zeros.
fn sized(x: &Tensor, dim: usize, n: usize) -> Result<Tensor, InterpError> {
    let mut shape = x.shape().to_vec();
    shape[dim] = n;
    Tensor::build(x.dtype(), &shape, |i| if i[dim] < x.shape()[dim] { x.get(i) } else { Scalar::Int(0) })
}

fn transform(x: &Tensor, dims: &[usize], sizes: &[Option<usize>], kind: Kind, forward: bool, norm: Option<&str>) -> Results {
    let real = if x.dtype() == DType::F64 || x.dtype() == DType::C128 { DType::F64 } else { DType::F32 };
    let mut x = x.cast(DType::C128);
    let Some((&last, rest)) = dims.split_last() else { return one(x.cast(real.complex())) };
    if x.rank() == 0 {
        return Err(fail("a 0-d tensor has no transform"));
    }
    let last_size = match (sizes.last().copied().flatten(), kind) {
        (Some(n), _) => n,
        (None, Kind::ToReal) => 2 * x.shape()[last].saturating_sub(1),
        (None, _) => x.shape()[last],
    };
    let mut total = last_size;
    for (&d, &n) in rest.iter().zip(sizes) {
        x = sized(&x, d, n.unwrap_or(x.shape()[d]))?;
        total *= x.shape()[d];
    }
    if last_size == 0 {
        return Err(fail("a transform of no elements"));
    }
    let factor = scale(norm, total, forward)?;
    let kept = if kind == Kind::ToReal { last_size / 2 + 1 } else { last_size };
    let x = sized(&x, last, kept)?;
    let y = match kind {
        Kind::Complex => complex_to_complex(&x, dims, forward)?,
        Kind::FromReal => {
            let half = along(&x, last, DType::C128, |v| {
                let mut out = dft(&v, forward);
                out.truncate(v.len() / 2 + 1);
                out
            })?;
            complex_to_complex(&half, rest, forward)?
        }
        Kind::ToReal => {
            let y = complex_to_complex(&x, rest, forward)?;
            along(&y, last, DType::F64, |v| hermitian(&v, last_size, forward))?
        }
    };
    let dtype = if kind == Kind::ToReal { real } else { real.complex() };
    one(y.map(dtype, |v| super::common::mul(v, Scalar::Float(factor))))
}

fn single(args: &Args, kind: Kind, forward: bool) -> Results {
    let x = args.tensor("self")?;
    let n = args.opt_int("n")?.map(|n| n.max(0) as usize);
    transform(x, &[args.dim("dim", x.rank())?], &[n], kind, forward, args.opt_str("norm")?)
}

fn several(args: &Args, kind: Kind, forward: bool) -> Results {
    let x = args.tensor("self")?;
    let sizes = args.opt_ints("s")?;
    let dims = match (args.opt_ints("dim")?, &sizes) {
        (Some(d), _) => wrap_dims(&d, x.rank())?,
        (None, Some(s)) => (x.rank().saturating_sub(s.len())..x.rank()).collect(),
        (None, None) => (0..x.rank()).collect(),
    };
    let sizes: Vec<Option<usize>> = match sizes {
        Some(s) => s.iter().map(|&n| if n == -1 { None } else { Some(n.max(0) as usize) }).collect(),
        None => vec![None; dims.len()],
    };
    if sizes.len() != dims.len() {
        return Err(fail("sizes and dimensions differ in number"));
    }
    transform(x, &dims, &sizes, kind, forward, args.opt_str("norm")?)
}

fn shift(args: &Args, forward: bool) -> Results {
    let x = args.tensor("self")?;
    let dims = args.dims_or_all("dim", x.rank())?;
    let shifts: Vec<i64> = dims.iter().map(|&d| if forward { x.shape()[d] / 2 } else { x.shape()[d].div_ceil(2) } as i64).collect();
    one(rolled(x, &shifts, &dims)?)
}

type Native = fn(&Tensor, &[usize], &Args) -> Result<Tensor, InterpError>;

/// `normalization`: 0 none, 1 by the root of the number of elements, 2 by the number.
fn native(args: &Args, f: Native) -> Results {
    let x = args.tensor("self")?;
    let dims = wrap_dims(&args.ints("dim")?, x.rank())?;
    let y = f(x, &dims, args)?;
    let wide = if y.dtype() == DType::F64 { &y } else { x };
    let n: usize = dims.iter().map(|&d| wide.shape()[d].max(x.shape()[d])).product();
    let factor = match args.int("normalization")? {
        1 => 1.0 / (n as f64).sqrt(),
        2 => 1.0 / n as f64,
        _ => 1.0,
    };
    narrow(x, y.map(y.dtype(), |v| super::common::mul(v, Scalar::Float(factor))))
}

fn narrow(x: &Tensor, y: Tensor) -> Results {
    let real = if matches!(x.dtype(), DType::F64 | DType::C128) { DType::F64 } else { DType::F32 };
    one(y.cast(if y.dtype().is_complex() { real.complex() } else { real }))
}

/// `prims.fft_c2c`, unscaled.
pub fn prims_c2c(args: &Args) -> Results {
    let x = args.tensor("self")?;
    narrow(x, complex_to_complex(x, &wrap_dims(&args.ints("dim")?, x.rank())?, args.flag("forward")?)?)
}

/// `prims.fft_c2r`, unscaled.
pub fn prims_c2r(args: &Args) -> Results {
    let x = args.tensor("self")?;
    narrow(x, half_to_real(x, &wrap_dims(&args.ints("dim")?, x.rank())?, args.int("last_dim_size")?.max(0) as usize)?)
}

/// `prims.fft_r2c`, unscaled.
pub fn prims_r2c(args: &Args) -> Results {
    let x = args.tensor("self")?;
    narrow(x, real_to_half(x, &wrap_dims(&args.ints("dim")?, x.rank())?, args.flag("onesided")?)?)
}
