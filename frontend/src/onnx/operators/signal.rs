//! Fourier transforms and windows.

use strata_core::ir::{self, ElementType};
use strata_dialects::aten::{Input, op};

use super::shape::{arange, number, plus};
use crate::onnx::call::{Call, f, i, n, one, t, ts, wrapped};
use crate::onnx::dtype;
use crate::onnx::error::Eval;
use crate::onnx::table::{Row, row};
use crate::onnx::value::Value;

pub(in crate::onnx) const ROWS: &[Row] = &[
    row("BlackmanWindow", |c| window(c, [0.42, -0.5, 0.08])),
    row("DFT", transform),
    row("HammingWindow", |c| window(c, [25.0 / 46.0, -21.0 / 46.0, 0.0])),
    row("HannWindow", |c| window(c, [0.5, -0.5, 0.0])),
    row("STFT", short_time),
];

/// `a + b cos(2 pi k / n) + c cos(4 pi k / n)`.
fn window<'c>(c: &mut Call<'_, '_, 'c>, terms: [f64; 3]) -> Eval<Vec<Value<'c>>> {
    let size = *c.numbers(0)?.first().ok_or("its size is no number")?;
    let to = dtype::element(c.int("output_datatype", 1))?;
    let wide = ElementType::F64;
    let period = if c.flag("periodic", true) { size } else { plus(c, size, -1) };
    let period = c.op(op::SCALAR_TENSOR, &[number(period), crate::onnx::call::d(wide)])?;
    let line = arange(c, size, wide)?;
    let turns = c.op(op::DIV_TENSOR, &[t(line), t(period)])?;
    let mut sum: Option<ir::Value<'c>> = None;
    for (place, term) in terms.into_iter().enumerate() {
        let angle = c.op(op::MUL_SCALAR, &[t(turns), f(2.0 * std::f64::consts::PI * place as f64)])?;
        let wave = c.op(op::COS, &[t(angle)])?;
        let wave = c.op(op::MUL_SCALAR, &[t(wave), f(term)])?;
        sum = Some(sum.map_or(Ok(wave), |sum| c.op(op::ADD_TENSOR, &[t(sum), t(wave)]))?);
    }
    let sum = sum.ok_or("it has no terms")?;
    c.cast(sum, to).map(one)
}

/// Whether the last dimension holds real numbers, or real and imaginary parts.
fn is_real(x: ir::Value<'_>) -> Eval<bool> {
    match x.ty().shape().last() {
        Some(1) => Ok(true),
        Some(2) => Ok(false),
        _ => Err("its last dimension is neither real numbers nor pairs".into()),
    }
}

fn complex<'c>(c: &mut Call<'_, '_, 'c>, x: ir::Value<'c>) -> Eval<ir::Value<'c>> {
    let last = x.ty().rank() as i64 - 1;
    let part = |c: &mut Call<'_, '_, 'c>, place| c.op(op::SELECT_INT, &[t(x), i(last), i(place)]);
    let real = part(c, 0)?;
    let imaginary = if is_real(x)? { c.op(op::ZEROS_LIKE, &[t(real)])? } else { part(c, 1)? };
    c.op(op::COMPLEX, &[t(real), t(imaginary)])
}

fn transform<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let x = c.tensor(0)?;
    let rank = x.ty().rank();
    let axis = match c.has(2) {
        true => c.known_int(2)?,
        false => c.int("axis", if c.version < 20 { 1 } else { -2 }),
    };
    let axis = i(wrapped(axis, rank)?);
    let length = match c.has(1) {
        true => n(*c.numbers(1)?.first().ok_or("its length is no number")?),
        false => Some(Input::None),
    };
    let (inverse, onesided) = (c.flag("inverse", false), c.flag("onesided", false));
    let result = match (inverse, onesided) {
        (false, true) => {
            if !is_real(x)? {
                return Err("half of a transform is that of real numbers only".into());
            }
            let real = c.op(op::SELECT_INT, &[t(x), i(rank as i64 - 1), i(0)])?;
            c.op(op::FFT_RFFT, &[t(real), length, axis])?
        }
        (true, true) => {
            let x = complex(c, x)?;
            let real = c.op(op::FFT_IRFFT, &[t(x), length, axis])?;
            return c.op(op::UNSQUEEZE, &[t(real), i(-1)]).map(one);
        }
        (inverse, false) => {
            let x = complex(c, x)?;
            c.op(if inverse { op::FFT_IFFT } else { op::FFT_FFT }, &[t(x), length, axis])?
        }
    };
    c.op(op::VIEW_AS_REAL, &[t(result)]).map(one)
}

/// Transforms of parts of a signal `[batch, length, 1 or 2]`, one after `frame_step` elements each.
fn short_time<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (x, step, window) = (c.tensor(0)?, c.known_int(1)?, c.optional(2)?);
    let size = match (c.has(3), window) {
        (true, _) => c.known_int(3)?,
        (false, Some(window)) => window.ty().shape()[0],
        (false, None) => return Err("it has neither a window nor a length".into()),
    };
    let real = is_real(x)?;
    let onesided = c.flag("onesided", true) && real;
    let last = x.ty().rank() as i64 - 1;
    let parts = if real { vec![0] } else { vec![0, 1] };
    let mut frames = Vec::new();
    for place in parts {
        let part = c.op(op::SELECT_INT, &[t(x), i(last), i(place)])?;
        let mut part = c.op(op::UNFOLD, &[t(part), i(1), i(size), i(step)])?;
        if let Some(window) = window {
            part = c.op(op::MUL_TENSOR, &[t(part), t(window)])?;
        }
        frames.push(part);
    }
    let result = if onesided {
        c.op(op::FFT_RFFT, &[t(frames[0]), Some(Input::None), i(-1)])?
    } else {
        let stacked = if real { c.op(op::UNSQUEEZE, &[t(frames[0]), i(-1)])? } else { c.op(op::STACK, &[ts(&frames), i(-1)])? };
        let frames = complex(c, stacked)?;
        c.op(op::FFT_FFT, &[t(frames), Some(Input::None), i(-1)])?
    };
    c.op(op::VIEW_AS_REAL, &[t(result)]).map(one)
}
