//! `--guard-sizes`: a call is checked for every condition on sizes that an op has and that the types do not show.
//!
//! A tensor whose size is `?` may come with any size. Where an op needs two sizes to be equal, or a slice to end inside of its operand, a
//! `capture.guard` says so before anything of it is computed. What follows from another guard or from the declared sizes is not checked
//! again. A guard on sizes of arguments stands where the function begins; one on what is computed stands behind the guards before it, since the
//! program fails in its order.
//!
//! ```mlir
//! func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
//!   %0 = prim.add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32> loc(unknown)
//!   return %0 : tensor<?xf32>
//! }
//! // becomes
//! func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
//!   %0 = prim.dim %x {dim = 0 : i64} : (tensor<?xf32>) -> index
//!   %1 = prim.dim %y {dim = 0 : i64} : (tensor<?xf32>) -> index
//!   %2 = arith.cmpi eq, %0, %1 : index
//!   capture.guard %2, %0, %1 {text = "prim.add: the sizes {0} and {1} must be equal"} : (i1, index, index) -> ()
//!   %3 = prim.add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
//!   return %3 : tensor<?xf32>
//! }
//! ```
//!
//! Conditions on the values of tensors, such as the bounds of a `gather`, are checked by the kernels.

use crate::analysis::{Constraint, Dims, Symbol};
use strata_core::ir::{Block, Op};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_core::upstream::func;
use strata_dialects::capture;

/// Checks the sizes of a call.
#[derive(Pass)]
#[pass(anchor = "func.func", dependents("prim", "arith", "capture"))]
pub struct GuardSizes {
    /// Guards that were added.
    guards: Counter,
}

impl Pass for GuardSizes {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        let mut dims = Dims::declared(op);
        let mut rewriter = cx.rewriter();
        for region in op.regions() {
            for block in region.blocks() {
                self.block(&mut dims, block, &mut rewriter);
            }
        }
        Ok(())
    }
}

impl GuardSizes {
    /// What is checked in a block holds for what follows in it, and for the regions of that.
    fn block<'c>(&self, dims: &mut Dims<'c>, block: Block<'c>, rewriter: &mut Rewriter<'c>) {
        for op in block.ops() {
            for region in op.regions() {
                for block in region.blocks() {
                    let mut inside = dims.clone();
                    inside.enter(op);
                    self.block(&mut inside, block, rewriter);
                }
            }
            for constraint in dims.constraints(op) {
                if !dims.holds(&constraint) {
                    guard(dims, op, &constraint, rewriter);
                    dims.assume(&constraint);
                    self.guards.add(1);
                }
            }
            dims.learn(op);
        }
    }
}

/// Puts a guard where all that it compares is known.
fn guard<'c>(dims: &Dims<'c>, op: Op<'c>, constraint: &Constraint, rewriter: &mut Rewriter<'c>) {
    let (a, b, predicate, text) = match constraint {
        Constraint::Equal(a, b) => (a, b, CmpIPredicate::Eq, "the sizes {0} and {1} must be equal"),
        Constraint::AtMost(a, b) => (a, b, CmpIPredicate::Sle, "{0} must be at most {1}, or it reads what is not there"),
    };
    let mut inputs = Vec::new();
    dims.inputs(a, &mut inputs);
    dims.inputs(b, &mut inputs);
    go_to_the_first_place(op, &inputs, rewriter);
    rewriter.set_location(op.location());
    let (a, b) = (dims.emit(rewriter, a), dims.emit(rewriter, b));
    let holds = arith::cmpi(rewriter, predicate, a, b);
    let from = op.location().place().map_or_else(String::new, |place| format!(" (from {place})"));
    let text = rewriter.cx().str_attr(&format!("{}: {text}{from}", op.name()));
    rewriter.effect(capture::Guard::NAME, &[holds, a, b], &[("text", text)]);
}

/// Goes to the first place where the inputs are known, behind what the function says of its arguments. Where one is computed, no guard before
/// `op` is overtaken.
fn go_to_the_first_place<'c>(op: Op<'c>, inputs: &[Symbol<'c>], rewriter: &mut Rewriter<'c>) {
    let Some(block) = op.block() else { return };
    let declares = |op: Op<'c>| op.isa::<capture::Dim>() || op.isa::<capture::BindDims>();
    let ops = block.ops();
    let declared = ops.iter().copied().take_while(|op| declares(*op)).last();
    let made = inputs.iter().filter_map(|&(Symbol::Value(value) | Symbol::Size(value, _))| value.defining_op());
    let made: Vec<_> = made.filter(|made| made.block() == Some(block)).collect();
    let computed = made.iter().any(|made| !declares(*made)) || !op.parent().is_some_and(|parent| parent.isa::<func::Func>());
    let guards = ops.iter().copied().take_while(|at| *at != op).filter(|at| computed && at.isa::<capture::Guard>());
    let last = declared.into_iter().chain(guards).chain(made.iter().copied()).reduce(|a, b| if a.is_before(b) { b } else { a });
    match last {
        Some(last) if last.is_before(op) => rewriter.go_after(last),
        Some(_) => rewriter.go_before(op),
        None => rewriter.go_before(ops[0]),
    }
}
