//! Kernels that differ in numbers alone: one scales by 0.02, another one by 0.03. They become one kernel, and a tensor of its numbers is an
//! argument of it.

use super::{FEWEST, alike, columns};
use strata_core::ir::{Attr, ElementType, Op};
use strata_core::likeness::Likeness;
use strata_core::rewrite::Rewriter;
use strata_core::upstream::arith;
use strata_dialects::loops::edit::{describe, set_reads};
use strata_dialects::loops::view::{KernelView, StageView};
use strata_dialects::prim;

/// Makes one kernel of those that differ in numbers; gives how many it stands for besides itself.
pub(super) fn merge<'c>(module: Op<'c>, rewriter: &mut Rewriter<'c>) -> usize {
    let groups = alike(module, |kernel| {
        let free = has_free_numbers(kernel);
        Likeness::of_body(kernel, &|op, name, attr| {
            let counts = name != "sym_name" && !(free && name == "value" && is_free(op));
            counts.then_some(attr)
        })
    });
    groups.iter().filter(|group| group.len() >= FEWEST).map(|group| merge_group(group, rewriter)).sum()
}

/// Whether numbers of a kernel may be read from memory: what attention makes of scores knows its numbers.
fn has_free_numbers(kernel: Op<'_>) -> bool {
    KernelView::new(kernel).is_some_and(|view| !view.stages.iter().any(StageView::is_attention))
}

/// Whether a stage does the same for each element with a number that it reads: it combines nothing, where what is read says what the
/// combination is.
fn may_read(stage: &StageView<'_>) -> bool {
    stage.reduce.is_empty() && stage.scan.is_none() && stage.spread.is_empty() && !stage.is_scatter()
}

/// Whether an op is a number of f32 that elements of a stage are only added to or multiplied by.
fn is_free(op: Op<'_>) -> bool {
    let number =
        op.isa::<arith::Constant>() && op.result(0).ty().element_type() == Some(ElementType::F32) && !op.result(0).ty().is_vector();
    let plain = |user: Op<'_>| user.isa::<arith::AddF>() || user.isa::<arith::SubF>() || user.isa::<arith::MulF>();
    number && op.parent().is_some_and(|stage| stage.attr("domain").is_some() && may_read(&StageView::new(stage))) && {
        op.result(0).uses().into_iter().all(|using| plain(using.op))
    }
}

/// The free numbers of a kernel, stage by stage.
fn free_numbers<'c>(kernel: Op<'c>) -> Vec<Op<'c>> {
    let stages = KernelView::new(kernel).map(|kernel| kernel.stages).unwrap_or_default();
    stages.into_iter().flat_map(|stage| stage.op.body(0).ops()).filter(|op| is_free(*op)).collect()
}

fn merge_group<'c>(group: &[(Op<'c>, Vec<Op<'c>>)], rewriter: &mut Rewriter<'c>) -> usize {
    let kept = group[0].0;
    let Some(view) = KernelView::new(kept).filter(|_| has_free_numbers(kept)) else { return 0 };
    let given: Vec<Vec<Attr<'c>>> =
        group.iter().map(|(kernel, _)| free_numbers(*kernel).into_iter().filter_map(|op| op.attr("value")).collect()).collect();
    let (columns, new) = columns(&given);
    if new.is_empty() {
        return 0;
    }
    let (cx, args) = (kept.cx(), kept.body(0).args().len());
    let (symbols, dims) = (view.sizes.num_symbols(), view.num_dims());
    let ty = cx.tensor(&[new.len() as i64], cx.f32());
    let numbers = kept.body(0).add_arg(ty, kept.location());
    let places = free_numbers(kept).into_iter().zip(&columns).filter_map(|(op, column)| {
        let place = new.iter().position(|other| other == column)?;
        Some((op, place))
    });
    for (op, place) in places.collect::<Vec<_>>() {
        let Some(stage) = op.parent().map(StageView::new) else { continue };
        let operands = [stage.op.operands(), vec![numbers]].concat();
        let maps = [stage.maps, vec![cx.map(dims, symbols, &[cx.constant(place as i64)])]].concat();
        set_reads(rewriter, stage.op, &operands, &maps, &[stage.guarded, vec![false]].concat());
        let read = stage.op.body(0).add_arg(cx.f32(), op.location());
        rewriter.replace(op, &[read]);
    }
    let mut shapes: Vec<_> = view.shapes().iter().map(|shape| shape.results()).collect();
    shapes.insert(args, vec![cx.constant(new.len() as i64)]);
    describe(rewriter, kept, &view.sizes.results(), &shapes, &kept.ints("symbols").unwrap_or_default());
    let callee: Attr<'c> = cx.symbol_attr(&kept.str("sym_name").unwrap_or_default());
    for (row, (kernel, calls)) in group.iter().enumerate() {
        let numbers: Vec<u8> = new.iter().flat_map(|column| (column[row].as_float().unwrap_or_default() as f32).to_le_bytes()).collect();
        for &call in calls {
            rewriter.go_before(call);
            let Some(value) = cx.dense_attr(ty, &numbers) else { continue };
            let numbers = rewriter.value(prim::Constant::NAME, &[], ty, &[("value", value)]);
            rewriter.set_operands(call, &[call.operands(), vec![numbers]].concat());
            rewriter.set_attr(call, "callee", callee);
        }
        if row > 0 {
            rewriter.erase(*kernel);
        }
    }
    group.len() - 1
}
