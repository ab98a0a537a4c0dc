//! Views: the same elements in another shape or order. Strides do not exist below `aten`, so copies are the same.

use super::args::Args;
use super::rule::Precision::Exact;
use super::rule::{Rule, many, one, unary};
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Size, Tensor, product};

pub(super) const RULES: &[Rule] = &[
    one(_RESHAPE_ALIAS, Exact, view),
    one(_RESHAPE_COPY, Exact, view),
    one(_UNSAFE_VIEW, Exact, view),
    unary(ADJOINT, Exact, adjoint),
    one(BROADCAST_TO, Exact, expand),
    many(CHUNK, Exact, chunk),
    one(DIAGONAL, Exact, diagonal),
    one(DIAGONAL_COPY, Exact, diagonal),
    many(DSPLIT_ARRAY, Exact, |a| tensor_split(a, 2)),
    many(DSPLIT_INT, Exact, |a| tensor_split(a, 2)),
    one(EXPAND, Exact, expand),
    one(EXPAND_AS, Exact, |a| a.tensor("self").broadcast_to(&a.raw("other").shape())),
    one(EXPAND_COPY, Exact, expand),
    one(FLATTEN_USING_INTS, Exact, flatten),
    one(FLIP, Exact, |a| {
        let x = a.tensor("self");
        if x.rank() == 0 { x } else { x.reverse(&a.dims("dims", x.rank())) }
    }),
    unary(FLIPLR, Exact, |x| x.reverse(&[1])),
    unary(FLIPUD, Exact, |x| x.reverse(&[0])),
    many(HSPLIT_ARRAY, Exact, |a| tensor_split(a, usize::from(a.tensor("self").rank() > 1))),
    many(HSPLIT_INT, Exact, |a| tensor_split(a, usize::from(a.tensor("self").rank() > 1))),
    one(LINALG_DIAGONAL, Exact, linalg_diagonal),
    unary(MH, Exact, adjoint),
    unary(MT, Exact, |x| x.flipped()),
    unary(MATRIX_H, Exact, adjoint),
    one(MOVEDIM_INT, Exact, move_dims),
    one(MOVEDIM_INTLIST, Exact, move_dims),
    one(NARROW, Exact, narrow),
    one(NARROW_TENSOR, Exact, narrow),
    one(NARROW_COPY, Exact, narrow),
    unary(NUMPY_T, Exact, |x| x.transpose(&(0..x.rank()).rev().collect::<Vec<_>>())),
    one(PERMUTE, Exact, |a| a.tensor("self").transpose(&a.dims("dims", a.tensor("self").rank()))),
    one(PERMUTE_COPY, Exact, |a| a.tensor("self").transpose(&a.dims("dims", a.tensor("self").rank()))),
    unary(RAVEL, Exact, |x| x.reshape(&[x.numel()])),
    one(RESHAPE, Exact, view),
    one(RESHAPE_AS, Exact, |a| a.tensor("self").reshape(&a.raw("other").shape())),
    one(RESIZE, Exact, |a| resized(a.tensor("self"), &a.sizes("size"))),
    one(RESIZE_AS, Exact, |a| resized(a.tensor("self"), &a.raw("the_template").shape())),
    one(SELECT_INT, Exact, select),
    one(SELECT_COPY_INT, Exact, select),
    one(SLICE_TENSOR, Exact, slice),
    one(SLICE_COPY_TENSOR, Exact, slice),
    many(SPLIT_TENSOR, Exact, |a| split(a, "split_size")),
    many(SPLIT_SIZES, Exact, split_with_sizes),
    many(SPLIT_COPY_TENSOR, Exact, |a| split(a, "split_size")),
    many(SPLIT_WITH_SIZES, Exact, split_with_sizes),
    many(SPLIT_WITH_SIZES_COPY, Exact, split_with_sizes),
    unary(SQUEEZE, Exact, |x| x.squeeze(&unit_dims(x))),
    one(SQUEEZE_DIM, Exact, |a| squeeze(a, vec![a.dim("dim", a.tensor("self").rank())])),
    one(SQUEEZE_DIMS, Exact, |a| squeeze(a, a.dims("dim", a.tensor("self").rank()))),
    unary(SQUEEZE_COPY, Exact, |x| x.squeeze(&unit_dims(x))),
    one(SQUEEZE_COPY_DIM, Exact, |a| squeeze(a, vec![a.dim("dim", a.tensor("self").rank())])),
    one(SQUEEZE_COPY_DIMS, Exact, |a| squeeze(a, a.dims("dim", a.tensor("self").rank()))),
    one(SWAPAXES, Exact, |a| swap(a, "axis0", "axis1")),
    one(SWAPDIMS, Exact, |a| swap(a, "dim0", "dim1")),
    unary(T, Exact, |x| x.swap(0, 1)),
    unary(T_COPY, Exact, |x| x.swap(0, 1)),
    many(TENSOR_SPLIT_INDICES, Exact, |a| tensor_split(a, a.dim("dim", a.tensor("self").rank()))),
    many(TENSOR_SPLIT_SECTIONS, Exact, |a| tensor_split(a, a.dim("dim", a.tensor("self").rank()))),
    many(TENSOR_SPLIT_TENSOR_INDICES_OR_SECTIONS, Exact, |a| tensor_split(a, a.dim("dim", a.tensor("self").rank()))),
    one(TRANSPOSE_INT, Exact, |a| swap(a, "dim0", "dim1")),
    one(TRANSPOSE_COPY_INT, Exact, |a| swap(a, "dim0", "dim1")),
    many(UNBIND_INT, Exact, unbind),
    many(UNBIND_COPY_INT, Exact, unbind),
    one(UNFLATTEN_INT, Exact, unflatten),
    one(UNFOLD, Exact, unfold),
    one(UNFOLD_COPY, Exact, unfold),
    many(UNSAFE_CHUNK, Exact, chunk),
    many(UNSAFE_SPLIT_TENSOR, Exact, |a| split(a, "split_size")),
    many(UNSAFE_SPLIT_WITH_SIZES, Exact, split_with_sizes),
    one(UNSQUEEZE, Exact, unsqueeze),
    one(UNSQUEEZE_COPY, Exact, unsqueeze),
    one(VIEW, Exact, view),
    one(VIEW_AS, Exact, |a| a.tensor("self").reshape(&a.raw("other").shape())),
    one(VIEW_COPY, Exact, view),
    many(VSPLIT_ARRAY, Exact, |a| tensor_split(a, 0)),
    many(VSPLIT_INT, Exact, |a| tensor_split(a, 0)),
];

/// The shape given by a list in which one entry may be -1.
pub(super) fn inferred<'c>(x: Tensor<'c>, sizes: &[Size<'c>]) -> Vec<Size<'c>> {
    let known: Vec<_> = sizes.iter().copied().filter(|s| s.known() != Some(-1)).collect();
    // A symbol that occurs on both sides cancels.
    let mut rest = x.shape().to_vec();
    let unmatched: Vec<_> = known
        .into_iter()
        .filter(|size| match rest.iter().position(|s| s.known().is_none() && s.same(*size)) {
            Some(at) => {
                rest.remove(at);
                false
            }
            None => true,
        })
        .collect();
    let fill = || match (product(&rest), product(&unmatched)) {
        (_, Size::Const(0)) => Size::Const(0),
        (total, part) => total / part,
    };
    sizes.iter().map(|s| if s.known() == Some(-1) { fill() } else { *s }).collect()
}

fn view<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let sizes = a.sizes(if a.has("size") { "size" } else { "shape" });
    x.reshape(&inferred(x, &sizes))
}

fn adjoint(x: Tensor<'_>) -> Tensor<'_> {
    if x.rank() < 2 { x.conj() } else { x.adjoint() }
}

/// -1 keeps a size.
fn expand<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, mut sizes) = (a.tensor("self"), a.sizes("size"));
    let lead = sizes.len().saturating_sub(x.rank());
    for (d, size) in sizes.iter_mut().enumerate() {
        if size.known() == Some(-1) && d >= lead {
            *size = x.size(d - lead);
        }
    }
    x.broadcast_to(&sizes)
}

fn flatten<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    if x.rank() == 0 {
        return x.reshape(&[Size::Const(1)]);
    }
    let (start, end) = (a.dim("start_dim", x.rank()), a.dim("end_dim", x.rank()));
    if start > end {
        a.fail("flatten starts behind its end");
        return x;
    }
    let shape = x.shape();
    x.reshape(&[&shape[..start], &[product(&shape[start..=end])], &shape[end + 1..]].concat())
}

fn unflatten<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let (dim, shape) = (a.dim("dim", x.rank()), x.shape());
    let part = x.prim().iota(x.dtype(), &[x.size(dim)], 0);
    let sizes = inferred(part, &a.sizes("sizes"));
    x.reshape(&[&shape[..dim], &sizes, &shape[dim + 1..]].concat())
}

fn unsqueeze<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    x.unsqueeze(a.dim("dim", x.rank() + 1))
}

fn unit_dims(x: Tensor<'_>) -> Vec<usize> {
    (0..x.rank()).filter(|d| x.size(*d).is_one()).collect()
}

fn squeeze<'c>(a: &Args<'c>, mut dims: Vec<usize>) -> Tensor<'c> {
    let x = a.tensor("self");
    dims.retain(|d| *d < x.rank() && x.size(*d).is_one());
    x.squeeze(&dims)
}

fn swap<'c>(a: &Args<'c>, first: &str, second: &str) -> Tensor<'c> {
    let x = a.tensor("self");
    x.swap(a.dim(first, x.rank()), a.dim(second, x.rank()))
}

fn move_dims<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let (from, to) = (a.dims("source", x.rank()), a.dims("destination", x.rank()));
    let mut rest = (0..x.rank()).filter(|d| !from.contains(d));
    let place = |d| match to.iter().position(|t| *t == d) {
        Some(i) => from[i],
        None => rest.next().unwrap_or(0),
    };
    x.transpose(&(0..x.rank()).map(place).collect::<Vec<_>>())
}

/// A position counted from the end when negative, cut to `0..=size`.
fn bounded<'c>(position: Size<'c>, size: Size<'c>) -> Size<'c> {
    match (position, size) {
        (Size::Const(p), Size::Const(n)) => Size::Const(if p < 0 { (p + n).max(0) } else { p.min(n) }),
        (Size::Const(i64::MAX), n) => n,
        (Size::Const(0), _) => position,
        (Size::Const(p), n) if p < 0 => (n + p).max(0),
        (p, n) if p.same(n) => n,
        (p, n) => p.min(n),
    }
}

/// Offset and length of `start..end` by `step` of a dimension.
pub(super) fn span<'c>(a: &Args<'c>, size: Size<'c>) -> (Size<'c>, Size<'c>, i64) {
    let start = bounded(a.opt_size("start").unwrap_or(Size::Const(0)), size);
    let end = bounded(a.opt_size("end").unwrap_or(size), size);
    let step = a.int("step").max(1);
    let length = match (start, end - start) {
        (_, Size::Const(n)) => Size::Const(n.max(0)),
        (Size::Const(0), length) => length,
        (_, length) => length.max(0),
    };
    (start, length.ceil_div(step), step)
}

fn slice<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let dim = a.dim("dim", x.rank());
    let (offset, length, step) = span(a, x.size(dim));
    x.slice(dim, offset, length, step)
}

/// A position counted from the end when negative.
pub(super) fn wrapped<'c>(position: Size<'c>, size: Size<'c>) -> Size<'c> {
    match position {
        Size::Const(p) if p < 0 => size + position,
        // The size once where the position is negative, and not at all where it is not.
        Size::Sym(_) if !position.is_of_tensor() => position + size * (Size::Const(0) - position).max(0).min(1),
        _ => position,
    }
}

/// The place of one element of a dimension, counted from the end when negative. A call whose place lies outside fails.
pub(super) fn place<'c>(a: &Args<'c>, index: Size<'c>, size: Size<'c>) -> Size<'c> {
    let at = wrapped(index, size);
    if !index.counts() {
        require_inside(a, at, Size::Const(1), size, "index {0} is out of bounds for a dimension of size {1}", &[index, size]);
    }
    at
}

/// What a call must meet: `length` elements from `start` on are among those of a dimension.
fn require_inside<'c>(a: &Args<'c>, start: Size<'c>, length: Size<'c>, size: Size<'c>, text: &str, details: &[Size<'c>]) {
    a.guard_at_most(Size::Const(0), start, text, details);
    // (The sum of both may be more than an i64 holds.)
    a.guard_at_most(start, size - length, text, details);
}

fn select<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let dim = a.dim("dim", x.rank());
    x.at(dim, place(a, a.size("index"), x.size(dim)))
}

fn narrow<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let dim = a.dim("dim", x.rank());
    let start = if a.is_tensor("start") { a.raw("start").item_size() } else { a.size("start") };
    let (size, length) = (x.size(dim), a.size("length"));
    let at = wrapped(start, size);
    let text = "start {0} and length {1} exceed a dimension of size {2}";
    a.guard_at_most(Size::Const(0), length, text, &[start, length, size]);
    require_inside(a, at, length, size, text, &[start, length, size]);
    x.slice(dim, at, length, 1)
}

/// Consecutive pieces of these sizes.
fn pieces<'c>(x: Tensor<'c>, dim: usize, sizes: &[Size<'c>]) -> Vec<Tensor<'c>> {
    let mut offset = Size::Const(0);
    let piece = |size: &Size<'c>| {
        let piece = x.slice(dim, offset, *size, 1);
        offset = offset + *size;
        piece
    };
    sizes.iter().map(piece).collect()
}

/// As many pieces of `size` as the op has results; the last one is what is left.
fn equal_pieces<'c>(a: &Args<'c>, x: Tensor<'c>, dim: usize, size: Size<'c>) -> Vec<Tensor<'c>> {
    let count = a.num_results() as i64;
    let mut sizes = vec![size; a.num_results()];
    if let Some(last) = sizes.last_mut() {
        *last = x.size(dim) - size * (count - 1);
    }
    pieces(x, dim, &sizes)
}

fn split<'c>(a: &Args<'c>, size: &str) -> Vec<Tensor<'c>> {
    let x = a.tensor("self");
    let dim = a.dim("dim", x.rank());
    equal_pieces(a, x, dim, a.size(size))
}

fn split_with_sizes<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let x = a.tensor("self");
    pieces(x, a.dim("dim", x.rank()), &a.sizes(if a.has("split_size") { "split_size" } else { "split_sizes" }))
}

fn chunk<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let x = a.tensor("self");
    let dim = a.dim("dim", x.rank());
    equal_pieces(a, x, dim, x.size(dim).ceil_div(a.int("chunks").max(1)))
}

/// Pieces between given positions, or a given number of pieces whose sizes differ by one at most.
fn tensor_split<'c>(a: &Args<'c>, dim: usize) -> Vec<Tensor<'c>> {
    let x = a.tensor("self");
    let size = x.size(dim);
    let mut bounds = vec![Size::Const(0)];
    if a.has("tensor_indices_or_sections") {
        let given = super::index::wrapped(a.raw("tensor_indices_or_sections"), size).maximum(0);
        let parts = a.num_results() as i64;
        if given.rank() == 0 {
            // As many sections as there are results; the first ones are larger by one.
            let even = |i: i64| size / parts * i + size.modulo(parts).min(i);
            bounds.extend((1..=parts).map(even));
        } else {
            bounds.extend((0..parts - 1).map(|i| bounded(given.at(0, i).item_size(), size)));
            bounds.push(size);
        }
    } else if a.has("sections") {
        let (sections, n) = (a.int("sections").max(1), size.known().unwrap_or(0));
        if size.known().is_none() {
            a.fail("a symbolic size cannot be split into sections");
        }
        bounds.extend((1..=sections).map(|i| Size::Const(i * (n / sections) + i.min(n % sections))));
    } else {
        bounds.extend(a.sizes("indices").into_iter().map(|i| bounded(i, size)));
        bounds.push(size);
    }
    let length = |start: Size<'c>, end: Size<'c>| match end - start {
        Size::Const(n) => Size::Const(n.max(0)),
        length => length.max(0),
    };
    bounds.windows(2).map(|b| x.slice(dim, b[0], length(b[0], b[1]), 1)).collect()
}

/// The first elements in another shape; where that has more, they are 0 (PyTorch leaves them undefined).
fn resized<'c>(x: Tensor<'c>, shape: &[Size<'c>]) -> Tensor<'c> {
    let (have, want) = (x.numel(), product(shape));
    let flat = x.reshape(&[have]).pad_dim(0, Scalar::Int(0), 0, (want - have).max(0));
    flat.slice(0, 0, want, 1).reshape(shape)
}

fn unbind<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let x = a.tensor("self");
    let dim = a.dim("dim", x.rank());
    (0..a.num_results() as i64).map(|i| x.at(dim, i)).collect()
}

/// The diagonal of two dimensions as a new last one.
pub(super) fn matrix_diagonal(x: Tensor<'_>, offset: i64, dim1: usize, dim2: usize) -> Tensor<'_> {
    if x.rank() < 2 || dim1 == dim2 {
        x.prim().fail("a diagonal is of two dimensions");
        return x;
    }
    let mut perm: Vec<_> = (0..x.rank()).filter(|d| *d != dim1 && *d != dim2).collect();
    perm.extend([dim1, dim2]);
    let x = x.transpose(&perm);
    let last = x.rank() - 1;
    let (row, col) = ((-offset).max(0), offset.max(0));
    let length = (x.size(last - 1) - row).min(x.size(last) - col).max(0);
    let positions = x.prim().range(strata_dialects::aten::dtype::DType::I64, length);
    let gathered = x.gather(&[positions + row, positions + col], &[last - 1, last]);
    gathered.move_dim(0, last - 1)
}

fn linalg_diagonal<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("A");
    matrix_diagonal(x, a.int("offset"), a.dim("dim1", x.rank()), a.dim("dim2", x.rank()))
}

fn diagonal<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    matrix_diagonal(x, a.int("offset"), a.dim("dim1", x.rank()), a.dim("dim2", x.rank()))
}

/// Windows of a dimension, with the position in the window as a new last dimension.
fn unfold<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let (size, step) = (a.int("size"), a.int("step"));
    if x.rank() == 0 {
        return x.reshape(&[Size::Const(1)]).slice(0, 0, size, 1);
    }
    let dim = a.dim("dimension", x.rank());
    let last = x.rank() - 1;
    if size == 0 {
        let mut shape = x.shape().to_vec();
        shape[dim] = shape[dim] / step.max(1) + 1;
        shape.push(Size::Const(0));
        return a.prim.full(x.dtype(), Scalar::Int(0), &shape);
    }
    x.move_dim(dim, last).window(&[size], &[step], &[1]).move_dim(last, dim)
}
