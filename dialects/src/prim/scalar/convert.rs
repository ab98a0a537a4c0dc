//! Conversion of one element.

use super::float8;
use crate::loops::elements::register_type;
use strata_core::ir::{Builder, ElementType, Value};
use strata_core::upstream::arith::{self, CmpFPredicate, CmpIPredicate};
use strata_core::upstream::complex;

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
                // Through i64, so that what fits only modulo 2^n wraps, as on x86.
                let wide_type = b.cx().int(64);
                let wide = arith::fptosi(b, value, wide_type);
                return one(b, arith::TruncI::NAME, wide);
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
