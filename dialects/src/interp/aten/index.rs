//! Reading and writing at computed positions.

use super::Arm::{self, Op};
use super::common::{add, maximum, minimum, mul, quotient};
use super::view::{diagonal_range, slice_range, strided_positions, wrap_index};
use crate::interp::dtype::{DType, Scalar};
use crate::interp::tensor::{Tensor, broadcast_shape, each, try_each};
use crate::interp::value::{Args, InterpError, Results, fail, list, one, wrap_dim};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(&str, Arm)] = &[
    ("aten._index_put_impl", Op(index_put)),
    ("aten._unsafe_index.Tensor", Op(|a| one(index(a.tensor("self")?, &a.opt_tensors("indices")?)?))),
    ("aten._unsafe_index_put", Op(index_put)),
    ("aten._unsafe_masked_index", Op(masked_index)),
    ("aten._unsafe_masked_index_put_accumulate", Op(masked_index_put)),
    ("aten.argwhere", Op(nonzero)),
    ("aten.as_strided_scatter", Op(as_strided_scatter)),
    ("aten.diagonal_backward", Op(diagonal_backward)),
    ("aten.diagonal_scatter", Op(diagonal_scatter)),
    ("aten.embedding", Op(embedding)),
    ("aten.embedding_dense_backward", Op(embedding_backward)),
    ("aten.gather", Op(gather)),
    ("aten.index.Tensor", Op(|a| one(index(a.tensor("self")?, &a.opt_tensors("indices")?)?))),
    ("aten.index_add", Op(index_add)),
    ("aten.index_copy", Op(|a| along(a, |_, new| new))),
    ("aten.index_fill.int_Scalar", Op(index_fill)),
    ("aten.index_fill.int_Tensor", Op(index_fill)),
    ("aten.index_put", Op(index_put)),
    ("aten.index_reduce", Op(index_reduce)),
    ("aten.index_select", Op(index_select)),
    ("aten.nonzero", Op(nonzero)),
    ("aten.nonzero_numpy", Op(|a| nonzero_list(a, "self"))),
    ("aten.nonzero_static", Op(nonzero_static)),
    ("aten.one_hot", Op(one_hot)),
    ("aten.put", Op(put)),
    ("aten.scatter.reduce", Op(scatter_arm)),
    ("aten.scatter.src", Op(scatter_arm)),
    ("aten.scatter.value", Op(scatter_arm)),
    ("aten.scatter.value_reduce", Op(scatter_arm)),
    ("aten.scatter_add", Op(|a| scatter(a, Some("sum"), true))),
    ("aten.scatter_reduce.two", Op(|a| scatter(a, Some(a.str("reduce")?), a.flag("include_self")?))),
    ("aten.select_backward", Op(select_backward)),
    ("aten.select_scatter", Op(select_scatter)),
    ("aten.slice_backward", Op(slice_backward)),
    ("aten.slice_scatter", Op(slice_scatter)),
    ("aten.take", Op(take)),
    ("aten.take_along_dim", Op(take_along_dim)),
    ("aten.unfold_backward", Op(unfold_backward)),
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
fn lifted(t: &Tensor) -> Tensor {
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
    let (grad, indices) = (args.tensor("grad_output")?, args.tensor("indices")?);
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
    along(args, |old, new| add(old, mul(alpha, new)))
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

/// How scattered values meet: the first one, those after it, and what is done at the end.
struct Meeting {
    combine: fn(Scalar, Scalar) -> Scalar,
    start: Scalar,
    average: bool,
}

fn meeting(kind: &str, dtype: DType) -> Result<Meeting, InterpError> {
    let m = |combine, start| Meeting { combine, start, average: false };
    Ok(match kind {
        "sum" | "add" => m(add, Scalar::Int(0)),
        "prod" | "multiply" => m(mul, Scalar::Int(1)),
        "amax" => m(maximum, dtype.lowest()),
        "amin" => m(minimum, dtype.highest()),
        "mean" => Meeting { combine: add, start: Scalar::Int(0), average: true },
        other => return Err(fail(format!("the reduction `{other}` is not known"))),
    })
}

/// Combines `(target position, value)` pairs into a tensor, in order.
fn combined(x: &Tensor, pairs: &[(usize, Scalar)], m: &Meeting, include_self: bool) -> Tensor {
    let mut values: Vec<Scalar> = x.scalars().collect();
    let mut counts = vec![include_self as i128; values.len()];
    let mut touched = vec![false; values.len()];
    for &(p, v) in pairs {
        let old = if touched[p] || include_self { values[p] } else { m.start };
        values[p] = super::reduce::wrapped(x.dtype(), (m.combine)(old, v));
        touched[p] = true;
        counts[p] += 1;
    }
    if m.average {
        for p in (0..values.len()).filter(|&p| touched[p]) {
            values[p] = match values[p] {
                Scalar::Int(v) => Scalar::Int(v.div_euclid(counts[p])),
                v => quotient(v, Scalar::Int(counts[p])),
            };
        }
    }
    let mut out = x.clone();
    values.into_iter().enumerate().for_each(|(k, v)| out.put(k, v));
    out
}

fn scatter_arm(args: &Args) -> Results {
    scatter(args, args.opt_str("reduce")?, true)
}

fn scatter(args: &Args, kind: Option<&str>, include_self: bool) -> Results {
    let original = args.tensor("self")?;
    let dim = args.dim("dim", original.rank())?;
    let x = lifted(original);
    let at = lifted(args.tensor("index")?);
    let source = args.opt_tensor("src")?.map(lifted);
    let value = args.opt_scalar("value")?;
    if at.is_empty() {
        return one(original.clone());
    }
    if at.rank() != x.rank() {
        return Err(fail("the index has another rank than the tensor"));
    }
    let mut pairs = Vec::new();
    try_each(at.shape(), |i| {
        let mut j = i.to_vec();
        j[dim] = wrap_index(at.get(i).int() as i64, x.shape()[dim])?;
        if (0..j.len()).any(|d| j[d] >= x.shape()[d]) || source.as_ref().is_some_and(|s| (0..i.len()).any(|d| i[d] >= s.shape()[d])) {
            return Err(fail("the index is larger than the tensor"));
        }
        let v = match &source {
            Some(s) => s.get(i),
            None => value.ok_or_else(|| fail("neither a source nor a value"))?,
        };
        pairs.push((x.position(&j), x.dtype().cast(v)));
        Ok(())
    })?;
    let set = Meeting { combine: |_, new| new, start: Scalar::Int(0), average: false };
    let m = kind.map(|k| meeting(k, x.dtype())).transpose()?.unwrap_or(set);
    one(combined(&x, &pairs, &m, include_self).reshape(original.shape())?)
}

fn index_reduce(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let dim = args.dim("dim", x.rank())?;
    let (target, at, source) = (lifted(x), lifted(args.tensor("index")?), lifted(args.tensor("source")?));
    let mut pairs = Vec::new();
    try_each(source.shape(), |i| {
        let mut j = i.to_vec();
        j[dim] = wrap_index(int_at(&at, i[dim]), target.shape()[dim])?;
        pairs.push((target.position(&j), source.get(i)));
        Ok(())
    })?;
    one(combined(&target, &pairs, &meeting(args.str("reduce")?, x.dtype())?, args.flag("include_self")?).reshape(x.shape())?)
}

fn one_hot(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let classes = match args.int("num_classes")? {
        -1 => x.ints().into_iter().max().ok_or_else(|| fail("no classes"))? + 1,
        n => n as i128,
    };
    let shape = [x.shape(), &[usize::try_from(classes).map_err(|_| fail("a negative class"))?]].concat();
    one(Tensor::build(DType::I64, &shape, |i| Scalar::Bool(x.get(&i[..x.rank()]).int() == i[x.rank()] as i128))?)
}

/// Writes `source` into `x` where `f` places each of its indices.
fn placed(mut x: Tensor, source: &Tensor, f: impl Fn(&[usize]) -> Vec<usize>) -> Results {
    try_each(source.shape(), |i| {
        let at = f(i);
        if at.iter().zip(x.shape()).any(|(i, s)| i >= s) {
            return Err(fail("the source is larger than its place"));
        }
        let p = x.position(&at);
        x.put(p, source.get(i));
        Ok(())
    })?;
    one(x)
}

fn insert(i: &[usize], dim: usize, at: usize) -> Vec<usize> {
    let mut out = i.to_vec();
    out.insert(dim, at);
    out
}

fn zeros(args: &Args, grad: &Tensor) -> Result<Tensor, InterpError> {
    Tensor::zeros(grad.dtype(), &args.shape("input_sizes")?)
}

fn select_backward(args: &Args) -> Results {
    let grad = args.tensor("grad_output")?;
    let x = zeros(args, grad)?;
    let dim = args.dim("dim", x.rank())?;
    let at = wrap_index(args.int("index")?, x.shape()[dim])?;
    placed(x, grad, |i| insert(i, dim, at))
}

fn select_scatter(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let dim = args.dim("dim", x.rank())?;
    let at = wrap_index(args.int("index")?, x.shape()[dim])?;
    placed(x.clone(), args.tensor("src")?, |i| insert(i, dim, at))
}

fn slice_into(args: &Args, x: Tensor, source: &Tensor) -> Results {
    let dim = args.dim("dim", x.rank())?;
    let (start, count, step) = slice_range(args, x.shape()[dim])?;
    let mut shape = x.shape().to_vec();
    shape[dim] = count;
    placed(x, &source.expand(&shape)?, |i| {
        let mut out = i.to_vec();
        out[dim] = start + i[dim] * step;
        out
    })
}

fn slice_backward(args: &Args) -> Results {
    let grad = args.tensor("grad_output")?;
    slice_into(args, zeros(args, grad)?, grad)
}

fn slice_scatter(args: &Args) -> Results {
    slice_into(args, args.tensor("self")?.clone(), args.tensor("src")?)
}

fn diagonal_into(args: &Args, x: Tensor, source: &Tensor) -> Results {
    let (a, b) = (wrap_dim(args.int("dim1")?, x.rank())?, wrap_dim(args.int("dim2")?, x.rank())?);
    let (row, col, _) = diagonal_range(x.shape(), a, b, args.int("offset")?)?;
    let rank = x.rank();
    placed(x, source, |i| {
        let mut rest = i.iter();
        let last = i[rank - 2];
        (0..rank).map(|d| if d == a { row + last } else if d == b { col + last } else { rest.next().copied().unwrap_or(0) }).collect()
    })
}

fn diagonal_backward(args: &Args) -> Results {
    let grad = args.tensor("grad_output")?;
    diagonal_into(args, zeros(args, grad)?, grad)
}

fn diagonal_scatter(args: &Args) -> Results {
    diagonal_into(args, args.tensor("self")?.clone(), args.tensor("src")?)
}

fn as_strided_scatter(args: &Args) -> Results {
    let mut x = args.tensor("self")?.clone();
    let source = args.tensor("src")?;
    let (shape, positions) = strided_positions(args)?;
    let source = source.expand(&shape)?;
    for (k, &p) in positions.iter().enumerate() {
        if p >= x.len() {
            return Err(fail("the strided view leaves the tensor"));
        }
        x.put(p, source.at(k));
    }
    one(x)
}

fn unfold_backward(args: &Args) -> Results {
    let grad = args.tensor("grad_in")?;
    let mut x = zeros(args, grad)?;
    let (dim, step) = (args.dim("dim", x.rank())?, args.int("step")?.max(0) as usize);
    let rank = x.rank();
    if rank == 0 {
        return one(grad.reshape(&[])?);
    }
    try_each(grad.shape(), |i| {
        let mut j = i[..rank].to_vec();
        j[dim] = i[dim] * step + i[rank];
        if j[dim] >= x.shape()[dim] {
            return Err(fail("a window leaves the tensor"));
        }
        let p = x.position(&j);
        x.put(p, add(x.at(p), grad.get(i)));
        Ok(())
    })?;
    one(x)
}
