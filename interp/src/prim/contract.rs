//! Sums of products.

use super::{Node, natural};
use crate::aten::common::{add, mul};
use crate::aten::matmul::contract;
use crate::run::single;
use crate::tensor::{Tensor, each};
use crate::value::{Results, Value, fail};
use crate::{DType, Scalar};
use strata_dialects::prim::layout::ConvLayout;

pub(super) fn dot(n: &Node<'_>) -> Results {
    // Halves and bytes are multiplied in the type of the result.
    product(n, &n.tensor(0)?.cast(n.dtype(0)?))
}

/// The product of `a`, which stands for lhs, and rhs.
fn product(n: &Node<'_>, a: &Tensor) -> Results {
    let b = &n.tensor(1)?.cast(a.dtype());
    let (ab, ac) = (n.dims("lhs_batch", a.rank())?, n.dims("lhs_contract", a.rank())?);
    let (bb, bc) = (n.dims("rhs_batch", b.rank())?, n.dims("rhs_contract", b.rank())?);
    if ab.len() != bb.len() || ac.len() != bc.len() {
        return Err(fail("the lists of lhs and rhs differ in length"));
    }
    // Labels: dimensions of lhs by number, free dimensions of rhs after them.
    let la: Vec<u32> = (0..a.rank() as u32).collect();
    let paired = |d: usize| bb.iter().position(|&x| x == d).map(|k| ab[k]).or_else(|| bc.iter().position(|&x| x == d).map(|k| ac[k]));
    let lb: Vec<u32> = (0..b.rank()).map(|d| paired(d).map_or(1000 + d as u32, |d| d as u32)).collect();
    let free_a = (0..a.rank()).filter(|d| !ab.contains(d) && !ac.contains(d)).map(|d| d as u32);
    let out: Vec<u32> = ab.iter().map(|&d| d as u32).chain(free_a).chain(lb.iter().copied().filter(|&l| l >= 1000)).collect();
    single(Value::Tensor(contract(&[(a, &la), (b, &lb)], &out)?.cast(n.dtype(0)?)))
}

/// The softmax of the scores row by row, in f64, then the dot.
pub(super) fn softmax_dot(n: &Node<'_>) -> Results {
    let scores = n.tensor(0)?;
    let contract = n.dims("lhs_contract", scores.rank())?;
    let &[dim] = contract.as_slice() else { return Err(fail("one dimension is contracted")) };
    let zero = n.text("empty")? == "zero";
    let mut rows = scores.shape().to_vec();
    let keys = std::mem::replace(&mut rows[dim], 1);
    let mut weights = Tensor::zeros(DType::F64, scores.shape())?;
    each(&rows, |row| {
        let mut at = row.to_vec();
        let row: Vec<f64> = (0..keys)
            .map(|key| {
                at[dim] = key;
                scores.f(&at)
            })
            .collect();
        let largest = row.iter().copied().fold(f64::NEG_INFINITY, |a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) });
        let sum: f64 = row.iter().map(|score| (score - largest).exp()).sum();
        for (key, score) in row.iter().enumerate() {
            at[dim] = key;
            let weight = if zero && largest == f64::NEG_INFINITY { 0.0 } else { (score - largest).exp() / sum };
            weights.set(&at, Scalar::Float(weight));
        }
    });
    product(n, &weights)
}

/// One dimension after the other, in f64.
pub(super) fn linear_transform(n: &Node<'_>) -> Results {
    let x = n.tensor(0)?;
    let matrix = n.op.attr("matrix").and_then(|attr| attr.as_f64s()).ok_or_else(|| fail("there is no matrix"))?;
    let (mut x, dims) = (x.cast(DType::F64), n.dims("dims", x.rank())?);
    for dim in dims {
        let size = x.shape()[dim];
        let mut shape = x.shape().to_vec();
        shape[dim] = matrix.len() / size.max(1);
        let mut result = Tensor::zeros(DType::F64, &shape)?;
        each(&shape, |at| {
            let mut from = at.to_vec();
            let row = &matrix[at[dim] * size..][..size];
            let sum = row.iter().enumerate().filter(|(_, factor)| **factor != 0.0).map(|(k, factor)| {
                from[dim] = k;
                factor * x.f(&from)
            });
            let sum = sum.sum();
            result.set(at, Scalar::Float(sum));
        });
        x = result;
    }
    single(Value::Tensor(x.cast(n.dtype(0)?)))
}

pub(super) fn conv(n: &Node<'_>) -> Results {
    // Bytes are multiplied in the type of the result.
    let (x, w) = (n.tensor(0)?.cast(n.dtype(0)?), n.tensor(1)?.cast(n.dtype(0)?));
    let (strides, spread, dilation) =
        (natural(&n.list("strides")?)?, natural(&n.list("lhs_dilation")?)?, natural(&n.list("rhs_dilation")?)?);
    let (low, high) = (n.list("low")?, n.list("high")?);
    let groups = n.op.int("groups").and_then(|g| usize::try_from(g).ok()).filter(|&g| g > 0).ok_or_else(|| fail("no groups"))?;
    let k = x.rank().saturating_sub(2);
    let layout = ConvLayout::of(n.op).map_err(|error| fail(error.to_string()))?;
    let panels = usize::from(layout.panels.is_some());
    if w.rank() != x.rank() + panels || [strides.len(), spread.len(), dilation.len(), low.len(), high.len()] != [k; 5] {
        return Err(fail("the operands of the convolution do not match"));
    }
    let features = layout.features(|dim| w.shape()[dim], |a, b| a * b);
    let channels = w.shape()[layout.rhs.channel];
    if x.shape()[layout.lhs.channel] != channels * groups || features % groups != 0 {
        return Err(fail("the channels of the convolution do not match"));
    }
    let mut shape = vec![0; x.rank()];
    (shape[layout.result.batch], shape[layout.result.channel]) = (x.shape()[layout.lhs.batch], features);
    // The channel and the places in the window of one product.
    let mut inner = vec![channels];
    for d in 0..k {
        let (size, window) = (x.shape()[layout.lhs.space[d]] as i64, w.shape()[layout.rhs.space[d]] as i64);
        let room = (size - 1) * spread[d] as i64 + low[d] + high[d] - (window - 1) * dilation[d] as i64;
        shape[layout.result.space[d]] = (room.div_euclid(strides[d].max(1) as i64) + 1).max(0) as usize;
        inner.push(window as usize);
    }
    let (per_group, in_panel) = (features / groups, w.shape()[layout.rhs.batch].max(1));
    let real = !x.dtype().is_complex() && x.dtype().is_float();
    single(Value::Tensor(Tensor::build(n.dtype(0)?, &shape, |o| {
        let feature = o[layout.result.channel];
        let (mut exact, mut sum) = (0.0, Scalar::Int(0));
        let (mut at, mut weight) = (vec![0; x.rank()], vec![0; w.rank()]);
        at[layout.lhs.batch] = o[layout.result.batch];
        weight[layout.rhs.batch] = feature;
        if let Some(panels) = layout.panels {
            (weight[panels], weight[layout.rhs.batch]) = (feature / in_panel, feature % in_panel);
        }
        each(&inner, |j| {
            at[layout.lhs.channel] = feature / per_group * channels + j[0];
            weight[layout.rhs.channel] = j[0];
            // Outside of the elements, and between them, are zeros.
            let mut zero = false;
            for d in 0..k {
                let p = (o[layout.result.space[d]] * strides[d] + j[1 + d] * dilation[d]) as i64 - low[d];
                let step = spread[d].max(1) as i64;
                zero |= p < 0 || p % step != 0 || p / step >= x.shape()[layout.lhs.space[d]] as i64;
                at[layout.lhs.space[d]] = if zero { 0 } else { (p / step) as usize };
                weight[layout.rhs.space[d]] = j[1 + d];
            }
            if real {
                exact += if zero { 0.0 } else { x.f(&at) } * w.f(&weight);
            } else if !zero {
                sum = add(sum, mul(x.get(&at), w.get(&weight)));
            }
        });
        if real { Scalar::Float(exact) } else { wrap(n, sum) }
    })?))
}

fn wrap(n: &Node<'_>, sum: Scalar) -> Scalar {
    n.dtype(0).map_or(sum, |d: DType| d.cast(sum))
}
