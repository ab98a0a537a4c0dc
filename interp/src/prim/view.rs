//! Views, creation and joining.

use super::{Node, fill, natural};
use crate::run::single;
use crate::tensor::{Tensor, numel};
use crate::value::{Results, Value, fail};
use crate::{Scalar, aten::join};
use strata_dialects::prim::view::windowed;

pub(super) fn broadcast(n: &Node<'_>) -> Results {
    let (x, shape) = (n.tensor(0)?, n.shape(1)?);
    let dims = n.dims("dims", shape.len())?;
    if dims.len() != x.rank() || dims.iter().zip(x.shape()).any(|(&d, &s)| s != 1 && s != shape[d]) {
        return Err(fail(format!("shape {:?} does not broadcast to {shape:?} along {dims:?}", x.shape())));
    }
    single(Value::Tensor(x.view(&shape, |i, s| {
        for (k, &d) in dims.iter().enumerate() {
            s[k] = if x.shape()[k] == 1 { 0 } else { i[d] };
        }
    })?))
}

pub(super) fn reshape(n: &Node<'_>) -> Results {
    single(Value::Tensor(n.tensor(0)?.reshape(&n.shape(1)?)?))
}

pub(super) fn transpose(n: &Node<'_>) -> Results {
    let x = n.tensor(0)?;
    let perm = n.dims("perm", x.rank())?;
    if perm.len() != x.rank() {
        return Err(fail("`perm` is not a permutation"));
    }
    single(Value::Tensor(x.permute(&perm)?))
}

pub(super) fn slice(n: &Node<'_>) -> Results {
    let x = n.tensor(0)?;
    let mut given = n.ints(1)?.into_iter();
    let offsets = natural(&fill(&n.list("offsets")?, &mut given)?)?;
    let sizes = natural(&fill(&n.list("sizes")?, &mut given)?)?;
    let strides = natural(&n.list("strides")?)?;
    if [offsets.len(), sizes.len(), strides.len()] != [x.rank(); 3] {
        return Err(fail("one offset, size and stride per dimension"));
    }
    single(Value::Tensor(x.view(&sizes, |i, s| {
        for d in 0..s.len() {
            s[d] = offsets[d] + i[d] * strides[d];
        }
    })?))
}

pub(super) fn reverse(n: &Node<'_>) -> Results {
    let x = n.tensor(0)?;
    let dims = n.dims("dims", x.rank())?;
    let shape = x.shape().to_vec();
    single(Value::Tensor(x.view(&shape, |i, s| {
        for d in 0..s.len() {
            s[d] = if dims.contains(&d) { shape[d] - 1 - i[d] } else { i[d] };
        }
    })?))
}

pub(super) fn pad(n: &Node<'_>) -> Results {
    let (x, value) = (n.tensor(0)?, n.tensor(1)?.item()?);
    let mut given = n.ints(2)?.into_iter();
    let low = fill(&n.list("low")?, &mut given)?;
    let high = fill(&n.list("high")?, &mut given)?;
    let interior = n.list("interior")?;
    if [low.len(), high.len(), interior.len()] != [x.rank(); 3] {
        return Err(fail("one entry of padding per dimension"));
    }
    let sizes: Vec<i64> =
        x.shape().iter().enumerate().map(|(d, &s)| s as i64 + (s as i64 - 1).max(0) * interior[d] + low[d] + high[d]).collect();
    let shape = natural(&sizes)?;
    single(Value::Tensor(Tensor::build(x.dtype(), &shape, |i| {
        let mut at = Vec::with_capacity(i.len());
        for d in 0..i.len() {
            let (p, step) = (i[d] as i64 - low[d], interior[d] + 1);
            if p < 0 || p % step != 0 || p / step >= x.shape()[d] as i64 {
                return value;
            }
            at.push((p / step) as usize);
        }
        x.get(&at)
    })?))
}

pub(super) fn concat(n: &Node<'_>) -> Results {
    let parts = n.tensors(0)?;
    let dim = n.dim(parts.first().ok_or_else(|| fail("nothing to concatenate"))?.rank())?;
    // Empty vectors are parts like any other here.
    let used: Vec<&Tensor> = parts.iter().copied().filter(|t| t.shape()[dim] > 0).collect();
    single(Value::Tensor(if used.is_empty() { parts[0].clone() } else { join::cat(&used, dim as i64)? }))
}

pub(super) fn window(n: &Node<'_>) -> Results {
    let x = n.tensor(0)?;
    let (sizes, strides, dilations) = (natural(&n.list("sizes")?)?, natural(&n.list("strides")?)?, natural(&n.list("dilations")?)?);
    let dims = windowed(x.rank(), sizes.len(), n.op.ints("dims"));
    if sizes.len() > x.rank() || [dims.len(), strides.len(), dilations.len()] != [sizes.len(); 3] || dims.iter().any(|&d| d >= x.rank()) {
        return Err(fail("more windowed dimensions than there are"));
    }
    let mut shape = x.shape().to_vec();
    for (k, &d) in dims.iter().enumerate() {
        let span = sizes[k].saturating_sub(1) * dilations[k] + 1;
        shape[d] = x.shape()[d].checked_sub(span).map_or(0, |room| room / strides[k].max(1) + 1);
    }
    shape.extend(&sizes);
    single(Value::Tensor(x.view(&shape, |i, s| {
        s.copy_from_slice(&i[..x.rank()]);
        for (k, &d) in dims.iter().enumerate() {
            s[d] = i[d] * strides[k] + i[x.rank() + k] * dilations[k];
        }
    })?))
}

pub(super) fn dim(n: &Node<'_>) -> Results {
    let x = n.tensor(0)?;
    single(Value::int(x.shape()[n.dim(x.rank())?] as i64))
}

pub(super) fn iota(n: &Node<'_>) -> Results {
    let shape = n.shape(0)?;
    numel(&shape)?;
    let dim = n.dim(shape.len())?;
    single(Value::Tensor(Tensor::build(n.dtype(0)?, &shape, |i| Scalar::Int(i[dim] as i128))?))
}
