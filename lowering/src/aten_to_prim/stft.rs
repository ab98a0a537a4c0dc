//! Short-time Fourier transforms: of windows that slide over a signal, and back.

use strata_dialects::aten::dtype::{DType, Numeric};
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Size, Tensor};

use super::args::Args;
use super::fft::{half_return, half_turn, turn};
use super::rule::Precision::Exact;
use super::rule::{Rule, one};

pub(super) const RULES: &[Rule] = &[
    one(ISTFT, Exact, istft),
    one(STFT, Exact, |a| stft(a, a.tensor("self"))),
    one(STFT_CENTER, Exact, |a| {
        let x = a.tensor("self");
        if !a.bool("center") {
            return stft(a, x);
        }
        stft(a, centered(a, x))
    }),
];

/// Windows begin this far apart.
fn hop(a: &Args<'_>) -> i64 {
    a.opt_int("hop_length").unwrap_or(a.int("n_fft") / 4).max(1)
}

/// The window in the middle of the transform's length; ones where none is given.
fn window<'c>(a: &Args<'c>, dtype: DType) -> Tensor<'c> {
    let n = a.int("n_fft");
    let length = a.opt_int("win_length").unwrap_or(n);
    let window = a.opt_tensor("window").unwrap_or_else(|| a.prim.full(dtype, Scalar::Int(1), &[Size::Const(length)]));
    let before = (n - length) / 2;
    let dtype = if window.dtype().is_complex() { window.dtype() } else { dtype };
    window.convert(dtype).pad_dim(0, Scalar::Int(0), before, n - length - before)
}

/// The signal with half a window before and after it.
fn centered<'c>(a: &Args<'c>, x: Tensor<'c>) -> Tensor<'c> {
    let (last, half) = (x.rank().wrapping_sub(1), a.int("n_fft") / 2);
    match a.str("pad_mode").as_str() {
        "constant" => x.pad_dim(last, Scalar::Int(0), half, half),
        "reflect" => {
            let end = a.prim.size_tensor(DType::I64, x.size(last) - 1);
            let place = (a.prim.range(DType::I64, x.size(last) + 2 * half) - half).abs();
            x.gather(&[end - (place - end).abs()], &[last]).move_dim(0, last)
        }
        mode => {
            a.fail(format!("unknown padding mode `{mode}`"));
            x
        }
    }
}

/// Whether only half of the spectrum is kept.
fn onesided(a: &Args<'_>, complex: bool) -> bool {
    if a.given("onesided") { a.bool("onesided") } else { !complex }
}

fn stft<'c>(a: &Args<'c>, signal: Tensor<'c>) -> Tensor<'c> {
    let x = if signal.rank() == 1 { signal.unsqueeze(0) } else { signal };
    let n = a.int("n_fft");
    let window = window(a, x.dtype().real_part());
    let x = if window.dtype().is_complex() { x.convert(x.dtype().to_complex()) } else { x };
    let window = window.convert(if x.dtype().is_complex() { x.dtype() } else { window.dtype() });
    let frames = x.window(&[n], &[hop(a)], &[1]) * window;
    let spectrum = match (onesided(a, x.dtype().is_complex()), x.dtype().is_complex()) {
        (true, false) => half_turn(frames, 2),
        (_, true) => turn(frames, 2, true),
        (false, false) => turn(frames.convert(frames.dtype().to_complex()), 2, true),
    };
    let spectrum = if a.bool("normalized") { scaled(spectrum, (n as f64).sqrt().recip()) } else { spectrum };
    // Numbers lie frame after frame, and so do their parts.
    let spectrum = if a.result_dtype(0).is_complex() { spectrum } else { super::cast::view_as_real(spectrum) };
    let spectrum = spectrum.move_dim(2, 1);
    if signal.rank() == 1 { spectrum.squeeze(&[0]) } else { spectrum }
}

fn scaled(x: Tensor<'_>, factor: f64) -> Tensor<'_> {
    if x.dtype().is_complex() { (x.real() * factor).complex(x.imag() * factor) } else { x * factor }
}

/// Windows are laid over each other and divided by what the windows themselves add up to.
fn istft<'c>(a: &Args<'c>) -> Tensor<'c> {
    let spectrum = a.tensor("self");
    let batched = spectrum.rank() == 3;
    let x = if batched { spectrum } else { spectrum.unsqueeze(0) };
    let (n, hop, complex) = (a.int("n_fft"), hop(a), a.bool("return_complex"));
    let frames = x.move_dim(1, 2);
    let norm = if a.bool("normalized") { (n as f64).sqrt().recip() } else { (n as f64).recip() };
    // Of a whole spectrum with a real signal only the first half is read.
    let lines = if complex { turn(frames, 2, false) } else { half_return(frames, 2, Size::Const(n)) };
    let window = window(a, x.dtype().real_part());
    let window = window.convert(lines.dtype());
    let lines = scaled(lines, norm) * window;

    let (batch, count) = (lines.size(0), lines.size(1));
    let total = (count - 1) * hop + n;
    let shape = [count, Size::Const(n)];
    let places = a.prim.iota(DType::I64, &shape, 0) * hop + a.prim.iota(DType::I64, &shape, 1);
    let laid = |x: Tensor<'c>| a.prim.full(x.dtype(), Scalar::Int(0), &[total, batch]).scatter(x.move_dim(0, 2), &[places], &[0], "add");
    let squares = (window * window).broadcast_to(&lines.shape());
    let signal = (laid(lines) / laid(squares)).swap(0, 1);

    let start = if a.bool("center") { n / 2 } else { 0 };
    let whole = if a.bool("center") { total - n } else { total };
    let length = a.opt_int("length").map_or(whole, Size::Const);
    let kept = signal.pad_dim(1, Scalar::Int(0), -start, length + start - total);
    if batched { kept } else { kept.squeeze(&[0]) }
}
