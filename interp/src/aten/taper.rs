//! Windows of signal processing and the frequencies of transforms, from their formulas in double precision.

use std::f64::consts::PI;

use super::Arm::{self, Op};
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::{DType, Scalar};
use crate::tensor::Tensor;
use crate::value::{Args, Results, fail, one};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (BARTLETT_WINDOW, Op(|a| window(a, |_, x| 1.0 - x.abs()))),
    (BARTLETT_WINDOW_PERIODIC, Op(|a| window(a, |_, x| 1.0 - x.abs()))),
    (BLACKMAN_WINDOW, Op(|a| window(a, blackman))),
    (BLACKMAN_WINDOW_PERIODIC, Op(|a| window(a, blackman))),
    (FFT_FFTFREQ, Op(|a| frequencies(a, true))),
    (FFT_RFFTFREQ, Op(|a| frequencies(a, false))),
    (HAMMING_WINDOW, Op(|a| window(a, hamming))),
    (HAMMING_WINDOW_PERIODIC, Op(|a| window(a, hamming))),
    (HAMMING_WINDOW_PERIODIC_ALPHA, Op(|a| window(a, hamming))),
    (HAMMING_WINDOW_PERIODIC_ALPHA_BETA, Op(|a| window(a, hamming))),
    (HANN_WINDOW, Op(|a| window(a, |_, x| 0.5 + 0.5 * (PI * x).cos()))),
    (HANN_WINDOW_PERIODIC, Op(|a| window(a, |_, x| 0.5 + 0.5 * (PI * x).cos()))),
    (KAISER_WINDOW, Op(|a| window(a, kaiser))),
    (KAISER_WINDOW_BETA, Op(|a| window(a, kaiser))),
    (KAISER_WINDOW_PERIODIC, Op(|a| window(a, kaiser))),
];

/// A window as a function of the place between -1 and 1, which a periodic one does not reach again.
fn window(args: &Args, f: fn(&Args, f64) -> f64) -> Results {
    let n = usize::try_from(args.int("window_length")?).map_err(|_| fail("a negative length"))?;
    let periodic = args.opt("periodic").is_none() || args.flag("periodic")?;
    let steps = if periodic { n } else { n.saturating_sub(1) } as f64;
    one(Tensor::build(args.dtype("dtype")?.unwrap_or(DType::F32), &[n], |i| {
        Scalar::Float(if n == 1 { 1.0 } else { f(args, 2.0 * i[0] as f64 / steps - 1.0) })
    })?)
}

fn blackman(_: &Args, x: f64) -> f64 {
    0.42 + 0.5 * (PI * x).cos() + 0.08 * (2.0 * PI * x).cos()
}

fn hamming(args: &Args, x: f64) -> f64 {
    let number = |name, default| args.float(name).unwrap_or(default);
    number("alpha", 0.54) + number("beta", 0.46) * (PI * x).cos()
}

fn kaiser(args: &Args, x: f64) -> f64 {
    let beta = args.float("beta").unwrap_or(12.0);
    bessel(beta * (1.0 - x * x).max(0.0).sqrt()) / bessel(beta)
}

/// The modified Bessel function of order 0, by its power series.
fn bessel(x: f64) -> f64 {
    let (mut sum, mut term, mut k) = (1.0, 1.0, 1.0);
    while term > sum * 1e-18 {
        term *= (x / 2.0 / k) * (x / 2.0 / k);
        sum += term;
        k += 1.0;
    }
    sum
}

fn frequencies(args: &Args, all: bool) -> Results {
    let n = args.int("n")?;
    let count = usize::try_from(if all { n } else { n / 2 + 1 }).map_err(|_| fail("a negative length"))?;
    let spacing = args.float("d")? * n as f64;
    one(Tensor::build(args.dtype("dtype")?.unwrap_or(DType::F32), &[count], |i| {
        let k = i[0] as i64;
        Scalar::Float(if all && k >= (n + 1) / 2 { k - n } else { k } as f64 / spacing)
    })?)
}
