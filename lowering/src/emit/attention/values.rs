//! Values weighed and summed, and what becomes of the sums.

use super::Job;
use super::scratch::in_lanes_of;
use crate::emit::emitter::Emitter;
use crate::emit::lanes::Coord;
use crate::emit::nest::{Copy, Loop, Tail};
use crate::emit::{Error, memory};
use crate::num::Num;
use strata_core::ir::Value;
use strata_core::upstream::arith;
use strata_dialects::loops::view::StageView;

/// What runs for some rows: the copies with the numbers of their rows, and the first row.
type Lines<'a, 'c> = dyn FnMut(&mut Emitter<'c>, &[(usize, Copy<'c>)], Num<'c>) -> Result<(), Error> + 'a;

impl<'c> Emitter<'c> {
    /// Register blocks of some rows and columns: `body` gets copies with slots counted row by row, and the first row.
    pub(super) fn blocks(&mut self, job: &Job<'c>, copy: &Copy<'c>, body: &mut Lines<'_, 'c>) -> Result<(), Error> {
        let online = job.online;
        let lines = online.lines.min(online.rows);
        self.repeat(Num::Const(0), Num::Const(online.rows), lines, Vec::new(), &mut |emitter, first, carried| {
            let mut rows = Vec::new();
            for line in 0..lines {
                let mut point = copy.point.clone();
                if let Some(row) = online.row {
                    let at = first.add(&mut emitter.b, Num::Const(line));
                    point[row] = Some(Coord { base: job.begin.add(&mut emitter.b, at), lanes: false, block: None });
                }
                rows.push(Copy { point, outer: 0, slot: line as usize, mask: None });
            }
            let loops: Vec<_> = job
                .view
                .column
                .map(|dim| Loop {
                    dim,
                    width: online.width,
                    unroll: online.columns,
                    range: (Num::Const(0), emitter.sizes[dim]),
                    length: None,
                    tail: Tail::Loop,
                    aligned: false,
                })
                .into_iter()
                .collect();
            let unroll = if loops.is_empty() { 1 } else { online.columns };
            let around = std::mem::replace(&mut emitter.width, 1);
            emitter.nest(&loops, &rows, Vec::new(), &mut |emitter, copies, carried| {
                body(emitter, &Self::numbered(copies, unroll), first)?;
                Ok(carried)
            })?;
            emitter.width = around;
            Ok(carried)
        })?;
        Ok(())
    }

    /// Where the sum of values of a copy lies.
    pub(super) fn place_of_mean(&mut self, job: &Job<'c>, first: Num<'c>, line: usize, copy: &Copy<'c>) -> Num<'c> {
        let row = first.add(&mut self.b, Num::Const(line as i64)).mul(&mut self.b, Num::Const(job.stride));
        let column = job.view.column.and_then(|column| copy.point[column]).map_or(Num::Const(0), |coord| coord.base);
        row.add(&mut self.b, column)
    }

    /// Adds the weights times the values of a block of keys.
    pub(super) fn sums_of_values(&mut self, job: &Job<'c>, copy: &Copy<'c>, piece: Loop<'c>) -> Result<(), Error> {
        let mean = StageView::new(self.kernel.stages[job.view.mean].op);
        let tile = job.view.scores.map(|scores| self.kernel.stages[scores].op.result(0));
        self.blocks(job, copy, &mut |emitter, numbered, first| {
            let mut start = Vec::new();
            for (line, copy) in numbered {
                let at = emitter.place_of_mean(job, first, *line, copy);
                let before = emitter.get(job, job.scratch.outputs, at);
                let row = first.add(&mut emitter.b, Num::Const(*line as i64));
                let scale = memory::load(&mut emitter.b, job.scratch.scales, row, job.element);
                start.push((at, emitter.float(arith::MulF::NAME, &[before, scale])));
            }
            let copies: Vec<_> = numbered.iter().enumerate().map(|(slot, (_, copy))| Copy { slot, ..copy.clone() }).collect();
            let carried = start.iter().map(|(_, value)| *value).collect();
            // The score is computed already: what the body does with it is left out by the compiler.
            if let Some(tile) = tile {
                let none = emitter.b.const_float(emitter.cx.element(job.element), 0.0);
                emitter.registers.extend(copies.iter().map(|copy| ((tile, copy.outer), none)));
            }
            let sums = emitter.nest(&[piece], &copies, carried, &mut |emitter, copies, mut carried| {
                emitter.reads.clear();
                let yields = emitter.bodies(&mean, copies)?;
                let mut weights: Vec<Option<Value<'c>>> = vec![None; numbered.len()];
                for ((copy, yields), (line, _)) in copies.iter().zip(yields).zip(numbered) {
                    let weight = weights[*line].unwrap_or_else(|| {
                        let key = copy.point[job.view.key].map_or(Num::Const(0), |coord| coord.base);
                        let at = key.sub(&mut emitter.b, piece.range.0).mul(&mut emitter.b, Num::Const(job.online.rows));
                        let at = at.add(&mut emitter.b, first).add(&mut emitter.b, Num::Const(*line as i64));
                        memory::load(&mut emitter.b, job.scratch.scores, at, job.element)
                    });
                    weights[*line] = Some(weight);
                    let value = in_lanes_of(emitter, yields[1]);
                    let product = emitter.float(arith::MulF::NAME, &[weight, value]);
                    carried[copy.slot] = emitter.float(arith::AddF::NAME, &[carried[copy.slot], product]);
                }
                emitter.reads.clear();
                Ok(carried)
            })?;
            for ((at, _), sum) in start.into_iter().zip(sums) {
                emitter.put(job, job.scratch.outputs, at, sum);
            }
            emitter.forget(job);
            Ok(())
        })
    }

    /// Divides by the sums of weights, and runs the stages that follow.
    pub(super) fn finish(&mut self, job: &Job<'c>, copy: &Copy<'c>) -> Result<(), Error> {
        let mean = StageView::new(self.kernel.stages[job.view.mean].op);
        let zero_rows = mean.op.str("reducer").as_deref() == Some("softmax_or_zero");
        let after: Vec<_> = self.kernel.stages[job.view.mean + 1..].iter().map(|stage| StageView::new(stage.op)).collect();
        let result = mean.op.result(0);
        let (zero, one) = (self.number(job, 0.0), self.number(job, 1.0));
        for at in (0..job.online.rows).step_by(job.online.width as usize) {
            let mut weight = self.get(job, job.scratch.sums, Num::Const(at));
            if zero_rows {
                // No weight at all: all scores are -inf, and the sum of values is 0 as well.
                weight = self.replaced(weight, zero, one);
            }
            let inverse = self.float(arith::DivF::NAME, &[one, weight]);
            self.put(job, job.scratch.scales, Num::Const(at), inverse);
        }
        self.blocks(job, copy, &mut |emitter, numbered, first| {
            emitter.reads.clear();
            let mut copies = Vec::new();
            for (line, copy) in numbered {
                let at = emitter.place_of_mean(job, first, *line, copy);
                let sum = emitter.get(job, job.scratch.outputs, at);
                let row = first.add(&mut emitter.b, Num::Const(*line as i64));
                let scale = memory::load(&mut emitter.b, job.scratch.scales, row, job.element);
                let value = emitter.float(arith::MulF::NAME, &[sum, scale]);
                emitter.registers.insert((result, copy.outer), value);
                copies.push(copy.clone());
            }
            for stage in &after {
                for (copy, values) in copies.iter().zip(emitter.bodies(stage, &copies)?) {
                    for (result, value) in stage.op.results().into_iter().zip(values) {
                        emitter.write(stage, result, copy, value)?;
                    }
                }
            }
            emitter.reads.clear();
            Ok(())
        })
    }
}
