//! Integers in lanes that no instruction divides: as floats that hold them exactly.
//!
//! A quotient of integers that is none itself is further from the next integer than a float's rounding reaches, as long as the float has a bit
//! more than the dividend. So the quotient of the floats, cut off, is that of the integers: in f32 for up to 16 bits, in f64 for 32 bits, and
//! for those of 64 bits in f64, too, where all lanes are small enough.

use super::bodies::Bodies;
use super::lanes::Lanes;
use super::libm::Function;
use super::special;
use super::with_element;
use strata_core::ir::{Builder, ElementType, Op, Type, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_core::upstream::{scf, vector};

/// The largest magnitude of integers that f64 divides.
const EXACT: i64 = 1 << 52;

/// Whether an op divides integers in lanes by what is no constant: products do that for constants.
pub(super) fn divides(op: Op<'_>) -> bool {
    let divides = matches!(op.name(), arith::DivSI::NAME | arith::DivUI::NAME | arith::RemSI::NAME | arith::RemUI::NAME);
    divides
        && op.operand(0).ty().rank() == 1
        && op.operand(0).ty().is_vector()
        && !op.operand(0).ty().is_index()
        && !is_constant(op.operand(1))
}

fn is_constant(value: Value<'_>) -> bool {
    let op = value.defining_op();
    op.is_some_and(|op| op.isa::<arith::Constant>() || op.isa::<vector::Broadcast>() && is_constant(op.operand(0)))
}

/// The quotient or remainder that an op stands for.
pub(super) fn divide<'c>(b: &mut Builder<'c>, op: Op<'c>) -> Value<'c> {
    let operands = [op.operand(0), op.operand(1)];
    let unsigned = matches!(op.name(), arith::DivUI::NAME | arith::RemUI::NAME);
    let whole = matches!(op.name(), arith::DivSI::NAME | arith::DivUI::NAME);
    let ty = op.operand(0).ty();
    let by_floats = |b: &mut Builder<'c>| {
        let float = if ty.element_type().is_some_and(|element| element.bits() <= 16) { b.cx().f32() } else { b.cx().f64() };
        let [lhs, rhs] = operands.map(|operand| to_float(b, operand, float, unsigned));
        let quotient = arith::divf(b, lhs, rhs);
        let quotient = if unsigned { arith::fptoui(b, quotient, ty) } else { arith::fptosi(b, quotient, ty) };
        if whole {
            return quotient;
        }
        let product = arith::muli(b, quotient, operands[1]);
        arith::subi(b, operands[0], product)
    };
    if ty.element_type().is_none_or(|element| element.bits() < 64) {
        return by_floats(b);
    }
    let exact = are_exact(b, &operands, unsigned);
    scf::choose(b, exact, ty, by_floats, |b| lane_by_lane(b, &operands, |b, scalars| b.value(op.name(), scalars, ty.element(), &[])))
}

fn to_float<'c>(b: &mut Builder<'c>, value: Value<'c>, float: Type<'c>, unsigned: bool) -> Value<'c> {
    let ty = with_element(value.ty(), float);
    if unsigned { arith::uitofp(b, value, ty) } else { arith::sitofp(b, value, ty) }
}

/// Whether the magnitudes of all lanes of vectors are such as f64 divides.
fn are_exact<'c>(b: &mut Builder<'c>, values: &[Value<'c>], unsigned: bool) -> Value<'c> {
    let mut number = |ty: Type<'c>, number: i64| {
        let number = b.const_int(ty.element(), number);
        vector::broadcast(b, number, ty)
    };
    let ty = values[0].ty();
    let (below, most) = (number(ty, EXACT), number(ty, if unsigned { EXACT } else { 2 * EXACT }));
    let tests = values.iter().map(|&value| {
        let value = if unsigned { value } else { arith::addi(b, value, below) };
        arith::cmpi(b, CmpIPredicate::Ule, value, most)
    });
    let tests: Vec<_> = tests.collect();
    let all = tests.into_iter().reduce(|lhs, rhs| arith::andi(b, lhs, rhs));
    let all = all.unwrap_or_else(|| b.const_int(b.cx().int(1), 1));
    vector::reduction(b, vector::CombiningKind::And, all)
}

/// What `f` makes of each lane of vectors of one type.
pub(super) fn lane_by_lane<'c>(
    b: &mut Builder<'c>,
    values: &[Value<'c>],
    mut f: impl FnMut(&mut Builder<'c>, &[Value<'c>]) -> Value<'c>,
) -> Value<'c> {
    (0..values[0].ty().shape()[0]).fold(values[0], |result, lane| {
        let scalars: Vec<_> = values.iter().map(|&value| vector::extract(b, value, lane)).collect();
        let value = f(b, &scalars);
        vector::insert(b, value, result, lane)
    })
}

impl<'c> Bodies<'c> {
    /// A function of integers of 64 bits: in f64 where all lanes are exact in it, else the runtime's.
    pub(super) fn of_integers(&mut self, b: &mut Builder<'c>, function: Function, operands: &[Value<'c>]) -> Value<'c> {
        let ty = operands[0].ty();
        if !ty.is_vector() {
            return self.library(b, function, operands);
        }
        let (exact, scalef) = (are_exact(b, operands, false), self.target.scalef);
        let by_floats = |b: &mut Builder<'c>| {
            let floats: Vec<_> = operands.iter().map(|&operand| to_float(b, operand, b.cx().f64(), false)).collect();
            let lanes = Lanes::new(b, floats[0].ty(), scalef);
            let value = special::expand(&lanes, function.name, &floats).unwrap_or(floats[0]);
            arith::fptosi(b, value, ty)
        };
        scf::choose(b, exact, ty, by_floats, |b| self.library(b, function, operands))
    }
}

/// Whether a function has such code for elements of a type.
pub(super) fn has(name: &str, element: Option<ElementType>) -> bool {
    special::INTEGER.contains(&name) && element == Some(ElementType::I64)
}
