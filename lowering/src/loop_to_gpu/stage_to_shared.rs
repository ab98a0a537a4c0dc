//! How the threads of a block bring operands into shared memory: element by element, or 16 bytes at a time while they go on.

use super::matrix::{Matrix, factors};
use super::tiles::{Part, Tiles};
use crate::emit::Error;
use crate::emit::emitter::Emitter;
use crate::emit::lanes::{self, Coord, Index};
use crate::emit::memory;
use crate::emit::nest::Copy;
use crate::emit::non_temporal::Route;
use crate::emit::wide::WIDE;
use crate::num::Num;
use strata_core::ir::{AffineKind, ElementType, OpSpec, Type, Value};
use strata_core::upstream::{arith, llvm, nvvm};
use strata_dialects::loops::view::StageView;

/// The point of the loops around, where the tile begins, and the number of the thread.
type At<'a, 'c> = (&'a Copy<'c>, &'a [Num<'c>], Num<'c>);

impl<'c> Emitter<'c> {
    /// The threads bring one operand's part of a step into shared memory.
    pub(super) fn stage_to_shared(
        &mut self,
        stage: &StageView<'c>,
        tiles: &Tiles,
        part: &Part<'c>,
        (copy, origins, from): (&Copy<'c>, &[Num<'c>], Num<'c>),
        thread: Num<'c>,
    ) -> Result<(), Error> {
        let total: i64 = part.dims.iter().map(|&(_, extent)| extent).product();
        let threads = tiles.threads();
        for turn in 0..(total + threads - 1) / threads {
            let number = thread.add(&mut self.b, Num::Const(turn * threads));
            let mut inside = self.below(None, number, Num::Const(total), threads);
            let (mut rest, mut copy, mut local) = (number, copy.clone(), Vec::new());
            for (level, &(dim, extent)) in part.dims.iter().enumerate().rev() {
                let within = if level == 0 { rest } else { rest.modulo(&mut self.b, Num::Const(extent)) };
                rest = rest.floor_div(&mut self.b, Num::Const(extent));
                let origin = tiles.origin(dim, origins, from);
                let base = origin.add(&mut self.b, within);
                copy.point[dim] = Some(Coord { base, lanes: false, block: None });
                inside = self.below(inside, base, self.sizes[dim], extent);
                local.push(Index::uniform(within));
            }
            local.reverse();
            let move_one = |emitter: &mut Self| -> Result<(), Error> {
                emitter.reads.clear();
                let value = emitter.read(stage, part.operand, &copy)?;
                emitter.store(&part.buffer, &local, value, Route::Through);
                Ok(())
            };
            match inside {
                Some(inside) => self.when(inside, move_one)?,
                None => move_one(self)?,
            }
        }
        Ok(())
    }

    /// All steps of the reduced dim for matrix units: while they work on one, the next one is on its way.
    pub(super) fn overlapped(
        &mut self,
        stage: &StageView<'c>,
        tiles: &Tiles,
        matrix: &Matrix,
        parts: &[Part<'c>],
        (copy, origins, thread): At<'_, 'c>,
        sums: Vec<Value<'c>>,
    ) -> Result<Vec<Value<'c>>, Error> {
        let size = self.sizes[tiles.along];
        // The steps before are done with.
        self.barrier();
        for part in parts {
            self.fetch(stage, tiles, part, (copy, origins, thread), Num::Const(0))?;
        }
        nvvm::cp_async_commit_group(&mut self.b);
        self.repeat(Num::Const(0), size, tiles.step, sums, &mut |emitter, from, sums| {
            let word = emitter.cx.int(32);
            emitter.b.effect(nvvm::CpAsyncWaitGroup::NAME, &[], &[("n", emitter.cx.int_attr(word, 0))]);
            // This step is there for all, and nobody works on the one before any more.
            emitter.barrier();
            let b = &mut emitter.b;
            let odd = from.floor_div(b, Num::Const(tiles.step)).modulo(b, Num::Const(2));
            let even = Num::Const(1).sub(b, odd);
            let (here, there) = (emitter.parts_at(parts, odd), emitter.parts_at(parts, even));
            let next = from.add(&mut emitter.b, Num::Const(tiles.step));
            let more = emitter.below(None, next, size, i64::MAX);
            let fetch =
                |emitter: &mut Self| there.iter().try_for_each(|part| emitter.fetch(stage, tiles, part, (copy, origins, thread), next));
            match more {
                Some(more) => emitter.when(more, fetch)?,
                None => fetch(emitter)?,
            }
            nvvm::cp_async_commit_group(&mut emitter.b);
            emitter.matrix_step(matrix, tiles, &here, thread, sums)
        })
    }

    /// The parts of steps with an even number (0) or an odd one (1).
    fn parts_at(&mut self, parts: &[Part<'c>], odd: Num<'c>) -> Vec<Part<'c>> {
        let moved = |part: &Part<'c>| {
            let by = odd.mul(&mut self.b, Num::Const(part.next));
            let mut part = part.clone();
            part.buffer.base = memory::element_pointer(&mut self.b, part.buffer.base, by, ElementType::I8);
            part
        };
        parts.iter().map(moved).collect()
    }

    /// One operand's part of a step, with zeros where it goes beyond the end: these add nothing.
    pub(super) fn fetch(
        &mut self,
        stage: &StageView<'c>,
        tiles: &Tiles,
        part: &Part<'c>,
        at: At<'_, 'c>,
        from: Num<'c>,
    ) -> Result<(), Error> {
        let (copy, origins, thread) = at;
        let condition = factors(stage).and_then(|factors| factors[part.operand]);
        let wide = if condition.is_none() { self.wide(stage, part) } else { 1 };
        let total = part.dims.iter().map(|&(_, extent)| extent).product::<i64>() / wide;
        let threads = tiles.threads();
        for turn in 0..(total + threads - 1) / threads {
            let number = thread.add(&mut self.b, Num::Const(turn * threads));
            let there = self.below(None, number, Num::Const(total), threads);
            let (mut rest, mut copy, mut local, mut inside) = (number, copy.clone(), Vec::new(), None);
            for (level, &(dim, extent)) in part.dims.iter().enumerate().rev() {
                let each = if level + 1 == part.dims.len() { wide } else { 1 };
                let within = if level == 0 { rest } else { rest.modulo(&mut self.b, Num::Const(extent / each)) };
                rest = rest.floor_div(&mut self.b, Num::Const(extent / each));
                let within = within.mul(&mut self.b, Num::Const(each));
                let base = tiles.origin(dim, origins, from).add(&mut self.b, within);
                copy.point[dim] = Some(Coord { base, lanes: false, block: None });
                inside = self.below(inside, base, self.sizes[dim], extent);
                local.push(Index::uniform(within));
            }
            local.reverse();
            let write = |emitter: &mut Self| -> Result<(), Error> {
                if wide > 1 {
                    return emitter.start_copy(stage, part, &copy, (&local, inside));
                }
                let asked = condition.map(|condition| emitter.condition(condition, &copy)).transpose()?;
                let inside = lanes::both(&mut emitter.b, inside, asked, 1);
                emitter.reads.clear();
                let value = match inside {
                    Some(inside) => emitter.read_if(stage, part.operand, &copy, inside)?,
                    None => emitter.read(stage, part.operand, &copy)?,
                };
                emitter.store(&part.buffer, &local, value, Route::Through);
                Ok(())
            };
            match there {
                Some(there) => self.when(there, write)?,
                None => write(self)?,
            }
        }
        Ok(())
    }

    /// How many elements of a part a thread may copy at a time: 16 bytes where rows are contiguous in memory, begin aligned, and are either
    /// inside or outside as a whole.
    fn wide(&self, stage: &StageView<'c>, part: &Part<'c>) -> i64 {
        let (exprs, Some(&(dim, extent))) = (stage.maps[part.operand].results(), part.dims.last()) else { return 1 };
        let Some((last, others)) = exprs.split_last() else { return 1 };
        let each = WIDE / part.buffer.element.bytes() as i64;
        let whole = |size: Option<&Num<'c>>| matches!(size, Some(Num::Const(size)) if size % each == 0);
        let source = self.buffers.get(&part.tensor);
        let rows = last.kind() == AffineKind::Dim(dim) && others.iter().all(|expr| !expr.uses_dim(dim));
        let aligned = whole(source.and_then(|buffer| buffer.shape.last())) && whole(Some(&self.sizes[dim])) && extent % each == 0;
        if rows && aligned && !stage.guarded[part.operand] { each } else { 1 }
    }

    /// Starts copying 16 bytes; zeros where the condition does not hold.
    fn start_copy(
        &mut self,
        stage: &StageView<'c>,
        part: &Part<'c>,
        copy: &Copy<'c>,
        (local, inside): (&[Index<'c>], Option<Value<'c>>),
    ) -> Result<(), Error> {
        let source = self.buffers.get(&part.tensor).cloned();
        let source = source.ok_or_else(|| Error::at(stage.op, "an operand is nowhere in memory"))?;
        let indices: Vec<_> = stage.maps[part.operand].results().iter().map(|&expr| self.index(&copy.point, expr)).collect();
        let from = self.linear(&source, &indices);
        let from = memory::element_pointer(&mut self.b, source.base, from.base, source.element);
        let from = self.in_space(from, 1);
        let to = self.shared_at(part, local);
        let mut operands = vec![to, from];
        if let Some(inside) = inside {
            let word = self.cx.int(32);
            let (all, none) = (self.b.const_int(word, WIDE), self.b.const_int(word, 0));
            operands.push(arith::select(&mut self.b, inside, all, none));
        }
        let modifier = self.cx.parse_attr("#nvvm<load_cache_modifier cg>").unwrap_or_else(|| unreachable!("the nvvm dialect is loaded"));
        let size = self.cx.int_attr(self.cx.int(32), WIDE);
        self.b.op(OpSpec {
            name: nvvm::CpAsync::NAME,
            operands: &operands,
            attrs: &[("modifier", modifier), ("size", size)],
            ..OpSpec::default()
        });
        Ok(())
    }

    /// The address of a part's element in shared memory.
    pub(super) fn shared_at(&mut self, part: &Part<'c>, local: &[Index<'c>]) -> Value<'c> {
        let at = self.linear(&part.buffer, local);
        let at = memory::element_pointer(&mut self.b, part.buffer.base, at.base, part.buffer.element);
        self.in_space(at, 3)
    }

    /// The same address as one of a kind of memory.
    fn in_space(&mut self, at: Value<'c>, space: u32) -> Value<'c> {
        let ty: Option<Type<'c>> = self.cx.parse_type(&format!("!llvm.ptr<{space}>"));
        let ty = ty.unwrap_or_else(|| unreachable!("the LLVM dialect is loaded"));
        llvm::addrspacecast(&mut self.b, at, ty)
    }
}
