//! `arith`: arithmetic on scalars and vectors.

use super::{bools, enumeration, ops};
use crate::ir::{Attr, Builder, Op, Type, Value};

ops! {
    /// `x + y`.
    same AddF "arith.addf" addf(lhs, rhs);
    /// `x + y`; wraps.
    same AddI "arith.addi" addi(lhs, rhs);
    /// Bits that are set in both.
    same AndI "arith.andi" andi(lhs, rhs);
    /// The same bits as another type.
    cast Bitcast "arith.bitcast" bitcast(x);
    /// Quotient of signed integers, rounded up.
    same CeilDivSI "arith.ceildivsi" ceildivsi(lhs, rhs);
    /// Quotient of unsigned integers, rounded up.
    same CeilDivUI "arith.ceildivui" ceildivui(lhs, rhs);
    /// Comparison of floats.
    op CmpF "arith.cmpf";
    /// Comparison of integers.
    op CmpI "arith.cmpi";
    /// A constant.
    op Constant "arith.constant";
    /// `x / y`.
    same DivF "arith.divf" divf(lhs, rhs);
    /// Quotient of signed integers, truncated.
    same DivSI "arith.divsi" divsi(lhs, rhs);
    /// Quotient of unsigned integers.
    same DivUI "arith.divui" divui(lhs, rhs);
    /// A wider float of the same value.
    cast ExtF "arith.extf" extf(x);
    /// A wider integer, sign extended.
    cast ExtSI "arith.extsi" extsi(x);
    /// A wider integer, zero extended.
    cast ExtUI "arith.extui" extui(x);
    /// Quotient of signed integers, rounded down.
    same FloorDivSI "arith.floordivsi" floordivsi(lhs, rhs);
    /// A float truncated to a signed integer.
    cast FPToSI "arith.fptosi" fptosi(x);
    /// A float truncated to an unsigned integer.
    cast FPToUI "arith.fptoui" fptoui(x);
    /// Between `index` and an integer, sign extended.
    cast IndexCast "arith.index_cast" index_cast(x);
    /// Between `index` and an integer, zero extended.
    cast IndexCastUI "arith.index_castui" index_castui(x);
    /// The larger; NaN if one is.
    same MaximumF "arith.maximumf" maximumf(lhs, rhs);
    /// The larger; of a number and NaN the number.
    same MaxNumF "arith.maxnumf" maxnumf(lhs, rhs);
    /// The larger signed integer.
    same MaxSI "arith.maxsi" maxsi(lhs, rhs);
    /// The larger unsigned integer.
    same MaxUI "arith.maxui" maxui(lhs, rhs);
    /// The smaller; NaN if one is.
    same MinimumF "arith.minimumf" minimumf(lhs, rhs);
    /// The smaller; of a number and NaN the number.
    same MinNumF "arith.minnumf" minnumf(lhs, rhs);
    /// The smaller signed integer.
    same MinSI "arith.minsi" minsi(lhs, rhs);
    /// The smaller unsigned integer.
    same MinUI "arith.minui" minui(lhs, rhs);
    /// `x * y`.
    same MulF "arith.mulf" mulf(lhs, rhs);
    /// `x * y`; wraps.
    same MulI "arith.muli" muli(lhs, rhs);
    /// The two halves of the product of unsigned integers.
    op MulUIExtended "arith.mului_extended";
    /// `-x`.
    same NegF "arith.negf" negf(x);
    /// Bits that are set in one of the two.
    same OrI "arith.ori" ori(lhs, rhs);
    /// Remainder with the dividend's sign.
    same RemF "arith.remf" remf(lhs, rhs);
    /// Remainder of signed integers, with the dividend's sign.
    same RemSI "arith.remsi" remsi(lhs, rhs);
    /// Remainder of unsigned integers.
    same RemUI "arith.remui" remui(lhs, rhs);
    /// One of two values, by a condition.
    op Select "arith.select";
    /// Bits shifted left.
    same ShLI "arith.shli" shli(lhs, rhs);
    /// Bits shifted right, copies of the sign moving in.
    same ShRSI "arith.shrsi" shrsi(lhs, rhs);
    /// Bits shifted right, zeros moving in.
    same ShRUI "arith.shrui" shrui(lhs, rhs);
    /// The nearest float of a signed integer.
    cast SIToFP "arith.sitofp" sitofp(x);
    /// `x - y`.
    same SubF "arith.subf" subf(lhs, rhs);
    /// `x - y`; wraps.
    same SubI "arith.subi" subi(lhs, rhs);
    /// A narrower float, rounded to nearest.
    cast TruncF "arith.truncf" truncf(x);
    /// A narrower integer: the low bits.
    cast TruncI "arith.trunci" trunci(x);
    /// The nearest float of an unsigned integer.
    cast UIToFP "arith.uitofp" uitofp(x);
    /// Bits that differ.
    same XOrI "arith.xori" xori(lhs, rhs);
}

enumeration! {
    /// How `arith.cmpi` compares.
    pub enum CmpIPredicate {
        /// Equal.
        Eq = 0,
        /// Not equal.
        Ne = 1,
        /// Signed `<`.
        Slt = 2,
        /// Signed `<=`.
        Sle = 3,
        /// Signed `>`.
        Sgt = 4,
        /// Signed `>=`.
        Sge = 5,
        /// Unsigned `<`.
        Ult = 6,
        /// Unsigned `<=`.
        Ule = 7,
        /// Unsigned `>`.
        Ugt = 8,
        /// Unsigned `>=`.
        Uge = 9,
    }
}

enumeration! {
    /// How `arith.cmpf` compares: ordered (`O`) is false and unordered (`U`) is true where an operand is NaN.
    pub enum CmpFPredicate {
        /// Never.
        False = 0,
        /// Ordered `==`.
        Oeq = 1,
        /// Ordered `>`.
        Ogt = 2,
        /// Ordered `>=`.
        Oge = 3,
        /// Ordered `<`.
        Olt = 4,
        /// Ordered `<=`.
        Ole = 5,
        /// Ordered `!=`.
        One = 6,
        /// No operand is NaN.
        Ord = 7,
        /// Unordered `==`.
        Ueq = 8,
        /// Unordered `>`.
        Ugt = 9,
        /// Unordered `>=`.
        Uge = 10,
        /// Unordered `<`.
        Ult = 11,
        /// Unordered `<=`.
        Ule = 12,
        /// Unordered `!=`.
        Une = 13,
        /// An operand is NaN.
        Uno = 14,
        /// Always.
        True = 15,
    }
}

impl CmpIPredicate {
    /// The predicate of an `arith.cmpi`.
    pub fn of(op: Op<'_>) -> Option<Self> {
        op.isa::<CmpI>().then(|| op.int("predicate")).flatten().and_then(Self::from_number)
    }

    /// The predicate that holds of two numbers where this one holds of them the other way around.
    pub fn swapped(self) -> Self {
        match self {
            Self::Eq | Self::Ne => self,
            Self::Slt => Self::Sgt,
            Self::Sle => Self::Sge,
            Self::Sgt => Self::Slt,
            Self::Sge => Self::Sle,
            Self::Ult => Self::Ugt,
            Self::Ule => Self::Uge,
            Self::Ugt => Self::Ult,
            Self::Uge => Self::Ule,
        }
    }

    /// Whether it takes its operands for unsigned numbers.
    pub fn is_unsigned(self) -> bool {
        matches!(self, Self::Ult | Self::Ule | Self::Ugt | Self::Uge)
    }
}

impl CmpFPredicate {
    /// The predicate of an `arith.cmpf`.
    pub fn of(op: Op<'_>) -> Option<Self> {
        op.isa::<CmpF>().then(|| op.int("predicate")).flatten().and_then(Self::from_number)
    }
}

/// Comparison of integers.
pub fn cmpi<'c>(b: &mut Builder<'c>, predicate: CmpIPredicate, lhs: Value<'c>, rhs: Value<'c>) -> Value<'c> {
    let predicate = predicate.attr(b.cx());
    b.value(CmpI::NAME, &[lhs, rhs], bools(lhs), &[("predicate", predicate)])
}

/// Comparison of floats.
pub fn cmpf<'c>(b: &mut Builder<'c>, predicate: CmpFPredicate, lhs: Value<'c>, rhs: Value<'c>) -> Value<'c> {
    let predicate = predicate.attr(b.cx());
    b.value(CmpF::NAME, &[lhs, rhs], bools(lhs), &[("predicate", predicate)])
}

/// A constant of a scalar or vector type.
pub fn constant<'c>(b: &mut Builder<'c>, ty: Type<'c>, value: Attr<'c>) -> Value<'c> {
    b.value(Constant::NAME, &[], ty, &[("value", value)])
}

/// `yes` where the condition holds, else `no`.
pub fn select<'c>(b: &mut Builder<'c>, condition: Value<'c>, yes: Value<'c>, no: Value<'c>) -> Value<'c> {
    b.value(Select::NAME, &[condition, yes, no], yes.ty(), &[])
}
