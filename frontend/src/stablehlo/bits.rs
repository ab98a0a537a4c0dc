//! What the bits of numbers say.

use strata_core::ir::{self, ElementType, Op, Type};
use strata_dialects::aten::op;

use super::attributes::int;
use super::importer::{Importer, dtype};
use super::operators::Made;
use crate::args::{d, i, is, s, t};

/// The integers of as many bits, with or without a sign.
pub(super) fn integers(bytes: usize, signed: bool) -> Result<ElementType, String> {
    use ElementType::*;
    Ok(match (bytes, signed) {
        (1, true) => I8,
        (2, true) => I16,
        (4, true) => I32,
        (8, true) => I64,
        (1, false) => U8,
        (2, false) => U16,
        (4, false) => U32,
        (8, false) => U64,
        _ => return Err(format!("there are no integers of {bytes} bytes")),
    })
}

/// The same bits under another element type: smaller ones are a dimension more, larger ones take the last dimension.
pub(super) fn bitcast<'c>(m: &mut Importer<'_, '_, 'c>, x: ir::Value<'c>, result: Type<'c>) -> Made<'c> {
    let to = result.element_type().ok_or("it has no element type")?;
    let (from_bytes, to_bytes) = (dtype(x).bytes(), to.bytes());
    // A view changes the last dimension's size, so there is one that is 1.
    let x = if from_bytes > to_bytes || x.ty().rank() == 0 { m.emit(op::UNSQUEEZE, &[t(x), i(-1)])? } else { x };
    let cast = m.emit(op::VIEW_DTYPE, &[t(x), d(to)])?;
    m.emit(op::RESHAPE, &[t(cast), is(&result.shape())])
}

/// Shifts as StableHLO has them: by as many bits as there are, or more, all of them are gone.
pub(super) fn shift<'c>(m: &mut Importer<'_, '_, 'c>, name: &str, x: ir::Value<'c>, by: ir::Value<'c>) -> Made<'c> {
    let kind = dtype(x);
    let (bits, plain) = (8 * kind.bytes() as i64, integers(kind.bytes(), false)?);
    // Without a sign the bits that come in are zeros.
    let unsigned = |m: &mut Importer<'_, '_, 'c>, x: ir::Value<'c>| m.emit(op::VIEW_DTYPE, &[t(x), d(plain)]);
    if name == "shift_right_arithmetic" {
        let signed = integers(kind.bytes(), true)?;
        let x = m.emit(op::VIEW_DTYPE, &[t(x), d(signed)])?;
        let small = unsigned(m, by)?;
        let small = m.emit(op::CLAMP, &[t(small), s(0), s(bits - 1)])?;
        let small = m.emit(op::VIEW_DTYPE, &[t(small), d(signed)])?;
        let shifted = m.emit(op::BITWISE_RIGHT_SHIFT_TENSOR, &[t(x), t(small)])?;
        return m.emit(op::VIEW_DTYPE, &[t(shifted), d(kind)]);
    }
    let (x, by) = (unsigned(m, x)?, unsigned(m, by)?);
    let inside = m.emit(op::LT_SCALAR, &[t(by), s(bits)])?;
    let by = m.emit(op::CLAMP, &[t(by), s(0), s(bits - 1)])?;
    let operator = if name == "shift_left" { op::BITWISE_LEFT_SHIFT_TENSOR } else { op::BITWISE_RIGHT_SHIFT_TENSOR };
    let shifted = m.emit(operator, &[t(x), t(by)])?;
    let shifted = m.emit(op::WHERE_SCALAROTHER, &[t(inside), t(shifted), s(0)])?;
    m.emit(op::VIEW_DTYPE, &[t(shifted), d(kind)])
}

/// Integers in the order of floats, with signs of zeros and NaN: all bits of a number below zero but its sign are turned.
pub(super) fn total_order<'c>(m: &mut Importer<'_, '_, 'c>, x: ir::Value<'c>) -> Made<'c> {
    let bytes = dtype(x).bytes();
    let x = m.emit(op::VIEW_DTYPE, &[t(x), d(integers(bytes, true)?)])?;
    let sign = m.emit(op::BITWISE_RIGHT_SHIFT_TENSOR_SCALAR, &[t(x), s(8 * bytes as i64 - 1)])?;
    let turned = m.emit(op::BITWISE_AND_SCALAR, &[t(sign), s(i64::MAX >> (64 - 8 * bytes))])?;
    m.emit(op::BITWISE_XOR_TENSOR, &[t(x), t(turned)])
}

/// How many bits are set: sums of neighbouring bits, pairs, and fours, as in Warren's "Hacker's Delight", section 5-1.
pub(super) fn population<'c>(m: &mut Importer<'_, '_, 'c>, x: ir::Value<'c>) -> Made<'c> {
    let kind = dtype(x);
    let bits = 8 * kind.bytes() as u32;
    let mut x = m.emit(op::VIEW_DTYPE, &[t(x), d(integers(kind.bytes(), false)?)])?;
    x = m.emit(op::TO_DTYPE, &[t(x), d(ElementType::I64)])?;
    // Sixty-four bits are summed as two halves, as no mask then has a sign.
    let mut halves = vec![x];
    if bits == 64 {
        let high = m.emit(op::BITWISE_RIGHT_SHIFT_TENSOR_SCALAR, &[t(x), s(32)])?;
        halves =
            vec![m.emit(op::BITWISE_AND_SCALAR, &[t(x), s(0xffff_ffff)])?, m.emit(op::BITWISE_AND_SCALAR, &[t(high), s(0xffff_ffff)])?];
    }
    let mut sums = Vec::new();
    for mut half in halves {
        for (width, mask) in [(1, 0x5555_5555), (2, 0x3333_3333), (4, 0x0f0f_0f0f), (8, 0x00ff_00ff), (16, 0xffff)] {
            let low = m.emit(op::BITWISE_AND_SCALAR, &[t(half), s(mask)])?;
            let high = m.emit(op::BITWISE_RIGHT_SHIFT_TENSOR_SCALAR, &[t(half), s(width)])?;
            let high = m.emit(op::BITWISE_AND_SCALAR, &[t(high), s(mask)])?;
            half = m.emit(op::ADD_TENSOR, &[t(low), t(high)])?;
        }
        sums.push(half);
    }
    let sum = match sums[..] {
        [low, high] => m.emit(op::ADD_TENSOR, &[t(low), t(high)])?,
        _ => sums[0],
    };
    m.emit(op::TO_DTYPE, &[t(sum), d(kind)])
}

/// How many bits are 0 in front of the first that is set: those that are not set once all behind the first are.
pub(super) fn leading_zeros<'c>(m: &mut Importer<'_, '_, 'c>, x: ir::Value<'c>) -> Made<'c> {
    let kind = dtype(x);
    let bits = 8 * kind.bytes() as i64;
    let plain = integers(kind.bytes(), false)?;
    let mut smeared = m.emit(op::VIEW_DTYPE, &[t(x), d(plain)])?;
    let mut width = 1;
    while width < bits {
        let shifted = m.emit(op::BITWISE_RIGHT_SHIFT_TENSOR_SCALAR, &[t(smeared), s(width)])?;
        smeared = m.emit(op::BITWISE_OR_TENSOR, &[t(smeared), t(shifted)])?;
        width *= 2;
    }
    let rest = m.emit(op::BITWISE_NOT, &[t(smeared)])?;
    let count = population(m, rest)?;
    m.emit(op::TO_DTYPE, &[t(count), d(kind)])
}

/// A number rounded to fewer bits of exponent and mantissa, to nearest even, as StableHLO's specification has it.
pub(super) fn reduce_precision<'s, 'c>(m: &mut Importer<'_, 's, 'c>, op: Op<'s>, x: ir::Value<'c>) -> Made<'c> {
    let (exponent, mantissa) = (int(op, "exponent_bits")?, int(op, "mantissa_bits")?);
    let kind = dtype(x);
    let same = match kind {
        ElementType::F64 => (11, 52),
        ElementType::F32 => (8, 23),
        ElementType::F16 => (5, 10),
        ElementType::BF16 => (8, 7),
        other => return Err(format!("numbers of {other} are not rounded to fewer bits")),
    };
    if exponent >= same.0 && mantissa >= same.1 {
        return Ok(x);
    }
    let rounded = match (exponent, mantissa) {
        (8, 7) => ElementType::BF16,
        (5, 10) => ElementType::F16,
        (8, 23) => ElementType::F32,
        _ => return Err(format!("there are no numbers of {exponent} bits of exponent and {mantissa} of mantissa")),
    };
    let narrow = m.emit(op::TO_DTYPE, &[t(x), d(rounded)])?;
    m.emit(op::TO_DTYPE, &[t(narrow), d(kind)])
}
