//! `--simplify-converts`: conversions that lose nothing.
//!
//! Exactly when the first of two conversions is exact (every value of its operand's type is a value of its result's type), the pair
//! is one conversion, or none when it comes back to the first type. `f32 -> f16 -> f32` stays: it rounds.
//! An integer that goes to an integer through a float stays: out of range the float conversion does not wrap.
//!
//! What is gathered from a widened tensor is widened behind the gather: the rest of a table need not be.
//!
//! ```mlir
//! func.func @f(%x: tensor<4xf16>) -> tensor<4xf64> {
//!   %0 = prim.convert %x : (tensor<4xf16>) -> tensor<4xf32>
//!   %1 = prim.convert %0 : (tensor<4xf32>) -> tensor<4xf64>
//!   return %1 : tensor<4xf64>
//! }
//! // becomes
//! func.func @f(%x: tensor<4xf16>) -> tensor<4xf64> {
//!   %0 = prim.convert %x : (tensor<4xf16>) -> tensor<4xf64>
//!   return %0 : tensor<4xf64>
//! }
//! ```

use super::rewriter::{Simplified, SizedPatterns, SizedRewriter, same_type, simplification};
use strata_core::ir::{ElementType, Op};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::rewrite::NoMatch;
use strata_dialects::prim;

simplification! {
    /// Drops and joins conversions that lose nothing.
    pub struct SimplifyConverts: dependents("prim");
}

fn rules(patterns: &mut SizedPatterns<'_>) {
    patterns.identity::<prim::Convert>("convert-to-same", 1, convert_to_same);
    patterns.identity::<prim::Convert>("convert-of-exact-convert", 1, convert_of_exact_convert);
    patterns.identity::<prim::Gather>("gather-of-wider", 1, gather_of_wider);
    patterns.identity::<prim::Bitcast>("bitcast-to-same", 1, convert_to_same);
}

/// convert(x) to the type of x = x.
fn convert_to_same<'c>(op: Op<'c>, _: &mut SizedRewriter<'c>) -> Simplified<'c> {
    same_type(op, op.operand(0))
}

/// convert(convert(x)) = convert(x) when the inner one is exact.
fn convert_of_exact_convert<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let inner = op.operand(0).defining_op().filter(|inner| inner.isa::<prim::Convert>()).ok_or(NoMatch::new("converted once"))?;
    let x = inner.operand(0);
    let (Some(from), Some(through), Some(to)) =
        (x.ty().element_type(), inner.result(0).ty().element_type(), op.result(0).ty().element_type())
    else {
        return Err("an element type is not one of ours".into());
    };
    if !is_exact(from, through) {
        return Err("the first conversion is not exact".into());
    }
    let is_whole = |element: ElementType| element.is_integer();
    if is_whole(from) && through.is_float() && is_whole(to) && !is_exact(from, to) {
        return Err("an integer wraps where a float does not".into());
    }
    let ty = op.result(0).ty();
    if x.ty() == ty { Ok(x) } else { Ok(rewriter.value(prim::Convert::NAME, &[x], ty, &[])) }
}

/// gather(convert(x), i) = convert(gather(x, i)): what is not gathered is not converted. A conversion to fewer bits stays, and so does one
/// that others read.
fn gather_of_wider<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let wide = op.operand(0);
    let convert = wide.defining_op().filter(|inner| inner.isa::<prim::Convert>()).ok_or(NoMatch::new("its operand is no conversion"))?;
    let x = convert.operand(0);
    let widens = x.ty().element_type().zip(wide.ty().element_type()).is_some_and(|(from, to)| from.bits() <= to.bits());
    if !widens || wide.uses().len() != 1 {
        return Err("the conversion is to fewer bits, or has another use".into());
    }
    let operands: Vec<_> = std::iter::once(x).chain(op.operands().into_iter().skip(1)).collect();
    let ty = op.result(0).ty();
    let dims = op.attr("dims").ok_or("no dims")?;
    let gathered = rewriter.value(prim::Gather::NAME, &operands, ty.with_element(x.ty().element()), &[("dims", dims)]);
    Ok(rewriter.value(prim::Convert::NAME, &[gathered], ty, &[]))
}

/// Whether every value of one type is a value of the other.
fn is_exact(from: ElementType, to: ElementType) -> bool {
    use ElementType::*;
    /// Bits of precision, and the largest exponent, of floats.
    fn float(element: ElementType) -> Option<(u32, u32)> {
        match element {
            F8E4M3FN => Some((4, 8)),
            F8E5M2 => Some((3, 15)),
            F16 => Some((11, 15)),
            BF16 => Some((8, 127)),
            F32 | C64 => Some((24, 127)),
            F64 | C128 => Some((53, 1023)),
            _ => None,
        }
    }
    // Bits of a whole number's magnitude.
    let magnitude = |element: ElementType| if element.is_signed() { element.bits() - 1 } else { element.bits() };
    match (from, to) {
        _ if from == to => true,
        (Index, _) | (_, Index) => false,
        // A conversion to bool asks whether a value is 0; from bool it gives 0 or 1.
        (_, Bool) => false,
        (Bool, _) => true,
        _ if from.is_complex() && !to.is_complex() => false,
        _ => match (float(from), float(to)) {
            (Some((bits, exponent)), Some((to_bits, to_exponent))) => bits <= to_bits && exponent <= to_exponent,
            // Below 2^bits a float holds every whole number; the largest exponent is large enough but for f16.
            (None, Some((bits, exponent))) => magnitude(from) <= bits && magnitude(from) <= exponent,
            (None, None) => magnitude(from) <= magnitude(to) && (!from.is_signed() || to.is_signed()),
            (Some(_), None) => false,
        },
    }
}
