//! Contractions through shared memory: a block of threads has a tile of the results, each thread some points of it in registers.
//!
//! The reduced dim comes in steps. Before each step the threads bring the parts of the operands that the tile needs into shared memory,
//! whatever the accesses look like: an operand's part has one dim for each tiled dim that its access uses.

use super::kernel::{shared, special};
use super::matrix::{Matrix, pad};
use crate::emit::Error;
use crate::emit::emitter::{Buffer, Emitter};
use crate::emit::lanes::Coord;
use crate::emit::memory;
use crate::emit::nest::Copy;
use crate::emit::reducer::Reducer;
use crate::num::Num;
use strata_core::ir::{AffineKind, ElementType, Op, Value};
use strata_core::upstream::gpu;
use strata_dialects::loops::view::{KernelView, StageView};

/// How a kernel is cut, as its schedule says.
pub struct Tiles {
    /// The dims that are cut: those of the outer loops, in their order, and what else the result has.
    pub(super) dims: Vec<usize>,
    /// Size of a tile along each of them.
    pub(super) tile: Vec<i64>,
    /// Points of a thread along each of them.
    pub(super) unroll: Vec<i64>,
    /// The reduced dim that comes in steps.
    pub(super) along: usize,
    /// Length of a step.
    pub(super) step: i64,
    /// How warps divide a tile for matrix units.
    pub(super) matrix: Option<Matrix>,
    /// What the memory of the parts is called.
    pub(super) room: &'static str,
}

impl Tiles {
    /// Reads the schedule of a kernel, when it has tiles.
    pub fn of(kernel: &KernelView<'_>) -> Option<Self> {
        let tile = kernel.tiles()?;
        let schedule = kernel.schedule();
        let (along, step) = (schedule.along?, schedule.step?);
        let matrix = Matrix::of(kernel, &tile, along, step);
        if matrix.is_none() && schedule.warps.is_some() {
            return None;
        }
        let unroll = schedule.unroll.unwrap_or_else(|| vec![1; tile.len()]);
        let whole = unroll.len() == tile.len() && tile.iter().zip(&unroll).all(|(tile, unroll)| tile % unroll == 0);
        let reduces = kernel.stages.first().is_some_and(|stage| stage.reduce.contains(&along) && !stage.is_in_parts());
        (whole && reduces).then_some(Self { dims: kernel.outer.clone(), tile, unroll, along, step, matrix, room: "shared" })
    }

    /// Where the present tile begins along a dim, or the present step of the dim that comes in steps.
    pub(super) fn origin<'c>(&self, dim: usize, origins: &[Num<'c>], from: Num<'c>) -> Num<'c> {
        self.dims.iter().position(|&other| other == dim).map_or(from, |level| origins[level])
    }

    /// Threads of a block.
    pub fn threads(&self) -> i64 {
        match &self.matrix {
            Some(matrix) => matrix.threads(),
            None => self.tile.iter().zip(&self.unroll).map(|(tile, unroll)| tile / unroll).product(),
        }
    }

    /// The dims that are cut, with the extents of a tile.
    pub(super) fn cuts(&self) -> Vec<(usize, i64)> {
        self.dims.iter().copied().zip(self.tile.iter().copied()).collect()
    }

    /// The tile sizes of the dims.
    pub fn sizes(&self) -> &[i64] {
        &self.tile
    }
}

/// An operand's part in shared memory.
#[derive(Clone)]
pub(super) struct Part<'c> {
    /// Which operand.
    pub operand: usize,
    /// The tensor.
    pub tensor: Value<'c>,
    /// The tiled dims that it has, with their extents; the last is contiguous in memory.
    pub dims: Vec<(usize, i64)>,
    /// Where it is.
    pub buffer: Buffer<'c>,
    /// Bytes from there to where it is in the next step, and back.
    pub next: i64,
}

/// What copies of a body yield, added to the sums that are carried.
pub(super) type Add<'a, 'c> =
    dyn FnMut(&mut Emitter<'c>, &[Copy<'c>], Vec<Vec<Value<'c>>>, Vec<Value<'c>>) -> Result<Vec<Value<'c>>, Error> + 'a;

/// What one step of the reduced dims adds to the sums that are carried.
type Step<'a, 'c> = dyn FnMut(&mut Emitter<'c>, &[Copy<'c>], Vec<Value<'c>>) -> Result<Vec<Value<'c>>, Error> + 'a;

impl<'c> Emitter<'c> {
    /// Writes a kernel whose first stage is a contraction, tile by tile.
    pub(super) fn run_shared(&mut self, device: Op<'c>, tiles: &Tiles, start: Copy<'c>) -> Result<(), Error> {
        let (block, thread) = (special(&mut self.b, gpu::BlockId::NAME), special(&mut self.b, gpu::ThreadId::NAME));
        let (copies, origins) = self.my_points(tiles, start, Num::Value(block), Num::Value(thread));
        let mut stages = self.stages().into_iter();
        let first = stages.next().ok_or_else(|| Error::at(self.kernel.op, "it has no stage"))?;
        let sums = self.contract(device, &first, tiles, (&copies, &origins), Num::Value(thread))?;
        let rest: Vec<_> = stages.collect();
        for (copy, sum) in copies.iter().zip(sums) {
            let finish = |emitter: &mut Self| -> Result<(), Error> {
                emitter.reads.clear();
                emitter.write(&first, first.op.result(0), copy, sum)?;
                rest.iter().try_for_each(|stage| emitter.stage(stage, std::slice::from_ref(copy)))
            };
            match self.in_range(copy, tiles) {
                Some(inside) => self.when(inside, finish)?,
                None => finish(self)?,
            }
        }
        Ok(())
    }

    /// The points of this thread, and where the block's tile begins along each outer dim.
    pub(super) fn my_points(&mut self, tiles: &Tiles, start: Copy<'c>, block: Num<'c>, thread: Num<'c>) -> (Vec<Copy<'c>>, Vec<Num<'c>>) {
        let outer = self.kernel.outer.clone();
        let origins = self.tile_origins(&tiles.tile, block);
        if let Some(matrix) = &tiles.matrix {
            let copies = self.fragment_points(matrix, &start, &origins, thread);
            return (copies, origins);
        }
        let mut thread_number = thread;
        let mut places = Vec::new();
        for (level, &dim) in outer.iter().enumerate().rev() {
            let apart = tiles.tile[level] / tiles.unroll[level];
            let within = thread_number.modulo(&mut self.b, Num::Const(apart));
            thread_number = thread_number.floor_div(&mut self.b, Num::Const(apart));
            places.push((dim, origins[level], within, apart, tiles.unroll[level]));
        }
        places.reverse();
        let mut copies = vec![start];
        for &(dim, origin, within, apart, unroll) in &places {
            let first = origin.add(&mut self.b, within);
            // Neighbours have neighbouring points, so that what they touch is contiguous.
            let bases: Vec<_> = (0..unroll).map(|turn| first.add(&mut self.b, Num::Const(turn * apart))).collect();
            let advance = |copy: &Copy<'c>| {
                let copy = copy.clone();
                bases.iter().map(move |&base| {
                    let mut copy = copy.clone();
                    copy.point[dim] = Some(Coord { base, lanes: false, block: None });
                    copy
                })
            };
            copies = copies.iter().flat_map(|copy| advance(copy).collect::<Vec<_>>()).collect();
        }
        for (slot, copy) in copies.iter_mut().enumerate() {
            (copy.outer, copy.slot) = (slot, slot);
        }
        (copies, origins)
    }

    /// Where the tile of this number begins along each outer dim.
    pub(super) fn tile_origins(&mut self, tile: &[i64], mut number: Num<'c>) -> Vec<Num<'c>> {
        let mut origins = Vec::new();
        for (level, dim) in self.kernel.outer.clone().into_iter().enumerate().rev() {
            let b = &mut self.b;
            let count = self.sizes[dim].ceil_div(b, Num::Const(tile[level]));
            let at = if level == 0 { number } else { number.modulo(b, count) };
            number = number.floor_div(b, count);
            origins.push(at.mul(b, Num::Const(tile[level])));
        }
        origins.reverse();
        origins
    }

    /// The points at which a stage reads: where some operand has no part in shared memory, those beyond the end of a dim stand at its last
    /// index. What is read for these goes nowhere.
    pub(super) fn readable(&mut self, parts: &[Part<'c>], wanted: &[usize], copies: &[Copy<'c>], cuts: &[(usize, i64)]) -> Vec<Copy<'c>> {
        match wanted.iter().all(|operand| parts.iter().any(|part| part.operand == *operand)) {
            true => copies.to_vec(),
            false => self.within(copies, cuts),
        }
    }

    /// The same points, with the last index of a dim where they are beyond its end; each dim with the extent of its tiles.
    pub(super) fn within(&mut self, copies: &[Copy<'c>], cuts: &[(usize, i64)]) -> Vec<Copy<'c>> {
        let mut copies = copies.to_vec();
        for &(dim, extent) in cuts {
            let Some(&size) = self.sizes.get(dim).filter(|size| !matches!(size, Num::Const(size) if size % extent == 0)) else { continue };
            let last = size.sub(&mut self.b, Num::Const(1));
            for coord in copies.iter_mut().filter_map(|copy| copy.point[dim].as_mut()) {
                coord.base = coord.base.min(&mut self.b, last);
            }
        }
        copies
    }

    /// Whether tiles fill the outer dims for certain.
    pub(super) fn fills(&self, tiles: &Tiles) -> bool {
        let fills = |(&dim, &tile): (&usize, &i64)| matches!(self.sizes[dim], Num::Const(size) if size % tile == 0);
        self.kernel.outer.iter().zip(&tiles.tile).all(fills)
    }

    /// Whether a point is one of the kernel's; nothing when every point is.
    pub(super) fn in_range(&mut self, copy: &Copy<'c>, tiles: &Tiles) -> Option<Value<'c>> {
        let mut inside = None;
        for (level, dim) in self.kernel.outer.clone().into_iter().enumerate() {
            let base = copy.point[dim]?.base;
            inside = self.below(inside, base, self.sizes[dim], tiles.tile[level]);
        }
        inside
    }

    /// The sums of all points of this thread.
    pub(super) fn contract(
        &mut self,
        device: Op<'c>,
        stage: &StageView<'c>,
        tiles: &Tiles,
        (copies, origins): (&[Copy<'c>], &[Num<'c>]),
        thread: Num<'c>,
    ) -> Result<Vec<Value<'c>>, Error> {
        let name = stage.op.str("reducer").unwrap_or_default();
        let element = stage.op.result(0).ty().element_type();
        let reducer = element.and_then(|element| Reducer::named(&name, element));
        let reducer = reducer.ok_or_else(|| Error::at(stage.op, format!("there is no reducer '{name}'")))?;
        // What moves along all dims that are cut is read once.
        let cut: Vec<_> = tiles.cuts().into_iter().filter(|&(_, extent)| extent > 1).collect();
        let again = |operand: usize| !cut.iter().all(|&(dim, _)| stage.maps[operand].results().iter().any(|expr| expr.uses_dim(dim)));
        let parts = self.parts(device, stage, tiles, &again)?;
        let all: Vec<_> = (0..stage.maps.len()).collect();
        let copies = self.readable(&parts, &all, copies, &tiles.cuts());
        let start = reducer.start(&mut self.b);
        let around: Vec<_> = stage.reduce.iter().copied().filter(|&dim| dim != tiles.along).collect();
        self.around(&around, copies.clone(), vec![start; copies.len()], &mut |emitter, copies, carried| {
            let size = emitter.sizes[tiles.along];
            if let Some(matrix) = &tiles.matrix {
                return emitter.overlapped(stage, tiles, matrix, &parts, (&copies[0], origins, thread), carried);
            }
            emitter.repeat(Num::Const(0), size, tiles.step, carried, &mut |emitter, from, carried| {
                emitter.barrier();
                for part in &parts {
                    emitter.stage_to_shared(stage, tiles, part, (&copies[0], origins, from), thread)?;
                }
                emitter.barrier();
                emitter.one_step(stage, tiles, (&parts, origins), (copies, from), carried, &mut |emitter, _, yields, mut sums| {
                    for (sum, yields) in sums.iter_mut().zip(yields) {
                        *sum = reducer.combine(&mut emitter.b, *sum, yields[0]);
                    }
                    Ok(sums)
                })
            })
        })
    }

    /// Loops over the other reduced dims.
    fn around(
        &mut self,
        dims: &[usize],
        copies: Vec<Copy<'c>>,
        carried: Vec<Value<'c>>,
        body: &mut Step<'_, 'c>,
    ) -> Result<Vec<Value<'c>>, Error> {
        let Some((&dim, rest)) = dims.split_first() else { return body(self, &copies, carried) };
        let size = self.sizes[dim];
        self.repeat(Num::Const(0), size, 1, carried, &mut |emitter, at, carried| {
            let mut copies = copies.clone();
            for copy in &mut copies {
                copy.point[dim] = Some(Coord { base: at, lanes: false, block: None });
            }
            emitter.around(rest, copies, carried, body)
        })
    }

    /// Room in shared memory for the operands that are used again, of those that are wanted.
    pub(super) fn parts(
        &mut self,
        device: Op<'c>,
        stage: &StageView<'c>,
        tiles: &Tiles,
        wanted: &dyn Fn(usize) -> bool,
    ) -> Result<Vec<Part<'c>>, Error> {
        let extent = |dim: usize| match tiles.dims.iter().position(|&other| other == dim) {
            _ if dim == tiles.along => Some(tiles.step),
            Some(level) => Some(tiles.tile[level]).filter(|&tile| tile > 1),
            None => None,
        };
        let mut parts = Vec::new();
        let mut bytes = 0;
        for (operand, map) in stage.maps.iter().enumerate().filter(|(operand, _)| wanted(*operand)) {
            let tensor = stage.op.operand(operand);
            let again = stage.op.operands().iter().filter(|&&other| other == tensor).count() > 1;
            let element = tensor.ty().element_type().filter(|_| !again && self.buffers.contains_key(&tensor));
            let mut dims: Vec<_> = stage.domain.iter().filter(|&&dim| map.results().iter().any(|expr| expr.uses_dim(dim))).collect();
            // What is contiguous in memory comes last.
            let last = map.results().last().copied();
            dims.sort_by_key(|&&dim| {
                last.is_some_and(|expr| if tiles.matrix.is_some() { expr.uses_dim(dim) } else { expr.kind() == AffineKind::Dim(dim) })
            });
            let dims: Vec<_> = dims.into_iter().filter_map(|&dim| Some((dim, extent(dim)?))).collect();
            let (Some(element), true) = (element, dims.iter().any(|&(dim, _)| dim == tiles.along)) else { continue };
            let mut shape: Vec<_> = dims.iter().map(|&(_, extent)| extent).collect();
            // One more element in a row: then rows begin in different banks.
            if let Some(row) = shape.last_mut().filter(|_| dims.len() > 1) {
                let reduced = dims.last().is_some_and(|&(dim, _)| dim == tiles.along);
                *row += if tiles.matrix.is_some() { pad(element, reduced) } else { 1 };
            }
            let size = shape.iter().product::<i64>() * element.bytes() as i64;
            let buffer = Buffer { base: self.status, element, shape: shape.into_iter().map(Num::Const).collect(), kept: None };
            parts.push((bytes, Part { operand, tensor, dims, buffer, next: 0 }));
            bytes += (size + 15) / 16 * 16;
        }
        if parts.is_empty() {
            return Ok(Vec::new());
        }
        let name = self.kernel.op.str("sym_name").unwrap_or_default();
        // While matrix units work on one step the next one arrives beside it.
        let steps = if tiles.matrix.is_some() { 2 } else { 1 };
        let memory = shared(device, &mut self.b, &format!("{name}.{}", tiles.room), bytes * steps);
        let place = |(at, mut part): (i64, Part<'c>)| {
            part.buffer.base = memory::element_pointer(&mut self.b, memory, Num::Const(at), ElementType::I8);
            part.next = bytes;
            part
        };
        Ok(parts.into_iter().map(place).collect())
    }

    /// What the points of one step yield, from shared memory, and what becomes of the sums by it.
    pub(super) fn one_step(
        &mut self,
        stage: &StageView<'c>,
        tiles: &Tiles,
        (parts, origins): (&[Part<'c>], &[Num<'c>]),
        (copies, from): (&[Copy<'c>], Num<'c>),
        carried: Vec<Value<'c>>,
        add: &mut Add<'_, 'c>,
    ) -> Result<Vec<Value<'c>>, Error> {
        self.with_parts(stage, tiles, (parts, origins, from), &mut |emitter, near| {
            let left = emitter.sizes[tiles.along].sub(&mut emitter.b, from);
            let count = match emitter.sizes[tiles.along] {
                Num::Const(size) if size % tiles.step == 0 => Num::Const(tiles.step),
                _ => left.min(&mut emitter.b, Num::Const(tiles.step)),
            };
            emitter.repeat(Num::Const(0), count, 1, carried.clone(), &mut |emitter, turn, carried| {
                emitter.reads.clear();
                let base = from.add(&mut emitter.b, turn);
                let mut copies = copies.to_vec();
                for copy in &mut copies {
                    copy.point[tiles.along] = Some(Coord { base, lanes: false, block: None });
                }
                let yields = emitter.bodies(near, &copies)?;
                let carried = add(emitter, &copies, yields, carried)?;
                emitter.reads.clear();
                Ok(carried)
            })
        })
    }

    /// Runs `work` with a stage whose accesses to the parts count from the beginning of the tile on.
    pub(super) fn with_parts<R>(
        &mut self,
        stage: &StageView<'c>,
        tiles: &Tiles,
        (parts, origins, from): (&[Part<'c>], &[Num<'c>], Num<'c>),
        work: &mut dyn FnMut(&mut Self, &StageView<'c>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let mut near = StageView::new(stage.op);
        let known = self.symbols.len();
        let mut kept = Vec::new();
        for part in parts {
            let mut indices = Vec::new();
            for &(dim, _) in &part.dims {
                let origin = tiles.origin(dim, origins, from).value(&mut self.b);
                self.symbols.push(origin);
                indices.push(self.cx.dim(dim) - self.cx.symbol(self.symbols.len() - 1));
            }
            near.maps[part.operand] = self.cx.map(self.kernel.num_dims(), self.symbols.len(), &indices);
            near.guarded[part.operand] = false;
            kept.push((part.tensor, self.buffers.insert(part.tensor, part.buffer.clone())));
        }
        let result = work(self, &near)?;
        self.symbols.truncate(known);
        for (tensor, buffer) in kept {
            self.buffers.extend(buffer.map(|buffer| (tensor, buffer)));
        }
        Ok(result)
    }
}
