//! A block of scores, and the weights that become of them.

use super::Job;
use super::scratch::in_lanes_of;
use crate::emit::Error;
use crate::emit::emitter::Emitter;
use crate::emit::nest::{Copy, Loop, Tail};
use crate::emit::reducer::Reducer;
use crate::num::Num;
use strata_core::ir::Value;
use strata_core::upstream::{arith, math};
use strata_dialects::loops::view::StageView;

/// Keys side by side while weights are computed.
const TURNS: i64 = 2;

impl<'c> Emitter<'c> {
    pub(super) fn start(&mut self, job: &Job<'c>) -> Result<(), Error> {
        let (lowest, zero) = (self.number(job, f64::NEG_INFINITY), self.number(job, 0.0));
        let online = job.online;
        for at in (0..online.rows).step_by(online.width as usize) {
            self.put(job, job.scratch.largest, Num::Const(at), lowest);
            self.put(job, job.scratch.sums, Num::Const(at), zero);
        }
        self.repeat(Num::Const(0), Num::Const(online.rows * job.stride), online.width, Vec::new(), &mut |emitter, at, carried| {
            emitter.put(job, job.scratch.outputs, at, zero);
            Ok(carried)
        })?;
        Ok(())
    }

    /// The copies of a loop over keys, each with a number of its own, and the vector of rows that it is for.
    pub(super) fn numbered(copies: &[Copy<'c>], unroll: i64) -> Vec<(usize, Copy<'c>)> {
        let number = |(at, copy): (usize, &Copy<'c>)| (copy.slot / unroll as usize, Copy { outer: at, slot: copy.slot, ..copy.clone() });
        copies.iter().enumerate().map(number).collect()
    }

    /// Where the scores of a copy lie: keys count from the first of the block.
    pub(super) fn place_of(&mut self, job: &Job<'c>, piece: Loop<'c>, copy: &Copy<'c>, vector: usize) -> Num<'c> {
        let key = copy.point[job.view.key].map_or(Num::Const(0), |coord| coord.base);
        let at = key.sub(&mut self.b, piece.range.0);
        self.place(job, at, vector)
    }

    /// The tile that scores are made of.
    pub(super) fn scores(&mut self, job: &Job<'c>, vectors: &[Copy<'c>], piece: Loop<'c>) -> Result<(), Error> {
        let Some(scores) = job.view.scores else { return Ok(()) };
        let stage = StageView::new(self.kernel.stages[scores].op);
        let sum = Reducer::named("sum", job.element).ok_or_else(|| Error::at(stage.op, "there is no sum"))?;
        let unroll = job.online.keys;
        let inner: Vec<_> = stage
            .reduce
            .iter()
            .map(|&dim| Loop {
                dim,
                width: 1,
                unroll: 1,
                range: (Num::Const(0), self.sizes[dim]),
                length: None,
                tail: Tail::Loop,
                aligned: false,
            })
            .collect();
        self.nest(&[Loop { unroll, ..piece }], vectors, Vec::new(), &mut |emitter, copies, carried| {
            let numbered = Self::numbered(copies, unroll);
            let copies: Vec<_> = numbered.iter().enumerate().map(|(slot, (_, copy))| Copy { slot, ..copy.clone() }).collect();
            let zero = emitter.number(job, 0.0);
            let sums = emitter.nest(&inner, &copies, vec![zero; copies.len()], &mut |emitter, copies, mut sums| {
                emitter.reads.clear();
                emitter.read_copied(job, &stage, &numbered, copies);
                for (copy, yields) in copies.iter().zip(emitter.bodies(&stage, copies)?) {
                    let value = in_lanes_of(emitter, yields[0]);
                    sums[copy.slot] = sum.combine(&mut emitter.b, sums[copy.slot], value);
                }
                emitter.reads.clear();
                Ok(sums)
            })?;
            for ((vector, copy), sum) in numbered.iter().zip(sums) {
                let at = emitter.place_of(job, piece, copy, *vector);
                emitter.put(job, job.scratch.scores, at, sum);
            }
            Ok(carried)
        })?;
        self.forget(job);
        Ok(())
    }

    /// The elements of the copied operand, as registers that the body then reads.
    pub(super) fn read_copied(&mut self, job: &Job<'c>, stage: &StageView<'c>, numbered: &[(usize, Copy<'c>)], copies: &[Copy<'c>]) {
        let (Some((operand, depth)), Some(packed)) = (job.pack, job.scratch.packed) else { return };
        let tensor = stage.op.operand(operand);
        let mut loaded: Vec<Option<Value<'c>>> = vec![None; numbered.len()];
        for ((vector, _), copy) in numbered.iter().zip(copies) {
            let value = loaded[*vector].unwrap_or_else(|| {
                let at = copy.point[depth].map_or(Num::Const(0), |coord| coord.base);
                let at = self.place(job, at, *vector);
                self.get(job, packed, at)
            });
            loaded[*vector] = Some(value);
            self.registers.insert((tensor, copy.outer), value);
        }
    }

    /// Registers of a part of the tile mean nothing to the next one.
    pub(super) fn forget(&mut self, job: &Job<'c>) {
        if let Some(scores) = job.view.scores {
            let stage = self.kernel.stages[scores].op;
            let copied = job.pack.map(|(operand, _)| stage.operand(operand));
            self.registers.retain(|(tensor, _), _| *tensor != stage.result(0) && Some(*tensor) != copied);
        }
    }

    /// Finishes the scores and gives the largest of each row so far.
    pub(super) fn largest(&mut self, job: &Job<'c>, vectors: &[Copy<'c>], piece: Loop<'c>) -> Result<Vec<Value<'c>>, Error> {
        let mean = StageView::new(self.kernel.stages[job.view.mean].op);
        let tile = job.view.scores.map(|scores| self.kernel.stages[scores].op.result(0));
        let before: Vec<_> =
            (0..vectors.len()).map(|vector| self.get(job, job.scratch.largest, Num::Const(vector as i64 * job.online.width))).collect();
        let start = before.iter().flat_map(|&before| vec![before; TURNS as usize]).collect();
        let found = self.nest(&[Loop { unroll: TURNS, ..piece }], vectors, start, &mut |emitter, copies, mut carried| {
            emitter.reads.clear();
            let numbered = Self::numbered(copies, TURNS);
            let copies: Vec<_> = numbered.iter().map(|(_, copy)| copy.clone()).collect();
            let mut places = Vec::new();
            for (vector, copy) in &numbered {
                let at = emitter.place_of(job, piece, copy, *vector);
                let found = tile.map(|tile| {
                    let found = emitter.get(job, job.scratch.scores, at);
                    emitter.registers.insert((tile, copy.outer), found);
                    found
                });
                places.push((at, found));
            }
            for ((copy, yields), (at, found)) in copies.iter().zip(emitter.bodies(&mean, &copies)?).zip(places) {
                let score = in_lanes_of(emitter, yields[0]);
                if found != Some(score) {
                    emitter.put(job, job.scratch.scores, at, score);
                }
                // A score that is NaN makes its weight NaN, and with it the sum of weights.
                carried[copy.slot] = emitter.larger(carried[copy.slot], score);
            }
            emitter.reads.clear();
            Ok(carried)
        })?;
        self.forget(job);
        Ok(found.chunks(TURNS as usize).map(|parts| self.tree(parts, Self::larger)).collect())
    }

    /// Weights in place of scores, and their sums.
    pub(super) fn weights(&mut self, job: &Job<'c>, vectors: &[Copy<'c>], piece: Loop<'c>, largest: &[Value<'c>]) -> Result<(), Error> {
        let (lowest, zero) = (self.number(job, f64::NEG_INFINITY), self.number(job, 0.0));
        // Where all scores are -inf every distance would be NaN: from 0 they are -inf, and all weights 0.
        let origins: Vec<_> = largest.iter().map(|&largest| self.replaced(largest, lowest, zero)).collect();
        for (vector, (&largest, &origin)) in largest.iter().zip(&origins).enumerate() {
            let at = Num::Const(vector as i64 * job.online.width);
            let before = self.get(job, job.scratch.largest, at);
            let distance = self.float(arith::SubF::NAME, &[before, origin]);
            let scale = self.float(math::Exp::NAME, &[distance]);
            self.put(job, job.scratch.scales, at, scale);
            self.put(job, job.scratch.largest, at, largest);
        }
        let start = vec![zero; vectors.len() * TURNS as usize];
        let sums = self.nest(&[Loop { unroll: TURNS, ..piece }], vectors, start, &mut |emitter, copies, mut carried| {
            let numbered = Self::numbered(copies, TURNS);
            let mut distances = Vec::new();
            for (vector, copy) in &numbered {
                let at = emitter.place_of(job, piece, copy, *vector);
                let score = emitter.get(job, job.scratch.scores, at);
                distances.push((at, emitter.float(arith::SubF::NAME, &[score, origins[*vector]])));
            }
            for ((_, copy), (at, distance)) in numbered.iter().zip(distances) {
                let weight = emitter.float(math::Exp::NAME, &[distance]);
                emitter.put(job, job.scratch.scores, at, weight);
                carried[copy.slot] = emitter.float(arith::AddF::NAME, &[carried[copy.slot], weight]);
            }
            Ok(carried)
        })?;
        for (vector, parts) in sums.chunks(TURNS as usize).enumerate() {
            let at = Num::Const(vector as i64 * job.online.width);
            let (sum, scale) = (
                self.tree(parts, |emitter, left, right| emitter.float(arith::AddF::NAME, &[left, right])),
                self.get(job, job.scratch.scales, at),
            );
            let before = self.get(job, job.scratch.sums, at);
            let before = self.float(arith::MulF::NAME, &[before, scale]);
            let sum = self.float(arith::AddF::NAME, &[before, sum]);
            self.put(job, job.scratch.sums, at, sum);
        }
        Ok(())
    }
}
