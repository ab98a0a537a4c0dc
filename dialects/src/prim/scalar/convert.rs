//! Conversion of one element.

use super::float8;
use crate::loops::elements::register_type;
use strata_core::ir::{Builder, ElementType, Value};
use strata_core::upstream::arith::{self, CmpFPredicate, CmpIPredicate};
use strata_core::upstream::{complex, math};

/// A numeric cast: floats truncate to integers, anything to bool is "is not zero", f64 reaches the halves and floats of 8 bits through f32.
pub fn convert<'c>(b: &mut Builder<'c>, value: Value<'c>, from: ElementType, to: ElementType) -> Value<'c> {
    use ElementType::*;
    if from == to {
        return value;
    }
    if from.is_float8() {
        let wide = float8::widen(b, value, from);
        return convert(b, wide, F32, to);
    }
    if to.is_float8() {
        let wide = convert(b, value, from, F32);
        return float8::round(b, wide, to);
    }
    let ty = register_type(b.cx(), to);
    let one = |b: &mut Builder<'c>, name: &str, value: Value<'c>| b.value(name, &[value], ty, &[]);
    if from.is_complex() {
        let part = if from == C64 { F32 } else { F64 };
        let part_type = register_type(b.cx(), part);
        let real = complex::re(b, value, part_type);
        if !to.is_complex() {
            return convert(b, real, part, to);
        }
        let imag = complex::im(b, value, part_type);
        let target = if to == C64 { F32 } else { F64 };
        let (real, imag) = (convert(b, real, part, target), convert(b, imag, part, target));
        return complex::create(b, real, imag, ty);
    }
    if to.is_complex() {
        let part = if to == C64 { F32 } else { F64 };
        let real = convert(b, value, from, part);
        let part_type = register_type(b.cx(), part);
        let imag = b.const_float(part_type, 0.0);
        return complex::create(b, real, imag, ty);
    }
    if to == Bool {
        let source = value.ty();
        if from.is_float() {
            let zero = b.const_float(source, 0.0);
            return arith::cmpf(b, CmpFPredicate::Une, value, zero);
        }
        let zero = b.const_int(source, 0);
        return arith::cmpi(b, CmpIPredicate::Ne, value, zero);
    }
    match (from.is_float(), to.is_float()) {
        (true, true) => {
            let half = |element| matches!(element, F16 | BF16);
            if (half(from) && half(to)) || (from == F64 && half(to)) {
                let middle = convert(b, value, from, F32);
                return one(b, arith::TruncF::NAME, middle);
            }
            one(b, if to.bits() > from.bits() { arith::ExtF::NAME } else { arith::TruncF::NAME }, value)
        }
        (false, true) => {
            if from == Index {
                let whole = convert(b, value, Index, I64);
                return convert(b, whole, I64, to);
            }
            if matches!(to, F16 | BF16) {
                let middle = convert(b, value, from, F32);
                return one(b, arith::TruncF::NAME, middle);
            }
            one(b, if from.is_unsigned() || from == Bool { arith::UIToFP::NAME } else { arith::SIToFP::NAME }, value)
        }
        (true, false) => {
            if matches!(from, F16 | BF16) {
                let middle = convert(b, value, from, F32);
                return convert(b, middle, F32, to);
            }
            if to.bits() < 64 {
                let wide = to == U32 || (to == U8 && from == F64);
                let near = if wide { wrapped(b, value, from) } else { in_range(b, value) };
                let word = b.cx().int(32);
                let whole = arith::fptosi(b, near, word);
                return if to.bits() == 32 { whole } else { one(b, arith::TruncI::NAME, whole) };
            }
            one(b, if to == U64 { arith::FPToUI::NAME } else { arith::FPToSI::NAME }, value)
        }
        (false, false) => {
            if to == Index || from == Index {
                return one(b, if from.is_unsigned() { arith::IndexCastUI::NAME } else { arith::IndexCast::NAME }, value);
            }
            if to.bits() == from.bits() {
                return value;
            }
            if to.bits() < from.bits() {
                return one(b, arith::TruncI::NAME, value);
            }
            one(b, if from.is_unsigned() || from == Bool { arith::ExtUI::NAME } else { arith::ExtSI::NAME }, value)
        }
    }
}

/// The float itself where a conversion to 32 bits holds it, else the least integer of 32 bits: what x86 makes of all others. The low half of
/// that is 0.
fn in_range<'c>(b: &mut Builder<'c>, value: Value<'c>) -> Value<'c> {
    let ty = value.ty();
    let (limit, least) = (b.const_float(ty, 2f64.powi(31)), b.const_float(ty, -(2f64.powi(31))));
    let size = math::absf(b, value);
    let fits = arith::cmpf(b, CmpFPredicate::Olt, size, limit);
    arith::select(b, fits, value, least)
}

/// A float of the same 32 low bits as an integer between `-2^31` and `2^31`: x86 converts to what has no instruction of its own through 64 bits,
/// and keeps the low ones; 0 for infinities and NaN. In floats there are vector instructions on each target, which 64-bit integers lack on many.
fn wrapped<'c>(b: &mut Builder<'c>, value: Value<'c>, from: ElementType) -> Value<'c> {
    let ty = value.ty();
    let two = |b: &mut Builder<'c>, power: i32| b.const_float(ty, 2f64.powi(power));
    let whole = if from == ElementType::F64 { math::trunc(b, value) } else { value };
    // From `2^31` on an f32 is a whole multiple of 256: the difference is exact in both types.
    let (low, high, zero) = (two(b, -32), two(b, 32), b.const_float(ty, 0.0));
    let turns = arith::mulf(b, whole, low);
    let turns = math::roundeven(b, turns);
    let turns = arith::mulf(b, turns, high);
    let rest = arith::subf(b, whole, turns);
    let (limit, least) = (two(b, 31), b.const_float(ty, -(2f64.powi(31))));
    let above = arith::cmpf(b, CmpFPredicate::Oeq, rest, limit);
    let rest = arith::select(b, above, least, rest);
    let number = arith::cmpf(b, CmpFPredicate::Ord, rest, rest);
    let rest = arith::select(b, number, rest, zero);
    let size = math::absf(b, value);
    let fits = arith::cmpf(b, CmpFPredicate::Olt, size, limit);
    arith::select(b, fits, value, rest)
}
