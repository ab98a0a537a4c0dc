//! Scans by all threads of a block: a stretch of a row at a time, of which each thread has some neighbours.
//!
//! A thread combines its own elements, lanes what those before them have found, warps what the warps before them have; what the whole
//! stretch comes to is carried to the next one.

use super::cooperative_block::CooperativeBlock;
use super::shuffle::from_lane_across;
use crate::emit::Error;
use crate::emit::emitter::Emitter;
use crate::emit::lanes::Coord;
use crate::emit::memory;
use crate::emit::nest::Copy;
use crate::emit::reducer::Reducer;
use crate::num::Num;
use strata_core::ir::{ElementType, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_dialects::loops::view::StageView;
use strata_dialects::target::gpu::WARP;

/// What a scan combines, and the element types in which it does and in which results are stored.
#[derive(Clone, Copy)]
pub struct Scan {
    /// The dim along which it goes.
    pub dim: usize,
    /// How two elements become one.
    pub reducer: Reducer,
    /// The type of sums.
    pub accumulated: ElementType,
    /// The type of the result.
    pub to: ElementType,
}

impl<'c> Emitter<'c> {
    /// A scan at a point of the outer loops, when the threads share the dim along which it goes.
    pub(crate) fn block_scan(&mut self, stage: &StageView<'c>, copy: &Copy<'c>, scan: Scan) -> Result<bool, Error> {
        let Some(block) = self.cooperative.filter(|block| block.dim == Some(scan.dim)) else { return Ok(false) };
        let each = if self.wide { stage.schedule().unroll.unwrap_or(1) } else { 1 };
        let (size, step) = (self.sizes[scan.dim], block.count * each);
        let whole = size.floor_div(&mut self.b, Num::Const(step)).mul(&mut self.b, Num::Const(step));
        let start = scan.reducer.start(&mut self.b);
        let carried = self.repeat(Num::Const(0), whole, step, vec![start], &mut |emitter, at, carried| {
            let first = emitter.my_first(block, at, each);
            let copies = emitter.neighbours(copy, scan.dim, first, each);
            Ok(vec![emitter.stretch(stage, scan, block, (&copies, copy.outer), &vec![None; each as usize], carried[0])?])
        })?;
        if whole == size {
            return Ok(true);
        }
        // The end of the row does not fill a stretch: what is beyond stands at the last element, and adds nothing.
        self.repeat(whole, size, step, carried, &mut |emitter, at, carried| {
            let first = emitter.my_first(block, at, each);
            let last = size.sub(&mut emitter.b, Num::Const(1));
            let (mut copies, mut there) = (Vec::new(), Vec::new());
            for k in 0..each {
                let at = first.add(&mut emitter.b, Num::Const(k));
                there.push(emitter.below(None, at, size, i64::MAX));
                let mut copy = copy.clone();
                copy.point[scan.dim] = Some(Coord { base: at.min(&mut emitter.b, last), lanes: false, block: None });
                copies.push(copy);
            }
            Ok(vec![emitter.stretch(stage, scan, block, (&copies, copy.outer), &there, carried[0])?])
        })?;
        Ok(true)
    }

    /// The first of a thread's neighbours in a stretch.
    fn my_first(&mut self, block: CooperativeBlock<'c>, at: Num<'c>, each: i64) -> Num<'c> {
        let ahead = Num::Value(block.thread).mul(&mut self.b, Num::Const(each));
        at.add(&mut self.b, ahead)
    }

    /// One stretch, of whose elements those that are there count; gives what all up to its end come to.
    fn stretch(
        &mut self,
        stage: &StageView<'c>,
        scan: Scan,
        block: CooperativeBlock<'c>,
        (copies, outer): (&[Copy<'c>], usize),
        there: &[Option<Value<'c>>],
        carried: Value<'c>,
    ) -> Result<Value<'c>, Error> {
        let copies: Vec<_> = copies.iter().map(|copy| Copy { outer, ..copy.clone() }).collect();
        let start = scan.reducer.start(&mut self.b);
        self.reads.clear();
        let mut sums: Vec<Value<'c>> = Vec::new();
        for (yields, there) in self.bodies(stage, &copies)?.into_iter().zip(there) {
            let mut value = yields[0];
            if let Some(there) = there {
                value = arith::select(&mut self.b, *there, value, start);
            }
            sums.push(sums.last().map_or(value, |&before| scan.reducer.combine(&mut self.b, before, value)));
        }
        let mine = sums.last().copied().ok_or_else(|| Error::at(stage.op, "it has no elements"))?;
        let (before, all) = self.before_me(scan, block, mine);
        let before = scan.reducer.combine(&mut self.b, carried, before);
        let mut results = Vec::new();
        for sum in sums {
            let sum = scan.reducer.combine(&mut self.b, before, sum);
            results.push(self.narrow(sum, scan.accumulated, scan.to));
        }
        let result = stage.op.result(0);
        if !self.write_wide(stage, result, &copies, &results) {
            for ((copy, &value), &there) in copies.iter().zip(&results).zip(there) {
                match there {
                    Some(there) => self.when(there, |emitter| emitter.write(stage, result, copy, value))?,
                    None => self.write(stage, result, copy, value)?,
                }
            }
        }
        self.reads.clear();
        Ok(scan.reducer.combine(&mut self.b, carried, all))
    }

    /// What the threads before this one have, combined, and what all have.
    fn before_me(&mut self, scan: Scan, block: CooperativeBlock<'c>, mine: Value<'c>) -> (Value<'c>, Value<'c>) {
        let lane = Num::Value(block.thread).modulo(&mut self.b, Num::Const(WARP));
        let (mut before, mut all) = (scan.reducer.start(&mut self.b), mine);
        let mut distance = 1;
        // Groups of lanes that stand side by side become one of twice as many: those of the second have those of the first before them.
        while distance < WARP {
            let other = from_lane_across(&mut self.b, all, distance);
            let half = lane.floor_div(&mut self.b, Num::Const(distance)).modulo(&mut self.b, Num::Const(2));
            let first = self.is_zero(half);
            let [later, earlier] = [scan.reducer.combine(&mut self.b, other, before), scan.reducer.combine(&mut self.b, other, all)];
            let ahead = scan.reducer.combine(&mut self.b, all, other);
            before = arith::select(&mut self.b, first, before, later);
            all = arith::select(&mut self.b, first, ahead, earlier);
            distance *= 2;
        }
        let warps = block.count / WARP;
        if warps <= 1 {
            return (before, all);
        }
        let warp = Num::Value(block.thread).floor_div(&mut self.b, Num::Const(WARP));
        let writes = self.is_zero(lane);
        self.when(writes, |emitter| {
            let at = emitter.part(block, warp, 0);
            memory::store(&mut emitter.b, at, Num::Const(0), all, scan.accumulated);
        });
        self.barrier();
        let mut total = scan.reducer.start(&mut self.b);
        let mut earlier = total;
        for number in 0..warps {
            let at = self.part(block, Num::Const(number), 0);
            let part = memory::load(&mut self.b, at, Num::Const(0), scan.accumulated);
            total = scan.reducer.combine(&mut self.b, total, part);
            let (mine, last) = (warp.value(&mut self.b), self.b.const_index(number));
            let counts = arith::cmpi(&mut self.b, CmpIPredicate::Ult, last, mine);
            earlier = arith::select(&mut self.b, counts, total, earlier);
        }
        // Nobody writes the next stretch's parts before all have read these.
        self.barrier();
        (scan.reducer.combine(&mut self.b, earlier, before), total)
    }
}
