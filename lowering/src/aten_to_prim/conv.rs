//! Convolutions, transposed convolutions and their gradients.

use super::args::Args;
use super::rule::Precision::Wide;
use super::rule::{Rule, many, one};
use strata_dialects::aten::op::*;
use strata_dialects::prim;
use strata_dialects::prim::layout::ConvLayout;
use strata_dialects::prim::sizes::{self, Space};
use strata_dialects::prim_builder::{Scalar, Size, Tensor};

pub(super) const RULES: &[Rule] = &[
    one(_CONVOLUTION, Wide, convolution),
    one(_CONVOLUTION_DEPRECATED, Wide, convolution),
    one(_CONVOLUTION_MODE, Wide, conv),
    one(CONV1D, Wide, conv),
    one(CONV1D_PADDING, Wide, conv),
    one(CONV2D, Wide, conv),
    one(CONV2D_PADDING, Wide, conv),
    one(CONV3D, Wide, conv),
    one(CONV3D_PADDING, Wide, conv),
    one(CONV_TBC, Wide, conv_tbc),
    one(CONV_TRANSPOSE1D, Wide, conv_transpose),
    one(CONV_TRANSPOSE2D_INPUT, Wide, conv_transpose),
    one(CONV_TRANSPOSE3D_INPUT, Wide, conv_transpose),
    one(CONVOLUTION, Wide, convolution),
    many(CONVOLUTION_BACKWARD, Wide, convolution_backward),
];

/// The attributes of `prim.conv`, one entry per spatial dimension.
struct Window {
    strides: Vec<i64>,
    low: Vec<i64>,
    high: Vec<i64>,
    spread: Vec<i64>,
    dilation: Vec<i64>,
    groups: i64,
}

impl Window {
    fn apply<'c>(&self, x: Tensor<'c>, weight: Tensor<'c>) -> Tensor<'c> {
        if x.dtype() != weight.dtype() || x.rank() != weight.rank() {
            x.prim().fail(format!("a convolution of {} with {}", x.ty(), weight.ty()));
            return x;
        }
        let of_result = sizes::conv(
            &ConvLayout::plain(self.strides.len()),
            &Space { strides: &self.strides, low: &self.low, high: &self.high, lhs_dilation: &self.spread, rhs_dilation: &self.dilation },
        );
        let shape = x.prim().sizes(of_result, &[x, weight], &[]);
        let cx = x.prim().cx();
        let attrs = [
            ("strides", cx.i64s_attr(&self.strides)),
            ("low", cx.i64s_attr(&self.low)),
            ("high", cx.i64s_attr(&self.high)),
            ("lhs_dilation", cx.i64s_attr(&self.spread)),
            ("rhs_dilation", cx.i64s_attr(&self.dilation)),
            ("groups", cx.i64_attr(self.groups)),
        ];
        x.prim().emit(prim::Conv::NAME, &[x.value(), weight.value()], &attrs, x.dtype(), shape)
    }
}

/// A list argument with one entry per spatial dimension; one entry stands for all.
fn per_dim(a: &Args<'_>, name: &str, space: usize, default: i64) -> Vec<i64> {
    let list = if a.has(name) { a.ints(name) } else { Vec::new() };
    match list.as_slice() {
        [] => vec![default; space],
        [one] => vec![*one; space],
        _ if list.len() == space => list,
        _ => {
            a.fail(format!("`{name}` has {} entries for {space} dimensions", list.len()));
            vec![default; space]
        }
    }
}

fn constants(sizes: &[Size<'_>], x: Tensor<'_>) -> Vec<i64> {
    let known = |s: &Size<'_>| {
        s.known().unwrap_or_else(|| {
            x.prim().fail("a convolution with a window of unknown size, or a gradient of unknown size");
            1
        })
    };
    sizes.iter().map(known).collect()
}

/// Channel c of the result gets bias c.
fn with_bias<'c>(y: Tensor<'c>, bias: Option<Tensor<'c>>) -> Tensor<'c> {
    match bias {
        Some(bias) => y + bias.unsqueeze_to(y.rank() - 1),
        None => y,
    }
}

/// Runs a batched convolution on an input with or without a batch dimension.
fn batched<'c>(a: &Args<'c>, f: impl Fn(Tensor<'c>, Tensor<'c>) -> Tensor<'c>) -> Tensor<'c> {
    let (x, weight) = (a.tensor("input"), a.tensor("weight"));
    if x.rank() + 1 == weight.rank() {
        return f(x.unsqueeze(0), weight).squeeze(&[0]);
    }
    f(x, weight)
}

fn conv<'c>(a: &Args<'c>) -> Tensor<'c> {
    batched(a, |x, weight| {
        let space = weight.rank().saturating_sub(2);
        let dilation = per_dim(a, "dilation", space, 1);
        let (low, high) = if a.is_list("padding") {
            let padding = per_dim(a, "padding", space, 0);
            (padding.clone(), padding)
        } else if a.str("padding") == "same" {
            let reach = constants(&weight.shape()[2..], x).into_iter().zip(&dilation).map(|(w, d)| (w - 1) * d);
            reach.map(|total| (total / 2, total - total / 2)).unzip()
        } else {
            (vec![0; space], vec![0; space])
        };
        let strides = per_dim(a, "stride", space, 1);
        let window = Window { strides, low, high, spread: vec![1; space], dilation, groups: a.int("groups") };
        with_bias(window.apply(x, weight), a.opt_tensor("bias"))
    })
}

/// A convolution along the first dimension: time, batch, channels.
fn conv_tbc<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, weight) = (a.tensor("self"), a.tensor("weight"));
    if x.rank() != 3 || weight.rank() != 3 {
        a.fail("a convolution of time, batch and channels takes tensors of rank 3");
        return x;
    }
    let pad = vec![a.int("pad")];
    let window = Window { strides: vec![1], low: pad.clone(), high: pad, spread: vec![1], dilation: vec![1], groups: 1 };
    let y = window.apply(x.transpose(&[1, 2, 0]), weight.transpose(&[2, 1, 0]));
    with_bias(y, a.opt_tensor("bias")).transpose(&[2, 0, 1])
}

/// Exchanges input and output channels of each group and reverses the window.
fn reversed(weight: Tensor<'_>, groups: i64) -> Tensor<'_> {
    let shape = weight.shape();
    let (ins, outs) = (shape[0] / groups, shape[1]);
    let grouped = weight.reshape(&[&[groups.into(), ins, outs], &shape[2..]].concat()).swap(1, 2);
    let merged = grouped.reshape(&[&[outs * groups, ins], &shape[2..]].concat());
    merged.reverse(&(2..shape.len()).collect::<Vec<_>>())
}

fn transposed<'c>(a: &Args<'c>, x: Tensor<'c>, weight: Tensor<'c>) -> Tensor<'c> {
    let space = weight.rank().saturating_sub(2);
    let (padding, dilation) = (per_dim(a, "padding", space, 0), per_dim(a, "dilation", space, 1));
    let extra = per_dim(a, "output_padding", space, 0);
    let window = constants(&weight.shape()[2..], x);
    let low: Vec<i64> = (0..space).map(|k| dilation[k] * (window[k] - 1) - padding[k]).collect();
    let high = low.iter().zip(&extra).map(|(l, e)| l + e).collect();
    let (spread, groups) = (per_dim(a, "stride", space, 1), a.int("groups"));
    let conv = Window { strides: vec![1; space], low, high, spread, dilation, groups };
    with_bias(conv.apply(x, reversed(weight, groups)), a.opt_tensor("bias"))
}

fn conv_transpose<'c>(a: &Args<'c>) -> Tensor<'c> {
    batched(a, |x, weight| transposed(a, x, weight))
}

fn convolution<'c>(a: &Args<'c>) -> Tensor<'c> {
    if a.bool("transposed") { conv_transpose(a) } else { conv(a) }
}

/// Gradients of input, weight and bias, as far as asked for.
fn convolution_backward<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let (grad, x, weight) = (a.tensor("grad_output"), a.tensor("input"), a.tensor("weight"));
    let space = weight.rank().saturating_sub(2);
    let (strides, padding, dilation) = (per_dim(a, "stride", space, 1), per_dim(a, "padding", space, 0), per_dim(a, "dilation", space, 1));
    let (groups, mask) = (a.int("groups"), a.bools("output_mask"));
    let none = || a.prim.full(x.dtype(), Scalar::Int(0), &[0.into()]);
    let wanted = |i: usize| mask.get(i).copied().unwrap_or(true);
    let sizes = |t: Tensor<'c>| constants(&t.shape()[2..], t);
    let (input, window, output) = (sizes(x), sizes(weight), sizes(grad));
    let transposed = a.bool("transposed");
    let by_channel: Vec<usize> = (0..grad.rank()).filter(|d| *d != 1).collect();
    let input_gradient = || {
        if transposed {
            // What output padding added behind the last step is left out.
            let reach = |k: usize| dilation[k] * (window[k] - 1) + 1 + (input[k] - 1) * strides[k];
            let gradient = Window {
                strides: strides.clone(),
                low: padding.clone(),
                high: (0..space).map(|k| reach(k) - output[k] - padding[k]).collect(),
                spread: vec![1; space],
                dilation: dilation.clone(),
                groups,
            };
            return gradient.apply(grad, weight);
        }
        let low: Vec<i64> = (0..space).map(|k| dilation[k] * (window[k] - 1) - padding[k]).collect();
        let high = (0..space).map(|k| input[k] - 1 - (output[k] - 1) * strides[k] - low[k] + dilation[k] * (window[k] - 1)).collect();
        let gradient = Window { strides: vec![1; space], low, high, spread: strides.clone(), dilation: dilation.clone(), groups };
        gradient.apply(grad, reversed(weight, groups))
    };
    // The window slides over what is larger: the input, or the output of a transposed convolution.
    let weight_gradient = || {
        let (wide, narrow, from, to) = if transposed { (grad, x, &output, &input) } else { (x, grad, &input, &output) };
        let high = (0..space).map(|k| (window[k] - 1) * dilation[k] + (to[k] - 1) * strides[k] + 1 - from[k] - padding[k]).collect();
        let conv =
            Window { strides: dilation.clone(), low: padding.clone(), high, spread: vec![1; space], dilation: strides.clone(), groups };
        let shape = wide.shape();
        // Batch and channels change places; the channels of a group become the batch.
        let lhs = wide.reshape(&[&[shape[0], groups.into(), shape[1] / groups], &shape[2..]].concat());
        let lhs = lhs.transpose(&[vec![2, 1, 0], (3..lhs.rank()).collect()].concat());
        let lhs = lhs.reshape(&[&[shape[1] / groups, shape[0] * groups], &shape[2..]].concat());
        conv.apply(lhs, narrow.swap(0, 1)).swap(0, 1)
    };
    vec![
        if wanted(0) { input_gradient() } else { none() },
        if wanted(1) { weight_gradient() } else { none() },
        if wanted(2) { grad.reduce("sum", &by_channel, false) } else { none() },
    ]
}
