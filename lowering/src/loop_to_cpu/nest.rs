//! Loop nests: unrolled, with lanes along one dim, with remainders, carrying values.

use super::emitter::Emitter;
use super::lanes::{Coord, Point};
use super::{Error, memory};
use crate::num::Num;
use strata_core::ir::{OpSpec, Value};

/// One loop of a nest.
#[derive(Clone, Copy, Debug)]
pub struct Loop<'c> {
    /// The kernel dim.
    pub dim: usize,
    /// Lanes along the dim; one when there are none.
    pub width: i64,
    /// Copies of the body per iteration.
    pub unroll: i64,
    /// First and one past the last index.
    pub range: (Num<'c>, Num<'c>),
    /// Their distance, where it is known although they are not.
    pub length: Option<i64>,
}

/// One copy of a body.
#[derive(Clone, Debug)]
pub struct Copy<'c> {
    /// Where it stands.
    pub point: Point<'c>,
    /// Which copy of the outer loops it belongs to.
    pub outer: usize,
    /// Which copy of the present nest it is.
    pub slot: usize,
}

/// What runs inside a nest: the copies and the carried values, giving the carried values of the next iteration.
pub type Body<'a, 'c> = dyn FnMut(&mut Emitter<'c>, &[Copy<'c>], Vec<Value<'c>>) -> Result<Vec<Value<'c>>, Error> + 'a;

/// One turn of a loop: its index and the carried values.
type Turn<'a, 'c> = dyn FnMut(&mut Emitter<'c>, Num<'c>, Vec<Value<'c>>) -> Result<Vec<Value<'c>>, Error> + 'a;

impl<'c> Emitter<'c> {
    /// Writes the loops around `body`.
    pub fn nest(
        &mut self,
        loops: &[Loop<'c>],
        copies: &[Copy<'c>],
        carried: Vec<Value<'c>>,
        body: &mut Body<'_, 'c>,
    ) -> Result<Vec<Value<'c>>, Error> {
        let Some((first, rest)) = loops.split_first() else {
            return body(self, copies, carried);
        };
        let (begin, end) = first.range;
        let step = first.width * first.unroll;
        let whole = if step == 1 {
            end
        } else {
            let length = first.length.map_or_else(|| end.sub(&mut self.b, begin), Num::Const);
            let count = length.floor_div(&mut self.b, Num::Const(step));
            let covered = count.mul(&mut self.b, Num::Const(step));
            if covered == length { end } else { begin.add(&mut self.b, covered) }
        };
        let width = self.width;
        self.width = if first.width > 1 { first.width } else { width };
        let carried = self.repeat(begin, whole, step, carried, &mut |emitter, at, carried| {
            let copies = emitter.advance(first, copies, at, first.unroll);
            emitter.nest(rest, &copies, carried, body)
        })?;
        // What is left over is one more block when its length is known.
        let rest_of = match (whole, end) {
            (Num::Const(whole), Num::Const(end)) if first.width == 1 && carried.is_empty() => (end - whole).max(1),
            _ => 1,
        };
        let carried = self.repeat(whole, end, first.width * rest_of, carried, &mut |emitter, at, carried| {
            let copies = emitter.advance(first, copies, at, rest_of);
            let mask = if first.width > 1 { Some(emitter.lanes_left(at, end, first.width)) } else { emitter.mask };
            let mask = std::mem::replace(&mut emitter.mask, mask);
            let carried = emitter.nest(rest, &copies, carried, body)?;
            emitter.mask = mask;
            Ok(carried)
        })?;
        self.width = width;
        Ok(carried)
    }

    /// The copies of one iteration at `at`.
    fn advance(&mut self, lp: &Loop<'c>, copies: &[Copy<'c>], at: Num<'c>, unroll: i64) -> Vec<Copy<'c>> {
        let mut advanced = Vec::new();
        for copy in copies {
            for turn in 0..unroll {
                let base = at.add(&mut self.b, Num::Const(turn * lp.width));
                let mut point = copy.point.clone();
                point[lp.dim] = Some(Coord { base, lanes: lp.width > 1 });
                advanced.push(Copy { point, outer: copy.outer, slot: copy.slot * lp.unroll as usize + turn as usize });
            }
        }
        advanced
    }

    /// Which lanes from `at` on lie before `end`.
    fn lanes_left(&mut self, at: Num<'c>, end: Num<'c>, width: i64) -> Value<'c> {
        let cx = self.cx;
        let left = end.sub(&mut self.b, at).value(&mut self.b);
        let left = memory::broadcast(&mut self.b, left, width);
        let steps = self.b.value("vector.step", &[], cx.vector(&[width], cx.index()), &[]);
        let less = cx.i64_attr(2);
        self.b.value("arith.cmpi", &[steps, left], cx.vector(&[width], cx.int(1)), &[("predicate", less)])
    }

    /// One loop, or what is left of it when its bounds are known: nothing, or its body once.
    fn repeat(
        &mut self,
        begin: Num<'c>,
        end: Num<'c>,
        step: i64,
        carried: Vec<Value<'c>>,
        body: &mut Turn<'_, 'c>,
    ) -> Result<Vec<Value<'c>>, Error> {
        if begin == end {
            return Ok(carried);
        }
        if let (Num::Const(first), Num::Const(last)) = (begin, end) {
            if first >= last {
                return Ok(carried);
            }
            if last - first <= step {
                return body(self, begin, carried);
            }
        }
        let (lower, upper) = (begin.value(&mut self.b), end.value(&mut self.b));
        let step = self.b.const_index(step);
        let operands = [&[lower, upper, step], carried.as_slice()].concat();
        let types: Vec<_> = carried.iter().map(|value| value.ty()).collect();
        let op = self.b.op(OpSpec { name: "scf.for", operands: &operands, results: &types, regions: 1, ..OpSpec::default() });
        let arguments = [&[self.cx.index()], types.as_slice()].concat();
        let block = op.region(0).append_block(&arguments, self.b.location());
        let around = std::mem::replace(&mut self.block, block);
        self.b.set_at_end(block);
        let arguments = block.args();
        let carried = body(self, Num::Value(arguments[0]), arguments[1..].to_vec())?;
        self.b.effect("scf.yield", &carried, &[]);
        self.block = around;
        self.b.set_at_end(around);
        Ok(op.results())
    }
}
