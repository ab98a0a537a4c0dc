//! Putting tensors together: concatenation, repetition, rotation, triangles, and gradients of slices.

use std::collections::HashMap;

use strata_core::ir::Value;
use strata_dialects::aten::dtype::{DType, promote};
use strata_dialects::aten::op::*;
use strata_dialects::prim;
use strata_dialects::prim_builder::{Scalar, Size, Tensor, product};

use super::args::Args;
use super::rule::Precision::Exact;
use super::rule::{Rule, many, one, unary};
use super::view::{matrix_diagonal, place, span, wrapped};

pub(super) const RULES: &[Rule] = &[
    one(_CHUNK_CAT, Exact, chunk_cat),
    unary(ATLEAST_1D, Exact, |x| at_least(x, 1)),
    many(ATLEAST_1D_SEQUENCE, Exact, |a| a.tensors("tensors").into_iter().map(|x| at_least(x, 1)).collect()),
    unary(ATLEAST_2D, Exact, |x| at_least(x, 2)),
    many(ATLEAST_2D_SEQUENCE, Exact, |a| a.tensors("tensors").into_iter().map(|x| at_least(x, 2)).collect()),
    unary(ATLEAST_3D, Exact, |x| at_least(x, 3)),
    many(ATLEAST_3D_SEQUENCE, Exact, |a| a.tensors("tensors").into_iter().map(|x| at_least(x, 3)).collect()),
    one(BLOCK_DIAG, Exact, block_diag),
    many(BROADCAST_TENSORS, Exact, broadcast_tensors),
    one(CARTESIAN_PROD, Exact, cartesian_prod),
    one(CAT, Exact, cat),
    one(CHANNEL_SHUFFLE, Exact, channel_shuffle),
    one(COLUMN_STACK, Exact, column_stack),
    one(CONCAT, Exact, cat),
    one(CONCATENATE, Exact, cat),
    one(DIAG, Exact, diag),
    one(DIAG_EMBED, Exact, diag_embed),
    one(DIAGFLAT, Exact, |a| embed(flat(a.tensor("self")), a.int("offset"), 0, 1)),
    one(DIAGONAL_BACKWARD, Exact, diagonal_backward),
    one(DIAGONAL_SCATTER, Exact, diagonal_scatter),
    one(DSTACK, Exact, |a| joined(a, a.tensors("tensors").into_iter().map(|x| at_least(x, 3)).collect(), 2)),
    one(HSTACK, Exact, hstack),
    many(MESHGRID, Exact, meshgrid),
    many(MESHGRID_INDEXING, Exact, meshgrid),
    one(PAD_SEQUENCE, Exact, pad_sequence),
    one(PIXEL_SHUFFLE, Exact, pixel_shuffle),
    one(PIXEL_UNSHUFFLE, Exact, pixel_unshuffle),
    one(REPEAT, Exact, |a| repeat(a.tensor("self"), &a.sizes("repeats"))),
    one(REPEAT_INTERLEAVE_SELF_INT, Exact, repeat_interleave),
    one(ROLL, Exact, roll),
    one(ROT90, Exact, rot90),
    one(SELECT_BACKWARD, Exact, select_backward),
    one(SELECT_SCATTER, Exact, select_scatter),
    one(SLICE_BACKWARD, Exact, slice_backward),
    one(SLICE_SCATTER, Exact, slice_scatter),
    one(STACK, Exact, stack),
    one(TILE, Exact, |a| repeat(a.tensor("self"), &a.sizes("dims"))),
    one(TRACE, Exact, trace),
    one(TRIL, Exact, |a| triangle(a, |row, col| col.less_equal(row))),
    one(TRIU, Exact, |a| triangle(a, |row, col| col.greater_equal(row))),
    one(UNFOLD_BACKWARD, Exact, unfold_backward),
    one(VSTACK, Exact, |a| joined(a, a.tensors("tensors").into_iter().map(|x| at_least(x, 2)).collect(), 0)),
];

/// Concatenation in the type that all promote to; empty vectors take no part.
fn joined<'c>(a: &Args<'c>, tensors: Vec<Tensor<'c>>, dim: usize) -> Tensor<'c> {
    let dtype = tensors.iter().map(|t| t.dtype()).reduce(promote).unwrap_or(DType::F32);
    let rank = tensors.iter().map(|t| t.rank()).max().unwrap_or(0);
    let counts = |t: &Tensor<'c>| !(t.rank() == 1 && rank != 1 && t.size(0).known() == Some(0));
    let parts: Vec<_> = tensors.into_iter().filter(counts).map(|t| t.convert(dtype)).collect();
    a.prim.concat(&parts, dim)
}

fn cat<'c>(a: &Args<'c>) -> Tensor<'c> {
    let tensors = a.tensors("tensors");
    let rank = tensors.iter().map(|t| t.rank()).max().unwrap_or(0);
    let dim = a.dim("dim", rank);
    joined(a, tensors, dim)
}

fn stack<'c>(a: &Args<'c>) -> Tensor<'c> {
    let tensors = a.tensors("tensors");
    let rank = tensors.first().map_or(0, |t| t.rank());
    let dim = a.dim("dim", rank + 1);
    joined(a, tensors.into_iter().map(|t| t.unsqueeze(dim)).collect(), dim)
}

fn hstack<'c>(a: &Args<'c>) -> Tensor<'c> {
    let tensors: Vec<_> = a.tensors("tensors").into_iter().map(|x| at_least(x, 1)).collect();
    let dim = usize::from(tensors.first().is_some_and(|t| t.rank() > 1));
    joined(a, tensors, dim)
}

fn column_stack<'c>(a: &Args<'c>) -> Tensor<'c> {
    let column = |x: Tensor<'c>| if x.rank() < 2 { x.reshape(&[x.numel(), Size::Const(1)]) } else { x };
    joined(a, a.tensors("tensors").into_iter().map(column).collect(), 1)
}

/// Adds dimensions of size 1 as `atleast_nd` does.
fn at_least(x: Tensor<'_>, rank: usize) -> Tensor<'_> {
    match (x.rank(), rank) {
        (r, n) if r >= n => x,
        (0, n) => x.unsqueeze_to(n),
        (1, 2) => x.unsqueeze(0),
        (1, _) => x.unsqueeze(0).unsqueeze(2),
        _ => x.unsqueeze(2),
    }
}

fn flat(x: Tensor<'_>) -> Tensor<'_> {
    x.reshape(&[x.numel()])
}

fn broadcast_tensors<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let tensors = a.tensors("tensors");
    let shape = a.prim.common_shape(&tensors);
    tensors.into_iter().map(|t| t.broadcast_to(&shape)).collect()
}

fn meshgrid<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let vectors: Vec<_> = a.tensors("tensors").into_iter().map(flat).collect();
    let swapped = a.has("indexing") && a.str("indexing") == "xy" && vectors.len() >= 2;
    let mut places: Vec<usize> = (0..vectors.len()).collect();
    if swapped {
        places.swap(0, 1);
    }
    let mut shape = vec![Size::Const(1); vectors.len()];
    for (vector, place) in vectors.iter().zip(&places) {
        shape[*place] = vector.size(0);
    }
    vectors.iter().zip(&places).map(|(v, place)| v.broadcast_dims(&shape, &[*place])).collect()
}

fn cartesian_prod<'c>(a: &Args<'c>) -> Tensor<'c> {
    let vectors = a.tensors("tensors");
    if let [one] = vectors.as_slice() {
        return *one;
    }
    let shape: Vec<_> = vectors.iter().map(|v| v.size(0)).collect();
    let column = |(place, v): (usize, &Tensor<'c>)| flat(v.broadcast_dims(&shape, &[place])).unsqueeze(1);
    joined(a, vectors.iter().enumerate().map(column).collect(), 1)
}

fn block_diag<'c>(a: &Args<'c>) -> Tensor<'c> {
    let blocks: Vec<_> = a.tensors("tensors").into_iter().map(|x| at_least(x, 2)).collect();
    let dtype = blocks.iter().map(|t| t.dtype()).reduce(promote).unwrap_or(DType::F32);
    let width = blocks.iter().fold(Size::Const(0), |w, b| w + b.size(1));
    let mut left = Size::Const(0);
    let row = |block: Tensor<'c>| {
        let low = left;
        left = left + block.size(1);
        block.convert(dtype).pad_dim(1, Scalar::Int(0), low, width - left)
    };
    let rows: Vec<_> = blocks.into_iter().map(row).collect();
    a.prim.concat(&rows, 0)
}

fn repeat<'c>(x: Tensor<'c>, repeats: &[Size<'c>]) -> Tensor<'c> {
    let rank = repeats.len().max(x.rank());
    let mut x = x;
    while x.rank() < rank {
        x = x.unsqueeze(0);
    }
    let lead = rank - repeats.len();
    let (mut shape, mut dims, mut merged) = (Vec::new(), Vec::new(), Vec::new());
    for d in 0..rank {
        let times = if d < lead { Size::Const(1) } else { repeats[d - lead] };
        shape.extend([times, x.size(d)]);
        dims.push(2 * d + 1);
        merged.push(times * x.size(d));
    }
    x.broadcast_dims(&shape, &dims).reshape(&merged)
}

fn repeat_interleave<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, times) = (a.tensor("self"), a.size("repeats"));
    let (x, dim) = match a.opt_int("dim") {
        Some(dim) => (x, a.wrap(dim, x.rank())),
        None => (flat(x), 0),
    };
    let mut shape = x.shape().to_vec();
    shape.insert(dim + 1, times);
    let dims: Vec<_> = (0..=x.rank()).filter(|d| *d != dim + 1).collect();
    let mut merged = x.shape().to_vec();
    merged[dim] = merged[dim] * times;
    x.broadcast_dims(&shape, &dims).reshape(&merged)
}

fn roll<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, shifts) = (a.tensor("self"), a.sizes("shifts"));
    let dims = a.dims("dims", x.rank());
    if dims.is_empty() {
        let rolled = roll_dim(flat(x), 0, shifts.first().copied().unwrap_or(Size::Const(0)));
        return rolled.reshape(&x.shape());
    }
    dims.iter().zip(shifts).fold(x, |x, (dim, shift)| roll_dim(x, *dim, shift))
}

pub(super) fn roll_dim<'c>(x: Tensor<'c>, dim: usize, shift: Size<'c>) -> Tensor<'c> {
    if x.rank() == 0 || x.size(dim).known() == Some(0) {
        return x;
    }
    let size = x.size(dim);
    let shift = match (shift, size) {
        (Size::Const(s), Size::Const(n)) => Size::Const(s.rem_euclid(n)),
        (s, n) => (s.modulo(n) + n).modulo(n),
    };
    let start = size - shift;
    x.prim().concat(&[x.slice(dim, start, shift, 1), x.slice(dim, 0, start, 1)], dim)
}

fn rot90<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let dims = a.dims("dims", x.rank());
    let &[first, second] = dims.as_slice() else {
        a.fail("rot90 turns in a plane of two dimensions");
        return x;
    };
    match a.int("k").rem_euclid(4) {
        1 => x.reverse(&[second]).swap(first, second),
        2 => x.reverse(&[first, second]),
        3 => x.reverse(&[first]).swap(first, second),
        _ => x,
    }
}

fn pixel_shuffle<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, r) = (a.tensor("self"), a.int("upscale_factor"));
    let Some(lead) = x.rank().checked_sub(3) else {
        a.fail("pixel_shuffle needs three dimensions");
        return x;
    };
    let (shape, c) = (x.shape(), x.size(lead) / (r * r));
    let (h, w) = (x.size(lead + 1), x.size(lead + 2));
    let split = x.reshape(&[&shape[..lead], &[c, r.into(), r.into(), h, w]].concat());
    let perm = [(0..lead).collect(), vec![lead, lead + 3, lead + 1, lead + 4, lead + 2]].concat();
    split.transpose(&perm).reshape(&[&shape[..lead], &[c, h * r, w * r]].concat())
}

fn pixel_unshuffle<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, r) = (a.tensor("self"), a.int("downscale_factor"));
    let Some(lead) = x.rank().checked_sub(3) else {
        a.fail("pixel_unshuffle needs three dimensions");
        return x;
    };
    let (shape, c) = (x.shape(), x.size(lead));
    let (h, w) = (x.size(lead + 1) / r, x.size(lead + 2) / r);
    let split = x.reshape(&[&shape[..lead], &[c, h, r.into(), w, r.into()]].concat());
    let perm = [(0..lead).collect(), vec![lead, lead + 2, lead + 4, lead + 1, lead + 3]].concat();
    split.transpose(&perm).reshape(&[&shape[..lead], &[c * (r * r), h, w]].concat())
}

fn channel_shuffle<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, groups) = (a.tensor("self"), a.int("groups").max(1));
    let shape = x.shape();
    let split = [&shape[..1], &[groups.into(), x.size(1) / groups], &shape[2..]].concat();
    x.reshape(&split).swap(1, 2).reshape(&shape)
}

fn chunk_cat<'c>(a: &Args<'c>) -> Tensor<'c> {
    let rank = a.tensors("tensors").first().map_or(0, |t| t.rank());
    let (dim, chunks) = (a.dim("dim", rank), a.int("num_chunks").max(1));
    let part = |x: Tensor<'c>| {
        let (size, shape) = (x.size(dim).ceil_div(chunks), x.shape());
        // What is behind the dim is one run of memory with it.
        let row = product(&shape[dim + 1..]);
        let runs = x.reshape(&[&shape[..dim], &[x.size(dim) * row]].concat());
        let padded = runs.pad_dim(dim, Scalar::Int(0), 0, (size * chunks - x.size(dim)) * row);
        padded.reshape(&[&shape[..dim], &[chunks.into(), size * row]].concat())
    };
    joined(a, a.tensors("tensors").into_iter().map(part).collect(), dim + 1)
}

// Triangles and diagonals.

fn triangle<'c>(a: &Args<'c>, inside: fn(Tensor<'c>, Tensor<'c>) -> Tensor<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let Some(lead) = x.rank().checked_sub(2) else {
        a.fail("a triangle is of a matrix");
        return x;
    };
    let matrix = [x.size(lead), x.size(lead + 1)];
    let (row, col) = (a.prim.iota(DType::I64, &matrix, 0), a.prim.iota(DType::I64, &matrix, 1));
    inside(row + a.size("diagonal"), col).select(x, 0)
}

fn trace<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self").convert(a.result_dtype(0));
    matrix_diagonal(x, 0, 0, 1).reduce("sum", &[0], false)
}

fn diag<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, offset) = (a.tensor("self"), a.int("diagonal"));
    if x.rank() == 1 { embed(x, offset, 0, 1) } else { matrix_diagonal(x, offset, 0, 1) }
}

fn diag_embed<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    embed(x, a.int("offset"), a.dim("dim1", x.rank() + 1), a.dim("dim2", x.rank() + 1))
}

/// Matrices in dimensions `dim1` and `dim2` whose diagonals are the last dimension of x.
fn embed(x: Tensor<'_>, offset: i64, dim1: usize, dim2: usize) -> Tensor<'_> {
    let last = x.rank() - 1;
    let side = x.size(last) + offset.abs();
    let (row, col) = ((-offset).max(0), offset.max(0));
    let matrix = [side, side];
    let rows = x.prim().iota(DType::I64, &matrix, 0);
    let cols = x.prim().iota(DType::I64, &matrix, 1);
    let (low, high) = (dim1.min(dim2), dim1.max(dim2));
    // An element stands along the outer dimension, so that neighbours in memory read one element.
    let (first, dim) = if dim1 < dim2 { (row, last + 1) } else { (col, last) };
    let along = x.pad_dim(last, Scalar::Int(0), first, side - x.size(last) - first).unsqueeze(dim);
    let spread = (cols - rows).equal(col - row).select(along, 0);
    let spread = if dim1 > dim2 { spread.swap(last, last + 1) } else { spread };
    let mut perm: Vec<usize> = (0..last).collect();
    perm.insert(low, last);
    perm.insert(high, last + 1);
    spread.transpose(&perm)
}

/// Writes `part` to the diagonal of two dimensions.
fn put_diagonal<'c>(x: Tensor<'c>, part: Tensor<'c>, offset: i64, dim1: usize, dim2: usize) -> Tensor<'c> {
    let (row, col) = ((-offset).max(0), offset.max(0));
    let positions = x.prim().range(DType::I64, part.size(part.rank() - 1));
    // Updates have the index dimension first.
    let updates = part.move_dim(part.rank() - 1, 0);
    let (indices, dims) =
        if dim1 < dim2 { ([positions + row, positions + col], [dim1, dim2]) } else { ([positions + col, positions + row], [dim2, dim1]) };
    x.scatter(updates, &indices, &dims, "set")
}

fn diagonal_scatter<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    put_diagonal(x, a.as_type("src", x.dtype()), a.int("offset"), a.dim("dim1", x.rank()), a.dim("dim2", x.rank()))
}

fn diagonal_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (grad, shape) = (a.tensor("grad_output"), a.sizes("input_sizes"));
    let zeros = a.prim.full(grad.dtype(), Scalar::Int(0), &shape);
    let (offset, dim1, dim2) = (a.int("offset"), a.dim("dim1", shape.len()), a.dim("dim2", shape.len()));
    let part = super::view::matrix_diagonal(zeros, offset, dim1, dim2).shape();
    put_diagonal(zeros, grad.broadcast_to(&part), offset, dim1, dim2)
}

// Writes to slices, and their gradients.

/// x with `part` at `offset, offset + step, ..` of a dimension.
fn put_slice<'c>(x: Tensor<'c>, part: Tensor<'c>, dim: usize, offset: Size<'c>, step: i64) -> Tensor<'c> {
    let length = part.size(dim);
    let covered = length.same(x.size(dim)) && step == 1;
    if covered {
        return part;
    }
    if length.known() == Some(0) {
        return x;
    }
    if let Some(whole) = spliced(x, part, dim, offset).filter(|_| step == 1) {
        return whole;
    }
    let positions = x.prim().range(DType::I64, length) * step + offset;
    x.scatter(part.move_dim(dim, 0), &[positions], &[dim], "set")
}

/// A slice is worth a pass over its whole tensor if it is at least one in so many elements of it: a scatter writes a fresh tensor twice.
const WORTH_A_PASS: i64 = 8;
/// Pieces of a concatenation that grows slice by slice.
const PIECES: usize = 16;
/// Concatenations inside of each other along different dimensions: a frame around three takes six.
const DEPTH: usize = 6;

/// The same as a concatenation, where the tensor was made by the program: nothing of it is to be updated in place. A slice of what is
/// itself a concatenation replaces pieces of that.
fn spliced<'c>(x: Tensor<'c>, part: Tensor<'c>, dim: usize, offset: Size<'c>) -> Option<Tensor<'c>> {
    let (offset, length, size) = (offset.known()?, part.size(dim).known()?, x.size(dim).known()?);
    let depth = depth(x.value());
    let is_worth_it = length.checked_mul(WORTH_A_PASS)? >= size || depth > 0;
    if !is_fresh(x.value()) || !is_worth_it || depth >= DEPTH {
        return None;
    }
    let concat = x.value().defining_op().filter(|op| op.isa::<prim::Concat>() && op.int("dim") == i64::try_from(dim).ok());
    let along = concat.map(|op| op.operands()).filter(|pieces| pieces.len() < PIECES);
    let old: Vec<_> = along.map_or(vec![x], |pieces| pieces.into_iter().map(|piece| x.prim().tensor(piece)).collect());
    let (mut pieces, mut begin) = (Vec::new(), 0);
    for piece in old {
        let end = begin + piece.size(dim).known()?;
        let ahead = (begin, end.min(offset));
        let behind = (begin.max(offset + length), end);
        for (from, to) in [ahead, behind].into_iter().filter(|(from, to)| from < to) {
            pieces.push((from, piece.slice(dim, from - begin, to - from, 1)));
        }
        begin = end;
    }
    pieces.push((offset, part));
    pieces.sort_by_key(|(from, _)| *from);
    let pieces: Vec<_> = pieces.into_iter().map(|(_, piece)| piece).collect();
    Some(x.prim().concat(&pieces, dim))
}

/// Concatenations that a value is made of, one inside of the other; counted up to [`DEPTH`].
fn depth(value: Value<'_>) -> usize {
    /// Pieces that many concatenations share are counted once.
    fn counted<'c>(value: Value<'c>, left: usize, known: &mut HashMap<(Value<'c>, usize), usize>) -> usize {
        let Some(op) = value.defining_op().filter(|_| left > 0) else { return 0 };
        if let Some(depth) = known.get(&(value, left)) {
            return *depth;
        }
        let view = op.isa::<prim::Slice>() || op.isa::<prim::Reshape>() || op.isa::<prim::Transpose>();
        let depth = match op.isa::<prim::Concat>() {
            true => 1 + op.operands().into_iter().map(|part| counted(part, left - 1, known)).max().unwrap_or(0),
            false if view => counted(op.operand(0), left, known),
            false => 0,
        };
        known.insert((value, left), depth);
        depth
    }
    counted(value, DEPTH, &mut HashMap::new())
}

/// Whether a value is neither a program's input nor a view or an update of one.
fn is_fresh(mut value: Value<'_>) -> bool {
    loop {
        let Some(op) = value.defining_op() else { return false };
        let same = op.isa::<prim::Slice>() || op.isa::<prim::Reshape>() || op.isa::<prim::Transpose>() || op.isa::<prim::Scatter>();
        if !same {
            return true;
        }
        value = op.operand(0);
    }
}

fn slice_scatter<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let dim = a.dim("dim", x.rank());
    let (offset, length, step) = span(a, x.size(dim));
    let mut shape = x.shape().to_vec();
    shape[dim] = length;
    put_slice(x, a.as_type("src", x.dtype()).broadcast_to(&shape), dim, offset, step)
}

fn slice_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (grad, shape) = (a.tensor("grad_output"), a.sizes("input_sizes"));
    let dim = a.dim("dim", shape.len());
    if shape.is_empty() {
        a.fail("a slice of a tensor of rank 0");
        return grad;
    }
    let (offset, length, step) = span(a, shape[dim]);
    let zeros = a.prim.full(grad.dtype(), Scalar::Int(0), &shape);
    let mut part = shape;
    part[dim] = length;
    put_slice(zeros, grad.broadcast_to(&part), dim, offset, step)
}

fn select_scatter<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let dim = a.dim("dim", x.rank());
    put_slice(x, a.as_type("src", x.dtype()).unsqueeze(dim), dim, place(a, a.size("index"), x.size(dim)), 1)
}

fn select_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (grad, shape) = (a.tensor("grad_output"), a.sizes("input_sizes"));
    let dim = a.dim("dim", shape.len());
    if shape.is_empty() {
        a.fail("an element of a tensor of rank 0");
        return grad;
    }
    let zeros = a.prim.full(grad.dtype(), Scalar::Int(0), &shape);
    let mut part = shape.clone();
    part.remove(dim);
    put_slice(zeros, grad.broadcast_to(&part).unsqueeze(dim), dim, wrapped(a.size("index"), shape[dim]), 1)
}

/// Adds the windows of [`super::view`]'s unfold back to where they were read.
fn unfold_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (grad, shape) = (a.tensor("grad_in"), a.sizes("input_sizes"));
    let zeros = a.prim.full(grad.dtype(), Scalar::Int(0), &shape);
    if shape.is_empty() {
        // A window of more than the one element reads it once.
        return super::index::flat(grad).reduce("sum", &[0], false);
    }
    let (dim, step) = (a.dim("dim", shape.len()), a.int("step"));
    // The windows of one batch may stand for those of all.
    let windows: Vec<_> = (0..shape.len()).map(|d| if d == dim { grad.size(d) } else { shape[d] }).collect();
    let last = grad.rank() - 1;
    let grad = grad.broadcast_to(&[&windows[..], &[grad.size(last)]].concat());
    let updates = grad.move_dim(last, 0).move_dim(dim + 1, 0);
    let windows = [updates.size(0), updates.size(1)];
    let positions = a.prim.iota(DType::I64, &windows, 0) * step + a.prim.iota(DType::I64, &windows, 1);
    zeros.scatter(updates, &[positions], &[dim], "add")
}

/// Sequences of different lengths, filled up to the longest, as rows or columns.
fn pad_sequence<'c>(a: &Args<'c>) -> Tensor<'c> {
    let sequences: Vec<_> = a.tensors("sequences").into_iter().map(|t| t.convert(a.result_dtype(0))).collect();
    let longest = sequences.iter().map(|t| t.size(0)).reduce(|a, b| a.max(b)).unwrap_or(Size::Const(0));
    let left = a.str("padding_side") == "left";
    let filled = |t: &Tensor<'c>| {
        let rest = longest - t.size(0);
        let (low, high) = if left { (rest, Size::Const(0)) } else { (Size::Const(0), rest) };
        t.pad_dim(0, a.scalar("padding_value"), low, high).unsqueeze(0)
    };
    let rows = a.prim.concat(&sequences.iter().map(filled).collect::<Vec<_>>(), 0);
    if a.bool("batch_first") { rows } else { rows.swap(0, 1) }
}
