//! Neighbouring dims that every access walks through together become one dim.
//!
//! `(i, j)` of sizes `a, b` becomes `k` of size `a * b` when every stage that runs over one runs over both, in that order and for the
//! same purpose, and every access has them as two neighbouring indices of a tensor whose second size is `b`. Tensors are dense, so
//! reading them by `k` is free; the call reshapes its operands and results to the kernel's shapes. Both may be read backwards,
//! `(a - 1 - i, b - 1 - j)`, which is `a * b - 1 - k`.

use std::collections::HashMap;
use strata_core::ir::{AffineExpr, AffineKind, AffineMap, DYNAMIC, Op, Value};
use strata_core::rewrite::Rewriter;
use strata_dialects::loops;
use strata_dialects::loops::edit::{rename_dims, set_maps, set_shapes, set_sizes};
use strata_dialects::loops::view::{KernelView, StageView};

/// Two dims to merge, and where each tensor has them.
struct Merge<'c> {
    first: usize,
    /// The position of the first of the two indices, for tensors that have them.
    tensors: HashMap<Value<'c>, usize>,
}

/// Merges dims of a kernel until none is left to merge.
pub fn collapse<'c>(kernel: Op<'c>, rewriter: &mut Rewriter<'c>) {
    while let Some(merge) = KernelView::new(kernel).and_then(|view| find(&view)) {
        apply(kernel, &merge, rewriter);
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
            if let Some(Place { at, backwards }) = place(&sizes, *map, first)? {
                let agrees = |dim: usize, position: usize| extent(view, operand, position) == Some(sizes[dim]);
                let whole = agrees(second, at + 1) && (!backwards || agrees(first, at));
                if !whole || tensors.insert(operand, at).is_some_and(|known| known != at) {
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
            if using.op.isa::<loops::Return>() {
                return true;
            }
            let stage = StageView::new(using.op);
            stage.maps.get(using.index).is_some_and(|map| matches!(place(&sizes, *map, first), Some(Some(_))))
        })
    };
    (used && tensors.keys().all(|&tensor| untouched(tensor))).then_some(Merge { first, tensors })
}

/// Whether the body of a stage asks for the index of one of these dims.
fn reads_index(stage: &StageView<'_>, dims: [usize; 2]) -> bool {
    stage.op.body(0).ops().iter().any(|op| op.isa::<loops::Index>() && op.int("dim").is_some_and(|dim| dims.contains(&(dim as usize))))
}

/// Where an access has two neighbouring dims.
#[derive(PartialEq)]
struct Place {
    /// The position of the first of the two indices.
    at: usize,
    /// Both run from their ends to 0.
    backwards: bool,
}

/// Where a map has `d(first), d(first + 1)` as neighbouring results: nowhere is `Some(None)`, any other use of the two is `None`.
fn place<'c>(sizes: &[AffineExpr<'c>], map: AffineMap<'c>, first: usize) -> Option<Option<Place>> {
    let results = map.results();
    let uses = |expr: &AffineExpr<'_>| expr.uses_dim(first) || expr.uses_dim(first + 1);
    let Some(at) = results.iter().position(uses) else { return Some(None) };
    if results.iter().filter(|expr| uses(expr)).count() != 2 {
        return None;
    }
    let both = |is: &dyn Fn(AffineExpr<'c>, usize) -> bool| {
        results.get(at..at + 2).is_some_and(|pair| is(pair[0], first) && is(pair[1], first + 1))
    };
    let plain = |expr: AffineExpr<'c>, dim: usize| expr.kind() == AffineKind::Dim(dim);
    let from_end = |expr: AffineExpr<'c>, dim: usize| sizes[dim].as_constant().is_some_and(|size| is_backwards(expr, dim, size));
    match (both(&plain), both(&from_end)) {
        (true, _) => Some(Some(Place { at, backwards: false })),
        (_, true) => Some(Some(Place { at, backwards: true })),
        _ => None,
    }
}

/// Whether an expression is `size - 1 - d(dim)`.
fn is_backwards(expr: AffineExpr<'_>, dim: usize, size: i64) -> bool {
    let AffineKind::Add(lhs, rhs) = expr.kind() else { return false };
    let AffineKind::Mul(index, factor) = lhs.kind() else { return false };
    rhs.as_constant() == Some(size - 1) && index.kind() == AffineKind::Dim(dim) && factor.as_constant() == Some(-1)
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
fn apply<'c>(kernel: Op<'c>, merge: &Merge<'c>, rewriter: &mut Rewriter<'c>) {
    let Some(view) = KernelView::new(kernel) else { return };
    let cx = kernel.cx();
    let (first, second, symbols) = (merge.first, merge.first + 1, view.sizes.num_symbols());
    let rename = |dim: usize| if dim > first { dim - 1 } else { dim };
    // The second dim vanishes: its index is only ever found beside the first one's, and is dropped there.
    let renamed: Vec<_> = (0..view.num_dims()).map(|dim| if dim == second { cx.constant(0) } else { cx.dim(rename(dim)) }).collect();
    let renaming = cx.map(view.num_dims() - 1, symbols, &renamed);
    let old = view.sizes.results();
    let mut sizes = old.clone();
    sizes[first] = sizes[first] * sizes.remove(second);
    set_sizes(rewriter, kernel, symbols, &sizes);
    for stage in &view.stages {
        rename_dims(rewriter, stage, &|dim| if dim == second { Vec::new() } else { vec![rename(dim)] });
        let maps = stage.op.operands().into_iter().zip(&stage.maps).map(|(operand, map)| {
            let mut results = map.results();
            if let Some(&position) = merge.tensors.get(&operand) {
                results.remove(position + 1);
                let backwards = matches!(place(&old, *map, first), Some(Some(Place { backwards: true, .. })));
                if let Some(size) = sizes[first].as_constant().filter(|_| backwards) {
                    results[position] = cx.constant(size - 1) - cx.dim(first);
                }
            }
            let results: Vec<_> = results.into_iter().map(|expr| expr.compose(renaming)).collect();
            cx.map(view.num_dims() - 1, symbols, &results)
        });
        set_maps(rewriter, stage.op, &maps.collect::<Vec<_>>());
    }
    let tensors = kernel.body(0).args().into_iter().chain(view.results());
    let shapes = tensors.zip(view.shapes()).map(|(tensor, shape)| {
        let mut sizes = shape.results();
        if let Some(&position) = merge.tensors.get(&tensor) {
            sizes[position] = sizes[position] * sizes.remove(position + 1);
        }
        cx.map(0, symbols, &sizes)
    });
    set_shapes(rewriter, kernel, &shapes.collect::<Vec<_>>());
    for (&tensor, &position) in &merge.tensors {
        let mut shape = tensor.ty().shape();
        let removed = shape.remove(position + 1);
        shape[position] = if shape[position] == DYNAMIC || removed == DYNAMIC { DYNAMIC } else { shape[position] * removed };
        rewriter.set_type(tensor, tensor.ty().with_shape(&shape));
    }
}
