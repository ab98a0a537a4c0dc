//! Loop nests: unrolled, with lanes along one dim, with remainders, carrying values.

use super::Error;
use super::compared::compare_lanes;
use super::emitter::Emitter;
use super::lanes::{Coord, InBlock, Point};
use crate::num::Num;
use strata_core::ir::{OpSpec, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_core::upstream::scf;

/// Blocks of this size or more have smaller ones beside them, for dims of unknown size that may not fill one.
const LARGE_BLOCK: i64 = 16;
/// Blocks of such a dim in the room of a large one.
const BLOCKS_OF_A_LARGE_ONE: i64 = 4;

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
    /// What happens at the end of the range.
    pub tail: Tail<'c>,
    /// The range begins at a multiple of a step.
    pub aligned: bool,
}

impl Loop<'_> {
    /// The distance of its ends, where that is known.
    pub fn steps(&self) -> Option<i64> {
        match self.range {
            (Num::Const(begin), Num::Const(end)) => Some(end - begin),
            _ => self.length,
        }
    }
}

/// What happens to indices that do not fill a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail<'c> {
    /// There are none.
    None,
    /// A loop of single indices, or of single vectors, follows.
    Loop,
    /// Lanes beyond the end are off, in every step.
    Mask,
    /// The last step begins earlier, so that it ends where the dim of this size ends: some indices are done twice.
    Overlap(Num<'c>),
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
    /// Which of its lanes are on, when not all.
    pub mask: Option<Value<'c>>,
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
        if rest.is_empty() && self.distributes(first, copies) {
            return self.strips(first, copies, carried, body);
        }
        if let Some(carried) = self.around_inside(loops, copies, &carried, body)? {
            return Ok(carried);
        }
        let (begin, end) = first.range;
        let step = first.width * first.unroll;
        let whole = match first.tail {
            Tail::None | Tail::Mask => end,
            _ if step == 1 => end,
            Tail::Overlap(size) => self.end_if(size, step, (begin, end)),
            Tail::Loop => {
                let length = first.length.map_or_else(|| end.sub(&mut self.b, begin), Num::Const);
                let count = length.floor_div(&mut self.b, Num::Const(step));
                let covered = count.mul(&mut self.b, Num::Const(step));
                if covered == length { end } else { begin.add(&mut self.b, covered) }
            }
        };
        let width = self.width;
        self.width = if first.width > 1 { first.width } else { width };
        let (begin, stride) = self.shared(first.dim, begin, step);
        let carried = self.repeat(begin, whole, stride, carried, &mut |emitter, at, carried| {
            let at = match first.tail {
                Tail::Overlap(size) => {
                    let last = size.sub(&mut emitter.b, Num::Const(step));
                    at.min(&mut emitter.b, last)
                }
                _ => at,
            };
            let masked = (first.tail == Tail::Mask).then_some(end);
            let copies = emitter.advance(first, copies, at, first.unroll, masked);
            emitter.nest(rest, &copies, carried, body)
        })?;
        self.width = width;
        if let Tail::Overlap(Num::Value(_)) = first.tail
            && first.unroll >= LARGE_BLOCK
        {
            // (Where the dim fills a block, nothing is left for the smaller ones.)
            let shorter = Loop { unroll: first.unroll / BLOCKS_OF_A_LARGE_ONE, range: (whole, end), aligned: false, ..*first };
            return self.nest(&[&[shorter], rest].concat(), copies, carried, body);
        }
        self.edge(first, copies, (whole, end), carried, &mut |emitter, copies, carried| emitter.nest(rest, copies, carried, body))
    }

    /// What is left over from `begin` to `end`, with the lanes on that lie before the end: one copy of `body` at a time, or one more
    /// block when its length is known: copies side by side hide each other's latency here as they do in the loop.
    pub(super) fn edge(
        &mut self,
        lp: &Loop<'c>,
        copies: &[Copy<'c>],
        (begin, end): (Num<'c>, Num<'c>),
        carried: Vec<Value<'c>>,
        body: &mut Body<'_, 'c>,
    ) -> Result<Vec<Value<'c>>, Error> {
        if begin == end {
            return Ok(carried);
        }
        let width = self.width;
        self.width = if lp.width > 1 { lp.width } else { width };
        let together = match (begin, end) {
            (Num::Const(begin), Num::Const(end)) if lp.width == 1 && carried.is_empty() => (end - begin).max(1),
            (Num::Const(begin), Num::Const(end)) if lp.width > 1 => ((end - begin + lp.width - 1) / lp.width).clamp(1, lp.unroll),
            _ => 1,
        };
        // The loop ended at a multiple of its step, which is one of this step only if the one divides the other.
        let lp = &Loop { aligned: lp.aligned && lp.unroll % together == 0, ..*lp };
        let (begin, stride) = self.shared(lp.dim, begin, lp.width * together);
        let carried = self.repeat(begin, end, stride, carried, &mut |emitter, at, carried| {
            let copies = emitter.advance(lp, copies, at, together, (lp.width > 1).then_some(end));
            body(emitter, &copies, carried)
        })?;
        self.width = width;
        Ok(carried)
    }

    /// Where this thread begins and how far its steps are apart, in a loop that begins here and has this step: threads of a cooperative block take
    /// turns.
    fn shared(&mut self, dim: usize, begin: Num<'c>, step: i64) -> (Num<'c>, i64) {
        let Some(block) = self.cooperative.as_ref().filter(|block| block.dim == Some(dim)) else { return (begin, step) };
        let (thread, count) = (Num::Value(block.thread), block.count);
        let ahead = thread.mul(&mut self.b, Num::Const(step));
        (begin.add(&mut self.b, ahead), step * count)
    }

    /// Where steps stop when the last one may begin earlier: at the end, or nowhere when the dim is shorter than a step.
    fn end_if(&mut self, size: Num<'c>, step: i64, (begin, end): (Num<'c>, Num<'c>)) -> Num<'c> {
        match size {
            Num::Const(size) => {
                if size >= step {
                    end
                } else {
                    begin
                }
            }
            Num::Value(size) => {
                let (step, begin, end) = (self.b.const_index(step), begin.value(&mut self.b), end.value(&mut self.b));
                let enough = arith::cmpi(&mut self.b, CmpIPredicate::Sge, size, step);
                Num::Value(arith::select(&mut self.b, enough, end, begin))
            }
        }
    }

    /// The copies of one iteration at `at`; lanes from `masked` on are off.
    fn advance(&mut self, lp: &Loop<'c>, copies: &[Copy<'c>], at: Num<'c>, unroll: i64, masked: Option<Num<'c>>) -> Vec<Copy<'c>> {
        let mut turns = Vec::new();
        for turn in 0..unroll {
            let base = at.add(&mut self.b, Num::Const(turn * lp.width));
            let block = lp.aligned.then_some(InBlock { start: at, size: unroll * lp.width, offset: turn * lp.width });
            let mask = masked.filter(|end| !fills(base, *end, lp.width)).map(|end| self.lanes_left(base, end, lp.width));
            turns.push((Coord { base, lanes: lp.width > 1, block }, mask));
        }
        let mut advanced = Vec::new();
        for copy in copies {
            for (turn, (coord, mask)) in turns.iter().enumerate() {
                let mut point = copy.point.clone();
                point[lp.dim] = Some(*coord);
                let slot = copy.slot * lp.unroll as usize + turn;
                advanced.push(Copy { point, outer: copy.outer, slot, mask: mask.or(copy.mask) });
            }
        }
        advanced
    }

    /// Which lanes from `at` on lie before `end`.
    pub(super) fn lanes_left(&mut self, at: Num<'c>, end: Num<'c>, width: i64) -> Value<'c> {
        let left = end.sub(&mut self.b, at);
        compare_lanes(&mut self.b, CmpIPredicate::Slt, left, width)
    }

    /// One loop with a step, or what is left of it when its bounds are known: nothing, or its body once.
    pub(crate) fn repeat(
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
        let op = self.b.op(OpSpec { name: scf::For::NAME, operands: &operands, results: &types, regions: 1, ..OpSpec::default() });
        let arguments = [&[self.cx.index()], types.as_slice()].concat();
        let block = op.region(0).append_block(&arguments, self.b.location());
        self.in_block(block, |emitter| {
            let arguments = block.args();
            let carried = body(emitter, Num::Value(arguments[0]), arguments[1..].to_vec())?;
            scf::yield_(&mut emitter.b, &carried);
            Ok(op.results())
        })
    }
}

/// Whether a vector from `at` on is known to end before `end`.
fn fills(at: Num<'_>, end: Num<'_>, width: i64) -> bool {
    matches!((at, end), (Num::Const(at), Num::Const(end)) if at + width <= end)
}
