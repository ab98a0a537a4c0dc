//! Kernels that differ in fixed indices alone: one reads step 3 of a sequence, another one step 4. They become one kernel, and the index
//! is an argument of it.

use super::{FEWEST, alike, columns};
use strata_core::ir::{AffineExpr, AffineKind, AffineMap, Attr, Op};
use strata_core::likeness::Likeness;
use strata_core::rewrite::Rewriter;
use strata_dialects::loops;
use strata_dialects::loops::edit::{describe, set_maps};
use strata_dialects::loops::view::{KernelView, StageView};

/// Indices that a kernel gets as arguments at most.
const MOST_INDICES: usize = 4;

/// Makes one kernel of those that differ in fixed indices; gives how many it stands for besides itself.
pub(super) fn merge<'c>(module: Op<'c>, rewriter: &mut Rewriter<'c>) -> usize {
    alike(module, likeness).iter().filter(|group| group.len() >= FEWEST).map(|group| merge_group(group, rewriter)).sum()
}

/// An index without the number that is added to it, and that number.
fn split<'c>(index: AffineExpr<'c>) -> (AffineExpr<'c>, i64) {
    match index.kind() {
        AffineKind::Constant(number) => (index.cx().constant(0), number),
        AffineKind::Add(rest, number) => number.as_constant().map_or((index, 0), |number| (rest, number)),
        _ => (index, 0),
    }
}

/// The accesses of a stage whose indices may be given: those of the kernel's arguments. A guarded one is tested against what its index is
/// known to be.
fn accesses<'c>(stage: &StageView<'c>) -> impl Iterator<Item = (usize, AffineMap<'c>)> {
    let argument = |at: usize| stage.op.operand(at).defining_op().is_none();
    stage.maps.iter().copied().enumerate().filter(move |(at, _)| !stage.guarded[*at] && argument(*at))
}

/// What a kernel consists of but for its fixed indices.
fn likeness<'c>(kernel: Op<'c>) -> Likeness<'c> {
    let cx = kernel.cx();
    Likeness::of_body(kernel, &|op, name, attr| match name {
        "sym_name" => None,
        "maps" if op.isa::<loops::Stage>() => {
            let stage = StageView::new(op);
            let mut maps = stage.maps.clone();
            for (at, map) in accesses(&stage) {
                let rest: Vec<_> = map.results().into_iter().map(|index| split(index).0).collect();
                maps[at] = cx.map(map.num_dims(), map.num_symbols(), &rest);
            }
            Some(cx.maps_attr(&maps))
        }
        _ => Some(attr),
    })
}

/// The numbers in the indices of a kernel, in order.
fn fixed_indices(kernel: Op<'_>) -> Vec<i64> {
    let stages = KernelView::new(kernel).map(|kernel| kernel.stages).unwrap_or_default();
    let maps = stages.iter().flat_map(|stage| accesses(stage).map(|(_, map)| map).collect::<Vec<_>>());
    maps.flat_map(|map| map.results()).map(|index| split(index).1).collect()
}

fn merge_group<'c>(group: &[(Op<'c>, Vec<Op<'c>>)], rewriter: &mut Rewriter<'c>) -> usize {
    let kept = group[0].0;
    let Some(view) = KernelView::new(kept) else { return 0 };
    let given: Vec<Vec<i64>> = group.iter().map(|(kernel, _)| fixed_indices(*kernel)).collect();
    let (columns, new) = columns(&given);
    if new.is_empty() || new.len() > MOST_INDICES {
        return 0;
    }
    let (cx, args) = (kept.cx(), kept.body(0).args().len());
    let (old, dims) = (view.sizes.num_symbols(), view.num_dims());
    let mut column = columns.iter();
    for stage in &view.stages {
        let mut maps = stage.maps.clone();
        for (at, map) in accesses(stage) {
            let with_argument = |index: AffineExpr<'c>| {
                let given = column.next().and_then(|numbers| new.iter().position(|other| other == numbers));
                given.map_or(index, |at| split(index).0 + cx.symbol(old + at))
            };
            let indices: Vec<_> = map.results().into_iter().map(with_argument).collect();
            maps[at] = cx.map(dims, old + new.len(), &indices);
        }
        set_maps(rewriter, stage.op, &maps);
    }
    new.iter().for_each(|_| _ = kept.body(0).add_arg(cx.index(), kept.location()));
    let mut shapes: Vec<_> = view.shapes().iter().map(|shape| shape.results()).collect();
    shapes.splice(args..args, new.iter().map(|_| Vec::new()));
    let symbols = kept.ints("symbols").unwrap_or_default().into_iter().chain((args..args + new.len()).map(|at| at as i64));
    describe(rewriter, kept, &view.sizes.results(), &shapes, &symbols.collect::<Vec<_>>());
    let callee: Attr<'c> = cx.symbol_attr(&kept.str("sym_name").unwrap_or_default());
    for (row, (kernel, calls)) in group.iter().enumerate() {
        for &call in calls {
            rewriter.go_before(call);
            let indices: Vec<_> = new.iter().map(|column| rewriter.const_index(column[row])).collect();
            rewriter.set_operands(call, &[call.operands(), indices].concat());
            rewriter.set_attr(call, "callee", callee);
        }
        if row > 0 {
            rewriter.erase(*kernel);
        }
    }
    group.len() - 1
}
