//! Rewrites of single ops that upstream expands to slower or unlinkable code.
//!
//! - `arith.maximumf`/`minimumf` (NaN wins): a compare and a select that x86 has as one instruction
//!   (`max(a, b) = a > b ? a : b`, which is `b` when either is NaN), then a fix for a NaN in `a`, which a constant
//!   `a` does not need. Upstream's form needs two more compares. Where the machine has an instruction for it, that is asked for.
//! - `arith.truncf` from f64 to f16 or bf16 goes through f32, as PyTorch's does; LLVM would round once, by a call for each
//!   element.

use crate::target::MathTarget;
use strata_core::ir::{Attr, ElementType, Op, Type, Value};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::arith::{self, CmpFPredicate};
use strata_core::upstream::{llvm, vector};

/// Rewrites all ops of the module that have a better form.
pub(super) fn simplify(module: Op<'_>, math: &MathTarget) {
    let mut rewriter = Rewriter::before(module);
    for (name, predicate, instruction) in
        [(arith::MaximumF::NAME, CmpFPredicate::Ogt, llvm::Maximum::NAME), (arith::MinimumF::NAME, CmpFPredicate::Olt, llvm::Minimum::NAME)]
    {
        for op in module.find_all(name) {
            rewriter.go_before(op);
            match math.maximum {
                true => {
                    let result = rewriter.value(instruction, &[op.operand(0), op.operand(1)], op.result(0).ty(), &[]);
                    rewriter.replace(op, &[result]);
                }
                false => extremum(op, predicate, &mut rewriter),
            }
        }
    }
    for op in module.find_all(arith::TruncF::NAME) {
        let half = matches!(op.result(0).ty().element_type(), Some(ElementType::F16 | ElementType::BF16));
        if half && op.operand(0).ty().element_type() == Some(ElementType::F64) {
            let wide = like(op.operand(0).ty(), op.cx().f32());
            rewriter.go_before(op);
            let single = rewriter.value(arith::TruncF::NAME, &[op.operand(0)], wide, &[]);
            rewriter.set_operand(op, 0, single);
        }
    }
}

fn extremum<'c>(op: Op<'c>, predicate: CmpFPredicate, rewriter: &mut Rewriter<'c>) {
    let (mut a, mut b) = (op.operand(0), op.operand(1));
    if is_number(b) {
        (a, b) = (b, a);
    }
    let wins = arith::cmpf(rewriter, predicate, a, b);
    let mut result = arith::select(rewriter, wins, a, b);
    if !is_number(a) {
        let nan = arith::cmpf(rewriter, CmpFPredicate::Uno, a, a);
        result = arith::select(rewriter, nan, a, result);
    }
    rewriter.replace(op, &[result]);
}

/// A constant other than NaN (a scalar or a splat).
fn is_number(value: Value<'_>) -> bool {
    let Some(op) = value.defining_op() else { return false };
    if op.isa::<vector::Broadcast>() {
        return is_number(op.operand(0));
    }
    let constant = (op.isa::<arith::Constant>() || op.isa::<llvm::Constant>()).then(|| op.attr("value")).flatten();
    constant.and_then(float_of).is_some_and(|number| !number.is_nan())
}

fn float_of(attr: Attr<'_>) -> Option<f64> {
    if let Some(number) = attr.as_float() {
        return Some(number);
    }
    let (bytes, splat) = attr.as_dense()?;
    match (splat, attr.ty().element_type()?) {
        (true, ElementType::F32) => Some(f32::from_le_bytes(bytes.get(..4)?.try_into().ok()?).into()),
        (true, ElementType::F64) => Some(f64::from_le_bytes(bytes.get(..8)?.try_into().ok()?)),
        _ => None,
    }
}

/// `element`, as a vector when `shape` is one.
pub(super) fn like<'c>(shape: Type<'c>, element: Type<'c>) -> Type<'c> {
    if shape.is_vector() { element.cx().vector(&shape.shape(), element) } else { element }
}
