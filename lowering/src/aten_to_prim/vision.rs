//! Boxes and regions: what torchvision's detectors are made of.

use strata_dialects::aten::dtype::{DType, Numeric};
use strata_dialects::aten::op::torchvision;
use strata_dialects::prim_builder::{Scalar, Size, Tensor, product};

use super::args::Args;
use super::matmul::matmul;
use super::rule::Precision::{Compute, Exact};
use super::rule::{Rule, one};

pub(super) const RULES: &[Rule] = &[
    one(torchvision::DEFORM_CONV2D, Compute, deform_conv2d),
    one(torchvision::NMS, Exact, nms),
    one(torchvision::ROI_ALIGN, Compute, roi_align),
];

/// The boxes, best scores first, without those that overlap a better one by more than the threshold.
fn nms<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (boxes, scores) = (a.raw("dets"), a.raw("scores"));
    // The largest number of the boxes' type that is not above the threshold divides them as the threshold itself does.
    let asked = a.float("iou_threshold");
    let threshold = match boxes.dtype() {
        DType::F64 => asked,
        _ if f64::from(asked as f32) > asked => f64::from((asked as f32).next_down()),
        _ => asked,
    };
    let threshold = a.prim.constant(boxes.dtype().compute(), Scalar::Float(threshold));
    let kept = a.prim.library("nms", &[], &[boxes, scores.convert(boxes.dtype()), threshold.convert(boxes.dtype())], &[]);
    let [order, count] = kept[..] else { return boxes };
    order.slice(0, 0, count.item_size(), 1)
}

/// Reads of two numbers beside a place, by how near they are.
struct Taps<'c> {
    low: Tensor<'c>,
    high: Tensor<'c>,
    /// The share of `high`.
    part: Tensor<'c>,
    /// Where anything is read.
    inside: Tensor<'c>,
}

/// The means of regions of interest in bins; each bin is read at a grid of places.
fn roi_align<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, rois) = (a.tensor("input"), a.tensor("rois"));
    if x.rank() != 4 || rois.rank() != 2 {
        a.fail("regions are rows of five numbers, and the input is a batch of images");
        return x;
    }
    let batch = rois.at(1, 0).convert(DType::I64);
    let rows = span(a, rois, x.size(2), 2, a.size("pooled_height"));
    let cols = span(a, rois, x.size(3), 1, a.size("pooled_width"));
    let (taps_y, count_y) = (&rows.taps, rows.count);
    let (taps_x, count_x) = (&cols.taps, cols.count);
    // (regions, bins down, places down, bins across, places across)
    let down = |t: Tensor<'c>| t.unsqueeze(3).unsqueeze(4);
    let across = |t: Tensor<'c>| t.unsqueeze(1).unsqueeze(2);
    let all = a.prim.common_sizes(&[&down(taps_y.low).shape(), &across(taps_x.low).shape()]);
    let image = batch.unsqueeze(1).unsqueeze(2).unsqueeze(3).unsqueeze(4).broadcast_to(&all);
    let read =
        |y: Tensor<'c>, x_at: Tensor<'c>| x.gather(&[image, down(y).broadcast_to(&all), across(x_at).broadcast_to(&all)], &[0, 2, 3]);
    let weigh = |y: Tensor<'c>, x_at: Tensor<'c>| (down(y) * across(x_at)).broadcast_to(&all).unsqueeze(5);
    let rest = |t: Tensor<'c>| -t + 1.0;
    let sum = read(taps_y.low, taps_x.low) * weigh(rest(taps_y.part), rest(taps_x.part))
        + read(taps_y.low, taps_x.high) * weigh(rest(taps_y.part), taps_x.part)
        + read(taps_y.high, taps_x.low) * weigh(taps_y.part, rest(taps_x.part))
        + read(taps_y.high, taps_x.high) * weigh(taps_y.part, taps_x.part);
    let inside = down(taps_y.inside).broadcast_to(&all).and(across(taps_x.inside).broadcast_to(&all)).unsqueeze(5);
    let sum = inside.select(sum, 0.0).reduce("sum", &[2, 4], false);
    let count = (count_y * count_x).maximum(1.0);
    (sum / count.unsqueeze(1).unsqueeze(2).unsqueeze(3)).transpose(&[0, 3, 1, 2])
}

/// Regions along one dimension: where their bins are read, and at how many places each.
struct Span<'c> {
    /// Of the shape (regions, bins, places).
    taps: Taps<'c>,
    /// Of the shape (regions).
    count: Tensor<'c>,
}

fn span<'c>(a: &Args<'c>, rois: Tensor<'c>, length: Size<'c>, column: i64, bins: Size<'c>) -> Span<'c> {
    let dtype = rois.dtype();
    let aligned = a.bool("aligned");
    let edge = |column: i64| rois.at(1, column) * a.float("spatial_scale") - if aligned { 0.5 } else { 0.0 };
    let (start, end) = (edge(column), edge(column + 2));
    let size = if aligned { end - start } else { (end - start).maximum(1.0) };
    let bin = size / a.prim.size_tensor(dtype, bins);
    let ratio = a.int("sampling_ratio");
    // Without a ratio a bin is read as often as it has pixels: all are read as often as the largest, and less counts.
    let (places, count) = match ratio > 0 {
        true => (Size::Const(ratio), bin.filled(Scalar::Int(ratio))),
        false => {
            let count = bin.ceil().maximum(0.0);
            let one = a.prim.full(dtype, Scalar::Int(1), &[Size::Const(1)]);
            (a.prim.concat(&[count, one], 0).reduce("max", &[0], false).convert(DType::I64).item_size(), count)
        }
    };
    let number = |size: Size<'c>| a.prim.range(DType::I64, size).convert(dtype);
    let wide = |t: Tensor<'c>| t.unsqueeze(1).unsqueeze(2);
    let place = number(places);
    let step = (place + 0.5) * wide(bin) / wide(count);
    let at = wide(start) + number(bins).unsqueeze(1) * wide(bin) + step;
    let taken = place.less(wide(count)).broadcast_to(&at.shape());
    let limit = a.prim.size_tensor(dtype, length);
    let inside = at.greater_equal(-1.0).and(at.less_equal(limit)).and(taken);
    let from = inside.select(at.maximum(0.0), 0.0);
    let last = length - 1;
    let low = from.floor().convert(DType::I64).minimum(last);
    let high = (low + 1).minimum(last);
    let part = low.less(last).select(from - low.convert(dtype), 0.0);
    Span { taps: Taps { low, high, part, inside }, count }
}

/// A convolution whose window reads where offsets say, each read maybe weighted.
fn deform_conv2d<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, weight, offset) = (a.tensor("input"), a.tensor("weight"), a.tensor("offset"));
    if x.rank() != 4 || weight.rank() != 4 || offset.rank() != 4 {
        a.fail("a deformable convolution takes tensors of rank 4");
        return x;
    }
    let (n, channels, shares, groups) = (x.size(0), x.size(1), a.size("offset_groups"), a.size("groups"));
    let (rows, cols, out) = (weight.size(2), weight.size(3), [offset.size(2), offset.size(3)]);
    let taps = rows * cols;
    let offset = offset.reshape(&[n, shares, taps, Size::Const(2), out[0], out[1]]);
    let shape = [n, shares, taps, out[0], out[1]];
    let tap = a.prim.range(DType::I64, taps);
    let window = [tap / a.prim.size_tensor(DType::I64, cols), tap % a.prim.size_tensor(DType::I64, cols)];
    // Where each tap reads along a dimension, and the two pixels beside it.
    let reads = |dim: usize, names: [&str; 3]| {
        let [stride, pad, dilation] = names.map(|name| a.size(name));
        let number = |size: Size<'c>| a.prim.size_tensor(DType::I64, size);
        let place = a.prim.range(DType::I64, out[dim]) * number(stride) - number(pad);
        let place = if dim == 0 { place.unsqueeze(1) } else { place };
        let moved = (window[dim] * number(dilation)).unsqueeze(1).unsqueeze(2) + place;
        let at = offset.at(3, dim as i64) + moved.convert(x.dtype()).broadcast_to(&[taps, out[0], out[1]]);
        let low = at.floor();
        let part = at - low;
        let length = x.size(2 + dim);
        let beside = |step: i64, share: Tensor<'c>| {
            let index = low.convert(DType::I64) + step;
            let inside = index.greater_equal(0).and(index.less(a.prim.size_tensor(DType::I64, length)));
            (index.maximum(0).minimum(length - 1), inside.select(share, 0.0))
        };
        // What is a pixel or more outside reads nothing.
        let inside = at.greater(-1.0).and(at.less(a.prim.size_tensor(x.dtype(), length)));
        let kept = |(index, share): (Tensor<'c>, Tensor<'c>)| (index, inside.select(share, 0.0));
        [kept(beside(0, -part + 1.0)), kept(beside(1, part))]
    };
    let (down, across) = (reads(0, ["stride_h", "pad_h", "dilation_h"]), reads(1, ["stride_w", "pad_w", "dilation_w"]));
    let image = x.reshape(&[n, shares, channels / shares, x.size(2), x.size(3)]);
    let place = |dim| a.prim.iota(DType::I64, &shape, dim);
    let read = |(y, share_y): (Tensor<'c>, Tensor<'c>), (x_at, share_x): (Tensor<'c>, Tensor<'c>)| {
        image.gather(&[place(0), place(1), y, x_at], &[0, 1, 3, 4]) * (share_y * share_x).unsqueeze(5)
    };
    let sum = read(down[0], across[0]) + read(down[0], across[1]) + read(down[1], across[0]) + read(down[1], across[1]);
    let sum = if a.bool("use_mask") { sum * a.tensor("mask").reshape(&shape).unsqueeze(5) } else { sum };
    // (n, shares, taps, rows, columns, channels of a share) to (n, groups, channels of a group and taps, places)
    let per_group = channels / groups * taps;
    let columns = sum.transpose(&[0, 1, 5, 2, 3, 4]).reshape(&[n, groups, per_group, product(&out)]);
    let kernel = weight.reshape(&[groups, weight.size(0) / groups, per_group]);
    let y = matmul(kernel, columns).reshape(&[n, weight.size(0), out[0], out[1]]);
    let bias = a.tensor("bias");
    if bias.numel().known() == Some(0) { y } else { y + bias.unsqueeze(1).unsqueeze(2) }
}
