//! Rewrites of single ops that upstream expands to slower or unlinkable code.
//!
//! - `arith.maximumf`/`minimumf` (NaN wins): a compare and a select that x86 has as one instruction
//!   (`max(a, b) = a > b ? a : b`, which is `b` when either is NaN), then a fix for a NaN in `a`, which a constant
//!   `a` does not need. Upstream's form needs two more compares. Where the machine has an instruction for it, that is asked for.
//! - `arith.truncf` from f64 to f16 or bf16 goes through f32, as PyTorch's does; LLVM would round once, by a call for each
//!   element.

use crate::target::MathTarget;
use strata_core::ir::{Attr, Builder, ElementType, Op, Type, Value};
use strata_core::upstream::arith::{self, CmpFPredicate};
use strata_core::upstream::{llvm, vector};

/// Rewrites all ops of the module that have a better form.
pub(super) fn simplify(module: Op<'_>, math: &MathTarget) {
    for (name, predicate, instruction) in
        [(arith::MaximumF::NAME, CmpFPredicate::Ogt, llvm::Maximum::NAME), (arith::MinimumF::NAME, CmpFPredicate::Olt, llvm::Minimum::NAME)]
    {
        for op in module.find_all(name) {
            match math.maximum {
                true => {
                    let result = Builder::before(op).value(instruction, &[op.operand(0), op.operand(1)], op.result(0).ty(), &[]);
                    op.replace_with(&[result]);
                }
                false => extremum(op, predicate),
            }
        }
    }
    for op in module.find_all(arith::TruncF::NAME) {
        let half = matches!(op.result(0).ty().element_type(), Some(ElementType::F16 | ElementType::BF16));
        if half && op.operand(0).ty().element_type() == Some(ElementType::F64) {
            let wide = like(op.operand(0).ty(), op.cx().f32());
            let single = Builder::before(op).value(arith::TruncF::NAME, &[op.operand(0)], wide, &[]);
            op.set_operand(0, single);
        }
    }
}

fn extremum(op: Op<'_>, predicate: CmpFPredicate) {
    let (mut a, mut b) = (op.operand(0), op.operand(1));
    if is_number(b) {
        (a, b) = (b, a);
    }
    let mut builder = Builder::before(op);
    let wins = arith::cmpf(&mut builder, predicate, a, b);
    let mut result = arith::select(&mut builder, wins, a, b);
    if !is_number(a) {
        let nan = arith::cmpf(&mut builder, CmpFPredicate::Uno, a, a);
        result = arith::select(&mut builder, nan, a, result);
    }
    op.replace_with(&[result]);
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
