//! Kernels whose outer loops are tiled.
//!
//! The tiles of all outer dims are one range that threads share. Inside a tile the register block of the schedule runs over it; there
//! is one copy of the code for all blocks: lanes beyond the end of a dim are off, and a last block of rows begins earlier. Where the
//! schedule peels the dim of the lanes, its last block is a copy of its own, and the others are whole.

use super::emitter::Emitter;
use super::lanes::{Coord, in_lanes};
use super::nest::{Copy, Loop, Tail};
use super::{Error, memory};
use crate::num::Num;
use strata_dialects::loops::view::StageView;

impl<'c> Emitter<'c> {
    /// The tiles from `range.0` to `range.1`, counted with the last outer dim innermost.
    pub(super) fn run_tiles(&mut self, range: (Num<'c>, Num<'c>), tiles: &[i64]) -> Result<(), Error> {
        let outer = self.kernel.outer.clone();
        self.repeat(range.0, range.1, 1, Vec::new(), &mut |emitter, at, carried| {
            let mut rest = at;
            let mut ranges = Vec::new();
            for (&dim, &tile) in outer.iter().zip(tiles).rev() {
                let (b, size) = (&mut emitter.b, emitter.sizes[dim]);
                let count = size.ceil_div(b, Num::Const(tile));
                let begin = rest.modulo(b, count).mul(b, Num::Const(tile));
                rest = rest.floor_div(b, count);
                let end = begin.add(b, Num::Const(tile));
                let whole = matches!(size, Num::Const(size) if size % tile == 0);
                ranges.push((begin, if whole { end } else { end.min(b, size) }));
            }
            ranges.reverse();
            emitter.tile(&ranges, tiles)?;
            Ok(carried)
        })?;
        Ok(())
    }

    /// One tile: a range of each outer dim.
    fn tile(&mut self, ranges: &[(Num<'c>, Num<'c>)], tiles: &[i64]) -> Result<(), Error> {
        let schedule = self.kernel.schedule();
        let (vector, width) = (schedule.vector, schedule.width.unwrap_or(1));
        let unroll = schedule.unroll.unwrap_or_default();
        let peeled = schedule.peel.unwrap_or_default();
        let mut start = Copy { point: vec![None; self.kernel.num_dims()], outer: 0, slot: 0, mask: None };
        let mut loops = Vec::new();
        for (level, (&dim, &range)) in self.kernel.outer.iter().zip(ranges).enumerate() {
            if tiles[level] == 1 {
                start.point[dim] = Some(Coord { base: range.0, lanes: false, block: None });
                continue;
            }
            let width = if vector == Some(dim) { width } else { 1 };
            let unroll = unroll.get(level).copied().unwrap_or(1).max(1);
            let aligned = tiles[level] % (width * unroll) == 0;
            let even = aligned && matches!(self.sizes[dim], Num::Const(size) if size % (width * unroll) == 0);
            let tail = match width {
                _ if even => Tail::None,
                // What is written over an operand cannot be made twice.
                1 if self.kernel.in_place().iter().any(Option::is_some) => Tail::Loop,
                1 => Tail::Overlap(self.sizes[dim]),
                _ if peeled.contains(&dim) => Tail::Loop,
                _ => Tail::Mask,
            };
            loops.push(Loop { dim, width, unroll, range, length: None, tail, aligned: aligned && width > 1 });
        }
        self.nest(&loops, &[start], Vec::new(), &mut |emitter, copies, carried| {
            let copies: Vec<_> = copies.iter().map(|copy| Copy { outer: copy.slot, ..copy.clone() }).collect();
            emitter.register_block(&copies)?;
            Ok(carried)
        })?;
        Ok(())
    }

    /// All stages for one register block. What follows the last reduction is a loop along the dim `roll`, when there is one.
    fn register_block(&mut self, copies: &[Copy<'c>]) -> Result<(), Error> {
        let stages = self.stages();
        let roll = self.kernel.schedule().roll;
        let reductions = stages.iter().rposition(|stage| !stage.reduce.is_empty()).map_or(0, |at| at + 1);
        let (first, rest) = stages.split_at(if roll.is_some() { reductions } else { stages.len() });
        for stage in first {
            self.stage(stage, copies)?;
        }
        match roll {
            Some(dim) if !rest.is_empty() => self.rolled(first, rest, copies, dim),
            _ => Ok(()),
        }
    }

    /// The stages `rest` in a loop over the copies along a dim; what `before` left in registers goes through memory.
    fn rolled(&mut self, before: &[StageView<'c>], rest: &[StageView<'c>], copies: &[Copy<'c>], dim: usize) -> Result<(), Error> {
        let groups = groups_along(copies, dim);
        let turns = groups.first().map_or(0, Vec::len);
        let width = self.width;
        let mut kept = Vec::new();
        for (stage, result) in before.iter().flat_map(|stage| stage.op.results().into_iter().map(move |result| (stage, result))) {
            let Some(element) = result.ty().element_type() else { continue };
            if let Some(scratch) = self.in_scratch.remove(&result) {
                kept.push((result, element, scratch));
                continue;
            }
            if !self.registers.contains_key(&(result, copies[0].outer)) {
                continue;
            }
            let scratch = self.scratch(stage.op, element, copies.len() as i64 * width)?;
            for (slot, copy) in groups.iter().flatten().enumerate() {
                let value = self.registers[&(result, copy.outer)];
                let value = if width > 1 { in_lanes(&mut self.b, value, width) } else { value };
                let at = Num::Const(slot as i64 * width);
                match width {
                    1 => memory::store(&mut self.b, scratch, at, value, element),
                    _ => memory::store_vector(&mut self.b, scratch, at, value, element, None),
                }
            }
            kept.push((result, element, scratch));
        }
        self.repeat(Num::Const(0), Num::Const(turns as i64), 1, Vec::new(), &mut |emitter, turn, carried| {
            let mut rows = Vec::new();
            for (group, copies) in groups.iter().enumerate() {
                let mut row = Copy { outer: group, slot: group, ..copies[0].clone() };
                let base = row.point[dim].map_or(Num::Const(0), |coord| coord.base).add(&mut emitter.b, turn);
                row.point[dim] = Some(Coord { base, lanes: false, block: None });
                let at = turn.add(&mut emitter.b, Num::Const((group * turns) as i64)).mul(&mut emitter.b, Num::Const(width));
                for &(result, element, scratch) in &kept {
                    let value = match width {
                        1 => memory::load(&mut emitter.b, scratch, at, element),
                        _ => memory::load_vector(&mut emitter.b, scratch, at, element, width, None),
                    };
                    emitter.registers.insert((result, group), value);
                }
                rows.push(row);
            }
            for stage in rest {
                emitter.stage(stage, &rows)?;
            }
            Ok(carried)
        })?;
        Ok(())
    }
}

/// Copies that differ along one dim only, in order.
pub fn groups_along<'c>(copies: &[Copy<'c>], dim: usize) -> Vec<Vec<Copy<'c>>> {
    let key = |copy: &Copy<'c>| {
        let mut point = copy.point.clone();
        point[dim] = None;
        point
    };
    let mut groups: Vec<Vec<Copy<'c>>> = Vec::new();
    for copy in copies {
        match groups.iter_mut().find(|group| key(&group[0]) == key(copy)) {
            Some(group) => group.push(copy.clone()),
            None => groups.push(vec![copy.clone()]),
        }
    }
    groups
}
