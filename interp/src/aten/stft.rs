//! Short-time Fourier transforms, window by window, and back.

use num_complex::Complex64;

use super::Arm::{self, Op};
use super::fft::{dft, hermitian};
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::Scalar;
use crate::tensor::Tensor;
use crate::value::{Args, InterpError, Results, Value, fail, one};

/// Arms by name.
pub const ARMS: &[(Operator, Arm)] = &[
    (ISTFT, Op(istft)),
    (STFT, Op(|a| stft(a, a.tensor("self")?))),
    (STFT_CENTER, Op(|a| if a.flag("center")? { stft(a, &centered(a)?) } else { stft(a, a.tensor("self")?) })),
];

/// How a signal is cut.
struct Cut {
    /// The length of a piece.
    n: usize,
    /// Pieces begin this far apart.
    hop: usize,
    /// What the elements of a piece are multiplied with.
    window: Vec<Complex64>,
}

impl Cut {
    fn of(args: &Args) -> Result<Cut, InterpError> {
        let n = args.int("n_fft")?.max(1) as usize;
        let hop = args.opt_int("hop_length")?.map_or(n / 4, |h| h.max(1) as usize).max(1);
        let width = args.opt_int("win_length")?.map_or(n, |w| w.max(1) as usize).min(n);
        let window = args.opt_tensor("window")?;
        let left = (n - width) / 2;
        let at = |k: usize| match window {
            _ if k < left || k >= left + width => 0.0.into(),
            Some(w) => w.at(k - left).complex(),
            None => Complex64::new(1.0, 0.0),
        };
        Ok(Cut { n, hop, window: (0..n).map(at).collect() })
    }
}

/// The signal with half a transform's length before and after it: zeros, or the signal turned back at its ends.
fn centered(args: &Args) -> Result<Tensor, InterpError> {
    let (x, half) = (args.tensor("self")?, args.int("n_fft")? / 2);
    let dim = x.rank().checked_sub(1).ok_or_else(|| fail("a signal has a length"))?;
    let (n, turned) = (x.shape()[dim] as i64, args.opt_str("pad_mode")?.unwrap_or("reflect") == "reflect");
    if turned && half >= n {
        return Err(fail("the signal is too short to be turned back"));
    }
    let mut shape = x.shape().to_vec();
    shape[dim] += 2 * half as usize;
    Tensor::build(x.dtype(), &shape, |i| {
        let at = i[dim] as i64 - half;
        let turned_at = if at < 0 { -at } else { (2 * (n - 1) - at).min(at) };
        let at = if turned { turned_at } else { at };
        let mut source = i.to_vec();
        source[dim] = at.max(0) as usize;
        if (0..n).contains(&at) { x.get(&source) } else { Scalar::Int(0) }
    })
}

/// Transforms of overlapping, windowed pieces of a signal.
fn stft(args: &Args, signal: &Tensor) -> Results {
    let Cut { n, hop, window } = Cut::of(args)?;
    let x = if signal.rank() == 1 { signal.unsqueeze(0) } else { signal.clone() };
    let complex_input = x.dtype().is_complex();
    let onesided = args.opt("onesided").map_or(Ok(!complex_input), |_| args.flag("onesided"))?;
    let frames = x.shape()[1].checked_sub(n).ok_or_else(|| fail("the signal is shorter than the transform"))? / hop + 1;
    let kept = if onesided { n / 2 + 1 } else { n };
    let factor = if args.flag("normalized")? { 1.0 / (n as f64).sqrt() } else { 1.0 };
    let mut values = vec![Scalar::Int(0); x.shape()[0] * kept * frames];
    for b in 0..x.shape()[0] {
        for f in 0..frames {
            let piece: Vec<Complex64> = (0..n).map(|k| x.get(&[b, f * hop + k]).complex() * window[k]).collect();
            for (k, v) in dft(&piece, true).into_iter().take(kept).enumerate() {
                values[(b * kept + k) * frames + f] = Scalar::Complex(v * factor);
            }
        }
    }
    let y = Tensor::from_scalars(x.dtype().complex(), &[x.shape()[0], kept, frames], values)?;
    let y = if signal.rank() == 1 { y.select(0, 0)? } else { y };
    if args.opt("return_complex").is_some() && !args.flag("return_complex")? {
        let mut shape = y.shape().to_vec();
        shape.push(2);
        return Ok(vec![Value::Tensor(Tensor::from_bytes(y.dtype().real(), &shape, &y.to_bytes())?)]);
    }
    one(y)
}

/// The pieces laid over each other, divided by what their windows add up to.
fn istft(args: &Args) -> Results {
    let given = args.tensor("self")?;
    let Cut { n, hop, window } = Cut::of(args)?;
    let x = if given.rank() == 2 { given.unsqueeze(0) } else { given.clone() };
    let &[batch, lines, frames] = x.shape() else { return Err(fail("a spectrum has two or three dimensions")) };
    let complex = args.flag("return_complex")?;
    let factor = if args.flag("normalized")? { 1.0 / (n as f64).sqrt() } else { 1.0 / n as f64 };
    let total = n + hop * frames.saturating_sub(1);
    let center = args.opt("center").map_or(Ok(true), |_| args.flag("center"))?;
    let start = if center { n / 2 } else { 0 };
    let length = args.opt_int("length")?.map_or(if center { total - n } else { total }, |l| l.max(0) as usize);
    let mut values = Vec::with_capacity(batch * length);
    for b in 0..batch {
        let (mut signal, mut weight) = (vec![Complex64::default(); total], vec![Complex64::default(); total]);
        for f in 0..frames {
            let spectrum: Vec<Complex64> = (0..lines).map(|k| x.get(&[b, k, f]).complex()).collect();
            // For a real signal only the first half of the spectrum is read.
            let piece = if complex { dft(&spectrum, false) } else { hermitian(&spectrum, n, false) };
            for (k, v) in piece.into_iter().enumerate().take(n) {
                signal[f * hop + k] += v * factor * window[k];
                weight[f * hop + k] += window[k] * window[k];
            }
        }
        values.extend((start..start + length).map(|k| if k < total { Scalar::Complex(signal[k] / weight[k]) } else { Scalar::Int(0) }));
    }
    let dtype = if complex { x.dtype() } else { x.dtype().real() };
    let real = |v: Scalar| if complex { v } else { Scalar::Float(v.complex().re) };
    let y = Tensor::from_scalars(dtype, &[batch, length], values.into_iter().map(real))?;
    one(if given.rank() == 2 { y.select(0, 0)? } else { y })
}
