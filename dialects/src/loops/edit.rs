//! Changing kernels and stages: operands and what the attributes say of them change together.

use super::view::StageView;
use crate::loops;
use strata_core::ir::{AffineExpr, AffineMap, Attr, Block, Op, Value};
use strata_core::rewrite::Rewriter;

/// Gives a stage other operands, with the access of each and whether it may reach outside.
pub fn set_reads<'c>(rewriter: &mut Rewriter<'c>, stage: Op<'c>, operands: &[Value<'c>], maps: &[AffineMap<'c>], guarded: &[bool]) {
    rewriter.set_operands(stage, operands);
    set_maps(rewriter, stage, maps);
    if guarded.contains(&true) || stage.attr("guarded").is_some() {
        rewriter.set_attr(stage, "guarded", stage.cx().bools_attr(guarded));
    }
}

/// Gives the operands of a stage other accesses.
pub fn set_maps<'c>(rewriter: &mut Rewriter<'c>, stage: Op<'c>, maps: &[AffineMap<'c>]) {
    rewriter.set_attr(stage, "maps", stage.cx().maps_attr(maps));
}

/// Gives a kernel other sizes of its dims, over so many symbols.
pub fn set_sizes<'c>(rewriter: &mut Rewriter<'c>, kernel: Op<'c>, symbols: usize, sizes: &[AffineExpr<'c>]) {
    let cx = kernel.cx();
    rewriter.set_attr(kernel, "sizes", cx.map_attr(cx.map(0, symbols, sizes)));
}

/// Gives the arguments and results of a kernel other shapes.
pub fn set_shapes<'c>(rewriter: &mut Rewriter<'c>, kernel: Op<'c>, shapes: &[AffineMap<'c>]) {
    rewriter.set_attr(kernel, "shapes", kernel.cx().maps_attr(shapes));
}

/// Says all that a kernel's attributes say, once its stages are there: the sizes of its dims, the shapes of its arguments and results, and
/// which arguments are the symbols. Accesses that were written before all dims and symbols were known get as many as there are.
pub fn describe<'c>(
    rewriter: &mut Rewriter<'c>,
    kernel: Op<'c>,
    sizes: &[AffineExpr<'c>],
    shapes: &[Vec<AffineExpr<'c>>],
    symbols: &[i64],
) {
    let cx = kernel.cx();
    set_sizes(rewriter, kernel, symbols.len(), sizes);
    set_shapes(rewriter, kernel, &shapes.iter().map(|shape| cx.map(0, symbols.len(), shape)).collect::<Vec<_>>());
    rewriter.set_attr(kernel, "symbols", cx.i64s_attr(symbols));
    for stage in kernel.body(0).ops() {
        let Some(maps) = stage.attr("maps").and_then(Attr::as_array) else { continue };
        let maps = maps.into_iter().filter_map(Attr::as_map).map(|map| cx.map(sizes.len(), symbols.len(), &map.results()));
        set_maps(rewriter, stage, &maps.collect::<Vec<_>>());
    }
}

/// Says where the result of a stage lies: `register`, `tile` or `buffer`.
pub fn set_space<'c>(rewriter: &mut Rewriter<'c>, stage: Op<'c>, space: &str) {
    rewriter.set_attr(stage, "space", stage.cx().str_attr(space));
}

/// Erases what is computed in a body, has no effect and is used by nobody: users first.
pub fn erase_unused<'c>(rewriter: &mut Rewriter<'c>, body: Block<'c>) {
    for op in body.ops().into_iter().rev() {
        if op.is_dead() && op.is_effect_free() {
            rewriter.erase(op);
        }
    }
}

/// Gives the dims of a stage other numbers: each becomes one, two, or none. Its accesses stay as they are.
pub fn rename_dims<'c>(rewriter: &mut Rewriter<'c>, stage: &StageView<'c>, to: &dyn Fn(usize) -> Vec<usize>) {
    let (op, cx) = (stage.op, stage.op.cx());
    for (name, dims) in [("domain", &stage.domain), ("reduce", &stage.reduce), ("spread", &stage.spread)] {
        if name == "domain" || !dims.is_empty() {
            let dims: Vec<i64> = dims.iter().flat_map(|&dim| to(dim)).map(|dim| dim as i64).collect();
            rewriter.set_attr(op, name, cx.i64s_attr(&dims));
        }
    }
    let mut rename = |op: Op<'c>, name: &str, dim: usize| {
        if let Some(&dim) = to(dim).first() {
            rewriter.set_attr(op, name, cx.i64_attr(dim as i64));
        }
    };
    if let Some(scan) = stage.scan {
        rename(op, "scan", scan);
    }
    for index in op.body(0).ops().into_iter().filter(|op| op.isa::<loops::Index>()) {
        if let Some(dim) = index.int("dim") {
            rename(index, "dim", dim as usize);
        }
    }
}
