//! Pointwise operators of `prim` as scalar `arith`, `math` and `complex`.
//!
//! Integers are signless from here on: the element type of the operands says which operator is meant.
//! Half-precision operands are widened to f32 and the result is rounded once, as PyTorch does on every operator.

pub use crate::elements::register_type;

use super::{Error, float8, next_after};
use strata_core::ir::{Builder, ElementType, Op, Value};
use strata_core::upstream::{arith, complex, math};
use strata_dialects::loops;

/// The type in which sums of an element type are accumulated.
pub fn accumulator(element: ElementType) -> ElementType {
    if matches!(element, ElementType::F16 | ElementType::BF16) { ElementType::F32 } else { element }
}

/// Emits a pointwise op on scalars. `from` is the element type of the operands (of the second one for `select`), `to` of the result.
pub fn emit<'c>(b: &mut Builder<'c>, op: Op<'c>, args: &[Value<'c>], from: ElementType, to: ElementType) -> Result<Value<'c>, Error> {
    let name = op.name().trim_start_matches("prim.");
    match name {
        "convert" => return Ok(convert(b, args[0], from, to)),
        "select" => {
            let ty = args[1].ty();
            return Ok(b.value(arith::Select::NAME, args, ty, &[]));
        }
        "bitcast" => {
            let ty = register_type(b.cx(), to);
            return Ok(b.value(arith::Bitcast::NAME, args, ty, &[]));
        }
        "special" if !matches!(from, ElementType::F16 | ElementType::BF16) => {
            let (ty, name) = (args[0].ty(), b.cx().str_attr(&op.str("function").unwrap_or_default()));
            return Ok(b.value(loops::Libm::NAME, args, ty, &[("name", name)]));
        }
        _ => {}
    }
    if name == "nextafter" {
        return Ok(next_after::emit(b, args, from));
    }
    if matches!(from, ElementType::F16 | ElementType::BF16) {
        let wide: Vec<_> = args.iter().map(|&arg| convert(b, arg, from, ElementType::F32)).collect();
        let result = emit(b, op, &wide, ElementType::F32, if to == from { ElementType::F32 } else { to })?;
        return Ok(if to == from { convert(b, result, ElementType::F32, to) } else { result });
    }
    if let Some(predicate) = comparison(name, from) {
        return Ok(compare(b, predicate, args));
    }
    if from.is_complex() || to.is_complex() {
        return complex(b, op, name, args, to);
    }
    let ty = args[0].ty();
    let known = if from.is_float() { float(b, name, args) } else { integer(b, name, args, from) };
    if let Some(value) = known {
        return Ok(value);
    }
    let table = if from.is_float() { FLOAT } else { INTEGER };
    match table.binary_search_by(|row| row.0.cmp(name)) {
        Ok(found) => Ok(b.value(choose(table[found].1, from), args, ty, &[])),
        Err(_) if from.is_float() && LIBM.binary_search(&name).is_ok() => {
            let attr = b.cx().str_attr(name);
            Ok(b.value(loops::Libm::NAME, args, ty, &[("name", attr)]))
        }
        Err(_) => Err(Error::at(op, format!("there is no scalar form for element type {from}"))),
    }
}

/// Floating-point operators that are one upstream op.
const FLOAT: &[(&str, &str)] = &[
    ("abs", math::AbsF::NAME),
    ("acos", math::Acos::NAME),
    ("acosh", math::Acosh::NAME),
    ("add", arith::AddF::NAME),
    ("asin", math::Asin::NAME),
    ("asinh", math::Asinh::NAME),
    ("atan", math::Atan::NAME),
    ("atan2", math::Atan2::NAME),
    ("atanh", math::Atanh::NAME),
    ("ceil", math::Ceil::NAME),
    ("cos", math::Cos::NAME),
    ("cosh", math::Cosh::NAME),
    ("div", arith::DivF::NAME),
    ("erf", math::Erf::NAME),
    ("erfc", math::Erfc::NAME),
    ("exp", math::Exp::NAME),
    ("exp2", math::Exp2::NAME),
    ("expm1", math::ExpM1::NAME),
    ("floor", math::Floor::NAME),
    ("log", math::Log::NAME),
    ("log10", math::Log10::NAME),
    ("log1p", math::Log1p::NAME),
    ("log2", math::Log2::NAME),
    ("maximum", arith::MaximumF::NAME),
    ("minimum", arith::MinimumF::NAME),
    ("mul", arith::MulF::NAME),
    ("neg", arith::NegF::NAME),
    ("pow", math::PowF::NAME),
    ("rem", arith::RemF::NAME),
    ("round", math::RoundEven::NAME),
    ("sin", math::Sin::NAME),
    ("sinh", math::Sinh::NAME),
    ("sqrt", math::Sqrt::NAME),
    ("sub", arith::SubF::NAME),
    ("tan", math::Tan::NAME),
    ("tanh", math::Tanh::NAME),
    ("trunc", math::Trunc::NAME),
];

/// Integer operators that are one upstream op; `s|u` names the signed and the unsigned form.
const INTEGER: &[(&str, &str)] = &[
    ("add", arith::AddI::NAME),
    ("and", arith::AndI::NAME),
    ("maximum", "arith.maxsi|arith.maxui"),
    ("minimum", "arith.minsi|arith.minui"),
    ("mul", arith::MulI::NAME),
    ("or", arith::OrI::NAME),
    ("sub", arith::SubI::NAME),
    ("xor", arith::XOrI::NAME),
];

/// Functions that the runtime computes element by element.
const LIBM: &[&str] = &["digamma", "erfinv", "lgamma"];

fn choose(names: &'static str, element: ElementType) -> &'static str {
    let unsigned = element.is_unsigned() || element == ElementType::Bool;
    match names.split_once('|') {
        Some((signed, other)) => {
            if unsigned {
                other
            } else {
                signed
            }
        }
        None => names,
    }
}

/// Floating-point operators that are more than one upstream op.
fn float<'c>(b: &mut Builder<'c>, name: &str, args: &[Value<'c>]) -> Option<Value<'c>> {
    let ty = args[0].ty();
    match name {
        "is_nan" => Some(compare(b, Predicate::Float(UNO), &[args[0], args[0]])),
        "rsqrt" => {
            let root = b.value(math::Sqrt::NAME, args, ty, &[]);
            let one = b.const_float(ty, 1.0);
            Some(arith::divf(b, one, root))
        }
        "sign" => {
            // NaN compares false with zero on both sides and so stays zero, as PyTorch's sign does.
            let zero = b.const_float(ty, 0.0);
            let (one, minus) = (b.const_float(ty, 1.0), b.const_float(ty, -1.0));
            let positive = compare(b, Predicate::Float(OGT), &[args[0], zero]);
            let negative = compare(b, Predicate::Float(OLT), &[args[0], zero]);
            let low = arith::select(b, negative, minus, zero);
            Some(arith::select(b, positive, one, low))
        }
        _ => None,
    }
}

/// Integer operators that are more than one upstream op.
fn integer<'c>(b: &mut Builder<'c>, name: &str, args: &[Value<'c>], from: ElementType) -> Option<Value<'c>> {
    let ty = args[0].ty();
    let unsigned = from.is_unsigned() || from == ElementType::Bool;
    match name {
        "not" => {
            let ones = b.const_int(ty, if from == ElementType::Bool { 1 } else { -1 });
            Some(arith::xori(b, args[0], ones))
        }
        "neg" => {
            let zero = b.const_int(ty, 0);
            Some(arith::subi(b, zero, args[0]))
        }
        "abs" | "floor" | "ceil" | "trunc" | "round" | "sign" if unsigned && name != "sign" => Some(args[0]),
        "floor" | "ceil" | "trunc" | "round" => Some(args[0]),
        "is_nan" => Some(b.const_int(b.cx().int(1), 0)),
        "abs" => Some(b.value(math::AbsI::NAME, args, ty, &[])),
        "sign" => {
            let (zero, one, minus) = (b.const_int(ty, 0), b.const_int(ty, 1), b.const_int(ty, -1));
            let positive = compare(b, Predicate::Integer(if unsigned { UGT } else { SGT }), &[args[0], zero]);
            let low = if unsigned {
                zero
            } else {
                let negative = compare(b, Predicate::Integer(SLT), &[args[0], zero]);
                arith::select(b, negative, minus, zero)
            };
            Some(arith::select(b, positive, one, low))
        }
        "div" | "rem" => Some(divide(b, name, args, unsigned)),
        "pow" => Some(power(b, args, unsigned)),
        "shl" | "shr" => Some(shift(b, name, args, unsigned)),
        _ => None,
    }
}

/// Truncating division and remainder that never trap: a divisor 0 or -1 is replaced and the result corrected.
fn divide<'c>(b: &mut Builder<'c>, name: &str, args: &[Value<'c>], unsigned: bool) -> Value<'c> {
    let ty = args[0].ty();
    let (zero, one) = (b.const_int(ty, 0), b.const_int(ty, 1));
    let by_zero = compare(b, Predicate::Integer(EQ), &[args[1], zero]);
    let mut divisor = arith::select(b, by_zero, one, args[1]);
    if unsigned {
        return b.value(if name == "div" { arith::DivUI::NAME } else { arith::RemUI::NAME }, &[args[0], divisor], ty, &[]);
    }
    let minus = b.const_int(ty, -1);
    let by_minus = compare(b, Predicate::Integer(EQ), &[args[1], minus]);
    divisor = arith::select(b, by_minus, one, divisor);
    if name == "rem" {
        return arith::remsi(b, args[0], divisor);
    }
    let quotient = arith::divsi(b, args[0], divisor);
    let negated = arith::subi(b, zero, args[0]);
    arith::select(b, by_minus, negated, quotient)
}

/// Shifts that are defined for every distance: one that is negative or not below the width shifts all bits out.
fn shift<'c>(b: &mut Builder<'c>, name: &str, args: &[Value<'c>], unsigned: bool) -> Value<'c> {
    let ty = args[0].ty();
    let bits = ty.element_type().map_or(64, |element| i64::from(element.bits()));
    let (zero, width, most) = (b.const_int(ty, 0), b.const_int(ty, bits), b.const_int(ty, bits - 1));
    let inside = compare(b, Predicate::Integer(ULT), &[args[1], width]);
    let distance = arith::select(b, inside, args[1], most);
    let op = match (name, unsigned) {
        ("shl", _) => arith::ShLI::NAME,
        (_, false) => arith::ShRSI::NAME,
        (_, true) => arith::ShRUI::NAME,
    };
    let shifted = b.value(op, &[args[0], distance], ty, &[]);
    if op == arith::ShRSI::NAME { shifted } else { arith::select(b, inside, shifted, zero) }
}

/// Integer power by squaring; a negative exponent gives what 1/x truncates to.
fn power<'c>(b: &mut Builder<'c>, args: &[Value<'c>], unsigned: bool) -> Value<'c> {
    let ty = args[0].ty();
    let bits = match ty.element_type() {
        Some(element) => element.bits(),
        None => 64,
    };
    let (zero, one) = (b.const_int(ty, 0), b.const_int(ty, 1));
    let (mut result, mut base) = (one, args[0]);
    for bit in 0..if unsigned { bits } else { bits - 1 } {
        let mask = b.const_int(ty, 1i64.wrapping_shl(bit));
        let masked = arith::andi(b, args[1], mask);
        let set = compare(b, Predicate::Integer(NE), &[masked, zero]);
        let product = arith::muli(b, result, base);
        result = arith::select(b, set, product, result);
        base = arith::muli(b, base, base);
    }
    if unsigned {
        return result;
    }
    let negative = compare(b, Predicate::Integer(SLT), &[args[1], zero]);
    let minus = b.const_int(ty, -1);
    let is_one = compare(b, Predicate::Integer(EQ), &[args[0], one]);
    let is_minus = compare(b, Predicate::Integer(EQ), &[args[0], minus]);
    // (-1)^n has the parity that the loop above computed from the low bit.
    let low = arith::andi(b, args[1], one);
    let odd = compare(b, Predicate::Integer(NE), &[low, zero]);
    let sign = arith::select(b, odd, minus, one);
    let small = arith::select(b, is_minus, sign, zero);
    let inverse = arith::select(b, is_one, one, small);
    arith::select(b, negative, inverse, result)
}

fn complex<'c>(b: &mut Builder<'c>, op: Op<'c>, name: &str, args: &[Value<'c>], to: ElementType) -> Result<Value<'c>, Error> {
    let ty = register_type(b.cx(), to);
    let upstream = match name {
        "abs" | "add" | "atan2" | "cos" | "div" | "exp" | "expm1" | "log" | "log1p" | "mul" | "neg" | "pow" | "rsqrt" | "sign" | "sin"
        | "sqrt" | "sub" | "tan" | "tanh" => format!("complex.{name}"),
        "real" => complex::Re::NAME.to_owned(),
        "imag" => complex::Im::NAME.to_owned(),
        "complex" => complex::Create::NAME.to_owned(),
        _ => return Err(Error::at(op, "there is no complex form")),
    };
    Ok(b.value(&upstream, args, ty, &[]))
}

/// Numbers of upstream's comparison predicates.
pub(super) const EQ: i64 = 0;
pub(super) const NE: i64 = 1;
pub(super) const SLT: i64 = 2;
const SLE: i64 = 3;
pub(super) const SGT: i64 = 4;
const SGE: i64 = 5;
pub(super) const ULT: i64 = 6;
const ULE: i64 = 7;
pub(super) const UGT: i64 = 8;
const UGE: i64 = 9;
pub(super) const OEQ: i64 = 1;
pub(super) const OGT: i64 = 2;
pub(super) const OLT: i64 = 4;
pub(super) const UNO: i64 = 14;

/// How two scalars are compared.
#[derive(Clone, Copy)]
pub(super) enum Predicate {
    Integer(i64),
    Float(i64),
    Complex(&'static str),
}

fn comparison(name: &str, from: ElementType) -> Option<Predicate> {
    let position = ["eq", "ne", "lt", "le", "gt", "ge"].iter().position(|&known| known == name)?;
    Some(if from.is_complex() {
        Predicate::Complex([complex::Eq::NAME, complex::NotEq::NAME].get(position)?)
    } else if from.is_float() {
        Predicate::Float([1, 13, 4, 5, 2, 3][position])
    } else if from.is_unsigned() || from == ElementType::Bool {
        Predicate::Integer([EQ, NE, ULT, ULE, UGT, UGE][position])
    } else {
        Predicate::Integer([EQ, NE, SLT, SLE, SGT, SGE][position])
    })
}

pub(super) fn compare<'c>(b: &mut Builder<'c>, predicate: Predicate, args: &[Value<'c>]) -> Value<'c> {
    let bool_type = b.cx().int(1);
    let (name, number) = match predicate {
        Predicate::Integer(number) => (arith::CmpI::NAME, number),
        Predicate::Float(number) => (arith::CmpF::NAME, number),
        Predicate::Complex(name) => return b.value(name, args, bool_type, &[]),
    };
    let number = b.cx().i64_attr(number);
    b.value(name, args, bool_type, &[("predicate", number)])
}

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
            return compare(b, Predicate::Float(13), &[value, zero]);
        }
        let zero = b.const_int(source, 0);
        return compare(b, Predicate::Integer(NE), &[value, zero]);
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
