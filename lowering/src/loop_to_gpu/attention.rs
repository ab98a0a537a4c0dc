//! Attention: values weighed by the softmax of scores, while keys stream by: a block of threads has a tile of rows.
//!
//! The threads of a block divide the rows of its tile; those that share some rows are neighbours in one warp. Step by step of `block` keys
//! the scores are computed as a contraction is, through shared memory; a row's largest score is found across lanes; the weights go to
//! shared memory, and then the values' parts, step by step. A thread keeps in registers, for each of its rows, the largest score so far,
//! its part of the sum of weights, and its columns of the weighed sum; where the largest score grows, what was summed before is scaled down.
//! Attention in halves is the work of [`matrix_attention`](super::matrix_attention).

use super::kernel::{shared, special};
use super::matrix::Matrix;
use super::matrix_attention;
use super::tiles::Tiles;
use crate::emit::Error;
use crate::emit::emitter::Emitter;
use crate::emit::lanes::{Coord, zero_of};
use crate::emit::memory;
use crate::emit::nest::Copy;
use crate::emit::shuffle::from_lane_across;
use crate::num::Num;
use strata_core::ir::{ElementType, Op, Value};
use strata_core::upstream::{arith, gpu, math, nvvm};
use strata_dialects::loops::attention::{AttentionView, OnlineTiles};
use strata_dialects::loops::view::{KernelView, StageView};
use strata_dialects::target::gpu::WARP;

/// How a kernel around a mean is cut, as its schedule says.
pub struct Attention {
    view: AttentionView,
    online: OnlineTiles,
    /// Which of the outer dims has the rows.
    level: usize,
    element: ElementType,
    /// Threads that share rows.
    lanes: i64,
    /// How the scores are computed, where a stage does.
    scores: Option<Tiles>,
    /// How the values come.
    values: Tiles,
    /// Whether matrix units multiply.
    matrix_units: bool,
}

/// An index of a tile: its place from the beginning of the tile on, and the index, which counts only below the size of its dim.
#[derive(Clone, Copy)]
struct Place<'c> {
    within: Num<'c>,
    at: Num<'c>,
}

impl Attention {
    /// Reads the schedule of a kernel, when it has a mean and says how threads share it.
    pub fn of(kernel: &KernelView<'_>) -> Option<Self> {
        let view = AttentionView::of(kernel).ok()??;
        let schedule = kernel.schedule();
        schedule.online?;
        let online = OnlineTiles::of(kernel, None);
        let step = schedule.step?;
        let level = kernel.outer.iter().position(|&dim| Some(dim) == online.row)?;
        let element = kernel.stages[view.mean].op.result(0).ty().element_type();
        let element = element.filter(|element| matches!(element, ElementType::F32 | ElementType::F64))?;
        let lanes = online.block / online.keys;
        let whole = online.block % online.keys == 0 && online.rows % online.lines == 0 && online.width == 1;
        let shares = lanes > 0 && lanes <= WARP && (lanes as u64).is_power_of_two();
        let threads = online.rows / online.lines * lanes;
        let columns = view.column.map_or(Some(1), |column| kernel.static_size(column))?;
        if !(whole && shares && threads % WARP == 0 && columns <= online.columns * lanes) {
            return None;
        }
        let asked = schedule.matrix_units == Some(true);
        let fits = lanes == matrix_attention::LANES
            && online.lines == 2
            && [online.block, step, online.columns * lanes].iter().all(|n| n % matrix_attention::COLUMNS == 0);
        let by_units = matrix_attention::values_in_halves(kernel, &view, kernel.outer[level]).filter(|_| asked && fits);
        if asked && by_units.is_none() {
            return None;
        }
        let rows = |other: i64, of_row: i64| -> Vec<i64> {
            (0..kernel.outer.len()).map(|at| if at == level { of_row } else { 1 }).chain([other]).collect()
        };
        let levels = [level, kernel.outer.len()];
        let matrix = |tile: i64, operands: [usize; 2]| {
            Matrix::in_rows(levels, online.rows / matrix_attention::ROWS, [matrix_attention::ROWS, tile], operands)
        };
        let cut = |dim: usize, tile: i64, each: i64, along: usize, room: &'static str| Tiles {
            dims: kernel.outer.iter().copied().chain([dim]).collect(),
            tile: rows(tile, online.rows),
            unroll: rows(each, online.lines),
            along,
            step,
            matrix: None,
            room,
        };
        let scores = match view.scores {
            Some(scores) => {
                let depths = kernel.stages[scores].reduce.iter().copied();
                let depth = depths.max_by_key(|&dim| kernel.static_size(dim).unwrap_or(i64::MAX))?;
                let operands = matrix_attention::operands_of_scores(&kernel.stages[scores], view.key).filter(|_| by_units.is_some());
                let matrix = operands.map(|operands| matrix(online.block, operands));
                Some(Tiles { matrix, ..cut(view.key, online.block, online.keys, depth, "scores") })
            }
            None => None,
        };
        // A mean of single values has a column of its own, which is no dim.
        let column = view.column.unwrap_or(usize::MAX);
        let mut values = cut(column, online.columns * lanes, online.columns, view.key, "values");
        if let Some(operand) = by_units {
            values.matrix = Some(matrix(online.columns * lanes, [usize::MAX, operand]));
            values.step = online.block;
        }
        Some(Self { view, online, level, element, lanes, scores, values, matrix_units: by_units.is_some() })
    }

    /// Threads of a block.
    pub fn threads(&self) -> i64 {
        self.online.rows / self.online.lines * self.lanes
    }

    /// The tile sizes of the outer dims.
    pub fn sizes(&self) -> &[i64] {
        &self.values.tile[..self.values.tile.len() - 1]
    }
}

impl<'c> Emitter<'c> {
    /// Writes a kernel around a mean.
    pub(super) fn run_attention(&mut self, device: Op<'c>, attention: &Attention, start: Copy<'c>) -> Result<(), Error> {
        let (block, thread) = (special(&mut self.b, gpu::BlockId::NAME), special(&mut self.b, gpu::ThreadId::NAME));
        let (block, thread, online) = (Num::Value(block), Num::Value(thread), attention.online);
        let origins = self.tile_origins(attention.sizes(), block);
        let lane = thread.modulo(&mut self.b, Num::Const(attention.lanes));
        let group = thread.floor_div(&mut self.b, Num::Const(attention.lanes));
        let mut start = start;
        for (level, &dim) in self.kernel.outer.clone().iter().enumerate() {
            start.point[dim] = Some(Coord { base: origins[level], lanes: false, block: None });
        }
        let row = self.kernel.outer[attention.level];
        let rows = self.rows_of(attention, group, origins[attention.level]);
        let columns = self.across(attention, lane, online.columns, Num::Const(0));
        let column = attention.view.column.map(|column| (column, columns.as_slice()));
        let points = grid(&start, (row, &rows), column);

        let mean = StageView::new(self.kernel.stages[attention.view.mean].op);
        let name = self.kernel.op.str("sym_name").unwrap_or_default();
        let pitch = online.block + 1;
        let room = online.rows * pitch * attention.element.bytes() as i64;
        // (Where units multiply they stay in registers.)
        let weights = (!attention.matrix_units).then(|| shared(device, &mut self.b, &format!("{name}.weights"), room));
        let wanted = read_by_value(&mean);
        let parts = self.parts(device, &mean, &attention.values, &|operand| wanted.contains(&operand))?;
        let near = self.readable(&parts, &wanted, &points, &attention.values.cuts());

        let ty = self.cx.element(attention.element);
        let (lowest, zero) = (self.b.const_float(ty, f64::NEG_INFINITY), self.b.const_float(ty, 0.0));
        let factor = attention.matrix_units.then(|| self.b.const_float(ty, matrix_attention::WEIGHT));
        let lines = rows.len();
        let carried = [vec![lowest; lines], vec![zero; lines], vec![zero; points.len()]].concat();
        let keys = self.sizes[attention.view.key];
        let even = matches!(keys, Num::Const(keys) if keys % online.block == 0);
        let mut last = keys;
        if let Some(reach) = online.reach {
            let end = origins[attention.level].add(&mut self.b, Num::Const(online.rows + reach));
            last = keys.min(&mut self.b, end);
        }
        let found = self.repeat(Num::Const(0), last, online.block, carried, &mut |emitter, from, carried| {
            let here = emitter.across(attention, lane, online.keys, from);
            if attention.matrix_units {
                // The values are on their way while the scores are computed; those of the step before are done with.
                emitter.barrier();
                let origins = origins_with(&origins, Num::Const(0));
                for part in &parts {
                    emitter.fetch(&mean, &attention.values, part, (&points[0], &origins, thread), from)?;
                }
                nvvm::cp_async_commit_group(&mut emitter.b);
            }
            let scores = emitter.scores_of(device, attention, (&start, row, &rows), (&here, from), (&origins, thread))?;
            let (before, sums) = (&carried[..lines], &carried[lines..2 * lines]);
            if attention.scores.is_none() {
                // The weights of the step before are done with. (Where scores go through shared memory, that has a barrier.)
                emitter.barrier();
            }
            let (mut state, mut scales, mut kept) = ([Vec::new(), Vec::new()], Vec::new(), Vec::new());
            for (line, scores) in scores.chunks(here.len()).enumerate() {
                let mut largest = scores.iter().fold(before[line], |largest, &score| emitter.larger(largest, score));
                largest = emitter.across_lanes(attention.lanes, largest, Self::larger);
                // Where all scores are -inf every distance would be NaN: from 0 they are -inf, and all weights 0.
                let origin = emitter.replaced(largest, lowest, zero);
                let distance = emitter.float(arith::SubF::NAME, &[before[line], origin]);
                let scale = emitter.float(math::Exp::NAME, &[distance]);
                let mut sum = emitter.float(arith::MulF::NAME, &[sums[line], scale]);
                let mut of_line = Vec::new();
                for (score, key) in scores.iter().zip(&here) {
                    let distance = emitter.float(arith::SubF::NAME, &[*score, origin]);
                    let mut weight = emitter.float(math::Exp::NAME, &[distance]);
                    if let Some(factor) = factor {
                        weight = emitter.float(arith::MulF::NAME, &[weight, factor]);
                    }
                    sum = emitter.float(arith::AddF::NAME, &[sum, weight]);
                    of_line.push(weight);
                    if let Some(weights) = weights {
                        let at = rows[line].within.mul(&mut emitter.b, Num::Const(pitch)).add(&mut emitter.b, key.within);
                        memory::store(&mut emitter.b, weights, at, weight, attention.element);
                    }
                }
                kept.push(of_line);
                state[0].push(largest);
                state[1].push(sum);
                scales.push(scale);
            }
            let each = points.len() / lines;
            let scaled: Vec<_> = carried[2 * lines..].iter().enumerate().map(|(k, &mean)| (mean, scales[k / each])).collect();
            let scaled: Vec<_> = scaled.into_iter().map(|(mean, scale)| emitter.float(arith::MulF::NAME, &[mean, scale])).collect();
            let [largest, totals] = state;
            if let (Some(matrix), [part]) = (&attention.values.matrix, parts.as_slice()) {
                let word = emitter.cx.int(32);
                emitter.b.effect(nvvm::CpAsyncWaitGroup::NAME, &[], &[("n", emitter.cx.int_attr(word, 0))]);
                emitter.barrier();
                let sums = emitter.weigh((&attention.values, matrix, part), &kept, &scaled, thread)?;
                emitter.registers.clear();
                return Ok([largest, totals, sums].concat());
            }
            let weights = weights.ok_or_else(|| Error::at(mean.op, "its values have no place in shared memory"))?;
            let end = from.add(&mut emitter.b, Num::Const(online.block));
            let end = if even { end } else { end.min(&mut emitter.b, keys) };
            emitter.leave_out(&mean, &wanted, &near);
            let sums = emitter.repeat(from, end, attention.values.step, scaled, &mut |emitter, at, sums| {
                emitter.barrier();
                for part in &parts {
                    emitter.stage_to_shared(
                        &mean,
                        &attention.values,
                        part,
                        (&near[0], &origins_with(&origins, Num::Const(0)), at),
                        thread,
                    )?;
                }
                emitter.barrier();
                let origins = origins_with(&origins, Num::Const(0));
                emitter.one_step(
                    &mean,
                    &attention.values,
                    (&parts, &origins),
                    (&near, at),
                    sums,
                    &mut |emitter, copies, yields, mut sums| {
                        let mut weighed: Vec<Option<Value<'c>>> = vec![None; lines];
                        for (slot, (copy, yields)) in copies.iter().zip(yields).enumerate() {
                            let line = slot / each;
                            let weight = weighed[line].unwrap_or_else(|| {
                                let key = copy.point[attention.view.key].map_or(Num::Const(0), |coord| coord.base);
                                let at = rows[line].within.mul(&mut emitter.b, Num::Const(pitch)).add(&mut emitter.b, key);
                                let at = at.sub(&mut emitter.b, from);
                                memory::load(&mut emitter.b, weights, at, attention.element)
                            });
                            weighed[line] = Some(weight);
                            let product = emitter.float(arith::MulF::NAME, &[weight, yields[1]]);
                            sums[slot] = emitter.float(arith::AddF::NAME, &[sums[slot], product]);
                        }
                        Ok(sums)
                    },
                )
            })?;
            emitter.registers.clear();
            Ok([largest, totals, sums].concat())
        })?;
        self.finish_attention(attention, &points, (&rows, column.map(|(_, places)| places), lane), &found[lines..])
    }

    /// The rows of a thread; a group of threads shares them.
    fn rows_of(&mut self, attention: &Attention, group: Num<'c>, origin: Num<'c>) -> Vec<Place<'c>> {
        let online = attention.online;
        if !attention.matrix_units {
            return self.places(group, online.rows / online.lines, online.lines, origin);
        }
        let (b, half) = (&mut self.b, Num::Const(matrix_attention::ROWS / 2));
        let warp = group.floor_div(b, half).mul(b, Num::Const(matrix_attention::ROWS));
        let first = group.modulo(b, half).add(b, warp);
        self.places(first, matrix_attention::ROWS / 2, online.lines, origin)
    }

    /// The keys or columns of a thread of those that share rows.
    fn across(&mut self, attention: &Attention, lane: Num<'c>, count: i64, origin: Num<'c>) -> Vec<Place<'c>> {
        if !attention.matrix_units {
            return self.places(lane, attention.lanes, count, origin);
        }
        let first = lane.mul(&mut self.b, Num::Const(2));
        let pairs = (0..count / 2).map(|pair| {
            let first = first.add(&mut self.b, Num::Const(8 * pair));
            self.places(first, 1, 2, origin)
        });
        pairs.collect::<Vec<_>>().concat()
    }

    /// Some places of a tile that begins at `origin`: every `apart`th from the first on.
    fn places(&mut self, first: Num<'c>, apart: i64, count: i64, origin: Num<'c>) -> Vec<Place<'c>> {
        let place = |k: i64| {
            let within = first.add(&mut self.b, Num::Const(k * apart));
            Place { within, at: origin.add(&mut self.b, within) }
        };
        (0..count).map(place).collect()
    }

    /// The scores of a thread's rows and keys, row by row; -inf beyond the last key.
    fn scores_of(
        &mut self,
        device: Op<'c>,
        attention: &Attention,
        (start, row, rows): (&Copy<'c>, usize, &[Place<'c>]),
        (keys, from): (&[Place<'c>], Num<'c>),
        (origins, thread): (&[Num<'c>], Num<'c>),
    ) -> Result<Vec<Value<'c>>, Error> {
        let (key, block) = (attention.view.key, attention.online.block);
        let copies = grid(start, (row, rows), Some((key, keys)));
        let mean = StageView::new(self.kernel.stages[attention.view.mean].op);
        if let (Some(tiles), Some(scores)) = (&attention.scores, attention.view.scores) {
            let stage = StageView::new(self.kernel.stages[scores].op);
            let sums = self.contract(device, &stage, tiles, (&copies, &origins_with(origins, from)), thread)?;
            let sums = if attention.matrix_units { matrix_attention::from_units(&sums) } else { sums };
            let tile = stage.op.result(0);
            self.registers.extend(copies.iter().zip(sums).map(|(copy, sum)| ((tile, copy.outer), sum)));
        }
        let copies = self.within(&copies, &[(row, attention.online.rows), (key, block)]);
        self.reads.clear();
        let yields = self.bodies(&mean, &copies)?;
        self.reads.clear();
        self.registers.clear();
        let ty = self.cx.element(attention.element);
        let lowest = self.b.const_float(ty, f64::NEG_INFINITY);
        let inside: Vec<_> = keys.iter().map(|key_at| self.below(None, key_at.at, self.sizes[key], block)).collect();
        let scores = yields.into_iter().enumerate().map(|(slot, yields)| match inside[slot % keys.len()] {
            Some(inside) => arith::select(&mut self.b, inside, yields[0], lowest),
            None => yields[0],
        });
        Ok(scores.collect())
    }

    /// Says of operands that are not wanted that they are known: what a body makes of them is left out by the compiler.
    fn leave_out(&mut self, stage: &StageView<'c>, wanted: &[usize], copies: &[Copy<'c>]) {
        for tensor in stage.op.operands() {
            let needed = wanted.iter().any(|&operand| stage.op.operand(operand) == tensor);
            let Some(element) = tensor.ty().element_type().filter(|_| !needed) else { continue };
            let zero = zero_of(&mut self.b, element);
            self.registers.extend(copies.iter().map(|copy| ((tensor, copy.outer), zero)));
        }
    }

    /// What so many neighbouring lanes have, joined.
    fn across_lanes(&mut self, lanes: i64, mut value: Value<'c>, join: fn(&mut Self, Value<'c>, Value<'c>) -> Value<'c>) -> Value<'c> {
        let mut distance = lanes / 2;
        while distance > 0 {
            let other = from_lane_across(&mut self.b, value, distance);
            value = join(self, value, other);
            distance /= 2;
        }
        value
    }

    /// Divides by the sums of weights, and runs the stages that follow where there is a point.
    fn finish_attention(
        &mut self,
        attention: &Attention,
        points: &[Copy<'c>],
        (rows, columns, lane): (&[Place<'c>], Option<&[Place<'c>]>, Num<'c>),
        found: &[Value<'c>],
    ) -> Result<(), Error> {
        let mean = StageView::new(self.kernel.stages[attention.view.mean].op);
        let after: Vec<_> = self.stages().into_iter().skip(attention.view.mean + 1).collect();
        let zero_rows = mean.op.str("reducer").as_deref() == Some("softmax_or_zero");
        let ty = self.cx.element(attention.element);
        let (zero, one) = (self.b.const_float(ty, 0.0), self.b.const_float(ty, 1.0));
        let (row, each) = (self.kernel.outer[attention.level], points.len() / rows.len());
        for (line, place) in rows.iter().enumerate() {
            let sum = self.across_lanes(attention.lanes, found[line], |emitter, x, y| emitter.float(arith::AddF::NAME, &[x, y]));
            // No weight at all: all scores are -inf, and the sum of values is 0 as well.
            let sum = if zero_rows { self.replaced(sum, zero, one) } else { sum };
            let inverse = self.float(arith::DivF::NAME, &[one, sum]);
            let of_row = self.below(None, place.at, self.sizes[row], attention.online.rows);
            for k in 0..each {
                let copy = &points[line * each + k];
                let value = self.float(arith::MulF::NAME, &[found[rows.len() + line * each + k], inverse]);
                let inside = match (attention.view.column, columns) {
                    (Some(column), Some(columns)) => {
                        self.below(of_row, columns[k].at, self.sizes[column], attention.online.columns * attention.lanes)
                    }
                    // All lanes have the same.
                    _ => {
                        let first = self.is_zero(lane);
                        Some(self.and(of_row, first))
                    }
                };
                let finish = |emitter: &mut Self| -> Result<(), Error> {
                    emitter.write(&mean, mean.op.result(0), copy, value)?;
                    for stage in &after {
                        emitter.reads.clear();
                        let yields = emitter.bodies(stage, std::slice::from_ref(copy))?.swap_remove(0);
                        for (result, value) in stage.op.results().into_iter().zip(yields) {
                            emitter.write(stage, result, copy, value)?;
                        }
                    }
                    emitter.reads.clear();
                    Ok(())
                };
                match inside {
                    Some(inside) => self.when(inside, finish)?,
                    None => finish(self)?,
                }
            }
        }
        Ok(())
    }
}

/// A copy for each row and each place along another dim.
fn grid<'c>(start: &Copy<'c>, (row, rows): (usize, &[Place<'c>]), other: Option<(usize, &[Place<'c>])>) -> Vec<Copy<'c>> {
    let mut copies = Vec::new();
    for place in rows {
        let others = other.map_or(vec![None], |(dim, places)| places.iter().map(|place| Some((dim, place.at))).collect());
        for other in others {
            let mut copy = Copy { outer: copies.len(), slot: copies.len(), ..start.clone() };
            for (dim, base) in other.into_iter().chain([(row, place.at)]) {
                copy.point[dim] = Some(Coord { base, lanes: false, block: None });
            }
            copies.push(copy);
        }
    }
    copies
}

/// Where the tile begins along the outer dims, and along another one.
fn origins_with<'c>(origins: &[Num<'c>], last: Num<'c>) -> Vec<Num<'c>> {
    [origins, &[last]].concat()
}

/// The operands of a mean that its value is made of, not only its score.
pub fn read_by_value(mean: &StageView<'_>) -> Vec<usize> {
    let block = mean.op.body(0);
    let args = block.args();
    let mut wanted: Vec<Value<'_>> = block.terminator().map(|op| op.operands()).unwrap_or_default().into_iter().skip(1).collect();
    let mut found = Vec::new();
    while let Some(value) = wanted.pop() {
        match args.iter().position(|&arg| arg == value) {
            Some(operand) => found.push(operand),
            None => wanted.extend(value.defining_op().map(|op| op.operands()).unwrap_or_default()),
        }
    }
    found
}
