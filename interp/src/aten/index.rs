//! Reading and writing at computed positions.

use super::Arm::{self, Op};
use super::common::{add, mul};
use super::view::wrap_index;
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::{DType, Scalar};
use crate::tensor::{Tensor, broadcast_shape, each, try_each};
use crate::value::{Args, InterpError, Results, fail, list, one};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (_INDEX_PUT_IMPL, Op(index_put)),
    (_UNSAFE_INDEX_TENSOR, Op(|a| one(index(a.tensor("self")?, &a.opt_tensors("indices")?)?))),
    (_UNSAFE_INDEX_PUT, Op(index_put)),
    (_UNSAFE_MASKED_INDEX, Op(masked_index)),
    (_UNSAFE_MASKED_INDEX_PUT_ACCUMULATE, Op(masked_index_put)),
    (ARGWHERE, Op(nonzero)),
    (EMBEDDING, Op(embedding)),
    (EMBEDDING_BACKWARD, Op(embedding_backward)),
    (EMBEDDING_DENSE_BACKWARD, Op(embedding_backward)),
    (GATHER, Op(gather)),
    (INDEX_TENSOR, Op(|a| one(index(a.tensor("self")?, &a.opt_tensors("indices")?)?))),
    (INDEX_ADD, Op(index_add)),
    (INDEX_COPY, Op(|a| along(a, |_, new| new))),
    (INDEX_FILL_INT_SCALAR, Op(index_fill)),
    (INDEX_FILL_INT_TENSOR, Op(index_fill)),
    (INDEX_PUT, Op(index_put)),
    (INDEX_SELECT, Op(index_select)),
    (NONZERO, Op(nonzero)),
    (NONZERO_NUMPY, Op(|a| nonzero_list(a, "self"))),
    (NONZERO_STATIC, Op(nonzero_static)),
    (ONE_HOT, Op(one_hot)),
    (PUT, Op(put)),
    (TAKE, Op(take)),
    (TAKE_ALONG_DIM, Op(take_along_dim)),
];

fn int_at(t: &Tensor, k: usize) -> i64 {
    t.at(k).int() as i64
}

/// Index tensors as PyTorch reads them: masks become the positions of their true elements.
fn expand_masks(x: &Tensor, indices: &[Option<&Tensor>]) -> Result<Vec<Option<Tensor>>, InterpError> {
    let mut out = Vec::new();
    for i in indices {
        match i {
            None => out.push(None),
            Some(t) if matches!(t.dtype(), DType::Bool | DType::U8) => {
                let at = out.len();
                if t.rank() > 0 && x.shape().get(at..at + t.rank()) != Some(t.shape()) {
                    return Err(fail(format!("a mask of shape {:?} does not fit {:?}", t.shape(), x.shape())));
                }
                let points = positions(t);
                if t.rank() == 0 {
                    return Err(fail("a 0-d mask"));
                }
                for d in 0..t.rank() {
                    out.push(Some(Tensor::from_ints(&[points.len()], &points.iter().map(|p| p[d] as i64).collect::<Vec<_>>())?));
                }
            }
            Some(t) => out.push(Some((*t).clone())),
        }
    }
    if out.len() > x.rank() {
        return Err(fail(format!("{} indices for a tensor of rank {}", out.len(), x.rank())));
    }
    out.resize(x.rank(), None);
    Ok(out)
}

/// The shape of `x[indices]` and, for each of its elements, the position in `x`.
fn indexed(x: &Tensor, indices: &[Option<&Tensor>]) -> Result<(Vec<usize>, Vec<usize>), InterpError> {
    let indices = expand_masks(x, indices)?;
    let used: Vec<usize> = (0..x.rank()).filter(|&d| indices[d].is_some()).collect();
    let shape = broadcast_shape(&indices.iter().flatten().map(|t| t.shape()).collect::<Vec<_>>())?;
    let wide: Vec<Option<Tensor>> = indices.iter().map(|i| i.as_ref().map(|t| t.expand(&shape)).transpose()).collect::<Result<_, _>>()?;
    // Adjacent index tensors leave their dimensions in place; others put them first.
    let adjacent = used.windows(2).all(|w| w[1] == w[0] + 1);
    let lead = if adjacent { used.first().copied().unwrap_or(0) } else { 0 };
    let rest: Vec<usize> = (0..x.rank()).filter(|d| indices[*d].is_none()).collect();
    let sizes = |dims: &[usize]| dims.iter().map(|&d| x.shape()[d]).collect::<Vec<_>>();
    let result = [sizes(&rest[..lead]), shape.clone(), sizes(&rest[lead..])].concat();
    let mut positions = Vec::new();
    let mut at = vec![0; x.rank()];
    try_each(&result, |i| {
        let point = &i[lead..lead + shape.len()];
        for (k, &d) in rest.iter().enumerate() {
            at[d] = if k < lead { i[k] } else { i[k + shape.len()] };
        }
        for &d in &used {
            if let Some(t) = &wide[d] {
                at[d] = wrap_index(t.get(point).int() as i64, x.shape()[d])?;
            }
        }
        positions.push(x.position(&at));
        Ok(())
    })?;
    Ok((result, positions))
}

/// `x[indices]`.
pub fn index(x: &Tensor, indices: &[Option<&Tensor>]) -> Result<Tensor, InterpError> {
    let (shape, positions) = indexed(x, indices)?;
    Ok(x.pick(&shape, &positions))
}

fn index_put(args: &Args) -> Results {
    let mut x = args.tensor("self")?.clone();
    let (shape, positions) = indexed(&x, &args.opt_tensors("indices")?)?;
    let values = args.tensor("values")?.expand(&shape)?;
    let accumulate = args.flag("accumulate")?;
    for (k, &p) in positions.iter().enumerate() {
        x.put(p, if accumulate { add(x.at(p), values.at(k)) } else { values.at(k) });
    }
    one(x)
}

/// Indices outside of the mask are not read; they are clamped first, as the operator is unchecked.
fn clamped(x: &Tensor, indices: &[Option<&Tensor>]) -> Vec<Option<Tensor>> {
    indices
        .iter()
        .enumerate()
        .map(|(d, i)| {
            let n = x.shape().get(d).copied().unwrap_or(1) as i128;
            i.map(|t| t.map(t.dtype(), |v| Scalar::Int(v.int().clamp(-n, (n - 1).max(0)))))
        })
        .collect()
}

fn masked_index(args: &Args) -> Results {
    let (x, mask) = (args.tensor("self")?, args.tensor("mask")?);
    let fill = args.scalar("fill")?;
    let indices = clamped(x, &args.opt_tensors("indices")?);
    let got = index(x, &indices.iter().map(Option::as_ref).collect::<Vec<_>>())?;
    let mask = mask.expand(got.shape())?;
    one(Tensor::from_scalars(got.dtype(), got.shape(), (0..got.len()).map(|k| if mask.at(k).truthy() { got.at(k) } else { fill }))?)
}

fn masked_index_put(args: &Args) -> Results {
    let mut x = args.tensor("self")?.clone();
    let indices = clamped(&x, &args.opt_tensors("indices")?);
    let (shape, positions) = indexed(&x, &indices.iter().map(Option::as_ref).collect::<Vec<_>>())?;
    let (mask, values) = (args.tensor("mask")?.expand(&shape)?, args.tensor("values")?.expand(&shape)?);
    for (k, &p) in positions.iter().enumerate() {
        if mask.at(k).truthy() {
            x.put(p, add(x.at(p), values.at(k)));
        }
    }
    one(x)
}

/// Indices of the true elements, in row-major order.
pub fn positions(t: &Tensor) -> Vec<Vec<usize>> {
    let mut out = Vec::new();
    each(t.shape(), |i| {
        if t.get(i).truthy() {
            out.push(i.to_vec());
        }
    });
    out
}

fn nonzero(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let points = positions(x);
    one(Tensor::from_ints(&[points.len(), x.rank()], &points.iter().flatten().map(|&v| v as i64).collect::<Vec<_>>())?)
}

/// One index tensor per dimension.
pub fn nonzero_list(args: &Args, name: &str) -> Results {
    let x = args.tensor(name)?;
    let x = if x.rank() == 0 { x.unsqueeze(0) } else { x.clone() };
    let points = positions(&x);
    list((0..x.rank()).map(|d| Tensor::from_ints(&[points.len()], &points.iter().map(|p| p[d] as i64).collect::<Vec<_>>())).collect::<Result<Vec<_>, _>>()?)
}

fn nonzero_static(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let points = positions(x);
    let rows = usize::try_from(args.int("size")?).map_err(|_| fail("a negative size"))?;
    let fill = args.int("fill_value")?;
    one(Tensor::build(DType::I64, &[rows, x.rank()], |i| Scalar::Int(points.get(i[0]).map_or(fill as i128, |p| p[i[1]] as i128)))?)
}

/// A 0-d tensor seen as one element.
pub(super) fn lifted(t: &Tensor) -> Tensor {
    if t.rank() == 0 { t.unsqueeze(0) } else { t.clone() }
}

fn index_select(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let dim = args.dim("dim", x.rank())?;
    let at = lifted(args.tensor("index")?);
    let source = lifted(x);
    let mut shape = source.shape().to_vec();
    shape[dim] = at.len();
    let at: Vec<usize> = (0..at.len()).map(|k| wrap_index(int_at(&at, k), source.shape()[dim])).collect::<Result<_, _>>()?;
    let y = source.view(&shape, |i, s| {
        s.copy_from_slice(i);
        s[dim] = at[i[dim]];
    })?;
    one(if x.rank() == 0 { y.reshape(&[])? } else { y })
}

fn embedding(args: &Args) -> Results {
    let indices = args.tensor("indices")?;
    // Unlike in indexing, a negative index is an error.
    if let Some(row) = (0..indices.len()).map(|k| int_at(indices, k)).find(|&row| row < 0) {
        return Err(fail(format!("index out of range: {row}")));
    }
    one(index(args.tensor("weight")?, &[Some(indices)])?)
}

fn embedding_backward(args: &Args) -> Results {
    let grad = args.tensor(if args.opt("grad").is_some() { "grad" } else { "grad_output" })?;
    let indices = args.tensor("indices")?;
    let rows = usize::try_from(args.int("num_weights")?).map_err(|_| fail("a negative size"))?;
    let width = grad.shape().last().copied().unwrap_or(1);
    let padding = args.int("padding_idx")?;
    let mut sums = vec![0.0; rows * width];
    let by_count = args.flag("scale_grad_by_freq")?;
    let all: Vec<i64> = (0..indices.len()).map(|k| int_at(indices, k)).collect();
    for (k, &row) in all.iter().enumerate() {
        if row == padding {
            continue;
        }
        let row_at = wrap_index(row, rows)?;
        let scale = if by_count { all.iter().filter(|&&r| r == row).count() as f64 } else { 1.0 };
        for j in 0..width {
            sums[row_at * width + j] += grad.at(k * width + j).float() / scale;
        }
    }
    one(Tensor::from_floats(grad.dtype(), &[rows, width], &sums)?)
}

fn gather(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let dim = args.dim("dim", x.rank())?;
    one(gathered(x, dim, args.tensor("index")?)?)
}

fn gathered(x: &Tensor, dim: usize, index: &Tensor) -> Result<Tensor, InterpError> {
    let (source, at) = (lifted(x), lifted(index));
    if index.is_empty() {
        return Tensor::zeros(x.dtype(), index.shape());
    }
    if source.rank() != at.rank() {
        return Err(fail("the index has another rank than the tensor"));
    }
    Tensor::try_build(x.dtype(), at.shape(), |i| {
        let mut j = i.to_vec();
        j[dim] = wrap_index(at.get(i).int() as i64, source.shape()[dim])?;
        if (0..j.len()).any(|d| j[d] >= source.shape()[d]) {
            return Err(fail("the index is larger than the tensor"));
        }
        Ok(source.get(&j))
    })?
    .reshape(index.shape())
}

fn take(args: &Args) -> Results {
    let (x, at) = (args.tensor("self")?, args.tensor("index")?);
    one(Tensor::try_build(x.dtype(), at.shape(), |i| Ok(x.at(wrap_index(at.get(i).int() as i64, x.len())?)))?)
}

fn take_along_dim(args: &Args) -> Results {
    let (x, at) = (args.tensor("self")?, args.tensor("indices")?);
    if args.opt("dim").is_none() {
        return one(gathered(&x.reshape(&[x.len()])?, 0, &at.reshape(&[at.len()])?)?);
    }
    let dim = args.dim("dim", x.rank())?;
    let (mut sx, mut si) = (x.shape().to_vec(), at.shape().to_vec());
    if sx.len() != si.len() || sx.is_empty() {
        return Err(fail("the indices have another rank than the tensor"));
    }
    (sx[dim], si[dim]) = (1, 1);
    let mut wide = broadcast_shape(&[&sx, &si])?;
    wide[dim] = x.shape()[dim];
    let x = x.expand(&wide)?;
    wide[dim] = at.shape()[dim];
    one(gathered(&x, dim, &at.expand(&wide)?)?)
}

fn put(args: &Args) -> Results {
    let mut x = args.tensor("self")?.clone();
    let (at, source) = (args.tensor("index")?, args.tensor("source")?);
    let accumulate = args.flag("accumulate")?;
    if source.len() != at.len() {
        return Err(fail("source and index differ in size"));
    }
    for k in 0..at.len() {
        let p = wrap_index(int_at(at, k), x.len())?;
        x.put(p, if accumulate { add(x.at(p), source.at(k)) } else { source.at(k) });
    }
    one(x)
}

/// Combines slices of `source` into slices of `self` at the indices of a dimension.
fn along(args: &Args, f: impl Fn(Scalar, Scalar) -> Scalar) -> Results {
    let original = args.tensor("self")?;
    let dim = args.dim("dim", original.rank())?;
    let mut x = lifted(original);
    let at = lifted(args.tensor("index")?);
    let source = lifted(args.tensor("source")?);
    if source.rank() != x.rank() || source.shape()[dim] != at.len() {
        return Err(fail("source and index do not match"));
    }
    try_each(source.shape(), |i| {
        let mut j = i.to_vec();
        j[dim] = wrap_index(int_at(&at, i[dim]), x.shape()[dim])?;
        let p = x.position(&j);
        x.put(p, f(x.at(p), source.get(i)));
        Ok(())
    })?;
    one(x.reshape(original.shape())?)
}

fn index_add(args: &Args) -> Results {
    let alpha = args.opt_scalar("alpha")?.unwrap_or(Scalar::Int(1));
    let x = args.tensor("self")?;
    if x.rank() < 2 {
        return along(args, |old, new| add(old, mul(alpha, new)));
    }
    // Sums of halves are rounded once, unless they are those of a vector.
    let wide = args.clone().with("self", x.cast(super::common::opmath(x.dtype())));
    one(along(&wide, |old, new| add(old, mul(alpha, new)))?[0].tensor()?.cast(x.dtype()))
}

fn index_fill(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let dim = args.dim("dim", x.rank())?;
    let value = args.scalar("value")?;
    let index = lifted(args.tensor("index")?);
    let source = lifted(x);
    let at: Vec<usize> = (0..index.len()).map(|k| wrap_index(int_at(&index, k), source.shape()[dim])).collect::<Result<_, _>>()?;
    one(Tensor::build(x.dtype(), source.shape(), |i| if at.contains(&i[dim]) { value } else { source.get(i) })?.reshape(x.shape())?)
}

fn one_hot(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let classes = match args.int("num_classes")? {
        -1 => x.ints().into_iter().max().ok_or_else(|| fail("no classes"))? + 1,
        n => n as i128,
    };
    let shape = [x.shape(), &[usize::try_from(classes).map_err(|_| fail("a negative class"))?]].concat();
    if x.ints().into_iter().any(|class| !(0..classes).contains(&class)) {
        return Err(fail(format!("a class is negative, or not below num_classes = {classes}")));
    }
    one(Tensor::build(DType::I64, &shape, |i| Scalar::Bool(x.get(&i[..x.rank()]).int() == i[x.rank()] as i128))?)
}
