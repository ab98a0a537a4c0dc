//! Forms of integers that are more than one upstream op: defined for all operands, where the instructions are not.

use strata_core::ir::{Builder, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};

/// The operand itself.
pub fn same<'c>(_: &mut Builder<'c>, x: Value<'c>) -> Value<'c> {
    x
}

/// `-x`; wraps.
pub fn neg<'c>(b: &mut Builder<'c>, x: Value<'c>) -> Value<'c> {
    let zero = b.const_int(x.ty(), 0);
    arith::subi(b, zero, x)
}

/// The complement of the bits.
pub fn not<'c>(b: &mut Builder<'c>, x: Value<'c>) -> Value<'c> {
    let ones = b.const_int(x.ty(), -1);
    arith::xori(b, x, ones)
}

/// -1, 0 or 1.
pub fn sign<'c>(b: &mut Builder<'c>, x: Value<'c>) -> Value<'c> {
    let ty = x.ty();
    let (zero, one, minus) = (b.const_int(ty, 0), b.const_int(ty, 1), b.const_int(ty, -1));
    let positive = arith::cmpi(b, CmpIPredicate::Sgt, x, zero);
    let negative = arith::cmpi(b, CmpIPredicate::Slt, x, zero);
    let low = arith::select(b, negative, minus, zero);
    arith::select(b, positive, one, low)
}

/// 0 or 1.
pub fn unsigned_sign<'c>(b: &mut Builder<'c>, x: Value<'c>) -> Value<'c> {
    let ty = x.ty();
    let (zero, one) = (b.const_int(ty, 0), b.const_int(ty, 1));
    let positive = arith::cmpi(b, CmpIPredicate::Ugt, x, zero);
    arith::select(b, positive, one, zero)
}

/// A divisor that never traps: 1 in the place of 0, and of -1 where `signed`; the second value says where it was -1.
fn divisor<'c>(b: &mut Builder<'c>, y: Value<'c>) -> (Value<'c>, Value<'c>) {
    let ty = y.ty();
    let nonzero = unsigned_divisor(b, y);
    let (one, minus) = (b.const_int(ty, 1), b.const_int(ty, -1));
    let is_minus = arith::cmpi(b, CmpIPredicate::Eq, y, minus);
    (arith::select(b, is_minus, one, nonzero), is_minus)
}

fn unsigned_divisor<'c>(b: &mut Builder<'c>, y: Value<'c>) -> Value<'c> {
    let ty = y.ty();
    let (zero, one) = (b.const_int(ty, 0), b.const_int(ty, 1));
    let is_zero = arith::cmpi(b, CmpIPredicate::Eq, y, zero);
    arith::select(b, is_zero, one, y)
}

/// The quotient, truncated; by -1 the negated dividend, which wraps.
pub fn div<'c>(b: &mut Builder<'c>, x: Value<'c>, y: Value<'c>) -> Value<'c> {
    let (divisor, is_minus) = divisor(b, y);
    let quotient = arith::divsi(b, x, divisor);
    let negated = neg(b, x);
    arith::select(b, is_minus, negated, quotient)
}

/// The remainder, with the dividend's sign.
pub fn rem<'c>(b: &mut Builder<'c>, x: Value<'c>, y: Value<'c>) -> Value<'c> {
    let (divisor, _) = divisor(b, y);
    arith::remsi(b, x, divisor)
}

/// The quotient.
pub fn unsigned_div<'c>(b: &mut Builder<'c>, x: Value<'c>, y: Value<'c>) -> Value<'c> {
    let divisor = unsigned_divisor(b, y);
    arith::divui(b, x, divisor)
}

/// The remainder.
pub fn unsigned_rem<'c>(b: &mut Builder<'c>, x: Value<'c>, y: Value<'c>) -> Value<'c> {
    let divisor = unsigned_divisor(b, y);
    arith::remui(b, x, divisor)
}

/// A distance of a shift that the instructions take, and whether the given one is below the width.
fn distance<'c>(b: &mut Builder<'c>, y: Value<'c>) -> (Value<'c>, Value<'c>) {
    let ty = y.ty();
    let bits = width(y);
    let (width, most) = (b.const_int(ty, bits), b.const_int(ty, bits - 1));
    let inside = arith::cmpi(b, CmpIPredicate::Ult, y, width);
    (arith::select(b, inside, y, most), inside)
}

fn width(x: Value<'_>) -> i64 {
    x.ty().element_type().map_or(64, |element| i64::from(element.bits()))
}

/// `x * 2^y`; 0 where y is negative or not below the width.
pub fn shl<'c>(b: &mut Builder<'c>, x: Value<'c>, y: Value<'c>) -> Value<'c> {
    let (by, inside) = distance(b, y);
    let shifted = arith::shli(b, x, by);
    let zero = b.const_int(x.ty(), 0);
    arith::select(b, inside, shifted, zero)
}

/// `floor(x / 2^y)`; all bits are the sign where y is negative or not below the width.
pub fn shr<'c>(b: &mut Builder<'c>, x: Value<'c>, y: Value<'c>) -> Value<'c> {
    let (by, _) = distance(b, y);
    arith::shrsi(b, x, by)
}

/// `floor(x / 2^y)`; 0 where y is not below the width.
pub fn unsigned_shr<'c>(b: &mut Builder<'c>, x: Value<'c>, y: Value<'c>) -> Value<'c> {
    let (by, inside) = distance(b, y);
    let shifted = arith::shrui(b, x, by);
    let zero = b.const_int(x.ty(), 0);
    arith::select(b, inside, shifted, zero)
}

/// `x^y` by squaring, over so many bits of y.
fn squarings<'c>(b: &mut Builder<'c>, x: Value<'c>, y: Value<'c>, bits: i64) -> Value<'c> {
    let ty = x.ty();
    let (zero, mut result, mut base) = (b.const_int(ty, 0), b.const_int(ty, 1), x);
    for bit in 0..bits {
        let mask = b.const_int(ty, 1i64.wrapping_shl(bit as u32));
        let masked = arith::andi(b, y, mask);
        let set = arith::cmpi(b, CmpIPredicate::Ne, masked, zero);
        let product = arith::muli(b, result, base);
        result = arith::select(b, set, product, result);
        base = arith::muli(b, base, base);
    }
    result
}

/// `x^y`; wraps.
pub fn unsigned_pow<'c>(b: &mut Builder<'c>, x: Value<'c>, y: Value<'c>) -> Value<'c> {
    let bits = width(x);
    squarings(b, x, y, bits)
}

/// `x^y`; wraps, and a negative exponent gives what `1 / x^-y` truncates to.
pub fn pow<'c>(b: &mut Builder<'c>, x: Value<'c>, y: Value<'c>) -> Value<'c> {
    let ty = x.ty();
    let result = squarings(b, x, y, width(x) - 1);
    let (zero, one, minus) = (b.const_int(ty, 0), b.const_int(ty, 1), b.const_int(ty, -1));
    let negative = arith::cmpi(b, CmpIPredicate::Slt, y, zero);
    let is_one = arith::cmpi(b, CmpIPredicate::Eq, x, one);
    let is_minus = arith::cmpi(b, CmpIPredicate::Eq, x, minus);
    // (-1)^y has the sign that y's lowest bit says.
    let low = arith::andi(b, y, one);
    let odd = arith::cmpi(b, CmpIPredicate::Ne, low, zero);
    let sign = arith::select(b, odd, minus, one);
    let small = arith::select(b, is_minus, sign, zero);
    let inverse = arith::select(b, is_one, one, small);
    arith::select(b, negative, inverse, result)
}
