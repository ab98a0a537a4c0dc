//! Losses. `reduction` is 0 for none, 1 for the mean, 2 for the sum.

use super::Arm::{self, Op};
use super::activation::pointwise;
use super::common::{Kind, Operand, elementwise, evaluate, result_type};
use super::reduce::{p_norm, reduce, total};
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::{DType, Scalar, promote};
use crate::tensor::Tensor;
use crate::value::{Args, InterpError, Results, fail, many, one};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (BINARY_CROSS_ENTROPY, Op(bce)),
    (BINARY_CROSS_ENTROPY_WITH_LOGITS, Op(bce_logits)),
    (COSINE_EMBEDDING_LOSS, Op(cosine_embedding)),
    (COSINE_SIMILARITY, Op(|a| one(cosine(a.tensor("x1")?, a.tensor("x2")?, a.int("dim")?, a.float("eps")?)?))),
    (CROSS_ENTROPY_LOSS, Op(cross_entropy)),
    (HINGE_EMBEDDING_LOSS, Op(|a| { let m = a.float("margin")?; loss(a, &["self", "target"], |v| if v[1] == 1.0 { v[0] } else if v[1] == -1.0 { (m - v[0]).max(0.0) } else { v[0] + (m - v[0]).max(0.0) }) })),
    (HUBER_LOSS, Op(|a| { let d = a.float("delta")?; loss(a, &["self", "target"], |v| { let z = (v[0] - v[1]).abs(); if z <= d { 0.5 * z * z } else { d * (z - 0.5 * d) } }) })),
    (KL_DIV, Op(kl_div)),
    (L1_LOSS, Op(l1)),
    (MARGIN_RANKING_LOSS, Op(margin_ranking)),
    (MSE_LOSS, Op(|a| loss(a, &["self", "target"], |v| (v[0] - v[1]).powi(2)))),
    (MULTI_MARGIN_LOSS, Op(multi_margin)),
    (MULTILABEL_MARGIN_LOSS, Op(|a| { let (l, _) = multilabel_margin(a)?; one(l) })),
    (MULTILABEL_MARGIN_LOSS_FORWARD, Op(|a| { let (l, t) = multilabel_margin(a)?; many([l, t]) })),
    (NLL_LOSS, Op(|a| { let (l, _) = nll(a, a.tensor("self")?, a.tensor("target")?)?; one(l) })),
    (NLL_LOSS2D, Op(|a| { let (l, _) = nll(a, a.tensor("self")?, a.tensor("target")?)?; one(l) })),
    (NLL_LOSS2D_FORWARD, Op(|a| { let (l, w) = nll(a, a.tensor("self")?, a.tensor("target")?)?; many([l, w]) })),
    (NLL_LOSS_FORWARD, Op(|a| { let (l, w) = nll(a, a.tensor("self")?, a.tensor("target")?)?; many([l, w]) })),
    (NLL_LOSS_ND, Op(|a| { let (l, _) = nll(a, a.tensor("self")?, a.tensor("target")?)?; one(l) })),
    (PAIRWISE_DISTANCE, Op(pairwise_distance)),
    (POISSON_NLL_LOSS, Op(poisson)),
    (SMOOTH_L1_LOSS, Op(|a| { let b = a.float("beta")?; loss(a, &["self", "target"], |v| { let z = (v[0] - v[1]).abs(); if z < b { 0.5 * z * z / b } else { z - 0.5 * b } }) })),
    (SOFT_MARGIN_LOSS, Op(soft_margin)),
    (TRIPLET_MARGIN_LOSS, Op(triplet)),
];

/// Every step rounds to the tensors' own type, so that the exponential of halves overflows early.
fn soft_margin(args: &Args) -> Results {
    let (x, y) = (args.tensor("self")?, args.tensor("target")?);
    let d = promote(x.dtype(), y.dtype());
    loss(args, &["self", "target"], |v| d.round(d.round(d.round(-v[1] * v[0]).exp()).ln_1p()))
}

/// Applies a reduction code to the elements' losses.
pub fn reduced(losses: &Tensor, code: i64, dtype: DType) -> Result<Tensor, InterpError> {
    let sum = total(&losses.scalars().collect::<Vec<_>>());
    Ok(match code {
        0 => losses.cast(dtype),
        1 => Tensor::scalar(dtype, super::common::quotient(sum, Scalar::Int(losses.len() as i128))),
        2 => Tensor::scalar(dtype, sum),
        other => return Err(fail(format!("reduction {other} is not known"))),
    })
}

/// A loss whose element is a function of the operands' elements.
fn loss(args: &Args, names: &[&str], f: impl Fn(&[f64]) -> f64) -> Results {
    let operands: Vec<Operand> = names.iter().map(|n| args.tensor(n).map(Operand::Tensor)).collect::<Result<_, _>>()?;
    let dtype = result_type(&operands).floating();
    let losses = evaluate(DType::F64, DType::F64, &operands, |v| Ok(Scalar::Float(f(&v.iter().map(|v| v.float()).collect::<Vec<_>>()))))?;
    one(reduced(&losses, args.int("reduction")?, dtype)?)
}

fn l1(args: &Args) -> Results {
    let (x, y) = (args.tensor("self")?, args.tensor("target")?);
    let losses = elementwise(Kind::Real, &[x.into(), y.into()], |v| Ok(Scalar::Float(super::reduce::magnitude(super::common::sub(v[0], v[1])))))?;
    one(reduced(&losses, args.int("reduction")?, losses.dtype())?)
}

fn bce(args: &Args) -> Results {
    let weighted = args.opt_tensor("weight")?.is_some();
    let names: &[&str] = if weighted { &["self", "target", "weight"] } else { &["self", "target"] };
    loss(args, names, |v| {
        let (x, t) = (v[0], v[1]);
        let l = -(t * x.ln().max(-100.0) + (1.0 - t) * (-x).ln_1p().max(-100.0));
        l * v.get(2).unwrap_or(&1.0)
    })
}

fn bce_logits(args: &Args) -> Results {
    let (x, y) = (args.tensor("self")?, args.tensor("target")?);
    let ones = Tensor::scalar(x.dtype(), Scalar::Int(1));
    let (w, p) = (args.opt_tensor("weight")?.unwrap_or(&ones), args.opt_tensor("pos_weight")?.unwrap_or(&ones));
    let losses = evaluate(DType::F64, DType::F64, &[x.into(), y.into(), w.into(), p.into()], |v| {
        let (x, t, w, p) = (v[0].float(), v[1].float(), v[2].float(), v[3].float());
        let softplus = (-x.abs()).exp().ln_1p() + (-x).max(0.0);
        Ok(Scalar::Float(w * ((1.0 - t) * x + (1.0 + (p - 1.0) * t) * softplus)))
    })?;
    one(reduced(&losses, args.int("reduction")?, x.dtype())?)
}

fn kl_div(args: &Args) -> Results {
    let log = args.flag("log_target")?;
    loss(args, &["self", "target"], |v| if log { v[1].exp() * (v[1] - v[0]) } else { (if v[1] == 0.0 { 0.0 } else { v[1] * v[1].ln() }) - v[1] * v[0] })
}

fn poisson(args: &Args) -> Results {
    let (log_input, full, eps) = (args.flag("log_input")?, args.flag("full")?, args.float("eps")?);
    loss(args, &["input", "target"], |v| {
        let (x, t) = (v[0], v[1]);
        let base = if log_input { x.exp() - t * x } else { x - t * (x + eps).ln() };
        base + if full && t > 1.0 { t * t.ln() - t + 0.5 * (2.0 * std::f64::consts::PI * t).ln() } else { 0.0 }
    })
}

/// Rows of classes: the class dimension moved last, the others flattened.
fn class_rows(x: &Tensor) -> Result<(Tensor, Vec<usize>), InterpError> {
    let dim = usize::from(x.rank() > 1);
    if x.rank() == 0 {
        return Err(fail("no class dimension"));
    }
    let mut perm: Vec<usize> = (0..x.rank()).filter(|&d| d != dim).collect();
    let outer: Vec<usize> = perm.iter().map(|&d| x.shape()[d]).collect();
    perm.push(dim);
    let rows: usize = outer.iter().product();
    Ok((x.permute(&perm)?.reshape(&[rows, x.shape()[dim]])?, outer))
}

/// Loss and total weight.
fn nll(args: &Args, x: &Tensor, target: &Tensor) -> Result<(Tensor, Tensor), InterpError> {
    let (rows, outer) = class_rows(x)?;
    let (weight, ignored) = (args.opt_tensor("weight")?, args.int("ignore_index")? as i128);
    let classes = rows.shape()[1];
    let (mut losses, mut weights) = (Vec::new(), Vec::new());
    for r in 0..rows.shape()[0] {
        let t = target.at(r).int();
        if t == ignored {
            losses.push(0.0);
            weights.push(0.0);
            continue;
        }
        let class = usize::try_from(t).ok().filter(|&c| c < classes).ok_or_else(|| fail(format!("class {t} is out of {classes}")))?;
        let w = weight.map_or(1.0, |w| w.at(class).float());
        losses.push(-w * rows.f(&[r, class]));
        weights.push(w);
    }
    let (sum, weight_sum) = (losses.iter().sum::<f64>(), weights.iter().sum::<f64>());
    let scalar = |v: f64| Tensor::scalar(x.dtype(), Scalar::Float(v));
    let total = scalar(weight_sum);
    Ok(match args.int("reduction")? {
        0 => (Tensor::from_floats(x.dtype(), &outer, &losses)?, scalar(0.0)),
        1 => (scalar(sum / weight_sum), total),
        _ => (scalar(sum), total),
    })
}

fn cross_entropy(args: &Args) -> Results {
    let (x, target) = (args.tensor("self")?, args.tensor("target")?);
    let (rows, outer) = class_rows(x)?;
    let (n, classes) = (rows.shape()[0], rows.shape()[1]);
    let weight = args.opt_tensor("weight")?;
    let w = |c: usize| weight.map_or(1.0, |w| w.at(c).float());
    let smoothing = args.float("label_smoothing")?;
    let log_p: Vec<Vec<f64>> = (0..n)
        .map(|r| {
            let v: Vec<f64> = (0..classes).map(|c| rows.f(&[r, c])).collect();
            let top = v.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = v.iter().map(|v| (v - top).exp()).sum();
            v.into_iter().map(|v| v - top - sum.ln()).collect()
        })
        .collect();
    let code = args.int("reduction")?;
    if target.dtype().is_float() {
        // Probabilities of the classes.
        let (targets, _) = class_rows(target)?;
        let losses: Vec<f64> = (0..n).map(|r| -(0..classes).map(|c| w(c) * (targets.f(&[r, c]) * (1.0 - smoothing) + smoothing / classes as f64) * log_p[r][c]).sum::<f64>()).collect();
        return one(reduced(&Tensor::from_floats(DType::F64, &outer, &losses)?, code, x.dtype())?);
    }
    let ignored = args.int("ignore_index")? as i128;
    let (mut losses, mut weight_sum) = (Vec::new(), 0.0);
    for (r, row) in log_p.iter().enumerate() {
        let t = target.at(r).int();
        if t == ignored {
            losses.push(0.0);
            continue;
        }
        let class = usize::try_from(t).ok().filter(|&c| c < classes).ok_or_else(|| fail(format!("class {t} is out of {classes}")))?;
        weight_sum += w(class);
        let smooth: f64 = row.iter().enumerate().map(|(c, p)| w(c) * p).sum::<f64>() / classes as f64;
        losses.push(-(1.0 - smoothing) * w(class) * row[class] - smoothing * smooth);
    }
    one(match code {
        1 => Tensor::scalar(x.dtype(), Scalar::Float(losses.iter().sum::<f64>() / weight_sum)),
        _ => reduced(&Tensor::from_floats(DType::F64, &outer, &losses)?, code, x.dtype())?,
    })
}

/// Rows of a matrix or one vector, with the batch's shape.
fn sample_rows(x: &Tensor) -> Result<(Tensor, Vec<usize>), InterpError> {
    let width = x.shape().last().copied().unwrap_or(1);
    Ok((x.reshape(&[x.len() / width.max(1), width])?, x.shape()[..x.rank().saturating_sub(1)].to_vec()))
}

fn multi_margin(args: &Args) -> Results {
    let (x, target) = (args.tensor("self")?, args.tensor("target")?);
    let (p, margin, weight) = (args.float("p")?, args.float("margin")?, args.opt_tensor("weight")?);
    let (rows, outer) = sample_rows(x)?;
    let mut losses = Vec::new();
    for r in 0..rows.shape()[0] {
        let y = super::view::wrap_index(target.at(r).int() as i64, rows.shape()[1])?;
        let w = weight.map_or(1.0, |w| w.at(y).float());
        let sum: f64 = (0..rows.shape()[1]).filter(|&c| c != y).map(|c| w * (margin - rows.f(&[r, y]) + rows.f(&[r, c])).max(0.0).powf(p)).sum();
        losses.push(sum / rows.shape()[1] as f64);
    }
    one(reduced(&Tensor::from_floats(DType::F64, &outer, &losses)?, args.int("reduction")?, x.dtype())?)
}

/// Targets of a row end at the first -1.
fn multilabel_margin(args: &Args) -> Result<(Tensor, Tensor), InterpError> {
    let (x, target) = (args.tensor("self")?, args.tensor("target")?);
    let (rows, outer) = sample_rows(x)?;
    let (targets, _) = sample_rows(target)?;
    let n = rows.shape()[1];
    let mut is_target = vec![Scalar::Int(0); rows.len()];
    let mut losses = Vec::new();
    for r in 0..rows.shape()[0] {
        let labels: Vec<usize> = (0..n).map(|c| targets.get(&[r, c]).int()).take_while(|&t| t >= 0).map(|t| super::view::wrap_index(t as i64, n)).collect::<Result<_, _>>()?;
        labels.iter().for_each(|&l| is_target[r * n + l] = Scalar::Int(1));
        let sum: f64 = labels.iter().flat_map(|&l| (0..n).filter(|c| !labels.contains(c)).map(move |c| (l, c))).map(|(l, c)| (1.0 - rows.f(&[r, l]) + rows.f(&[r, c])).max(0.0)).sum();
        losses.push(sum / n as f64);
    }
    let losses = Tensor::from_floats(DType::F64, &outer, &losses)?;
    Ok((reduced(&losses, args.int("reduction")?, x.dtype())?, Tensor::from_scalars(x.dtype(), target.shape(), is_target)?))
}

/// Cosine of the angle between lines along a dimension; norms are at least `eps`.
fn cosine(x: &Tensor, y: &Tensor, dim: i64, eps: f64) -> Result<Tensor, InterpError> {
    let dtype = result_type(&[x.into(), y.into()]);
    let shape = crate::tensor::broadcast_shape(&[x.shape(), y.shape()])?;
    let (x, y) = (x.expand(&shape)?, y.expand(&shape)?);
    let dim = crate::value::wrap_dim(dim, shape.len())?;
    let (kept, groups) = super::reduce::groups(&shape, &[dim], false)?;
    let values: Vec<f64> = groups
        .iter()
        .map(|g| {
            let sum = |a: &Tensor, b: &Tensor| g.iter().map(|&k| a.at(k).float() * b.at(k).float()).sum::<f64>();
            sum(&x, &y) / (sum(&x, &x).sqrt().max(eps) * sum(&y, &y).sqrt().max(eps))
        })
        .collect();
    Tensor::from_floats(dtype, &kept, &values)
}

fn cosine_embedding(args: &Args) -> Results {
    let (x, y, t) = (args.tensor("input1")?, args.tensor("input2")?, args.tensor("target")?);
    let margin = args.float("margin")?;
    let rank = x.rank().max(y.rank());
    // The loss adds its epsilon to the squared norms instead of bounding them.
    let shape = crate::tensor::broadcast_shape(&[x.shape(), y.shape()])?;
    let (wx, wy) = (x.expand(&shape)?, y.expand(&shape)?);
    let (kept, groups) = super::reduce::groups(&shape, &[rank - 1], false)?;
    let cosines: Vec<f64> = groups
        .iter()
        .map(|g| {
            let sum = |a: &Tensor, b: &Tensor, eps: f64| g.iter().map(|&k| a.at(k).float() * b.at(k).float()).sum::<f64>() + eps;
            sum(&wx, &wy, 0.0) / (sum(&wx, &wx, 1e-12) * sum(&wy, &wy, 1e-12)).sqrt()
        })
        .collect();
    let cosines = Tensor::from_floats(DType::F64, &kept, &cosines)?;
    let losses = evaluate(DType::F64, DType::F64, &[(&cosines).into(), t.into()], |v| {
        let (c, t) = (v[0].float(), v[1].float());
        Ok(Scalar::Float(if t == 1.0 { 1.0 - c } else if t == -1.0 { (c - margin).max(0.0) } else { 0.0 }))
    })?;
    one(reduced(&losses, args.int("reduction")?, result_type(&[x.into(), y.into()]).floating())?)
}

/// p-norms of the differences (plus epsilon) along the last dimension.
fn distances(x: &Tensor, y: &Tensor, p: f64, eps: f64, keepdim: bool) -> Result<Tensor, InterpError> {
    let operands: [Operand; 2] = [x.into(), y.into()];
    // Integers wrap around before anything else is done with them.
    let wrapped = |v: Scalar| if result_type(&operands).is_integral() { result_type(&operands).cast(v) } else { v };
    let wide = if result_type(&operands).is_integral() { result_type(&operands) } else { DType::F64 };
    let difference = evaluate(wide, DType::F64, &operands, |v| Ok(Scalar::Float(wrapped(super::common::sub(v[0], v[1])).float() + eps)))?;
    if difference.rank() == 0 {
        return Err(fail("a distance needs vectors"));
    }
    reduce(&difference, &[difference.rank() - 1], keepdim, DType::F64, |v| Ok(Scalar::Float(p_norm(v.iter().map(|v| v.float().abs()), p))))
}

/// `max(0, margin - target (input1 - input2))`; integers wrap around until the margin makes them floats.
fn margin_ranking(args: &Args) -> Results {
    let (x, y, target) = (args.tensor("input1")?, args.tensor("input2")?, args.tensor("target")?);
    let (margin, operands) = (args.float("margin")?, [Operand::from(x), y.into(), target.into()]);
    let dtype = result_type(&operands);
    let losses = evaluate(dtype, dtype.floating(), &operands, |v| {
        let product = super::common::mul(super::common::neg(v[2]), super::common::sub(v[0], v[1]));
        Ok(Scalar::Float((if dtype.is_integral() { dtype.cast(product) } else { product }.float() + margin).max(0.0)))
    })?;
    one(reduced(&losses, args.int("reduction")?, dtype.floating())?)
}

fn pairwise_distance(args: &Args) -> Results {
    let (x, y) = (args.tensor("x1")?, args.tensor("x2")?);
    one(distances(x, y, args.float("p")?, args.float("eps")?, args.flag("keepdim")?)?.cast(result_type(&[x.into(), y.into()]).floating()))
}

fn triplet(args: &Args) -> Results {
    let (a, p, n) = (args.tensor("anchor")?, args.tensor("positive")?, args.tensor("negative")?);
    let (margin, order, eps) = (args.float("margin")?, args.float("p")?, args.float("eps")?);
    let near = distances(a, p, order, eps, false)?;
    let mut far = distances(a, n, order, eps, false)?;
    if args.flag("swap")? {
        let other = distances(p, n, order, eps, false)?;
        far = elementwise(Kind::Same, &[(&far).into(), (&other).into()], |v| Ok(super::common::minimum(v[0], v[1])))?;
    }
    let losses = elementwise(Kind::Same, &[(&near).into(), (&far).into()], |v| Ok(Scalar::Float((margin + v[0].float() - v[1].float()).max(0.0))))?;
    one(reduced(&losses, args.int("reduction")?, result_type(&[a.into(), p.into()]).floating())?)
}

/// The number of elements a mean divides by, for gradients.
pub fn mean_share(args: &Args, count: usize) -> Result<f64, InterpError> {
    Ok(if args.int("reduction")? == 1 { 1.0 / count as f64 } else { 1.0 })
}

/// The gradient of a pointwise loss, given the derivative by `self`.
pub fn gradient(args: &Args, f: impl Fn(f64, f64) -> f64) -> Results {
    let share = mean_share(args, args.tensor("self")?.len().max(args.tensor("target")?.len()))?;
    one(pointwise(args, &["grad_output", "self", "target"], |v| v[0] * share * f(v[1], v[2]))?)
}

