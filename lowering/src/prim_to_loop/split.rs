//! A dim that an access takes apart, as quotient and remainder by one number, becomes two dims.
//!
//! `i` of size `n * k` becomes `(j, l)` of sizes `n, k` when some operand is read at `i floordiv k` and `i mod k`: it has `i` in panels.
//! Then loops and lanes can run along the parts. What is read at `i` is read at `j * k + l`; results that have `i` get both dims, and
//! the call reshapes them, which is free.

use strata_core::ir::{AffineExpr, AffineKind, AffineMap, Cx, Op, Value};
use strata_core::rewrite::Rewriter;
use strata_dialects::loops;
use strata_dialects::loops::edit::{rename_dims, set_maps, set_shapes, set_sizes};
use strata_dialects::loops::view::KernelView;

/// A dim and the size of its inner part.
#[derive(Clone, Copy)]
struct Split {
    dim: usize,
    inner: i64,
}

/// Splits dims of a kernel until none is left to split.
pub fn split<'c>(kernel: Op<'c>, rewriter: &mut Rewriter<'c>) {
    while let Some((view, split)) = KernelView::new(kernel).and_then(|view| find(&view).map(|split| (view, split))) {
        apply(&view, split, rewriter);
    }
}

fn find(view: &KernelView<'_>) -> Option<Split> {
    let exprs = || view.stages.iter().flat_map(|stage| &stage.maps).flat_map(|map| map.results());
    let divided = exprs().filter_map(|expr| match expr.kind() {
        AffineKind::FloorDiv(lhs, rhs) => Some((lhs, rhs.as_constant()?)),
        _ => None,
    });
    let candidates: Vec<_> = divided
        .filter_map(|(lhs, inner)| match lhs.kind() {
            AffineKind::Dim(dim) => Some(Split { dim, inner }),
            _ => None,
        })
        .collect();
    let remains = |split: &Split| {
        let wanted =
            |lhs: AffineExpr<'_>, rhs: AffineExpr<'_>| lhs.kind() == AffineKind::Dim(split.dim) && rhs.as_constant() == Some(split.inner);
        exprs().any(|expr| matches!(expr.kind(), AffineKind::Mod(lhs, rhs) if wanted(lhs, rhs)))
    };
    candidates.into_iter().find(|split| remains(split) && splittable(view, *split))
}

/// Whether every access and result can be said in terms of the parts.
fn splittable(view: &KernelView<'_>, split: Split) -> bool {
    let Split { dim, inner } = split;
    let even = inner > 1 && view.static_size(dim).is_some_and(|size| size > inner && size % inner == 0);
    even && view.stages.iter().filter(|stage| stage.domain.contains(&dim)).all(|stage| {
        let asks = stage.op.body(0).ops().iter().any(|op| op.isa::<loops::Index>() && op.int("dim") == Some(dim as i64));
        let reads = stage.op.operands().into_iter().zip(&stage.maps).all(|(operand, map)| {
            let split_result = split_position(view, operand, dim);
            map.results().into_iter().enumerate().all(|(at, expr)| match split_result == Some(at) {
                true => expr.kind() == AffineKind::Dim(dim),
                false => replaced(view.op.cx(), expr, split).is_some(),
            })
        });
        !asks && reads && !stage.is_scatter() && stage.scan != Some(dim) && !stage.spread.contains(&dim)
    })
}

/// Where the result of a stage has the dim.
fn split_position(view: &KernelView<'_>, tensor: Value<'_>, dim: usize) -> Option<usize> {
    let stage = view.stages.iter().find(|stage| tensor.defining_op() == Some(stage.op))?;
    stage.result_dims().iter().position(|&known| known == dim)
}

/// An expression in terms of the parts, when it is one of them; dims after the split one move up.
fn replaced<'c>(cx: Cx<'c>, expr: AffineExpr<'c>, split: Split) -> Option<AffineExpr<'c>> {
    let Split { dim, inner } = split;
    let (outer_part, inner_part) = (cx.dim(dim), cx.dim(dim + 1));
    let again = |expr| replaced(cx, expr, split);
    let is_dim = |expr: AffineExpr<'c>| expr.kind() == AffineKind::Dim(dim);
    let multiple = |expr: AffineExpr<'c>| expr.as_constant().filter(|number| number % inner == 0).map(|number| cx.constant(number / inner));
    Some(match expr.kind() {
        AffineKind::Constant(_) | AffineKind::Symbol(_) => expr,
        AffineKind::Dim(at) if at == dim => outer_part * cx.constant(inner) + inner_part,
        AffineKind::Dim(at) => cx.dim(if at > dim { at + 1 } else { at }),
        AffineKind::Add(lhs, rhs) => again(lhs)? + again(rhs)?,
        AffineKind::Mul(lhs, rhs) => again(lhs)? * again(rhs)?,
        AffineKind::FloorDiv(lhs, rhs) if is_dim(lhs) => outer_part.floor_div(multiple(rhs)?),
        AffineKind::Mod(lhs, rhs) if is_dim(lhs) => outer_part.modulo(multiple(rhs)?) * cx.constant(inner) + inner_part,
        AffineKind::FloorDiv(lhs, rhs) => again(lhs)?.floor_div(again(rhs)?),
        AffineKind::Mod(lhs, rhs) => again(lhs)?.modulo(again(rhs)?),
        AffineKind::CeilDiv(..) if expr.uses_dim(dim) => return None,
        AffineKind::CeilDiv(lhs, rhs) => again(lhs)?.ceil_div(again(rhs)?),
    })
}

/// Rewrites the kernel with the dim in two parts.
fn apply<'c>(view: &KernelView<'c>, split: Split, rewriter: &mut Rewriter<'c>) {
    let (kernel, cx) = (view.op, view.op.cx());
    let Split { dim, inner } = split;
    let (dims, symbols) = (view.num_dims() + 1, view.sizes.num_symbols());
    let moved = |at: usize| if at > dim { at + 1 } else { at };
    let mut sizes = view.sizes.results();
    let size = view.static_size(dim).unwrap_or(inner);
    sizes[dim] = cx.constant(size / inner);
    sizes.insert(dim + 1, cx.constant(inner));
    set_sizes(rewriter, kernel, symbols, &sizes);
    for stage in &view.stages {
        let maps = stage.op.operands().into_iter().zip(&stage.maps).map(|(operand, map)| {
            let mut results: Vec<_> = map.results().into_iter().map(|expr| replaced(cx, expr, split).unwrap_or(expr)).collect();
            if let Some(at) = split_position(view, operand, dim) {
                results[at] = cx.dim(dim);
                results.insert(at + 1, cx.dim(dim + 1));
            }
            cx.map(dims, symbols, &results)
        });
        set_maps(rewriter, stage.op, &maps.collect::<Vec<_>>());
        rename_dims(rewriter, stage, &|at| if at == dim { vec![dim, dim + 1] } else { vec![moved(at)] });
    }
    // Results get both dims; arguments are read where they were.
    let tensors = kernel.body(0).args().into_iter().chain(view.results());
    let shapes = tensors.zip(view.shapes()).map(|(tensor, shape)| split_shape(view, tensor, shape, split));
    set_shapes(rewriter, kernel, &shapes.collect::<Vec<_>>());
    for stage in &view.stages {
        for result in stage.op.results() {
            let Some(at) = split_position(view, result, dim) else { continue };
            let mut shape = result.ty().shape();
            shape[at] = size / inner;
            shape.insert(at + 1, inner);
            rewriter.set_type(result, result.ty().with_shape(&shape));
        }
    }
}

fn split_shape<'c>(view: &KernelView<'c>, tensor: Value<'c>, shape: AffineMap<'c>, split: Split) -> AffineMap<'c> {
    let cx = view.op.cx();
    let mut sizes = shape.results();
    if let Some(at) = split_position(view, tensor, split.dim) {
        let size = sizes[at].as_constant().unwrap_or(split.inner);
        sizes[at] = cx.constant(size / split.inner);
        sizes.insert(at + 1, cx.constant(split.inner));
    }
    cx.map(0, view.sizes.num_symbols(), &sizes)
}
