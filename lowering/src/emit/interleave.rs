//! Stores of a result whose rows are short and written whole: lanes run along the dim before the last one, a copy of the body stands at each
//! index of the last, and their vectors are interleaved in registers. What would be one store for each element is a store for each register.
//!
//! ```text
//! copy 0 has a0 a1 a2 a3, copy 1 has b0 b1 b2 b3; memory gets a0 b0 a1 b1 | a2 b2 a3 b3
//! ```

use super::complex_lanes;
use super::emitter::Emitter;
use super::lanes::{Across, in_lanes};
use super::memory;
use super::nest::Copy;
use super::non_temporal;
use super::tiles::groups_along;
use crate::num::Num;
use strata_core::ir::{Builder, ElementType, Value};
use strata_core::upstream::vector;
use strata_dialects::loops::view::StageView;

/// Rows of so many elements are interleaved at most: each store takes as many shuffles as there are elements, or their logarithm.
pub(crate) const MOST: i64 = 8;

impl<'c> Emitter<'c> {
    /// Writes what copies have for whole rows of a result; gives whether they are that.
    pub(super) fn write_interleaved(
        &mut self,
        stage: &StageView<'c>,
        result: Value<'c>,
        copies: &[Copy<'c>],
        values: &[Value<'c>],
    ) -> bool {
        let (dims, width) = (stage.result_dims(), self.width);
        let Some(&along) = dims.last() else { return false };
        let Num::Const(count @ 2..=MOST) = self.sizes[along] else { return false };
        let found = self.buffers.get(&result).filter(|buffer| buffer.kept.is_none());
        let Some((buffer, moved)) = found.and_then(|buffer| Some((buffer.clone(), moved_as(buffer.element)?))) else { return false };
        let rows = groups_along(copies, along);
        let whole = |row: &Vec<Copy<'c>>| {
            let at = |k: usize| row[k].point[along].map(|coord| (coord.base, coord.lanes));
            row.len() as i64 == count && (0..row.len()).all(|k| at(k) == Some((Num::Const(k as i64), false)) && row[k].mask.is_none())
        };
        if width <= 1 || self.cooperative.is_some() || !rows.iter().all(whole) {
            return false;
        }
        let exprs: Vec<_> = dims.iter().map(|&dim| self.cx.dim(dim)).collect();
        let mut places = Vec::new();
        for row in &rows {
            let indices: Vec<_> = exprs.iter().map(|&expr| self.index(&row[0].point, expr)).collect();
            let at = self.linear(&buffer, &indices);
            if !matches!(at.across, Across::Step(Num::Const(step)) if step == count) {
                return false;
            }
            places.push(at.base);
        }
        let route = self.route(stage, result);
        self.mask = None;
        for (row, base) in rows.iter().zip(places) {
            let value = |copy: &Copy<'c>| copies.iter().position(|other| other.slot == copy.slot).map(|at| values[at]);
            let columns: Option<Vec<_>> = row.iter().map(value).collect();
            let columns: Vec<_> = columns.into_iter().flatten().map(|value| in_lanes(&mut self.b, value, width)).collect();
            let as_moved = |column: Value<'c>| {
                let column = complex_lanes::as_words(&mut self.b, column);
                memory::to_memory(&mut self.b, column, buffer.element)
            };
            let columns = columns.into_iter().map(as_moved).collect();
            for (part, value) in interleaved(&mut self.b, columns, width).into_iter().enumerate() {
                let at = base.add(&mut self.b, Num::Const(part as i64 * width));
                non_temporal::store(&mut self.b, (buffer.base, at), value, moved, None, route);
            }
        }
        true
    }
}

/// The element that registers hold as memory does and that is moved for one of this type; a complex number of 64 bits is one of them, a
/// boolean is a byte.
pub(crate) fn moved_as(element: ElementType) -> Option<ElementType> {
    match element {
        ElementType::Index | ElementType::C128 => None,
        ElementType::Bool => Some(ElementType::I8),
        ElementType::C64 => Some(ElementType::F64),
        element => Some(element),
    }
}

/// The elements of vectors in turns: the first of each, then the second of each, and so on, in as many vectors.
fn interleaved<'c>(b: &mut Builder<'c>, columns: Vec<Value<'c>>, width: i64) -> Vec<Value<'c>> {
    let count = columns.len() as i64;
    if count == 1 {
        return columns;
    }
    if count % 2 == 0 {
        let half = |b: &mut Builder<'c>, odd: usize| interleaved(b, columns.iter().copied().skip(odd).step_by(2).collect(), width);
        let (even, odd) = (half(b, 0), half(b, 1));
        let pairs = even.into_iter().zip(odd);
        return pairs
            .flat_map(|(x, y)| {
                [0, width / 2].map(|from| vector::shuffle(b, x, y, (0..width).map(|lane| from + lane / 2 + lane % 2 * width)))
            })
            .collect();
    }
    // Each vector takes from one column after the other what it has of it.
    let part = |b: &mut Builder<'c>, part: i64| {
        let of = |lane: i64| ((part * width + lane) % count, (part * width + lane) / count);
        let rest = columns.iter().enumerate().skip(1);
        rest.fold(columns[0], |row, (column, &value)| {
            let lanes = (0..width).map(|lane| match of(lane) {
                (source, at) if source == column as i64 => width + at,
                // Of the first column lanes are still in their places.
                (0, at) if column == 1 => at,
                _ => lane,
            });
            vector::shuffle(b, row, value, lanes)
        })
    };
    (0..count).map(|at| part(b, at)).collect()
}
