//! Asking for memory ahead: what the stages after a long sum read and write once arrives while the sum runs.

use std::collections::HashSet;

use super::emitter::{Buffer, Emitter};
use super::nest::{Copy, Loop};
use super::{Error, memory};
use crate::num::Num;
use strata_core::ir::{AffineExpr, Value};
use strata_core::upstream::llvm;
use strata_dialects::loops::access::prefetched_loads;
use strata_dialects::loops::view::StageView;

/// Parts of a sum, before each of which a part of the rows is asked for.
const PARTS: i64 = 8;
/// Steps of a part whose body is a single loop: with 16 a product of 2048x96x96, whose result stays in the caches, takes a Zen 4 2% longer.
const LEAST_STEPS: i64 = 32;

/// A sum in parts of its first loop, and the rows that are asked for before each. All rows at once would fill the buffers in which misses wait
/// (24 lines on a Zen 4), and what the sum itself reads would wait behind them.
pub(super) struct Ahead {
    /// Steps of a part.
    pub steps: i64,
    /// The dim of the rows of a block of accumulators.
    dim: usize,
    /// How many there are, and how many a part asks for.
    rows: (i64, i64),
}

impl<'c> Emitter<'c> {
    /// How a sum over these loops asks for what follows it, if not all at once: where its block has several rows and its first loop enough steps.
    pub(super) fn ahead(&self, copies: &[Copy<'c>], loops: &[Loop<'c>]) -> Option<Ahead> {
        let (first, inner) = loops.split_first().filter(|(first, _)| first.width == 1 && !self.insides.cuts(first.dim))?;
        let length = first.steps()?;
        let distinct = |dim: usize| copies.iter().filter_map(|copy| copy.point[dim]).collect::<HashSet<_>>().len() as i64;
        let dims = (0..copies.first()?.point.len()).filter(|&dim| copies[0].point[dim].is_some_and(|coord| !coord.lanes));
        let (rows, dim) = dims.map(|dim| (distinct(dim), dim)).max()?;
        let least = if inner.is_empty() { LEAST_STEPS } else { 1 };
        let parts = PARTS.min(rows).min(length / least.max(first.unroll));
        if parts < 2 {
            return None;
        }
        let steps = (length + parts - 1) / parts;
        let steps = (steps + first.unroll - 1) / first.unroll * first.unroll;
        let parts = (length + steps - 1) / steps;
        Some(Ahead { steps, dim, rows: (rows, (rows + parts - 1) / parts) })
    }

    /// Asks for what belongs to the part of a sum that begins `done` steps behind its first one.
    pub(super) fn prefetch_part(&mut self, sum: &StageView<'c>, copies: &[Copy<'c>], ahead: &Ahead, done: Num<'c>) {
        let (rows, each) = ahead.rows;
        let first = copies.first().and_then(|copy| copy.point[ahead.dim]);
        let of_first: Vec<_> = copies.iter().filter(|copy| copy.point[ahead.dim] == first).cloned().collect();
        let part = done.floor_div(&mut self.b, Num::Const(ahead.steps)).mul(&mut self.b, Num::Const(each));
        for row in 0..each {
            let row = part.add(&mut self.b, Num::Const(row)).min(&mut self.b, Num::Const(rows - 1));
            let mut copies = of_first.clone();
            for coord in copies.iter_mut().filter_map(|copy| copy.point[ahead.dim].as_mut()) {
                coord.base = coord.base.add(&mut self.b, row);
            }
            self.prefetch_after(sum, &copies);
        }
    }

    /// Asks for the elements that the maps after `sum` touch at the present points. Only those that no other point touches: the
    /// others are in the cache already. Results that go past the caches are not wanted in them.
    pub(super) fn prefetch_after(&mut self, sum: &StageView<'c>, copies: &[Copy<'c>]) {
        let stages: Vec<_> = self.kernel.stages.iter().map(|stage| StageView::new(stage.op)).collect();
        let after = stages.iter().skip_while(|stage| stage.op != sum.op).skip(1).filter(|stage| stage.reduce.is_empty());
        for stage in after.filter(|stage| stage.scan.is_none() && !stage.is_scatter()) {
            for (operand, map) in stage.op.operands().into_iter().zip(&stage.maps) {
                self.prefetch(operand, &map.results(), copies, false);
            }
            if stage.schedule().non_temporal == Some(true) {
                continue;
            }
            let dims: Vec<_> = stage.result_dims().into_iter().map(|dim| self.cx.dim(dim)).collect();
            for result in stage.op.results() {
                self.prefetch(result, &dims, copies, true);
            }
        }
    }

    /// Asks for what a stage will load at computed places so many steps of the reduced dim later: where that is, memory tells, and no CPU guesses it
    /// ("Software prefetching for indirect memory accesses", Ainsworth and Jones 2017).
    pub(super) fn prefetch_loads(&mut self, stage: &StageView<'c>, copies: &[Copy<'c>], steps: i64) -> Result<(), Error> {
        let &[dim] = stage.reduce.as_slice() else { return Ok(()) };
        let last = self.sizes[dim].sub(&mut self.b, Num::Const(1));
        for load in prefetched_loads(stage) {
            for copy in copies {
                let mut copy = copy.clone();
                if let Some(coord) = copy.point[dim].as_mut() {
                    coord.base = coord.base.add(&mut self.b, Num::Const(steps)).min(&mut self.b, last);
                }
                let indices =
                    load.operands()[1..].iter().map(|index| self.value_at(stage, *index, &copy)).collect::<Result<Vec<_>, _>>()?;
                let Some(buffer) = self.buffers.get(&load.operand(0)).cloned() else { continue };
                let indices: Vec<_> = indices.into_iter().map(|index| self.computed(index)).collect();
                let at = self.linear(&buffer, &indices).base;
                let at = memory::element_pointer(&mut self.b, buffer.base, at, buffer.element);
                self.ask(at, false);
            }
        }
        self.reads.clear();
        self.checked.clear();
        Ok(())
    }

    /// A value of a body at a point.
    fn value_at(&mut self, stage: &StageView<'c>, value: Value<'c>, copy: &Copy<'c>) -> Result<Value<'c>, Error> {
        let block = stage.op.body(0);
        if let Some(operand) = block.args().iter().position(|arg| *arg == value) {
            return self.read(stage, operand, copy);
        }
        let Some(op) = value.defining_op().filter(|op| op.parent() == Some(stage.op)) else {
            return Ok(self.scalars.get(&value).copied().unwrap_or(value));
        };
        let operands = op.operands().into_iter().map(|operand| self.value_at(stage, operand, copy)).collect::<Result<Vec<_>, _>>()?;
        let at = op.results().iter().position(|result| *result == value).unwrap_or_default();
        Ok(self.scalar_op(op, &operands, copy)?[at])
    }

    fn prefetch(&mut self, tensor: Value<'c>, exprs: &[AffineExpr<'c>], copies: &[Copy<'c>], write: bool) {
        let Some(buffer) = self.buffers.get(&tensor).filter(|buffer| buffer.kept.is_none()).cloned() else { return };
        let moves = |dim: &usize| self.kernel.static_size(*dim) == Some(1) || exprs.iter().any(|expr| expr.uses_dim(*dim));
        if !self.kernel.outer.iter().all(moves) {
            return;
        }
        for copy in copies {
            let at = self.prefetched(&buffer, exprs, copy);
            self.ask(at, write);
        }
    }

    /// Asks for the line at an address.
    fn ask(&mut self, at: Value<'c>, write: bool) {
        let int = |value: i64| self.cx.int_attr(self.cx.int(32), value);
        // To all levels of the cache for data.
        let attrs = [("rw", int(i64::from(write))), ("hint", int(3)), ("cache", int(1))];
        self.b.effect(llvm::Prefetch::NAME, &[at], &attrs);
    }

    /// The address of the first lane.
    fn prefetched(&mut self, buffer: &Buffer<'c>, exprs: &[AffineExpr<'c>], copy: &Copy<'c>) -> Value<'c> {
        let indices: Vec<_> = exprs.iter().map(|&expr| self.index(&copy.point, expr)).collect();
        let at = self.linear(buffer, &indices).base;
        memory::element_pointer(&mut self.b, buffer.base, at, buffer.element)
    }
}
