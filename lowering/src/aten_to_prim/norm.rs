//! Normalisations and their gradients, vector and matrix norms.

use strata_dialects::aten::dtype::{DType, Numeric};
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Size, Tensor, product};

use super::args::Args;
use super::reduce::{extreme, reduced};
use super::rule::Precision::{Compute, Exact};
use super::rule::{Rule, many, one};
use super::spectrum::{Order, Svd};

pub(super) const RULES: &[Rule] = &[
    many(_BATCH_NORM_NO_UPDATE, Compute, |a| batch_norm(a, false, Parts::WithReserve)),
    many(_BATCH_NORM_WITH_UPDATE_FUNCTIONAL, Compute, |a| batch_norm(a, true, Parts::WithReserveAndRunning)),
    many(_FUSED_RMS_NORM, Compute, fused_rms_norm),
    many(_FUSED_RMS_NORM_BACKWARD, Compute, fused_rms_norm_backward),
    many(_NATIVE_BATCH_NORM_LEGIT_NO_STATS, Compute, |a| batch_norm(a, a.bool("training"), Parts::WithSaved)),
    many(_NATIVE_BATCH_NORM_LEGIT_FUNCTIONAL, Compute, |a| batch_norm(a, a.bool("training"), Parts::WithRunning)),
    many(_NATIVE_BATCH_NORM_LEGIT_NO_TRAINING, Compute, |a| batch_norm(a, false, Parts::WithSaved)),
    one(_WEIGHT_NORM, Compute, weight_norm),
    many(_WEIGHT_NORM_INTERFACE, Compute, weight_norm_interface),
    many(_WEIGHT_NORM_INTERFACE_BACKWARD, Compute, weight_norm_backward),
    many(BATCH_NORM, Compute, |a| batch_norm(a, a.bool("training"), Parts::Output)),
    many(BATCH_NORM_BACKWARD, Compute, |a| batch_norm_backward(a, "update", "save_var")),
    one(COSINE_SIMILARITY, Compute, cosine_similarity),
    one(FROBENIUS_NORM_DIM, Compute, |a| vector_norm(a.tensor("self"), 2.0, Some(&reduced(a)), a.bool("keepdim"))),
    one(GROUP_NORM, Compute, |a| group_norm(a, a.int("num_groups")).0),
    one(INSTANCE_NORM, Compute, instance_norm),
    one(LAYER_NORM, Compute, |a| layer_norm(a, "input").0),
    one(LINALG__POWSUM, Exact, powsum),
    one(LINALG_MATRIX_NORM, Compute, |a| matrix_norm(a, Order::number(a.float("ord")))),
    one(LINALG_MATRIX_NORM_STR_ORD, Compute, named_matrix_norm),
    one(LINALG_NORM, Compute, linalg_norm),
    one(LINALG_NORM_ORD_STR, Compute, named_matrix_norm),
    one(LINALG_VECTOR_NORM, Exact, linalg_vector_norm),
    many(NATIVE_BATCH_NORM, Compute, |a| batch_norm(a, a.bool("training"), Parts::WithSaved)),
    many(NATIVE_BATCH_NORM_BACKWARD, Compute, |a| batch_norm_backward(a, "train", "save_invstd")),
    many(NATIVE_GROUP_NORM, Compute, native_group_norm),
    many(NATIVE_GROUP_NORM_BACKWARD, Compute, group_norm_backward),
    many(NATIVE_LAYER_NORM, Compute, native_layer_norm),
    many(NATIVE_LAYER_NORM_BACKWARD, Compute, layer_norm_backward),
    one(NORM_SCALAR, Compute, |a| vector_norm(a.tensor("self"), a.float("p"), None, false)),
    one(NORM_SCALAROPT_DIM, Compute, |a| {
        vector_norm(a.tensor("self"), a.opt_float("p").unwrap_or(2.0), Some(&reduced(a)), a.bool("keepdim"))
    }),
    one(NORM_SCALAROPT_DIM_DTYPE, Exact, typed_norm),
    one(NORM_SCALAROPT_DTYPE, Exact, typed_norm),
    one(NORM_EXCEPT_DIM, Compute, |a| {
        let (x, dim) = (a.tensor("v"), a.int("dim"));
        let dims: Vec<_> = x.all_dims().into_iter().filter(|d| *d as i64 != dim).collect();
        vector_norm(x, a.int("pow") as f64, Some(&dims), dim >= 0)
    }),
    one(NUCLEAR_NORM, Compute, |a| matrix_norm(a, Order::Nuclear)),
    one(NUCLEAR_NORM_DIM, Compute, |a| matrix_norm(a, Order::Nuclear)),
    one(RENORM, Compute, renorm),
    one(RMS_NORM, Compute, rms_norm),
];

/// Mean and `1 / sqrt(variance + eps)` over some dimensions, kept with size 1.
pub(crate) fn moments<'c>(x: Tensor<'c>, dims: &[usize], eps: f64) -> (Tensor<'c>, Tensor<'c>, Tensor<'c>) {
    let mean = x.mean(dims, true);
    let variance = (x - mean).square().mean(dims, true);
    (mean, variance, (variance + eps).rsqrt())
}

fn scaled<'c>(x: Tensor<'c>, weight: Option<Tensor<'c>>, bias: Option<Tensor<'c>>) -> Tensor<'c> {
    let x = weight.map_or(x, |w| x * w);
    bias.map_or(x, |b| x + b)
}

// Layer normalisation: over the last dimensions.

/// The dimensions that a layer normalisation normalises over.
pub(crate) fn last_dims(a: &Args<'_>, rank: usize) -> Vec<usize> {
    let count = a.sizes("normalized_shape").len();
    (rank.saturating_sub(count)..rank).collect()
}

/// The layer normalisation of `x` over its last dimension.
pub(super) fn normalised_rows<'c>(x: Tensor<'c>, eps: f64, weight: Tensor<'c>, bias: Tensor<'c>) -> Tensor<'c> {
    let (mean, _, scale) = moments(x, &[x.rank() - 1], eps);
    scaled((x - mean) * scale, Some(weight), Some(bias))
}

fn layer_norm<'c>(a: &Args<'c>, input: &str) -> (Tensor<'c>, Tensor<'c>, Tensor<'c>) {
    let x = a.tensor(input);
    let (mean, _, scale) = moments(x, &last_dims(a, x.rank()), a.float("eps"));
    (scaled((x - mean) * scale, a.opt_tensor("weight"), a.opt_tensor("bias")), mean, scale)
}

fn native_layer_norm<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let (output, mean, scale) = layer_norm(a, "input");
    vec![output, mean, scale]
}

fn none<'c>(a: &Args<'c>) -> Tensor<'c> {
    a.prim.full(DType::F32, Scalar::Int(0), &[Size::Const(0)])
}

/// The results that are wanted; the others have no type.
pub(super) fn masked<'c>(a: &Args<'c>, results: Vec<Tensor<'c>>) -> Vec<Tensor<'c>> {
    let mask = a.bools("output_mask");
    results.into_iter().zip(mask).map(|(t, wanted)| if wanted { t } else { none(a) }).collect()
}

/// The gradient through `(x - mean) * scale` for the gradient of that and the normalised x.
fn normalised_gradient<'c>(grad: Tensor<'c>, normal: Tensor<'c>, scale: Tensor<'c>, dims: &[usize]) -> Tensor<'c> {
    let shift = grad.mean(dims, true);
    let tilt = (grad * normal).mean(dims, true);
    (grad - shift - normal * tilt) * scale
}

fn layer_norm_backward<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let (grad, x) = (a.tensor("grad_out"), a.tensor("input"));
    let dims = last_dims(a, x.rank());
    let rows: Vec<usize> = (0..x.rank()).filter(|d| !dims.contains(d)).collect();
    let scale = a.tensor("rstd");
    let normal = (x - a.tensor("mean")) * scale;
    let inner = a.opt_tensor("weight").map_or(grad, |w| grad * w);
    let input = normalised_gradient(inner, normal, scale, &dims);
    masked(a, vec![input, (grad * normal).reduce("sum", &rows, false), grad.reduce("sum", &rows, false)])
}

fn mean_square<'c>(a: &Args<'c>, x: Tensor<'c>) -> Tensor<'c> {
    let stored = a.raw("input").dtype();
    let eps = a.opt_float("eps").unwrap_or(match stored {
        DType::F64 => f64::EPSILON,
        _ => f64::from(f32::EPSILON),
    });
    (x.square().mean(&last_dims(a, x.rank()), true) + eps).rsqrt()
}

fn rms_norm<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("input");
    scaled(x * mean_square(a, x), a.opt_tensor("weight"), None)
}

fn fused_rms_norm<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let x = a.tensor("input");
    let scale = mean_square(a, x);
    vec![scaled(x * scale, a.opt_tensor("weight"), None), scale]
}

fn fused_rms_norm_backward<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let (grad, x, scale) = (a.tensor("grad_out"), a.tensor("input"), a.tensor("rstd"));
    let dims = last_dims(a, x.rank());
    let rows: Vec<usize> = (0..x.rank()).filter(|d| !dims.contains(d)).collect();
    let normal = x * scale;
    let inner = a.opt_tensor("weight").map_or(grad, |w| grad * w);
    let input = (inner - normal * (inner * normal).mean(&dims, true)) * scale;
    masked(a, vec![input, (grad * normal).reduce("sum", &rows, false)])
}

// Batch normalisation: over everything but the channels, dimension 1.

/// What a variant returns besides the output.
#[derive(Clone, Copy, PartialEq)]
enum Parts {
    Output,
    WithSaved,
    WithRunning,
    WithReserve,
    WithReserveAndRunning,
}

/// A vector over channels, to be used beside x.
pub(crate) fn channels<'c>(vector: Tensor<'c>, rank: usize) -> Tensor<'c> {
    vector.unsqueeze_to(rank.max(2) - 1)
}

fn batch_norm<'c>(a: &Args<'c>, training: bool, parts: Parts) -> Vec<Tensor<'c>> {
    let input = a.tensor("input");
    // A vector is one row of channels.
    let x = if input.rank() == 1 { input.unsqueeze(0) } else { input };
    let rank = x.rank();
    let dims: Vec<usize> = (0..rank).filter(|d| *d != 1).collect();
    let eps = a.float("eps");
    let running = |name: &str| if a.has(name) { a.opt_tensor(name) } else { None };
    let (old_mean, old_variance) = (running("running_mean"), running("running_var"));
    let statistics = if training { None } else { old_mean.zip(old_variance) };
    let vector = |t: Tensor<'c>| t.reshape(&[x.size(1)]);
    let (mean, variance, scale) = match statistics {
        Some((mean, variance)) => (channels(mean, rank), variance, channels((variance + eps).rsqrt(), rank)),
        None => moments(x, &dims, eps),
    };
    let affine = |name| a.opt_tensor(name).map(|t| channels(t, rank));
    let output = scaled((x - mean) * scale, affine("weight"), affine("bias"));
    let mut results = vec![output.reshape(&input.shape())];
    if parts == Parts::Output {
        return results;
    }
    // Saved statistics are those of the batch; there are none when running ones were used.
    let saved = if statistics.is_none() { vec![vector(mean), vector(scale)] } else { vec![none(a), none(a)] };
    results.extend(saved);
    if matches!(parts, Parts::WithReserve | Parts::WithReserveAndRunning) {
        results.push(a.prim.full(DType::U8, Scalar::Int(0), &[Size::Const(0)]));
    }
    if matches!(parts, Parts::WithRunning | Parts::WithReserveAndRunning) {
        let momentum = a.float("momentum");
        let count = product(&dims.iter().map(|d| x.size(*d)).collect::<Vec<_>>());
        let unbiased = |v: Tensor<'c>| {
            let n = a.prim.size_tensor(v.dtype(), count);
            vector(v) * (n / (n - 1.0))
        };
        let blend = |old: Tensor<'c>, new: Tensor<'c>| new * momentum + old * (1.0 - momentum);
        match (training, old_mean, old_variance) {
            (true, Some(m), Some(v)) => results.extend([blend(m, vector(mean)), blend(v, unbiased(variance))]),
            (_, m, v) => results.extend([m, v].into_iter().flatten()),
        }
    }
    results
}

/// Overloads call the flag, and the saved reciprocal of the deviation, by different names.
fn batch_norm_backward<'c>(a: &Args<'c>, train: &str, scale: &str) -> Vec<Tensor<'c>> {
    let (grad, x) = (a.tensor("grad_out"), a.tensor("input"));
    let (rank, train) = (x.rank(), a.bool(train));
    let dims: Vec<usize> = (0..rank).filter(|d| *d != 1).collect();
    let vector = |name: &str| a.opt_tensor(name).map(|t| channels(t, rank));
    let (mean, scale) = match train {
        true => (vector("save_mean"), vector(scale)),
        false => (vector("running_mean"), a.opt_tensor("running_var").map(|v| channels((v + a.float("eps")).rsqrt(), rank))),
    };
    let (Some(mean), Some(scale)) = (mean, scale) else {
        a.fail("the statistics that the gradient needs are missing");
        return vec![grad, grad, grad];
    };
    let normal = (x - mean) * scale;
    let inner = vector("weight").map_or(grad, |w| grad * w);
    let input = if train { normalised_gradient(inner, normal, scale, &dims) } else { inner * scale };
    masked(a, vec![input, (grad * normal).reduce("sum", &dims, false), grad.reduce("sum", &dims, false)])
}

fn instance_norm<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("input");
    let rank = x.rank();
    let (mean, scale) = match (a.bool("use_input_stats"), a.opt_tensor("running_mean"), a.opt_tensor("running_var")) {
        (false, Some(mean), Some(variance)) => (channels(mean, rank), channels((variance + a.float("eps")).rsqrt(), rank)),
        _ => {
            let (mean, _, scale) = moments(x, &(2..rank).collect::<Vec<_>>(), a.float("eps"));
            (mean, scale)
        }
    };
    let affine = |name| a.opt_tensor(name).map(|t| channels(t, rank));
    scaled((x - mean) * scale, affine("weight"), affine("bias"))
}

// Group normalisation: the channels of a group and all space.

/// x as (batch, groups, channels of a group, space): the dimensions of space stay, so that a tensor may keep its channels last.
fn grouped<'c>(x: Tensor<'c>, groups: i64) -> Tensor<'c> {
    let mut shape = x.shape().to_vec();
    shape.splice(1..2, [groups.into(), x.size(1) / groups]);
    x.reshape(&shape)
}

/// A vector over channels, to be used beside such an x of this rank before it was grouped.
fn grouped_channels<'c>(vector: Tensor<'c>, groups: i64, rank: usize) -> Tensor<'c> {
    vector.reshape(&[groups.into(), vector.size(0) / groups]).unsqueeze_to(rank)
}

/// The output, mean and `1 / sqrt(variance + eps)`, these with every dimension behind the groups of size 1.
fn group_norm<'c>(a: &Args<'c>, groups: i64) -> (Tensor<'c>, Tensor<'c>, Tensor<'c>) {
    let x = a.tensor("input");
    let grouped = grouped(x, groups);
    let (mean, _, scale) = moments(grouped, &behind_groups(x.rank()), a.float("eps"));
    let affine = |name| a.opt_tensor(name).map(|t| grouped_channels(t, groups, x.rank()));
    let (weight, bias) = (affine("weight"), affine("bias"));
    let Some(weight) = weight else { return (scaled((grouped - mean) * scale, None, bias).reshape(&x.shape()), mean, scale) };
    // As in eager PyTorch one product and one sum for each element: the rest is done once for each channel.
    let factor = weight * scale;
    let shift = bias.map_or(-(mean * factor), |b| b - mean * factor);
    ((grouped * factor + shift).reshape(&x.shape()), mean, scale)
}

/// What a group is reduced over, of an x of this rank before it was grouped.
fn behind_groups(rank: usize) -> Vec<usize> {
    (2..=rank).collect()
}

fn native_group_norm<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let (output, mean, scale) = group_norm(a, a.int("group"));
    let dims = behind_groups(a.tensor("input").rank());
    vec![output, mean.squeeze(&dims), scale.squeeze(&dims)]
}

fn group_norm_backward<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let (x, groups) = (a.tensor("input"), a.int("group"));
    let rank = x.rank();
    let statistic = |name: &str| a.tensor(name).unsqueeze_to(rank + 1);
    let (grad, scale) = (grouped(a.tensor("grad_out"), groups), statistic("rstd"));
    let normal = (grouped(x, groups) - statistic("mean")) * scale;
    let inner = a.opt_tensor("weight").map_or(grad, |w| grad * grouped_channels(w, groups, rank));
    let input = normalised_gradient(inner, normal, scale, &behind_groups(rank)).reshape(&x.shape());
    let rest: Vec<usize> = (0..=rank).filter(|d| ![1, 2].contains(d)).collect();
    let over_channels = |t: Tensor<'c>| t.reduce("sum", &rest, false).reshape(&[x.size(1)]);
    masked(a, vec![input, over_channels(grad * normal), over_channels(grad)])
}

// Norms.

/// The p-norm over some dimensions, or all of them.
pub(super) fn vector_norm<'c>(x: Tensor<'c>, p: f64, dims: Option<&[usize]>, keep: bool) -> Tensor<'c> {
    let all = x.all_dims();
    let dims = dims.filter(|_| x.rank() > 0).unwrap_or(&all);
    let x = x.abs();
    match p {
        0.0 => x.not_equal(0).convert(x.dtype()).reduce("sum", dims, keep),
        1.0 => x.reduce("sum", dims, keep),
        2.0 => x.square().reduce("sum", dims, keep).sqrt(),
        f64::INFINITY => extreme(x, "max", dims, keep),
        f64::NEG_INFINITY => extreme(x, "min", dims, keep),
        _ => x.pow(p).reduce("sum", dims, keep).pow(1.0 / p),
    }
}

fn linalg_vector_norm<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let x = if x.dtype().is_complex() { x.abs() } else { x };
    let declared = a.result_dtype(0);
    let norm = vector_norm(x.convert(declared.compute()), a.float("ord"), Some(&reduced(a)), a.bool("keepdim"));
    norm.convert(declared)
}

/// A vector norm without its root.
fn powsum<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let x = if x.dtype().is_complex() { x.abs() } else { x };
    let (declared, p) = (a.result_dtype(0), a.float("ord"));
    let power = x.convert(declared.compute()).abs().pow(p);
    power.reduce("sum", &reduced(a), a.bool("keepdim")).convert(declared)
}

/// The norm in the type that is asked for.
fn typed_norm<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let x = if x.dtype().is_complex() { x.abs() } else { x };
    let (declared, p) = (a.result_dtype(0), a.opt_float("p").unwrap_or(2.0));
    let dims = if a.has("dim") { reduced(a) } else { x.all_dims() };
    vector_norm(x.convert(declared.compute()), p, Some(&dims), a.has("keepdim") && a.bool("keepdim")).convert(declared)
}

fn named_matrix_norm<'c>(a: &Args<'c>) -> Tensor<'c> {
    matrix_norm(a, Order::named(a, "ord"))
}

fn matrix_norm<'c>(a: &Args<'c>, order: Order) -> Tensor<'c> {
    let x = a.tensor("self");
    let mut dims = reduced(a);
    if dims.len() != 2 {
        dims = (x.rank().saturating_sub(2)..x.rank()).collect();
    }
    matrix_norm_of(x, order, &dims, a.bool("keepdim"))
}

/// The norm of the matrices in two dimensions.
pub(super) fn matrix_norm_of<'c>(x: Tensor<'c>, order: Order, dims: &[usize], keep: bool) -> Tensor<'c> {
    let &[row, col] = dims else {
        x.prim().fail("a matrix norm is over two dimensions");
        return x;
    };
    let shrunk = |norm: Tensor<'c>, kind: &str, dim: usize| {
        // Of no sums the largest and the smallest are 0.
        let none = norm.size(dim).known() == Some(0);
        let norm = if none { norm.sum_keep(&[dim]) } else { norm.reduce(kind, &[dim], true) };
        if keep { norm } else { norm.squeeze(dims) }
    };
    let kind = |order: f64| if order > 0.0 { "max" } else { "min" };
    match order {
        Order::Frobenius => vector_norm(x, 2.0, Some(dims), keep),
        Order::Sums(order) if order.abs() == 1.0 => shrunk(x.abs().sum_keep(&[row]), kind(order), col),
        Order::Sums(order) if order.is_infinite() => shrunk(x.abs().sum_keep(&[col]), kind(order), row),
        Order::Sums(order) => {
            x.prim().fail(format!("there is no matrix norm of order {order}"));
            x
        }
        Order::Nuclear | Order::Spectral(_) => {
            let mut perm: Vec<usize> = x.all_dims().into_iter().filter(|d| !dims.contains(d)).collect();
            perm.extend(dims);
            let values = Svd::of(x.transpose(&perm), false).s;
            let last = [values.rank() - 1];
            let norm = match order {
                // Singular values are not negative; the largest of none is 0.
                Order::Spectral(order) if order > 0.0 => values.reduce("max", &last, false).maximum(0),
                Order::Spectral(_) => values.reduce("min", &last, false),
                _ => values.reduce("sum", &last, false),
            };
            let mut ascending = dims.to_vec();
            ascending.sort_unstable();
            if keep { ascending.into_iter().fold(norm, |norm, dim| norm.unsqueeze(dim)) } else { norm }
        }
    }
}

/// Without an order the vector norm of everything; with one a vector or matrix norm by the number of dimensions.
fn linalg_norm<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, dims, order) = (a.tensor("self"), reduced(a), a.opt_float("ord"));
    match order {
        Some(order) if if a.given("dim") { dims.len() == 2 } else { x.rank() == 2 } => matrix_norm(a, Order::number(order)),
        _ => vector_norm(x, order.unwrap_or(2.0), Some(&dims), a.bool("keepdim")),
    }
}

fn cosine_similarity<'c>(a: &Args<'c>) -> Tensor<'c> {
    let [x, y] = a.prim.broadcast([a.tensor("x1"), a.tensor("x2")]);
    if x.rank() == 0 {
        let unit = |t: Tensor<'c>| t / t.abs().maximum(a.float("eps"));
        return unit(x) * unit(y);
    }
    let (dim, eps) = (a.dim("dim", x.rank()), a.float("eps"));
    let unit = |t: Tensor<'c>| t / vector_norm(t, 2.0, Some(&[dim]), true).maximum(eps);
    (unit(x) * unit(y)).reduce("sum", &[dim], false)
}

/// Scales sub-tensors along a dimension whose norm is above `maxnorm`.
fn renorm<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let (dim, limit) = (a.dim("dim", x.rank()), a.float("maxnorm"));
    let others: Vec<usize> = (0..x.rank()).filter(|d| *d != dim).collect();
    let norm = vector_norm(x, a.float("p"), Some(&others), true);
    let factor = (norm + 1e-7).reciprocal() * limit;
    x * norm.greater(limit).select(factor, 1.0).convert(x.dtype())
}

/// The norm over all dimensions but `dim`.
fn norm_except<'c>(a: &Args<'c>, v: Tensor<'c>) -> Tensor<'c> {
    let dim = a.int("dim");
    let others: Vec<usize> = (0..v.rank()).filter(|d| dim == -1 || *d != a.wrap(dim, v.rank())).collect();
    vector_norm(v, 2.0, Some(&others), true)
}

fn weight_norm<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (v, g) = (a.tensor("v"), a.tensor("g"));
    v * (g / norm_except(a, v))
}

fn weight_norm_interface<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let (v, g) = (a.tensor("v"), a.tensor("g"));
    let norm = norm_except(a, v);
    vec![v * (g / norm), norm]
}

/// The gradients of `v` and `g` for `w = v g / |v|`.
fn weight_norm_backward<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let (grad, v, g, norm) = (a.tensor("grad_w"), a.tensor("saved_v"), a.tensor("saved_g"), a.tensor("saved_norms"));
    let dim = a.dim("dim", v.rank());
    let others: Vec<usize> = (0..v.rank()).filter(|d| *d != dim).collect();
    let along = (grad * v).sum_keep(&others);
    vec![(grad - v * (along / norm.square())) * (g / norm), along / norm]
}
