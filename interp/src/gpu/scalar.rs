//! Scalar operators on registers: every value is 64 bits, integers without their sign, floats by their bits.

use super::code::Join;
use half::{bf16, f16};
use strata_core::ir::ElementType;
use strata_core::upstream::{arith, math};

/// An operator of two registers of this many bits; `None` where it has no result.
pub type Two = fn(u64, u64, u32) -> Option<u64>;
/// An operator of one register.
pub type One = fn(u64, u32) -> u64;

/// The lowest bits.
pub fn low(value: u64, bits: u32) -> u64 {
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}

/// The number with its sign.
pub fn signed(value: u64, bits: u32) -> i64 {
    let unused = 64 - bits.min(64);
    (value << unused) as i64 >> unused
}

/// The float with these bits, exactly.
pub fn float(value: u64, ty: ElementType) -> f64 {
    match ty {
        ElementType::F64 => f64::from_bits(value),
        ElementType::F16 => f16::from_bits(value as u16).into(),
        ElementType::BF16 => bf16::from_bits(value as u16).into(),
        _ => f32::from_bits(value as u32).into(),
    }
}

/// The bits of a number, rounded to a type.
pub fn bits_of(value: f64, ty: ElementType) -> u64 {
    match ty {
        ElementType::F64 => value.to_bits(),
        ElementType::F16 => f16::from_f64(value).to_bits().into(),
        ElementType::BF16 => bf16::from_f64(value).to_bits().into(),
        _ => (value as f32).to_bits().into(),
    }
}

/// An integer operator.
pub fn integer(name: &str) -> Option<Two> {
    Some(match name {
        arith::AddI::NAME => |a, b, _| Some(a.wrapping_add(b)),
        arith::SubI::NAME => |a, b, _| Some(a.wrapping_sub(b)),
        arith::MulI::NAME => |a, b, _| Some(a.wrapping_mul(b)),
        arith::AndI::NAME => |a, b, _| Some(a & b),
        arith::OrI::NAME => |a, b, _| Some(a | b),
        arith::XOrI::NAME => |a, b, _| Some(a ^ b),
        arith::MaxSI::NAME => |a, b, n| Some(signed(a, n).max(signed(b, n)) as u64),
        arith::MinSI::NAME => |a, b, n| Some(signed(a, n).min(signed(b, n)) as u64),
        arith::MaxUI::NAME => |a, b, _| Some(a.max(b)),
        arith::MinUI::NAME => |a, b, _| Some(a.min(b)),
        arith::DivSI::NAME => |a, b, n| signed(a, n).checked_div(signed(b, n)).map(|q| q as u64),
        arith::RemSI::NAME => |a, b, n| signed(a, n).checked_rem(signed(b, n)).map(|q| q as u64),
        arith::DivUI::NAME => |a, b, _| a.checked_div(b),
        arith::RemUI::NAME => |a, b, _| a.checked_rem(b),
        arith::FloorDivSI::NAME => |a, b, n| floor_div(signed(a, n), signed(b, n)).map(|q| q as u64),
        arith::CeilDivSI::NAME => |a, b, n| floor_div(signed(a, n).checked_neg()?, signed(b, n)).map(|q| q.wrapping_neg() as u64),
        arith::CeilDivUI::NAME => |a, b, _| if b == 0 { None } else { Some(a.div_ceil(b)) },
        arith::ShLI::NAME => |a, b, n| Some(if b < n.into() { a << b } else { 0 }),
        arith::ShRUI::NAME => |a, b, n| Some(if b < n.into() { a >> b } else { 0 }),
        arith::ShRSI::NAME => |a, b, n| Some((signed(a, n) >> b.min(u64::from(n) - 1)) as u64),
        _ => return None,
    })
}

fn floor_div(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
}

/// A comparison of integers, by the number of its predicate.
pub fn compare_integers(predicate: i64) -> Option<Two> {
    Some(match predicate {
        0 => |a, b, _| Some((a == b).into()),
        1 => |a, b, _| Some((a != b).into()),
        2 => |a, b, n| Some((signed(a, n) < signed(b, n)).into()),
        3 => |a, b, n| Some((signed(a, n) <= signed(b, n)).into()),
        4 => |a, b, n| Some((signed(a, n) > signed(b, n)).into()),
        5 => |a, b, n| Some((signed(a, n) >= signed(b, n)).into()),
        6 => |a, b, _| Some((a < b).into()),
        7 => |a, b, _| Some((a <= b).into()),
        8 => |a, b, _| Some((a > b).into()),
        9 => |a, b, _| Some((a >= b).into()),
        _ => return None,
    })
}

/// A comparison of floats.
pub fn compare_floats(predicate: i64, a: f64, b: f64) -> bool {
    let unordered = a.is_nan() || b.is_nan();
    // The first eight predicates say in their bits for which of equal, greater and less they hold; the next six are the same ones or
    // unordered; then come unordered alone and always.
    let (holds, or_unordered) = match predicate {
        0..8 => (predicate, false),
        8..14 => (predicate - 7, true),
        14 => (0, true),
        _ => (7, true),
    };
    let found = match () {
        () if unordered => return or_unordered,
        () if a == b => 1,
        () if a > b => 2,
        () => 4,
    };
    holds & found != 0
}

/// A float operator of two operands, on numbers; the result is rounded once more to the type, which changes nothing of an f32 sum,
/// product, quotient or remainder computed in f64.
pub fn floats(name: &str) -> Option<fn(f64, f64) -> f64> {
    Some(match name {
        arith::AddF::NAME => |a, b| a + b,
        arith::SubF::NAME => |a, b| a - b,
        arith::MulF::NAME => |a, b| a * b,
        arith::DivF::NAME => |a, b| a / b,
        arith::RemF::NAME => |a, b| a % b,
        arith::MaxNumF::NAME => f64::max,
        arith::MinNumF::NAME => f64::min,
        arith::MaximumF::NAME => |a, b| extremum(a, b, a > b || (a == b && b.is_sign_negative())),
        arith::MinimumF::NAME => |a, b| extremum(a, b, a < b || (a == b && a.is_sign_negative())),
        math::CopySign::NAME => f64::copysign,
        _ => return None,
    })
}

/// How LLVM's atomic operation of this number combines.
pub fn join(how: i64, ty: ElementType) -> Option<Join> {
    let integers = |name: &str| Some(Join::Integers(integer(name)?, ty.bits()));
    match how {
        1 => integers(arith::AddI::NAME),
        7 => integers(arith::MaxSI::NAME),
        8 => integers(arith::MinSI::NAME),
        11 => Some(Join::Floats(floats(arith::AddF::NAME)?, ty)),
        // Counts up to a number and begins anew.
        15 => Some(Join::Integers(|before, last, _| Some(if before >= last { 0 } else { before + 1 }), ty.bits())),
        _ => None,
    }
}

fn extremum(a: f64, b: f64, first: bool) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else if first {
        a
    } else {
        b
    }
}

/// A float operator of one operand.
pub fn float_one(name: &str) -> Option<fn(f64) -> f64> {
    Some(match name {
        arith::NegF::NAME => |x| -x,
        math::AbsF::NAME => f64::abs,
        math::Ceil::NAME => f64::ceil,
        math::Floor::NAME => f64::floor,
        math::Round::NAME => f64::round,
        math::RoundEven::NAME => f64::round_ties_even,
        math::Rsqrt::NAME => |x| 1.0 / x.sqrt(),
        math::Sqrt::NAME => f64::sqrt,
        math::Trunc::NAME => f64::trunc,
        _ => return None,
    })
}

/// A question about a float.
pub fn float_test(name: &str) -> Option<fn(f64) -> bool> {
    Some(match name {
        math::IsFinite::NAME => f64::is_finite,
        math::IsInf::NAME => f64::is_infinite,
        math::IsNaN::NAME => f64::is_nan,
        _ => return None,
    })
}

/// An integer operator of one operand.
pub fn integer_one(name: &str) -> Option<One> {
    Some(match name {
        math::AbsI::NAME => |a, n| signed(a, n).unsigned_abs(),
        math::CtPop::NAME => |a, _| a.count_ones().into(),
        math::CountLeadingZeros::NAME => |a, n| u64::from(a.leading_zeros()) - u64::from(64 - n),
        math::CountTrailingZeros::NAME => |a, n| u64::from(a.trailing_zeros().min(n)),
        _ => return None,
    })
}

/// A change of type.
pub fn convert(name: &str, value: u64, from: ElementType, to: ElementType) -> Option<u64> {
    let number = || float(value, from);
    Some(match name {
        arith::ExtF::NAME => bits_of(number(), to),
        arith::TruncF::NAME if from == ElementType::F64 && to != ElementType::F32 => bits_of(number() as f32 as f64, to),
        arith::TruncF::NAME => bits_of(number(), to),
        arith::Bitcast::NAME | arith::ExtUI::NAME | arith::IndexCastUI::NAME | arith::TruncI::NAME => value,
        arith::ExtSI::NAME | arith::IndexCast::NAME => signed(value, from.bits()) as u64,
        arith::SIToFP::NAME if to == ElementType::F32 => (signed(value, from.bits()) as f32).to_bits().into(),
        arith::SIToFP::NAME => bits_of(signed(value, from.bits()) as f64, to),
        arith::UIToFP::NAME if to == ElementType::F32 => (value as f32).to_bits().into(),
        arith::UIToFP::NAME => bits_of(value as f64, to),
        arith::FPToSI::NAME => {
            let limit = i64::MAX >> (64 - to.bits());
            (number() as i64).clamp(-limit - 1, limit) as u64
        }
        arith::FPToUI::NAME => (number() as u64).min(low(u64::MAX, to.bits())),
        _ => return None,
    })
}

/// `a * b + c`, rounded once.
pub fn fused(a: u64, b: u64, c: u64, ty: ElementType) -> u64 {
    let [x, y, z] = [a, b, c].map(|value| float(value, ty));
    match ty {
        ElementType::F32 => (x as f32).mul_add(y as f32, z as f32).to_bits().into(),
        _ => bits_of(x.mul_add(y, z), ty),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predicates_of_floats_are_numbered_as_upstream_does() {
        let holds = |predicate: i64| [(1.0, 1.0), (2.0, 1.0), (1.0, 2.0), (1.0, f64::NAN)].map(|(a, b)| compare_floats(predicate, a, b));
        // false, oeq, ogt, oge, olt, ole, one, ord, ueq, ugt, uge, ult, ule, une, uno, true
        let wanted = [
            "0000", "1000", "0100", "1100", "0010", "1010", "0110", "1110", "1001", "0101", "1101", "0011", "1011", "0111", "0001", "1111",
        ];
        for (predicate, wanted) in wanted.iter().enumerate() {
            let found: String = holds(predicate as i64).map(|holds| if holds { '1' } else { '0' }).into_iter().collect();
            assert_eq!(found, **wanted, "predicate {predicate}");
        }
    }

    #[test]
    fn division_rounds_down_or_up() {
        let divide = |name: &str, a: i64, b: i64| integer(name).and_then(|f| f(a as u64, b as u64, 64)).map(|value| value as i64);
        assert_eq!(divide("arith.floordivsi", -7, 2), Some(-4));
        assert_eq!(divide("arith.ceildivsi", -7, 2), Some(-3));
        assert_eq!(divide("arith.ceildivsi", 7, 2), Some(4));
        assert_eq!(divide("arith.divsi", 7, 0), None);
    }
}
