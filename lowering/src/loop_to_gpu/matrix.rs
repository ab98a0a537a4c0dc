//! Contractions by matrix units: the warps of a block divide its tile, and a warp's threads hold their parts of sums, rows and columns as
//! `mma.sync` wants them.
//!
//! What a unit multiplies are 16 by 16 elements of the one operand and 16 by 8 of the other. Of the 16 by 8 sums a thread has four: lane
//! `4 g + t` those of rows `g` and `g + 8`, in columns `2 t` and `2 t + 1`. The operands come from shared memory by `ldmatrix`, in pairs along the
//! reduced dim, whichever dim is contiguous there; or, of f32, word by word (`tf32`).

use super::tiles::{Part, Tiles};
use crate::emit::Error;
use crate::emit::emitter::Emitter;
use crate::emit::lanes::{Coord, Index};
use crate::emit::nest::Copy;
use crate::num::Num;
use strata_core::ir::{ElementType, OpSpec, Value};
use strata_core::upstream::{arith, llvm, nvvm};
use strata_dialects::loops;
use strata_dialects::loops::view::{KernelView, StageView};
use strata_dialects::target::gpu::WARP;

/// Rows of sums that a unit makes.
const ROWS: i64 = 16;
/// Columns of sums that a unit makes.
const COLUMNS: i64 = 8;
/// What a lane reads of a row of either operand at a time: 16 elements along the reduced dim of f16 and bf16, 8 of f32.
fn along_a_unit(element: ElementType) -> i64 {
    if element == ElementType::F32 { 8 } else { 16 }
}

/// Elements by which a row in shared memory is longer than it need be: then the lanes of a warp read from different banks. `reduced` says
/// whether rows go along the reduced dim.
pub fn pad(element: ElementType, reduced: bool) -> i64 {
    if element == ElementType::F32 && reduced { 4 } else { 8 }
}

/// How a kernel's tile is divided among warps.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// The outer dims that are rows and columns, by their places among the outer dims.
    levels: [usize; 2],
    /// Warps along each of them.
    warps: [i64; 2],
    /// Points of a warp along each.
    points: [i64; 2],
    /// The operands: the one with rows, the one with columns.
    operands: [usize; 2],
}

/// The type of the two operands of which a stage adds up products as matrix units do: f16 or bf16, whose products are exact, or f32, of which the
/// units see the first bits only. Sums are f32.
pub fn multiplies(stage: &StageView<'_>) -> Option<ElementType> {
    factors(stage).and_then(|_| stage.op.operand(0).ty().element_type())
}

/// What is multiplied: for each operand, in their order, the condition without which zero takes its element's place.
pub(super) fn factors<'c>(stage: &StageView<'c>) -> Option<[Option<Value<'c>>; 2]> {
    let op = stage.op;
    let element =
        |k: usize| op.operand(k).ty().element_type().filter(|ty| matches!(ty, ElementType::F16 | ElementType::BF16 | ElementType::F32));
    let two = stage.maps.len() == 2 && op.num_operands() == 2 && op.operand(0) != op.operand(1);
    if !two || element(0).is_none() || element(0) != element(1) || op.str("reducer").is_none_or(|name| name != "sum") {
        return None;
    }
    let args = op.body(0).args();
    let last = op.body(0).ops().pop()?;
    let product = last.operand(0).defining_op().filter(|product| product.isa::<arith::MulF>())?;
    if product.result(0).ty().element_type() != Some(ElementType::F32) {
        return None;
    }
    let mut found = [None, None];
    for factor in product.operands() {
        let (made, condition) = match factor.defining_op().filter(|op| op.isa::<arith::Select>()) {
            Some(select) => (Some(select.operand(1)).filter(|_| is_zero(select.operand(2)))?, Some(select.operand(0))),
            None => (factor, None),
        };
        let made = match element(0) {
            Some(ElementType::F32) => made,
            _ => made.defining_op().filter(|op| op.isa::<arith::ExtF>())?.operand(0),
        };
        let operand = args.iter().position(|&arg| arg == made)?;
        if condition.is_some_and(|condition| !asks_for(stage, operand, condition)) || found[operand].replace(condition).is_some() {
            return None;
        }
    }
    let [a, b] = found;
    Some([a?, b?])
}

fn is_zero(value: Value<'_>) -> bool {
    let constant = value.defining_op().filter(|op| op.isa::<arith::Constant>());
    constant.and_then(|op| op.attr("value")).and_then(|value| value.as_float()).is_some_and(|value| value == 0.0)
}

/// Whether a value depends on nothing but the place of an operand's element.
fn asks_for(stage: &StageView<'_>, operand: usize, value: Value<'_>) -> bool {
    let Some(op) = value.defining_op().filter(|op| op.regions().is_empty()) else { return false };
    let dim = op.int("dim").and_then(|dim| usize::try_from(dim).ok()).filter(|_| op.isa::<loops::Index>());
    match dim {
        Some(dim) => stage.maps[operand].results().iter().any(|expr| expr.uses_dim(dim)),
        None => op.dialect() == "arith" && op.operands().into_iter().all(|value| asks_for(stage, operand, value)),
    }
}

impl Matrix {
    /// Reads the schedule of a kernel, when it asks for matrix units and its first stage is something for them.
    pub fn of(kernel: &KernelView<'_>, tile: &[i64], along: usize, step: i64) -> Option<Self> {
        let warps = kernel.schedule().warps.filter(|warps| warps.len() == tile.len())?;
        let stage = kernel.stages.first().filter(|stage| multiplies(stage).is_some_and(|element| step % along_a_unit(element) == 0))?;
        let tiled: Vec<_> = (0..tile.len()).filter(|&level| tile[level] > 1).collect();
        let uses = |operand: usize, dim: usize| stage.maps[operand].results().iter().any(|expr| expr.uses_dim(dim));
        let [rows, columns] = *tiled.as_slice() else { return None };
        let alone = |operand: usize, one: usize, other: usize| {
            uses(operand, along) && uses(operand, kernel.outer[one]) && !uses(operand, kernel.outer[other])
        };
        let operands = [[0, 1], [1, 0]].into_iter().find(|&[a, b]| alone(a, rows, columns) && alone(b, columns, rows))?;
        let points = [tile[rows] / warps[rows], tile[columns] / warps[columns]];
        let whole = tile[rows] == points[0] * warps[rows] && tile[columns] == points[1] * warps[columns];
        let others = warps.iter().enumerate().all(|(level, &count)| count == 1 || level == rows || level == columns);
        let fits = whole && others && points[0] % ROWS == 0 && points[1] % (2 * COLUMNS) == 0;
        fits.then_some(Self { levels: [rows, columns], warps: [warps[rows], warps[columns]], points, operands })
    }

    /// Warps below each other, each of which has `points` of rows (at the first of two levels of the dims that are cut) and of columns.
    pub(super) fn in_rows(levels: [usize; 2], warps: i64, points: [i64; 2], operands: [usize; 2]) -> Self {
        Self { levels, warps: [warps, 1], points, operands }
    }

    /// Threads of a block.
    pub fn threads(&self) -> i64 {
        self.warps.iter().product::<i64>() * WARP
    }

    /// Units along rows and columns of a warp.
    fn units(&self) -> (i64, i64) {
        (self.points[0] / ROWS, self.points[1] / COLUMNS)
    }
}

/// A thread's place: where its warp begins in the tile along rows and columns, and its lane's two numbers, the second twice as well.
#[derive(Clone, Copy)]
pub(super) struct Place<'c> {
    warp: [Num<'c>; 2],
    pub(super) group: Num<'c>,
    pub(super) number: Num<'c>,
    pair: Num<'c>,
}

impl<'c> Emitter<'c> {
    fn warp_place(&mut self, matrix: &Matrix, thread: Num<'c>) -> Place<'c> {
        let b = &mut self.b;
        let (lane, warp) = (thread.modulo(b, Num::Const(WARP)), thread.floor_div(b, Num::Const(WARP)));
        let (row, column) = (warp.floor_div(b, Num::Const(matrix.warps[1])), warp.modulo(b, Num::Const(matrix.warps[1])));
        let warp = [row.mul(b, Num::Const(matrix.points[0])), column.mul(b, Num::Const(matrix.points[1]))];
        let (group, number) = (lane.floor_div(b, Num::Const(4)), lane.modulo(b, Num::Const(4)));
        Place { warp, group, number, pair: number.mul(b, Num::Const(2)) }
    }

    /// The points whose sums a thread has, four for each unit, the units row by row.
    pub(super) fn fragment_points(&mut self, matrix: &Matrix, start: &Copy<'c>, origins: &[Num<'c>], thread: Num<'c>) -> Vec<Copy<'c>> {
        let outer = self.kernel.outer.clone();
        let place = self.warp_place(matrix, thread);
        let [rows, columns] = matrix.levels;
        let row = origins[rows].add(&mut self.b, place.warp[0]).add(&mut self.b, place.group);
        let column = origins[columns].add(&mut self.b, place.warp[1]).add(&mut self.b, place.pair);
        let (down, across) = matrix.units();
        let along = |emitter: &mut Self, base: Num<'c>, units: i64, size: i64, apart: i64| -> Vec<[Coord<'c>; 2]> {
            let coord = |emitter: &mut Self, offset: i64| {
                let base = base.add(&mut emitter.b, Num::Const(offset));
                Coord { base, lanes: false, block: None }
            };
            (0..units).map(|unit| [coord(emitter, unit * size), coord(emitter, unit * size + apart)]).collect()
        };
        let (rows_of, columns_of) = (along(self, row, down, ROWS, ROWS / 2), along(self, column, across, COLUMNS, 1));
        let mut copies = Vec::new();
        for row in &rows_of {
            for column in &columns_of {
                for half in row {
                    for one in column {
                        let mut copy = start.clone();
                        for (level, &dim) in outer.iter().enumerate() {
                            copy.point[dim] = Some(Coord { base: origins[level], lanes: false, block: None });
                        }
                        copy.point[outer[rows]] = Some(*half);
                        copy.point[outer[columns]] = Some(*one);
                        (copy.outer, copy.slot) = (copies.len(), copies.len());
                        copies.push(copy);
                    }
                }
            }
        }
        copies
    }

    /// A condition of a body at a point.
    pub(super) fn condition(&mut self, condition: Value<'c>, copy: &Copy<'c>) -> Result<Value<'c>, Error> {
        let Some(op) = condition.defining_op() else { return Ok(condition) };
        let operands = op.operands().into_iter().map(|operand| self.condition(operand, copy)).collect::<Result<Vec<_>, _>>()?;
        Ok(self.scalar_op(op, &operands, copy)?[0])
    }

    /// The products of one step, from shared memory, added to the sums.
    pub(super) fn matrix_step(
        &mut self,
        matrix: &Matrix,
        tiles: &Tiles,
        parts: &[Part<'c>],
        thread: Num<'c>,
        mut sums: Vec<Value<'c>>,
    ) -> Result<Vec<Value<'c>>, Error> {
        let find = |operand: usize| parts.iter().find(|part| part.operand == operand);
        let (Some(left), Some(right)) = (find(matrix.operands[0]), find(matrix.operands[1])) else {
            return Err(Error::at(self.kernel.op, "a matrix unit needs both operands in shared memory"));
        };
        let place = self.warp_place(matrix, thread);
        let b = &mut self.b;
        let lane = thread.modulo(b, Num::Const(WARP));
        let low = lane.modulo(b, Num::Const(8));
        let middle = lane.floor_div(b, Num::Const(8)).modulo(b, Num::Const(2)).mul(b, Num::Const(8));
        let high = lane.floor_div(b, Num::Const(16)).mul(b, Num::Const(8));
        let (down, across) = matrix.units();
        let element = left.buffer.element;
        let words = element == ElementType::F32;
        for from in (0..tiles.step).step_by(along_a_unit(element) as usize) {
            let mut rows = Vec::new();
            for unit in 0..down {
                let first = place.warp[0].add(&mut self.b, Num::Const(unit * ROWS));
                rows.push(match words {
                    true => [(0, 0), (8, 0), (0, 4), (8, 4)].map(|ahead| self.word(left, tiles, (first, from), place, ahead)),
                    false => self.fragment(left, tiles, (first, from), (low, middle, high)).map(|word| self.halves(element, word)),
                });
            }
            let mut columns = Vec::new();
            for pair in 0..across / 2 {
                let first = place.warp[1].add(&mut self.b, Num::Const(pair * 2 * COLUMNS));
                let [a, b, c, d] = match words {
                    true => [(0, 0), (0, 4), (8, 0), (8, 4)].map(|ahead| self.word(right, tiles, (first, from), place, ahead)),
                    false => self.fragment(right, tiles, (first, from), (low, high, middle)).map(|word| self.halves(element, word)),
                };
                columns.extend([[a, b], [c, d]]);
            }
            for (unit, four) in sums.chunks_mut(4).enumerate() {
                let (down, across) = (unit / across as usize, unit % across as usize);
                let made = self.multiply(element, &rows[down], &columns[across], four);
                four.copy_from_slice(&made);
            }
        }
        Ok(sums)
    }

    /// Four times 8 by 8 halves from shared memory, a word with two of each in every lane, neighbours along the reduced dim. Each lane says where
    /// eight elements in a row begin: by `low`, and by two numbers that are 0 or 8, for the other dim and for the reduced one.
    fn fragment(
        &mut self,
        part: &Part<'c>,
        tiles: &Tiles,
        (first, from): (Num<'c>, i64),
        (low, across, along): (Num<'c>, Num<'c>, Num<'c>),
    ) -> [Value<'c>; 4] {
        let cx = self.cx;
        let parse = |text: &str| cx.parse_attr(text).unwrap_or_else(|| unreachable!("the nvvm dialect is loaded"));
        let b = &mut self.b;
        let transposed = part.dims[1].0 != tiles.along;
        let (mut across, mut along) = (first.add(b, across), Num::Const(from).add(b, along));
        if transposed {
            along = along.add(b, low);
        } else {
            across = across.add(b, low);
        }
        let indices = if transposed { [along, across] } else { [across, along] };
        let at = self.shared_at(part, &indices.map(Index::uniform));
        let ty = cx.parse_type("!llvm.struct<(i32, i32, i32, i32)>").unwrap_or_else(|| unreachable!("the LLVM dialect is loaded"));
        let attrs = [
            ("eltType", parse("#nvvm.ld_st_matrix_elt_type<b16>")),
            ("layout", parse(if transposed { "#nvvm.mma_layout<col>" } else { "#nvvm.mma_layout<row>" })),
            ("num", cx.int_attr(cx.int(32), 4)),
            ("shape", parse("#nvvm.ld_st_matrix_shape<m = 8, n = 8>")),
        ];
        let all = self.b.value(nvvm::LdMatrix::NAME, &[at], ty, &attrs);
        [0, 1, 2, 3].map(|k| llvm::extractvalue(&mut self.b, all, k, cx.int(32)))
    }

    /// A word of two halves as a unit wants it.
    pub(super) fn halves(&mut self, element: ElementType, word: Value<'c>) -> Value<'c> {
        match element {
            ElementType::F16 => llvm::bitcast(&mut self.b, word, self.cx.vector(&[2], self.cx.element(ElementType::F16))),
            _ => word,
        }
    }

    /// The right operands of all units along a warp's columns, words of halves, from this index of the reduced dim on.
    pub(super) fn columns(&mut self, matrix: &Matrix, tiles: &Tiles, part: &Part<'c>, lane: Num<'c>, from: i64) -> Vec<[Value<'c>; 2]> {
        let b = &mut self.b;
        let low = lane.modulo(b, Num::Const(8));
        let middle = lane.floor_div(b, Num::Const(8)).modulo(b, Num::Const(2)).mul(b, Num::Const(8));
        let high = lane.floor_div(b, Num::Const(16)).mul(b, Num::Const(8));
        let mut columns = Vec::new();
        for pair in 0..matrix.units().1 / 2 {
            let [a, b, c, d] = self.fragment(part, tiles, (Num::Const(pair * 2 * COLUMNS), from), (low, high, middle));
            columns.extend([[a, b], [c, d]]);
        }
        columns
    }

    /// One product of matrices, added to four sums of each thread.
    pub(super) fn multiply(&mut self, element: ElementType, left: &[Value<'c>], right: &[Value<'c>], sums: &[Value<'c>]) -> [Value<'c>; 4] {
        let cx = self.cx;
        let parse = |text: &str| cx.parse_attr(text).unwrap_or_else(|| unreachable!("the nvvm dialect is loaded"));
        let ty = cx.parse_type("!llvm.struct<(f32, f32, f32, f32)>").unwrap_or_else(|| unreachable!("the LLVM dialect is loaded"));
        let kind = parse(match element {
            ElementType::F16 => "#nvvm.mma_type<f16>",
            ElementType::BF16 => "#nvvm.mma_type<bf16>",
            _ => "#nvvm.mma_type<tf32>",
        });
        let shape = format!("#nvvm.shape<m = 16, n = 8, k = {}>", along_a_unit(element));
        let op = self.b.op(OpSpec {
            name: nvvm::MmaSync::NAME,
            operands: &[left, right, sums].concat(),
            results: &[ty],
            attrs: &[
                ("layoutA", parse("#nvvm.mma_layout<row>")),
                ("layoutB", parse("#nvvm.mma_layout<col>")),
                ("multiplicandAPtxType", kind),
                ("multiplicandBPtxType", kind),
                ("operandSegmentSizes", cx.i32s_attr(&[4, 2, 4])),
                ("shape", parse(&shape)),
            ],
            ..OpSpec::default()
        });
        [0, 1, 2, 3].map(|k| llvm::extractvalue(&mut self.b, op.result(0), k, cx.f32()))
    }
}
