//! Comparisons of indices that step from lane to lane with what is the same in all lanes.
//!
//! `j - i < 2` with lanes along `j` is a comparison of the lanes' numbers 0, 1, 2, ... with one number, `i + 2 - j`. Both fit few bits,
//! however long a dim is: a mask of triangles or of a border is one comparison of small integers, as wide as the lanes of data are.

use super::emitter::Emitter;
use super::lanes::{Across, Index};
use super::memory::broadcast;
use super::nest::Copy;
use crate::num::Num;
use strata_core::ir::{Builder, Op, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_core::upstream::vector;
use strata_dialects::loops::growth::step;

/// Bits that the numbers of all lanes fill at most, those of an AVX2 register: they are no wider than what the lanes are of.
const REGISTER_BITS: i64 = 256;

/// A bound that indices never reach, beyond which a number may be cut off: sums and differences of such numbers do not wrap around.
const FAR: i64 = 1 << 61;

impl<'c> Emitter<'c> {
    /// A comparison of a body, where one of its operands steps by one from lane to lane and the other one is the same in all lanes.
    pub(super) fn compared(&mut self, op: Op<'c>, operands: &[Value<'c>], copy: &Copy<'c>) -> Option<Value<'c>> {
        let predicate = CmpIPredicate::of(op).filter(|predicate| !predicate.is_unsigned())?;
        let along = copy.point.iter().position(|coord| coord.is_some_and(|coord| coord.lanes))?;
        let steps = |at: usize| operands[at].ty().is_vector() && step(op.operand(at), along).is_some();
        let (predicate, stepping, uniform) = match (steps(0), steps(1)) {
            (true, false) if !operands[1].ty().is_vector() => (predicate, 0, 1),
            (false, true) if !operands[0].ty().is_vector() => (predicate.swapped(), 1, 0),
            _ => return None,
        };
        let index = self.stepping.get(&operands[stepping]).copied()?;
        let bound = self.as_index(operands[uniform])?;
        let bound = if step(op.operand(uniform), along).is_some() { bound } else { bounded(&mut self.b, bound, -FAR, FAR) };
        step_compare(&mut self.b, predicate, index, bound, self.width)
    }

    /// What is the same in all lanes as an index; nothing where it is no constant, and no integer of 32 bits or more.
    pub(super) fn as_index(&mut self, value: Value<'c>) -> Option<Num<'c>> {
        let index = self.cx.index();
        if value.ty().is_index() || matches!(Num::of(value), Num::Const(_)) {
            return Some(Num::of(value));
        }
        let bits = value.ty().element_type()?.bits();
        (bits >= 32 && value.ty().element_type()?.is_integer())
            .then(|| Num::Value(self.b.value(arith::IndexCast::NAME, &[value], index, &[])))
    }
}

/// Compares an index that steps by one, up or down, with a bound.
fn step_compare<'c>(b: &mut Builder<'c>, predicate: CmpIPredicate, index: Index<'c>, bound: Num<'c>, width: i64) -> Option<Value<'c>> {
    // base + lane < bound is lane < bound - base; base - lane < bound is lane > base - bound.
    let (predicate, bound) = match index.across {
        Across::Step(Num::Const(1)) => (predicate, bound.sub(b, index.base)),
        Across::Step(Num::Const(-1)) => (predicate.swapped(), index.base.sub(b, bound)),
        _ => return None,
    };
    Some(compare_lanes(b, predicate, bound, width))
}

/// Compares the lanes' numbers 0, 1, 2, ... with a bound.
pub(super) fn compare_lanes<'c>(b: &mut Builder<'c>, predicate: CmpIPredicate, bound: Num<'c>, width: i64) -> Value<'c> {
    // Signed numbers of the lanes and of the bound behind them.
    let least = if width > 64 { 16 } else { 8 };
    let scalar = b.cx().int((REGISTER_BITS / width).clamp(least, 32) as u32);
    let bound = bounded(b, bound, -1, width).value(b);
    let bound = b.value(arith::IndexCast::NAME, &[bound], scalar, &[]);
    let bound = broadcast(b, bound, width);
    let (lanes, numbers) = (b.cx().vector(&[width], b.cx().index()), b.cx().vector(&[width], scalar));
    let lanes = vector::step(b, lanes);
    let lanes = b.value(arith::IndexCast::NAME, &[lanes], numbers, &[]);
    arith::cmpi(b, predicate, lanes, bound)
}

fn bounded<'c>(b: &mut Builder<'c>, number: Num<'c>, least: i64, most: i64) -> Num<'c> {
    number.max(b, Num::Const(least)).min(b, Num::Const(most))
}
