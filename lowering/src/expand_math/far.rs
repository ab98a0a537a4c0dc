//! Sine, cosine and tangent of large arguments where no library has them: `x` in quarter turns by exact integer arithmetic (the method
//! of Payne and Hanek). Of the binary digits of `2/pi`, those that only make whole turns are left out; 192 digits from there on,
//! times the 53 digits of `x`, leave more than 53 digits of the angle however near it comes to a multiple of a quarter turn.

use super::lanes::Lanes;
use super::trig;
use strata_core::ir::{Builder, ElementType, Op, OpSpec, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_core::upstream::llvm;

/// The binary digits of `2/pi` behind the point, behind 64 zeros.
const DIGITS: [u64; 20] = [
    0,
    0xa2f9836e4e441529,
    0xfc2757d1f534ddc0,
    0xdb6295993c439041,
    0xfe5163abdebbc561,
    0xb7246e3a424dd2e0,
    0x06492eea09d1921c,
    0xfe1deb1cb129a73e,
    0xe88235f52ebb4484,
    0xe99c7026b45f7e41,
    0x3991d639835339f4,
    0x9c845f8bbdf9283b,
    0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f,
    0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab,
];

/// Name of the digits in the module.
const SYMBOL: &str = "strata_math.digits";

/// The function of a scalar of any size; an infinity or NaN gives NaN.
pub(super) fn value<'c>(module: Op<'c>, b: &mut Builder<'c>, function: &str, x: Value<'c>) -> Value<'c> {
    let (cx, ty) = (b.cx(), x.ty());
    let single = ty.element_type() == Some(ElementType::F32);
    let wide = if single { arith::extf(b, x, cx.f64()) } else { x };
    let (quadrant, angle) = reduce(module, b, wide);
    let result = trig::of_angle(&Lanes::new(b, cx.f64(), false), function, wide, quadrant, angle);
    if single { arith::truncf(b, result, ty) } else { result }
}

/// Quarter turns (modulo 4) in `|x|` and the angle that is left, within an eighth of a turn.
fn reduce<'c>(module: Op<'c>, b: &mut Builder<'c>, x: Value<'c>) -> (Value<'c>, Value<'c>) {
    let (cx, word) = (b.cx(), b.cx().int(64));
    let op = |b: &mut Builder<'c>, name: &str, lhs: Value<'c>, rhs: Value<'c>| b.value(name, &[lhs, rhs], word, &[]);
    let by = |b: &mut Builder<'c>, name: &str, lhs: Value<'c>, rhs: i64| {
        let rhs = b.const_int(word, rhs);
        b.value(name, &[lhs, rhs], word, &[])
    };
    let bits = arith::bitcast(b, x, word);
    let mantissa = by(b, arith::AndI::NAME, bits, (1 << 52) - 1);
    let mantissa = by(b, arith::OrI::NAME, mantissa, 1 << 52);
    let exponent = by(b, arith::ShRUI::NAME, bits, 52);
    let exponent = by(b, arith::AndI::NAME, exponent, 0x7ff);
    // |x| is mantissa * 2^e; the first digit that counts is number e - 1, counted from 1.
    let first = by(b, arith::SubI::NAME, exponent, 1075 - 62);
    let (at, shift) = (by(b, arith::ShRUI::NAME, first, 6), by(b, arith::AndI::NAME, first, 63));
    let digits: Vec<_> = (0..4).map(|word| digit_word(module, b, at, word)).collect();
    let zero = b.const_int(word, 0);
    let rest = b.const_int(word, 64);
    let rest = op(b, arith::SubI::NAME, rest, shift);
    let even = arith::cmpi(b, CmpIPredicate::Eq, shift, zero);
    // (A shift by 64 has no value.)
    let rest = by(b, arith::AndI::NAME, rest, 63);
    let window: Vec<_> = (0..3)
        .map(|k| {
            let high = op(b, arith::ShLI::NAME, digits[k], shift);
            let low = op(b, arith::ShRUI::NAME, digits[k + 1], rest);
            let both = op(b, arith::OrI::NAME, high, low);
            arith::select(b, even, digits[k], both)
        })
        .collect();
    // The upper two words of the low three of mantissa * window.
    let wide = |b: &mut Builder<'c>, rhs: Value<'c>| {
        let spec = OpSpec { name: arith::MulUIExtended::NAME, operands: &[mantissa, rhs], results: &[word, word], ..OpSpec::default() };
        let product = b.op(spec);
        (product.result(0), product.result(1))
    };
    let (_, carry_low) = wide(b, window[2]);
    let (low, carry_high) = wide(b, window[1]);
    let low_sum = op(b, arith::AddI::NAME, low, carry_low);
    let carried = arith::cmpi(b, CmpIPredicate::Ult, low_sum, low);
    let carried = arith::extui(b, carried, word);
    let high = op(b, arith::MulI::NAME, mantissa, window[0]);
    let high = op(b, arith::AddI::NAME, high, carry_high);
    let high = op(b, arith::AddI::NAME, high, carried);
    // Two bits of quarter turns, then the fraction; above one half it is the next quarter's, with a negative angle.
    let quarter = by(b, arith::ShRUI::NAME, high, 62);
    let fraction = by(b, arith::ShLI::NAME, high, 2);
    let more = by(b, arith::ShRUI::NAME, low_sum, 62);
    let fraction = op(b, arith::OrI::NAME, fraction, more);
    let less = by(b, arith::ShLI::NAME, low_sum, 2);
    let negative = arith::cmpi(b, CmpIPredicate::Slt, fraction, zero);
    let next = arith::extui(b, negative, word);
    let quadrant = op(b, arith::AddI::NAME, quarter, next);
    let quadrant = by(b, arith::AndI::NAME, quadrant, 3);
    let double = cx.f64();
    let scaled = |b: &mut Builder<'c>, name: &str, value: Value<'c>, scale: f64| {
        let value = b.value(name, &[value], double, &[]);
        let scale = b.const_float(double, scale);
        arith::mulf(b, value, scale)
    };
    // The upper word with its sign, and the lower one.
    let upper = scaled(b, arith::SIToFP::NAME, fraction, 2f64.powi(-64));
    let lower = scaled(b, arith::UIToFP::NAME, less, 2f64.powi(-128));
    let turns = arith::addf(b, upper, lower);
    let quarter_turn = b.const_float(double, std::f64::consts::FRAC_PI_2);
    let angle = arith::mulf(b, turns, quarter_turn);
    // x - x is NaN for what is not finite, else 0.
    let nothing = arith::subf(b, x, x);
    (quadrant, arith::addf(b, angle, nothing))
}

/// Word `at + offset` of the digits.
fn digit_word<'c>(module: Op<'c>, b: &mut Builder<'c>, at: Value<'c>, offset: i64) -> Value<'c> {
    let (cx, word) = (b.cx(), b.cx().int(64));
    let pointer = cx.parse_type("!llvm.ptr").unwrap_or_else(|| unreachable!("the LLVM dialect is loaded"));
    if module.lookup_symbol(SYMBOL).is_none() {
        define_digits(module);
    }
    let base = llvm::address_of(b, SYMBOL, pointer);
    let offset = b.const_int(word, offset);
    let at = arith::addi(b, at, offset);
    // An exponent beyond the last finite one reads the last words.
    let last = b.const_int(word, DIGITS.len() as i64 - 1);
    let at = arith::minui(b, at, last);
    let attrs = [("elem_type", cx.type_attr(word)), ("rawConstantIndices", cx.i32s_attr(&[i32::MIN]))];
    let at = b.value(llvm::GetElementPtr::NAME, &[base, at], pointer, &attrs);
    b.value(llvm::Load::NAME, &[at], word, &[("alignment", cx.i64_attr(8))])
}

fn define_digits(module: Op<'_>) {
    let cx = module.cx();
    let bytes: Vec<u8> = DIGITS.iter().flat_map(|word| word.to_le_bytes()).collect();
    let known = "the LLVM dialect is loaded, and the bytes are as many as the type says";
    let ty = cx.parse_type(&format!("!llvm.array<{} x i64>", DIGITS.len())).unwrap_or_else(|| unreachable!("{known}"));
    let dense = cx.dense_attr(cx.tensor(&[DIGITS.len() as i64], cx.int(64)), &bytes).unwrap_or_else(|| unreachable!("{known}"));
    let linkage = cx.parse_attr("#llvm.linkage<internal>").unwrap_or_else(|| unreachable!("{known}"));
    Builder::at_start(module.body(0), module.location()).op(OpSpec {
        name: llvm::Global::NAME,
        attrs: &[
            ("sym_name", cx.str_attr(SYMBOL)),
            ("global_type", cx.type_attr(ty)),
            ("linkage", linkage),
            ("constant", cx.unit()),
            ("value", dense),
            ("alignment", cx.i64_attr(8)),
            ("addr_space", cx.int_attr(cx.int(32), 0)),
        ],
        regions: 1,
        ..OpSpec::default()
    });
}
