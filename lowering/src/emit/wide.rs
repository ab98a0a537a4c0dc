//! Threads that take neighbours: elements in a row come and go 16 bytes at a time.
//!
//! The copies of a body that stand side by side in a row of a tensor share its loads and stores. Where rows begin at a multiple of what
//! is taken follows from their length; a length that is known at run time only is asked for there, once for all of the kernel.

use crate::emit::Error;
use crate::emit::emitter::{Buffer, Emitter};
use crate::emit::lanes::{Coord, InBlock};
use crate::emit::memory;
use crate::emit::nest::Copy;
use crate::num::Num;
use strata_core::ir::{AffineExpr, AffineKind, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_core::upstream::{scf, vector};
use strata_dialects::loops::view::StageView;

/// Bytes that a thread loads or stores at a time.
pub const WIDE: i64 = 16;

/// Work on an emitter.
type Work<'a, 'c> = &'a mut dyn FnMut(&mut Emitter<'c>) -> Result<(), Error>;

impl<'c> Emitter<'c> {
    /// `condition` and `index < size`, which is certain where tiles of this size fill the dim.
    pub(crate) fn below(&mut self, condition: Option<Value<'c>>, index: Num<'c>, size: Num<'c>, tile: i64) -> Option<Value<'c>> {
        if matches!(size, Num::Const(size) if size % tile == 0) {
            return condition;
        }
        let (index, size) = (index.value(&mut self.b), size.value(&mut self.b));
        let test = arith::cmpi(&mut self.b, CmpIPredicate::Slt, index, size);
        Some(condition.map_or(test, |before| arith::andi(&mut self.b, before, test)))
    }

    /// The copies of so many neighbours along a dim from `base` on, a multiple of their number.
    pub(crate) fn neighbours(&mut self, copy: &Copy<'c>, dim: usize, base: Num<'c>, width: i64) -> Vec<Copy<'c>> {
        let one = |k: i64| {
            let mut copy = Copy { outer: k as usize, slot: k as usize, ..copy.clone() };
            let block = Some(InBlock { start: base, size: width, offset: k });
            copy.point[dim] = Some(Coord { base: base.add(&mut self.b, Num::Const(k)), lanes: false, block });
            copy
        };
        (0..width).map(one).collect()
    }

    /// Whether the rows that are read or written as wholes begin at multiples of so many elements; nothing when it is certain.
    pub(crate) fn rows_are_whole(&mut self, accesses: &[(usize, i64)]) -> Option<Value<'c>> {
        let mut asked = Vec::new();
        for (stage, &(dim, width)) in self.stages().iter().zip(accesses).filter(|(_, (_, width))| *width > 1) {
            let mut rows = Vec::new();
            for (operand, map) in stage.maps.iter().enumerate().filter(|(operand, _)| !stage.guarded[*operand]) {
                rows.push((stage.op.operand(operand), map.results()));
            }
            let results: Vec<_> = stage.result_dims().into_iter().map(|dim| self.cx.dim(dim)).collect();
            rows.extend(stage.op.results().into_iter().map(|result| (result, results.clone())));
            for (tensor, exprs) in rows {
                let Some(buffer) = self.buffers.get(&tensor).filter(|buffer| is_row(buffer, &exprs, dim, width)) else { continue };
                if let Some(extent @ Num::Value(_)) = buffer.shape.last().filter(|_| exprs.len() > 1) {
                    asked.push((*extent, width));
                }
            }
        }
        let mut whole = None;
        for (k, &(extent, width)) in asked.iter().enumerate() {
            if !asked[..k].contains(&(extent, width)) {
                let left = extent.modulo(&mut self.b, Num::Const(width));
                let test = self.is_zero(left);
                whole = Some(self.and(whole, test));
            }
        }
        whole
    }

    /// `condition` and `other`.
    pub(crate) fn and(&mut self, condition: Option<Value<'c>>, other: Value<'c>) -> Value<'c> {
        condition.map_or(other, |before| arith::andi(&mut self.b, before, other))
    }

    /// Takes neighbours together where the condition holds, and one by one where it does not.
    pub(crate) fn if_whole<'a>(&mut self, whole: Option<Value<'c>>, together: Work<'a, 'c>, alone: Work<'a, 'c>) -> Result<(), Error> {
        let Some(whole) = whole else {
            self.wide = true;
            return together(self);
        };
        let (_, [then, otherwise]) = scf::branches(&mut self.b, whole, &[]);
        for (block, wide, work) in [(then, true, together), (otherwise, false, alone)] {
            // What one side has computed the other has not.
            self.registers.clear();
            self.reads.clear();
            self.wide = wide;
            self.in_block(block, |emitter| {
                work(emitter)?;
                scf::yield_(&mut emitter.b, &[]);
                Ok(())
            })?;
        }
        self.registers.clear();
        self.reads.clear();
        Ok(())
    }

    /// What copies side by side in a row read of an operand.
    pub(crate) fn read_wide(&mut self, stage: &StageView<'c>, operand: usize, copies: &[Copy<'c>]) -> Option<Vec<Value<'c>>> {
        let dim = self.side_by_side(copies)?;
        let (tensor, width) = (stage.op.operand(operand), copies.len() as i64);
        if stage.guarded[operand] || self.registers.contains_key(&(tensor, copies[0].outer)) {
            return None;
        }
        let exprs = stage.maps[operand].results();
        let buffer = self.buffers.get(&tensor).filter(|buffer| is_row(buffer, &exprs, dim, width)).cloned()?;
        let (at, each) = (self.row_at(&buffer, &exprs, &copies[0]), piece(&buffer, width));
        let mut values = Vec::new();
        for first in (0..width).step_by(each as usize) {
            let at = at.add(&mut self.b, Num::Const(first));
            let row = memory::load_row(&mut self.b, buffer.base, at, buffer.element, each);
            let ty = row.ty().element();
            let part = |lane: i64| {
                let position = ("static_position", self.cx.i64s_attr(&[lane]));
                self.b.value(vector::Extract::NAME, &[row], ty, &[position])
            };
            values.extend((0..each).map(part));
        }
        Some(values)
    }

    /// Writes what copies side by side in a row have for a result; gives whether they are that.
    pub(crate) fn write_wide(&mut self, stage: &StageView<'c>, result: Value<'c>, copies: &[Copy<'c>], values: &[Value<'c>]) -> bool {
        let (dims, width) = (stage.result_dims(), copies.len() as i64);
        let Some(dim) = self.side_by_side(copies) else { return false };
        if self.cooperative.is_some() && !self.block_shares(&dims) {
            return false;
        }
        let exprs: Vec<_> = dims.into_iter().map(|dim| self.cx.dim(dim)).collect();
        let Some(buffer) = self.buffers.get(&result).filter(|buffer| is_row(buffer, &exprs, dim, width)).cloned() else { return false };
        let (at, each) = (self.row_at(&buffer, &exprs, &copies[0]), piece(&buffer, width));
        for (number, values) in values.chunks(each as usize).enumerate() {
            let at = at.add(&mut self.b, Num::Const(number as i64 * each));
            memory::store_row(&mut self.b, buffer.base, at, values, buffer.element);
        }
        true
    }

    /// The dim along which copies are neighbours from a multiple of their number on.
    fn side_by_side(&self, copies: &[Copy<'c>]) -> Option<usize> {
        let (first, rest) = copies.split_first().filter(|(_, rest)| self.wide && !rest.is_empty())?;
        let begins = |coord: &Option<Coord<'c>>| {
            let block = coord.and_then(|coord| coord.block);
            block.filter(|block| block.size == copies.len() as i64 && block.offset == 0)
        };
        let dim = first.point.iter().position(|coord| begins(coord).is_some())?;
        let block = begins(&first.point[dim])?;
        let next = |(k, copy): (usize, &Copy<'c>)| {
            let mut point = copy.point.clone();
            let coord = std::mem::replace(&mut point[dim], first.point[dim]);
            coord.is_some_and(|coord| coord.block == Some(InBlock { offset: k as i64 + 1, ..block })) && point == first.point
        };
        rest.iter().enumerate().all(next).then_some(dim)
    }

    fn row_at(&mut self, buffer: &Buffer<'c>, exprs: &[AffineExpr<'c>], copy: &Copy<'c>) -> Num<'c> {
        let indices: Vec<_> = exprs.iter().map(|&expr| self.index(&copy.point, expr)).collect();
        self.linear(buffer, &indices).base
    }
}

/// Elements that go at a time.
fn piece(buffer: &Buffer<'_>, width: i64) -> i64 {
    (WIDE / buffer.element.bytes() as i64).clamp(1, width)
}

/// Whether an access moves along the rows of a tensor as a dim does, and rows begin at a multiple of so many elements, or at one if a
/// length that is known at run time only is a multiple of it.
fn is_row(buffer: &Buffer<'_>, exprs: &[AffineExpr<'_>], dim: usize, width: i64) -> bool {
    let Some((last, others)) = exprs.split_last() else { return false };
    let along = last.kind() == AffineKind::Dim(dim) && !others.iter().any(|expr| expr.uses_dim(dim));
    let whole = match buffer.shape.last() {
        Some(Num::Const(extent)) => extent % width == 0,
        _ => true,
    };
    along && buffer.kept.is_none() && !buffer.element.is_complex() && (others.is_empty() || whole)
}
