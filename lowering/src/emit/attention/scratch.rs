//! Scratch memory of a tile, and arithmetic on it: on a scalar, or on as many lanes as there are now.

use super::Job;
use crate::emit::emitter::Emitter;
use crate::emit::lanes::in_lanes;
use crate::emit::memory;
use crate::num::Num;
use strata_core::ir::Value;
use strata_core::upstream::arith::{self, CmpFPredicate};

impl<'c> Emitter<'c> {
    /// Where the lanes of vector `number` of row `at` of scratch memory lie.
    pub(super) fn place(&mut self, job: &Job<'c>, at: Num<'c>, number: usize) -> Num<'c> {
        let row = at.mul(&mut self.b, Num::Const(job.online.rows));
        row.add(&mut self.b, Num::Const(number as i64 * job.online.width))
    }

    pub(super) fn put(&mut self, job: &Job<'c>, base: Value<'c>, at: Num<'c>, value: Value<'c>) {
        let width = self.width;
        if width == 1 {
            return memory::store(&mut self.b, base, at, value, job.element);
        }
        let value = in_lanes(&mut self.b, value, width);
        memory::store_vector(&mut self.b, base, at, value, job.element, None);
    }

    pub(super) fn get(&mut self, job: &Job<'c>, base: Value<'c>, at: Num<'c>) -> Value<'c> {
        match self.width {
            1 => memory::load(&mut self.b, base, at, job.element),
            width => memory::load_vector(&mut self.b, base, at, job.element, width, None),
        }
    }

    /// A number in all lanes.
    pub(super) fn number(&mut self, job: &Job<'c>, number: f64) -> Value<'c> {
        let scalar = self.b.const_float(self.cx.element(job.element), number);
        if self.width > 1 { memory::broadcast(&mut self.b, scalar, self.width) } else { scalar }
    }

    pub(crate) fn float(&mut self, name: &str, operands: &[Value<'c>]) -> Value<'c> {
        let width = self.width;
        let lanes = operands.iter().any(|operand| operand.ty().is_vector());
        let operands: Vec<_> =
            operands.iter().map(|&operand| if lanes { in_lanes(&mut self.b, operand, width) } else { operand }).collect();
        let ty = operands[0].ty();
        self.b.value(name, &operands, ty, &[])
    }

    /// `instead` where a value is this number.
    pub(crate) fn replaced(&mut self, value: Value<'c>, number: Value<'c>, instead: Value<'c>) -> Value<'c> {
        let test = arith::cmpf(&mut self.b, CmpFPredicate::Oeq, value, number);
        arith::select(&mut self.b, test, instead, value)
    }

    /// The larger of two numbers, and the first where the second is NaN.
    pub(crate) fn larger(&mut self, value: Value<'c>, other: Value<'c>) -> Value<'c> {
        let test = arith::cmpf(&mut self.b, CmpFPredicate::Ogt, other, value);
        arith::select(&mut self.b, test, other, value)
    }

    /// Some values as one, pairwise.
    pub(super) fn tree(&mut self, parts: &[Value<'c>], join: fn(&mut Self, Value<'c>, Value<'c>) -> Value<'c>) -> Value<'c> {
        match parts {
            [part] => *part,
            _ => {
                let (left, right) = parts.split_at(parts.len() / 2);
                let (left, right) = (self.tree(left, join), self.tree(right, join));
                join(self, left, right)
            }
        }
    }
}

/// A value in all lanes there are.
pub(super) fn in_lanes_of<'c>(emitter: &mut Emitter<'c>, value: Value<'c>) -> Value<'c> {
    let width = emitter.width;
    if width > 1 { in_lanes(&mut emitter.b, value, width) } else { value }
}
