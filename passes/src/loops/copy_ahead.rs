//! `--copy-ahead`: the host copies what a scatter writes to before the kernel runs, shared out among all threads.
//!
//! Exactly when a kernel's result is a scatter to a plain copy of an operand, and the kernel's outer loops, which threads share, are not
//! along the first dims of that copy: there are none, or they would copy a column each. The kernel leaves its own copy out where both are one
//! memory (`in_place`), as it does where a call passes the memory of the old value for the new one. A kernel without outer loops loses its copy,
//! and threads share the dims along which its scatter writes apart: these may be shorter than the dims of the copy.
//!
//! ```mlir
//! %0 = loop.call @k0(%x, %y)                              // a scatter of %y to a copy of %x
//! // becomes
//! %0 = loop.call @k0(%x, %y) {copied = array<i64: 0>}     // loop.kernel @k0 {in_place = array<i64: 0>, ..}, a scatter of %y to %x
//! ```

use std::collections::HashMap;

use strata_core::ir::{AffineKind, Op};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::rewrite::{NoMatch, Rewriter};
use strata_dialects::loops;
use strata_dialects::loops::access::{Stride, stride};
use strata_dialects::loops::schedule::KernelSchedule;
use strata_dialects::loops::view::{KernelView, StageView};

/// Lets the host copy what scatters write to.
#[derive(Pass)]
#[pass(dependents("loop"))]
pub struct CopyAhead {
    /// Copies that the host makes.
    copies: Counter,
}

impl Pass for CopyAhead {
    fn run<'c>(&self, module: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        let mut calls: HashMap<String, Vec<Op<'c>>> = HashMap::new();
        for call in module.find_all(loops::Call::NAME) {
            calls.entry(call.attr("callee").and_then(|attr| attr.as_symbol()).unwrap_or_default()).or_default().push(call);
        }
        let mut rewriter = cx.rewriter();
        for kernel in module.body(0).ops().into_iter().filter_map(KernelView::new) {
            let mut places: Vec<_> = kernel.in_place().into_iter().map(|place| place.map_or(-1, |place| place as i64)).collect();
            let (mut copied, mut scatters) = (vec![-1; places.len()], Vec::new());
            for (at, result) in kernel.results().into_iter().enumerate() {
                let Some(scatter) = result.defining_op().map(StageView::new).filter(StageView::is_scatter) else { continue };
                let Some(argument) = cx.remarks().found(scatter.op, source(&kernel, &scatter)) else { continue };
                if [-1, argument].contains(&places[at]) && places.iter().enumerate().all(|(other, place)| other == at || *place != argument)
                {
                    (places[at], copied[at]) = (argument, argument);
                    scatters.push(scatter.op);
                }
            }
            self.copies.add(copied.iter().filter(|place| **place >= 0).count());
            if copied.iter().any(|place| *place >= 0) {
                rewriter.set_attr(kernel.op, "in_place", kernel.op.cx().i64s_attr(&places));
                for call in calls.remove(&kernel.op.str("sym_name").unwrap_or_default()).unwrap_or_default() {
                    let written = call.ints("in_place").unwrap_or_else(|| vec![-1; copied.len()]);
                    let copied: Vec<_> = copied.iter().zip(written).map(|(&place, written)| if written < 0 { place } else { -1 }).collect();
                    rewriter.set_attr(call, "copied", call.cx().i64s_attr(&copied));
                }
                // Where threads share columns, the kernel goes down them with lanes.
                if kernel.outer.is_empty() {
                    scatters.into_iter().for_each(|scatter| leave_out(kernel.op, scatter, &mut rewriter));
                }
            }
        }
        Ok(())
    }
}

/// Lets a scatter write to what it copied, and threads share the dims along which it writes apart.
fn leave_out<'c>(kernel: Op<'c>, scatter: Op<'c>, rewriter: &mut Rewriter<'c>) {
    let Some(copy) = scatter.operand(0).defining_op() else { return };
    rewriter.set_operand(scatter, 0, copy.operand(0));
    rewriter.erase(copy);
    let own = StageView::new(scatter).parallel();
    let Some(alone) = KernelView::new(kernel).filter(|kernel| kernel.stages.len() == 1) else { return };
    if let Some((&last, before)) = own.split_last() {
        let unroll = before.iter().map(|_| 1).chain([side_by_side(&alone, last)]).collect();
        KernelSchedule { unroll: Some(unroll), order: Some(own), ..KernelSchedule::default() }.set(kernel);
    }
}

/// Lines that a scatter goes down side by side: they wait for different elements, and columns share what is fetched for one of them. By 1, 4, 8 and 16
/// of them, 454 rows of 454 halves that are added up take a Zen 4 434, 166, 142 and 194 us, and 146 columns of 642 take 325, 246, 216 and 144 (all
/// beside other work).
const ROWS: i64 = 8;
const COLUMNS: i64 = 16;

/// So many of them along a dim, if there are as many.
fn side_by_side(kernel: &KernelView<'_>, dim: usize) -> i64 {
    let scatter = &kernel.stages[0];
    let neighbours = scatter.op.operands().into_iter().zip(&scatter.maps).any(|(operand, map)| stride(*map, operand, dim) == Stride::One);
    let lines = if neighbours { COLUMNS } else { ROWS };
    if kernel.static_size(dim).is_none_or(|size| size >= lines) { lines } else { 1 }
}

/// The argument that a scatter writes to a copy of, where threads do not share that copy row by row.
fn source(kernel: &KernelView<'_>, scatter: &StageView<'_>) -> Result<i64, NoMatch> {
    let copy = scatter.op.operand(0).defining_op().map(StageView::new).ok_or_else(|| NoMatch::new("it writes to no copy"))?;
    let (args, body) = (kernel.op.body(0).args(), copy.op.body(0));
    let whole =
        copy.maps.iter().all(|map| map.results().iter().zip(copy.result_dims()).all(|(expr, dim)| expr.kind() == AffineKind::Dim(dim)));
    let plain = copy.op.num_operands() == 1 && body.terminator().is_some_and(|op| op.operands() == body.args()) && whole;
    let argument = args.iter().position(|arg| plain && *arg == copy.op.operand(0) && arg.ty() == scatter.op.result(0).ty());
    let argument = argument.ok_or_else(|| NoMatch::new("what it writes to is computed in its kernel"))?;
    if args[argument].uses().len() > 1 || copy.op.result(0).uses().len() > 1 {
        return Err("the old value, or its copy, is read elsewhere in the kernel".into());
    }
    if kernel.outer.iter().zip(copy.result_dims()).all(|(outer, dim)| *outer == dim) && !kernel.outer.is_empty() {
        return Err("threads share the rows of the copy in its kernel".into());
    }
    Ok(argument as i64)
}
