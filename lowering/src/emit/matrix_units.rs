//! Products by matrix units of the CPU (AMX), where a kernel's schedule has `matrix_units`.
//!
//! A unit holds tiles of 16 rows of 64 bytes. A register block is some tiles of sums, 16 rows by 16 columns each: `roll` is the dim of rows, lanes are
//! columns. A step of the sum takes up to 16 words (`--pair-halves`, `--quad-bytes`): a tile of the operand with rows has so many words of 16 rows,
//! one of the operand with columns so many rows of a panel. The words that are left over are copied beside zeros. Behind the sum its tiles go to scratch
//! memory, where the stages that follow read them.

use super::emitter::{Buffer, Emitter};
use super::lanes::{Coord, Point};
use super::nest::{Copy, Loop};
use super::tiles::groups_along;
use super::{Error, memory};
use crate::num::Num;
use strata_core::ir::{Builder, ElementType, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_core::upstream::llvm;
use strata_dialects::loops::access::coefficient;
use strata_dialects::loops::register_block::{UNIT_STEPS, unit_steps};
use strata_dialects::loops::roles::Product;
use strata_dialects::loops::view::StageView;
use strata_dialects::loops::{AVX512BF16, INSTRUCTION, VNNI};

/// Tiles that a unit holds.
const TILES: usize = 8;
/// Bytes of a word.
const WORD_BYTES: i64 = 4;
/// Words of a row of a whole tile: sums, or steps. A tile has as many rows.
const COLUMNS: i64 = UNIT_STEPS;
/// Bytes of a row of a whole tile.
const ROW_BYTES: i64 = COLUMNS * WORD_BYTES;

/// LLVM's name of the product of pairs of `bf16`.
pub(crate) const PAIRS: &str = "llvm.x86.tdpbf16ps";

/// LLVM's name of a product, by the instruction that a stage names and the operand with rows. Of two operands of bytes the first is unsigned.
const PRODUCTS: &[(&str, usize, &str)] =
    &[(AVX512BF16, 0, PAIRS), (AVX512BF16, 1, PAIRS), (VNNI, 0, "llvm.x86.tdpbusd"), (VNNI, 1, "llvm.x86.tdpbsud")];

/// The tiles of a register block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tiles {
    /// Rows of the tiles of sums below each other.
    rows: Vec<i64>,
    /// Tiles of sums beside each other.
    beside: usize,
    /// Steps that a tile of an operand has.
    steps: i64,
}

impl Tiles {
    /// Two tiles below each other and two beside each other, all of them whole.
    pub fn square() -> Self {
        Self { rows: vec![COLUMNS; 2], beside: 2, steps: UNIT_STEPS }
    }

    /// Tiles of sums.
    fn sums(&self) -> usize {
        self.rows.len() * self.beside
    }

    /// The number of a tile of the operand with rows.
    fn of_rows(&self, below: usize) -> usize {
        self.sums() + below
    }

    /// The number of a tile of the operand with columns, which take turns in those that are left.
    fn of_columns(&self, beside: usize) -> usize {
        let first = self.of_rows(self.rows.len());
        first + beside % (TILES - first)
    }

    /// What `ldtilecfg` reads, as numbers of 8 bytes: a 1, from byte 16 on the bytes of each tile's rows, from byte 48 on how many rows it has.
    fn configuration(&self) -> [i64; 8] {
        let mut bytes = [0_u8; 64];
        bytes[0] = 1;
        let mut tile = |at: usize, rows: i64, row_bytes: i64| (bytes[16 + 2 * at], bytes[48 + at]) = (row_bytes as u8, rows as u8);
        for (below, &rows) in self.rows.iter().enumerate() {
            (0..self.beside).for_each(|beside| tile(below * self.beside + beside, rows, ROW_BYTES));
            tile(self.of_rows(below), rows, self.steps * WORD_BYTES);
        }
        (0..self.beside).for_each(|beside| tile(self.of_columns(beside), self.steps, ROW_BYTES));
        let mut words = [0; 8];
        words.iter_mut().zip(bytes.as_chunks().0).for_each(|(word, bytes)| *word = i64::from_le_bytes(*bytes));
        words
    }
}

/// Tiles that are configured for a kernel: which, and where the configuration lies.
#[derive(Clone)]
pub(crate) struct Configured<'c> {
    tiles: Tiles,
    at: Value<'c>,
}

/// An operand of a product.
struct Operand<'c> {
    number: usize,
    /// The dim that a tile's rows run along.
    along: usize,
    /// The point of the first element of each tile, where no step of the sum is taken.
    starts: Vec<Point<'c>>,
}

/// Tiles in memory.
pub(crate) struct Places<'c> {
    /// Where each begins.
    pub starts: Vec<Value<'c>>,
    /// Elements from one of its rows to the next.
    pub pitch: Num<'c>,
    /// Bytes of an element.
    pub bytes: i64,
}

impl<'c> Emitter<'c> {
    /// Adds up the products of a stage for the register block of some copies.
    pub(super) fn matrix_products(&mut self, stage: &StageView<'c>, copies: &[Copy<'c>], loops: &[Loop<'c>]) -> Result<(), Error> {
        let refuse = |reason: &str| Error::at(stage.op, format!("the schedule has 'matrix_units', and {reason}"));
        let schedule = self.kernel.schedule();
        let named = stage.op.str(INSTRUCTION).unwrap_or_default();
        let product = Product::of(&self.kernel).map(|product| (product.wide, product.lanes));
        let (wide, lanes) =
            product.filter(|(_, lanes)| schedule.vector == Some(*lanes)).ok_or_else(|| refuse("the stage is no product"))?;
        let found = PRODUCTS.iter().find(|(known, rows, _)| *known == named && *rows == 1 - wide);
        let &(.., multiply) = found.ok_or_else(|| refuse("the stage names no instruction that they have"))?;
        let along = schedule.roll.filter(|&dim| dim != lanes && self.kernel.tiles().is_some());
        let along = along.ok_or_else(|| refuse("not both a 'tile' and a 'roll', the dim of its rows"))?;
        if !stage.is_register() {
            return Err(refuse("no stage follows that stores its sums"));
        }
        let (&last, mut around) = loops.split_last().ok_or_else(|| refuse("nothing is summed"))?;
        let groups = groups_along(copies, along);
        let count = groups[0].len() as i64;
        let rows: Vec<i64> = (0..count).step_by(COLUMNS as usize).map(|first| COLUMNS.min(count - first)).collect();
        let starts = |copies: Vec<&Copy<'c>>| copies.into_iter().map(|copy| copy.point.clone()).collect();
        let operand = |number: usize, along: usize, copies: Vec<&Copy<'c>>| Operand { number, along, starts: starts(copies) };
        let by_rows = operand(1 - wide, along, groups[0].iter().step_by(COLUMNS as usize).collect());
        let by_columns = operand(wide, last.dim, groups.iter().map(|group| &group[0]).collect());
        let pitch = |emitter: &mut Self, operand: &Operand<'c>, dim: usize| emitter.pitch_in(stage, operand.number, dim);
        let apart = "a row of an operand is not so many elements from the next";
        let pitches = [pitch(self, &by_rows, along), pitch(self, &by_columns, last.dim)];
        let [Some(below), Some(behind)] = pitches else { return Err(refuse(apart)) };
        if pitch(self, &by_rows, last.dim) != Some(Num::Const(1)) {
            return Err(refuse("the words of a row do not lie beside each other"));
        }
        // Words of neighbours under a window are one row.
        let mut last = last;
        while let Some((outer, rest)) = around.split_last() {
            let Some(length) = last.steps().zip(outer.steps()).filter(|_| [&last, outer].iter().all(|lp| lp.range.0 == Num::Const(0)))
            else {
                break;
            };
            let row = Num::Const(length.0);
            let goes_on = |emitter: &mut Self, operand: &Operand<'c>, pitch: Num<'c>| {
                emitter.pitch_in(stage, operand.number, outer.dim) == Some(pitch.mul(&mut emitter.b, row))
            };
            if !goes_on(self, &by_rows, Num::Const(1)) || !goes_on(self, &by_columns, behind) {
                break;
            }
            last = Loop { range: (Num::Const(0), Num::Const(length.0 * length.1)), length: None, ..last };
            around = rest;
        }
        let tiles = Tiles { rows, beside: groups.len(), steps: last.steps().map_or(UNIT_STEPS, unit_steps) };
        if self.width != COLUMNS || tiles.of_rows(tiles.rows.len()) >= TILES {
            return Err(refuse("the register block is not one of up to six tiles of 16 by 16 sums"));
        }
        let configured = self.configure(stage, &tiles)?;
        self.zero_tiles(&tiles);
        let start = Copy { slot: 0, mask: None, ..copies[0].clone() };
        self.nest(around, &[start], Vec::new(), &mut |emitter, copies, carried| {
            let (begin, end) = last.range;
            let length = last.length.map_or_else(|| end.sub(&mut emitter.b, begin), Num::Const);
            let whole = length.floor_div(&mut emitter.b, Num::Const(tiles.steps)).mul(&mut emitter.b, Num::Const(tiles.steps));
            let stop = begin.add(&mut emitter.b, whole);
            let point = |at: Num<'c>| {
                let mut point = copies[0].point.clone();
                let first = Some(Coord { base: Num::Const(0), lanes: false, block: None });
                stage.reduce.iter().for_each(|&dim| point[dim] = point[dim].or(first));
                point[last.dim] = Some(Coord { base: at, lanes: false, block: None });
                point
            };
            emitter.repeat(begin, stop, tiles.steps, Vec::new(), &mut |emitter, at, carried| {
                let at = point(at);
                let rows = Places { starts: emitter.starts(stage, &by_rows, &at)?, pitch: below, bytes: WORD_BYTES };
                let columns = Places { starts: emitter.starts(stage, &by_columns, &at)?, pitch: behind, bytes: WORD_BYTES };
                emitter.add_products(multiply, &tiles, [&rows, &columns]);
                Ok(carried)
            })?;
            if whole != length {
                let (at, left) = (point(stop), end.sub(&mut emitter.b, stop));
                let zero = Num::Const(0).value(&mut emitter.b);
                let number = left.value(&mut emitter.b);
                let some = arith::cmpi(&mut emitter.b, CmpIPredicate::Sgt, number, zero);
                emitter.when(some, |emitter| -> Result<(), Error> {
                    let places = emitter.beside_zeros(stage, [&by_rows, &by_columns], &tiles, (&at, left))?;
                    emitter.add_products(multiply, &tiles, [&places[0], &places[1]]);
                    Ok(())
                })?;
            }
            Ok(carried)
        })?;
        let element = self.element(stage)?;
        let scratch = self.scratch(stage.op, element, copies.len() as i64 * COLUMNS)?;
        self.store_tiles(&tiles, (scratch, element), |below, beside| (beside as i64 * count + below as i64 * COLUMNS) * COLUMNS, COLUMNS);
        // What is configured for a last block holds for that one only.
        if let Some(usual) = configured {
            self.unit("llvm.x86.ldtilecfg", &[], &[usual]);
        }
        self.in_scratch.insert(stage.op.result(0), scratch);
        Ok(())
    }

    /// Configures tiles: for all of the kernel, or for one block where others are in use; these are given then.
    pub(crate) fn configure(&mut self, stage: &StageView<'c>, tiles: &Tiles) -> Result<Option<Value<'c>>, Error> {
        let usual = self.configured.clone();
        if usual.as_ref().is_some_and(|usual| usual.tiles == *tiles) {
            return Ok(None);
        }
        let at = self.scratch(stage.op, ElementType::I64, 8)?;
        let mut entry = at.defining_op().map_or_else(|| Builder::at_start(self.entry, self.b.location()), Builder::after);
        for (word, number) in tiles.configuration().into_iter().enumerate() {
            let number = entry.const_int(self.cx.int(64), number);
            memory::store(&mut entry, at, Num::Const(word as i64), number, ElementType::I64);
        }
        match usual {
            None => {
                llvm::call_void_intrinsic(&mut entry, "llvm.x86.ldtilecfg", &[at]);
                self.configured = Some(Configured { tiles: tiles.clone(), at });
                Ok(None)
            }
            Some(usual) => {
                self.unit("llvm.x86.ldtilecfg", &[], &[at]);
                Ok(Some(usual.at))
            }
        }
    }

    /// Makes all sums zero.
    pub(crate) fn zero_tiles(&mut self, tiles: &Tiles) {
        (0..tiles.sums()).for_each(|sum| self.unit("llvm.x86.tilezero", &[sum], &[]));
    }

    /// Stores all sums in memory: each tile from the element on that is told by how many are above it and beside it, and its rows so many apart.
    pub(crate) fn store_tiles(&mut self, tiles: &Tiles, memory: (Value<'c>, ElementType), first: impl Fn(usize, usize) -> i64, pitch: i64) {
        self.move_tiles("llvm.x86.tilestored64", tiles, memory, (&first, pitch));
    }

    /// Loads all sums from where they would be stored.
    pub(crate) fn load_tiles(&mut self, tiles: &Tiles, memory: (Value<'c>, ElementType), first: impl Fn(usize, usize) -> i64, pitch: i64) {
        self.move_tiles("llvm.x86.tileloadd64", tiles, memory, (&first, pitch));
    }

    fn move_tiles(
        &mut self,
        intrinsic: &str,
        tiles: &Tiles,
        (base, element): (Value<'c>, ElementType),
        (first, pitch): (&dyn Fn(usize, usize) -> i64, i64),
    ) {
        for (beside, below) in (0..tiles.beside).flat_map(|beside| (0..tiles.rows.len()).map(move |below| (beside, below))) {
            let place = memory::element_pointer(&mut self.b, base, Num::Const(first(below, beside)), element);
            let pitch = self.bytes(Num::Const(pitch), element.bytes() as i64);
            self.unit(intrinsic, &[below * tiles.beside + beside], &[place, pitch]);
        }
    }

    /// Gives the tiles back, where there are some: what nobody uses is not saved for the next thread of the core.
    pub(crate) fn release_tiles(&mut self) {
        if self.configured.is_some() {
            self.unit("llvm.x86.tilerelease", &[], &[]);
        }
    }

    /// An instruction on tiles.
    fn unit(&mut self, intrinsic: &str, tiles: &[usize], operands: &[Value<'c>]) {
        let mut all: Vec<_> = tiles.iter().map(|&tile| self.b.const_int(self.cx.int(8), tile as i64)).collect();
        all.extend(operands);
        llvm::call_void_intrinsic(&mut self.b, intrinsic, &all);
    }

    /// Bytes of so many elements.
    fn bytes(&mut self, elements: Num<'c>, each: i64) -> Value<'c> {
        let bytes = elements.mul(&mut self.b, Num::Const(each)).value(&mut self.b);
        arith::index_cast(&mut self.b, bytes, self.cx.int(64))
    }

    /// Elements by which an operand moves along a dim, where that is the same everywhere.
    pub(crate) fn pitch_in(&mut self, stage: &StageView<'c>, operand: usize, dim: usize) -> Option<Num<'c>> {
        let buffer = self.buffers.get(&stage.op.operand(operand)).cloned()?;
        let exprs = buffer.kept(stage.maps[operand].results());
        let (mut total, mut inner) = (Num::Const(0), Num::Const(1));
        for (expr, &size) in exprs.into_iter().zip(&buffer.shape).rev() {
            let step = inner.mul(&mut self.b, Num::Const(coefficient(expr, dim)?));
            total = total.add(&mut self.b, step);
            inner = inner.mul(&mut self.b, size);
        }
        Some(total)
    }

    /// Where an operand is read at a point, by its first lane: its memory, and an index.
    fn index_in(&mut self, stage: &StageView<'c>, operand: usize, point: &Point<'c>) -> Result<(Buffer<'c>, Num<'c>), Error> {
        let buffer = self.buffers.get(&stage.op.operand(operand)).cloned();
        let buffer = buffer.ok_or_else(|| Error::at(stage.op, format!("operand {operand} is nowhere in memory")))?;
        let exprs = buffer.kept(stage.maps[operand].results());
        let indices: Vec<_> = exprs.into_iter().map(|expr| self.index(point, expr)).collect();
        let at = self.linear(&buffer, &indices).base;
        Ok((buffer, at))
    }

    /// The address of the element that an operand is read at, by its first lane.
    pub(crate) fn place_in(&mut self, stage: &StageView<'c>, operand: usize, point: &Point<'c>) -> Result<Value<'c>, Error> {
        let (buffer, at) = self.index_in(stage, operand, point)?;
        Ok(memory::element_pointer(&mut self.b, buffer.base, at, buffer.element))
    }

    /// Where the tiles of an operand begin at a step of the sum.
    fn starts(&mut self, stage: &StageView<'c>, operand: &Operand<'c>, at: &Point<'c>) -> Result<Vec<Value<'c>>, Error> {
        operand.starts.iter().map(|start| self.place_in(stage, operand.number, &summed(stage, start, at))).collect()
    }

    /// Adds the products of a step to all sums.
    pub(crate) fn add_products(&mut self, multiply: &str, tiles: &Tiles, [rows, columns]: [&Places<'c>; 2]) {
        let [below, behind] = [rows, columns].map(|places| self.bytes(places.pitch, places.bytes));
        for (at, &start) in rows.starts.iter().enumerate() {
            self.unit("llvm.x86.tileloadd64", &[tiles.of_rows(at)], &[start, below]);
        }
        for (beside, &start) in columns.starts.iter().enumerate() {
            let column = tiles.of_columns(beside);
            self.unit("llvm.x86.tileloadd64", &[column], &[start, behind]);
            for at in 0..rows.starts.len() {
                self.unit(multiply, &[at * tiles.beside + beside, tiles.of_rows(at), column], &[]);
            }
        }
    }

    /// Copies the last words of a sum, fewer than a step takes, beside zeros.
    fn beside_zeros(
        &mut self,
        stage: &StageView<'c>,
        [by_rows, by_columns]: [&Operand<'c>; 2],
        tiles: &Tiles,
        (at, left): (&Point<'c>, Num<'c>),
    ) -> Result<[Places<'c>; 2], Error> {
        let element = ElementType::I32;
        let room = |emitter: &mut Self, rows: i64| emitter.scratch(stage.op, element, rows * COLUMNS);
        let (rows, columns) = (room(self, tiles.rows.iter().sum())?, room(self, tiles.beside as i64 * COLUMNS)?);
        let mask = self.lanes_left(Num::Const(0), left, COLUMNS);
        let row = |emitter: &mut Self, from: i64, turn: Num<'c>| {
            Num::Const(from).add(&mut emitter.b, turn).mul(&mut emitter.b, Num::Const(COLUMNS))
        };
        for (below, start) in by_rows.starts.iter().enumerate() {
            self.repeat(Num::Const(0), Num::Const(tiles.rows[below]), 1, Vec::new(), &mut |emitter, turn, carried| {
                let start = moved(&mut emitter.b, start, by_rows.along, turn);
                let (buffer, from) = emitter.index_in(stage, by_rows.number, &summed(stage, &start, at))?;
                let words = memory::load_vector(&mut emitter.b, buffer.base, from, element, COLUMNS, Some(mask));
                let to = row(emitter, below as i64 * COLUMNS, turn);
                memory::store_vector(&mut emitter.b, rows, to, words, element, None);
                Ok(carried)
            })?;
        }
        for (beside, start) in by_columns.starts.iter().enumerate() {
            let first = beside as i64 * COLUMNS;
            self.repeat(Num::Const(0), left, 1, Vec::new(), &mut |emitter, turn, carried| {
                let at = moved(&mut emitter.b, at, by_columns.along, turn);
                let (buffer, from) = emitter.index_in(stage, by_columns.number, &summed(stage, start, &at))?;
                let words = memory::load_vector(&mut emitter.b, buffer.base, from, element, COLUMNS, None);
                let to = row(emitter, first, turn);
                memory::store_vector(&mut emitter.b, columns, to, words, element, None);
                Ok(carried)
            })?;
            self.repeat(left, Num::Const(COLUMNS), 1, Vec::new(), &mut |emitter, turn, carried| {
                let zero = emitter.b.const_int(emitter.cx.int(32), 0);
                let zeros = memory::broadcast(&mut emitter.b, zero, COLUMNS);
                let to = row(emitter, first, turn);
                memory::store_vector(&mut emitter.b, columns, to, zeros, element, None);
                Ok(carried)
            })?;
        }
        Ok([(rows, by_rows.starts.len()), (columns, tiles.beside)].map(|(scratch, count)| {
            let start = |tile: usize| memory::element_pointer(&mut self.b, scratch, Num::Const(tile as i64 * COLUMNS * COLUMNS), element);
            Places { starts: (0..count).map(start).collect(), pitch: Num::Const(COLUMNS), bytes: WORD_BYTES }
        }))
    }
}

/// A point with the indices of another along what a stage sums over.
fn summed<'c>(stage: &StageView<'c>, point: &Point<'c>, at: &Point<'c>) -> Point<'c> {
    let mut point = point.clone();
    stage.reduce.iter().for_each(|&dim| point[dim] = at[dim]);
    point
}

/// A point so far along a dim.
fn moved<'c>(b: &mut Builder<'c>, point: &Point<'c>, dim: usize, by: Num<'c>) -> Point<'c> {
    let mut point = point.clone();
    point[dim] = point[dim].map(|coord| Coord { base: coord.base.add(b, by), block: None, ..coord });
    point
}
