//! Attention with its projections, and a whole layer of a transformer's encoder: what `torch.nn.TransformerEncoder` calls for inference.

use strata_dialects::aten::dtype::DType;
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::Tensor;

use super::activation::exact_gelu;
use super::args::Args;
use super::matmul::{matmul, projected};
use super::norm::normalised_rows;
use super::reduce::softmax;
use super::rule::Precision::Wide;
use super::rule::{Rule, many, one};

pub(super) const RULES: &[Rule] = &[
    many(_NATIVE_MULTI_HEAD_ATTENTION, Wide, |a| {
        let (output, weights) = attention(a, [a.tensor("query"), a.tensor("key"), a.tensor("value")], a.int("num_head"));
        vec![output, if a.bool("average_attn_weights") && a.bool("need_weights") { weights.mean(&[1], false) } else { weights }]
    }),
    one(_TRANSFORMER_ENCODER_LAYER_FWD, Wide, layer),
];

/// The projected output, and the weights of each head.
fn attention<'c>(a: &Args<'c>, inputs: [Tensor<'c>; 3], heads: i64) -> (Tensor<'c>, Tensor<'c>) {
    let [x, ..] = inputs;
    if x.rank() != 3 {
        a.fail("attention of inputs that are no batch of sequences");
        return (x, x);
    }
    let (weight, bias) = (a.tensor("qkv_weight"), a.tensor("qkv_bias"));
    let width = weight.size(0) / 3;
    let each = width / heads;
    let part = |k: i64| {
        let (input, start) = (inputs[k as usize], width * k);
        let part = projected(input, weight.slice(0, start, width, 1)) + bias.slice(0, start, width, 1);
        part.reshape(&[input.size(0), input.size(1), heads.into(), each]).swap(1, 2)
    };
    let (query, key, value) = (part(0), part(1), part(2));
    let scores = matmul(query * a.prim.size_tensor(query.dtype(), each).rsqrt(), key.flipped());
    let weights = masked_softmax(a, scores);
    let merged = matmul(weights, value).swap(1, 2).reshape(&[x.size(0), x.size(1), width]);
    (projected(merged, a.tensor("proj_weight")) + a.tensor("proj_bias"), weights)
}

/// The mask is true, or not zero, where nothing is attended to. `mask_type` 1 has a row for each sequence of the batch, 0 one for each query.
fn masked_softmax<'c>(a: &Args<'c>, scores: Tensor<'c>) -> Tensor<'c> {
    if !a.given("mask") {
        return softmax(scores, 3);
    }
    let mask = a.raw("mask").convert(DType::Bool);
    let mask = if a.opt_int("mask_type") == Some(1) { mask.unsqueeze(1).unsqueeze(1) } else { mask };
    softmax(scores.fill_where(mask, f64::NEG_INFINITY), 3)
}

fn layer<'c>(a: &Args<'c>) -> Tensor<'c> {
    let source = a.tensor("src");
    let norm = |x: Tensor<'c>, weight, bias| normalised_rows(x, a.float("eps"), a.tensor(weight), a.tensor(bias));
    let norm_1 = |x| norm(x, "norm_weight_1", "norm_bias_1");
    let norm_2 = |x| norm(x, "norm_weight_2", "norm_bias_2");
    let attended = |x| attention(a, [x; 3], a.int("num_heads")).0;
    let fed_forward = |x| {
        let inner = projected(x, a.tensor("ffn_weight_1")) + a.tensor("ffn_bias_1");
        let inner = if a.bool("use_gelu") { exact_gelu(inner) } else { inner.maximum(0.0) };
        projected(inner, a.tensor("ffn_weight_2")) + a.tensor("ffn_bias_2")
    };
    if a.bool("norm_first") {
        let x = source + attended(norm_1(source));
        x + fed_forward(norm_2(x))
    } else {
        let x = norm_1(source + attended(source));
        norm_2(x + fed_forward(x))
    }
}
