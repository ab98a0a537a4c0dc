//! A tensor written into the place of a view of another one: the reverse of views, and their gradients.

use super::Arm::{self, Op};
use super::common::add;
use super::view::{diagonal_range, slice_range, strided_positions, wrap_index};
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::tensor::{Tensor, try_each};
use crate::value::{Args, InterpError, Results, fail, one, wrap_dim};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (AS_STRIDED_SCATTER, Op(as_strided_scatter)),
    (DIAGONAL_BACKWARD, Op(diagonal_backward)),
    (DIAGONAL_SCATTER, Op(diagonal_scatter)),
    (SELECT_BACKWARD, Op(select_backward)),
    (SELECT_SCATTER, Op(select_scatter)),
    (SLICE_BACKWARD, Op(slice_backward)),
    (SLICE_SCATTER, Op(slice_scatter)),
    (UNFOLD_BACKWARD, Op(unfold_backward)),
];

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
    let mut shape = x.shape().to_vec();
    shape.remove(dim);
    placed(x, &grad.expand(&shape)?, |i| insert(i, dim, at))
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
    let (row, col, length) = diagonal_range(x.shape(), a, b, args.int("offset")?)?;
    let rank = x.rank();
    let rest = (0..rank).filter(|&d| d != a && d != b).map(|d| x.shape()[d]);
    let source = source.expand(&rest.chain([length]).collect::<Vec<_>>())?;
    placed(x, &source, |i| {
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
    let mut windows = grad.shape().to_vec();
    for d in (0..rank).filter(|d| *d != dim) {
        windows[d] = x.shape()[d];
    }
    let grad = grad.expand(&windows)?;
    try_each(&windows, |i| {
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
