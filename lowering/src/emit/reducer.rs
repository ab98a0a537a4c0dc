//! Combining elements: where a reduction starts, how two elements become one, how the lanes of a vector become one.

use super::complex_lanes;
use super::memory::broadcast;
use strata_core::ir::{Builder, ElementType, Value};
use strata_core::upstream::arith::{self, CmpFPredicate, CmpIPredicate};
use strata_core::upstream::llvm::AtomicBinOp;
use strata_core::upstream::vector::{self, CombiningKind};
use strata_core::upstream::{complex, math};
use strata_dialects::loops::elements::register_type;

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
    /// The least number, whatever is NaN beside it.
    MinNum,
    And,
    Or,
    Xor,
    /// The logarithm of the sum of exponentials; only scans have it.
    LogAddExp,
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
            "xor" => Kind::Xor,
            "logaddexp" if element.is_float() => Kind::LogAddExp,
            _ => return None,
        };
        Some(Self { kind, element })
    }

    /// The same of numbers alone, where that takes less: of floats in registers of their own, NaN may be looked for apart.
    pub fn of_numbers(self) -> Option<Self> {
        let kind = match self.kind {
            Kind::Max => Kind::MaxNum,
            Kind::Min => Kind::MinNum,
            _ => return None,
        };
        matches!(self.element, ElementType::F32 | ElementType::F64).then_some(Self { kind, ..self })
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
                Kind::Max | Kind::MaxNum | Kind::LogAddExp => f64::NEG_INFINITY,
                Kind::Min | Kind::MinNum => f64::INFINITY,
                _ => 0.0,
            };
            return b.const_float(ty, start);
        }
        let bits = self.element.bits();
        let unsigned = self.element.is_unsigned() || self.element == ElementType::Bool;
        let start = match self.kind {
            Kind::Sum | Kind::Or | Kind::Xor | Kind::LogAddExp => 0,
            Kind::Prod => 1,
            Kind::And => -1,
            Kind::Max | Kind::MaxNum if unsigned => 0,
            Kind::Min | Kind::MinNum if unsigned => -1,
            Kind::Max | Kind::MaxNum => i64::MIN >> (64 - bits),
            Kind::Min | Kind::MinNum => i64::MAX >> (64 - bits),
        };
        b.const_int(ty, if bits == 1 { start & 1 } else { start })
    }

    /// Two elements (or vectors of them) as one, the first of which is what was combined before.
    pub fn combine<'c>(self, b: &mut Builder<'c>, lhs: Value<'c>, rhs: Value<'c>) -> Value<'c> {
        let beyond = match self.kind {
            Kind::MaxNum => Some(CmpFPredicate::Ogt),
            Kind::MinNum => Some(CmpFPredicate::Olt),
            _ => None,
        };
        if let Some(beyond) = beyond.filter(|_| self.element.is_float()) {
            // What was combined before is a number; then this is right, and one instruction.
            let wins = arith::cmpf(b, beyond, rhs, lhs);
            return arith::select(b, wins, rhs, lhs);
        }
        if self.kind == Kind::LogAddExp {
            return log_add_exp(b, lhs, rhs);
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
            Kind::Min | Kind::MinNum if unsigned => arith::MinUI::NAME,
            Kind::Max | Kind::MaxNum => arith::MaxSI::NAME,
            Kind::Min | Kind::MinNum => arith::MinSI::NAME,
            Kind::And => arith::AndI::NAME,
            Kind::Or | Kind::LogAddExp => arith::OrI::NAME,
            Kind::Xor => arith::XOrI::NAME,
        };
        let ty = lhs.ty();
        if self.element.is_complex() && ty.is_vector() {
            return complex_lanes::combine(b, name, lhs, rhs);
        }
        b.value(name, &[lhs, rhs], ty, &[])
    }

    /// LLVM's atomic operation that combines so, if there is one.
    pub fn atomic(self) -> Option<AtomicBinOp> {
        let (float, signed) = (self.element.is_float(), self.element.is_signed());
        match self.kind {
            Kind::Sum if float => Some(AtomicBinOp::FAdd),
            Kind::Sum if signed => Some(AtomicBinOp::Add),
            Kind::Max if signed => Some(AtomicBinOp::Max),
            Kind::Min if signed => Some(AtomicBinOp::Min),
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

    /// All lanes of each of some vectors as one element. They share registers on the way: four vectors of 16 lanes take five steps, and 16 one by one.
    pub fn across_each<'c>(self, b: &mut Builder<'c>, mut vectors: Vec<Value<'c>>) -> Vec<Value<'c>> {
        let count = vectors.len() as i64;
        let width = vectors.first().and_then(|vector| vector.ty().shape().last().copied()).unwrap_or_default();
        let has_shuffles = (self.element.is_float() || self.element.is_integer()) && self.kind != Kind::LogAddExp;
        let fits = (2..=width).contains(&count) && [width, count].into_iter().all(|number| number & (number - 1) == 0);
        if !has_shuffles || !fits {
            return vectors.into_iter().map(|lanes| self.across(b, lanes)).collect();
        }
        // Lanes that each of the first vectors has left in one.
        let mut left = width;
        while vectors.len() > 1 {
            left /= 2;
            let mut halves = |pair: &[Value<'c>]| {
                let [low, high] =
                    [0, 1].map(|half| vector::shuffle(b, pair[0], pair[1], (0..2 * width).filter(|lane| lane / left % 2 == half)));
                self.combine(b, low, high)
            };
            vectors = vectors.chunks(2).map(&mut halves).collect();
        }
        let mut lanes = vectors[0];
        while left > 1 {
            left /= 2;
            let other = vector::shuffle(b, lanes, lanes, (0..width).map(|lane| lane ^ left));
            lanes = self.combine(b, lanes, other);
        }
        (0..count).map(|row| vector::extract(b, lanes, row * (width / count))).collect()
    }

    /// All lanes of a vector as one element.
    pub fn across<'c>(self, b: &mut Builder<'c>, lanes: Value<'c>) -> Value<'c> {
        if self.element.is_complex() {
            let name = if self.kind == Kind::Sum { complex::Add::NAME } else { complex::Mul::NAME };
            return complex_lanes::across(b, name, lanes, self.element);
        }
        let unsigned = self.element.is_unsigned() || self.element == ElementType::Bool;
        let bool = self.element == ElementType::Bool;
        let kind = match self.kind {
            Kind::Sum if bool => CombiningKind::Or,
            Kind::Prod if bool => CombiningKind::And,
            Kind::Sum => CombiningKind::Add,
            Kind::Prod => CombiningKind::Mul,
            Kind::Max if self.element.is_float() => CombiningKind::MaximumF,
            Kind::MaxNum if self.element.is_float() => CombiningKind::MaxNumF,
            Kind::Min if self.element.is_float() => CombiningKind::MinimumF,
            Kind::MinNum if self.element.is_float() => CombiningKind::MinNumF,
            Kind::Max | Kind::MaxNum if unsigned => CombiningKind::MaxUI,
            Kind::Min | Kind::MinNum if unsigned => CombiningKind::MinUI,
            Kind::Max | Kind::MaxNum => CombiningKind::MaxSI,
            Kind::Min | Kind::MinNum => CombiningKind::MinSI,
            Kind::And => CombiningKind::And,
            Kind::Or | Kind::LogAddExp => CombiningKind::Or,
            Kind::Xor => CombiningKind::Xor,
        };
        match kind {
            // Lanes are summed as a tree: the same order on every run, and more exact than one after the other.
            CombiningKind::Add | CombiningKind::Mul if self.element.is_float() => vector::reduction_as_tree(b, kind, lanes),
            _ => vector::reduction(b, kind, lanes),
        }
    }
}

/// `max(x, y) + log1p(exp(min(x, y) - max(x, y)))`, and an infinity where both are it.
fn log_add_exp<'c>(b: &mut Builder<'c>, x: Value<'c>, y: Value<'c>) -> Value<'c> {
    let ty = x.ty();
    let mut op = |name: &str, operands: &[Value<'c>]| b.value(name, operands, ty, &[]);
    let most = op(arith::MaximumF::NAME, &[x, y]);
    let least = op(arith::MinimumF::NAME, &[x, y]);
    let apart = op(arith::SubF::NAME, &[least, most]);
    let ratio = op(math::Exp::NAME, &[apart]);
    let more = op(math::Log1p::NAME, &[ratio]);
    let sum = op(arith::AddF::NAME, &[most, more]);
    // Equal infinities have no difference; what is NaN differs from itself.
    let finite = op(arith::SubF::NAME, &[most, most]);
    let same = arith::cmpf(b, CmpFPredicate::Oeq, least, most);
    let infinite = arith::cmpf(b, CmpFPredicate::Uno, finite, finite);
    let both = arith::andi(b, same, infinite);
    arith::select(b, both, most, sum)
}

/// Whether `new` displaces `best` in an argmax (or argmin): it is beyond it, or it is the first NaN.
pub fn better<'c>(b: &mut Builder<'c>, name: &str, element: ElementType, new: Value<'c>, best: Value<'c>) -> Value<'c> {
    let greater = name == "argmax";
    if element.is_float() {
        let beyond = arith::cmpf(b, if greater { CmpFPredicate::Ogt } else { CmpFPredicate::Olt }, new, best);
        let new_nan = arith::cmpf(b, CmpFPredicate::Uno, new, new);
        let best_number = arith::cmpf(b, CmpFPredicate::Ord, best, best);
        let first_nan = arith::andi(b, new_nan, best_number);
        let beyond = arith::andi(b, beyond, best_number);
        return arith::ori(b, beyond, first_nan);
    }
    let unsigned = element.is_unsigned() || element == ElementType::Bool;
    let predicate = match (greater, unsigned) {
        (true, false) => CmpIPredicate::Sgt,
        (true, true) => CmpIPredicate::Ugt,
        (false, false) => CmpIPredicate::Slt,
        (false, true) => CmpIPredicate::Ult,
    };
    arith::cmpi(b, predicate, new, best)
}

/// A start value in every lane.
pub fn start_in_lanes<'c>(b: &mut Builder<'c>, start: Value<'c>, width: i64) -> Value<'c> {
    if width > 1 { broadcast(b, start, width) } else { start }
}
