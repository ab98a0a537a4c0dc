//! Windows of signal processing, and the frequencies of Fourier transforms.

use std::f64::consts::PI;

use strata_dialects::aten::dtype::{DType, Numeric};
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Tensor};

use super::args::Args;
use super::rule::Precision::Exact;
use super::rule::{Rule, one};

pub(super) const RULES: &[Rule] = &[
    one(BARTLETT_WINDOW, Exact, |a| tapered(a, bartlett)),
    one(BARTLETT_WINDOW_PERIODIC, Exact, |a| tapered(a, bartlett)),
    one(BLACKMAN_WINDOW, Exact, |a| tapered(a, blackman)),
    one(BLACKMAN_WINDOW_PERIODIC, Exact, |a| tapered(a, blackman)),
    one(FFT_FFTFREQ, Exact, |a| frequencies(a, true)),
    one(FFT_RFFTFREQ, Exact, |a| frequencies(a, false)),
    one(HAMMING_WINDOW, Exact, |a| tapered(a, hamming)),
    one(HAMMING_WINDOW_PERIODIC, Exact, |a| tapered(a, hamming)),
    one(HAMMING_WINDOW_PERIODIC_ALPHA, Exact, |a| tapered(a, hamming)),
    one(HAMMING_WINDOW_PERIODIC_ALPHA_BETA, Exact, |a| tapered(a, hamming)),
    one(HANN_WINDOW, Exact, |a| tapered(a, |_, k, n| raised_cosine(k, n, 0.5, 0.5))),
    one(HANN_WINDOW_PERIODIC, Exact, |a| tapered(a, |_, k, n| raised_cosine(k, n, 0.5, 0.5))),
    one(KAISER_WINDOW, Exact, |a| tapered(a, kaiser)),
    one(KAISER_WINDOW_BETA, Exact, |a| tapered(a, kaiser)),
    one(KAISER_WINDOW_PERIODIC, Exact, |a| tapered(a, kaiser)),
];

/// A window from its positions and the number of its last one. A periodic window is one longer, without its last element.
fn tapered<'c>(a: &Args<'c>, window: fn(&Args<'c>, Tensor<'c>, f64) -> Tensor<'c>) -> Tensor<'c> {
    let (length, dtype) = (a.int("window_length"), a.result_dtype(0));
    let positions = a.prim.range(dtype.compute(), length);
    let periodic = !a.has("periodic") || a.bool("periodic");
    match length {
        0 => positions.convert(dtype),
        1 => positions.filled(Scalar::Int(1)).convert(dtype),
        _ => window(a, positions, (if periodic { length } else { length - 1 }) as f64).convert(dtype),
    }
}

fn bartlett<'c>(_: &Args<'c>, k: Tensor<'c>, last: f64) -> Tensor<'c> {
    let rising = k * (2.0 / last);
    k.greater((last / 2.0).floor()).select(-rising + 2.0, rising)
}

fn raised_cosine(k: Tensor<'_>, last: f64, alpha: f64, beta: f64) -> Tensor<'_> {
    (k * (2.0 * PI / last)).cos() * -beta + alpha
}

fn hamming<'c>(a: &Args<'c>, k: Tensor<'c>, last: f64) -> Tensor<'c> {
    let number = |name, default| if a.has(name) { a.float(name) } else { default };
    raised_cosine(k, last, number("alpha", 0.54), number("beta", 0.46))
}

fn blackman<'c>(_: &Args<'c>, k: Tensor<'c>, last: f64) -> Tensor<'c> {
    let phase = k * (PI / last);
    (phase * 4.0).cos() * 0.08 - (phase * 2.0).cos() * 0.5 + 0.42
}

fn kaiser<'c>(a: &Args<'c>, k: Tensor<'c>, last: f64) -> Tensor<'c> {
    let beta = if a.has("beta") { a.float("beta") } else { 12.0 };
    let place = k * (2.0 / last) - 1.0;
    let height = (-place.square() + 1.0).maximum(0.0).sqrt() * beta;
    let whole = k.number(Scalar::Float(beta)).special("bessel_i0", &[]);
    height.special("bessel_i0", &[]) / whole
}

/// The frequencies of a transform of `n` samples, in order: those above a half are negative.
fn frequencies<'c>(a: &Args<'c>, all: bool) -> Tensor<'c> {
    let (n, dtype) = (a.int("n"), a.result_dtype(0));
    let k = a.prim.range(DType::I64, if all { n } else { n / 2 + 1 });
    let signed = if all { k.less((n + 1) / 2).select(k, k - n) } else { k };
    (signed.convert(dtype.compute()) * (1.0 / (n as f64 * a.float("d")))).convert(dtype)
}
