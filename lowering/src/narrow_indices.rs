//! `--narrow-indices`: what a body compares or converts of indices is computed in 32 bits, where sizes say that it fits them.
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
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_dialects::loops;
use strata_dialects::loops::view::KernelView;

/// Computes comparisons of indices in 32 bits.
#[derive(Pass)]
#[pass(dependents("arith"))]
pub struct NarrowIndices;

impl Pass for NarrowIndices {
    fn run<'c>(&self, op: Op<'c>, _: &mut PassContext<'c>) -> Result<(), PassError> {
        for kernel in op.find_all(loops::Kernel::NAME) {
            let Some(view) = KernelView::new(kernel) else { continue };
            for op in view.stages.iter().flat_map(|stage| stage.op.body(0).ops()).collect::<Vec<_>>() {
                narrow(&view, op);
            }
        }
        Ok(())
    }
}

/// Operations that an index goes through at most.
const DEPTH: usize = 8;

/// The least and the largest value.
pub(crate) type Range = (i64, i64);

/// Gives an operation narrow operands, if it has only wide ones that can be.
fn narrow<'c>(kernel: &KernelView<'c>, op: Op<'c>) {
    let unsigned = op.isa::<arith::CmpI>() && CmpIPredicate::of(op).is_none_or(CmpIPredicate::is_unsigned);
    let asks = op.isa::<arith::CmpI>() || op.isa::<arith::SIToFP>();
    let narrow = |value: &Value<'c>| is_wide(*value) && range(kernel, *value).is_some_and(|(least, _)| !unsigned || least >= 0);
    if !asks || !op.operands().iter().all(narrow) {
        return;
    }
    for (at, operand) in op.operands().into_iter().enumerate() {
        op.set_operand(at, narrowed(&mut Builder::before(op), operand));
        drop_unused(operand);
    }
}

fn is_wide(value: Value<'_>) -> bool {
    value.ty().element_type() == Some(ElementType::I64)
}

/// The range of a value that is made of indices and constants, if it and all it is made of fit 32 bits and their own types: then nothing
/// of it wraps around.
pub(crate) fn range(kernel: &KernelView<'_>, value: Value<'_>) -> Option<Range> {
    fits(kernel, value, DEPTH)
}

fn fits(kernel: &KernelView<'_>, value: Value<'_>, depth: usize) -> Option<Range> {
    let op = value.defining_op()?;
    let operand = |at: usize| fits(kernel, op.operand(at), depth.checked_sub(1)?);
    let range = match op.name() {
        loops::Index::NAME => (0, kernel.static_size(usize::try_from(op.int("dim")?).ok()?)?),
        arith::Constant::NAME => (op.int("value")?, op.int("value")?),
        arith::IndexCast::NAME => operand(0)?,
        name @ (arith::AddI::NAME | arith::SubI::NAME | arith::MulI::NAME) => {
            let ((low, high), (other_low, other_high)) = (operand(0)?, operand(1)?);
            // No product of two numbers of 32 bits overflows 64.
            match name {
                arith::AddI::NAME => (low + other_low, high + other_high),
                arith::SubI::NAME => (low - other_high, high - other_low),
                _ => {
                    let products = [low * other_low, low * other_high, high * other_low, high * other_high];
                    (*products.iter().min()?, *products.iter().max()?)
                }
            }
        }
        _ => return None,
    };
    let bits = if value.ty().is_index() { 32 } else { value.ty().element_type()?.bits().min(32) };
    let bounds = -(1i64 << (bits - 1))..=(1i64 << (bits - 1)) - 1;
    (bounds.contains(&range.0) && bounds.contains(&range.1)).then_some(range)
}

/// The same value in 32 bits.
fn narrowed<'c>(b: &mut Builder<'c>, value: Value<'c>) -> Value<'c> {
    let ty = b.cx().int(32);
    let Some(op) = value.defining_op() else { return value };
    match op.int("value") {
        Some(constant) => b.const_int(ty, constant),
        None if op.isa::<arith::IndexCast>() => b.value(op.name(), &op.operands(), ty, &[]),
        None => {
            let operands: Vec<_> = op.operands().into_iter().map(|operand| narrowed(b, operand)).collect();
            b.value(op.name(), &operands, ty, &[])
        }
    }
}

/// Erases what nothing uses any more.
fn drop_unused(value: Value<'_>) {
    if let Some(op) = value.defining_op().filter(|op| op.is_unused()) {
        let operands = op.operands();
        op.erase();
        operands.into_iter().for_each(drop_unused);
    }
}
