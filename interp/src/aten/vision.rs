//! Boxes and regions, read one place at a time.

use std::cmp::Ordering;

use super::Arm::{self, Op};
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::torchvision;
use crate::dtype::{DType, Scalar};
use crate::tensor::Tensor;
use crate::value::{Args, InterpError, Results, fail, one};

/// torchvision's operators.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (torchvision::DEFORM_CONV2D, Op(deform_conv2d)),
    (torchvision::NMS, Op(|a| {
        let kept = non_maximum(a.tensor("dets")?, a.tensor("scores")?, a.float("iou_threshold")?)?;
        one(Tensor::from_ints(&[kept.len()], &kept)?)
    })),
    (torchvision::ROI_ALIGN, Op(roi_align)),
];

/// The boxes that no better one overlaps by more than the threshold, best first.
pub fn non_maximum(boxes: &Tensor, scores: &Tensor, threshold: f64) -> Result<Vec<i64>, InterpError> {
    if boxes.rank() != 2 || !boxes.is_empty() && boxes.shape()[1] != 4 {
        return Err(fail("boxes are rows of four numbers"));
    }
    let round = |x: f64| boxes.dtype().cast(Scalar::Float(x)).float();
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores.at(b).float().partial_cmp(&scores.at(a).float()).unwrap_or(Ordering::Equal));
    let mut kept: Vec<usize> = Vec::new();
    for at in order {
        let corner = |row: usize, k: usize| boxes.f(&[row, k]);
        let side = |row: usize, k: usize| round(corner(row, k + 2) - corner(row, k));
        let area = |row: usize| round(side(row, 0) * side(row, 1));
        let shared = |row: usize, k: usize| round(corner(row, k + 2).min(corner(at, k + 2)) - corner(row, k).max(corner(at, k))).max(0.0);
        let overlap = |row: usize| {
            let both = round(shared(row, 0) * shared(row, 1));
            round(both / round(round(area(row) + area(at)) - both))
        };
        if !kept.iter().any(|&row| overlap(row) > threshold) {
            kept.push(at);
        }
    }
    Ok(kept.into_iter().map(|at| at as i64).collect())
}

/// The value between four pixels.
fn between(y: f64, x: f64, pixel: impl Fn(i64, i64) -> f64) -> f64 {
    let (low_y, low_x) = (y.floor(), x.floor());
    let (part_y, part_x) = (y - low_y, x - low_x);
    let (y, x) = (low_y as i64, low_x as i64);
    (pixel(y, x) * (1.0 - part_x) + pixel(y, x + 1) * part_x) * (1.0 - part_y)
        + (pixel(y + 1, x) * (1.0 - part_x) + pixel(y + 1, x + 1) * part_x) * part_y
}

fn roi_align(args: &Args) -> Results {
    let (x, rois) = (args.tensor("input")?, args.tensor("rois")?);
    let (&[_, channels, height, width], &[count, 5]) = (x.shape(), rois.shape()) else {
        return Err(fail("regions are rows of five numbers, and the input is a batch of images"));
    };
    let bins = [args.int("pooled_height")?.max(0) as usize, args.int("pooled_width")?.max(0) as usize];
    let (scale, ratio, aligned) = (args.float("spatial_scale")?, args.int("sampling_ratio")?, args.flag("aligned")?);
    one(Tensor::build(x.dtype(), &[count, channels, bins[0], bins[1]], |i| {
        let edge = |k: usize| rois.f(&[i[0], k]) * scale - if aligned { 0.5 } else { 0.0 };
        let bin = |k: usize, bins: usize| {
            let size = edge(k + 2) - edge(k);
            (if aligned { size } else { size.max(1.0) }) / bins as f64
        };
        let (bin_y, bin_x) = (bin(2, bins[0]), bin(1, bins[1]));
        let places = |bin: f64| if ratio > 0 { ratio } else { (bin.ceil() as i64).max(0) };
        let (places_y, places_x) = (places(bin_y), places(bin_x));
        let image = rois.f(&[i[0], 0]) as usize;
        let mut sum = 0.0;
        for (iy, ix) in (0..places_y).flat_map(|iy| (0..places_x).map(move |ix| (iy, ix))) {
            let y = edge(2) + i[2] as f64 * bin_y + (iy as f64 + 0.5) * bin_y / places_y as f64;
            let at_x = edge(1) + i[3] as f64 * bin_x + (ix as f64 + 0.5) * bin_x / places_x as f64;
            if y < -1.0 || y > height as f64 || at_x < -1.0 || at_x > width as f64 {
                continue;
            }
            let (y, at_x) = (y.max(0.0).min(height as f64 - 1.0), at_x.max(0.0).min(width as f64 - 1.0));
            let pixel = |y: i64, at_x: i64| x.f(&[image, i[1], (y as usize).min(height - 1), (at_x as usize).min(width - 1)]);
            sum += between(y, at_x, pixel);
        }
        Scalar::Float(sum / (places_y * places_x).max(1) as f64)
    })?)
}

fn deform_conv2d(args: &Args) -> Results {
    let (x, weight, offset, mask) = (args.tensor("input")?, args.tensor("weight")?, args.tensor("offset")?, args.tensor("mask")?);
    let (&[n, channels, height, width], &[outs, ins, rows, cols], &[_, _, down, across]) = (x.shape(), weight.shape(), offset.shape()) else {
        return Err(fail("a deformable convolution takes tensors of rank 4"));
    };
    let number = |name: &str| args.int(name);
    let (stride, pad, dilation) =
        ([number("stride_h")?, number("stride_w")?], [number("pad_h")?, number("pad_w")?], [number("dilation_h")?, number("dilation_w")?]);
    let (groups, shares) = (number("groups")?.max(1) as usize, number("offset_groups")?.max(1) as usize);
    let (masked, bias) = (args.flag("use_mask")?, args.tensor("bias")?);
    let compute = if x.dtype() == DType::F64 { DType::F64 } else { DType::F32 };
    let out = Tensor::build(compute, &[n, outs, down, across], |i| {
        let group = i[1] / (outs / groups);
        let mut sum = if bias.is_empty() { 0.0 } else { bias.at(i[1]).float() };
        for k in 0..ins * rows * cols {
            let (channel, row, col) = (group * ins + k / (rows * cols), k / cols % rows, k % cols);
            let (share, tap) = (channel / (channels / shares), row * cols + col);
            let moved = |dim: usize| offset.f(&[i[0], 2 * (share * rows * cols + tap) + dim, i[2], i[3]]);
            let place = |dim: usize, at: usize, tap: usize| at as f64 * stride[dim] as f64 - pad[dim] as f64 + tap as f64 * dilation[dim] as f64 + moved(dim);
            let (y, at_x) = (place(0, i[2], row), place(1, i[3], col));
            if y <= -1.0 || y >= height as f64 || at_x <= -1.0 || at_x >= width as f64 {
                continue;
            }
            let pixel = |y: i64, at_x: i64| match (usize::try_from(y), usize::try_from(at_x)) {
                (Ok(y), Ok(at_x)) if y < height && at_x < width => x.f(&[i[0], channel, y, at_x]),
                _ => 0.0,
            };
            let share = if masked { mask.f(&[i[0], share * rows * cols + tap, i[2], i[3]]) } else { 1.0 };
            sum += weight.f(&[i[1], k / (rows * cols), row, col]) * between(y, at_x, pixel) * share;
        }
        Scalar::Float(sum)
    })?;
    one(out.cast(x.dtype()))
}
