//! Gradients of sums of products.

use strata_dialects::capture::inverse;
use strata_dialects::prim;
use strata_dialects::prim_builder::{Scalar, Size, Tensor};

use super::rule::Rule::Custom;
use super::rule::{At, Cotangents, Row, prim_rows};

prim_rows! {
    /// For lhs the convolution of `g`, spread by the strides, with the reversed weights; for rhs that of lhs with `g` over the batch.
    /// PyTorch: `convolution_backward`.
    Conv => Custom(conv);
    /// `g` times rhs, and lhs times `g`. PyTorch: `mm`, `bmm`.
    Dot => Custom(dot);
}

fn dot<'c>(at: &At<'c>) -> Cotangents<'c> {
    let g = at.g();
    let [lb, rb, lc, rc] = ["lhs_batch", "rhs_batch", "lhs_contract", "rhs_contract"].map(|name| at.dims(name));
    let free = |rank: usize, batch: &[usize], contract: &[usize]| {
        (0..rank).filter(|dim| !batch.contains(dim) && !contract.contains(dim)).collect::<Vec<_>>()
    };
    let (lhs, rhs) = (at.x(0), at.x(1));
    let (lf, rf) = (free(lhs.rank(), &lb, &lc), free(rhs.rank(), &rb, &rc));
    // The dims of g: the batch, those of lhs, those of rhs.
    let batch: Vec<_> = (0..lb.len()).collect();
    let left: Vec<_> = (lb.len()..lb.len() + lf.len()).collect();
    let right: Vec<_> = (lb.len() + lf.len()..g.rank()).collect();
    at.each(|operand| {
        if operand == 0 {
            // Dims: the batch, those of lhs, then the contracted ones in the order of rhs.
            let product = g.dot(rhs.conj(), (&batch, &rb), (&right, &rf));
            let contracted = sorted_with(&rc, &lc);
            return Some(product.transpose(&inverse(&[lb.clone(), lf.clone(), contracted].concat())));
        }
        let product = g.dot(lhs.conj(), (&batch, &lb), (&left, &lf));
        let contracted = sorted_with(&lc, &rc);
        Some(product.transpose(&inverse(&[rb.clone(), rf.clone(), contracted].concat())))
    })
}

/// The partners of dims in the order in which a product has the dims: ascending.
fn sorted_with(dims: &[usize], partners: &[usize]) -> Vec<usize> {
    let mut pairs: Vec<_> = dims.iter().copied().zip(partners.iter().copied()).collect();
    pairs.sort_unstable();
    pairs.into_iter().map(|(_, partner)| partner).collect()
}

/// The numbers of a convolution along one spatial dim.
struct Along {
    stride: i64,
    low: i64,
    high: i64,
    lhs_dilation: i64,
    rhs_dilation: i64,
}

fn conv<'c>(at: &At<'c>) -> Cotangents<'c> {
    if at.op.attr("layout").is_some() {
        return at.refuse("a convolution with another layout; differentiate before --channels-last");
    }
    let ints = |name: &str| at.op.ints(name).unwrap_or_default();
    let [strides, low, high, spread, dilation] = ["strides", "low", "high", "lhs_dilation", "rhs_dilation"].map(ints);
    let along = |k: usize| Along { stride: strides[k], low: low[k], high: high[k], lhs_dilation: spread[k], rhs_dilation: dilation[k] };
    let space: Vec<_> = (0..strides.len()).map(along).collect();
    let groups = at.op.int("groups").unwrap_or(1);
    at.each(|operand| Some(if operand == 0 { by_input(at, &space, groups) } else { by_weight(at, &space, groups) }))
}

/// The size of an image along a dim, spread and padded.
fn padded<'c>(image: Tensor<'c>, dim: usize, along: &Along) -> Size<'c> {
    (image.size(dim) - 1) * along.lhs_dilation + (1 + along.low + along.high)
}

/// One convolution with numbers for each spatial dim.
fn convolution<'c>(at: &At<'c>, lhs: Tensor<'c>, rhs: Tensor<'c>, space: &[Along], groups: i64) -> Tensor<'c> {
    let cx = at.prim.cx();
    let list = |of: fn(&Along) -> i64| cx.i64s_attr(&space.iter().map(of).collect::<Vec<_>>());
    let size = |k: usize| {
        let along = &space[k];
        let extent = padded(lhs, k + 2, along);
        let window = (rhs.size(k + 2) - 1) * along.rhs_dilation + 1;
        (extent - window) / along.stride + 1
    };
    let shape: Vec<_> = [lhs.size(0), rhs.size(0)].into_iter().chain((0..space.len()).map(size)).collect();
    let attrs = [
        ("strides", list(|along| along.stride)),
        ("low", list(|along| along.low)),
        ("high", list(|along| along.high)),
        ("lhs_dilation", list(|along| along.lhs_dilation)),
        ("rhs_dilation", list(|along| along.rhs_dilation)),
        ("groups", cx.i64_attr(groups)),
    ];
    at.prim.emit(prim::Conv::NAME, &[lhs.value(), rhs.value()], &attrs, lhs.dtype(), shape)
}

/// The size of a window, which the padding of a gradient is made of.
fn window_size<'c>(at: &At<'c>, weight: Tensor<'c>, dim: usize) -> i64 {
    weight.size(dim).known().unwrap_or_else(|| {
        at.prim.fail("a convolution with a window whose size is not known");
        1
    })
}

fn by_input<'c>(at: &At<'c>, space: &[Along], groups: i64) -> Tensor<'c> {
    let (g, x, weight) = (at.g(), at.x(0), at.x(1));
    let windows: Vec<_> = (2..weight.rank()).collect();
    // Weights of a group with features and channels exchanged.
    let (features, channels) = (weight.size(0) / groups, weight.size(1));
    let sizes = weight.shape()[2..].to_vec();
    let split = weight.conj().reverse(&windows).reshape(&[&[Size::Const(groups), features, channels], sizes.as_slice()].concat());
    let exchanged = split.swap(1, 2).reshape(&[&[channels * groups, features], sizes.as_slice()].concat());
    let transposed = |k: usize| {
        let along = &space[k];
        let reach = (window_size(at, weight, k + 2) - 1) * along.rhs_dilation;
        // The last window may end before the padded input does: up to a stride more is computed, and cropped.
        Along {
            stride: along.lhs_dilation,
            low: reach - along.low,
            high: reach - along.high + along.stride - 1,
            lhs_dilation: along.stride,
            rhs_dilation: along.rhs_dilation,
        }
    };
    let transposed: Vec<_> = (0..space.len()).map(transposed).collect();
    let mut gradient = convolution(at, g, exchanged, &transposed, groups);
    for dim in 2..x.rank() {
        gradient = gradient.pad_dim(dim, Scalar::Int(0), 0, x.size(dim) - gradient.size(dim));
    }
    gradient
}

/// An image whose channels of a group are its batch, and whose batch of each group its channels.
fn exchanged<'c>(image: Tensor<'c>, groups: i64) -> Tensor<'c> {
    let (batch, channels, sizes) = (image.size(0), image.size(1) / groups, image.shape()[2..].to_vec());
    let split = image.reshape(&[&[batch, Size::Const(groups), channels], sizes.as_slice()].concat());
    split.swap(0, 2).reshape(&[&[channels, batch * groups], sizes.as_slice()].concat())
}

fn by_weight<'c>(at: &At<'c>, space: &[Along], groups: i64) -> Tensor<'c> {
    let (g, x, weight) = (at.g(), at.x(0), at.x(1));
    let windows = 2..weight.rank();
    if groups == 1 && windows.clone().all(|dim| weight.size(dim).known() == Some(1)) && space.iter().all(|along| along.lhs_dilation == 1) {
        // Windows of one place: a product over the batch and all windows.
        let read = |x: Tensor<'c>, (dim, along): (usize, &Along)| {
            x.pad_dim(dim, Scalar::Int(0), along.low, along.high).slice(dim, 0, g.size(dim), along.stride)
        };
        let places = windows.zip(space).fold(x.conj(), read);
        let summed: Vec<_> = (0..weight.rank()).filter(|dim| *dim != 1).collect();
        return g.dot(places, (&[], &[]), (&summed, &summed)).reshape(&weight.shape());
    }
    if space.iter().any(|along| along.lhs_dilation > 1) && space.iter().all(|along| along.stride == 1) {
        return by_weight_of_spread(at, space, groups);
    }
    let lines = exchanged(x.conj(), groups);
    let turned = |(along, dim): (&Along, usize)| {
        let read = (g.size(dim) - 1) * along.stride + (weight.size(dim) - 1) * along.rhs_dilation + 1;
        // What the last window leaves over of the padded input is not read.
        let over = (padded(x, dim, along) - read).known().unwrap_or_default();
        Along {
            stride: along.rhs_dilation,
            low: along.low,
            high: along.high - over,
            lhs_dilation: along.lhs_dilation,
            rhs_dilation: along.stride,
        }
    };
    let turned: Vec<_> = space.iter().zip(windows.clone()).map(turned).collect();
    let mut gradient = convolution(at, lines, g.swap(0, 1), &turned, groups);
    for dim in windows {
        // Where sizes are not known, that gives positions beyond the window.
        gradient = gradient.slice(dim, 0, weight.size(dim), 1);
    }
    gradient.swap(0, 1)
}

/// The same of an image that is spread, as by a transposed convolution: `g` is the image and what is spread the window, whose zeros are not
/// multiplied. The results come in reverse.
fn by_weight_of_spread<'c>(at: &At<'c>, space: &[Along], groups: i64) -> Tensor<'c> {
    let (g, x, weight) = (at.g(), at.x(0), at.x(1));
    let features = g.size(1) / groups;
    let turned = |k: usize| {
        let along = &space[k];
        let reach = (window_size(at, weight, k + 2) - 1) * along.rhs_dilation;
        Along {
            stride: along.rhs_dilation,
            low: reach - along.low,
            high: reach - along.high,
            lhs_dilation: 1,
            rhs_dilation: along.lhs_dilation,
        }
    };
    let turned: Vec<_> = (0..space.len()).map(turned).collect();
    let gradient = convolution(at, exchanged(g, groups), x.conj().swap(0, 1), &turned, groups);
    // Dims: features of a group, the groups' channels, the window.
    let window = gradient.shape()[2..].to_vec();
    let split = gradient.reshape(&[&[features, Size::Const(groups), weight.size(1)], window.as_slice()].concat());
    let joined = split.swap(0, 1).reshape(&[&[features * groups, weight.size(1)], window.as_slice()].concat());
    joined.reverse(&(2..weight.rank()).collect::<Vec<_>>())
}
