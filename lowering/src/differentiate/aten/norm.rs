//! Normalisations: PyTorch's formulas take two sums over what was normalised, where the derivative of a decomposition takes five, and read the
//! input where it would read every step.

use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::Tensor;

use super::super::rule::Rule::Arguments;
use super::super::rule::{At, Cotangents, Row};
use super::rows;
use crate::aten_to_prim::Args;
use crate::aten_to_prim::norm::{channels, last_dims, moments};

rows! {
    /// As `native_batch_norm`.
    BATCH_NORM => Arguments(|at, a| batch_norm(at, a, a.bool("training")));
    /// `native_layer_norm_backward`: as `native_batch_norm`, over the last dimensions.
    LAYER_NORM => Arguments(layer_norm);
    /// With `n = (x - mean) * s` and means over all but the channels: `w * s * (g - mean(g) - n * mean(g * n))`, or `w * s * g` by running
    /// statistics; `sum(g * n)` and `sum(g)`. PyTorch: `native_batch_norm_backward`.
    NATIVE_BATCH_NORM => Arguments(|at, a| batch_norm(at, a, a.bool("training")));
    /// As `layer_norm`.
    NATIVE_LAYER_NORM => Arguments(layer_norm);
    /// As `native_batch_norm`.
    _BATCH_NORM_WITH_UPDATE_FUNCTIONAL => Arguments(|at, a| batch_norm(at, a, true));
    /// As `native_batch_norm`.
    _NATIVE_BATCH_NORM_LEGIT_FUNCTIONAL => Arguments(|at, a| batch_norm(at, a, a.bool("training")));
    /// As `native_batch_norm`.
    _NATIVE_BATCH_NORM_LEGIT_NO_STATS => Arguments(|at, a| batch_norm(at, a, a.bool("training")));
    /// As `native_batch_norm`.
    _NATIVE_BATCH_NORM_LEGIT_NO_TRAINING => Arguments(|at, a| batch_norm(at, a, false));
}

/// `g - mean(g) - n * mean(g * n)`, of the sums of `g` and of `g * n` over `dims`, which these keep.
fn centred<'c>(g: Tensor<'c>, normal: Tensor<'c>, sums: [Tensor<'c>; 2], dims: &[usize]) -> Tensor<'c> {
    let [shift, tilt] = sums.map(|sum| sum / g.count(dims));
    g - shift - normal * tilt
}

fn batch_norm<'c>(at: &At<'c>, a: &Args<'c>, training: bool) -> Cotangents<'c> {
    let (input, g) = (a.tensor("input"), at.wide_g());
    // A vector is one row of channels.
    let whole = |tensor: Tensor<'c>| if tensor.rank() == 1 { tensor.unsqueeze(0) } else { tensor };
    let (x, g) = (whole(input), whole(g));
    let dims: Vec<usize> = (0..x.rank()).filter(|dim| *dim != 1).collect();
    let given = |name: &str| if a.has(name) { a.opt_tensor(name) } else { None };
    let running = given("running_mean").zip(given("running_var")).filter(|_| !training);
    let (mean, scale) = match running {
        Some((mean, variance)) => (channels(mean, x.rank()), channels((variance + a.float("eps")).rsqrt(), x.rank())),
        None => {
            let (mean, _, scale) = moments(x, &dims, a.float("eps"));
            (mean, scale)
        }
    };
    let normal = (x - mean) * scale;
    let sums = [g, g * normal].map(|part| part.reduce("sum", &dims, true));
    let slope = given("weight").map_or(scale, |weight| scale * channels(weight, x.rank()));
    let inner = if running.is_some() { g } else { centred(g, normal, sums, &dims) };
    let [by_bias, by_weight] = sums.map(|sum| sum.reshape(&[x.size(1)]));
    at.named(&[("input", Some((inner * slope).reshape(&input.shape()))), ("weight", Some(by_weight)), ("bias", Some(by_bias))])
}

fn layer_norm<'c>(at: &At<'c>, a: &Args<'c>) -> Cotangents<'c> {
    let (x, g) = (a.tensor("input"), at.wide_g());
    let dims = last_dims(a, x.rank());
    let rows: Vec<usize> = (0..x.rank()).filter(|dim| !dims.contains(dim)).collect();
    let (mean, _, scale) = moments(x, &dims, a.float("eps"));
    let normal = (x - mean) * scale;
    let inner = a.opt_tensor("weight").map_or(g, |weight| g * weight);
    let sums = [inner, inner * normal].map(|part| part.reduce("sum", &dims, true));
    let by_input = centred(inner, normal, sums, &dims) * scale;
    let [by_weight, by_bias] = [g * normal, g].map(|part| part.reduce("sum", &rows, false));
    at.named(&[("input", Some(by_input)), ("weight", Some(by_weight)), ("bias", Some(by_bias))])
}
