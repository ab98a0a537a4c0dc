//! Operators that only rearrange elements of one tensor.

use super::Arm::{self, Op};
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::Scalar;
use crate::tensor::{Tensor, broadcast_shape};
use crate::value::{Args, InterpError, Results, Value, fail, list, one, wrap_dim, wrap_dims};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (_RESHAPE_ALIAS, Op(|a| reshape(a, "size"))),
    (_RESHAPE_COPY, Op(|a| reshape(a, "size"))),
    (_UNSAFE_VIEW, Op(|a| reshape(a, "size"))),
    (ADJOINT, Op(|a| matrix_transpose(a, "self", true))),
    (ALIAS, Op(same)),
    (ALIAS_COPY, Op(same)),
    (AS_STRIDED, Op(as_strided)),
    (AS_STRIDED_COPY, Op(as_strided)),
    (ATLEAST_1D, Op(|a| at_least(a, 1))),
    (ATLEAST_1D_SEQUENCE, Op(|a| at_least(a, 1))),
    (ATLEAST_2D, Op(|a| at_least(a, 2))),
    (ATLEAST_2D_SEQUENCE, Op(|a| at_least(a, 2))),
    (ATLEAST_3D, Op(|a| at_least(a, 3))),
    (ATLEAST_3D_SEQUENCE, Op(|a| at_least(a, 3))),
    (BROADCAST_TENSORS, Op(broadcast_tensors)),
    (BROADCAST_TO, Op(expand)),
    (CLONE, Op(same)),
    (CONTIGUOUS, Op(same)),
    (DETACH, Op(same)),
    (DETACH_COPY, Op(same)),
    (DIAGONAL, Op(|a| diagonal(a, "self"))),
    (DIAGONAL_COPY, Op(|a| diagonal(a, "self"))),
    (EXPAND, Op(expand)),
    (EXPAND_AS, Op(|a| one(a.tensor("self")?.expand(a.tensor("other")?.shape())?))),
    (EXPAND_COPY, Op(expand)),
    (FLATTEN_USING_INTS, Op(flatten)),
    (FLIP, Op(|a| flip(a.tensor("self")?, &a.ints("dims")?))),
    (FLIPLR, Op(|a| flip(a.tensor("self")?, &[1]))),
    (FLIPUD, Op(|a| flip(a.tensor("self")?, &[0]))),
    (LIFT, Op(same)),
    (LIFT_FRESH, Op(same)),
    (LIFT_FRESH_COPY, Op(same)),
    (LINALG_DIAGONAL, Op(|a| diagonal(a, "A"))),
    (MH, Op(|a| matrix_transpose(a, "self", true))),
    (MT, Op(|a| matrix_transpose(a, "self", false))),
    (MATRIX_H, Op(|a| matrix_transpose(a, "self", true))),
    (MOVEAXIS_INT, Op(movedim)),
    (MOVEAXIS_INTLIST, Op(movedim)),
    (MOVEDIM_INT, Op(movedim)),
    (MOVEDIM_INTLIST, Op(movedim)),
    (NARROW, Op(narrow)),
    (NARROW_TENSOR, Op(narrow)),
    (NARROW_COPY, Op(narrow)),
    (NUMPY_T, Op(|a| { let x = a.tensor("self")?; one(x.permute(&(0..x.rank()).rev().collect::<Vec<_>>())?) })),
    (PERMUTE, Op(permute)),
    (PERMUTE_COPY, Op(permute)),
    (RAVEL, Op(|a| { let x = a.tensor("self")?; one(x.reshape(&[x.len()])?) })),
    (REPEAT, Op(|a| repeat(a.tensor("self")?, &a.sizes("repeats")?))),
    (RESHAPE, Op(|a| reshape(a, "shape"))),
    (RESHAPE_AS, Op(|a| one(a.tensor("self")?.reshape(a.tensor("other")?.shape())?))),
    (RESIZE, Op(resize)),
    (RESIZE_AS, Op(resize)),
    (ROLL, Op(roll)),
    (ROT90, Op(rot90)),
    (SELECT_INT, Op(select)),
    (SELECT_COPY_INT, Op(select)),
    (SLICE_TENSOR, Op(slice)),
    (SLICE_COPY_TENSOR, Op(slice)),
    (SQUEEZE, Op(squeeze)),
    (SQUEEZE_DIM, Op(squeeze)),
    (SQUEEZE_DIMS, Op(squeeze)),
    (SQUEEZE_COPY, Op(squeeze)),
    (SQUEEZE_COPY_DIM, Op(squeeze)),
    (SQUEEZE_COPY_DIMS, Op(squeeze)),
    (SWAPAXES, Op(|a| transpose(a, "axis0", "axis1"))),
    (SWAPDIMS, Op(|a| transpose(a, "dim0", "dim1"))),
    (T, Op(t)),
    (T_COPY, Op(t)),
    (TILE, Op(tile)),
    (TRANSPOSE_INT, Op(|a| transpose(a, "dim0", "dim1"))),
    (TRANSPOSE_COPY_INT, Op(|a| transpose(a, "dim0", "dim1"))),
    (UNFLATTEN_INT, Op(unflatten)),
    (UNFOLD, Op(unfold)),
    (UNFOLD_COPY, Op(unfold)),
    (UNSQUEEZE, Op(unsqueeze)),
    (UNSQUEEZE_COPY, Op(unsqueeze)),
    (VIEW, Op(|a| reshape(a, "size"))),
    (VIEW_DTYPE, Op(bitcast)),
    (VIEW_AS, Op(|a| one(a.tensor("self")?.reshape(a.tensor("other")?.shape())?))),
    (VIEW_AS_COMPLEX, Op(view_as_complex)),
    (VIEW_AS_COMPLEX_COPY, Op(view_as_complex)),
    (VIEW_AS_REAL, Op(view_as_real)),
    (VIEW_AS_REAL_COPY, Op(view_as_real)),
    (VIEW_COPY, Op(|a| reshape(a, "size"))),
    (VIEW_COPY_DTYPE, Op(bitcast)),
];

fn same(args: &Args) -> Results {
    one(args.tensor("self")?.clone())
}

/// A shape with one `-1` filled in.
pub fn infer_shape(sizes: &[i64], len: usize) -> Result<Vec<usize>, InterpError> {
    let known: usize = sizes.iter().filter(|&&s| s != -1).map(|&s| s.max(0) as usize).fold(1, usize::saturating_mul);
    sizes
        .iter()
        .map(|&s| match s {
            -1 if known > 0 && len.is_multiple_of(known) => Ok(len / known),
            -1 => Err(fail(format!("{len} elements do not fit {sizes:?}"))),
            s => usize::try_from(s).map_err(|_| fail(format!("negative size in {sizes:?}"))),
        })
        .collect()
}

fn reshape(args: &Args, name: &str) -> Results {
    let x = args.tensor("self")?;
    one(x.reshape(&infer_shape(&args.ints(name)?, x.len())?)?)
}

fn bitcast(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let dtype = args.dtype("dtype")?.ok_or_else(|| fail("no element type"))?;
    let mut shape = x.shape().to_vec();
    let last = shape.last_mut().ok_or_else(|| fail("a 0-d tensor has no last dimension"));
    if x.dtype().size() != dtype.size() {
        let last = last?;
        *last = *last * x.dtype().size() / dtype.size();
    }
    one(Tensor::from_bytes(dtype, &shape, &x.to_bytes())?)
}

fn view_as_complex(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let (&two, shape) = x.shape().split_last().ok_or_else(|| fail("a 0-d tensor"))?;
    if two != 2 {
        return Err(fail("the last dimension is not of size 2"));
    }
    one(Tensor::from_bytes(x.dtype().complex(), shape, &x.to_bytes())?)
}

fn view_as_real(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let mut shape = x.shape().to_vec();
    shape.push(2);
    one(Tensor::from_bytes(x.dtype().real(), &shape, &x.to_bytes())?)
}

fn expand(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let sizes = args.ints("size")?;
    let lead = sizes.len().checked_sub(x.rank()).ok_or_else(|| fail("fewer sizes than dimensions"))?;
    let shape: Result<Vec<usize>, _> =
        sizes.iter().enumerate().map(|(d, &s)| if s == -1 && d >= lead { Ok(x.shape()[d - lead]) } else { usize::try_from(s).map_err(|_| fail("a negative size")) }).collect();
    one(x.expand(&shape?)?)
}

fn broadcast_tensors(args: &Args) -> Results {
    let tensors = args.tensors("tensors")?;
    let shape = broadcast_shape(&tensors.iter().map(|t| t.shape()).collect::<Vec<_>>())?;
    list(tensors.iter().map(|t| t.expand(&shape)).collect::<Result<Vec<_>, _>>()?)
}

fn at_least(args: &Args, rank: usize) -> Results {
    let at_least = |x: &Tensor| match (x.rank(), rank) {
        (0, n) => x.reshape(&vec![1; n]),
        (1, 2) => Ok(x.unsqueeze(0)),
        (1, 3) => Ok(x.unsqueeze(0).unsqueeze(2)),
        (2, 3) => Ok(x.unsqueeze(2)),
        _ => Ok(x.clone()),
    };
    match args.opt("tensors") {
        Some(_) => list(args.tensors("tensors")?.into_iter().map(at_least).collect::<Result<Vec<_>, _>>()?),
        None => one(at_least(args.tensor("self")?)?),
    }
}

fn permute(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let perm = wrap_dims(&args.ints("dims")?, x.rank())?;
    let mut sorted = perm.clone();
    sorted.sort_unstable();
    if sorted != (0..x.rank()).collect::<Vec<_>>() {
        return Err(fail(format!("{perm:?} is not a permutation of the dimensions")));
    }
    one(x.permute(&perm)?)
}

fn transpose(args: &Args, first: &str, second: &str) -> Results {
    let x = args.tensor("self")?;
    let (a, b) = (args.dim(first, x.rank())?, args.dim(second, x.rank())?);
    if x.rank() == 0 { one(x.clone()) } else { one(x.transpose(a, b)?) }
}

fn t(args: &Args) -> Results {
    let x = args.tensor("self")?;
    if x.rank() < 2 { one(x.clone()) } else { one(x.transpose(0, 1)?) }
}

fn matrix_transpose(args: &Args, name: &str, conjugate: bool) -> Results {
    let x = args.tensor(name)?;
    let r = x.rank();
    let y = if r < 2 { x.clone() } else { x.transpose(r - 2, r - 1)? };
    one(if conjugate { y.map(y.dtype(), |v| if let Scalar::Complex(z) = v { Scalar::Complex(z.conj()) } else { v }) } else { y })
}

fn movedim(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let (from, to) = (wrap_dims(&args.ints("source")?, x.rank())?, wrap_dims(&args.ints("destination")?, x.rank())?);
    let mut rest = (0..x.rank()).filter(|d| !from.contains(d));
    let perm: Option<Vec<usize>> = (0..x.rank()).map(|d| to.iter().position(|&t| t == d).map(|k| from[k]).or_else(|| rest.next())).collect();
    one(x.permute(&perm.ok_or_else(|| fail("source and destination do not match"))?)?)
}

fn flatten(args: &Args) -> Results {
    let x = args.tensor("self")?;
    if x.rank() == 0 {
        return one(x.reshape(&[1])?);
    }
    let (a, b) = (args.dim("start_dim", x.rank())?, args.dim("end_dim", x.rank())?);
    if a > b {
        return Err(fail("start_dim comes after end_dim"));
    }
    let mut shape = x.shape()[..a].to_vec();
    shape.push(x.shape()[a..=b].iter().copied().fold(1, usize::saturating_mul));
    shape.extend(&x.shape()[b + 1..]);
    one(x.reshape(&shape)?)
}

fn unflatten(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let d = args.dim("dim", x.rank())?;
    let mut shape = x.shape()[..d].to_vec();
    shape.extend(infer_shape(&args.ints("sizes")?, x.shape()[d])?);
    shape.extend(&x.shape()[d + 1..]);
    one(x.reshape(&shape)?)
}

fn squeeze(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let dims = match args.opt_ints("dim")? {
        Some(d) => wrap_dims(&d, x.rank())?,
        None => (0..x.rank()).collect(),
    };
    let shape: Vec<usize> = (0..x.rank()).filter(|d| x.shape()[*d] != 1 || !dims.contains(d)).map(|d| x.shape()[d]).collect();
    one(x.reshape(&shape)?)
}

fn unsqueeze(args: &Args) -> Results {
    let x = args.tensor("self")?;
    one(x.unsqueeze(args.dim("dim", x.rank() + 1)?))
}

fn select(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let d = args.dim("dim", x.rank())?;
    if x.rank() == 0 {
        return Err(fail("a 0-d tensor has nothing to select"));
    }
    one(x.select(d, wrap_index(args.int("index")?, x.shape()[d])?)?)
}

/// An index into a dimension, negative ones counted from the end.
pub fn wrap_index(index: i64, size: usize) -> Result<usize, InterpError> {
    let n = size as i64;
    if index < -n || index >= n {
        return Err(fail(format!("index {index} is out of bounds for a dimension of size {size}")));
    }
    Ok(if index < 0 { index + n } else { index } as usize)
}

/// Start and number of elements of a Python slice.
pub fn slice_range(args: &Args, size: usize) -> Result<(usize, usize, usize), InterpError> {
    let n = size as i64;
    let clamp = |v: i64| if v < 0 { v.saturating_add(n).max(0) } else { v.min(n) };
    let start = clamp(args.opt_int("start")?.unwrap_or(0));
    let end = clamp(args.opt_int("end")?.unwrap_or(i64::MAX));
    let step = args.opt_int("step")?.unwrap_or(1);
    if step < 1 {
        return Err(fail("the step of a slice must be positive"));
    }
    Ok((start as usize, (end - start).max(0).div_euclid(step) as usize + ((end - start).max(0) % step != 0) as usize, step as usize))
}

fn slice(args: &Args) -> Results {
    let x = args.tensor("self")?;
    if x.rank() == 0 {
        return Err(fail("a 0-d tensor cannot be sliced"));
    }
    let d = args.dim("dim", x.rank())?;
    let (start, count, step) = slice_range(args, x.shape()[d])?;
    one(x.slice(d, start, count, step)?)
}

fn narrow(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let d = args.dim("dim", x.rank())?;
    let (start, length) = (args.int("start")?, args.int("length")?);
    let n = *x.shape().get(d).ok_or_else(|| fail("a 0-d tensor cannot be narrowed"))? as i64;
    let start = if start < 0 { start + n } else { start };
    if start < 0 || length < 0 || start > n || length > n - start {
        return Err(fail(format!("{length} elements from {start} are outside of a dimension of size {n}")));
    }
    one(x.slice(d, start as usize, length as usize, 1)?)
}

fn diagonal(args: &Args, name: &str) -> Results {
    let x = args.tensor(name)?;
    let (a, b) = (args.dim("dim1", x.rank())?, args.dim("dim2", x.rank())?);
    let (rows, cols, length) = diagonal_range(x.shape(), a, b, args.int("offset")?)?;
    let kept: Vec<usize> = (0..x.rank()).filter(|&d| d != a && d != b).collect();
    let mut shape: Vec<usize> = kept.iter().map(|&d| x.shape()[d]).collect();
    shape.push(length);
    one(x.view(&shape, |i, s| {
        for (k, &d) in kept.iter().enumerate() {
            s[d] = i[k];
        }
        s[a] = rows + i[kept.len()];
        s[b] = cols + i[kept.len()];
    })?)
}

/// First row, first column and length of a diagonal.
pub fn diagonal_range(shape: &[usize], a: usize, b: usize, offset: i64) -> Result<(usize, usize, usize), InterpError> {
    if a == b || a >= shape.len() || b >= shape.len() {
        return Err(fail("a diagonal needs two different dimensions"));
    }
    let (row, col) = if offset >= 0 { (0, offset as usize) } else { (offset.unsigned_abs() as usize, 0) };
    Ok((row, col, shape[a].saturating_sub(row).min(shape[b].saturating_sub(col))))
}

fn unfold(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let d = args.dim("dimension", x.rank())?;
    let (size, step) = (args.int("size")?, args.int("step")?);
    let n = x.shape().get(d).copied().unwrap_or(1) as i64;
    if size < 0 || size > n || step < 1 {
        return Err(fail(format!("windows of {size} every {step} do not fit a dimension of size {n}")));
    }
    let mut shape = x.shape().to_vec();
    if x.rank() == 0 {
        return one(x.reshape(&[1])?.slice(0, 0, size as usize, 1)?);
    }
    shape[d] = ((n - size) / step + 1) as usize;
    shape.push(size as usize);
    one(x.view(&shape, |i, s| {
        s.copy_from_slice(&i[..s.len()]);
        s[d] = i[d] * step as usize + i[s.len()];
    })?)
}

/// Positions in storage of a strided view.
pub fn strided_positions(args: &Args) -> Result<(Vec<usize>, Vec<usize>), InterpError> {
    let (size, stride) = (args.shape("size")?, args.sizes("stride")?);
    let offset = usize::try_from(args.opt_int("storage_offset")?.unwrap_or(0)).map_err(|_| fail("a negative offset"))?;
    if size.len() != stride.len() {
        return Err(fail("sizes and strides differ in number"));
    }
    let mut positions = Vec::new();
    crate::tensor::each(&size, |i| positions.push(offset + i.iter().zip(&stride).map(|(a, b)| a * b).sum::<usize>()));
    Ok((size, positions))
}

fn as_strided(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let (shape, positions) = strided_positions(args)?;
    if positions.iter().any(|&p| p >= x.len()) {
        return Err(fail("the strided view leaves the tensor"));
    }
    one(x.pick(&shape, &positions))
}

/// Only shape and element type of the result are defined where it grows.
fn resize(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let shape = if args.opt("size").is_some() { args.shape("size")? } else { args.tensor("the_template")?.shape().to_vec() };
    one(Tensor::from_scalars(x.dtype(), &shape, (0..crate::tensor::numel(&shape)?).map(|k| if k < x.len() { x.at(k) } else { Scalar::Int(0) }))?)
}

fn flip(x: &Tensor, dims: &[i64]) -> Results {
    let dims = wrap_dims(dims, x.rank())?;
    let shape = x.shape().to_vec();
    one(x.view(&shape, |i, s| {
        for d in 0..i.len() {
            s[d] = if dims.contains(&d) { shape[d] - 1 - i[d] } else { i[d] };
        }
    })?)
}

fn roll(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let (shifts, dims) = (args.ints("shifts")?, args.ints("dims")?);
    if dims.is_empty() {
        let flat = rolled(&x.reshape(&[x.len()])?, &shifts, &[0])?;
        return one(flat.reshape(x.shape())?);
    }
    if shifts.len() != dims.len() {
        return Err(fail("shifts and dims differ in number"));
    }
    one(rolled(x, &shifts, &wrap_dims(&dims, x.rank())?)?)
}

/// Elements moved cyclically along dimensions.
pub fn rolled(x: &Tensor, shifts: &[i64], dims: &[usize]) -> Result<Tensor, InterpError> {
    let shape = x.shape().to_vec();
    if shape.is_empty() {
        return Ok(x.clone());
    }
    x.view(&shape, |i, s| {
        s.copy_from_slice(i);
        for (&shift, &d) in shifts.iter().zip(dims) {
            s[d] = (s[d] as i64 - shift).rem_euclid(shape[d] as i64) as usize;
        }
    })
}

fn rot90(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let dims = wrap_dims(&args.ints("dims")?, x.rank())?;
    let [a, b] = dims[..] else { return Err(fail("a rotation needs two dimensions")) };
    let turns = args.int("k")?.rem_euclid(4);
    let mut shape = x.shape().to_vec();
    if turns % 2 == 1 {
        shape.swap(a, b);
    }
    let (rows, cols) = (x.shape()[a], x.shape()[b]);
    one(x.view(&shape, |i, s| {
        s.copy_from_slice(i);
        (s[a], s[b]) = match turns {
            0 => (i[a], i[b]),
            1 => (i[b], cols - 1 - i[a]),
            2 => (rows - 1 - i[a], cols - 1 - i[b]),
            _ => (rows - 1 - i[b], i[a]),
        };
    })?)
}

/// The tensor laid out several times along every dimension.
pub fn repeat(x: &Tensor, repeats: &[usize]) -> Results {
    let lead = repeats.len().checked_sub(x.rank()).ok_or_else(|| fail("fewer repeats than dimensions"))?;
    let from = x.shape().to_vec();
    let shape: Vec<usize> = repeats.iter().enumerate().map(|(d, &r)| r * if d < lead { 1 } else { from[d - lead] }).collect();
    one(x.view(&shape, |i, s| {
        for d in 0..s.len() {
            s[d] = i[lead + d] % from[d];
        }
    })?)
}

fn tile(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let mut dims = args.sizes("dims")?;
    while dims.len() < x.rank() {
        dims.insert(0, 1);
    }
    repeat(x, &dims)
}

/// The element of a one-element tensor.
pub fn item(args: &Args) -> Results {
    Ok(vec![Value::Scalar(args.scalar("self")?)])
}

/// The size of a dimension.
pub fn sym_size(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let d = wrap_dim(args.int("dim")?, x.rank())?;
    Ok(vec![Value::int(*x.shape().get(d).ok_or_else(|| fail("a 0-d tensor has no sizes"))? as i64)])
}

