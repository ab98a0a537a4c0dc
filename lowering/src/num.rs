//! Index arithmetic that folds what is known while compiling.

use strata_core::ir::{AffineExpr, AffineKind, Builder, Value};
use strata_core::upstream::arith;

/// An `index` scalar: a number, or a value of the code being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Num<'c> {
    /// Known while compiling.
    Const(i64),
    /// Computed at run time.
    Value(Value<'c>),
}

impl<'c> Num<'c> {
    /// As a value.
    pub fn value(self, b: &mut Builder<'c>) -> Value<'c> {
        match self {
            Self::Const(number) => b.const_index(number),
            Self::Value(value) => value,
        }
    }

    /// A value, which may be a constant.
    pub fn of(value: Value<'c>) -> Self {
        let constant = value.defining_op().filter(|op| op.isa::<arith::Constant>()).and_then(|op| op.attr("value")?.as_int());
        constant.map_or(Self::Value(value), Self::Const)
    }

    fn op(self, b: &mut Builder<'c>, name: &str, other: Self) -> Self {
        let (lhs, rhs) = (self.value(b), other.value(b));
        let index = b.cx().index();
        Self::Value(b.value(name, &[lhs, rhs], index, &[]))
    }

    /// `self + other`.
    pub fn add(self, b: &mut Builder<'c>, other: Self) -> Self {
        match (self, other) {
            (Self::Const(x), Self::Const(y)) => Self::Const(x.wrapping_add(y)),
            (num, Self::Const(0)) | (Self::Const(0), num) => num,
            _ => self.op(b, arith::AddI::NAME, other),
        }
    }

    /// `self - other`.
    pub fn sub(self, b: &mut Builder<'c>, other: Self) -> Self {
        match (self, other) {
            (Self::Const(x), Self::Const(y)) => Self::Const(x.wrapping_sub(y)),
            (num, Self::Const(0)) => num,
            _ => self.op(b, arith::SubI::NAME, other),
        }
    }

    /// `self * other`.
    pub fn mul(self, b: &mut Builder<'c>, other: Self) -> Self {
        match (self, other) {
            (Self::Const(x), Self::Const(y)) => Self::Const(x.wrapping_mul(y)),
            (Self::Const(0), _) | (_, Self::Const(0)) => Self::Const(0),
            (num, Self::Const(1)) | (Self::Const(1), num) => num,
            _ => self.op(b, arith::MulI::NAME, other),
        }
    }

    /// The smaller of the two.
    pub fn min(self, b: &mut Builder<'c>, other: Self) -> Self {
        match (self, other) {
            (Self::Const(x), Self::Const(y)) => Self::Const(x.min(y)),
            _ if self == other => self,
            _ => self.op(b, arith::MinSI::NAME, other),
        }
    }

    /// The larger of the two.
    pub fn max(self, b: &mut Builder<'c>, other: Self) -> Self {
        match (self, other) {
            (Self::Const(x), Self::Const(y)) => Self::Const(x.max(y)),
            _ if self == other => self,
            _ => self.op(b, arith::MaxSI::NAME, other),
        }
    }

    /// Quotient rounded down; `other` is positive.
    pub fn floor_div(self, b: &mut Builder<'c>, other: Self) -> Self {
        match (self, other) {
            (Self::Const(x), Self::Const(y)) if y > 0 => Self::Const(x.div_euclid(y)),
            (num, Self::Const(1)) => num,
            _ => match self.without_multiple(other) {
                Some((rest, times)) => rest.floor_div(b, other).add(b, Self::Const(times)),
                None => self.op(b, arith::FloorDivSI::NAME, other),
            },
        }
    }

    /// `self` as `rest + times * other`, where it is a sum with a constant that is a multiple of `other`: unrolled copies of a loop share
    /// their quotients and remainders.
    fn without_multiple(self, other: Self) -> Option<(Self, i64)> {
        let (Self::Value(sum), Self::Const(divisor @ 1..)) = (self, other) else { return None };
        let sum = sum.defining_op().filter(|op| op.isa::<arith::AddI>())?;
        match (Self::of(sum.operand(0)), Self::of(sum.operand(1))) {
            (rest, Self::Const(constant)) | (Self::Const(constant), rest) if constant % divisor == 0 => Some((rest, constant / divisor)),
            _ => None,
        }
    }

    /// Quotient rounded up; `other` is positive.
    pub fn ceil_div(self, b: &mut Builder<'c>, other: Self) -> Self {
        let above = other.sub(b, Self::Const(1));
        self.add(b, above).floor_div(b, other)
    }

    /// Remainder that is not negative; `other` is positive.
    pub fn modulo(self, b: &mut Builder<'c>, other: Self) -> Self {
        match (self, other) {
            (Self::Const(x), Self::Const(y)) if y > 0 => Self::Const(x.rem_euclid(y)),
            (_, Self::Const(1)) => Self::Const(0),
            _ => {
                if let Some((rest, _)) = self.without_multiple(other) {
                    return rest.modulo(b, other);
                }
                let quotient = self.floor_div(b, other);
                let whole = quotient.mul(b, other);
                self.sub(b, whole)
            }
        }
    }
}

/// An expression of symbols.
pub fn number_of<'c>(b: &mut Builder<'c>, expr: AffineExpr<'c>, symbols: &[Value<'c>]) -> Num<'c> {
    let mut both = |lhs, rhs| (number_of(b, lhs, symbols), number_of(b, rhs, symbols));
    match expr.kind() {
        AffineKind::Constant(number) => Num::Const(number),
        AffineKind::Symbol(symbol) => Num::Value(symbols[symbol]),
        AffineKind::Dim(_) => Num::Const(0),
        AffineKind::Add(lhs, rhs) => {
            let (lhs, rhs) = both(lhs, rhs);
            lhs.add(b, rhs)
        }
        AffineKind::Mul(lhs, rhs) => {
            let (lhs, rhs) = both(lhs, rhs);
            lhs.mul(b, rhs)
        }
        AffineKind::FloorDiv(lhs, rhs) => {
            let (lhs, rhs) = both(lhs, rhs);
            lhs.floor_div(b, rhs)
        }
        AffineKind::CeilDiv(lhs, rhs) => {
            let (lhs, rhs) = both(lhs, rhs);
            lhs.ceil_div(b, rhs)
        }
        AffineKind::Mod(lhs, rhs) => {
            let (lhs, rhs) = both(lhs, rhs);
            lhs.modulo(b, rhs)
        }
    }
}
