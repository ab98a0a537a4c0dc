//! Means weighed by the softmax of scores, while keys stream by.
//!
//! A tile of rows keeps for each row the largest score so far, the sum of the weights relative to it, and the weighed sum of values.
//! Block after block of keys: scores into scratch memory with lanes along the rows, the largest one, weights in place of scores, and
//! the weights times the values. Where the largest score grows, what was summed before is scaled down.

mod hidden;
mod matrix_units;
mod scratch;
mod values;
mod weights;

use super::emitter::Emitter;
use super::lanes::Coord;
use super::nest::{Copy, Loop, Tail};
use super::{Error, memory};
use crate::num::Num;
use matrix_units::{Units, padded};
use strata_core::ir::{ElementType, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_core::upstream::scf;
use strata_dialects::loops::attention::{AttentionView, OnlineTiles};
use strata_dialects::loops::attention_units::TOGETHER;
use strata_dialects::loops::view::StageView;

/// Scratch memory of a tile.
#[derive(Clone, Copy)]
struct Scratch<'c> {
    /// Rows of the copied operand of the scores, `[depth][rows]`.
    packed: Option<Value<'c>>,
    /// Scores, then weights, `[block][rows]`.
    scores: Value<'c>,
    /// Largest scores, sums of weights, and how much the last block scaled sums down.
    largest: Value<'c>,
    sums: Value<'c>,
    scales: Value<'c>,
    /// Sums of values, `[rows][columns]`.
    outputs: Value<'c>,
}

/// What a tile is computed from.
#[derive(Clone)]
pub(crate) struct Job<'c> {
    view: AttentionView,
    online: OnlineTiles,
    element: ElementType,
    scratch: Scratch<'c>,
    /// The operand of the scores that is copied, and the dim that it is summed over.
    pack: Option<(usize, usize)>,
    /// What matrix units multiply, where they do.
    units: Option<Units<'c>>,
    /// The operand of the mean that says which keys a row sees.
    mask: Option<usize>,
    /// Elements of a row of `means`.
    stride: i64,
    /// First row of the tile.
    begin: Num<'c>,
}

/// Elements of a packed operand that are copied side by side.
const COPIES: i64 = 8;
/// Most elements of a row of a packed operand.
const DEPTH: i64 = 1024;

impl<'c> Emitter<'c> {
    /// The kernel's loops, the first outer one in a range.
    pub(crate) fn attention(&mut self, view: AttentionView, range: (Num<'c>, Num<'c>)) -> Result<(), Error> {
        let online = OnlineTiles::of(&self.kernel, self.kernel.static_size(view.key));
        let job = self.job(view, online)?;
        let outer = self.kernel.outer.clone();
        let whole = |emitter: &Self, level: usize, dim: usize| if level == 0 { range } else { (Num::Const(0), emitter.sizes[dim]) };
        let mut loops = Vec::new();
        let mut rows = None;
        for (level, &dim) in outer.iter().enumerate() {
            if Some(dim) == online.row {
                rows = Some((dim, whole(self, level, dim)));
            } else {
                loops.push(Loop {
                    dim,
                    width: 1,
                    unroll: 1,
                    range: whole(self, level, dim),
                    length: None,
                    tail: Tail::Loop,
                    aligned: false,
                });
            }
        }
        let start = Copy { point: vec![None; self.kernel.num_dims()], outer: 0, slot: 0, mask: None };
        self.nest(&loops, &[start], Vec::new(), &mut |emitter, copies, carried| {
            match rows {
                Some((_, rows)) => emitter.row_tiles(&job, &copies[0], rows)?,
                None => emitter.tile_of_rows(&job, &copies[0])?,
            }
            Ok(carried)
        })?;
        Ok(())
    }

    /// What the tiles of a kernel are computed from.
    pub(crate) fn job(&mut self, view: AttentionView, online: OnlineTiles) -> Result<Job<'c>, Error> {
        let mean = StageView::new(self.kernel.stages[view.mean].op);
        let element = mean.op.result(0).ty().element_type().filter(|element| matches!(element, ElementType::F32 | ElementType::F64));
        let element = element.ok_or_else(|| Error::at(mean.op, "a mean is f32 or f64"))?;
        let size = view.column.and_then(|column| self.kernel.static_size(column)).unwrap_or(1);
        let stride = (size.max(1) as u64).next_multiple_of(online.width as u64) as i64;
        let pack = view.scores.filter(|_| online.width > 1).and_then(|scores| self.packed(scores, online.row, view.key));
        let depth = pack.and_then(|(_, dim)| self.kernel.static_size(dim));
        let units = self.units(&view, &online, stride * online.rows)?;
        // The last tiles of a block may begin before it, or end behind it.
        let (before, block) = units.map_or((0, online.block), |_| (TOGETHER, padded(&online)));
        let mut room = |elements: i64| self.scratch(mean.op, element, elements.saturating_mul(online.rows));
        let scores = room(before + block)?;
        let scratch = Scratch {
            packed: depth.map(&mut room).transpose()?,
            scores,
            largest: room(1)?,
            sums: room(1)?,
            scales: room(1)?,
            outputs: room(stride)?,
        };
        let mask = self.mask(&view, &online);
        let scores = memory::element_pointer(&mut self.b, scores, Num::Const(before * online.rows), element);
        Ok(Job { view, online, element, scratch: Scratch { scores, ..scratch }, pack, units, mask, stride, begin: Num::Const(0) })
    }

    /// The operand of the scores to copy: it moves along the rows but not along the keys, and is summed over one dim.
    fn packed(&self, scores: usize, row: Option<usize>, key: usize) -> Option<(usize, usize)> {
        let (stage, row) = (&self.kernel.stages[scores], row?);
        let &[depth] = stage.reduce.as_slice() else { return None };
        self.kernel.static_size(depth).filter(|depth| *depth <= DEPTH)?;
        let operands = stage.op.operands();
        let uses = |at: usize, dim: usize| stage.maps[at].results().iter().any(|expr| expr.uses_dim(dim));
        let mut moving = (0..operands.len()).filter(|&at| uses(at, row) && uses(at, depth) && !uses(at, key) && !stage.guarded[at]);
        let at = moving.next().filter(|_| moving.next().is_none())?;
        let sole = operands.iter().filter(|operand| **operand == operands[at]).count() == 1;
        let same = operands[at].ty().element_type() == stage.op.result(0).ty().element_type();
        (sole && same).then_some((at, depth))
    }

    /// Tiles of a range of rows. The last tile begins earlier when rows do not fill it; fewer rows than a tile go one by one.
    fn row_tiles(&mut self, job: &Job<'c>, copy: &Copy<'c>, (begin, end): (Num<'c>, Num<'c>)) -> Result<(), Error> {
        let rows = job.online.rows;
        if rows == 1 {
            return self.tiles(job, copy, (begin, end), None);
        }
        let length = end.sub(&mut self.b, begin);
        match length {
            Num::Const(length) if length >= rows => self.tiles(job, copy, (begin, end), (length % rows != 0).then_some(end)),
            Num::Const(_) => self.tiles(&job.single(), copy, (begin, end), None),
            Num::Value(length) => {
                let enough = self.b.const_index(rows);
                let fills = arith::cmpi(&mut self.b, CmpIPredicate::Sge, length, enough);
                let (_, [many, few]) = scf::branches(&mut self.b, fills, &[]);
                let single = job.single();
                for (block, job, last) in [(many, job, Some(end)), (few, &single, None)] {
                    self.in_block(block, |emitter| {
                        emitter.tiles(job, copy, (begin, end), last)?;
                        scf::yield_(&mut emitter.b, &[]);
                        Ok(())
                    })?;
                }
                Ok(())
            }
        }
    }

    fn tiles(&mut self, job: &Job<'c>, copy: &Copy<'c>, range: (Num<'c>, Num<'c>), overlap: Option<Num<'c>>) -> Result<(), Error> {
        let rows = job.online.rows;
        self.repeat(range.0, range.1, rows, Vec::new(), &mut |emitter, at, carried| {
            let begin = match overlap {
                Some(end) => {
                    let last = end.sub(&mut emitter.b, Num::Const(rows));
                    at.min(&mut emitter.b, last)
                }
                None => at,
            };
            emitter.tile_of_rows(&Job { begin, ..job.clone() }, copy)?;
            Ok(carried)
        })?;
        Ok(())
    }

    /// One tile.
    pub(crate) fn tile_of_rows(&mut self, job: &Job<'c>, copy: &Copy<'c>) -> Result<(), Error> {
        let around = std::mem::replace(&mut self.width, job.online.width);
        let vectors = self.vectors_of_rows(job, copy);
        self.copy_operand(job, copy)?;
        if let Some(units) = &job.units {
            self.words_of_queries(job, units, copy)?;
        }
        self.start(job)?;
        let (mut keys, block) = (self.sizes[job.view.key], job.online.block);
        if let Some(reach) = job.online.reach {
            let end = job.begin.add(&mut self.b, Num::Const(job.online.rows + reach));
            keys = keys.min(&mut self.b, end);
        }
        let even = matches!(keys, Num::Const(keys) if keys % block == 0);
        self.repeat(Num::Const(0), keys, block, Vec::new(), &mut |emitter, first, carried| {
            let end = first.add(&mut emitter.b, Num::Const(block));
            let end = if even { end } else { end.min(&mut emitter.b, keys) };
            let piece = Loop {
                dim: job.view.key,
                width: 1,
                unroll: 1,
                range: (first, end),
                length: even.then_some(block),
                tail: Tail::Loop,
                aligned: false,
            };
            let Some(seen) = emitter.seen(job, copy, first)? else {
                emitter.block_of_keys(job, copy, &vectors, piece)?;
                return Ok(carried);
            };
            emitter.when(seen, |emitter| emitter.block_of_keys(job, copy, &vectors, piece))?;
            Ok(carried)
        })?;
        match &job.units {
            Some(units) => {
                let turned = self.turned(job, units)?;
                self.finish(&turned, copy)?;
            }
            None => self.finish(job, copy)?,
        }
        self.width = around;
        Ok(())
    }

    /// What a block of keys adds to a tile.
    fn block_of_keys(&mut self, job: &Job<'c>, copy: &Copy<'c>, vectors: &[Copy<'c>], piece: Loop<'c>) -> Result<(), Error> {
        match &job.units {
            Some(units) => self.scores_by_units(job, units, copy, piece)?,
            None => self.scores(job, vectors, piece)?,
        }
        let largest = self.largest(job, vectors, piece)?;
        self.weights(job, vectors, piece, &largest)?;
        match &job.units {
            Some(units) => self.sums_by_units(job, units, copy, piece),
            None => self.sums_of_values(job, copy, piece),
        }
    }

    /// The rows of the tile as vectors, numbered.
    fn vectors_of_rows(&mut self, job: &Job<'c>, copy: &Copy<'c>) -> Vec<Copy<'c>> {
        let online = job.online;
        (0..online.rows / online.width)
            .map(|at| {
                let mut point = copy.point.clone();
                if let Some(row) = online.row {
                    let base = job.begin.add(&mut self.b, Num::Const(at * online.width));
                    point[row] = Some(Coord { base, lanes: online.width > 1, block: None });
                }
                Copy { point, outer: at as usize, slot: at as usize, mask: None }
            })
            .collect()
    }

    /// Copies the operand of the scores that serves all keys, so that its lanes lie side by side: element by element along its rows.
    fn copy_operand(&mut self, job: &Job<'c>, copy: &Copy<'c>) -> Result<(), Error> {
        let (Some((operand, depth)), Some(packed), Some(scores)) = (job.pack, job.scratch.packed, job.view.scores) else { return Ok(()) };
        let Some(row) = job.online.row else { return Ok(()) };
        let stage = StageView::new(self.kernel.stages[scores].op);
        let rows = Num::Const(job.online.rows);
        let along = Loop {
            dim: depth,
            width: 1,
            unroll: COPIES,
            range: (Num::Const(0), self.sizes[depth]),
            length: None,
            tail: Tail::Loop,
            aligned: false,
        };
        let around = std::mem::replace(&mut self.width, 1);
        self.repeat(Num::Const(0), rows, 1, Vec::new(), &mut |emitter, line, carried| {
            let mut copy = copy.clone();
            copy.point[row] = Some(Coord { base: job.begin.add(&mut emitter.b, line), lanes: false, block: None });
            emitter.nest(&[along], &[copy], Vec::new(), &mut |emitter, copies, carried| {
                emitter.reads.clear();
                for copy in copies {
                    let value = emitter.read(&stage, operand, copy)?;
                    let at = copy.point[depth].map_or(Num::Const(0), |coord| coord.base);
                    let at = at.mul(&mut emitter.b, rows).add(&mut emitter.b, line);
                    emitter.put(job, packed, at, value);
                }
                emitter.reads.clear();
                Ok(carried)
            })?;
            Ok(carried)
        })?;
        self.width = around;
        Ok(())
    }
}

impl<'c> Job<'c> {
    fn single(&self) -> Self {
        Self { online: self.online.single(), pack: None, units: None, mask: None, ..self.clone() }
    }
}
