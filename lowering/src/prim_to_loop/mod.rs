//! `prim` to `loop`: every fusion becomes a kernel, every lone op a kernel of its own.
//!
//! A kernel is written by recursion from its results. A result is a map stage over its dims; asking a value of the fusion for its
//! element at some index expressions either adds an access to an input, or emits a scalar operator, or transforms the index
//! expressions (views), or opens another stage (reductions) whose result is then read like an input.
//! So nothing is materialised between the results and the inputs but the results of reductions.

mod apart;
mod collapse;
mod conv;
mod indexed;
mod kernel;
mod linear_transform;
mod random;
mod reduction;
mod sizes;
mod split;
mod stage;
mod unit_dims;
mod view;

pub use crate::error::Error;

use strata_core::ir::{Op, OpSpec, Value};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::remark::Remarks;
use strata_core::rewrite::Rewriter;
use strata_core::upstream::func;
use strata_dialects::prim;

/// Makes a kernel of every fusion and of every lone tensor operator.
#[derive(Pass)]
#[pass(dependents("loop", "arith", "math", "complex"))]
pub struct PrimToLoop {
    /// Fusions that became several kernels.
    splits: Counter,
}

impl Pass for PrimToLoop {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        let splits = prim_to_loop(op, cx.remarks()).map_err(|error| PassError::new(error.to_string()))?;
        self.splits.add(splits);
        Ok(())
    }
}

/// Rewrites every function of the module: fusions and lone tensor operators become `loop.call`s of new `loop.kernel`s.
///
/// Left in place are reshapes (free views), index arithmetic, control flow and what the runtime library does.
/// A fusion that one kernel cannot hold becomes several; `remarks` says why. Gives how many did.
pub fn prim_to_loop(module: Op<'_>, remarks: Remarks) -> Result<usize, Error> {
    let (mut count, mut splits, mut rewriter) = (0, apart::Splits { remarks, count: 0 }, Rewriter::before(module));
    for func in module.find_all(func::Func::NAME) {
        let mut fusions = Vec::new();
        func.walk(&mut |op| {
            if op.isa::<prim::Fusion>() || (becomes_kernel(op) && !op.parent().is_some_and(|parent| parent.isa::<prim::Fusion>())) {
                fusions.push(op);
            }
        });
        // Constants come last: most have become part of the kernels that read them.
        let (constants, fusions): (Vec<_>, Vec<_>) = fusions.into_iter().partition(|op| op.isa::<prim::Constant>());
        for op in fusions.into_iter().chain(constants) {
            if op.isa::<prim::Constant>() && op.is_unused() {
                rewriter.erase(op);
                continue;
            }
            if op.isa::<prim::Constant>() && !is_large(op) {
                continue;
            }
            let fusion = if op.isa::<prim::Fusion>() { op } else { wrap(op) };
            kernel::lower(module, fusion, &format!("k{count}"), &mut splits)?;
            count += 1;
        }
    }
    Ok(splits.count)
}

/// Ops of the prim level that are no kernels: free views, scalars, and calls of the runtime library.
const NOT_KERNELS: &[&str] =
    &[prim::Dim::NAME, prim::Item::NAME, prim::Library::NAME, prim::Reshape::NAME, prim::Sort::NAME, prim::Yield::NAME];

fn becomes_kernel(op: Op<'_>) -> bool {
    op.dialect() == "prim" && !NOT_KERNELS.contains(&op.name())
}

/// Whether a constant is one element repeated so often that a loop is smaller than its bytes.
fn is_large(op: Op<'_>) -> bool {
    const LARGE: i64 = 4096;
    let ty = op.result(0).ty();
    let bytes = ty.num_elements().zip(ty.element_type()).map(|(count, element)| count * element.bytes() as i64);
    bytes.is_some_and(|bytes| bytes > LARGE) && op.attr("value").and_then(|attr| attr.as_dense()).is_some_and(|dense| dense.1)
}

/// Puts a lone op into a fusion of its own.
fn wrap<'c>(op: Op<'c>) -> Op<'c> {
    let mut b = Rewriter::before(op);
    let (operands, results) = (op.operands(), op.result_types());
    let fusion = b.op(OpSpec { name: prim::Fusion::NAME, operands: &operands, results: &results, regions: 1, ..OpSpec::default() });
    let types: Vec<_> = operands.iter().map(|value| value.ty()).collect();
    let block = b.add_block(fusion.region(0), &types);
    b.within(block, |b| {
        let inner = b.clone_op(op, &block.args());
        b.effect(prim::Yield::NAME, &inner.results(), &[]);
    });
    b.replace_with_op(op, fusion);
    fusion
}

/// The value outside of the fusion that a block argument stands for.
fn outer_value<'c>(fusion: Op<'c>, argument: Value<'c>) -> Value<'c> {
    fusion.operand(argument.index())
}
