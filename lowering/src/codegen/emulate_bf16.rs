//! bf16 on CPUs that have no instruction for it: there LLVM takes vectors of bf16 apart even to load and store them, and rounds each
//! element by a function of its own runtime library, which no process has.
//!
//! A bf16 is the upper half of an f32, so every value of bf16 becomes one of i16. What moves values stays as it is, what computes with
//! them does so in f32 and rounds; what cannot leave bf16 (a sign, the larger of two, rounding to an integer) is cut off.

use super::simplify::like;
use strata_core::ir::{Attr, Builder, ElementType, Op, Type, Value};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::arith::{self, CmpFPredicate};
use strata_core::upstream::{llvm, math, vector};

/// Replaces bf16 by i16 in a module of `func`, `scf`, `arith`, `math`, `vector` and `llvm` ops.
pub(super) fn emulate_bf16(module: Op<'_>) {
    let mut rewriter = Rewriter::before(module);
    let mut found = Vec::new();
    module.walk(&mut |op| {
        let operands: Vec<bool> = op.operands().into_iter().map(|value| is_bf16(value.ty())).collect();
        let results: Vec<bool> = op.results().into_iter().map(|value| is_bf16(value.ty())).collect();
        if operands.contains(&true) || results.contains(&true) {
            found.push((op, operands, results));
        }
    });
    module.walk(&mut |op| {
        let arguments = op.regions().into_iter().flat_map(|region| region.blocks()).flat_map(|block| block.args());
        for value in arguments.chain(op.results()).filter(|value| is_bf16(value.ty())) {
            rewriter.set_type(value, like(value.ty(), op.cx().int(16)));
        }
    });
    for (op, operands, results) in found {
        rewriter.go_before(op);
        match op.name() {
            arith::Constant::NAME | llvm::Constant::NAME => retype(op, &mut rewriter),
            arith::Bitcast::NAME if operands == results || op.operand(0).ty() == op.result(0).ty() => {
                rewriter.replace(op, &[op.operand(0)]);
            }
            arith::ExtF::NAME => {
                let (single, ty) = (widen(&mut rewriter, op.operand(0)), op.result(0).ty());
                let result = if single.ty() == ty { single } else { arith::extf(&mut rewriter, single, ty) };
                rewriter.replace(op, &[result]);
            }
            arith::TruncF::NAME => {
                let result = round(&mut rewriter, op.operand(0));
                rewriter.replace(op, &[result]);
            }
            arith::Select::NAME => {}
            vector::Reduction::NAME | vector::Fma::NAME => in_f32(op, &operands, &results, &mut rewriter),
            _ if matches!(op.dialect(), "arith" | "math") => in_f32(op, &operands, &results, &mut rewriter),
            _ => {}
        }
    }
}

/// Rounds single numbers to bf16 as CPUs without an instruction do. The instruction makes zeros of numbers that are too small to be normal,
/// which matters where a scatter combines numbers one by one; it is left to vectors.
pub(super) fn round_scalars(module: Op<'_>) {
    let mut rewriter = Rewriter::before(module);
    for op in module.find_all(arith::TruncF::NAME) {
        let ty = op.result(0).ty();
        if ty.is_vector() || !is_bf16(ty) {
            continue;
        }
        rewriter.go_before(op);
        let bits = round(&mut rewriter, op.operand(0));
        let rounded = arith::bitcast(&mut rewriter, bits, ty);
        rewriter.replace(op, &[rounded]);
    }
}

fn is_bf16(ty: Type<'_>) -> bool {
    !ty.is_memref() && !ty.is_tensor() && ty.element_type() == Some(ElementType::BF16)
}

/// A constant as its bits.
fn retype<'c>(op: Op<'c>, rewriter: &mut Rewriter<'c>) {
    let ty = op.result(0).ty();
    let Some(value) = op.attr("value") else { return };
    let bits = match (value.as_dense(), value.as_float()) {
        (Some((bytes, _)), _) => op.cx().dense_attr(ty, &bytes),
        (None, Some(float)) => Some(op.cx().int_attr(ty, i64::from(((float as f32).to_bits() >> 16) as i16))),
        (None, None) => None,
    };
    if let Some(bits) = bits {
        rewriter.set_attr(op, "value", bits);
    }
}

/// Computes in f32 what an op computes in bf16.
fn in_f32<'c>(op: Op<'c>, operands: &[bool], results: &[bool], rewriter: &mut Rewriter<'c>) {
    for (at, _) in operands.iter().enumerate().filter(|(_, bf16)| **bf16) {
        let wide = widen(rewriter, op.operand(at));
        rewriter.set_operand(op, at, wide);
    }
    for (result, _) in op.results().into_iter().zip(results).filter(|(_, bf16)| **bf16) {
        let uses = result.uses();
        rewriter.set_type(result, like(result.ty(), op.cx().f32()));
        rewriter.go_after(op);
        let rounded = round(rewriter, result);
        uses.into_iter().for_each(|using| rewriter.set_operand(using.op, using.index, rounded));
    }
}

/// The f32 of which these bits are the upper half.
fn widen<'c>(b: &mut Builder<'c>, bits: Value<'c>) -> Value<'c> {
    let cx = b.cx();
    let words = like(bits.ty(), cx.int(32));
    let by = number(b, words, 16);
    let word = arith::extui(b, bits, words);
    let word = arith::shli(b, word, by);
    arith::bitcast(b, word, like(words, cx.f32()))
}

/// The upper half of an f32 (an f64 is rounded to one first, as PyTorch does), rounded to nearest with ties to even: what is added to the
/// bits carries into that half when the lower one is above a half of its range, or at it and the upper one is odd. That could turn a NaN
/// into an infinity, so a NaN is cut off and made quiet.
fn round<'c>(b: &mut Builder<'c>, value: Value<'c>) -> Value<'c> {
    let cx = b.cx();
    let (words, single) = (like(value.ty(), cx.int(32)), like(value.ty(), cx.f32()));
    let value = if value.ty() == single { value } else { arith::truncf(b, value, single) };
    let [half, one, nearly, quiet] = [16, 1, 0x7fff, 0x40].map(|value| number(b, words, value));
    let bits = arith::bitcast(b, value, words);
    let upper = arith::shrui(b, bits, half);
    if is_exact(value, DEPTH) {
        return arith::trunci(b, upper, like(words, cx.int(16)));
    }
    let odd = arith::andi(b, upper, one);
    let carry = arith::addi(b, odd, nearly);
    let sum = arith::addi(b, bits, carry);
    let rounded = arith::shrui(b, sum, half);
    let cut = arith::ori(b, upper, quiet);
    let nan = arith::cmpf(b, CmpFPredicate::Uno, value, value);
    let chosen = arith::select(b, nan, cut, rounded);
    arith::trunci(b, chosen, like(words, cx.int(16)))
}

/// How many ops are looked through for where a value comes from: what is written as one kernel is seldom longer.
const DEPTH: usize = 8;

/// Whether an f32 is a bf16: widened from one, or made of such by ops whose results are among their operands or integers between them.
fn is_exact(value: Value<'_>, depth: usize) -> bool {
    let Some((op, depth)) = value.defining_op().zip(depth.checked_sub(1)) else { return false };
    let all = |from: usize, to: usize| (from..to).all(|k| is_exact(op.operand(k), depth));
    match op.name() {
        arith::Bitcast::NAME => op.operand(0).defining_op().is_some_and(|word| word.isa::<arith::ShLI>()),
        arith::Constant::NAME => op.attr("value").is_some_and(is_bf16_constant),
        arith::Select::NAME => all(1, 3),
        math::CopySign::NAME => all(0, 1),
        arith::MaximumF::NAME | arith::MinimumF::NAME | arith::MaxNumF::NAME | arith::MinNumF::NAME => all(0, 2),
        arith::NegF::NAME | math::AbsF::NAME | math::Ceil::NAME | math::Floor::NAME | math::RoundEven::NAME | math::Trunc::NAME => {
            all(0, 1)
        }
        _ => false,
    }
}

/// Whether the lower half of each number's bits is zero.
fn is_bf16_constant(value: Attr<'_>) -> bool {
    match (value.as_dense(), value.as_float()) {
        (Some((bytes, _)), _) => bytes.chunks(size_of::<f32>()).all(|bits| bits.starts_with(&[0, 0])),
        (None, Some(number)) => (number as f32).to_bits() & 0xffff == 0,
        (None, None) => false,
    }
}

/// A whole number, in every lane of a vector.
fn number<'c>(b: &mut Builder<'c>, ty: Type<'c>, value: i32) -> Value<'c> {
    let cx = b.cx();
    let splat: Option<Attr<'c>> = if ty.is_vector() { cx.dense_attr(ty, &value.to_le_bytes()) } else { None };
    arith::constant(b, ty, splat.unwrap_or_else(|| cx.int_attr(ty, value.into())))
}
