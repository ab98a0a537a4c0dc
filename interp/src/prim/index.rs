//! Reading and writing at computed positions. Indices must be in bounds.

use super::{Node, natural};
use crate::Scalar;
use crate::aten::common::{add, maximum, minimum, mul};
use crate::run::single;
use crate::tensor::{Tensor, try_each};
use crate::value::{InterpError, Results, Value, fail};

/// The point of x for a point of the indices and one of the remaining dimensions.
fn point(x: &Tensor, dims: &[usize], indices: &[&Tensor], i: &[usize]) -> Result<Vec<usize>, InterpError> {
    let rank = indices[0].rank();
    let mut rest = i[rank..].iter();
    let mut at = Vec::with_capacity(x.rank());
    for d in 0..x.rank() {
        at.push(match dims.iter().position(|&k| k == d) {
            Some(k) => {
                let v = indices[k].get(&i[..rank]).int();
                usize::try_from(v)
                    .ok()
                    .filter(|&v| v < x.shape()[d])
                    .ok_or_else(|| fail(format!("index out of bounds: {v} in a dimension of size {}", x.shape()[d])))?
            }
            None => *rest.next().ok_or_else(|| fail("too few dimensions"))?,
        });
    }
    Ok(at)
}

fn checked<'a>(n: &'a Node<'_>, x: &Tensor, from: usize) -> Result<(Vec<usize>, Vec<&'a Tensor>), InterpError> {
    let (dims, indices) = (n.dims("dims", x.rank())?, n.tensors(from)?);
    if dims.len() != indices.len() || indices.is_empty() || indices.iter().any(|t| t.shape() != indices[0].shape()) {
        return Err(fail("one index tensor of one shape per dimension"));
    }
    Ok((dims, indices))
}

fn full_shape(x: &Tensor, dims: &[usize], indices: &[&Tensor]) -> Vec<usize> {
    let rest = (0..x.rank()).filter(|d| !dims.contains(d)).map(|d| x.shape()[d]);
    indices[0].shape().iter().copied().chain(rest).collect()
}

pub(super) fn gather(n: &Node<'_>) -> Results {
    let x = n.tensor(0)?;
    let (dims, indices) = checked(n, x, 1)?;
    single(Value::Tensor(Tensor::try_build(x.dtype(), &full_shape(x, &dims, &indices), |i| Ok(x.get(&point(x, &dims, &indices, i)?)))?))
}

/// What a new element makes of the present one.
pub(crate) fn conflict(kind: &str) -> Result<fn(Scalar, Scalar) -> Scalar, InterpError> {
    Ok(match kind {
        "set" => |_, new| new,
        "add" => add,
        "mul" => mul,
        "max" => maximum,
        "min" => minimum,
        other => return Err(fail(format!("the kind `{other}` is not known"))),
    })
}

pub(super) fn scatter(n: &Node<'_>) -> Results {
    let mut x = n.tensor(0)?.clone();
    let updates = n.tensor(1)?;
    let (dims, indices) = checked(n, &x, 2)?;
    let combine = conflict(&n.text("kind")?)?;
    if updates.shape() != full_shape(&x, &dims, &indices) {
        return Err(fail("the updates do not have the shape of what they replace"));
    }
    try_each(updates.shape(), |i| {
        let k = x.position(&point(&x, &dims, &indices, i)?);
        x.put(k, combine(x.at(k), updates.get(i)));
        Ok(())
    })?;
    single(Value::Tensor(x))
}

/// Offsets of a box that must lie inside of a shape.
fn corner(offsets: &[i64], sizes: &[usize], shape: &[usize]) -> Result<Vec<usize>, InterpError> {
    let offsets = natural(offsets)?;
    let inside = offsets.len() == shape.len() && sizes.len() == shape.len() && (0..shape.len()).all(|d| offsets[d] + sizes[d] <= shape[d]);
    if inside { Ok(offsets) } else { Err(fail(format!("index out of bounds: a box of {sizes:?} at {offsets:?} in {shape:?}"))) }
}

pub(super) fn dynamic_slice(n: &Node<'_>) -> Results {
    let x = n.tensor(0)?;
    let sizes = natural(&n.list("sizes")?)?;
    let offsets = corner(&n.ints(1)?, &sizes, x.shape())?;
    single(Value::Tensor(x.view(&sizes, |i, s| (0..s.len()).for_each(|d| s[d] = offsets[d] + i[d]))?))
}

pub(super) fn dynamic_update(n: &Node<'_>) -> Results {
    let mut x = n.tensor(0)?.clone();
    let update = n.tensor(1)?;
    let offsets = corner(&n.ints(2)?, update.shape(), x.shape())?;
    try_each(update.shape(), |i| {
        let at: Vec<usize> = i.iter().zip(&offsets).map(|(a, b)| a + b).collect();
        x.set(&at, update.get(i));
        Ok(())
    })?;
    single(Value::Tensor(x))
}
