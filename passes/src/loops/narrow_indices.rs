//! `--narrow-indices`: what a body compares, converts or loads at of indices is computed in 32 bits, where sizes say that it fits them.
//!
//! Masks and positions are integers of 64 bits in PyTorch. Lanes are as many as hold the widest element of a kernel, so one comparison of
//! indices halves them for all that the kernel computes, and most CPUs convert 64 bits to a float one by one.
//!
//! ```mlir
//! %k = arith.index_cast %key : index to i64          // a dim of 512
//! %q = arith.index_cast %row : index to i64
//! %seen = arith.cmpi sle, %k, %q : i64
//! // becomes
//! %k = arith.index_cast %key : index to i32
//! %q = arith.index_cast %row : index to i32
//! %seen = arith.cmpi sle, %k, %q : i32
//! ```

use strata_core::ir::{Builder, ElementType, Op, Value};
use strata_core::pass::{Pass, PassContext, PassError};
use strata_core::remark::Remarks;
use strata_core::rewrite::Rewriter;
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_dialects::loops;
use strata_dialects::loops::edit::erase_unused;
use strata_dialects::loops::ranges::range;
use strata_dialects::loops::view::KernelView;

/// Computes comparisons of indices in 32 bits.
#[derive(Pass)]
#[pass(dependents("arith"))]
pub struct NarrowIndices;

impl Pass for NarrowIndices {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        let mut rewriter = cx.rewriter();
        for kernel in op.find_all(loops::Kernel::NAME) {
            let Some(view) = KernelView::new(kernel) else { continue };
            for body in view.stages.iter().map(|stage| stage.op.body(0)) {
                body.ops().into_iter().for_each(|op| narrow(&view, op, cx.remarks(), &mut rewriter));
                erase_unused(&mut rewriter, body);
            }
        }
        Ok(())
    }
}

/// Gives an operation narrow operands, if it has only wide ones that can be.
fn narrow<'c>(kernel: &KernelView<'c>, op: Op<'c>, remarks: Remarks, rewriter: &mut Rewriter<'c>) {
    let unsigned = op.isa::<arith::CmpI>() && CmpIPredicate::of(op).is_none_or(CmpIPredicate::is_unsigned);
    let asks = op.isa::<arith::CmpI>() || op.isa::<arith::SIToFP>() || op.isa::<arith::IndexCast>();
    if !asks || !op.operands().into_iter().all(is_wide) {
        return;
    }
    let narrow = |value: Value<'c>| range(kernel, value).is_some_and(|(least, _)| !unsigned || least >= 0);
    if !op.operands().into_iter().all(narrow) {
        return remarks.missed(op, "an operand is not shown to fit 32 bits");
    }
    rewriter.go_before(op);
    for (at, operand) in op.operands().into_iter().enumerate() {
        let narrow = narrowed(rewriter, operand);
        rewriter.set_operand(op, at, narrow);
    }
}

fn is_wide(value: Value<'_>) -> bool {
    value.ty().element_type() == Some(ElementType::I64)
}

/// The same value in 32 bits.
fn narrowed<'c>(b: &mut Builder<'c>, value: Value<'c>) -> Value<'c> {
    let ty = b.cx().int(32);
    let Some(op) = value.defining_op() else { return value };
    match op.int("value") {
        Some(constant) => b.const_int(ty, constant),
        None if op.isa::<arith::IndexCast>() || op.isa::<arith::FPToSI>() => b.value(op.name(), &op.operands(), ty, &[]),
        None => {
            let operands: Vec<_> = op.operands().into_iter().map(|operand| narrowed(b, operand)).collect();
            b.value(op.name(), &operands, ty, &[])
        }
    }
}
