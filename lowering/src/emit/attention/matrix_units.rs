//! Scores, and weighed values, by matrix units (AMX), where the schedule has `matrix_units`.
//!
//! Sums of scores have keys in rows and the tile's rows in columns, as scratch memory has them: keys come from where they lie, queries as words of two
//! elements, `[depth / 2][rows]`. Weights become words of two keys, as many beside each other as rows: their first eight bits, and what these leave of a
//! weight, so that its product is as exact as one of `f32`. Sums of values have columns in rows; values come from a copy that has keys side by side.

use super::Job;
use crate::emit::emitter::Emitter;
use crate::emit::lanes::{Coord, Point};
use crate::emit::matrix_units::{PAIRS, Places, Tiles};
use crate::emit::nest::{Copy, Loop};
use crate::emit::transpose::transpose_registers;
use crate::emit::{Error, memory};
use crate::num::Num;
use strata_core::ir::{ElementType, Value};
use strata_core::upstream::arith;
use strata_dialects::loops::access::{Stride, stride};
use strata_dialects::loops::attention::{AttentionView, OnlineTiles};
use strata_dialects::loops::attention_units::{AttentionUnits, ROWS, TOGETHER};
use strata_dialects::loops::register_block::UNIT_STEPS;
use strata_dialects::loops::view::StageView;

/// Rows and columns of a tile.
const TILE: i64 = UNIT_STEPS;
/// Why tiles have no rows.
const UNEVEN: &str = "lines of an operand are not as far apart everywhere";

/// Parts of a weight.
const PARTS: i64 = 2;

/// What matrix units multiply.
#[derive(Clone, Copy)]
pub(super) struct Units<'c> {
    operands: AttentionUnits,
    /// Words of the tile's queries: `[depth / 2][rows]`.
    queries: Value<'c>,
    /// Words of the parts of a block's weights: `[block / 2][parts][rows]`.
    weights: Value<'c>,
    /// Sums of values as the stages behind them read them.
    turned: Value<'c>,
}

impl<'c> Emitter<'c> {
    /// The units of a kernel whose schedule has them.
    pub(super) fn units(&mut self, view: &AttentionView, online: &OnlineTiles, elements: i64) -> Result<Option<Units<'c>>, Error> {
        if self.kernel.schedule().matrix_units != Some(true) {
            return Ok(None);
        }
        let mean = StageView::new(self.kernel.stages[view.mean].op);
        let found = online.row.zip(view.column).and_then(|(row, column)| AttentionUnits::of(&self.kernel, view, row, column));
        let turned = |units: &AttentionUnits| stride(mean.maps[units.values], mean.op.operand(units.values), view.key) == Stride::One;
        let blocks = online.block % TOGETHER == 0 || self.kernel.static_size(view.key).is_some_and(|keys| keys <= online.block);
        let fits = online.rows == ROWS && online.width == TILE && blocks;
        let refuse = "the schedule has 'matrix_units', and the kernel is no attention of bf16 in whole tiles, with keys beside each other in its values";
        let operands = found.filter(|units| fits && turned(units)).ok_or_else(|| Error::at(mean.op, refuse))?;
        let depth = self.kernel.static_size(operands.depth).unwrap_or_default();
        let mut words = |count: i64| self.scratch(mean.op, ElementType::I32, count * ROWS);
        let (queries, weights) = (words(depth / 2)?, words(padded(online) / 2 * PARTS)?);
        let turned = self.scratch(mean.op, ElementType::F32, elements)?;
        Ok(Some(Units { operands, queries, weights, turned }))
    }

    /// The words of the tile's queries.
    pub(super) fn words_of_queries(&mut self, job: &Job<'c>, units: &Units<'c>, copy: &Copy<'c>) -> Result<(), Error> {
        let (Some(scores), Some(row)) = (job.view.scores, job.online.row) else { return Ok(()) };
        let (stage, depth) = (StageView::new(self.kernel.stages[scores].op), units.operands.depth);
        let words = self.kernel.static_size(depth).unwrap_or_default() / 2;
        self.repeat(Num::Const(0), Num::Const(words), TILE, Vec::new(), &mut |emitter, word, carried| {
            for first in (0..ROWS).step_by(TILE as usize) {
                let element = word.mul(&mut emitter.b, Num::Const(2));
                let mut rows = Vec::new();
                for line in first..first + TILE {
                    let line = job.begin.add(&mut emitter.b, Num::Const(line));
                    let point = at(&copy.point, &[(row, line), (depth, element)]);
                    let place = emitter.place_in(&stage, units.operands.queries, &point)?;
                    rows.push(memory::load_words(&mut emitter.b, place, 32, TILE));
                }
                for (column, value) in transpose_registers(&mut emitter.b, rows, 32).into_iter().enumerate() {
                    let to = word.add(&mut emitter.b, Num::Const(column as i64)).mul(&mut emitter.b, Num::Const(ROWS));
                    let to = to.add(&mut emitter.b, Num::Const(first));
                    memory::store_vector(&mut emitter.b, units.queries, to, value, ElementType::I32, None);
                }
            }
            Ok(carried)
        })?;
        Ok(())
    }

    /// A block of scores. Its last keys are taken with some before them where they do not fill tiles.
    pub(super) fn scores_by_units(&mut self, job: &Job<'c>, units: &Units<'c>, copy: &Copy<'c>, piece: Loop<'c>) -> Result<(), Error> {
        let Some(scores) = job.view.scores else { return Ok(()) };
        let (stage, depth, keys) = (StageView::new(self.kernel.stages[scores].op), units.operands.depth, units.operands.keys);
        let words = self.kernel.static_size(depth).unwrap_or_default() / 2;
        let tiles = Tiles::square();
        self.configure(&stage, &tiles)?;
        let (first, end) = piece.range;
        let whole = piece.steps().is_some_and(|length| length % TOGETHER == 0);
        let below = self.pitch_in(&stage, keys, job.view.key).ok_or_else(|| Error::at(stage.op, UNEVEN))?;
        self.repeat(first, end, TOGETHER, Vec::new(), &mut |emitter, from, carried| {
            let last = end.sub(&mut emitter.b, Num::Const(TOGETHER));
            let from = if whole { from } else { from.min(&mut emitter.b, last) };
            emitter.zero_tiles(&tiles);
            emitter.repeat(Num::Const(0), Num::Const(words), TILE, Vec::new(), &mut |emitter, word, carried| {
                let element = word.mul(&mut emitter.b, Num::Const(2));
                let mut rows = Places { starts: Vec::new(), pitch: below, bytes: 2 };
                for tile in [0, TILE] {
                    let key = from.add(&mut emitter.b, Num::Const(tile));
                    rows.starts.push(emitter.place_in(&stage, keys, &at(&copy.point, &[(job.view.key, key), (depth, element)]))?);
                }
                let first = word.mul(&mut emitter.b, Num::Const(ROWS));
                let columns = emitter.pair_of_tiles(units.queries, first, ROWS, ElementType::I32);
                emitter.add_products(PAIRS, &tiles, [&rows, &columns]);
                Ok(carried)
            })?;
            let line = from.sub(&mut emitter.b, first).mul(&mut emitter.b, Num::Const(ROWS));
            let to = memory::element_pointer(&mut emitter.b, job.scratch.scores, line, job.element);
            emitter.store_tiles(&tiles, (to, job.element), in_rows, ROWS);
            Ok(carried)
        })?;
        Ok(())
    }

    /// The words of a block's weights, with zeros for keys beyond its end.
    fn words_of_weights(&mut self, job: &Job<'c>, units: &Units<'c>, (keys, padded): (Num<'c>, Num<'c>)) -> Result<(), Error> {
        let zero = self.number(job, 0.0);
        let vectors = || (0..ROWS).step_by(TILE as usize);
        self.repeat(keys, padded, 1, Vec::new(), &mut |emitter, key, carried| {
            for first in vectors() {
                let to = key.mul(&mut emitter.b, Num::Const(ROWS)).add(&mut emitter.b, Num::Const(first));
                emitter.put(job, job.scratch.scores, to, zero);
            }
            Ok(carried)
        })?;
        self.repeat(Num::Const(0), padded, 2, Vec::new(), &mut |emitter, key, carried| {
            let line = key.mul(&mut emitter.b, Num::Const(ROWS));
            for first in vectors() {
                let weights = [0, ROWS].map(|next| {
                    let from = line.add(&mut emitter.b, Num::Const(next + first));
                    emitter.get(job, job.scratch.scores, from)
                });
                // What eight bits leave of a weight is exact, and has eight bits and a half of its own.
                let halves = weights.map(|weight| emitter.half(weight));
                let rests = [0, 1].map(|at| {
                    let known = emitter.cast_lanes(arith::ExtF::NAME, halves[at], ElementType::F32);
                    let rest = emitter.float(arith::SubF::NAME, &[weights[at], known]);
                    emitter.half(rest)
                });
                for (part, halves) in [halves, rests].into_iter().enumerate() {
                    let word = emitter.word_of(halves);
                    // (A key has one row of words: a pair of keys has one for each part.)
                    let to = line.add(&mut emitter.b, Num::Const(part as i64 * ROWS + first));
                    memory::store_vector(&mut emitter.b, units.weights, to, word, ElementType::I32, None);
                }
            }
            Ok(carried)
        })?;
        Ok(())
    }

    /// Lanes of `f32` as `bf16`.
    fn half(&mut self, value: Value<'c>) -> Value<'c> {
        self.cast_lanes(arith::TruncF::NAME, value, ElementType::BF16)
    }

    fn cast_lanes(&mut self, op: &str, value: Value<'c>, element: ElementType) -> Value<'c> {
        let ty = self.cx.vector(&[TILE], self.cx.element(element));
        self.b.value(op, &[value], ty, &[])
    }

    /// Two vectors of `bf16` as the lower and the upper halves of words.
    fn word_of(&mut self, halves: [Value<'c>; 2]) -> Value<'c> {
        let (short, long) = (self.cx.vector(&[TILE], self.cx.int(16)), self.cx.vector(&[TILE], self.cx.int(32)));
        let [low, high] = halves.map(|half| {
            let bits = arith::bitcast(&mut self.b, half, short);
            arith::extui(&mut self.b, bits, long)
        });
        let by = self.b.const_int(self.cx.int(32), 16);
        let by = memory::broadcast(&mut self.b, by, TILE);
        let high = arith::shli(&mut self.b, high, by);
        arith::ori(&mut self.b, low, high)
    }

    /// Adds the weights times the values of a block of keys.
    pub(super) fn sums_by_units(&mut self, job: &Job<'c>, units: &Units<'c>, copy: &Copy<'c>, piece: Loop<'c>) -> Result<(), Error> {
        let Some(column) = job.view.column else { return Ok(()) };
        let (mean, tiles, values) = (StageView::new(self.kernel.stages[job.view.mean].op), Tiles::square(), units.operands.values);
        let (first, end) = piece.range;
        let keys = piece.steps().map_or_else(|| end.sub(&mut self.b, first), Num::Const);
        let padded = keys.ceil_div(&mut self.b, Num::Const(TOGETHER)).mul(&mut self.b, Num::Const(TOGETHER));
        self.words_of_weights(job, units, (keys, padded))?;
        let columns = self.sizes[column];
        let scales: Vec<_> = (0..ROWS).step_by(TILE as usize).map(|at| (at, self.get(job, job.scratch.scales, Num::Const(at)))).collect();
        self.repeat(Num::Const(0), columns, 1, Vec::new(), &mut |emitter, column, carried| {
            for &(first, scale) in &scales {
                let place = column.mul(&mut emitter.b, Num::Const(ROWS)).add(&mut emitter.b, Num::Const(first));
                let before = emitter.get(job, job.scratch.outputs, place);
                let scaled = emitter.float(arith::MulF::NAME, &[before, scale]);
                emitter.put(job, job.scratch.outputs, place, scaled);
            }
            Ok(carried)
        })?;
        let below = self.pitch_in(&mean, values, column).ok_or_else(|| Error::at(mean.op, UNEVEN))?;
        self.repeat(Num::Const(0), columns, TOGETHER, Vec::new(), &mut |emitter, from, carried| {
            let line = from.mul(&mut emitter.b, Num::Const(ROWS));
            let sums = memory::element_pointer(&mut emitter.b, job.scratch.outputs, line, job.element);
            emitter.load_tiles(&tiles, (sums, job.element), in_rows, ROWS);
            emitter.repeat(Num::Const(0), padded, TOGETHER, Vec::new(), &mut |emitter, key, carried| {
                let from_key = first.add(&mut emitter.b, key);
                let mut rows = Places { starts: Vec::new(), pitch: below, bytes: 2 };
                for tile in [0, TILE] {
                    let line = from.add(&mut emitter.b, Num::Const(tile));
                    rows.starts.push(emitter.place_in(&mean, values, &at(&copy.point, &[(column, line), (job.view.key, from_key)]))?);
                }
                for part in 0..PARTS {
                    let first = key.mul(&mut emitter.b, Num::Const(ROWS)).add(&mut emitter.b, Num::Const(part * ROWS));
                    let columns = emitter.pair_of_tiles(units.weights, first, PARTS * ROWS, ElementType::I32);
                    emitter.add_products(PAIRS, &tiles, [&rows, &columns]);
                }
                Ok(carried)
            })?;
            emitter.store_tiles(&tiles, (sums, job.element), in_rows, ROWS);
            Ok(carried)
        })?;
        Ok(())
    }

    /// Sums of values with their columns side by side; gives the job that reads them.
    pub(super) fn turned(&mut self, job: &Job<'c>, units: &Units<'c>) -> Result<Job<'c>, Error> {
        let columns = Num::Const(job.stride);
        self.repeat(Num::Const(0), columns, TILE, Vec::new(), &mut |emitter, column, carried| {
            for first in (0..ROWS).step_by(TILE as usize) {
                let mut lines = Vec::new();
                for line in 0..TILE {
                    let from = column.add(&mut emitter.b, Num::Const(line)).mul(&mut emitter.b, Num::Const(ROWS));
                    let from = from.add(&mut emitter.b, Num::Const(first));
                    lines.push(emitter.get(job, job.scratch.outputs, from));
                }
                for (row, value) in transpose_registers(&mut emitter.b, lines, 32).into_iter().enumerate() {
                    let to = Num::Const((first + row as i64) * job.stride).add(&mut emitter.b, column);
                    emitter.put(job, units.turned, to, value);
                }
            }
            Ok(carried)
        })?;
        let mut turned = job.clone();
        turned.scratch.outputs = units.turned;
        Ok(turned)
    }

    /// The places of two tiles beside each other in scratch memory whose rows are so many words apart.
    fn pair_of_tiles(&mut self, scratch: Value<'c>, first: Num<'c>, pitch: i64, element: ElementType) -> Places<'c> {
        let start = |tile: i64| {
            let at = first.add(&mut self.b, Num::Const(tile));
            memory::element_pointer(&mut self.b, scratch, at, element)
        };
        Places { starts: [0, TILE].map(start).to_vec(), pitch: Num::Const(pitch), bytes: 4 }
    }
}

/// Where a tile of sums begins in scratch memory with a row of each line.
fn in_rows(below: usize, beside: usize) -> i64 {
    (below as i64 * ROWS + beside as i64) * TILE
}

/// Keys of a block, with those that fill its last tiles.
pub(super) fn padded(online: &OnlineTiles) -> i64 {
    (online.block as u64).next_multiple_of(TOGETHER as u64) as i64
}

/// A point with other indices along some dims.
fn at<'c>(point: &Point<'c>, indices: &[(usize, Num<'c>)]) -> Point<'c> {
    let mut point = point.clone();
    indices.iter().for_each(|&(dim, base)| point[dim] = Some(Coord { base, lanes: false, block: None }));
    point
}
