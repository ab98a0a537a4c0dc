//! Steps of optimisers, as `ai.onnx.preview.training` has them, and operators of `ai.onnx.ml` on plain tensors.

use strata_core::ir;
use strata_dialects::aten::op;

use crate::onnx::call::{Call, f, i, many, one, t};
use crate::onnx::error::Eval;
use crate::onnx::table::{Row, row};
use crate::onnx::value::Value;

pub(in crate::onnx) const ROWS: &[Row] = &[
    row("ai.onnx.ml.ArrayFeatureExtractor", |c| {
        let (x, places) = (c.tensor(0)?, c.tensor(1)?);
        let places = c.op(op::RESHAPE, &[t(places), crate::onnx::call::is(&[-1])])?;
        let last = x.ty().rank() as i64 - 1;
        c.op(op::INDEX_SELECT, &[t(x), i(last), t(places)]).map(one)
    }),
    row("ai.onnx.ml.Binarizer", |c| {
        let (x, threshold) = (c.tensor(0)?, c.float("threshold", 0.0));
        let above = c.op(op::GT_SCALAR, &[t(x), f(threshold)])?;
        c.cast(above, c.dtype(0)?).map(one)
    }),
    row("ai.onnx.preview.training.Adagrad", |c| each(c, 2, adagrad)),
    row("ai.onnx.preview.training.Adam", |c| each(c, 3, adam)),
    row("ai.onnx.preview.training.Momentum", |c| each(c, 2, momentum)),
];

/// A step of one tensor: its rate, the number of steps before, and its parts (the tensor, its gradient, its state).
type Rule = for<'a, 'p, 'c> fn(&mut Call<'a, 'p, 'c>, ir::Value<'c>, ir::Value<'c>, &[ir::Value<'c>]) -> Eval<Vec<ir::Value<'c>>>;

/// All tensors of the node: inputs are a rate, a count, then all tensors, all gradients, and all of each state; so are the results.
fn each<'c>(c: &mut Call<'_, '_, 'c>, results: usize, rule: Rule) -> Eval<Vec<Value<'c>>> {
    let inputs = c.tensors()?;
    let parts = results + 1;
    let [rate, count, rest @ ..] = inputs.as_slice() else { return Err("it has no rate and no count".into()) };
    if rest.is_empty() || rest.len() % parts != 0 {
        return Err(format!("its inputs are not {parts} for each tensor").into());
    }
    let tensors = rest.len() / parts;
    let mut found = vec![Vec::new(); results];
    for place in 0..tensors {
        let own: Vec<_> = (0..parts).map(|part| rest[part * tensors + place]).collect();
        for (list, value) in found.iter_mut().zip(rule(c, *rate, *count, &own)?) {
            list.push(value);
        }
    }
    Ok(many(found.concat()))
}

fn sum<'c>(c: &mut Call<'_, '_, 'c>, a: ir::Value<'c>, b: ir::Value<'c>) -> Eval<ir::Value<'c>> {
    c.op(op::ADD_TENSOR, &[t(a), t(b)])
}

fn product<'c>(c: &mut Call<'_, '_, 'c>, a: ir::Value<'c>, b: ir::Value<'c>) -> Eval<ir::Value<'c>> {
    c.op(op::MUL_TENSOR, &[t(a), t(b)])
}

fn scaled<'c>(c: &mut Call<'_, '_, 'c>, x: ir::Value<'c>, by: f64) -> Eval<ir::Value<'c>> {
    c.op(op::MUL_SCALAR, &[t(x), f(by)])
}

/// The gradient with that of `norm_coefficient / 2 * |x|^2`.
fn regularised<'c>(c: &mut Call<'_, '_, 'c>, x: ir::Value<'c>, gradient: ir::Value<'c>) -> Eval<ir::Value<'c>> {
    let more = scaled(c, x, c.float("norm_coefficient", 0.0))?;
    sum(c, gradient, more)
}

fn moved<'c>(c: &mut Call<'_, '_, 'c>, x: ir::Value<'c>, rate: ir::Value<'c>, step: ir::Value<'c>) -> Eval<ir::Value<'c>> {
    let step = product(c, rate, step)?;
    c.op(op::SUB_TENSOR, &[t(x), t(step)])
}

/// The rate falls with the count; each element is divided by the root of the sum of its squared gradients.
fn adagrad<'c>(c: &mut Call<'_, '_, 'c>, rate: ir::Value<'c>, count: ir::Value<'c>, own: &[ir::Value<'c>]) -> Eval<Vec<ir::Value<'c>>> {
    let (x, gradient, squares) = (own[0], own[1], own[2]);
    let count = c.cast(count, rate.ty().element_type().ok_or("a rate is a float")?)?;
    let fall = scaled(c, count, c.float("decay_factor", 0.0))?;
    let fall = c.op(op::ADD_SCALAR, &[t(fall), f(1.0)])?;
    let rate = c.op(op::DIV_TENSOR, &[t(rate), t(fall)])?;
    let gradient = regularised(c, x, gradient)?;
    let square = c.op(op::SQUARE, &[t(gradient)])?;
    let squares = sum(c, squares, square)?;
    let root = c.op(op::SQRT, &[t(squares)])?;
    let root = c.op(op::ADD_SCALAR, &[t(root), f(c.float("epsilon", 1e-6))])?;
    let step = c.op(op::DIV_TENSOR, &[t(gradient), t(root)])?;
    Ok(vec![moved(c, x, rate, step)?, squares])
}

/// Running means of the gradient and of its square; after the first step the rate makes good that they began at zero.
fn adam<'c>(c: &mut Call<'_, '_, 'c>, rate: ir::Value<'c>, count: ir::Value<'c>, own: &[ir::Value<'c>]) -> Eval<Vec<ir::Value<'c>>> {
    let (x, gradient, mean, square_mean) = (own[0], own[1], own[2], own[3]);
    let (alpha, beta) = (c.float("alpha", 0.9), c.float("beta", 0.999));
    let gradient = regularised(c, x, gradient)?;
    let running = |c: &mut Call<'_, '_, 'c>, old, new, keep: f64| {
        let (old, new) = (scaled(c, old, keep)?, scaled(c, new, 1.0 - keep)?);
        sum(c, old, new)
    };
    let mean = running(c, mean, gradient, alpha)?;
    let square = c.op(op::SQUARE, &[t(gradient)])?;
    let square_mean = running(c, square_mean, square, beta)?;
    let root = c.op(op::SQRT, &[t(square_mean)])?;
    let root = c.op(op::ADD_SCALAR, &[t(root), f(c.float("epsilon", 1e-6))])?;
    let dtype = rate.ty().element_type().ok_or("a rate is a float")?;
    let steps = c.cast(count, dtype)?;
    let rest = |c: &mut Call<'_, '_, 'c>, keep: f64| {
        let power = c.op(op::POW_SCALAR, &[f(keep), t(steps)])?;
        c.op(op::RSUB_SCALAR, &[t(power), f(1.0)])
    };
    let (below, above) = (rest(c, alpha)?, rest(c, beta)?);
    let above = c.op(op::SQRT, &[t(above)])?;
    let correction = c.op(op::DIV_TENSOR, &[t(above), t(below)])?;
    let corrected = product(c, rate, correction)?;
    let later = c.op(op::GT_SCALAR, &[t(steps), f(0.0)])?;
    let rate = c.op(op::WHERE_SELF, &[t(later), t(corrected), t(rate)])?;
    let step = c.op(op::DIV_TENSOR, &[t(mean), t(root)])?;
    let x = moved(c, x, rate, step)?;
    let x = scaled(c, x, 1.0 - c.float("norm_coefficient_post", 0.0))?;
    Ok(vec![x, mean, square_mean])
}

/// A running sum of gradients; in mode `nesterov` the gradient counts once more.
fn momentum<'c>(c: &mut Call<'_, '_, 'c>, rate: ir::Value<'c>, count: ir::Value<'c>, own: &[ir::Value<'c>]) -> Eval<Vec<ir::Value<'c>>> {
    let (x, gradient, old) = (own[0], own[1], own[2]);
    let (alpha, beta) = (c.float("alpha", 0.9), c.float("beta", 1.0));
    let gradient = regularised(c, x, gradient)?;
    // The first gradient counts in full.
    let dtype = rate.ty().element_type().ok_or("a rate is a float")?;
    let later = c.op(op::GT_SCALAR, &[t(count), f(0.0)])?;
    let (full, part) = (c.number(1.0, dtype)?, c.number(beta, dtype)?);
    let weight = c.op(op::WHERE_SELF, &[t(later), t(part), t(full)])?;
    let (old, new) = (scaled(c, old, alpha)?, product(c, weight, gradient)?);
    let velocity = sum(c, old, new)?;
    let step = match c.text("mode", "standard")? {
        "standard" => velocity,
        "nesterov" => {
            let ahead = scaled(c, velocity, alpha)?;
            sum(c, gradient, ahead)?
        }
        other => return Err(format!("its mode {other:?} is neither standard nor nesterov").into()),
    };
    Ok(vec![moved(c, x, rate, step)?, velocity])
}
