//! Convolutions.

use strata_core::ir::{self, ElementType};
use strata_dialects::aten::{Input, op};

use super::quantise::{centred, rescaled};
use super::window::Window;
use crate::onnx::call::{Call, b, i, is, one, ot, s, t};
use crate::onnx::error::Eval;
use crate::onnx::table::{Row, row};
use crate::onnx::value::Value;

pub(in crate::onnx) const ROWS: &[Row] = &[
    row("Conv", |c| {
        let (x, weight, bias) = (c.tensor(0)?, c.tensor(1)?, c.optional(2)?);
        convolution(c, x, weight, bias).map(one)
    }),
    row("ConvInteger", |c| {
        let x = centred(c, 0, 2, ElementType::I32, 0)?;
        let weight = centred(c, 1, 3, ElementType::I32, 0)?;
        convolution(c, x, weight, None).map(one)
    }),
    row("ConvTranspose", transposed),
    row("DeformConv", deformable),
    row("QLinearConv", |c| {
        let x = centred(c, 0, 2, ElementType::I32, 0)?;
        let weight = centred(c, 3, 5, ElementType::I32, 0)?;
        let bias = c.optional(8)?;
        let sum = convolution(c, x, weight, bias)?;
        let rank = sum.ty().rank();
        rescaled(c, sum, [(1, rank, 1), (4, rank, 1)], 6, 7).map(one)
    }),
];

/// The kernel's sizes: those of the weight.
fn kernel(c: &Call<'_, '_, '_>, weight: ir::Value<'_>) -> Eval<Vec<i64>> {
    let sizes = weight.ty().shape().get(2..).unwrap_or_default().to_vec();
    match c.ints("kernel_shape") {
        Some(kernel) if kernel != sizes && sizes.iter().all(|size| *size >= 0) => {
            Err(format!("its kernel_shape is {kernel:?}, and its weight has {sizes:?}").into())
        }
        Some(kernel) => Ok(kernel),
        None => Ok(sizes),
    }
}

fn convolution<'c>(c: &mut Call<'_, '_, 'c>, x: ir::Value<'c>, weight: ir::Value<'c>, bias: Option<ir::Value<'c>>) -> Eval<ir::Value<'c>> {
    let window = Window::of(c, x, kernel(c, weight)?)?;
    let rank = window.kernel.len();
    let (mut x, mut padding) = (x, window.padding());
    if !window.symmetric() {
        x = c.op(op::CONSTANT_PAD_ND, &[t(x), is(&window.flat_pads()), s(0)])?;
        padding = vec![0; rank];
    }
    let (strides, dilations, groups) = (is(&window.strides), is(&window.dilations), i(c.int("group", 1)));
    let none = is(&vec![0; rank]);
    c.op(op::CONVOLUTION, &[t(x), t(weight), ot(bias), strides, is(&padding), dilations, b(false), none, groups])
}

/// The gradient of a convolution by its input: padding is what is cut off.
fn transposed<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (x, weight, bias) = (c.tensor(0)?, c.tensor(1)?, c.optional(2)?);
    let kernel = kernel(c, weight)?;
    let rank = kernel.len();
    let auto_pad = c.text("auto_pad", "NOTSET")?;
    let mut window = Window::of(c, x, kernel)?;
    let more = c.ints("output_padding").unwrap_or_else(|| vec![0; rank]);
    if more.len() != rank || more.iter().any(|more| !(0..1 << 31).contains(more)) {
        return Err(format!("its output_padding {more:?} is not {rank} numbers from 0 up").into());
    }
    let same = matches!(auto_pad, "SAME_UPPER" | "SAME_LOWER");
    let wanted = c.ints("output_shape").map(|shape| shape[shape.len().saturating_sub(rank)..].to_vec());
    if same || wanted.is_some() {
        for (dim, more) in more.iter().enumerate() {
            let size = x.ty().shape()[dim + 2];
            if size < 0 {
                return Err("its padding depends on a size that only a call knows".into());
            }
            let wanted = wanted.as_ref().and_then(|wanted| wanted.get(dim).copied()).unwrap_or(size.saturating_mul(window.strides[dim]));
            let all = window.strides[dim].saturating_mul(size - 1).saturating_add(more + window.reach(dim)).saturating_sub(wanted);
            if all < 0 {
                // What is wanted beyond all of it stands behind.
                window.pads[dim] = [0, all];
                continue;
            }
            window.pads[dim] = if auto_pad == "SAME_UPPER" { [all / 2, all - all / 2] } else { [all - all / 2, all / 2] };
        }
    }
    let (strides, dilations, groups) = (is(&window.strides), is(&window.dilations), i(c.int("group", 1)));
    let fits = window.symmetric() && (0..rank).all(|dim| more[dim] < window.strides[dim].max(window.dilations[dim]));
    if fits {
        let padding = is(&window.padding());
        return c.op(op::CONVOLUTION, &[t(x), t(weight), ot(bias), strides, padding, dilations, b(true), is(&more), groups]).map(one);
    }
    // All of it, then what is cut off or added at each end; the bias is everywhere.
    let none = || is(&vec![0; rank]);
    let whole = c.op(op::CONVOLUTION, &[t(x), t(weight), Some(Input::None), strides, none(), dilations, b(true), none(), groups])?;
    let pads: Vec<_> = (0..rank).rev().flat_map(|dim| [-window.pads[dim][0], more[dim] - window.pads[dim][1]]).collect();
    let cut = c.op(op::CONSTANT_PAD_ND, &[t(whole), is(&pads), s(0)])?;
    let Some(bias) = bias else { return Ok(one(cut)) };
    let sizes: Vec<_> = [1, -1].into_iter().chain(vec![1; rank]).collect();
    let bias = c.op(op::RESHAPE, &[t(bias), is(&sizes)])?;
    c.op(op::ADD_TENSOR, &[t(cut), t(bias)]).map(one)
}

/// A convolution whose taps are moved by offsets.
fn deformable<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (mut x, weight, offset, bias, mask) = (c.tensor(0)?, c.tensor(1)?, c.tensor(2)?, c.optional(3)?, c.optional(4)?);
    let mut window = Window::of(c, x, kernel(c, weight)?)?;
    let dtype = c.dtype(0)?;
    if window.kernel.len() != 2 {
        return Err("offsets are imported in two dimensions only".into());
    }
    if !window.symmetric() {
        x = c.op(op::CONSTANT_PAD_ND, &[t(x), is(&window.flat_pads()), s(0)])?;
        window.pads.fill([0, 0]);
    }
    let features = weight.ty().shape()[0];
    let bias = match bias {
        Some(bias) => bias,
        None => c.op(op::ZEROS, &[is(&[features]), crate::onnx::call::d(dtype)])?,
    };
    let masked = mask.is_some();
    let mask = match mask {
        Some(mask) => mask,
        None => c.op(op::ZEROS, &[is(&[0, 0]), crate::onnx::call::d(dtype)])?,
    };
    let mut inputs = vec![t(x), t(weight), t(offset), t(mask), t(bias)];
    inputs.extend(window.strides.iter().chain(&window.padding()).chain(&window.dilations).map(|value| i(*value)));
    inputs.extend([i(c.int("group", 1)), i(c.int("offset_group", 1)), b(masked)]);
    c.op(op::torchvision::DEFORM_CONV2D, &inputs).map(one)
}
