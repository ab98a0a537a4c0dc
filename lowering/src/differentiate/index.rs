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
    let read = |tensor: Tensor<'c>| tensor.gather(&indices, &dims);
    let kind = at.word("kind");
    match kind.as_str() {
        "add" => at.each(|operand| Some(if operand == 0 { g } else { read(g) })),
        "set" => at.each(|operand| {
            let updates = at.x(1);
            if operand == 0 {
                return Some(g.scatter(updates.filled(Scalar::Int(0)), &indices, &dims, "set"));
            }
            // Of several updates of one element PyTorch gives each the cotangent.
            Some(read(g))
        }),
        "max" | "min" => {
            let (x, updates, y) = (at.x(0), at.x(1), at.y(0));
            let (kept, taken) = (x.equal(y), updates.equal(read(y)));
            let one = |mask: Tensor<'c>| mask.convert(g.dtype().compute());
            let share = (wide(g) / one(kept).scatter(one(taken), &indices, &dims, "add")).convert(g.dtype());
            at.each(|operand| Some(if operand == 0 { kept.select(share, Scalar::Int(0)) } else { taken.select(read(share), Scalar::Int(0)) }))
        }
        "mul" => {
            let (x, updates, y) = (at.x(0), at.x(1), at.y(0));
            let one = x.number(Scalar::Int(1));
            let times = |x: Tensor<'c>, updates: Tensor<'c>| x.scatter(updates, &indices, &dims, "mul");
            at.each(|operand| {
                if operand == 0 {
                    return Some(g * times(x.filled(Scalar::Int(1)), updates));
                }
                let zero = updates.equal(0);
                let zeros = x.filled(Scalar::Int(0)).scatter(zero.convert(x.dtype()), &indices, &dims, "add");
                let single = zero.and(read(zeros).equal(1));
                let others = read(g * times(x, single.select(one, updates)));
                Some(single.select(others, read(g * y) / zero.select(one, updates)))
            })
        }
        kind => at.refuse(format!("a write of kind `{kind}`")),
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
