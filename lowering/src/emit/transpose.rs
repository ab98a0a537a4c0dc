//! Reads of an operand whose contiguous dim is not the one that lanes run along: vectors along its own dim, transposed in registers.

use super::complex_lanes;
use super::emitter::{Buffer, Emitter};
use super::interleave::moved_as;
use super::lanes::{self, Across, Coord};
use super::memory;
use super::nest::Copy;
use crate::num::Num;
use strata_core::ir::{AffineExpr, Builder, ElementType, Value};
use strata_core::upstream::{scf, vector};
use strata_dialects::loops::access::{Stride, distance, stride};
use strata_dialects::loops::view::StageView;

/// Bits in which registers shuffle within themselves for the least cost.
const GROUP: i64 = 128;

/// What is read in rows and used in columns.
struct Square<'c> {
    element: ElementType,
    /// What stands for an element in memory.
    moved: ElementType,
    /// From one row to the next.
    step: Num<'c>,
    /// Which rows are on.
    on: Option<Value<'c>>,
    /// Which elements of a row are inside.
    inside: Option<Value<'c>>,
    /// Whether the first column is the last in memory.
    backwards: bool,
    /// Columns.
    count: i64,
}

impl<'c> Emitter<'c> {
    /// What the copies read of an operand, when the schedule says that they stand side by side along its contiguous dim: as many as there
    /// are lanes, or all of a dim that is shorter.
    pub(super) fn read_transposed(&mut self, stage: &StageView<'c>, operand: usize, copies: &[Copy<'c>]) -> Option<Vec<Value<'c>>> {
        let along = stage.schedule().transpose?;
        let tensor = stage.op.operand(operand);
        let (map, width, on) = (stage.maps[operand], self.width, copies[0].mask);
        // Backwards, the first copy reads what comes last in memory.
        let backwards = distance(map, tensor, along) == Some(-1);
        let count = copies.len() as i64;
        let side_by_side = (2..=width).contains(&count);
        if copies.iter().any(|copy| copy.mask != on) || !side_by_side || !(backwards || stride(map, tensor, along) == Stride::One) {
            return None;
        }
        let buffer = self.buffers.get(&tensor).cloned().filter(|buffer| buffer.kept.is_none())?;
        let exprs = map.results();
        let indices: Vec<_> = exprs.iter().map(|&expr| self.index(&copies[0].point, expr)).collect();
        let at = self.linear(&buffer, &indices);
        let Across::Step(step) = at.across else { return None };
        if backwards && stage.guarded[operand] {
            return None;
        }
        let inside = if stage.guarded[operand] { self.inside_along(&buffer, &exprs, &copies[0], along)? } else { None };
        let inside = if count < width {
            let first = self.lanes_left(Num::Const(0), Num::Const(count), width);
            lanes::both(&mut self.b, inside, Some(first), width)
        } else {
            inside
        };
        let moved = moved_as(buffer.element)?;
        let (square, origin) = (Square { element: buffer.element, moved, step, on, inside, backwards, count }, (buffer.base, at.base));
        let mut columns = match inside {
            None => self.columns_of(&square, origin),
            // Where nothing is inside, as in slices that are padding alone, nothing is read: masked loads of what is not mapped take long.
            Some(inside) => {
                let some = self.any(inside);
                let zero = lanes::zero_of(&mut self.b, buffer.element);
                let zero = memory::broadcast(&mut self.b, zero, width);
                let (op, [then, otherwise]) = scf::branches(&mut self.b, some, &vec![zero.ty(); count as usize]);
                self.in_block(then, |emitter| {
                    let columns = emitter.columns_of(&square, origin);
                    scf::yield_(&mut emitter.b, &columns);
                });
                self.b.within(otherwise, |b| {
                    scf::yield_(b, &vec![zero; count as usize]);
                });
                op.results()
            }
        };
        if backwards {
            columns.reverse();
        }
        Some(columns)
    }

    /// The columns of a square whose first row begins at an index of memory.
    fn columns_of(&mut self, square: &Square<'c>, (base, first): (Value<'c>, Num<'c>)) -> Vec<Value<'c>> {
        let (width, &Square { element, moved, step, on, inside, backwards, count }) = (self.width, square);
        let mut rows = Vec::new();
        for lane in 0..width {
            let offset = step.mul(&mut self.b, Num::Const(lane));
            let offset = if backwards { offset.add(&mut self.b, Num::Const(1 - count)) } else { offset };
            let on = on.map(|mask| self.lane_of(mask, lane));
            let offset = on.map_or(offset, |on| self.if_any(on, offset, 0));
            let at = first.add(&mut self.b, offset);
            let mask = lanes::both(&mut self.b, inside, on, width).map(|mask| lanes::in_lanes(&mut self.b, mask, width));
            rows.push(memory::load_vector(&mut self.b, base, at, moved, width, mask));
        }
        let mut columns = transpose_registers(&mut self.b, rows, i64::from(element.bits().max(8)));
        columns.truncate(count as usize);
        for column in &mut columns {
            *column = match element {
                ElementType::C64 => complex_lanes::of_words(&mut self.b, *column),
                element => memory::from_memory(&mut self.b, *column, element),
            };
        }
        columns
    }

    /// Which elements of a vector along the operand's own dim lie inside of it; nothing when that differs between the lanes of before.
    fn inside_along(&mut self, buffer: &Buffer<'c>, exprs: &[AffineExpr<'c>], copy: &Copy<'c>, along: usize) -> Option<Option<Value<'c>>> {
        let across = copy.point.iter().position(|coord| coord.is_some_and(|coord| coord.lanes))?;
        let may_leave = |expr: AffineExpr<'c>, extent: Num<'c>| !self.stays(expr, extent) && !self.stays_inside(expr, extent);
        if exprs.iter().zip(&buffer.shape).any(|(expr, &extent)| expr.uses_dim(across) && may_leave(*expr, extent)) {
            return None;
        }
        let mut point = copy.point.clone();
        for (dim, lanes) in [(across, false), (along, true)] {
            point[dim] = point[dim].map(|coord| Coord { lanes, block: None, ..coord });
        }
        let indices: Vec<_> = exprs.iter().map(|&expr| self.index(&point, expr)).collect();
        Some(self.inside(buffer, exprs, &indices))
    }

    /// Whether one lane is on.
    fn lane_of(&mut self, mask: Value<'c>, lane: i64) -> Value<'c> {
        vector::extract(&mut self.b, mask, lane)
    }
}

/// The columns of a square of rows, by shuffles of two registers each: first squares within groups of bits, then the groups.
pub(super) fn transpose_registers<'c>(b: &mut Builder<'c>, mut rows: Vec<Value<'c>>, bits: i64) -> Vec<Value<'c>> {
    let width = rows.len() as i64;
    let group = (GROUP / bits).clamp(1, width);
    let mut rounds = group;
    while rounds > 1 {
        rounds /= 2;
        let mut next = Vec::new();
        for square in rows.chunks(group as usize) {
            let (first, second) = square.split_at(square.len() / 2);
            for (&x, &y) in first.iter().zip(second) {
                // Elements of the lower (then the upper) half of each group of lanes, in turn from one and the other.
                for half in [0, group / 2] {
                    let mask = |lane: i64| lane / group * group + half + lane % group / 2 + lane % 2 * width;
                    next.push(vector::shuffle(b, x, y, (0..width).map(mask)));
                }
            }
        }
        rows = next;
    }
    let groups = width / group;
    let mut columns = vec![Vec::new(); groups as usize];
    for inside in 0..group {
        let mut list: Vec<_> = (0..groups).map(|at| rows[(at * group + inside) as usize]).collect();
        let mut rounds = groups;
        while rounds > 1 {
            rounds /= 2;
            let mut halves = [Vec::new(), Vec::new()];
            for pair in list.chunks(2) {
                // The groups of even (then of odd) number of both.
                for (odd, half) in halves.iter_mut().enumerate() {
                    let mask = |lane: i64| (lane / group * 2 + odd as i64) * group + lane % group;
                    half.push(vector::shuffle(b, pair[0], pair[1], (0..width).map(mask)));
                }
            }
            list = halves.concat();
        }
        for (column, value) in columns.iter_mut().zip(list) {
            column.push(value);
        }
    }
    columns.concat()
}
