//! `--guard-indices`: a scatter into what the call changes has its indices checked before it runs.
//!
//! A kernel finds an index out of bounds while it writes. Then it may not write over the old value of a parameter or a cache, since a call
//! that fails changes nothing. Where indices are fewer than the elements that a copy of the old value has, a `capture.guard` checks them all
//! first, and the scatter takes them clamped and is marked `in_bounds`: its kernel cannot fail, and `--write-in-place` may drop the copy. (A guard
//! orders nothing: without the clamp a scatter that runs before it would write anywhere.)
//!
//! ```mlir
//! %0 = prim.scatter %cache, %row, %at {dims = array<i64: 0>, kind = "set"} : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<1xi64>) -> tensor<8x4xf32>
//! // becomes
//! %inside = ... "0 <= at and at < 8, for all of %at" : i1
//! capture.guard %inside {text = "index out of bounds: dimension 0 has 8 elements"} : i1
//! %clamped = ... "at, clamped to 0..8" : tensor<1xi64>
//! %0 = prim.scatter %cache, %row, %clamped {dims = array<i64: 0>, in_bounds, kind = "set"} : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<1xi64>) -> tensor<8x4xf32>
//! ```
//!
//! Left as they are: tensors whose sizes are not known, and control flow, which nothing is written in place in.

use std::collections::HashSet;

use crate::analysis::views::root;
use crate::prim::hoist_weights::signature::Signature;
use strata_core::ir::Op;
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_dialects::aten::dtype::DType;
use strata_dialects::prim_builder::{Prim, Scalar};
use strata_dialects::{capture, prim};

use super::halves::elements;

/// Checks indices of scatters into what a call changes.
#[derive(Pass)]
#[pass(anchor = "func.func", dependents("prim", "capture"))]
pub struct GuardIndices {
    /// Scatters whose indices are checked first.
    scatters: Counter,
}

impl Pass for GuardIndices {
    fn run<'c>(&self, op: Op<'c>, _: &mut PassContext<'c>) -> Result<(), PassError> {
        let block = op.body(0);
        let signature = Signature::of(op);
        // Which results of a part of a program are new values is not known.
        let changed = |at: usize| op.attr(capture::ENTRY).is_none() || signature.is_mutation(at);
        let results = block.terminator().map(|end| end.operands()).unwrap_or_default().into_iter().enumerate();
        let made: HashSet<_> = results.filter(|(at, _)| changed(*at)).map(|(_, value)| root(value)).collect();
        for scatter in block.ops().into_iter().filter(|op| op.isa::<prim::Scatter>() && op.attr("in_bounds").is_none()) {
            let old = root(scatter.operand(0));
            let changes = old.defining_op().is_none() && made.contains(&scatter.result(0));
            let indices: u64 = scatter.operands()[2..].iter().map(|index| elements(*index)).sum();
            let known = scatter.operands().iter().all(|operand| operand.ty().is_static());
            if changes && known && indices < elements(old) {
                let prim = Prim::new(block, scatter.location());
                check(&prim, scatter);
                if let Some(message) = prim.take_error() {
                    return Err(PassError::at(scatter, &message));
                }
                self.scatters.add(1);
            }
        }
        Ok(())
    }
}

/// Guards the indices of a scatter, clamps them, and marks it.
fn check<'c, 'p>(prim: &'p Prim<'p>, scatter: Op<'c>)
where
    'c: 'p,
{
    let scatter: Op<'p> = scatter;
    prim.set_before(scatter);
    let shape = scatter.operand(0).ty().shape();
    for (place, dim) in scatter.ints("dims").unwrap_or_default().into_iter().enumerate() {
        let size = shape[dim as usize];
        let index = prim.tensor(scatter.operand(2 + place)).convert(DType::I64);
        let [least, most] = [0, size - 1].map(Scalar::Int);
        let inside = index.greater_equal(least).and(index.less_equal(most));
        let dims: Vec<_> = (0..inside.rank()).collect();
        let from = scatter.location().place().map_or_else(String::new, |place| format!(" (from {place})"));
        prim.guard(inside.reduce("and", &dims, false), &format!("index out of bounds: dimension {dim} has {size} elements{from}"), &[]);
        let clamped = index.clamp(least, most).value();
        prim.build(|rewriter| rewriter.set_operand(scatter, 2 + place, clamped));
    }
    prim.build(|rewriter| rewriter.set_attr(scatter, "in_bounds", scatter.cx().unit()));
}
