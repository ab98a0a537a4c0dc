//! `--hoist-invariants`: kernels of a loop's step that read nothing of the step run once, before the loop (loop-invariant code motion).
//!
//! Exactly when all operands are from outside of the loop and the kernel cannot find an index out of bounds: such a call would fail where the
//! loop has no steps. Views and constants that these kernels read go with them. So the copy of a weight that each step reads leaves the
//! loop, and `--hoist-weights` takes it to `@prepare`.
//!
//! ```mlir
//! %0 = scf.for %t = %c0 to %n step %c1 iter_args(%h = %x) -> (tensor<4xf32>) {
//!   %1 = loop.call %w {callee = @pack} : (tensor<4x4xf32>) -> tensor<1x4x4xf32>
//!   %2 = loop.call %h, %1 {callee = @step} : (tensor<4xf32>, tensor<1x4x4xf32>) -> tensor<4xf32>
//!   scf.yield %2 : tensor<4xf32>
//! }
//! // becomes
//! %0 = loop.call %w {callee = @pack} : (tensor<4x4xf32>) -> tensor<1x4x4xf32>
//! %1 = scf.for %t = %c0 to %n step %c1 iter_args(%h = %x) -> (tensor<4xf32>) {
//!   %2 = loop.call %h, %0 {callee = @step} : (tensor<4xf32>, tensor<1x4x4xf32>) -> tensor<4xf32>
//!   scf.yield %2 : tensor<4xf32>
//! }
//! ```

use std::collections::HashSet;

use crate::analysis::views::is_view;
use strata_core::ir::{Block, Op, Value};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::upstream::{arith, scf};
use strata_dialects::loops::ranges::may_reach_outside;
use strata_dialects::loops::view::KernelView;
use strata_dialects::{loops, prim};

/// Takes kernels that are of no step out of loops.
#[derive(Pass)]
#[pass(dependents("loop"))]
pub struct HoistInvariants {
    /// Kernels that left a loop.
    kernels: Counter,
}

impl Pass for HoistInvariants {
    fn run<'c>(&self, module: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        let kernels = module.body(0).ops().into_iter().filter_map(|op| Some((op.str("sym_name")?, KernelView::new(op)?)));
        let safe: HashSet<_> = kernels.filter(|(_, kernel)| !may_reach_outside(kernel)).map(|(name, _)| name).collect();
        let mut loops = module.find_all(scf::For::NAME);
        loops.extend(module.find_all(scf::While::NAME));
        // What leaves an inner loop may leave the one around it.
        loops.sort_by_key(|op| std::cmp::Reverse(depth(*op)));
        let mut rewriter = cx.rewriter();
        for looped in loops {
            let blocks = looped.regions().into_iter().filter_map(|region| region.entry());
            for op in blocks.flat_map(Block::ops) {
                let call = op.attr("callee").and_then(|callee| callee.as_symbol()).filter(|_| op.isa::<loops::Call>());
                if call.is_some_and(|callee| safe.contains(&callee)) && leaves(op, looped) {
                    hoist(op, looped, &mut |op| rewriter.move_before(op, looped));
                    self.kernels.add(1);
                }
            }
        }
        Ok(())
    }
}

/// Regions around an op.
fn depth(op: Op<'_>) -> usize {
    std::iter::successors(op.block().and_then(Block::parent_op), |op| op.block().and_then(Block::parent_op)).count()
}

/// Whether all that an op reads is from outside of a loop, or can leave it.
fn leaves<'c>(op: Op<'c>, looped: Op<'c>) -> bool {
    op.operands().into_iter().all(|value| match value.defining_op().filter(|op| op.is_inside(looped)) {
        Some(op) => is_free(op) && leaves(op, looped),
        None => is_from_outside(value, looped),
    })
}

/// Whether an op takes no time and cannot fail.
fn is_free(op: Op<'_>) -> bool {
    is_view(op) || [loops::Words::NAME, prim::Constant::NAME, arith::Constant::NAME].contains(&op.name())
}

fn is_from_outside<'c>(value: Value<'c>, looped: Op<'c>) -> bool {
    let owner = value.defining_op().or_else(|| value.owner_block().and_then(Block::parent_op));
    owner.is_some_and(|owner| owner != looped && !owner.is_inside(looped))
}

/// Moves an op, behind what it reads of the loop.
fn hoist<'c>(op: Op<'c>, looped: Op<'c>, rewrite: &mut dyn FnMut(Op<'c>)) {
    for read in op.operands().into_iter().filter_map(Value::defining_op).filter(|read| read.is_inside(looped)) {
        hoist(read, looped, rewrite);
    }
    rewrite(op);
}
