//! Images read at places of their own, and boxes.

use strata_core::ir::{self, ElementType};
use strata_dialects::aten::{Input, op};

use crate::onnx::call::{Call, b, d, f, i, is, n, ns, one, s, t, ts};
use crate::onnx::error::Eval;
use crate::onnx::table::{Row, row};
use crate::onnx::value::{Num, Value};

pub(in crate::onnx) const ROWS: &[Row] = &[
    row("AffineGrid", |c| {
        let (theta, sizes, corners) = (c.tensor(0)?, c.numbers(1)?, c.flag("align_corners", false));
        c.op(op::AFFINE_GRID_GENERATOR, &[t(theta), ns(&sizes), b(corners)]).map(one)
    }),
    row("Col2Im", |c| {
        let (x, sizes, block) = (c.tensor(0)?, c.known_ints(1)?, c.known_ints(2)?);
        let rank = block.len();
        let list = |name: &str, default: i64| c.ints(name).unwrap_or_else(|| vec![default; rank]);
        let pads = c.ints("pads").unwrap_or_else(|| vec![0; 2 * rank]);
        if rank != 2 || pads.len() != 4 || pads[..2] != pads[2..] {
            return Err("images of two dimensions with the same padding on both sides are imported".into());
        }
        let (dilations, strides) = (list("dilations", 1), list("strides", 1));
        c.op(op::COL2IM, &[t(x), is(&sizes), is(&block), is(&dilations), is(&pads[..2]), is(&strides)]).map(one)
    }),
    row("GridSample", grid_sample),
    row("NonMaxSuppression", non_max_suppression),
    row("RoiAlign", roi_align),
];

fn grid_sample<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (x, grid) = (c.tensor(0)?, c.tensor(1)?);
    let mode = match c.text("mode", "linear")? {
        "linear" | "bilinear" => 0,
        "nearest" => 1,
        "cubic" | "bicubic" => 2,
        other => return Err(format!("its mode {other:?} is none of linear, nearest and cubic").into()),
    };
    let padding = match c.text("padding_mode", "zeros")? {
        "zeros" => 0,
        "border" => 1,
        "reflection" => 2,
        other => return Err(format!("its padding_mode {other:?} is none of zeros, border and reflection").into()),
    };
    c.op(op::GRID_SAMPLER, &[t(x), t(grid), i(mode), i(padding), b(c.flag("align_corners", false))]).map(one)
}

fn roi_align<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (x, rois, batch) = (c.tensor(0)?, c.tensor(1)?, c.tensor(2)?);
    if c.text("mode", "avg")? != "avg" {
        return Err("largest elements of regions are not imported, averages are".into());
    }
    let default = if c.version < 16 { "output_half_pixel" } else { "half_pixel" };
    let aligned = match c.text("coordinate_transformation_mode", default)? {
        "half_pixel" => true,
        "output_half_pixel" => false,
        other => return Err(format!("its coordinate_transformation_mode {other:?} is not known").into()),
    };
    let batch = c.cast(batch, c.dtype(1)?)?;
    let batch = c.op(op::UNSQUEEZE, &[t(batch), i(1)])?;
    let rois = c.op(op::CAT, &[ts(&[batch, rois]), i(1)])?;
    let (height, width) = (i(c.int("output_height", 1)), i(c.int("output_width", 1)));
    let (scale, samples) = (f(c.float("spatial_scale", 1.0)), i(c.int("sampling_ratio", 0)));
    c.op(op::torchvision::ROI_ALIGN, &[t(x), t(rois), scale, height, width, samples, b(aligned)]).map(one)
}

/// The boxes that no better one overlaps, for each batch and class: their places, best first.
fn non_max_suppression<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (boxes, scores) = (c.tensor(0)?, c.tensor(1)?);
    let [batches, classes, _] = scores.ty().shape()[..] else { return Err("its scores are of rank 3".into()) };
    if batches < 0 || classes < 0 || batches.saturating_mul(classes) > 1 << 10 {
        return Err("it is imported of a known number of batches and classes, up to 1024 of them together".into());
    }
    let most = if c.has(2) { c.numbers(2)?.first().copied().ok_or("a bound is no number")? } else { Num::Int(0) };
    let overlap = if c.has(3) { c.known_floats(3)?.first().copied().ok_or("a threshold is no number")? } else { 0.0 };
    let least = c.optional(4)?;
    let boxes = corners(c, boxes)?;
    let mut found = Vec::new();
    for batch in 0..batches {
        let of_batch = c.op(op::SELECT_INT, &[t(boxes), i(0), i(batch)])?;
        let all = c.op(op::SELECT_INT, &[t(scores), i(0), i(batch)])?;
        for class in 0..classes {
            let score = c.op(op::SELECT_INT, &[t(all), i(0), i(class)])?;
            let mut kept = c.op(op::torchvision::NMS, &[t(of_batch), t(score), f(overlap)])?;
            if let Some(least) = least {
                let least = c.op(op::RESHAPE, &[t(least), is(&[])])?;
                let chosen = c.op(op::INDEX_SELECT, &[t(score), i(0), t(kept)])?;
                let good = c.op(op::GT_TENSOR, &[t(chosen), t(least)])?;
                kept = c.op(op::INDEX_TENSOR, &[t(kept), Some(Input::OptTensors(vec![Some(good)]))])?;
            }
            let kept = c.op(op::SLICE_TENSOR, &[t(kept), i(0), i(0), n(most)])?;
            let place = |c: &mut Call<'_, '_, 'c>, value: i64| c.op(op::FULL_LIKE, &[t(kept), s(value)]);
            let (first, second) = (place(c, batch)?, place(c, class)?);
            found.push(c.op(op::STACK, &[ts(&[first, second, kept]), i(1)])?);
        }
    }
    if found.is_empty() {
        return c.op(op::ZEROS, &[is(&[0, 3]), d(ElementType::I64)]).map(one);
    }
    c.op(op::CAT, &[ts(&found), i(0)]).map(one)
}

/// Boxes by their least and largest coordinates; they come as any two opposite corners, or as centre and size.
fn corners<'c>(c: &mut Call<'_, '_, 'c>, boxes: ir::Value<'c>) -> Eval<ir::Value<'c>> {
    let (first, second) = (c.slice(boxes, 2, 0, 2)?, c.slice(boxes, 2, 2, 4)?);
    let pair = if c.int("center_point_box", 0) == 0 {
        [c.op(op::MINIMUM, &[t(first), t(second)])?, c.op(op::MAXIMUM, &[t(first), t(second)])?]
    } else {
        let half = c.op(op::MUL_SCALAR, &[t(second), f(0.5)])?;
        [c.op(op::SUB_TENSOR, &[t(first), t(half)])?, c.op(op::ADD_TENSOR, &[t(first), t(half)])?]
    };
    c.op(op::CAT, &[ts(&pair), i(2)])
}
