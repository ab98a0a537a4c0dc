//! Floats of 8 bits, from and to `f32`. Kernels have them as the bits that they are stored as: no op but these reads them.

use strata_core::ir::{Builder, ElementType, Type, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};

/// The number that bits stand for.
///
/// Those of `f8E5M2` are the upper half of an `f16`. Those of `f8E4M3FN` have the exponent one place lower and its bias 8 less, and NaN
/// where `f16` goes on.
pub fn widen<'c>(b: &mut Builder<'c>, bits: Value<'c>, from: ElementType) -> Value<'c> {
    let cx = b.cx();
    let (byte, word, half, single) = (cx.int(8), cx.int(16), cx.element(ElementType::F16), cx.f32());
    let wide = arith::extsi(b, bits, word);
    let number = |b: &mut Builder<'c>, word: Value<'c>| {
        let number = arith::bitcast(b, word, half);
        arith::extf(b, number, single)
    };
    if from == ElementType::F8E5M2 {
        let upper = with(b, arith::ShLI::NAME, wide, 8);
        return number(b, upper);
    }
    let moved = with(b, arith::ShLI::NAME, wide, 7);
    // Bit 14 has a copy of the sign.
    let moved = with(b, arith::AndI::NAME, moved, !(1 << 14));
    let small = number(b, moved);
    let scale = b.const_float(single, 256.0);
    let number = arith::mulf(b, small, scale);
    let size = with(b, arith::AndI::NAME, bits, 0x7f);
    let (last, nan) = (b.const_int(byte, 0x7f), b.const_float(single, f64::NAN));
    let is_nan = arith::cmpi(b, CmpIPredicate::Eq, size, last);
    arith::select(b, is_nan, nan, number)
}

/// The bits of the nearest number, of two the even one.
///
/// What is above the range becomes the largest number of `f8E4M3FN` and infinity in `f8E5M2`, as PyTorch converts. A number below the
/// normal ones meets one so large that the sum's last bit is the least step: the sum rounds as needed, and its low bits are the result.
pub fn round<'c>(b: &mut Builder<'c>, value: Value<'c>, to: ElementType) -> Value<'c> {
    let (mantissa, bias, most) = if to == ElementType::F8E4M3FN { (3, 7, 0x7e) } else { (2, 15, 0x7c) };
    let (cx, cut) = (b.cx(), 23 - mantissa);
    let (word, single) = (cx.int(32), cx.f32());
    let bits = arith::bitcast(b, value, word);
    let size = with(b, arith::AndI::NAME, bits, 0x7fff_ffff);

    let odd = with(b, arith::ShRUI::NAME, size, cut);
    let odd = with(b, arith::AndI::NAME, odd, 1);
    let nearly = with(b, arith::AddI::NAME, size, ((bias - 127) << 23) + (1 << (cut - 1)) - 1);
    let sum = arith::addi(b, nearly, odd);
    let normal = with(b, arith::ShRUI::NAME, sum, cut);

    let large = (127 + cut + 1 - bias) << 23;
    let (positive, addend) = (arith::bitcast(b, size, single), b.const_int(word, large));
    let addend = arith::bitcast(b, addend, single);
    let sum = arith::addf(b, positive, addend);
    let sum = arith::bitcast(b, sum, word);
    let below = with(b, arith::SubI::NAME, sum, large);

    let least = b.const_int(word, (128 - bias) << 23);
    let is_below = arith::cmpi(b, CmpIPredicate::Ult, size, least);
    let code = arith::select(b, is_below, below, normal);
    let code = with(b, arith::MinUI::NAME, code, most);
    let (infinity, nan) = (b.const_int(word, 0x7f80_0000), b.const_int(word, 0x7f));
    let is_nan = arith::cmpi(b, CmpIPredicate::Ugt, size, infinity);
    let code = arith::select(b, is_nan, nan, code);

    let sign = with(b, arith::ShRUI::NAME, bits, 24);
    let sign = with(b, arith::AndI::NAME, sign, 0x80);
    let code = arith::ori(b, code, sign);
    arith::trunci(b, code, cx.int(8))
}

/// An integer and a constant.
fn with<'c>(b: &mut Builder<'c>, op: &str, value: Value<'c>, number: i64) -> Value<'c> {
    let ty: Type<'c> = value.ty();
    let number = b.const_int(ty, number);
    b.value(op, &[value, number], ty, &[])
}
