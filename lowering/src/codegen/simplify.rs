//! Rewrites of single ops that upstream expands to slower or unlinkable code.
//!
//! - `arith.maximumf`/`minimumf` (NaN wins): a compare and a select that x86 has as one instruction
//!   (`max(a, b) = a > b ? a : b`, which is `b` when either is NaN), then a fix for a NaN in `a`, which a constant
//!   `a` does not need. Upstream's form needs two more compares. Where the machine has an instruction for it, that is asked for.
//! - A conversion of f32 to integers of 32 bits that first puts the least integer in the place of all that these do not hold, as `prim.convert`
//!   does since LLVM leaves them undefined: on x86 the instruction makes just that of them.
//! - `arith.truncf` from f64 to f16 or bf16 goes through f32, as PyTorch's does; LLVM would round once, by a call for each
//!   element.

use crate::target::MathTarget;
use strata_core::ir::{Attr, ElementType, Op, Type, Value};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::arith::{self, CmpFPredicate};
use strata_core::upstream::{llvm, math, vector};

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
    for op in module.find_all(arith::FPToSI::NAME).into_iter().filter(|_| math.least) {
        if let Some((value, name)) = saved_from_overflow(op).and_then(|value| Some((value, conversion(value.ty(), math)?))) {
            rewriter.go_before(op);
            let ty = op.result(0).ty();
            let mut operands = vec![value];
            if ty.num_elements() == Some(16) {
                let zeros = vec![0; 16 * 4];
                let rest = ty.cx().dense_attr(ty, &zeros).map(|zeros| rewriter.value(arith::Constant::NAME, &[], ty, &[("value", zeros)]));
                let (all, rounding) = (rewriter.const_int(ty.cx().int(16), -1), rewriter.const_int(ty.cx().int(32), AS_SET));
                operands.extend(rest.into_iter().chain([all, rounding]));
            }
            let whole = llvm::call_intrinsic(&mut rewriter, name, &operands, ty);
            rewriter.replace(op, &[whole]);
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

/// Rounding as the control register says, for instructions that may be told otherwise; those that round towards zero do so anyway.
const AS_SET: i64 = 4;

/// The float that is converted where an integer of 32 bits holds it, if the least integer takes the place of all others.
fn saved_from_overflow<'c>(convert: Op<'c>) -> Option<Value<'c>> {
    let select = convert.operand(0).defining_op().filter(|op| op.isa::<arith::Select>())?;
    let compare = select.operand(0).defining_op().filter(|op| CmpFPredicate::of(*op) == Some(CmpFPredicate::Olt))?;
    let size = compare.operand(0).defining_op().filter(|op| op.isa::<math::AbsF>())?;
    let value = select.operand(1);
    let limit = 2f64.powi(31);
    let saved = size.operand(0) == value && number(compare.operand(1)) == Some(limit) && number(select.operand(2)) == Some(-limit);
    let whole = convert.result(0).ty().element_type() == Some(ElementType::I32);
    (saved && whole && value.ty().element_type() == Some(ElementType::F32)).then_some(value)
}

/// The instruction that converts a vector.
fn conversion(ty: Type<'_>, math: &MathTarget) -> Option<&'static str> {
    match ty.num_elements().filter(|_| ty.is_vector() && ty.rank() == 1)? {
        4 => Some("llvm.x86.sse2.cvttps2dq"),
        8 if math.vector_bits >= 256 => Some("llvm.x86.avx.cvtt.ps2dq.256"),
        16 if math.vector_bits >= 512 => Some("llvm.x86.avx512.mask.cvttps2dq.512"),
        _ => None,
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

/// A constant other than NaN.
fn is_number(value: Value<'_>) -> bool {
    number(value).is_some_and(|number| !number.is_nan())
}

/// A constant (a scalar or a splat).
fn number(value: Value<'_>) -> Option<f64> {
    let op = value.defining_op()?;
    if op.isa::<vector::Broadcast>() {
        return number(op.operand(0));
    }
    (op.isa::<arith::Constant>() || op.isa::<llvm::Constant>()).then(|| op.attr("value")).flatten().and_then(float_of)
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
