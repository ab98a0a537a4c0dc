//! Neighbouring dims that every access walks through together become one dim.
//!
//! `(i, j)` of sizes `a, b` becomes `k` of size `a * b` when every stage that runs over one runs over both, in that order and for the
//! same purpose, and every access has them as two neighbouring indices of a tensor whose second size is `b`. Tensors are dense, so
//! reading them by `k` is free; the call reshapes its operands and results to the kernel's shapes. Both may be read backwards,
//! `(a - 1 - i, b - 1 - j)`, which is `a * b - 1 - k`.
//!
//! Stages that each have dims of their own for the same indices of a tensor, as the passes of a normalisation over its rows do, merge
//! all these pairs at once.

use std::collections::HashMap;
use strata_core::ir::{AffineExpr, AffineKind, AffineMap, DYNAMIC, Op, Value};
use strata_core::rewrite::Rewriter;
use strata_dialects::loops;
use strata_dialects::loops::edit::{rename_dims, set_maps, set_shapes, set_sizes};
use strata_dialects::loops::view::{KernelView, StageView};

/// Pairs of dims to merge, and where each tensor has one of them.
#[derive(Default)]
struct Merge<'c> {
    /// The first dims of the pairs; each second one follows its first.
    pairs: Vec<usize>,
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

/// Whether dims `first` and `first + 1` can merge, and with which other pairs.
fn mergeable<'c>(view: &KernelView<'c>, first: usize) -> Option<Merge<'c>> {
    let mut merge = Merge::default();
    let mut open = vec![first];
    while let Some(first) = open.pop() {
        if merge.pairs.contains(&first) {
            continue;
        }
        if merge.pairs.iter().any(|pair| pair.abs_diff(first) == 1) {
            return None;
        }
        merge.pairs.push(first);
        for (tensor, at) in tensors_of(view, first)? {
            match merge.tensors.insert(tensor, at) {
                Some(known) if known != at => return None,
                Some(_) => {}
                // A tensor whose shape changes must not be read in any other way.
                None => open.extend(pairs_at(tensor, at)?),
            }
        }
    }
    Some(merge)
}

/// The tensors that are accessed by two neighbouring dims, and where; nothing where a stage or an access does not walk through both together.
fn tensors_of<'c>(view: &KernelView<'c>, first: usize) -> Option<Vec<(Value<'c>, usize)>> {
    let second = first + 1;
    let sizes = view.sizes.results();
    sizes.get(second)?;
    let mut tensors = Vec::new();
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
                if !agrees(second, at + 1) || (backwards && !agrees(first, at)) {
                    return None;
                }
                tensors.push((operand, at));
            }
        }
        if !reduced(first) {
            let position = stage.result_dims().iter().position(|&dim| dim == first)?;
            tensors.extend(stage.op.results().into_iter().map(|result| (result, position)));
        }
    }
    used.then_some(tensors)
}

/// The first dims of the pairs by which a tensor is read at two neighbouring indices, of which the first has this position.
fn pairs_at(tensor: Value<'_>, at: usize) -> Option<Vec<usize>> {
    let read = tensor.uses().into_iter().filter(|using| !using.op.isa::<loops::Return>());
    read.map(|using| {
        let stage = StageView::new(using.op);
        let index = stage.maps.get(using.index)?.results().get(at).copied()?;
        (0..stage.maps[using.index].num_dims()).find(|&dim| index.uses_dim(dim))
    })
    .collect()
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

/// Rewrites the kernel with the dims of each pair merged.
fn apply<'c>(kernel: Op<'c>, merge: &Merge<'c>, rewriter: &mut Rewriter<'c>) {
    let Some(view) = KernelView::new(kernel) else { return };
    let cx = kernel.cx();
    let symbols = view.sizes.num_symbols();
    let is_second = |dim: usize| dim.checked_sub(1).is_some_and(|first| merge.pairs.contains(&first));
    let rename = |dim: usize| dim - merge.pairs.iter().filter(|first| **first < dim).count();
    // A second dim vanishes: its index is only ever found beside the first one's, and is dropped there.
    let renamed: Vec<_> = (0..view.num_dims()).map(|dim| if is_second(dim) { cx.constant(0) } else { cx.dim(rename(dim)) }).collect();
    let left = view.num_dims() - merge.pairs.len();
    let renaming = cx.map(left, symbols, &renamed);
    let old = view.sizes.results();
    let whole = |dim: usize| if merge.pairs.contains(&dim) { old[dim] * old[dim + 1] } else { old[dim] };
    let sizes: Vec<_> = (0..view.num_dims()).filter(|dim| !is_second(*dim)).map(whole).collect();
    set_sizes(rewriter, kernel, symbols, &sizes);
    for stage in &view.stages {
        rename_dims(rewriter, stage, &|dim| if is_second(dim) { Vec::new() } else { vec![rename(dim)] });
        let maps = stage.op.operands().into_iter().zip(&stage.maps).map(|(operand, map)| {
            let mut results = map.results();
            if let Some(&position) = merge.tensors.get(&operand) {
                results.remove(position + 1);
                let backwards = |first: &&usize| matches!(place(&old, *map, **first), Some(Some(Place { backwards: true, .. })));
                if let Some(&first) = merge.pairs.iter().find(backwards)
                    && let Some(size) = sizes[rename(first)].as_constant()
                {
                    results[position] = cx.constant(size - 1) - cx.dim(first);
                }
            }
            let results: Vec<_> = results.into_iter().map(|expr| expr.compose(renaming)).collect();
            cx.map(left, symbols, &results)
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
