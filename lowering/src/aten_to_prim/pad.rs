//! Padding with a number, or with elements from inside.

use strata_dialects::aten::dtype::DType;
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Size, Tensor};

use Inside::{Clamped, Reflected};

use super::args::Args;
use super::resize::put_back;
use super::rule::Precision::Exact;
use super::rule::{Rule, one};

pub(super) const RULES: &[Rule] = &[
    one(_PAD_CIRCULAR, Exact, circular_pad),
    one(_PAD_ENUM, Exact, |a| padded(a, MODES.get(a.int("mode") as usize).copied().unwrap_or("?"))),
    one(CONSTANT_PAD_ND, Exact, constant_pad),
    one(PAD, Exact, |a| padded(a, &a.str("mode"))),
    one(REFLECTION_PAD1D, Exact, |a| pad_by(a, "padding", Reflected)),
    one(REFLECTION_PAD1D_BACKWARD, Exact, |a| pad_backward(a, Reflected)),
    one(REFLECTION_PAD2D, Exact, |a| pad_by(a, "padding", Reflected)),
    one(REFLECTION_PAD2D_BACKWARD, Exact, |a| pad_backward(a, Reflected)),
    one(REFLECTION_PAD3D, Exact, |a| pad_by(a, "padding", Reflected)),
    one(REFLECTION_PAD3D_BACKWARD, Exact, |a| pad_backward(a, Reflected)),
    one(REPLICATION_PAD1D, Exact, |a| pad_by(a, "padding", Clamped)),
    one(REPLICATION_PAD1D_BACKWARD, Exact, |a| pad_backward(a, Clamped)),
    one(REPLICATION_PAD2D, Exact, |a| pad_by(a, "padding", Clamped)),
    one(REPLICATION_PAD2D_BACKWARD, Exact, |a| pad_backward(a, Clamped)),
    one(REPLICATION_PAD3D, Exact, |a| pad_by(a, "padding", Clamped)),
    one(REPLICATION_PAD3D_BACKWARD, Exact, |a| pad_backward(a, Clamped)),
];

/// The modes of padding by PyTorch's numbers.
const MODES: [&str; 4] = ["reflect", "replicate", "circular", "constant"];

/// Low and high of each dimension. The list starts with the last dimension.
fn padding<'c>(x: Tensor<'c>, list: &[Size<'c>]) -> (Vec<Size<'c>>, Vec<Size<'c>>) {
    let (mut low, mut high) = (vec![Size::Const(0); x.rank()], vec![Size::Const(0); x.rank()]);
    for (i, pair) in list.chunks(2).enumerate().take(x.rank()) {
        let d = x.rank() - 1 - i;
        (low[d], high[d]) = (pair[0], pair.get(1).copied().unwrap_or(Size::Const(0)));
    }
    (low, high)
}

fn constant_pad<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let (low, high) = padding(x, &a.sizes("pad"));
    let value = a.opt_scalar("value").unwrap_or(Scalar::Int(0));
    x.pad(x.number(value), &low, &high, &vec![0; x.rank()])
}

fn padded<'c>(a: &Args<'c>, mode: &str) -> Tensor<'c> {
    match mode {
        "constant" => constant_pad(a),
        "reflect" => pad_by(a, "pad", Reflected),
        "replicate" => pad_by(a, "pad", Clamped),
        "circular" => circular_pad(a),
        mode => {
            a.fail(format!("unknown padding mode `{mode}`"));
            a.tensor("self")
        }
    }
}

/// Where a padded position outside of the tensor reads.
#[derive(Clone, Copy)]
enum Inside {
    Reflected,
    Clamped,
}

impl Inside {
    /// A tensor between `low` and `high` elements from its inside along a dimension. A negative number crops.
    fn framed<'c>(self, x: Tensor<'c>, dim: usize, low: i64, high: i64) -> Tensor<'c> {
        let n = x.size(dim);
        let last = n - Size::Const(1);
        let mut pieces = vec![x.slice(dim, (-low).max(0), n + low.min(0) + high.min(0), 1)];
        if low > 0 {
            pieces.insert(0, self.side(x, dim, (Size::Const(0), Size::Const(1)), low));
        }
        if high > 0 {
            pieces.push(self.side(x, dim, (last, last - high), high));
        }
        x.prim().concat(&pieces, dim)
    }

    /// So many elements beside an edge: the edge again and again, or those from `first` on, backwards.
    fn side<'c>(self, x: Tensor<'c>, dim: usize, (edge, first): (Size<'c>, Size<'c>), count: i64) -> Tensor<'c> {
        match self {
            Reflected => x.slice(dim, first, count, 1).reverse(&[dim]),
            Clamped => {
                let mut shape = x.shape().to_vec();
                shape[dim] = Size::Const(count);
                x.slice(dim, edge, 1, 1).broadcast_to(&shape)
            }
        }
    }

    /// For positions and the size as tensors.
    fn read<'c>(self, position: Tensor<'c>, size: Tensor<'c>) -> Tensor<'c> {
        match self {
            Reflected => {
                let last = size - 1;
                last - (position.abs() - last).abs()
            }
            Clamped => position.maximum(0).minimum(size - 1),
        }
    }
}

/// Crops where the padding is negative, then goes around.
fn circular_pad<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let (low, high) = padding(x, &a.sizes("pad"));
    let crop = |s: &Size<'c>| s.known().map_or(Size::Const(0), |n| Size::Const(n.min(0)));
    let (crop_low, crop_high): (Vec<_>, Vec<_>) = (low.iter().map(crop).collect(), high.iter().map(crop).collect());
    let cropped = x.pad(x.number(Scalar::Int(0)), &crop_low, &crop_high, &vec![0; x.rank()]);
    (0..x.rank()).fold(cropped, |x, dim| {
        let (before, after) = (low[dim] - crop_low[dim], high[dim] - crop_high[dim]);
        if before.known() == Some(0) && after.known() == Some(0) {
            return x;
        }
        for pad in [low[dim], high[dim]] {
            a.prim.require_at_most(
                pad,
                x.size(dim),
                "circular padding of {0} goes around a dimension of size {1} more than once",
                &[pad, x.size(dim)],
            );
        }
        let pieces = [x.slice(dim, x.size(dim) - before, before, 1), x, x.slice(dim, 0, after, 1)];
        let pieces: Vec<_> = pieces.into_iter().filter(|piece| piece.size(dim).known() != Some(0)).collect();
        a.prim.concat(&pieces, dim)
    })
}

/// Pads one dimension after the other: elements from inside, before and behind the tensor. Negative padding crops.
fn pad_by<'c>(a: &Args<'c>, list: &str, inside: Inside) -> Tensor<'c> {
    let x = a.tensor("self");
    let (low, high) = padding(x, &a.sizes(list));
    (0..x.rank()).fold(x, |x, dim| {
        if low[dim].known() == Some(0) && high[dim].known() == Some(0) {
            return x;
        }
        let (n, padded) = (x.size(dim), x.size(dim) + low[dim] + high[dim]);
        match inside {
            Reflected => [low[dim], high[dim]].into_iter().for_each(|pad| {
                a.prim.require_at_most(pad + 1, n, "reflection padding of {0} is not less than the dimension's size {1}", &[pad, n])
            }),
            Clamped => a.prim.require_at_most(
                Size::Const(1),
                n,
                "replication padding to a size of {1} repeats elements, and there are {0}",
                &[n, padded],
            ),
        }
        a.prim.require_at_most(Size::Const(1), padded, "padding makes a dimension of size {0} one of size {1}", &[n, padded]);
        let known = low[dim].known().zip(high[dim].known());
        if let Some((low, high)) = known.filter(|(low, high)| low.min(high) >= &0 || n.known() >= Some(-low.min(&0) - high.min(&0))) {
            return inside.framed(x, dim, low, high);
        }
        let positions = a.prim.range(DType::I64, padded) - low[dim];
        x.gather(&[inside.read(positions, a.prim.size_tensor(DType::I64, n))], &[dim]).move_dim(0, dim)
    })
}

/// Adds the gradient of each padded element where it was read.
fn pad_backward<'c>(a: &Args<'c>, inside: Inside) -> Tensor<'c> {
    let (grad, x) = (a.tensor("grad_output"), a.tensor("self"));
    let (low, _) = padding(x, &a.sizes("padding"));
    (0..x.rank()).fold(grad, |grad, dim| {
        let n = x.size(dim);
        if grad.size(dim).same(n) && low[dim].known() == Some(0) {
            return grad;
        }
        let positions = a.prim.range(DType::I64, grad.size(dim)) - low[dim];
        put_back(grad, dim, n, inside.read(positions, a.prim.size_tensor(DType::I64, n)))
    })
}
