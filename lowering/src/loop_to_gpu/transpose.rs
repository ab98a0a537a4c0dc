//! Maps that read across rows: a block of threads brings a tile of the operand in the order of its memory, and writes it in the order of
//! the result's.

use super::kernel::special;
use super::tiles::Tiles;
use crate::emit::Error;
use crate::emit::emitter::Emitter;
use crate::emit::nest::Copy;
use crate::num::Num;
use std::collections::HashSet;
use strata_core::ir::Op;
use strata_core::upstream::gpu;
use strata_dialects::loops::access::{Stride, stride};
use strata_dialects::loops::view::{KernelView, StageView};

/// How a kernel is cut that reads across rows, as its schedule says.
pub struct Transpose {
    tiles: Tiles,
    /// The stage that reads so, and which of its operands.
    stage: usize,
    operands: HashSet<usize>,
}

/// The operands of a stage that lie along `turn` while results lie along `last`, each of them read once.
pub fn across(stage: &StageView<'_>, turn: usize, last: usize) -> HashSet<usize> {
    let operands = stage.op.operands();
    let lies = |at: &usize| {
        let (operand, map) = (operands[*at], stage.maps[*at]);
        let once = operands.iter().filter(|&&other| other == operand).count() == 1;
        once && stride(map, operand, turn) == Stride::One && stride(map, operand, last) == Stride::Other
    };
    (0..operands.len()).filter(lies).collect()
}

impl Transpose {
    /// Reads the schedule of a kernel, when it turns a tile.
    pub fn of(kernel: &KernelView<'_>) -> Option<Self> {
        let tile = kernel.tiles()?;
        let schedule = kernel.schedule();
        let turn = schedule.transpose?;
        let unroll = schedule.unroll.filter(|unroll| unroll.len() == tile.len())?;
        let whole = tile.iter().zip(&unroll).all(|(tile, unroll)| tile % unroll == 0);
        let step = kernel.outer.iter().position(|&dim| dim == turn).map(|level| tile[level])?;
        let last = *kernel.outer.last()?;
        let plain =
            kernel.stages.iter().all(|stage| stage.parallel().len() == stage.domain.len() && stage.domain.len() == kernel.outer.len());
        let mut found =
            kernel.stages.iter().enumerate().map(|(at, stage)| (at, across(stage, turn, last))).filter(|(_, set)| !set.is_empty());
        let (stage, operands) = found.next().filter(|_| whole && plain)?;
        let tiles = Tiles { dims: kernel.outer.clone(), tile, unroll, along: turn, step, matrix: None, room: "shared" };
        Some(Self { tiles, stage, operands })
    }

    /// Threads of a block.
    pub fn threads(&self) -> i64 {
        self.tiles.threads()
    }

    /// The tile sizes of the outer dims.
    pub fn sizes(&self) -> &[i64] {
        self.tiles.sizes()
    }
}

impl<'c> Emitter<'c> {
    /// Writes a kernel that reads across rows.
    pub(super) fn run_transpose(&mut self, device: Op<'c>, transpose: &Transpose, start: Copy<'c>) -> Result<(), Error> {
        let (block, thread) = (special(&mut self.b, gpu::BlockId::NAME), special(&mut self.b, gpu::ThreadId::NAME));
        let (block, thread, tiles) = (Num::Value(block), Num::Value(thread), &transpose.tiles);
        let (copies, origins) = self.my_points(tiles, start, block, thread);
        let stages = self.stages();
        let reads = &stages[transpose.stage];
        let parts = self.parts(device, reads, tiles, &|operand| transpose.operands.contains(&operand))?;
        for part in &parts {
            self.stage_to_shared(reads, tiles, part, (&copies[0], &origins, Num::Const(0)), thread)?;
        }
        self.barrier();
        self.with_parts(reads, tiles, (&parts, &origins, Num::Const(0)), &mut |emitter, near| {
            let run = |emitter: &mut Self, copies: &[Copy<'c>]| {
                stages
                    .iter()
                    .enumerate()
                    .try_for_each(|(at, stage)| emitter.stage(if at == transpose.stage { near } else { stage }, copies))
            };
            if emitter.fills(tiles) {
                return run(emitter, &copies);
            }
            for copy in &copies {
                match emitter.in_range(copy, tiles) {
                    Some(inside) => emitter.when(inside, |emitter| run(emitter, std::slice::from_ref(copy)))?,
                    None => run(emitter, std::slice::from_ref(copy))?,
                }
            }
            Ok(())
        })
    }
}
