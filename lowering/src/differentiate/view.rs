//! Gradients of views: each is linear, and its transpose is a view, or a sum over what it repeats.

use strata_dialects::prim;
use strata_dialects::prim::view::windowed;
use strata_dialects::prim_builder::{Scalar, Size, Tensor};

use super::rule::Rule::{Linear, Zero};
use super::rule::{At, Cotangents, Row, prim_rows};

prim_rows! {
    /// The sum over what is repeated. PyTorch: `expand`, `sum_to`.
    Broadcast => Linear(broadcast);
    /// The pieces of `g`. PyTorch: `cat`.
    Concat => Linear(concat);
    /// None: a size.
    Dim => Zero;
    /// The inner part of `g` for the operand, the sum of the rest for the value. PyTorch: `constant_pad_nd`.
    Pad => Linear(pad);
    /// `g` in the operand's shape. PyTorch: `view`.
    Reshape => Linear(|at| vec![Some(at.g().reshape(&at.x(0).shape()))]);
    /// `g` reversed. PyTorch: `flip`.
    Reverse => Linear(|at| vec![Some(at.g().reverse(&at.dims("dims")))]);
    /// `g` among zeros. PyTorch: `slice_backward`.
    Slice => Linear(slice);
    /// The windows added up where they overlap, dimension by dimension: a window's row `w` stands `w * dilation` further on. PyTorch:
    /// `unfold_backward`.
    SlidingWindow => Linear(sliding_window);
    /// `g` by the inverse permutation. PyTorch: `permute`.
    Transpose => Linear(|at| vec![Some(at.g().transpose(&strata_dialects::capture::inverse(&at.dims("perm"))))]);
}

fn broadcast<'c>(at: &At<'c>) -> Cotangents<'c> {
    let (g, x, dims) = (at.g(), at.x(0), at.dims("dims"));
    let repeated = |dim: &usize| match dims.iter().position(|named| named == dim) {
        Some(of) => x.size(of).is_one() && !g.size(*dim).is_one(),
        None => true,
    };
    let summed = g.reduce("sum", &(0..g.rank()).filter(repeated).collect::<Vec<_>>(), true);
    // The dims that are of the operand, in its order, after those that were missing.
    let missing: Vec<_> = (0..g.rank()).filter(|dim| !dims.contains(dim)).collect();
    vec![Some(summed.transpose(&[missing.as_slice(), &dims].concat()).reshape(&x.shape()))]
}

fn concat<'c>(at: &At<'c>) -> Cotangents<'c> {
    let (g, dim) = (at.g(), at.dim());
    let mut offset = Size::Const(0);
    let mut pieces = Vec::new();
    for operand in 0..at.op.num_operands() {
        let size = at.x(operand).size(dim);
        pieces.push(at.wants(operand).then(|| g.slice(dim, offset, size, 1)));
        offset = offset + size;
    }
    pieces
}

/// Numbers of an attribute, of which those that are not known are operands from `next` on.
fn spelled<'c>(at: &At<'c>, name: &str, next: &mut usize) -> Vec<Size<'c>> {
    let size = |number: i64| match number {
        strata_core::ir::DYNAMIC => {
            *next += 1;
            at.prim.symbol(at.op.operand(*next - 1))
        }
        known => Size::Const(known),
    };
    at.op.ints(name).unwrap_or_default().into_iter().map(size).collect()
}

fn slice<'c>(at: &At<'c>) -> Cotangents<'c> {
    let (g, x, mut next) = (at.g(), at.x(0), 1);
    let offsets = spelled(at, "offsets", &mut next);
    let strides = at.op.ints("strides").unwrap_or_default();
    if g.numel().known() == Some(0) {
        return vec![Some(x.filled(Scalar::Int(0)))];
    }
    let reach = |dim: usize| (g.size(dim) - 1) * strides[dim] + 1;
    let high: Vec<_> = (0..x.rank()).map(|dim| x.size(dim) - offsets[dim] - reach(dim)).collect();
    let interior: Vec<_> = strides.iter().map(|stride| stride - 1).collect();
    vec![Some(g.pad(g.number(Scalar::Int(0)), &offsets, &high, &interior))]
}

fn pad<'c>(at: &At<'c>) -> Cotangents<'c> {
    let (g, x, mut next) = (at.g(), at.x(0), 2);
    let (low, high) = (spelled(at, "low", &mut next), spelled(at, "high", &mut next));
    let interior = at.op.ints("interior").unwrap_or_default();
    let minus = |sizes: &[Size<'c>]| sizes.iter().map(|size| Size::Const(0) - *size).collect::<Vec<_>>();
    at.each(|operand| {
        if operand == 1 {
            let one = x.filled(Scalar::Int(1));
            let inside = one.pad(one.number(Scalar::Int(0)), &low, &high, &interior).not_equal(0);
            return Some(inside.select(g.number(Scalar::Int(0)), g).reduce("sum", &g.all_dims(), false));
        }
        if x.numel().known() == Some(0) {
            return Some(x.filled(Scalar::Int(0)));
        }
        let whole = g.pad(g.number(Scalar::Int(0)), &minus(&low), &minus(&high), &vec![0; g.rank()]);
        let strides: Vec<_> = interior.iter().map(|zeros| zeros + 1).collect();
        Some(whole.slice_all(&vec![Size::Const(0); x.rank()], &x.shape(), &strides))
    })
}

fn sliding_window<'c>(at: &At<'c>) -> Cotangents<'c> {
    let (mut g, x) = (at.g(), at.x(0));
    let ints = |name: &str| at.op.ints(name).unwrap_or_default();
    let (strides, dilations) = (ints("strides"), ints("dilations"));
    let dims = windowed(x.rank(), strides.len(), at.op.ints("dims"));
    // The same for all elements of a window, as behind a sum: windows of one dimension at a time are enough then.
    let same = repeated(g, x.rank());
    // The last dim of the windows first: it is the last of `g` then.
    for (k, dim) in dims.into_iter().enumerate().rev() {
        if let Some(same) = same {
            let (of, width) = (if k + 1 == strides.len() { same } else { g }, at.g().size(x.rank() + k));
            g = of.broadcast_dims(&[&of.shape(), [width].as_slice()].concat(), &of.all_dims());
        }
        g = g.overlap_add(dim, strides[k], dilations[k], x.size(dim));
    }
    vec![Some(g)]
}

/// What a tensor repeats along all its dimensions from `rank` on, if it is such a broadcast.
fn repeated<'c>(g: Tensor<'c>, rank: usize) -> Option<Tensor<'c>> {
    let broadcast = g.value().defining_op().filter(|op| op.isa::<prim::Broadcast>())?;
    let of = broadcast.operand(0);
    let same = of.ty().rank() == rank && of.ty().shape() == g.value().ty().shape()[..rank];
    let whole = broadcast.ints("dims")?.into_iter().eq(0..rank as i64);
    (same && whole).then(|| g.prim().tensor(of))
}
