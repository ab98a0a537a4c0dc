//! Dims of one step vanish from kernels that map and reduce, and with them the indices of tensors that are always 0.
//!
//! `out[i, j, k] = in[j, i, k]` of sizes `a, b, 1` becomes `out[i, j] = in[j, i]`: which dim of a tensor is the last, and so lies side by
//! side in memory, decides where lanes run and what is transposed. Tensors are dense, so the call reshapes its operands and results for
//! free.

use strata_core::ir::{AffineExpr, Op, Value};
use strata_core::rewrite::Rewriter;
use strata_dialects::loops;
use strata_dialects::loops::edit::{rename_dims, set_maps, set_shapes, set_sizes};
use strata_dialects::loops::view::{KernelView, StageView};

/// Drops the dims of one step of a kernel, but for the last dim that is left.
pub fn drop_unit_dims<'c>(kernel: Op<'c>, rewriter: &mut Rewriter<'c>) {
    let Some(view) = KernelView::new(kernel).filter(|view| view.stages.iter().all(is_plain)) else { return };
    let one = |dim: &usize| view.static_size(*dim) == Some(1);
    // What reduces along dims of one step alone keeps one of them.
    let last = |dim: usize| view.stages.iter().any(|stage| stage.reduce.last() == Some(&dim) && stage.reduce.iter().all(one));
    let unit: Vec<bool> = (0..view.num_dims()).map(|dim| one(&dim) && !names(&view, dim) && !last(dim)).collect();
    if unit.iter().all(|unit| *unit) {
        return;
    }
    let made = |tensor: Value<'c>| tensor.defining_op().map(|op| StageView::new(op).result_dims());
    // The indices of a tensor that are left.
    let left = |tensor: Value<'c>, extents: &[AffineExpr<'c>]| -> Vec<usize> {
        let stays = |at: &usize| match made(tensor) {
            Some(dims) => !unit[dims[*at]],
            None => extents[*at].as_constant() != Some(1) || !read_inside(&view, tensor),
        };
        (0..extents.len()).filter(stays).collect()
    };
    let sizes = view.sizes.results();
    let tensors: Vec<_> = kernel.body(0).args().into_iter().chain(view.results()).collect();
    let mut kept: Vec<_> = tensors.iter().zip(view.shapes()).map(|(tensor, shape)| (*tensor, left(*tensor, &shape.results()))).collect();
    for stage in &view.stages {
        let extents: Vec<_> = stage.result_dims().into_iter().map(|dim| sizes[dim]).collect();
        let between = stage.op.results().into_iter().filter(|result| !tensors.contains(result));
        kept.extend(between.map(|result| (result, left(result, &extents))).collect::<Vec<_>>());
    }
    if !unit.contains(&true) && kept.iter().all(|(tensor, left)| left.len() == tensor.ty().shape().len()) {
        return;
    }
    let guarded = |tensor: Value<'c>| tensor.defining_op().is_some() && !read_inside(&view, tensor);
    if kept.iter().any(|(tensor, left)| guarded(*tensor) && left.len() < tensor.ty().shape().len()) {
        return;
    }
    let (cx, symbols) = (kernel.cx(), view.sizes.num_symbols());
    let number = |dim: usize| unit[..dim].iter().filter(|unit| !**unit).count();
    let indices: Vec<_> = (0..unit.len()).map(|dim| if unit[dim] { cx.constant(0) } else { cx.dim(number(dim)) }).collect();
    let renaming = cx.map(number(unit.len()), symbols, &indices);
    let only = |exprs: Vec<AffineExpr<'c>>, left: &[usize]| left.iter().map(|at| exprs[*at]).collect::<Vec<_>>();
    set_sizes(rewriter, kernel, symbols, &only(sizes, &(0..unit.len()).filter(|dim| !unit[*dim]).collect::<Vec<_>>()));
    for stage in &view.stages {
        rename_dims(rewriter, stage, &|dim| if unit[dim] { Vec::new() } else { vec![number(dim)] });
        let maps = stage.op.operands().into_iter().zip(&stage.maps).map(|(operand, map)| {
            let left = kept.iter().find(|(tensor, _)| *tensor == operand).map(|(_, left)| left.clone());
            let results = only(map.results(), &left.unwrap_or_else(|| (0..map.results().len()).collect()));
            let results: Vec<_> = results.into_iter().map(|expr| expr.compose(renaming)).collect();
            cx.map(renaming.num_dims(), symbols, &results)
        });
        set_maps(rewriter, stage.op, &maps.collect::<Vec<_>>());
    }
    let shapes = kept.iter().zip(view.shapes()).map(|((_, left), shape)| cx.map(0, symbols, &only(shape.results(), left)));
    set_shapes(rewriter, kernel, &shapes.collect::<Vec<_>>());
    for (tensor, left) in kept.iter().filter(|(tensor, left)| left.len() < tensor.ty().shape().len()) {
        let shape = tensor.ty().shape();
        rewriter.set_type(*tensor, tensor.ty().with_shape(&left.iter().map(|at| shape[*at]).collect::<Vec<_>>()));
    }
}

/// Whether a stage maps elements, or combines those of one tensor. The dims of a contraction have roles, whatever their sizes are.
fn is_plain(stage: &StageView<'_>) -> bool {
    let contracts = !stage.reduce.is_empty() && stage.maps.len() > 1;
    !stage.is_scatter() && stage.scan.is_none() && !contracts && stage.spread.is_empty() && !stage.is_in_parts()
}

/// Whether the body of a stage asks for the index of a dim.
fn names(view: &KernelView<'_>, dim: usize) -> bool {
    let asks = |op: &Op<'_>| op.isa::<loops::Index>() && op.int("dim") == Some(dim as i64);
    view.stages.iter().any(|stage| stage.op.body(0).ops().iter().any(asks))
}

/// Whether a tensor is read by accesses of stages alone that stay inside of it.
fn read_inside(view: &KernelView<'_>, tensor: Value<'_>) -> bool {
    tensor.uses().into_iter().filter(|using| !using.op.isa::<loops::Return>()).all(|using| {
        let stage = view.stages.iter().find(|stage| stage.op == using.op);
        stage.is_some_and(|stage| using.index < stage.maps.len() && !stage.guarded.get(using.index).copied().unwrap_or_default())
    })
}
