//! Combining elements: where a reduction starts, how two elements become one, how the lanes of a vector become one.

use super::memory::broadcast;
use crate::elements::register_type;
use strata_core::ir::{Attr, Builder, ElementType, Value};
use strata_core::upstream::{arith, complex, vector};

/// The predicate `>` of `arith.cmpf`, false for NaN.
const OGT: i64 = 2;

/// A reducer over elements of one type.
#[derive(Clone, Copy, Debug)]
pub struct Reducer {
    kind: Kind,
    element: ElementType,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Sum,
    Prod,
    Max,
    /// The largest number, whatever is NaN beside it.
    MaxNum,
    Min,
    And,
    Or,
}

impl Reducer {
    /// The reducer of that name, if there is one. (`argmax` and `argmin` carry two values: see [`better`].)
    pub fn named(name: &str, element: ElementType) -> Option<Self> {
        let kind = match name {
            "sum" | "add" => Kind::Sum,
            "prod" | "mul" => Kind::Prod,
            "max" => Kind::Max,
            "maxnum" => Kind::MaxNum,
            "min" => Kind::Min,
            "and" => Kind::And,
            "or" => Kind::Or,
            _ => return None,
        };
        Some(Self { kind, element })
    }

    /// The element that changes nothing.
    pub fn start<'c>(self, b: &mut Builder<'c>) -> Value<'c> {
        let ty = register_type(b.cx(), self.element);
        if self.element.is_complex() {
            let part = if self.element == ElementType::C64 { b.cx().f32() } else { b.cx().f64() };
            let real = b.const_float(part, if self.kind == Kind::Prod { 1.0 } else { 0.0 });
            let imag = b.const_float(part, 0.0);
            return complex::create(b, real, imag, ty);
        }
        if self.element.is_float() {
            let start = match self.kind {
                Kind::Prod => 1.0,
                Kind::Max | Kind::MaxNum => f64::NEG_INFINITY,
                Kind::Min => f64::INFINITY,
                _ => 0.0,
            };
            return b.const_float(ty, start);
        }
        let bits = self.element.bits();
        let unsigned = self.element.is_unsigned() || self.element == ElementType::Bool;
        let start = match self.kind {
            Kind::Sum | Kind::Or => 0,
            Kind::Prod => 1,
            Kind::And => -1,
            Kind::Max | Kind::MaxNum if unsigned => 0,
            Kind::Min if unsigned => -1,
            Kind::Max | Kind::MaxNum => i64::MIN >> (64 - bits),
            Kind::Min => i64::MAX >> (64 - bits),
        };
        b.const_int(ty, if bits == 1 { start & 1 } else { start })
    }

    /// Two elements (or vectors of them) as one, the first of which is what was combined before.
    pub fn combine<'c>(self, b: &mut Builder<'c>, lhs: Value<'c>, rhs: Value<'c>) -> Value<'c> {
        if self.kind == Kind::MaxNum && self.element.is_float() {
            // What was combined before is a number; then this is right, and one instruction.
            let more = test(b, arith::CmpF::NAME, OGT, rhs, lhs);
            return arith::select(b, more, rhs, lhs);
        }
        let unsigned = self.element.is_unsigned() || self.element == ElementType::Bool;
        let bool = self.element == ElementType::Bool;
        let name = match self.kind {
            Kind::Sum if self.element.is_complex() => complex::Add::NAME,
            Kind::Prod if self.element.is_complex() => complex::Mul::NAME,
            Kind::Sum if self.element.is_float() => arith::AddF::NAME,
            Kind::Prod if self.element.is_float() => arith::MulF::NAME,
            Kind::Max if self.element.is_float() => arith::MaximumF::NAME,
            Kind::Min if self.element.is_float() => arith::MinimumF::NAME,
            Kind::Sum if bool => arith::OrI::NAME,
            Kind::Prod if bool => arith::AndI::NAME,
            Kind::Sum => arith::AddI::NAME,
            Kind::Prod => arith::MulI::NAME,
            Kind::Max | Kind::MaxNum if unsigned => arith::MaxUI::NAME,
            Kind::Min if unsigned => arith::MinUI::NAME,
            Kind::Max | Kind::MaxNum => arith::MaxSI::NAME,
            Kind::Min => arith::MinSI::NAME,
            Kind::And => arith::AndI::NAME,
            Kind::Or => arith::OrI::NAME,
        };
        let ty = lhs.ty();
        b.value(name, &[lhs, rhs], ty, &[])
    }

    /// The number of LLVM's atomic operation that combines so, if there is one.
    pub fn atomic(self) -> Option<i64> {
        let (float, signed) = (self.element.is_float(), self.element.is_signed());
        match self.kind {
            Kind::Sum if float => Some(11),
            Kind::Sum if signed => Some(1),
            Kind::Max if signed => Some(7),
            Kind::Min if signed => Some(8),
            _ => None,
        }
    }

    /// Several values as one, in pairs: more exact than one after the other, and independent.
    pub fn tree<'c>(self, b: &mut Builder<'c>, mut parts: Vec<Value<'c>>) -> Value<'c> {
        while parts.len() > 1 {
            parts = parts.chunks(2).map(|pair| if let [lhs, rhs] = *pair { self.combine(b, lhs, rhs) } else { pair[0] }).collect();
        }
        parts.first().copied().unwrap_or_else(|| self.start(b))
    }

    /// All lanes of a vector as one element.
    pub fn across<'c>(self, b: &mut Builder<'c>, lanes: Value<'c>) -> Value<'c> {
        let unsigned = self.element.is_unsigned() || self.element == ElementType::Bool;
        let bool = self.element == ElementType::Bool;
        let kind = match self.kind {
            Kind::Sum if bool => "or",
            Kind::Prod if bool => "and",
            Kind::Sum => "add",
            Kind::Prod => "mul",
            Kind::Max if self.element.is_float() => "maximumf",
            Kind::MaxNum if self.element.is_float() => "maxnumf",
            Kind::Min if self.element.is_float() => "minimumf",
            Kind::Max | Kind::MaxNum if unsigned => "maxui",
            Kind::Min if unsigned => "minui",
            Kind::Max | Kind::MaxNum => "maxsi",
            Kind::Min => "minsi",
            Kind::And => "and",
            Kind::Or => "or",
        };
        let cx = b.cx();
        let parse = |text: &str| cx.parse_attr(text).unwrap_or_else(|| unreachable!("{text} is upstream's spelling"));
        let mut attrs: Vec<(&str, Attr<'c>)> = Vec::new();
        let kind = parse(&format!("#vector.kind<{kind}>"));
        attrs.push(("kind", kind));
        if self.element.is_float() && matches!(self.kind, Kind::Sum | Kind::Prod) {
            // Lanes are summed as a tree: the same order on every run, and more exact than one after the other.
            attrs.push(("fastmath", parse("#arith.fastmath<reassoc>")));
        }
        let ty = lanes.ty().element();
        b.value(vector::Reduction::NAME, &[lanes], ty, &attrs)
    }
}

/// Whether `new` displaces `best` in an argmax (or argmin): it is beyond it, or it is the first NaN.
pub fn better<'c>(b: &mut Builder<'c>, name: &str, element: ElementType, new: Value<'c>, best: Value<'c>) -> Value<'c> {
    let greater = name == "argmax";
    if element.is_float() {
        let beyond = test(b, arith::CmpF::NAME, if greater { OGT } else { 4 }, new, best);
        let new_nan = test(b, arith::CmpF::NAME, 14, new, new);
        let best_number = test(b, arith::CmpF::NAME, 7, best, best);
        let first_nan = arith::andi(b, new_nan, best_number);
        let beyond = arith::andi(b, beyond, best_number);
        return arith::ori(b, beyond, first_nan);
    }
    let unsigned = element.is_unsigned() || element == ElementType::Bool;
    let predicate = match (greater, unsigned) {
        (true, false) => 4,
        (true, true) => 8,
        (false, false) => 2,
        (false, true) => 6,
    };
    test(b, arith::CmpI::NAME, predicate, new, best)
}

/// Compares two elements, or those of two vectors, by `arith.cmpf` or `arith.cmpi`.
fn test<'c>(b: &mut Builder<'c>, op: &str, predicate: i64, lhs: Value<'c>, rhs: Value<'c>) -> Value<'c> {
    let cx = b.cx();
    let bits = if lhs.ty().is_vector() { cx.vector(&lhs.ty().shape(), cx.int(1)) } else { cx.int(1) };
    b.value(op, &[lhs, rhs], bits, &[("predicate", cx.i64_attr(predicate))])
}

/// A start value in every lane.
pub fn start_in_lanes<'c>(b: &mut Builder<'c>, start: Value<'c>, width: i64) -> Value<'c> {
    if width > 1 { broadcast(b, start, width) } else { start }
}
