//! Gradients of reads and writes at computed positions.

use strata_dialects::aten::dtype::Numeric;
use strata_dialects::prim;
use strata_dialects::prim_builder::{Scalar, Size, Tensor};

use super::rule::Rule::{Custom, Linear};
use super::rule::{At, Cotangents, Row, prim_rows, wide};

prim_rows! {
    /// `g` among zeros at the offsets. PyTorch: `slice_backward`.
    DynamicSlice => Linear(dynamic_slice);
    /// `g` with zeros in the place of the update; the part of `g` that the update gave. PyTorch: `slice_scatter`.
    DynamicUpdate => Linear(dynamic_update);
    /// `g` added up at the indices. PyTorch: `index_backward`.
    Gather => Linear(gather);
    /// `add`: `g`, and `g` at the indices. `set`: `g` with zeros at the indices, and `g` at the indices. `max`, `min`: `g` shared by all that are the extremum. `mul`: `g` times the product of the
    /// others. PyTorch: `scatter_add`, `scatter`, `scatter_reduce_backward`.
    Scatter => Custom(scatter);
}

fn indices<'c>(at: &At<'c>, from: usize) -> Vec<Tensor<'c>> {
    (from..at.op.num_operands()).map(|operand| at.x(operand)).collect()
}

fn gather<'c>(at: &At<'c>) -> Cotangents<'c> {
    let x = at.x(0);
    // Halves are added up in f32.
    let zeros = x.prim().full(x.dtype().compute(), Scalar::Int(0), &x.shape());
    vec![Some(zeros.scatter(wide(at.g()), &indices(at, 1), &at.dims("dims"), "add"))]
}

fn scatter<'c>(at: &At<'c>) -> Cotangents<'c> {
    let (g, indices, dims) = (at.g(), indices(at, 2), at.dims("dims"));
    let kind = match at.word("kind").as_str() {
        "add" => "sum",
        "mul" => "prod",
        "max" => "amax",
        "min" => "amin",
        _ => {
            return at.each(|operand| {
                let zeros = at.x(1).filled(Scalar::Int(0));
                // Of several updates of one element PyTorch gives each the cotangent.
                Some(if operand == 0 { g.scatter(zeros, &indices, &dims, "set") } else { g.gather(&indices, &dims) })
            });
        }
    };
    let write = Write { x: wide(at.x(0)), updates: wide(at.x(1)), y: wide(at.y(0)), indices: &indices, dims: &dims };
    let (by_x, by_updates) = write.gradient(wide(g), kind, true);
    at.each(|operand| if operand == 0 { by_x } else { by_updates })
}

/// Updates that are combined with what is there.
pub(super) struct Write<'a, 'c> {
    pub x: Tensor<'c>,
    pub updates: Tensor<'c>,
    pub y: Tensor<'c>,
    pub indices: &'a [Tensor<'c>],
    pub dims: &'a [usize],
}

impl<'c> Write<'_, 'c> {
    fn read(&self, tensor: Tensor<'c>) -> Tensor<'c> {
        tensor.gather(self.indices, self.dims)
    }

    fn combine(&self, x: Tensor<'c>, updates: Tensor<'c>, kind: &str) -> Tensor<'c> {
        x.scatter(updates, self.indices, self.dims, kind)
    }

    /// Cotangents of what was there and of the updates, as PyTorch's `scatter_reduce_backward` has them.
    pub fn gradient(&self, g: Tensor<'c>, kind: &str, include_self: bool) -> (Option<Tensor<'c>>, Option<Tensor<'c>>) {
        let (x, updates) = (self.x, self.updates);
        let number = |value: i64| x.number(Scalar::Int(value));
        let (zeros, ones) = (x.filled(Scalar::Int(0)), updates.filled(Scalar::Int(1)));
        let written = self.combine(zeros, ones, "set").not_equal(0);
        let (by_x, by_updates) = match kind {
            "sum" => (g, self.read(g)),
            "mean" => {
                let first = x.filled(Scalar::Int(i64::from(include_self)));
                let share = g / self.combine(first, ones, "add").maximum(1);
                (share, self.read(share))
            }
            "prod" => {
                let base = if include_self { x } else { written.select(number(1), x) };
                let zero = updates.equal(0);
                let single = zero.and(self.read(self.combine(zeros, zero.convert(x.dtype()), "add")).equal(1));
                let others = self.read(g * self.combine(base, single.select(number(1), updates), "mul"));
                let by_updates = single.select(others, self.read(g * self.y) / zero.select(number(1), updates));
                (g * self.combine(x.filled(Scalar::Int(1)), updates, "mul"), by_updates)
            }
            "amax" | "amin" => {
                let (kept, taken) = (x.equal(self.y), updates.equal(self.read(self.y)));
                let share = g / self.combine(kept.convert(g.dtype()), taken.convert(g.dtype()), "add");
                (kept.select(share, number(0)), taken.select(self.read(share), number(0)))
            }
            kind => {
                x.prim().fail(format!("a write of kind `{kind}`"));
                return (None, None);
            }
        };
        (Some(if include_self { by_x } else { written.select(number(0), by_x) }), Some(by_updates))
    }
}

fn offsets<'c>(at: &At<'c>, from: usize) -> Vec<Size<'c>> {
    (from..at.op.num_operands()).map(|operand| at.prim.symbol(at.op.operand(operand))).collect()
}

fn dynamic_slice<'c>(at: &At<'c>) -> Cotangents<'c> {
    let (g, x, low) = (at.g(), at.x(0), offsets(at, 1));
    let high: Vec<_> = (0..x.rank()).map(|dim| x.size(dim) - low[dim] - g.size(dim)).collect();
    vec![Some(g.pad(g.number(Scalar::Int(0)), &low, &high, &vec![0; x.rank()]))]
}

fn dynamic_update<'c>(at: &At<'c>) -> Cotangents<'c> {
    let (g, update, low) = (at.g(), at.x(1), offsets(at, 2));
    at.each(|operand| {
        if operand == 1 {
            return Some(g.slice_all(&low, &update.shape(), &vec![1; g.rank()]));
        }
        let zeros = update.filled(Scalar::Int(0));
        let operands: Vec<_> = [g.value(), zeros.value()].into_iter().chain(low.iter().map(|offset| at.prim.index(*offset))).collect();
        Some(at.prim.emit(prim::DynamicUpdate::NAME, &operands, &[], g.dtype(), g.shape()))
    })
}
