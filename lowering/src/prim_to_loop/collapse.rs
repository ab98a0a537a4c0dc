//! Neighbouring dims that every access walks through together become one dim.
//!
//! `(i, j)` of sizes `a, b` becomes `k` of size `a * b` when every stage that runs over one runs over both, in that order and for the
//! same purpose, and every access has them as two neighbouring indices of a tensor whose second size is `b`. Tensors are dense, so
//! reading them by `k` is free; the call reshapes its operands and results to the kernel's shapes.

use crate::kernel_view::{KernelView, StageView};
use std::collections::HashMap;
use strata_core::ir::{AffineExpr, AffineKind, AffineMap, DYNAMIC, Op, Value};

/// Two dims to merge, and where each tensor has them.
struct Merge<'c> {
    first: usize,
    /// The position of the first of the two indices, for tensors that have them.
    tensors: HashMap<Value<'c>, usize>,
}

/// Merges dims of a kernel until none is left to merge.
pub fn collapse(kernel: Op<'_>) {
    while let Some(merge) = KernelView::new(kernel).and_then(|view| find(&view)) {
        apply(kernel, &merge);
    }
}

fn find<'c>(view: &KernelView<'c>) -> Option<Merge<'c>> {
    (0..view.num_dims().saturating_sub(1)).find_map(|first| mergeable(view, first))
}

/// Whether dims `first` and `first + 1` can merge.
fn mergeable<'c>(view: &KernelView<'c>, first: usize) -> Option<Merge<'c>> {
    let second = first + 1;
    let sizes = view.sizes.results();
    let mut tensors: HashMap<Value<'c>, usize> = HashMap::new();
    let mut used = false;
    for stage in &view.stages {
        let at = |dim: usize| stage.domain.iter().position(|&known| known == dim);
        match (at(first), at(second)) {
            (None, None) => continue,
            (Some(i), Some(j)) if j == i + 1 => {}
            _ => return None,
        }
        used = true;
        let reduced = |dim: usize| stage.reduce.contains(&dim);
        let spread = stage.spread.contains(&first) || stage.spread.contains(&second);
        if stage.is_scatter() || stage.scan.is_some() || spread || reduced(first) != reduced(second) || reads_index(stage, [first, second])
        {
            return None;
        }
        for (operand, map) in stage.op.operands().into_iter().zip(&stage.maps) {
            if let Some(position) = position(*map, first)? {
                let extent = extent(view, operand, position + 1)?;
                let agrees = extent == sizes[second] && tensors.insert(operand, position).is_none_or(|known| known == position);
                if !agrees {
                    return None;
                }
            }
        }
        if !reduced(first) {
            let position = stage.result_dims().iter().position(|&dim| dim == first)?;
            for result in stage.op.results() {
                if tensors.insert(result, position).is_some_and(|known| known != position) {
                    return None;
                }
            }
        }
    }
    // A tensor whose shape changes must not be read in any other way.
    let untouched = |tensor: Value<'c>| {
        tensor.uses().iter().all(|using| {
            if using.op.is("loop.return") {
                return true;
            }
            let stage = StageView::new(using.op);
            stage.maps.get(using.index).is_some_and(|map| matches!(position(*map, first), Some(Some(_))))
        })
    };
    (used && tensors.keys().all(|&tensor| untouched(tensor))).then_some(Merge { first, tensors })
}

/// Whether the body of a stage asks for the index of one of these dims.
fn reads_index(stage: &StageView<'_>, dims: [usize; 2]) -> bool {
    stage.op.body(0).ops().iter().any(|op| op.is("loop.index") && op.int("dim").is_some_and(|dim| dims.contains(&(dim as usize))))
}

/// Where a map has `d(first), d(first + 1)` as neighbouring results: nowhere is `Some(None)`, any other use of the two is `None`.
fn position(map: AffineMap<'_>, first: usize) -> Option<Option<usize>> {
    let results = map.results();
    let uses = |expr: &AffineExpr<'_>| expr.uses_dim(first) || expr.uses_dim(first + 1);
    let Some(at) = results.iter().position(uses) else { return Some(None) };
    let plain = |at: usize, dim: usize| results.get(at).is_some_and(|expr| expr.kind() == AffineKind::Dim(dim));
    let alone = results.iter().filter(|expr| uses(expr)).count() == 2;
    (plain(at, first) && plain(at + 1, first + 1) && alone).then_some(Some(at))
}

/// The size of a tensor of the kernel along one of its dims, as an expression of the symbols.
fn extent<'c>(view: &KernelView<'c>, tensor: Value<'c>, dim: usize) -> Option<AffineExpr<'c>> {
    if let Some(op) = tensor.defining_op() {
        let dims = StageView::new(op).result_dims();
        return Some(view.sizes.results()[*dims.get(dim)?]);
    }
    view.shapes().get(tensor.index())?.results().get(dim).copied()
}

/// Rewrites the kernel with the two dims merged.
fn apply(kernel: Op<'_>, merge: &Merge<'_>) {
    let Some(view) = KernelView::new(kernel) else { return };
    let cx = kernel.cx();
    let (first, second, symbols) = (merge.first, merge.first + 1, view.sizes.num_symbols());
    let rename = |dim: usize| if dim > first { dim - 1 } else { dim };
    // The second dim vanishes: its index is only ever found beside the first one's, and is dropped there.
    let renamed: Vec<_> = (0..view.num_dims()).map(|dim| if dim == second { cx.constant(0) } else { cx.dim(rename(dim)) }).collect();
    let renaming = cx.map(view.num_dims() - 1, symbols, &renamed);
    let mut sizes = view.sizes.results();
    sizes[first] = sizes[first] * sizes.remove(second);
    kernel.set_attr("sizes", cx.map_attr(cx.map(0, symbols, &sizes)));
    for stage in &view.stages {
        let dims = |dims: &[usize]| {
            let kept = dims.iter().filter(|dim| **dim != second);
            cx.i64s_attr(&kept.map(|&dim| rename(dim) as i64).collect::<Vec<_>>())
        };
        stage.op.set_attr("domain", dims(&stage.domain));
        if !stage.reduce.is_empty() {
            stage.op.set_attr("reduce", dims(&stage.reduce));
        }
        if !stage.spread.is_empty() {
            stage.op.set_attr("spread", dims(&stage.spread));
        }
        if let Some(scan) = stage.scan {
            stage.op.set_attr("scan", cx.i64_attr(rename(scan) as i64));
        }
        for op in stage.op.body(0).ops() {
            if let Some(dim) = op.int("dim").filter(|_| op.is("loop.index")) {
                op.set_attr("dim", cx.i64_attr(rename(dim as usize) as i64));
            }
        }
        let maps = stage.op.operands().into_iter().zip(&stage.maps).map(|(operand, map)| {
            let mut results = map.results();
            if let Some(&position) = merge.tensors.get(&operand) {
                results.remove(position + 1);
            }
            let results: Vec<_> = results.into_iter().map(|expr| expr.compose(renaming)).collect();
            cx.map(view.num_dims() - 1, symbols, &results)
        });
        stage.op.set_attr("maps", cx.maps_attr(&maps.collect::<Vec<_>>()));
    }
    let tensors = kernel.body(0).args().into_iter().chain(view.results());
    let shapes = tensors.zip(view.shapes()).map(|(tensor, shape)| {
        let mut sizes = shape.results();
        if let Some(&position) = merge.tensors.get(&tensor) {
            sizes[position] = sizes[position] * sizes.remove(position + 1);
        }
        cx.map(0, symbols, &sizes)
    });
    kernel.set_attr("shapes", cx.maps_attr(&shapes.collect::<Vec<_>>()));
    for (&tensor, &position) in &merge.tensors {
        let mut shape = tensor.ty().shape();
        let removed = shape.remove(position + 1);
        shape[position] = if shape[position] == DYNAMIC || removed == DYNAMIC { DYNAMIC } else { shape[position] * removed };
        tensor.set_type(tensor.ty().with_shape(&shape));
    }
}
